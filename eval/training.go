package eval

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// An Unprompter reads a question back from a prompt; [benchmark.Choice] is one.
type Unprompter interface {
	Unprompt(text string) (drydock.Question, bool)
}

// An Example is one training row as the baselines see it.
type Example struct {
	Stem    string   // the question; a whole prompt when it cannot be taken apart
	Options []string // texts, in the order of their letters; nil when none are shown
	Letter  string   // the answer's letter; empty when the row has none
	Answer  string   // the answer's text; empty when only a letter is known
}

// Training is what the baselines learn from.
type Training struct {
	Examples []Example // in the order of the file
	SHA256   string    // of the file
	Skipped  int       // rows that hold no question with an answer
	// FirstSkipped is the line of the first of those, from 1; 0: none.
	FirstSkipped int
}

// ReadTraining reads JSON rows, one a line or in an array: our question rows,
// chat rows (messages or conversations), instruction and prompt rows, and rows
// of question, answer, A, B, C, D. Prompts in the benchmark's own template are
// taken apart again. Rows that hold no answered question are counted, not
// guessed at; a line that is no JSON is an error.
func ReadTraining(name string, data []byte, u Unprompter) (*Training, error) {
	sum := sha256.Sum256(data)
	t := &Training{SHA256: hex.EncodeToString(sum[:])}
	body := bytes.TrimLeft(bytes.TrimPrefix(data, []byte("\ufeff")), " \t\r\n")
	dec := json.NewDecoder(bytes.NewReader(body))
	skipped := len(data) - len(body)
	lineOf := func(offset int64) int {
		return 1 + bytes.Count(data[:min(len(data), skipped+int(offset))], []byte{'\n'})
	}
	array := len(body) > 0 && body[0] == '['
	if array {
		_, _ = dec.Token()
	}
	for !array || dec.More() {
		var raw json.RawMessage
		err := dec.Decode(&raw)
		if errors.Is(err, io.EOF) && !array {
			break
		}
		if err != nil {
			at := dec.InputOffset()
			var se *json.SyntaxError
			if errors.As(err, &se) {
				at = se.Offset - 1
			} else if errors.Is(err, io.ErrUnexpectedEOF) {
				at = int64(len(bytes.TrimRight(body, " \t\r\n")))
			}
			return nil, fail.New(fail.Config, msg.Text{"not a JSON row: %v", "不是 JSON 记录：%v"}, err).
				At(fail.Where{File: name, Line: lineOf(at)})
		}
		if ex, ok := readExample(raw, u); ok {
			t.Examples = append(t.Examples, ex)
			continue
		}
		if t.Skipped++; t.Skipped == 1 {
			t.FirstSkipped = lineOf(dec.InputOffset() - int64(len(raw)))
		}
	}
	if len(t.Examples) == 0 {
		return nil, fail.New(fail.Config, msg.Text{"no row holds a question with its answer (%d {row|rows} read)", "没有一行是带答案的题目（共读取 %d 行）"}, t.Skipped).
			At(fail.Where{File: name})
	}
	return t, nil
}

