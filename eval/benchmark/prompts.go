package benchmark

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/textnorm"
)

// promptFields are the names under which a row may hold its question, the likelier
// ones first. instruction goes before input, which then belongs to it.
func promptFields() []string {
	return []string{
		"question", "prompt", "instruction", "input", "query", "problem", "stem", "text",
		"题目", "题干", "问题", "提示词",
	}
}

// answerFields are those of accepted answers.
func answerFields() []string {
	return []string{"answer", "answers", "accepted_answers", "target", "targets", "reference", "references", "output", "答案"}
}

// ReadPrompts reads a file of questions or prompts that data is only checked
// against: what [ReadItems] takes and, beyond that, rows without options, with any
// number of them, with accepted answers instead of a key or with none, under the
// usual names (question, prompt, instruction and input …), and plain text, a
// prompt a line. Items keep their index, else they are numbered from 0. Accepted
// answers become the item's gold.
func ReadPrompts(name string, data []byte) ([]Item, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if i := textnorm.InvalidUTF8(data); i >= 0 {
		return nil, notUTF8(name, data, i)
	}
	rd := &itemReader{name: name, most: maxOptions, several: true, any: true}
	body := bytes.TrimLeft(data, " \t\r\n")
	switch {
	case len(body) == 0:
		return nil, fail.New(fail.Config, msg.Text{"the file is empty", "文件为空"}).At(fail.Where{File: name})
	case body[0] == '[' || body[0] == '{':
		rd.readJSON(data)
	case tablePrompts(data):
		rd.readTable(data)
	default:
		rd.readLines(data)
	}
	rd.checkIndexes()
	if err := rd.err(); err != nil {
		return nil, err
	}
	return rd.items, nil
}

// tablePrompts reports whether the first line is the header of a table with a
// column of questions.
func tablePrompts(data []byte) bool {
	first, _, _ := strings.Cut(string(data), "\n")
	cells := strings.FieldsFunc(first, func(r rune) bool { return r == ',' || r == '\t' })
	if len(cells) == 0 {
		return false
	}
	for _, c := range cells {
		c = strings.ToLower(strings.Trim(c, " \r\""))
		if c == "question" || c == "prompt" || len(cells) > 1 && slices.Contains(promptFields(), c) {
			return true
		}
	}
	return false
}

// readLines takes every line that is not blank as a prompt.
func (rd *itemReader) readLines(data []byte) {
	no := 0
	for line := range bytes.Lines(data) {
		no++
		if text := bytes.TrimSpace(line); len(text) > 0 {
			rd.add(row{line: no, raw: text, text: map[string]string{"prompt": string(text)}})
		}
	}
}

// addPrompt understands a row of any shape.
func (rd *itemReader) addPrompt(r row, no int) {
	var stem string
	for _, name := range promptFields() {
		s := r.text[name]
		if strings.TrimSpace(s) == "" {
			continue
		}
		if stem = s; name == "instruction" && r.text["input"] != "" {
			stem += "\n" + r.text["input"]
		}
		break
	}
	if stem == "" {
		rd.report(r.line, msg.Text{"row %d: no question", "第 %d 条：缺少题目"}, no).
			Hint(msg.Text{"it can stand under %s", "可用的字段名：%s"}, msg.List(promptFields()))
		return
	}
	it := Item{Raw: r.raw, Question: drydock.Question{Kind: drydock.Short, Stem: stem}}
	for _, name := range answerFields() {
		if it.Gold = r.list[name]; it.Gold == nil && r.text[name] != "" {
			it.Gold = []string{r.text[name]}
		}
		if it.Gold != nil {
			break
		}
	}
	it.Question.Answer = it.Gold
	for i, text := range promptOptions(&r) {
		if text != "" && i < maxOptions {
			it.Question.Options = append(it.Question.Options, drydock.Option{Label: string(rune('A' + i)), Text: text})
		}
	}
	if len(it.Question.Options) > 0 {
		it.Question.Kind = drydock.Single
	}
	rd.number(r, no, it)
}

// promptOptions finds options under letters, in a list, or by letter in an
// object.
func promptOptions(r *row) []string {
	for _, name := range []string{"choices", "options", "选项"} {
		if l := r.list[name]; l != nil {
			return l
		}
		if r.broken[name] {
			var fields map[string]json.RawMessage
			var by map[string]string
			if json.Unmarshal(r.raw, &fields) == nil && json.Unmarshal(fields[name], &by) == nil {
				var out []string
				for _, k := range slices.Sorted(maps.Keys(by)) {
					out = append(out, by[k])
				}
				return out
			}
		}
	}
	var out []string
	for c := 'A'; c <= 'Z'; c++ {
		if s := r.text[string(c)]; s != "" {
			out = append(out, s)
		}
	}
	return out
}
