package evalscope

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/internal/msg"
)

// fields is a row of another program, by name.
type fields map[string]json.RawMessage

// text returns the first of the fields that is a text, or a list of one, or a
// number.
func (f fields) text(names ...string) (string, bool) {
	for _, name := range names {
		v := f[name]
		if s, ok := oneText(v); ok {
			return s, true
		}
		if n := json.Number(""); len(v) > 0 && (v[0] == '-' || v[0] >= '0' && v[0] <= '9') && json.Unmarshal(v, &n) == nil {
			return n.String(), true
		}
	}
	return "", false
}

// outputNames and keyNames are what programs call a model's text and the key; the
// text as it came goes before what was made of it.
func outputNames() []string {
	return []string{"raw_response", "raw_output", "output", "response", "completion", "generated_text", "generation", "prediction"}
}

func keyNames() []string {
	return []string{"target", "ground_truth", "gold", "answer", "label", "labels", "reference"}
}

// mostIndex is far above any index that is one: an index is a place in a list.
const mostIndex = 1 << 40

// indexOf finds a row's index under the names it has elsewhere: a whole number from
// 0, which may be written as text or with a fraction of 0, as pandas does.
func indexOf(f fields, line int) (int, *Problem) {
	for _, name := range []string{"index", "doc_id", "idx", "id"} {
		v := f[name]
		if len(v) == 0 || string(v) == "null" {
			continue
		}
		s, ok := f.text(name)
		x, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		if !ok || err != nil || x < 0 || x > mostIndex || x != math.Trunc(x) {
			return -1, problem(CodeMissingField, line, -1, msg.Text{"line %d: %s is no whole number from 0: %s", "第 %d 行：%s 不是从 0 起的整数：%s"}, line, name, string(v[:min(len(v), 40)]))
		}
		return int(x), nil
	}
	return -1, problem(CodeMissingField, line, -1, msg.Text{"line %d has no %s", "第 %d 行缺少 %s"}, line, "index")
}

// readForeign reads a row that is not EvalScope's.
func readForeign(line []byte, n int) (Row, Kind, *Problem) {
	var f fields
	if err := json.Unmarshal(line, &f); err != nil {
		return Row{}, "", notRow(n, err)
	}
	row, kind := Row{Line: n}, KindOutputs
	index, noIndex := indexOf(f, n)
	row.Index = index
	missing := func(field string) (Row, Kind, *Problem) {
		return Row{}, "", problem(CodeMissingField, n, index, msg.Text{"line %d has no %s", "第 %d 行缺少 %s"}, n, field)
	}
	switch {
	case f["doc_id"] != nil && (f["resps"] != nil || f["filtered_resps"] != nil):
		kind = KindLMEval
		if !row.fromLMEval(f) {
			return missing("resps")
		}
	case f["response"] != nil && f["messages"] != nil && f["index"] == nil:
		// swift writes one row a request, in their order
		kind, noIndex = KindSwift, nil
		row.Index = -1
		row.setText(f, "response")
		row.Input = inputOf(&wireRow{Messages: messagesOf(f["messages"])})
	default:
		if !row.setText(f, outputNames()...) {
			if noIndex != nil {
				return Row{}, "", noIndex
			}
			return missing("sample_score, model_output, output")
		}
	}
	if noIndex != nil {
		return Row{}, "", noIndex
	}
	if row.Question == nil {
		row.Question = f.question()
	}
	if key, ok := f.text(keyNames()...); ok && row.Target == "" {
		row.Target = letterOfKey(key, row.Question)
	}
	row.takeScore(f)
	return row, kind, nil
}

// setText takes the model's text from the first field that is one.
func (row *Row) setText(f fields, names ...string) bool {
	s, ok := f.text(names...)
	if !ok {
		return false
	}
	r := benchmark.AssistantText(benchmark.Assistant{Content: &s}, nil)
	row.Text, row.Reply = r.Text, &r
	return true
}

// takeScore reads what the file says came of the row.
func (row *Row) takeScore(f fields) {
	for _, name := range []string{"is_correct", "correct", "acc", "exact_match"} {
		v, ok := f[name]
		if !ok {
			continue
		}
		row.Acc, row.Scored = score(v)
		break
	}
	if f["raw_response"] != nil || f["raw_output"] != nil {
		row.Extracted, _ = f.text("prediction", "extracted", "extracted_answer", "pred")
		return
	}
	row.ExtractedUnknown = true
}

// question reads a question with its options from columns A to J, a list of
// choices or options, or an object of them; nil when there is none.
func (f fields) question() *drydock.Question {
	stem, _ := f.text("question", "stem", "query", "input")
	q := &drydock.Question{Kind: drydock.Single, Stem: stem}
	add := func(v json.RawMessage) {
		if s, ok := oneText(v); ok && s != "" {
			q.Options = append(q.Options, drydock.Option{Label: string(rune('A' + len(q.Options))), Text: s})
		}
	}
	for c := 'A'; c <= 'J'; c++ {
		add(f[string(c)])
	}
	for _, name := range []string{"choices", "options"} {
		var list []json.RawMessage
		var object struct {
			Text []json.RawMessage `json:"text"`
		}
		switch {
		case len(q.Options) > 0:
		case json.Unmarshal(f[name], &list) == nil:
		case json.Unmarshal(f[name], &object) == nil:
			list = object.Text
		}
		for _, v := range list[:min(len(list), 26)] {
			add(v)
		}
	}
	if stem == "" && len(q.Options) == 0 {
		return nil
	}
	return q
}

