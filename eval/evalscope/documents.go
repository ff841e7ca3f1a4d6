package evalscope

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"strconv"

	"github.com/drydock-ml/drydock/internal/msg"
)

// A lineOf turns growing offsets into line numbers without counting twice.
type lineOf struct {
	data     []byte
	at, line int
}

func (l *lineOf) of(offset int) int {
	offset = min(max(offset, l.at), len(l.data))
	l.line += bytes.Count(l.data[l.at:offset], []byte{'\n'})
	l.at = offset
	return l.line + 1
}

// array reads a JSON array of rows.
func (rd *reader) array(data []byte) {
	dec := json.NewDecoder(bytes.NewReader(data))
	lines := &lineOf{data: data}
	_, _ = dec.Token() // the bracket that was seen
	for dec.More() {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			rd.broken(lines, dec, err)
			return
		}
		n := lines.of(int(dec.InputOffset()) - len(raw))
		row, k, p := readLine(raw, n)
		if p != nil {
			rd.report(p)
			continue
		}
		rd.add(row, k)
	}
	if _, err := dec.Token(); err != nil {
		rd.broken(lines, dec, err)
	}
}

// broken says where a document stops being JSON.
func (rd *reader) broken(lines *lineOf, dec *json.Decoder, err error) {
	at := int(dec.InputOffset())
	var se *json.SyntaxError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		n := lines.of(len(bytes.TrimRight(lines.data, " \t\r\n")))
		rd.report(problem(CodeTorn, n, -1, msg.Text{"line %d ends in the middle of a row", "第 %d 行在一条记录中间结束"}, n))
		return
	case errors.As(err, &se):
		at = int(se.Offset) - 1
	}
	n := lines.of(at)
	rd.report(problem(CodeBadJSON, n, -1, msg.Text{"line %d is not a row: %v", "第 %d 行不是有效记录：%v"}, n, err))
}

// isOpenCompass reports whether a document is an object whose first name is a
// number and stands for an object.
func isOpenCompass(body []byte) bool {
	dec := json.NewDecoder(bytes.NewReader(body))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return false
	}
	name, err := dec.Token()
	if err != nil {
		return false
	}
	s, _ := name.(string)
	if _, err := strconv.Atoi(s); err != nil {
		return false
	}
	t, err := dec.Token()
	return err == nil && t == json.Delim('{')
}

// openCompass reads {"0": {"origin_prompt": …, "prediction": …, "gold": …}, …}, and
// further ones after it: parts of one data set, each of which counts from 0.
func (rd *reader) openCompass(data []byte) {
	dec := json.NewDecoder(bytes.NewReader(data))
	lines := &lineOf{data: data}
	for first := 0; ; {
		if t, err := dec.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil || t != json.Delim('{') {
			rd.broken(lines, dec, cmp.Or(err, errNoObject))
			return
		}
		last, ok := rd.openCompassPart(dec, lines, first)
		if !ok {
			return
		}
		first = last + 1
	}
}

var errNoObject = errors.New("no JSON object")

// openCompassPart reads one object whose opening brace was read. first is added to
// its indexes; last is the greatest it came to.
func (rd *reader) openCompassPart(dec *json.Decoder, lines *lineOf, first int) (last int, ok bool) {
	last = first - 1
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			rd.broken(lines, dec, err)
			return last, false
		}
		n := lines.of(int(dec.InputOffset()))
		var f fields
		if err := dec.Decode(&f); err != nil {
			rd.broken(lines, dec, err)
			return last, false
		}
		s, _ := name.(string)
		index, err := strconv.ParseUint(s, 10, 31)
		row := Row{Line: n, Index: first + int(index)}
		last = max(last, row.Index)
		switch {
		case err != nil:
			rd.report(problem(CodeMissingField, n, -1, msg.Text{"line %d: %q is no index", "第 %d 行：%q 不是 index"}, n, s))
		case !row.fromOpenCompass(f):
			rd.report(problem(CodeMissingField, n, row.Index, msg.Text{"line %d has no %s", "第 %d 行缺少 %s"}, n, "prediction"))
		default:
			rd.add(row, KindOpenCompass)
		}
	}
	if _, err := dec.Token(); err != nil {
		rd.broken(lines, dec, err)
		return last, false
	}
	return last, true
}
