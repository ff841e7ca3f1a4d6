package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/dedup/contam/rowtext"
	"github.com/drydock-ml/drydock/internal/textnorm"
)

// A Mark says what a stretch of text is in a comparison.
type Mark uint8

// The marks.
const (
	Plain Mark = iota // not part of the match, or nothing that carries meaning
	Same              // stands on both sides
	Diff              // stands on this side only, or otherwise on the other
)

// A Stretch is a piece of text under one mark.
type Stretch struct {
	Text string `json:"text"`
	Mark Mark   `json:"mark"`
}

// MarshalText writes the mark as JSON has it: plain, same, diff.
func (m Mark) MarshalText() ([]byte, error) {
	return []byte([...]string{"plain", "same", "diff"}[m]), nil
}

// A View is a finding as people read it: their text and the benchmark's, with
// what differs marked.
type View struct {
	Data, Item []Stretch
	// Order names the item's options in the order the data has them in: DBCA.
	// Empty when that is their own, or not all of them were found.
	Order string
}

// A Field is a text of a record, or the part of it that is shown.
type Field struct {
	Pointer string // JSON pointer; empty for plain text
	Next    bool   // of the record behind
	Offset  int    // characters of the field before Text
	Text    string
	Cut     bool // the field goes on behind Text
}

const (
	// fieldSide is how many characters are kept before a match, fieldAfter behind it:
	// options that are not the item's stand there.
	fieldSide  = 24
	fieldAfter = 60
	// fieldWhole is the longest field that is kept whole.
	fieldWhole = 120
	// fieldMost is how many are kept of one field at most.
	fieldMost = 4000
)

// Fields picks the texts of a JSON row that a finding's ranges count in, and the
// options beside them, in the order of the row, each cut to the match with a
// little around it. next is the row behind; nil: not known. Where none of the
// texts is there, the row as it stands is shown.
func Fields(row, next []byte, f *contam.Finding) []Field {
	want := reach(f)
	var out []Field
	for n, raw := range [2][]byte{row, next} {
		out = append(out, fieldsOf(raw, n == 1, want, f.Record.Pointer)...)
	}
	if len(out) == 0 {
		out = append(out, fieldReach{}.cut(string(row)))
	}
	return out
}

// fieldsOf picks the texts of one row.
func fieldsOf(raw []byte, next bool, want []fieldReach, pointer string) []Field {
	texts, err := rowtext.Read(raw)
	if err != nil {
		return nil
	}
	beside := pointer[:max(strings.LastIndexByte(pointer, '/'), 0)] + "/"
	var out []Field
	for _, t := range texts.Fields {
		i := slices.IndexFunc(want, func(r fieldReach) bool { return r.Pointer == t.Pointer && r.Next == next })
		switch {
		case i >= 0:
			out = append(out, want[i].cut(t.Text))
		case !next && pointer != "" && strings.HasPrefix(t.Pointer, beside) && optionLetter(t.Pointer) != "":
			out = append(out, fieldReach{Pointer: t.Pointer}.cut(t.Text))
		}
	}
	if !slices.ContainsFunc(want, func(r fieldReach) bool { return r.Next == next && !hasField(out, &r) }) {
		return out
	}
	value := decode(raw)
	for i := range want {
		if r := &want[i]; r.Next == next && !hasField(out, r) {
			if text, ok := textAt(value, r.Pointer); ok { // a number
				out = append(out, r.cut(text))
			}
		}
	}
	return out
}

func hasField(fields []Field, r *fieldReach) bool {
	return slices.ContainsFunc(fields, func(f Field) bool { return f.Pointer == r.Pointer && f.Next == r.Next })
}

// optionLetter returns the letter of the option that a pointer leads to: /B,
// /options/1/text, /choices/1, /option_b; empty when it leads to something else.
func optionLetter(pointer string) string {
	steps := strings.Split(pointer, "/")
	for i, step := range steps {
		low := strings.ToLower(step)
		last := i == len(steps)-1
		if last && len(low) == 1 && low[0] >= 'a' && low[0] <= 'j' {
			return strings.ToUpper(low)
		}
		if letter, ok := strings.CutPrefix(low, "option"); ok && last {
			if letter = strings.Trim(letter, "_ -"); len(letter) == 1 && letter[0] >= 'a' && letter[0] <= 'j' {
				return strings.ToUpper(letter)
			}
		}
		if (low == "options" || low == "choices" || step == "选项") && !last {
			if end := strings.ToLower(steps[len(steps)-1]); end == "label" || end == "key" {
				return ""
			}
			if n, err := strconv.Atoi(steps[i+1]); err == nil && n >= 0 && n < 26 {
				return string(rune('A' + n))
			}
		}
	}
	return ""
}

