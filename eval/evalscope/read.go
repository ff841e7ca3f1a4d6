package evalscope

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/internal/msg"
)

// Kind says what a file's rows are.
type Kind string

// The kinds of rows [Read] knows.
const (
	KindReviews     Kind = "reviews"     // EvalScope's reviews, 1.4.2 or later
	KindPredictions Kind = "predictions" // EvalScope's predictions, 1.4.2 or later
	KindOutputs     Kind = "outputs"     // {"index": 0, "output": "[A]"}
	KindEmpty       Kind = "empty"       // no row at all
)

// A Row is one row of any kind.
type Row struct {
	Line  int // from 1
	Index int // as the row says: position of the item, from 0
	// Text is what the extraction rule reads.
	Text      string
	Input     string           // the prompt as the row shows it; "" when it does not
	Target    string           // the key; "" when the row has none
	Extracted string           // what the file says was extracted
	Acc       float64          // what the file says it scored
	Scored    bool             // the row has a score
	Model     string           // as asked for
	Served    string           // as the server called it
	ID        string           // of the assistant message
	Reply     *benchmark.Reply // of predictions and outputs
	Usage     *benchmark.Usage // nil: the row has none
	Error     string           // why there is no reply; "" when there is one
}

// A Problem is something wrong with a line. Code is stable.
type Problem struct {
	Code  string // one of the codes below
	Line  int    // from 1
	Index int    // -1: not known
	msg.Phrase
}

func problem(code string, line, index int, text msg.Text, args ...any) *Problem {
	return &Problem{code, line, index, msg.Phrase{Text: text, Args: args}}
}

// The codes of problems.
const (
	CodeTorn         = "torn"             // the last line ends in the middle of a row
	CodeBadJSON      = "bad_json"         // a line that is no JSON object, or more than one
	CodeNotUTF8      = "not_utf8"         // a line with bytes that are no text
	CodeMixedKind    = "mixed_kind"       // a row of another kind than the first
	CodeMissingField = "missing_field"    // a row without index or reply
	CodeDuplicate    = "duplicate"        // an index that stood before; the first one counts
	CodeNoNewline    = "no_final_newline" // EvalScope would glue the next row to the last
)

// Read reads reviews, predictions or {index, output} rows in the order of the
// file. Lines that cannot be read are left out and named, and so are repeated
// indexes, of which the first counts; nothing else is left out.
func Read(data []byte) (Kind, []Row, []Problem) {
	var (
		kind     Kind
		rows     []Row
		problems []Problem
		seen     = map[int]int{}
	)
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	for n := 1; len(data) > 0; n++ {
		line, rest, ended := bytes.Cut(data, []byte{'\n'})
		data = rest
		line = bytes.TrimRight(line, "\r")
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		row, k, p := readLine(line, n)
		if p != nil {
			if !ended && p.Code != CodeMissingField && isTorn(line) {
				p = problem(CodeTorn, n, p.Index, msg.Text{"line %d ends in the middle of a row", "第 %d 行在一条记录中间结束"}, n)
			}
			problems = append(problems, *p)
			continue
		}
		if !ended {
			problems = append(problems, *problem(CodeNoNewline, n, row.Index, msg.Text{"the last line has no line end", "最后一行没有换行符"}))
		}
		if kind == "" {
			kind = k
		}
		if k != kind {
			problems = append(problems, *problem(CodeMixedKind, n, row.Index, msg.Text{"line %d is a row of %s, the first is of %s", "第 %d 行是 %s 记录，首行是 %s"}, n, string(k), string(kind)))
			continue
		}
		if first, dup := seen[row.Index]; dup {
			problems = append(problems, *problem(CodeDuplicate, n, row.Index, msg.Text{"line %d: index %d stands in line %d, too; the first counts", "第 %d 行：index %d 在第 %d 行已出现；以先出现者为准"}, n, row.Index, first))
			continue
		}
		seen[row.Index] = n
		rows = append(rows, row)
	}
	if kind == "" {
		kind = KindEmpty
	}
	return kind, rows, problems
}

// isTorn tells a line that stops too early from one that is wrong.
func isTorn(line []byte) bool {
	var v json.RawMessage
	err := json.NewDecoder(bytes.NewReader(line)).Decode(&v)
	return errors.Is(err, io.ErrUnexpectedEOF)
}

// wireRow has the fields of all kinds and versions.
type wireRow struct {
	Index  *int64  `json:"index"`
	Output *string `json:"output"`
	Input  string  `json:"input"`
	// "B" in 1.4.2, ["B"] later
	Target      json.RawMessage `json:"target"`
	SampleScore *struct {
		Score struct {
			Value      map[string]float64 `json:"value"`
			Extracted  *string            `json:"extracted_prediction"`
			Prediction *string            `json:"prediction"`
		} `json:"score"`
	} `json:"sample_score"`
	Model       string      `json:"model"`
	ModelOutput *wireOutput `json:"model_output"`
	Messages    []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
}