// letterOfKey makes a letter of a key: the letter itself, the place of an option
// from 0, or the option's text. A key that is none of these stays as it is.
func letterOfKey(key string, q *drydock.Question) string {
	t := strings.TrimSpace(key)
	if q == nil || len(q.Options) == 0 || len(t) == 1 && t[0] >= 'A' && t[0] <= 'Z' {
		return t
	}
	if i, err := strconv.Atoi(t); err == nil && i >= 0 && i < len(q.Options) {
		return q.Options[i].Label
	}
	for _, o := range q.Options {
		if strings.TrimSpace(o.Text) == t {
			return o.Label
		}
	}
	return t
}

// fromLMEval reads a row of lm-evaluation-harness's --log_samples: what a model
// wrote under resps, or for each choice its log-likelihood, of which the greatest
// is the answer.
func (row *Row) fromLMEval(f fields) bool {
	var doc fields
	if json.Unmarshal(f["doc"], &doc) == nil && doc != nil {
		row.Question = doc.question()
	}
	row.Filter, _ = f.text("filter")
	if key, ok := f.text("target"); ok {
		row.Target = letterOfKey(key, row.Question)
	}
	var resps []json.RawMessage
	if json.Unmarshal(f["resps"], &resps) != nil || len(resps) == 0 {
		if json.Unmarshal(f["filtered_resps"], &resps) != nil || len(resps) == 0 {
			return false
		}
	}
	if s, more, ok := firstText(resps[0]); ok {
		row.more = more || len(resps) > 1
		r := benchmark.AssistantText(benchmark.Assistant{Content: &s}, nil)
		row.Text, row.Reply = r.Text, &r
		return true
	}
	best, choice := math.Inf(-1), -1
	for i, v := range resps {
		l, ok := likelihood(v)
		if !ok {
			return false
		}
		if l > best {
			best, choice = l, i
		}
	}
	if choice < 0 || choice >= 26 {
		return false
	}
	row.Reply = &benchmark.Reply{Choice: string(rune('A' + choice)), Finish: "unknown"}
	if row.Question == nil || len(row.Question.Options) == 0 {
		row.Question = &drydock.Question{Kind: drydock.Single, Options: make([]drydock.Option, len(resps))}
	}
	if i, err := strconv.Atoi(row.Target); err == nil && i >= 0 && i < len(resps) {
		row.Target = string(rune('A' + i))
	}
	return true
}

// firstText digs the first text out of lists of lists, and tells whether there are
// more; a list that begins with a number holds likelihoods.
func firstText(v json.RawMessage) (text string, more, ok bool) {
	for range 4 {
		var s string
		if json.Unmarshal(v, &s) == nil && len(v) > 0 && v[0] == '"' {
			return s, more, true
		}
		var l []json.RawMessage
		if json.Unmarshal(v, &l) != nil || len(l) == 0 {
			return "", false, false
		}
		if _, ok := likelihoodPair(l); ok {
			return "", false, false
		}
		more = more || len(l) > 1
		v = l[0]
	}
	return "", false, false
}

// likelihood digs [log-likelihood, is greedy] out of lists of lists.
func likelihood(v json.RawMessage) (float64, bool) {
	for range 4 {
		var l []json.RawMessage
		if json.Unmarshal(v, &l) != nil || len(l) == 0 {
			return 0, false
		}
		if x, ok := likelihoodPair(l); ok {
			return x, true
		}
		v = l[0]
	}
	return 0, false
}

// likelihoodPair reads a pair of a number and a truth value, both perhaps written
// as texts.
func likelihoodPair(l []json.RawMessage) (float64, bool) {
	if len(l) != 2 || !slices.Contains([]string{"true", "false"}, strings.ToLower(strings.Trim(string(l[1]), `"`))) {
		return 0, false
	}
	x, err := strconv.ParseFloat(strings.Trim(string(l[0]), `"`), 64)
	return x, err == nil // NaN is no greatest
}

// messagesOf reads a conversation.
func messagesOf(v json.RawMessage) []wireMessage {
	var m []wireMessage
	if json.Unmarshal(v, &m) != nil {
		return nil
	}
	return m
}

// fromOpenCompass reads an entry of OpenCompass's predictions: what was generated,
// or the label whose text was the most probable (entries with "label: A").
func (row *Row) fromOpenCompass(f fields) bool {
	s, ok := f.text("prediction")
	if !ok {
		return false
	}
	for name := range f {
		if strings.HasPrefix(name, "label: ") {
			if t := strings.TrimSpace(s); len(t) == 1 && t[0] >= 'A' && t[0] <= 'Z' {
				row.Reply = &benchmark.Reply{Choice: t, Finish: "unknown"}
			}
		}
	}
	if row.Reply == nil {
		r := benchmark.AssistantText(benchmark.Assistant{Content: &s}, nil)
		row.Text, row.Reply = r.Text, &r
	}
	row.ExtractedUnknown = true
	row.Input = promptOf(f["origin_prompt"])
	if key, ok := f.text("gold", "reference"); ok {
		row.Target = letterOfKey(key, nil)
	}
	return true
}

// promptOf reads OpenCompass's prompt: a text, or turns.
func promptOf(v json.RawMessage) string {
	if s, ok := oneText(v); ok {
		return s
	}
	var turns []struct {
		Prompt string `json:"prompt"`
	}
	if json.Unmarshal(v, &turns) != nil {
		return ""
	}
	var parts []string
	for _, t := range turns {
		parts = append(parts, t.Prompt)
	}
	return strings.Join(parts, "\n")
}