// TextField is [Fields] for plain text, which is a record by itself.
func TextField(text string, f *contam.Finding) []Field {
	for _, r := range reach(f) {
		if r.Pointer == "" && !r.Next {
			return []Field{r.cut(text)}
		}
	}
	return []Field{fieldReach{}.cut(text)}
}

// fieldReach is how far the evidence of a finding reaches in a field.
type fieldReach struct {
	Pointer  string
	Next     bool
	from, to int
}

// reach lists the fields of a finding's evidence.
func reach(f *contam.Finding) []fieldReach {
	var out []fieldReach
	add := func(pointer string, next bool, from, to int) {
		i := slices.IndexFunc(out, func(r fieldReach) bool { return r.Pointer == pointer && r.Next == next })
		if i < 0 {
			out = append(out, fieldReach{pointer, next, from, to})
			return
		}
		out[i].from, out[i].to = min(out[i].from, from), max(out[i].to, to)
	}
	for _, s := range f.Spans {
		add(s.Pointer, s.Next, s.Start, s.End)
	}
	for i := range f.Alignment {
		if e := &f.Alignment[i]; e.Op != contam.OpDelete {
			add(e.Pointer, e.Next, e.Data.Start, e.Data.End)
		}
	}
	if len(out) == 0 {
		out = append(out, fieldReach{Pointer: f.Record.Pointer})
	}
	return out
}

// cut keeps of a text what the evidence reaches, with a little around it; a short
// text stays whole.
func (r fieldReach) cut(text string) Field {
	f := Field{Pointer: r.Pointer, Next: r.Next, Text: text}
	if utf8.RuneCountInString(text) <= fieldWhole {
		return f
	}
	f.Offset = max(r.from-fieldSide, 0)
	n := fieldMost
	if r.to > 0 {
		n = min(n, r.to+fieldAfter-f.Offset)
	}
	first := byteOf(text, f.Offset)
	if first == len(text) { // the evidence is of another text
		first, f.Offset, n = 0, 0, fieldMost
	}
	last := first + byteOf(text[first:], n)
	f.Text, f.Cut = strings.Clone(text[first:last]), last < len(text)
	return f
}