type wireOutput struct {
	Model   string `json:"model"`
	Choices []struct {
		Message struct {
			ID      string          `json:"id"`
			Content json.RawMessage `json:"content"`
		} `json:"message"`
		StopReason string `json:"stop_reason"`
	} `json:"choices"`
	Usage *struct {
		Input     int  `json:"input_tokens"`
		Output    int  `json:"output_tokens"`
		Total     int  `json:"total_tokens"`
		CacheRead *int `json:"input_tokens_cache_read"`
		Reasoning *int `json:"reasoning_tokens"`
	} `json:"usage"`
	Error *string `json:"error"`
}

func readLine(line []byte, n int) (Row, Kind, *Problem) {
	if !utf8.Valid(line) {
		return Row{}, "", problem(CodeNotUTF8, n, -1, msg.Text{"line %d is not UTF-8", "第 %d 行不是 UTF-8 编码"}, n)
	}
	var w wireRow
	if err := json.Unmarshal(line, &w); err != nil {
		return Row{}, "", problem(CodeBadJSON, n, -1, msg.Text{"line %d is not a row: %v", "第 %d 行不是有效记录：%v"}, n, err)
	}
	missing := func(field string) (Row, Kind, *Problem) {
		index := -1
		if w.Index != nil {
			index = int(*w.Index)
		}
		return Row{}, "", problem(CodeMissingField, n, index, msg.Text{"line %d has no %s", "第 %d 行缺少 %s"}, n, field)
	}
	if w.Index == nil || *w.Index < 0 {
		return missing("index")
	}
	row := Row{Line: n, Index: int(*w.Index), Input: w.Input, Model: w.Model}
	switch {
	case w.SampleScore != nil:
		s := w.SampleScore.Score
		if s.Prediction == nil {
			return missing("sample_score.score.prediction")
		}
		target, ok := oneText(w.Target)
		if !ok {
			return missing("target")
		}
		row.Text, row.Target = *s.Prediction, target
		if s.Extracted != nil {
			row.Extracted = *s.Extracted
		}
		row.Acc, row.Scored = s.Value["acc"]
		if !row.Scored {
			row.Acc, row.Scored = s.Value["accuracy"]
		}
		row.Input = inputOf(&w)
		return row, KindReviews, nil
	case w.ModelOutput != nil:
		if len(w.ModelOutput.Choices) == 0 {
			return missing("model_output.choices[0]")
		}
		fillPrediction(&row, w.ModelOutput)
		return row, KindPredictions, nil
	case w.Output != nil:
		r := benchmark.AssistantText(benchmark.Assistant{Content: w.Output}, nil)
		row.Text, row.Reply = r.Text, &r
		return row, KindOutputs, nil
	}
	return missing("sample_score, model_output, output")
}

func fillPrediction(row *Row, o *wireOutput) {
	c := o.Choices[0]
	r := contentOf(c.Message.Content)
	r.Finish = c.StopReason
	row.Text, row.Reply, row.Served, row.ID = r.Text, &r, o.Model, c.Message.ID
	if o.Error != nil {
		row.Error = *o.Error
	}
	if u := o.Usage; u != nil {
		row.Usage = &benchmark.Usage{Input: u.Input, Output: u.Output, Total: u.Total, CacheRead: u.CacheRead, Reasoning: u.Reasoning}
	}
}

// inputOf returns the prompt of a review: the input field of 1.4.2, or the
// messages before the answer that later versions keep.
func inputOf(w *wireRow) string {
	if w.Input != "" || len(w.Messages) == 0 {
		return w.Input
	}
	var parts []string
	for _, m := range w.Messages {
		if m.Role == "assistant" {
			break
		}
		text, ok := oneText(m.Content)
		if !ok || m.Role == "" {
			return ""
		}
		parts = append(parts, "**"+strings.ToUpper(m.Role[:1])+m.Role[1:]+"**: \n"+text)
	}
	return strings.Join(parts, "\n\n")
}

// oneText reads a string or an array of one string.
func oneText(v json.RawMessage) (string, bool) {
	var s string
	if json.Unmarshal(v, &s) == nil && len(v) > 0 && v[0] == '"' {
		return s, true
	}
	var l []string
	if json.Unmarshal(v, &l) == nil && len(l) == 1 {
		return l[0], true
	}
	return "", false
}

// contentOf reads a message's content, a string or parts. The text of several
// parts is joined by line ends, as EvalScope does.
func contentOf(v json.RawMessage) benchmark.Reply {
	var r benchmark.Reply
	if s, ok := oneText(v); ok && v[0] == '"' {
		r.Text = s
		return r
	}
	var parts []struct {
		Type      string  `json:"type"`
		Text      string  `json:"text"`
		Reasoning string  `json:"reasoning"`
		Signature *string `json:"signature"`
		Redacted  bool    `json:"redacted"`
		Refusal   *bool   `json:"refusal"`
	}
	if json.Unmarshal(v, &parts) != nil {
		return r
	}
	var texts []string
	for _, p := range parts {
		switch p.Type {
		case "reasoning":
			r.Reasoning, r.Think = p.Reasoning, &benchmark.Think{Signature: p.Signature, Redacted: p.Redacted}
		case "text":
			texts = append(texts, p.Text)
			r.Refused = r.Refused || (p.Refusal != nil && *p.Refusal)
		}
	}
	r.Text = strings.Join(texts, "\n")
	return r
}
