package evalscope

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/internal/msg"
)

// Kind says what a file's rows are.
type Kind string

// The kinds of rows [Read] knows.
const (
	KindReviews     Kind = "reviews"     // EvalScope's reviews, 1.4.2 or later
	KindPredictions Kind = "predictions" // EvalScope's predictions, 1.4.2 or later
	KindOutputs     Kind = "outputs"     // {"index": 0, "output": "[A]"} and the like
	KindLMEval      Kind = "lm_eval"     // samples of lm-evaluation-harness
	KindOpenCompass Kind = "opencompass" // predictions of OpenCompass
	KindSwift       Kind = "swift"       // results of swift infer, in the order asked
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
	Schema    Schema           // of EvalScope's rows; "" of others
	// Question is what the row shows of it apart from Input; nil: nothing.
	Question *drydock.Question
	Group    *int   // which sample a review is a repeat of; nil: not told
	Filter   string // the lm-eval filter the row is of; "" of others
	// ExtractedUnknown tells that the file does not say what was extracted.
	ExtractedUnknown bool

	more bool // there were more replies than this one
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
	CodeNotUTF8      = "not_utf8"         // a line with bytes that are no text, or a file that is packed
	CodeMixedKind    = "mixed_kind"       // a row of another kind than the first
	CodeMissingField = "missing_field"    // a row without index or reply
	CodeDuplicate    = "duplicate"        // an index that stood before; the first one counts
	CodeNoNewline    = "no_final_newline" // EvalScope would glue the next row to the last
	CodeConflict     = "conflict_marker"  // a line that git left where two versions met
	CodeOtherFilter  = "other_filter"     // lm-eval rows of another filter than the first
	CodeMoreReplies  = "more_replies"     // lm-eval rows with several replies, of which the first counts
	CodeOutOfOrder   = "out_of_order"     // rows not in the order of their index; no fault, and not told by Read
)

// Read reads reviews, predictions and the rows of other programs in the order of
// the file: one a line, in an array, or OpenCompass's object. Lines that cannot be
// read are left out and named, and so are repeated indexes, of which the first
// counts; nothing else is left out. UTF-16 with a byte order mark is read, too, and
// so is the NaN that Python writes.
func Read(data []byte) (Kind, []Row, []Problem) {
	rd := reader{seen: map[int]int{}}
	data, p := plain(data)
	if p != nil {
		return KindEmpty, nil, []Problem{*p}
	}
	switch body := bytes.TrimLeft(data, " \t\r\n"); {
	case len(body) > 0 && body[0] == '[':
		rd.array(data)
	case isOpenCompass(body):
		rd.openCompass(data)
	default:
		rd.lines(data)
	}
	if rd.otherFilters > 0 {
		rd.report(problem(CodeOtherFilter, rd.firstOther, -1, msg.Text{"%d {row is|rows are} of another filter than %q and not graded, the first in line %d", "%d 行属于 %q 之外的过滤器，未评分，首行为第 %d 行"}, rd.otherFilters, rd.filter, rd.firstOther))
	}
	if rd.moreReplies > 0 {
		rd.report(problem(CodeMoreReplies, rd.firstMore, -1, msg.Text{"%d {row holds|rows hold} several replies, of which the first counts; the first in line %d", "%d 行含多条回复，只计第一条；首行为第 %d 行"}, rd.moreReplies, rd.firstMore))
	}
	if rd.kind == "" {
		rd.kind = KindEmpty
	}
	return rd.kind, rd.rows, rd.problems
}

// A reader gathers the rows of a file.
type reader struct {
	kind     Kind
	rows     []Row
	problems []Problem
	seen     map[int]int // index → line
	filter   string      // of the first lm-eval row
	// rows of other filters, and the line of the first
	otherFilters, firstOther int
	// rows with several replies, and the line of the first
	moreReplies, firstMore int
}

func (rd *reader) report(p *Problem) { rd.problems = append(rd.problems, *p) }

