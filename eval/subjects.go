package eval

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// Subjects say what items are about, by the item's index or its id. Nobody
// publishes them for MaritimeBench; a team may have its own.
type Subjects map[string]string

// of returns the subject of an item: as the file says, by id before index, else
// as the item's row does.
func (s Subjects) of(o *Outcome) string {
	if name, ok := s[o.id]; ok {
		return name
	}
	if name, ok := s[strconv.Itoa(o.Index)]; ok {
		return name
	}
	return o.subject
}

// unmatched counts the entries that name none of the items.
func (s Subjects) unmatched(all []Outcome) int {
	names := make(map[string]bool, 2*len(all))
	for i := range all {
		names[strconv.Itoa(all[i].Index)], names[all[i].id] = true, true
	}
	n := 0
	for name := range s {
		if !names[name] {
			n++
		}
	}
	return n
}

// By returns the subject of the item with an index, as [Compare] wants it; nil
// when no outcome has a subject.
func (s Subjects) By(all []Outcome) func(index int) string {
	names := map[int]string{}
	for i := range all {
		if name := s.of(&all[i]); name != "" {
			names[all[i].Index] = name
		}
	}
	if len(names) == 0 {
		return nil
	}
	return func(index int) string { return names[index] }
}

// ReadSubjects reads a file of subjects: CSV or TSV with a header, or JSON
// lines, each row with index or id and with subject. name is for errors, which
// name the line.
func ReadSubjects(name string, data []byte) (Subjects, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	line := 1
	for row := range bytes.Lines(data) {
		if !utf8.Valid(row) {
			return nil, badSubject(name, line, msg.Text{"not UTF-8", "不是 UTF-8 编码"})
		}
		line++
	}
	s, err := readSubjects(name, data)
	if err == nil && len(s) == 0 {
		return nil, badSubject(name, 1, msg.Text{"no row with a subject", "没有含学科的行"})
	}
	return s, err
}

func readSubjects(name string, data []byte) (Subjects, error) {
	if trimmed := bytes.TrimLeft(data, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '{' {
		return subjectLines(name, data)
	}
	return subjectTable(name, data)
}

func badSubject(name string, line int, text msg.Text, args ...any) error {
	return fail.New(fail.Config, text, args...).At(fail.Where{File: name, Line: line}).Hint(msg.Text{
		"a subject file is CSV with the columns index,subject, or JSON lines with these fields",
		"学科文件为含 index,subject 两列的 CSV，或含这两个字段的 JSONL",
	})
}

func (s Subjects) add(name string, line int, key, subject string) error {
	key, subject = strings.TrimSpace(key), strings.TrimSpace(subject)
	switch old, seen := s[key]; {
	case key == "" || subject == "":
		return badSubject(name, line, msg.Text{"a row without index or subject", "缺少 index 或 subject 的行"})
	case seen && old != subject:
		return badSubject(name, line, msg.Text{"item %s is both %q and %q", "第 %s 题既属于 %q 又属于 %q"}, key, old, subject)
	}
	s[key] = subject
	return nil
}

func subjectLines(name string, data []byte) (Subjects, error) {
	s := Subjects{}
	line := 0
	for row := range bytes.Lines(data) {
		line++
		if len(bytes.TrimSpace(row)) == 0 {
			continue
		}
		var r struct {
			Index   *int   `json:"index"`
			ID      any    `json:"id"`
			Subject string `json:"subject"`
		}
		d := json.NewDecoder(bytes.NewReader(row))
		d.UseNumber()
		if err := d.Decode(&r); err != nil {
			return nil, badSubject(name, line, msg.Text{"not a JSON object: %v", "不是 JSON 对象：%v"}, err)
		}
		key := ""
		switch id := r.ID.(type) {
		case string:
			key = id
		case json.Number:
			key = id.String()
		}
		if r.Index != nil {
			key = strconv.Itoa(*r.Index)
		}
		if err := s.add(name, line, key, r.Subject); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// column returns the place of the first of the names that a header has; -1: none.
func column(header []string, names ...string) int {
	for _, name := range names {
		if i := slices.Index(header, name); i >= 0 {
			return i
		}
	}
	return -1
}

func subjectTable(name string, data []byte) (Subjects, error) {
	r := csv.NewReader(bytes.NewReader(data))
	head, _, _ := bytes.Cut(data, []byte{'\n'})
	if bytes.ContainsRune(head, '\t') {
		r.Comma = '\t'
	}
	r.TrimLeadingSpace = true
	header, err := r.Read()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, badSubject(name, 1, msg.Text{"%v", "%v"}, err)
	}
	for i := range header {
		header[i] = strings.ToLower(strings.TrimSpace(header[i]))
	}
	key, subject := column(header, "index", "id", "序号", "题号"), column(header, "subject", "学科", "科目")
	if key < 0 || subject < 0 {
		return nil, badSubject(name, 1, msg.Text{"no columns index and subject", "没有 index 与 subject 列"})
	}
	s := Subjects{}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return s, nil
		}
		line, _ := r.FieldPos(0)
		if err != nil {
			var at *csv.ParseError
			if errors.As(err, &at) {
				line = at.Line
			}
			return nil, badSubject(name, line, msg.Text{"%v", "%v"}, err)
		}
		if err := s.add(name, line, row[key], row[subject]); err != nil {
			return nil, err
		}
	}
}
