package benchmark

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/msg"
)

// lineCounter turns growing offsets into line numbers without counting twice.
type lineCounter struct {
	data []byte
	at   int
	line int
}

func (c *lineCounter) of(offset int) int {
	offset = min(max(offset, c.at), len(c.data))
	c.line += bytes.Count(c.data[c.at:offset], []byte{'\n'})
	c.at = offset
	return c.line + 1
}

// readJSON reads an array of objects, or objects one after another.
func (rd *itemReader) readJSON(data []byte) {
	dec := json.NewDecoder(bytes.NewReader(data))
	lines := &lineCounter{data: data}
	array := bytes.TrimLeft(data, " \t\r\n")[0] == '['
	if array {
		_, _ = dec.Token() // the bracket just seen
	}
	for !array || dec.More() {
		before := int(dec.InputOffset())
		var raw json.RawMessage
		err := dec.Decode(&raw)
		if errors.Is(err, io.EOF) && !array {
			return
		}
		if err != nil {
			rd.syntax(data, lines, before, err)
			return
		}
		end := int(dec.InputOffset())
		start := end - len(raw)
		rd.addJSON(lines.of(start), data[start:end])
	}
	if _, err := dec.Token(); err != nil {
		rd.syntax(data, lines, int(dec.InputOffset()), err)
		return
	}
	if rest := bytes.TrimSpace(data[dec.InputOffset():]); len(rest) > 0 {
		rd.report(lines.of(len(data)-len(rest)), msg.Text{"something follows the array's end", "数组结束后还有内容"})
	}
}

func (rd *itemReader) syntax(data []byte, lines *lineCounter, from int, err error) {
	var se *json.SyntaxError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		rd.report(lines.of(len(bytes.TrimRight(data, " \t\r\n"))), msg.Text{"the file ends in the middle of row %d", "文件在第 %d 条中间结束"}, rd.rows+1)
	case errors.As(err, &se):
		rd.report(lines.of(brokenAt(data, from, int(se.Offset)-1)), msg.Text{"row %d is not valid JSON: %v", "第 %d 条不是有效的 JSON：%v"}, rd.rows+1, err)
	default:
		rd.report(lines.of(from), msg.Text{"row %d is not valid JSON: %v", "第 %d 条不是有效的 JSON：%v"}, rd.rows+1, err)
	}
}

// brokenAt returns where the row that begins after from is broken, given where
// that was noticed. When a line is cut short, it is noticed at the next one,
// which begins like a row of its own: then the row's last line is to blame.
func brokenAt(data []byte, from, noticed int) int {
	noticed = min(max(noticed, 0), len(data))
	line := bytes.LastIndexByte(data[:noticed], '\n') + 1
	begins := bytes.TrimLeft(data[line:], " \t\r")
	if line <= from || len(bytes.TrimSpace(data[from:line])) == 0 || !bytes.HasPrefix(begins, []byte("{")) {
		return noticed
	}
	return max(len(bytes.TrimRight(data[:line], " \t\r\n"))-1, from)
}

func (rd *itemReader) addJSON(line int, raw []byte) {
	var fields map[string]json.RawMessage
	if raw[0] != '{' || json.Unmarshal(raw, &fields) != nil {
		rd.rows++
		rd.report(line, msg.Text{"row %d is not an object", "第 %d 条不是对象"}, rd.rows)
		return
	}
	r := row{line: line, raw: raw, text: make(map[string]string, len(fields)), list: map[string][]string{}, broken: map[string]bool{}}
	for name, v := range fields {
		switch {
		case v[0] == '[':
			l, ok := jsonTexts(v)
			if name == "options" && !ok {
				l, ok = labelled(v)
				name = "choices"
			}
			if ok {
				r.list[name] = l
			} else {
				r.broken[name] = true
			}
		case v[0] == 'n':
		default:
			s, ok := jsonText(v)
			if !ok {
				r.broken[name] = true
				break
			}
			r.text[name] = s
		}
	}
	rd.add(r)
}

// labelled reads the options of our own question rows, whose labels are A, B, C …
// in their order.
func labelled(v []byte) ([]string, bool) {
	var options []drydock.Option
	if json.Unmarshal(v, &options) != nil || len(options) == 0 {
		return nil, false
	}
	texts := make([]string, len(options))
	for i, o := range options {
		if o.Label != string(rune('A'+i)) {
			return nil, false
		}
		texts[i] = o.Text
	}
	return texts, true
}

// jsonText reads a string, or a number as it is written.
func jsonText(v []byte) (string, bool) {
	switch {
	case v[0] == '"':
		var s string
		err := json.Unmarshal(v, &s)
		return s, err == nil
	case v[0] == '-' || (v[0] >= '0' && v[0] <= '9'):
		return string(v), true
	}
	return "", false
}

// jsonTexts reads an array of strings, numbers and nulls; null is empty.
func jsonTexts(v []byte) ([]string, bool) {
	var l []json.RawMessage
	if json.Unmarshal(v, &l) != nil {
		return nil, false
	}
	out := make([]string, len(l))
	for i, e := range l {
		if e[0] == 'n' {
			continue
		}
		s, ok := jsonText(e)
		if !ok {
			return nil, false
		}
		out[i] = s
	}
	return out, true
}
