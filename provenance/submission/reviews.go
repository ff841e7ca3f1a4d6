package submission

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/drydock-ml/drydock/internal/msg"
)

// maxResults bounds what is read whole: 1,888 rows with long thinking are some
// tens of megabytes.
const maxResults = 1 << 30

// reviews is the graded file as it stands: every row that can be read, and what
// cannot.
type reviews struct {
	file    string
	missing bool
	err     error
	rows    []review
	bad     []Finding // lines that are no row of EvalScope 1.4.2
	unread  int       // those of them that no gate can use
	lines   int       // lines that are not blank
}

// review is one row; the fields the gates look at.
type review struct {
	line       int
	index      int
	input      string
	target     string
	acc        float64
	extracted  string
	prediction string
}

// wireReview is a row as v1.4.2 writes it; nothing less, nothing more.
type wireReview struct {
	Index  *json.Number `json:"index"`
	Input  *string      `json:"input"`
	Target *string      `json:"target"`
	Score  *struct {
		Score *struct {
			Value *struct {
				Acc *float64 `json:"acc"`
			} `json:"value"`
			Extracted     *string         `json:"extracted_prediction"`
			Prediction    *string         `json:"prediction"`
			Explanation   json.RawMessage `json:"explanation"`
			Metadata      json.RawMessage `json:"metadata"`
			MainScoreName json.RawMessage `json:"main_score_name"`
		} `json:"score"`
		SampleID       *json.Number    `json:"sample_id"`
		GroupID        *json.Number    `json:"group_id"`
		SampleMetadata json.RawMessage `json:"sample_metadata"`
	} `json:"sample_score"`
}

// loadReviews reads the graded file once for all gates.
func (s *state) loadReviews() {
	r := &s.reviews
	r.file = s.decl.Results.Reviews
	e, ok := s.bundle.find(r.file)
	if !ok {
		r.missing = true
		return
	}
	data, err := e.read(maxResults)
	if err != nil {
		r.err = err
		return
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // P05 speaks of it
	n := 0
	for line := range bytes.Lines(data) {
		n++
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		r.lines++
		row, ok, f := readReview(r.file, line, n)
		if f != nil {
			r.bad = append(r.bad, *f)
		}
		if ok {
			r.rows = append(r.rows, row)
		} else {
			r.unread++
		}
	}
}

// readReview reads a row strictly, as v1.4.2 writes it. A row that breaks only
// the form is a finding and still read, so that one fault is told once.
func readReview(file string, line []byte, n int) (row review, ok bool, wrong *Finding) {
	bad := func(pointer string, t msg.Text, args ...any) *Finding {
		f := finding(at(file, n).pointer(pointer), t, args...)
		return &f
	}
	var w wireReview
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	err := d.Decode(&w)
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			wrong = bad("", msg.Text{"more than one value on the line", "一行中有多个值"})
		}
	}
	if err != nil {
		wrong = bad(pointerOf(err), msg.Text{"not a row of EvalScope 1.4.2: %s", "不是 EvalScope 1.4.2 的行：%s"}, strings.TrimPrefix(err.Error(), "json: "))
		if newer(line) {
			f := bad("", msg.Text{"a row of a later EvalScope (it has messages or accuracy); the rules ask for 1.4.2", "此行来自更高版本的 EvalScope（含 messages 或 accuracy）；规则要求 1.4.2"}).
				fix(msg.Text{"drydock score writes the rows of 1.4.2 from these predictions; or evaluate with evalscope==1.4.2", "用 drydock score 可由预测结果写出 1.4.2 格式的行；或使用 evalscope==1.4.2 重新评测"})
			wrong = &f
		}
		w = wireReview{}
		if json.Unmarshal(line, &w) != nil {
			return row, false, wrong
		}
	}
	if p := w.absent(); p != "" && wrong == nil {
		wrong = bad(p, msg.Text{"%s is missing or null", "缺少 %s，或为 null"}, p)
	}
	if !w.usable() {
		return row, false, wrong
	}
	index, err := w.Index.Int64()
	if err != nil {
		return row, false, bad("/index", msg.Text{"index is %s, not a whole number", "index 为 %s，不是整数"}, w.Index.String())
	}
	sc := w.Score.Score
	return review{
		line: n, index: int(index), input: *w.Input, target: *w.Target,
		acc: *sc.Value.Acc, extracted: *sc.Extracted, prediction: *sc.Prediction,
	}, true, wrong
}

// usable reports whether what the gates look at is there.
func (w *wireReview) usable() bool {
	return w.Index != nil && w.Input != nil && w.Target != nil && w.Score != nil && w.Score.Score != nil &&
		w.Score.Score.Value != nil && w.Score.Score.Value.Acc != nil && w.Score.Score.Extracted != nil && w.Score.Score.Prediction != nil
}

// absent names the first key that must be there and is not.
func (w *wireReview) absent() string {
	switch {
	case w.Index == nil:
		return "/index"
	case w.Input == nil:
		return "/input"
	case w.Target == nil:
		return "/target"
	case w.Score == nil:
		return "/sample_score"
	case w.Score.Score == nil:
		return "/sample_score/score"
	case w.Score.Score.Value == nil || w.Score.Score.Value.Acc == nil:
		return "/sample_score/score/value/acc"
	case w.Score.Score.Extracted == nil:
		return "/sample_score/score/extracted_prediction"
	case w.Score.Score.Prediction == nil:
		return "/sample_score/score/prediction"
	case w.Score.Score.Explanation == nil:
		return "/sample_score/score/explanation"
	case w.Score.Score.Metadata == nil:
		return "/sample_score/score/metadata"
	case w.Score.Score.MainScoreName == nil:
		return "/sample_score/score/main_score_name"
	case w.Score.SampleID == nil:
		return "/sample_score/sample_id"
	case w.Score.GroupID == nil:
		return "/sample_score/group_id"
	case w.Score.SampleMetadata == nil:
		return "/sample_score/sample_metadata"
	}
	return ""
}

// newer recognises the rows that EvalScope writes since 1.7.0.
func newer(line []byte) bool {
	var w struct {
		Messages []json.RawMessage `json:"messages"`
		Score    struct {
			Score struct {
				Value map[string]json.RawMessage `json:"value"`
			} `json:"score"`
		} `json:"sample_score"`
	}
	if json.Unmarshal(line, &w) != nil {
		return false
	}
	_, accuracy := w.Score.Score.Value["accuracy"]
	return len(w.Messages) > 0 || accuracy
}

func pointerOf(err error) string {
	var te *json.UnmarshalTypeError
	if errors.As(err, &te) && te.Field != "" {
		return "/" + strings.ReplaceAll(te.Field, ".", "/")
	}
	return ""
}

// unusable says why the gates that read rows cannot: no file, or no row in it.
func (c *check) unusable() bool {
	r := &c.reviews
	switch {
	case r.missing:
		c.skips(nil, msg.Text{"there is no %s to read (G01)", "没有可读取的 %s（见 G01）"}, r.file)
	case r.err != nil:
		c.skips(nil, msg.Text{"%s cannot be read (G01)", "%s 无法读取（见 G01）"}, r.file)
	case len(r.rows) == 0:
		c.skips(nil, msg.Text{"%s has no row that can be read (G01)", "%s 中没有可读取的行（见 G01）"}, r.file)
	default:
		return false
	}
	return true
}

// at is the place of a review.
func (r *reviews) at(v review) Finding {
	return at(r.file, v.line)
}
