package provenance

import (
	"bytes"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock/internal/msg"
)

// FileFields is the schema of one data file.
type FileFields struct {
	Path   string // as the reader will see it
	Rows   int
	Fields []Field
}

// FieldsMD writes fields.md: every key of every file with type, presence, an
// example and its meaning. own gives meanings by path for keys of the user's
// own; a key with no meaning is marked, since a reader cannot guess it.
func FieldsMD(lang msg.Lang, files []FileFields, own map[string]string) []byte {
	m := &markdown{lang: lang}
	m.h1(msg.Text{"Fields of the data", "数据字段说明"})
	m.p(msg.Text{
		"Every key that occurs. `a[].b` is key b of the objects in list a; presence is counted over the objects that could hold the key.",
		"列出出现过的每一个字段。`a[].b` 表示列表 a 中对象的字段 b；出现率以可能含有该字段的对象数为分母。",
	})
	for _, f := range files {
		m.h2(msg.Text{"%s (%d {row|rows})", "%s（%d 行）"}, code(f.Path), f.Rows)
		var rows [][]string
		unknown := 0
		for _, fd := range f.Fields {
			text := own[fd.Path]
			if text == "" {
				if t, ok := meaning(fd.Path); ok {
					text = t.In(lang)
				}
			}
			if text == "" {
				unknown++
				text = m.say(msg.Text{"⚠ not described", "⚠ 未说明"})
			}
			rows = append(rows, []string{code(fd.Path), strings.Join(fd.Types, ", "), percent(fd.Present, fd.Of), code(fd.Example), cell(text)})
		}
		m.table([]column{col(msg.Text{"field", "字段"}), col(msg.Text{"type", "类型"}), num(msg.Text{"present", "出现率"}), col(msg.Text{"example", "示例"}), col(msg.Text{"meaning", "含义"})}, rows)
		if unknown > 0 {
			m.p(msg.Text{"Keys without a description: %d. Their meaning must be written in by hand.", "未说明含义的字段：%d 个，须手工补充。"}, unknown)
		}
	}
	return m.Bytes()
}

// ReadFieldsMD reads a description of fields back: tables whose first column is
// a field name, under headings that name files. It is lenient, so that
// descriptions written by hand are read too: a heading's file is what stands in
// its code span, or the heading itself; types come from the second column.
func ReadFieldsMD(b []byte) []FileFields {
	out := []FileFields{{}}
	inTable := false
	for line := range bytes.Lines(bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))) {
		s := strings.TrimSpace(string(line))
		if h := strings.TrimLeft(s, "#"); h != s {
			out = append(out, FileFields{Path: headingFile(h)})
			inTable = false
			continue
		}
		cells := tableCells(s)
		if len(cells) < 2 {
			inTable = false
			continue
		}
		if strings.Trim(cells[0], "-: ") == "" {
			inTable = true // the rule under the table's head
			continue
		}
		name := strings.TrimSpace(strings.Trim(cells[0], "` "))
		if !inTable || name == "" {
			continue
		}
		types := strings.FieldsFunc(cells[1], func(r rune) bool { return strings.ContainsRune(",/| 、`", r) })
		slices.Sort(types)
		f := &out[len(out)-1]
		f.Fields = append(f.Fields, Field{Path: strings.ReplaceAll(name, `\|`, "|"), Types: types})
	}
	return slices.DeleteFunc(out, func(f FileFields) bool { return len(f.Fields) == 0 })
}

func headingFile(h string) string {
	if _, after, ok := strings.Cut(h, "`"); ok {
		name, _, _ := strings.Cut(after, "`")
		return strings.TrimSpace(name)
	}
	return strings.TrimSpace(h)
}

// tableCells splits a table row at the bars that are not escaped.
func tableCells(s string) []string {
	if !strings.HasPrefix(s, "|") {
		return nil
	}
	s = strings.TrimPrefix(strings.TrimSuffix(s, "|"), "|")
	var cells []string
	start := 0
	for i := range len(s) {
		if s[i] == '|' && (i == 0 || s[i-1] != '\\') {
			cells = append(cells, strings.TrimSpace(s[start:i]))
			start = i + 1
		}
	}
	return append(cells, strings.TrimSpace(s[start:]))
}