type trainingRow struct {
	Stem     string          `json:"stem"`
	Options  json.RawMessage `json:"options"`
	Answer   json.RawMessage `json:"answer"`
	Question string          `json:"question"`
	A        *string         `json:"A"`
	B        *string         `json:"B"`
	C        *string         `json:"C"`
	D        *string         `json:"D"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Conversations []struct {
		From  string `json:"from"`
		Value string `json:"value"`
	} `json:"conversations"`
	Instruction string          `json:"instruction"`
	Input       string          `json:"input"`
	Output      json.RawMessage `json:"output"`
	Prompt      json.RawMessage `json:"prompt"`
	Query       string          `json:"query"`
	Completion  json.RawMessage `json:"completion"`
	Response    json.RawMessage `json:"response"`
}

func readExample(raw []byte, u Unprompter) (Example, bool) {
	var r trainingRow
	if json.Unmarshal(raw, &r) != nil {
		return Example{}, false
	}
	switch {
	case r.Stem != "":
		return questionRow(r.Stem, &r)
	case r.Question != "":
		return questionRow(r.Question, &r)
	}
	user, assistant := turns(&r)
	if strings.TrimSpace(user) == "" || strings.TrimSpace(assistant) == "" {
		return Example{}, false
	}
	return fromTurns(user, assistant, u)
}

// questionRow reads our own rows, and rows of question, answer and options in
// whichever form those have.
func questionRow(stem string, r *trainingRow) (Example, bool) {
	ex := Example{Stem: stem}
	answers := texts(r.Answer)
	if len(answers) != 1 {
		return Example{}, false
	}
	answer := strings.TrimSpace(answers[0])
	for _, o := range rowOptions(r) {
		ex.Options = append(ex.Options, o.Text)
		if strings.EqualFold(o.Label, answer) {
			ex.Letter, ex.Answer = strings.ToUpper(o.Label), o.Text
		}
	}
	if len(ex.Options) == 0 {
		if ex.Letter = answerLetter(answer); ex.Letter == "" {
			ex.Answer = answer
		}
	}
	return ex, ex.Answer != "" || ex.Letter != ""
}

// rowOptions reads options given as label and text, as a list of texts, as an
// object by letter, or as columns A to D.
func rowOptions(r *trainingRow) []drydock.Option {
	var labelled []drydock.Option
	if json.Unmarshal(r.Options, &labelled) == nil && len(labelled) > 0 {
		return labelled
	}
	labelled = nil // what failed to decode may have left empty ones
	var list []string
	if json.Unmarshal(r.Options, &list) == nil && len(list) > 0 {
		for i, text := range list[:min(len(list), 26)] {
			labelled = append(labelled, drydock.Option{Label: string(rune('A' + i)), Text: text})
		}
		return labelled
	}
	byLetter := map[string]*string{"A": r.A, "B": r.B, "C": r.C, "D": r.D}
	var object map[string]*string
	if json.Unmarshal(r.Options, &object) == nil && len(object) > 0 {
		byLetter = object
	}
	for l := 'A'; l <= 'Z'; l++ {
		if text := byLetter[string(l)]; text != nil && *text != "" {
			labelled = append(labelled, drydock.Option{Label: string(l), Text: *text})
		}
	}
	return labelled
}

// texts reads a string or an array of strings.
func texts(v json.RawMessage) []string {
	var s string
	if json.Unmarshal(v, &s) == nil && s != "" {
		return []string{s}
	}
	var l []string
	if json.Unmarshal(v, &l) != nil {
		return nil
	}
	return l
}

// turns finds the first question and the answer to it.
func turns(r *trainingRow) (user, assistant string) {
	take := func(role, text string) {
		switch role {
		case "user", "human":
			if user == "" {
				user = text
			}
		case "assistant", "gpt", "model":
			if user != "" && assistant == "" {
				assistant = text
			}
		}
	}
	for _, m := range r.Messages {
		take(m.Role, text(m.Content))
	}
	for _, m := range r.Conversations {
		take(m.From, m.Value)
	}
	if user != "" {
		return user, assistant
	}
	for _, s := range []string{r.Instruction, text(r.Prompt), r.Query} {
		if s != "" {
			user = s
			break
		}
	}
	if r.Input != "" {
		user = strings.TrimPrefix(user+"\n"+r.Input, "\n")
	}
	for _, v := range []json.RawMessage{r.Output, r.Completion, r.Response} {
		if s := text(v); s != "" {
			return user, s
		}
	}
	return user, ""
}

// text reads a string, the text parts of an array, or the content of messages.
func text(v json.RawMessage) string {
	var s string
	if json.Unmarshal(v, &s) == nil {
		return s
	}
	var parts []struct {
		Text    string `json:"text"`
		Content string `json:"content"`
	}
	if json.Unmarshal(v, &parts) != nil {
		return ""
	}
	var out []string
	for _, p := range parts {
		if t := p.Text + p.Content; t != "" {
			out = append(out, t)
		}
	}
	return strings.Join(out, "\n")
}

func fromTurns(user, assistant string, u Unprompter) (Example, bool) {
	answer, _, _ := benchmark.SplitThink(assistant)
	answer = strings.TrimSpace(answer)
	var ex Example
	if q, ok := u.Unprompt(user); ok {
		ex.Stem = q.Stem
		for _, o := range q.Options {
			ex.Options = append(ex.Options, o.Text)
		}
	} else {
		ex.Stem, ex.Options = splitLettered(user)
	}
	ex.Letter = answerLetter(answer)
	switch {
	case ex.Letter == "":
		ex.Answer = answer
	case len(ex.Options) > 0 && int(ex.Letter[0]-'A') < len(ex.Options):
		ex.Answer = ex.Options[ex.Letter[0]-'A']
	}
	return ex, ex.Stem != "" && (ex.Answer != "" || ex.Letter != "")
}

// answerLetter reads an answer that names an option: [C], C, C. text, 答案：C.
func answerLetter(s string) string {
	if first, ok := benchmark.LookupRule("bracket_first@1"); ok {
		if l, _, _ := first.Extract(s); l != "" {
			return l
		}
	}
	for _, p := range []string{"答案：", "答案:", "答案是", "答：", "Answer: ", "answer: "} {
		if rest, ok := strings.CutPrefix(s, p); ok {
			s = strings.TrimSpace(rest)
			break
		}
	}
	if s == "" || s[0] < 'A' || s[0] > 'Z' {
		return ""
	}
	rest := s[1:]
	for _, p := range []string{".", "．", "、", ")", "）", ":", "：", "。"} {
		if strings.HasPrefix(rest, p) {
			return s[:1]
		}
	}
	if rest == "" {
		return s
	}
	return ""
}

// splitLettered cuts a question whose options stand on lines "A. …", "B. …".
func splitLettered(s string) (stem string, options []string) {
	lines := strings.Split(s, "\n")
	var stems []string
	for _, l := range lines {
		want := rune('A' + len(options))
		if rest, ok := lettered(strings.TrimSpace(l), want); ok {
			options = append(options, rest)
			continue
		}
		if len(options) == 0 {
			stems = append(stems, l)
		}
	}
	if len(options) < 2 {
		return s, nil
	}
	return strings.TrimSpace(strings.Join(stems, "\n")), options
}

func lettered(line string, want rune) (string, bool) {
	rest, ok := strings.CutPrefix(line, string(want))
	if !ok {
		return "", false
	}
	for _, p := range []string{".", "．", "、", ")", "）", ":", "："} {
		if text, ok := strings.CutPrefix(rest, p); ok {
			return strings.TrimSpace(text), true
		}
	}
	return "", false
}
