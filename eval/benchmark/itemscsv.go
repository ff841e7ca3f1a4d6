package benchmark

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"strings"

	"github.com/drydock-ml/drydock/internal/msg"
)

// readTable reads CSV or TSV with a header line. Names are compared without
// case, options by their capital letter.
func (rd *itemReader) readTable(data []byte) {
	r := csv.NewReader(bytes.NewReader(data))
	first, _, _ := bytes.Cut(data, []byte{'\n'})
	if bytes.IndexByte(first, '\t') >= 0 && bytes.IndexByte(first, ',') < 0 {
		r.Comma = '\t'
	}
	r.FieldsPerRecord = -1
	header, err := r.Read()
	if err != nil {
		rd.report(1, msg.Text{"the header line is not readable: %v", "无法读取表头：%v"}, err)
		return
	}
	names, ok := rd.header(header)
	if !ok {
		return
	}
	for {
		start := r.InputOffset()
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		var pe *csv.ParseError
		if errors.As(err, &pe) {
			rd.report(pe.StartLine, msg.Text{"row %d is not valid CSV: %v", "第 %d 条不是有效的 CSV：%v"}, rd.rows+1, pe.Err)
			return // quotes are out of step from here on
		}
		line, _ := r.FieldPos(0)
		if len(cells) > len(names) {
			rd.rows++
			rd.report(line, msg.Text{"row %d has %d {cell|cells}, the header %d", "第 %d 条有 %d 个单元格，表头有 %d 个"}, rd.rows, len(cells), len(names))
			continue
		}
		row := row{line: line, raw: bytes.TrimSpace(data[start:r.InputOffset()]), text: make(map[string]string, len(names))}
		for i, c := range cells {
			if c != "" {
				row.text[names[i]] = c
			}
		}
		rd.add(row)
	}
}

// fieldName returns the field that a column of a Chinese question bank holds, or
// the name as it is. A number that counts from 1 names an item; its place does not
// come of it.
func fieldName(column string) string {
	switch column {
	case "题目", "题干", "问题", "试题":
		return "question"
	case "答案", "正确答案", "标准答案", "参考答案":
		return "answer"
	case "解析":
		return "explanation"
	case "科目", "学科":
		return "subject"
	case "序号", "题号", "编号":
		return "id"
	}
	if letter, ok := strings.CutPrefix(column, "选项"); ok && len(letter) == 1 {
		return strings.ToUpper(letter)
	}
	return column
}

func (rd *itemReader) header(cells []string) ([]string, bool) {
	names := make([]string, len(cells))
	seen := map[string]bool{}
	for i, c := range cells {
		c = strings.TrimSpace(c)
		if len(c) == 1 {
			c = strings.ToUpper(c)
		} else {
			c = fieldName(strings.ToLower(c))
		}
		if c != "" && seen[c] {
			rd.report(1, msg.Text{"the header names %q twice", "表头中 %q 出现两次"}, c)
			return nil, false
		}
		seen[c] = true
		names[i] = c
	}
	if rd.any {
		return names, true // tablePrompts has looked
	}
	if !seen["question"] && !seen["input"] {
		rd.report(1, msg.Text{"neither JSON nor a table with a column question", "既不是 JSON，也不是含 question 或“题目”列的表格"}).
			Hint(msg.Text{"a row needs question, answer and the options A to D", "每行需有 question、answer 和选项 A 至 D"})
		return nil, false
	}
	return names, true
}