// byteOf returns where character n of a text begins.
func byteOf(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// decode reads a JSON value with its numbers as they are written; nil when it is
// none.
func decode(row []byte) any {
	var v any
	d := json.NewDecoder(bytes.NewReader(row))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// textAt returns the string or number that a JSON pointer (RFC 6901) leads to.
func textAt(v any, pointer string) (string, bool) {
	if pointer != "" {
		for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
			switch in := v.(type) {
			case map[string]any:
				v = in[drydock.UnescapePointer(step)]
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
	}
	switch t := v.(type) {
	case string:
		return t, true
	case json.Number:
		return t.String(), true
	}
	return "", false
}

// SideBySide marks a finding's alignment in the texts of both sides. q is the
// item; nil: not known, and its side stays empty.
func SideBySide(f *contam.Finding, fields []Field, q *drydock.Question) View {
	var v View
	for i := range fields {
		switch letter := optionLetter(fields[i].Pointer); {
		case letter != "":
			v.Data = append(v.Data, Stretch{"\n" + letter + ". ", Plain})
		case i > 0:
			v.Data = append(v.Data, Stretch{" / ", Plain})
		}
		v.Data = append(v.Data, dataStretches(f, &fields[i])...)
	}
	if q == nil {
		return v
	}
	v.Order = optionOrder(f, fields, q)
	seen := textnorm.Key(joined(fields))
	v.Item = itemStretches(f, q.Stem, 0, seen)
	for i, o := range q.Options {
		v.Item = append(v.Item, Stretch{"\n" + o.Label + ". ", Plain})
		v.Item = append(v.Item, itemStretches(f, o.Text, i+1, seen)...)
	}
	return v
}

// optionOrder writes the labels of the item's options as the data has them.
func optionOrder(f *contam.Finding, fields []Field, q *drydock.Question) string {
	type at struct {
		option, field, start int
	}
	var all []at
	for i := range f.Alignment {
		e := &f.Alignment[i]
		n := slices.IndexFunc(fields, func(x Field) bool { return x.Pointer == e.Pointer && x.Next == e.Next })
		known := slices.ContainsFunc(all, func(a at) bool { return a.option == e.Option })
		if e.Option == 0 || e.Op != contam.OpEqual || n < 0 || known || e.Option > len(q.Options) {
			continue
		}
		all = append(all, at{e.Option, n, e.Data.Start})
	}
	if len(all) < len(q.Options) {
		return ""
	}
	byPlace := func(a, b at) int { return cmp.Or(a.field-b.field, a.start-b.start) }
	slices.SortFunc(all, byPlace)
	if slices.IsSortedFunc(all, func(a, b at) int { return a.option - b.option }) {
		return ""
	}
	var b strings.Builder
	for _, a := range all {
		b.WriteString(q.Options[a.option-1].Label)
	}
	return b.String()
}

func joined(fields []Field) string {
	var b strings.Builder
	for i := range fields {
		b.WriteString(fields[i].Text + "\n")
	}
	return b.String()
}

// dataStretches marks the text of a field.
func dataStretches(f *contam.Finding, field *Field) []Stretch {
	text := []rune(field.Text)
	marks := make([]Mark, len(text))
	paint := func(from, to int, m Mark) {
		for i := max(from-field.Offset, 0); i < min(to-field.Offset, len(text)); i++ {
			marks[i] = m
		}
	}
	if len(f.Alignment) == 0 {
		for _, s := range f.Spans {
			if s.Pointer == field.Pointer && s.Next == field.Next {
				paint(s.Start, s.End, Same)
			}
		}
	}
	for i := range f.Alignment {
		e := &f.Alignment[i]
		if e.Pointer != field.Pointer || e.Next != field.Next {
			continue
		}
		switch e.Op {
		case contam.OpEqual:
			paint(e.Data.Start, e.Data.End, Same)
		case contam.OpReplace, contam.OpInsert:
			paint(e.Data.Start, e.Data.End, Diff)
		}
	}
	out := stretches(text, marks)
	if field.Offset > 0 {
		out = append([]Stretch{{"…", Plain}}, out...)
	}
	if field.Cut {
		out = append(out, Stretch{"…", Plain})
	}
	return out
}

// itemStretches marks the stem (option 0) or an option of the item. What the
// alignment does not reach differs, unless it is an option too short to be
// aligned that stands in the data all the same: seen is the data, folded.
func itemStretches(f *contam.Finding, s string, option int, seen string) []Stretch {
	text := []rune(s)
	marks := make([]Mark, len(text))
	aligned := false
	for i := range f.Alignment {
		e := &f.Alignment[i]
		if e.Option != option || e.Op == contam.OpInsert {
			continue
		}
		aligned = true
		m := Diff
		if e.Op == contam.OpEqual {
			m = Same
		}
		for k := max(e.Item.Start, 0); k < min(e.Item.End, len(text)); k++ {
			marks[k] = m
		}
	}
	if !aligned && len(f.Alignment) > 0 && !strings.Contains(seen, textnorm.Key(s)) {
		for k, r := range text {
			if carries(r) {
				marks[k] = Diff
			}
		}
	}
	if aligned {
		for k, r := range text {
			if marks[k] == Plain && option == 0 && carries(r) && !enumerates(r) {
				marks[k] = Diff
			}
		}
	}
	return stretches(text, marks)
}

func carries(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// enumerates reports whether r numbers statements, which the comparison leaves
// out: ① Ⅱ ⑶.
func enumerates(r rune) bool { return unicode.IsNumber(r) && !unicode.IsDigit(r) }

// stretches joins equal marks. Spaces and punctuation between two stretches of
// one mark belong to them.
func stretches(text []rune, marks []Mark) []Stretch {
	last := -1 // the last character that carries meaning
	for i, r := range text {
		if marks[i] == Plain && !carries(r) {
			continue
		}
		if last >= 0 && marks[last] == marks[i] && marks[i] != Plain && onlySigns(text[last+1:i]) {
			for k := last + 1; k < i; k++ {
				marks[k] = marks[i]
			}
		}
		last = i
	}
	var out []Stretch
	for from := 0; from < len(text); {
		to := from
		for to < len(text) && marks[to] == marks[from] {
			to++
		}
		out = append(out, Stretch{string(text[from:to]), marks[from]})
		from = to
	}
	return out
}

func onlySigns(text []rune) bool { return !slices.ContainsFunc(text, carries) }
