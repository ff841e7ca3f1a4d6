package preset

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/drydock-ml/drydock/dedup/contam"
)

// A Scanner checks records by the rule of its index.
type Scanner struct{ ix *Index }

// Scanner returns a scanner.
func (ix *Index) Scanner() *Scanner { return &Scanner{ix} }

// Row checks one row of a JSON Lines file. What the rule reads is the field
// text, where the row has one, else the text of all turns, else of all fields,
// a line each. An error is a *[contam.SyntaxError].
func (s *Scanner) Row(row []byte) ([]contam.Finding, error) {
	fields, id, err := rowFields(row)
	if err != nil {
		return nil, err
	}
	return s.findings(id, fields), nil
}

// Text checks plain text as one record.
func (s *Scanner) Text(text []byte) []contam.Finding {
	return s.findings("", []field{{text: string(text)}})
}

// A field is a text of a row.
type field struct{ pointer, text string }

func (s *Scanner) findings(id string, fields []field) []contam.Finding {
	var text []rune
	starts := make([]int, len(fields))
	for i, f := range fields {
		if i > 0 {
			text = append(text, '\n')
		}
		starts[i] = len(text)
		text = append(text, []rune(f.text)...)
	}
	var out []contam.Finding
	for _, m := range s.ix.match.match(text) {
		at := 0
		for at+1 < len(starts) && starts[at+1] <= m.from {
			at++
		}
		end := min(m.to, starts[at]+utf8.RuneCountInString(fields[at].text))
		out = append(out, contam.Finding{
			Record:     contam.Place{ID: id, Pointer: fields[at].pointer},
			Item:       s.ix.refs[m.item],
			Verdict:    contam.Near,
			Fail:       true,
			Score:      m.score,
			Components: contam.Components{Stem: m.score, Options: math.NaN(), Statements: math.NaN()},
			Spans:      []contam.Span{{Start: m.from - starts[at], End: end - starts[at], Pointer: fields[at].pointer}},
			Rule:       s.ix.rule.ID(),
			Config:     s.ix.ConfigHash(),
		})
	}
	return out
}

// rowFields returns the texts of a row that a rule reads, and the row's id.
func rowFields(row []byte) (fields []field, id string, err error) {
	w := rowWalk{dec: json.NewDecoder(bytes.NewReader(row))}
	w.dec.UseNumber()
	if err := w.value("", ""); err != nil {
		return nil, "", w.syntax(err)
	}
	if _, err := w.dec.Token(); !errors.Is(err, io.EOF) {
		return nil, "", w.syntax(errors.New("more than one value"))
	}
	for _, f := range w.fields {
		if f.pointer == "/text" {
			return []field{f}, w.id, nil
		}
	}
	return w.fields, w.id, nil
}

// rowWalk collects the texts of a JSON value in their order.
type rowWalk struct {
	dec    *json.Decoder
	fields []field
	id     string
}

func (w *rowWalk) value(pointer, key string) error {
	t, err := w.dec.Token()
	if err != nil {
		return err
	}
	switch t := t.(type) {
	case json.Delim:
		return w.inside(t, pointer)
	case string:
		switch {
		case pointer == "/id":
			w.id = t
		case !bookkeeping(key):
			w.fields = append(w.fields, field{pointer, t})
		}
	case json.Number:
		if pointer == "/id" {
			w.id = t.String()
		}
	}
	return nil
}

func (w *rowWalk) inside(open json.Delim, pointer string) error {
	for i := 0; w.dec.More(); i++ {
		key := ""
		step := strconv.Itoa(i)
		if open == '{' {
			t, err := w.dec.Token()
			if err != nil {
				return err
			}
			key, _ = t.(string)
			step = strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
		}
		if err := w.value(pointer+"/"+step, key); err != nil {
			return err
		}
	}
	_, err := w.dec.Token()
	return err
}

// bookkeeping are fields that name something and are no text.
func bookkeeping(key string) bool {
	switch key {
	case "role", "from", "id", "type", "kind", "lang", "source", "sha256", "locator", "license", "file":
		return true
	}
	return false
}

func (w *rowWalk) syntax(err error) error {
	column := int(w.dec.InputOffset()) + 1
	var bad *json.SyntaxError
	if errors.As(err, &bad) {
		column = max(int(bad.Offset), 1)
	}
	return &contam.SyntaxError{Column: column, What: strings.TrimPrefix(err.Error(), "json: ")}
}
