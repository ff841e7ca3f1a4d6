package pipeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dedup/contam"
)

// What becomes of a row that leaks.
const (
	OnHitDrop       = "drop"       // it goes to Removed as it stood
	OnHitQuarantine = "quarantine" // it goes to Removed with what was found
	OnHitMask       = "mask"       // it stays, what matched replaced by [MaskMark]
	OnHitAnnotate   = "annotate"   // it stays, with what was found
)

// OnHits returns the words for what becomes of a row that leaks.
func OnHits() []string { return []string{OnHitDrop, OnHitMask, OnHitAnnotate, OnHitQuarantine} }

// MaskMark stands where masked text stood.
const MaskMark = "…"

// annotation is the field that says what was found in a row.
const annotation = "contamination"

// maxMasks is how often a row is masked before it is removed after all: with
// one item masked another may come to light.
const maxMasks = 4

// contamRows counts what became of the rows of a cleaned copy.
type contamRows struct {
	clean, removed     []byte // lines
	in                 int
	kept, masked, gone int
	annotated, unread  int
}

// act decides what becomes of one row; hits are what was found in it, some of
// them leaks when failed is set.
func (u *contamReader) act(raw []byte, hits []ContamHit, failed bool) {
	if u.check.Clean == nil {
		return
	}
	o := &u.out.rows
	o.in++
	if !failed {
		o.keep(raw)
		return
	}
	switch u.check.OnHit {
	case OnHitAnnotate:
		o.annotated++
		o.keep(annotated(raw, hits))
		return
	case OnHitMask:
		if row, ok := u.masked(raw, hits); ok {
			o.masked++
			o.keep(row)
			return
		}
	case OnHitQuarantine:
		o.remove(annotated(raw, hits))
		return
	}
	o.remove(raw)
}

// unreadable books a row that is no JSON: it cannot stay among rows that are.
func (u *contamReader) unreadable(raw []byte) {
	if u.check.Clean == nil {
		return
	}
	u.out.rows.in++
	u.out.rows.unread++
	u.out.rows.remove(raw)
}

func (r *contamRows) keep(row []byte) {
	r.clean = appendLine(r.clean, row)
	r.kept++
}

func (r *contamRows) remove(row []byte) {
	r.removed = appendLine(r.removed, row)
	r.gone++
}

// appendLine writes a row on one line; rows of a JSON array may stand on many.
func appendLine(dst, row []byte) []byte {
	if bytes.IndexByte(row, '\n') >= 0 {
		b := bytes.NewBuffer(dst)
		if json.Compact(b, row) == nil {
			return append(b.Bytes(), '\n')
		}
		row = bytes.ReplaceAll(row, []byte("\n"), []byte(" ")) // no JSON
	}
	return append(append(dst, row...), '\n')
}

// masked replaces what matched in the leaks by the mark, until the row is none;
// ok is false when that cannot be done.
func (u *contamReader) masked(raw []byte, hits []ContamHit) (row []byte, ok bool) {
	row = raw
	var leaks []contam.Finding
	for i := range hits {
		if hits[i].Fail {
			leaks = append(leaks, hits[i].Finding)
		}
	}
	for range maxMasks {
		next, err := mask(row, leaks)
		if err != nil || bytes.Equal(next, row) {
			return nil, false
		}
		row = next
		if u.masker == nil {
			u.masker = u.check.NewScanner()
		}
		found, err := u.masker.Row(row)
		if err != nil {
			return nil, false
		}
		leaks = leaks[:0]
		for _, f := range found {
			if f.Fail && (u.check.Waived == nil || !u.check.Waived(&f)) {
				leaks = append(leaks, f)
			}
		}
		if len(leaks) == 0 {
			return row, true
		}
	}
	return nil, false
}

// mask replaces the spans of the findings in a JSON row. All other bytes stay as
// they are.
func mask(row []byte, found []contam.Finding) ([]byte, error) {
	spans := map[string][]contam.Span{}
	for _, f := range found {
		for _, s := range f.Spans {
			if !s.Next {
				spans[s.Pointer] = append(spans[s.Pointer], s)
			}
		}
	}
	out := make([]byte, 0, len(row))
	done := 0
	err := eachString(row, func(pointer string, from, to int, text string) {
		list := spans[pointer]
		if len(list) == 0 {
			return
		}
		out = append(out, row[done:from]...)
		out = drydock.AppendJSONString(out, maskText(text, list))
		done = to
	})
	if err != nil {
		return nil, err
	}
	return append(out, row[done:]...), nil
}

