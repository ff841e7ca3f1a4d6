package pipeline

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dedup/contam"
)

const (
	longField = 4000 // characters of a field from which on only a part is kept
	fieldSide = 400  // characters kept on either side of what matched
	lineRunes = 400  // characters of ContamHit.Text
)

// row fills what is shown of a JSON row: the question, else what matched in the
// field the finding points at; the row as it stands when there is no such field.
func (h *ContamHit) row(raw []byte) {
	field, ok := fieldText(raw, h.Record.Pointer)
	if ok {
		h.excerpt(field)
	}
	switch r, _ := DecodeRow(raw); {
	case r != nil && r.Question != nil:
		h.Text = oneLine(QuestionText(r.Question))
	case !ok:
		h.Text = oneLine(string(raw))
	}
}

// excerpt fills what is shown of a text.
func (h *ContamHit) excerpt(text string) {
	runes := []rune(text)
	h.Text = oneLine(matched(runes, h.Shown()))
	h.Field, h.Offset = text, 0
	if len(runes) <= longField {
		return
	}
	from, to := bounds(h.Shown(), len(runes))
	from, to = max(from-fieldSide, 0), min(to+fieldSide, len(runes))
	to = min(to, from+longField)
	h.Field, h.Offset = string(runes[from:to]), from
}

// fieldText returns the text a JSON pointer leads to.
func fieldText(raw []byte, pointer string) (string, bool) {
	var v any
	if pointer == "" || json.Unmarshal(raw, &v) != nil {
		return "", false
	}
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		switch in := v.(type) {
		case map[string]any:
			v = in[unescape.Replace(step)]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(in) {
				return "", false
			}
			v = in[i]
		default:
			return "", false
		}
	}
	s, ok := v.(string)
	return s, ok
}

// bounds returns the range that all spans lie in, the whole text when there is
// none.
func bounds(spans []contam.Span, length int) (from, to int) {
	if len(spans) == 0 {
		return 0, length
	}
	from = length
	for _, s := range spans {
		from, to = min(from, s.Start), max(to, s.End)
	}
	return min(from, length), min(to, length)
}

// matched cuts out of a text what the spans cover, with a little of what stands
// around it. A span counts characters.
func matched(text []rune, spans []contam.Span) string {
	const around = 12 // characters
	from, to := bounds(spans, len(text))
	from, to = max(from-around, 0), min(to+around, len(text))
	if from >= to {
		return string(text)
	}
	out := strings.TrimSpace(string(text[from:to]))
	if from > 0 {
		out = "…" + out
	}
	if to < len(text) {
		out += "…"
	}
	return out
}

// QuestionText writes a question on one line, as people read it.
func QuestionText(q *drydock.Question) string {
	text := q.Stem
	for _, o := range q.Options {
		text += " " + o.Label + ". " + o.Text
	}
	return text
}

// oneLine returns the beginning of a text without line breaks.
func oneLine(s string) string {
	n := 0
	for i := range s {
		if n++; n > lineRunes {
			s = s[:i] + "…"
			break
		}
	}
	return strings.Join(strings.Fields(s), " ")
}

// annotated adds what was found to a JSON object as its last field.
func annotated(row []byte, found []contam.Finding) []byte {
	end := strings.LastIndexByte(string(row), '}')
	if end < 0 {
		return row
	}
	body := strings.TrimRight(string(row[:end]), " \t\r\n")
	out := []byte(body)
	if !strings.HasSuffix(body, "{") {
		out = append(out, ',')
	}
	out = append(out, `"contamination":[`...)
	for i, f := range found {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, `{"benchmark":`...)
		out = drydock.AppendJSONString(out, f.Item.Benchmark)
		out = append(out, fmt.Sprintf(`,"index":%d,"verdict":`, f.Item.Index)...)
		out = drydock.AppendJSONString(out, string(f.Verdict))
		out = append(out, fmt.Sprintf(`,"score":%.4f}`, f.Score)...)
	}
	return append(append(out, `]}`...), row[end+1:]...)
}