func (rd *reader) lines(data []byte) {
	for n := 1; len(data) > 0; n++ {
		line, rest, ended := bytes.Cut(data, []byte{'\n'})
		data = rest
		line = bytes.TrimRight(line, "\r")
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if isConflict(line) {
			rd.report(problem(CodeConflict, n, -1, msg.Text{"line %d is a conflict marker of git: %s", "第 %d 行是 git 冲突标记：%s"}, n, string(line[:min(len(line), 40)])))
			continue
		}
		row, k, p := readLine(line, n)
		if p != nil {
			if !ended && p.Code != CodeMissingField && isTorn(line) {
				p = problem(CodeTorn, n, p.Index, msg.Text{"line %d ends in the middle of a row", "第 %d 行在一条记录中间结束"}, n)
			}
			rd.report(p)
			continue
		}
		if !ended {
			rd.report(problem(CodeNoNewline, n, row.Index, msg.Text{"the last line has no line end", "最后一行没有换行符"}))
		}
		rd.add(row, k)
	}
}

// add takes a row up unless it is of another kind, or repeats an index.
func (rd *reader) add(row Row, k Kind) {
	if rd.kind == "" {
		rd.kind, rd.filter = k, row.Filter
	}
	if k != rd.kind {
		rd.report(problem(CodeMixedKind, row.Line, row.Index, msg.Text{"line %d is a row of %s, the first is of %s", "第 %d 行是 %s 记录，首行是 %s"}, row.Line, string(k), string(rd.kind)))
		return
	}
	if row.Filter != rd.filter {
		if rd.otherFilters++; rd.otherFilters == 1 {
			rd.firstOther = row.Line
		}
		return
	}
	if k == KindSwift {
		row.Index = len(rd.rows)
	}
	if first, dup := rd.seen[row.Index]; dup {
		rd.report(problem(CodeDuplicate, row.Line, row.Index, msg.Text{"line %d: index %d stands in line %d, too; the first counts", "第 %d 行：index %d 在第 %d 行已出现；以先出现者为准"}, row.Line, row.Index, first))
		return
	}
	rd.seen[row.Index] = row.Line
	if row.more {
		if rd.moreReplies++; rd.moreReplies == 1 {
			rd.firstMore = row.Line
		}
	}
	rd.rows = append(rd.rows, row)
}

// isConflict tells the lines git writes where two versions of a file met.
func isConflict(line []byte) bool {
	for _, mark := range []string{"<<<<<<<", "|||||||", "=======", ">>>>>>>"} {
		if rest, ok := bytes.CutPrefix(line, []byte(mark)); ok && (len(rest) == 0 || rest[0] == ' ') {
			return true
		}
	}
	return false
}

// isTorn tells a line that stops too early from one that is wrong.
func isTorn(line []byte) bool {
	var v json.RawMessage
	err := json.NewDecoder(bytes.NewReader(line)).Decode(&v)
	return errors.Is(err, io.ErrUnexpectedEOF)
}

// wireRow has the fields of all kinds and versions.
type wireRow struct {
	Index json.RawMessage `json:"index"`
	Input string          `json:"input"`
	// "B" in 1.4.2, ["B"] later
	Target      json.RawMessage `json:"target"`
	SampleScore *struct {
		Group *int `json:"group_id"`
		Score struct {
			Value      map[string]json.RawMessage `json:"value"`
			Extracted  json.RawMessage            `json:"extracted_prediction"`
			Prediction *string                    `json:"prediction"`
		} `json:"score"`
	} `json:"sample_score"`
	Model       string        `json:"model"`
	ModelOutput *wireOutput   `json:"model_output"`
	Messages    []wireMessage `json:"messages"`
}

type wireMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
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
	if !isEvalScope(line) {
		return readForeign(line, n)
	}
	var w wireRow
	if err := json.Unmarshal(line, &w); err != nil {
		return Row{}, "", notRow(n, err)
	}
	index, p := indexOf(fields{"index": w.Index}, n)
	if p != nil {
		return Row{}, "", p
	}
	missing := func(field string) (Row, Kind, *Problem) {
		return Row{}, "", problem(CodeMissingField, n, index, msg.Text{"line %d has no %s", "第 %d 行缺少 %s"}, n, field)
	}
	row := Row{Line: n, Index: index, Input: w.Input, Model: w.Model}
	switch {
	case w.SampleScore != nil:
		s := w.SampleScore.Score
		if s.Prediction == nil {
			return missing("sample_score.score.prediction")
		}
		target, ok := lettersOrText(w.Target)
		if !ok {
			return missing("target")
		}
		row.Text, row.Target = *s.Prediction, target
		row.Extracted, _ = lettersOrText(s.Extracted)
		if row.Acc, row.Scored = score(s.Value["acc"]); !row.Scored {
			row.Acc, row.Scored = score(s.Value["accuracy"])
		}
		row.Input, row.Group = inputOf(&w), w.SampleScore.Group
		if row.Schema = Schema142; w.Input == "" && len(w.Messages) > 0 {
			row.Schema = Schema114
		}
		return row, KindReviews, nil
	case w.ModelOutput != nil:
		if len(w.ModelOutput.Choices) == 0 {
			return missing("model_output.choices[0]")
		}
		fillPrediction(&row, w.ModelOutput)
		if row.Schema = Schema142; len(w.Messages) > 1 {
			row.Schema = Schema114
		}
		return row, KindPredictions, nil
	}
	return missing("sample_score, model_output, output")
}

// notRow says why a line is no row, without the names of our own types.
func notRow(n int, err error) *Problem {
	var t *json.UnmarshalTypeError
	if !errors.As(err, &t) {
		return problem(CodeBadJSON, n, -1, msg.Text{"line %d is not a row: %v", "第 %d 行不是有效记录：%v"}, n, err)
	}
	if t.Field == "" {
		return problem(CodeBadJSON, n, -1, msg.Text{"line %d is not a row: a JSON %s, no object", "第 %d 行不是有效记录：是 JSON %s，不是对象"}, n, t.Value)
	}
	return problem(CodeBadJSON, n, -1, msg.Text{"line %d is not a row: %s is a JSON %s", "第 %d 行不是有效记录：%s 是 JSON %s"}, n, t.Field, t.Value)
}

// isEvalScope reports whether a row has one of the fields that only EvalScope's
// have.
func isEvalScope(line []byte) bool {
	var keys struct {
		Review     json.RawMessage `json:"sample_score"`
		Prediction json.RawMessage `json:"model_output"`
	}
	if json.Unmarshal(line, &keys) != nil {
		return true // it will be said what is wrong
	}
	return keys.Review != nil || len(keys.Prediction) > 0 && keys.Prediction[0] == '{'
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
		if m.Role == "" {
			return ""
		}
		parts = append(parts, "**"+strings.ToUpper(m.Role[:1])+m.Role[1:]+"**: \n"+contentOf(m.Content).Text)
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

// lettersOrText is [oneText], or the letters of an array of several.
func lettersOrText(v json.RawMessage) (string, bool) {
	if s, ok := oneText(v); ok {
		return s, true
	}
	var l []string
	if json.Unmarshal(v, &l) != nil || len(l) == 0 {
		return "", false
	}
	for _, s := range l {
		if len(s) != 1 || s[0] < 'A' || s[0] > 'Z' {
			return "", false
		}
	}
	return strings.Join(l, ""), true
}

// score reads a number or a truth value; null is none.
func score(v json.RawMessage) (x float64, ok bool) {
	switch string(v) {
	case "", "null":
		return 0, false
	case "true":
		return 1, true
	case "false":
		return 0, true
	}
	return x, json.Unmarshal(v, &x) == nil
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