// maskText replaces the spans, which count characters, by one mark each; spans
// with nothing but signs between them share one.
func maskText(text string, spans []contam.Span) string {
	runes := []rune(text)
	spans = slices.Clone(spans)
	slices.SortFunc(spans, func(a, b contam.Span) int { return a.Start - b.Start })
	var b strings.Builder
	at, open := 0, false
	for _, s := range spans {
		start, end := min(max(s.Start, at), len(runes)), min(s.End, len(runes))
		if end <= start {
			continue
		}
		if between := string(runes[at:start]); !open || strings.ContainsFunc(between, isWord) {
			b.WriteString(between)
			b.WriteString(MaskMark)
		}
		at, open = end, true
	}
	return b.String() + string(runes[at:])
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// eachString calls do with every string of a JSON text that is a value: its
// pointer, where it stands, and what it says.
func eachString(row []byte, do func(pointer string, from, to int, text string)) error {
	d := json.NewDecoder(bytes.NewReader(row))
	d.UseNumber()
	var path []string
	var walk func() error
	value := func(t json.Token) error {
		switch t := t.(type) {
		case json.Delim:
			return walk()
		case string:
			to := int(d.InputOffset())
			from := bytes.LastIndexByte(row[:to-1], '"')
			for from > 0 && escapedQuote(row, from) {
				from = bytes.LastIndexByte(row[:from], '"')
			}
			do("/"+strings.Join(path, "/"), from, to, t)
		}
		return nil
	}
	walk = func() error {
		// the bracket has been read: what it is shows the decoder's state
		array := row[d.InputOffset()-1] == '['
		path = append(path, "")
		for i := 0; d.More(); i++ {
			path[len(path)-1] = strconv.Itoa(i)
			if !array {
				name, err := d.Token()
				if err != nil {
					return err
				}
				s, _ := name.(string)
				path[len(path)-1] = drydock.EscapePointer(s)
			}
			t, err := d.Token()
			if err != nil {
				return err
			}
			if err := value(t); err != nil {
				return err
			}
		}
		path = path[:len(path)-1]
		_, err := d.Token()
		return err
	}
	t, err := d.Token()
	if err != nil {
		return err
	}
	return value(t)
}

// escapedQuote reports whether the quote at i belongs to the text of a string.
func escapedQuote(row []byte, i int) bool {
	n := 0
	for i-n > 0 && row[i-n-1] == '\\' {
		n++
	}
	return n%2 == 1
}

// annotated adds what was found to a JSON object as its last field; what is no
// object, or has such a field, becomes the field row of one.
func annotated(row []byte, hits []ContamHit) []byte {
	body := bytes.TrimSpace(row)
	var out []byte
	if has := topLevel(body, annotation); len(body) < 2 || body[0] != '{' || has {
		out = append(append(out, `{"row":`...), body...)
	} else {
		out = append(out, bytes.TrimRight(body[:len(body)-1], " \t\r\n")...)
		if out[len(out)-1] == '{' {
			out = append(out, '"')
		} else {
			out = append(out, `,"`...)
		}
		return appendHits(append(append(out, annotation...), `":`...), hits)
	}
	return appendHits(append(out, `,"`+annotation+`":`...), hits)
}

// topLevel reports whether a JSON object has a field.
func topLevel(row []byte, name string) bool {
	var fields map[string]json.RawMessage
	if !bytes.Contains(row, []byte(name)) || json.Unmarshal(row, &fields) != nil {
		return false
	}
	_, has := fields[name]
	return has
}

func appendHits(out []byte, hits []ContamHit) []byte {
	out = append(out, '[')
	for i := range hits {
		f := &hits[i]
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, `{"benchmark":`...)
		out = drydock.AppendJSONString(out, f.Item.Benchmark)
		out = append(out, fmt.Sprintf(`,"index":%d,"verdict":`, f.Item.Index)...)
		out = drydock.AppendJSONString(out, string(f.Verdict))
		out = append(out, fmt.Sprintf(`,"score":%.4f}`, f.Score)...)
	}
	return append(out, `]}`...)
}
