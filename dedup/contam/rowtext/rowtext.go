// Package rowtext takes the texts out of a row of training data, in their order
// and with their places, for what reads a row as plain text.
package rowtext

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dedup/contam"
)

// A Field is a text of a row.
type Field struct {
	Pointer string // JSON pointer
	Text    string
}

// A Row is what a row of JSON Lines says.
type Row struct {
	ID     string // the row's own, see [contam.IsID]
	Chat   bool   // it has turns
	Fields []Field
}

// Read returns the texts of a row: every string that is a value and no name or
// label. An error is a *[contam.SyntaxError].
func Read(row []byte) (Row, error) {
	if i := invalid(row); i >= 0 {
		return Row{}, &contam.SyntaxError{Column: i + 1, What: "invalid UTF-8"}
	}
	w := walk{dec: json.NewDecoder(bytes.NewReader(row))}
	w.dec.UseNumber()
	err := w.value("", "")
	if err == nil {
		if _, err = w.dec.Token(); err == nil {
			err = errors.New("more than one value")
		}
	}
	if !errors.Is(err, io.EOF) || w.open {
		return Row{}, w.syntax(err)
	}
	return w.row, nil
}

func invalid(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// Join writes all texts, a line each.
func (r *Row) Join() string {
	texts := make([]string, len(r.Fields))
	for i, f := range r.Fields {
		texts[i] = f.Text
	}
	return strings.Join(texts, "\n")
}

// maxDepth is how deeply a row may be nested, as for encoding/json.
const maxDepth = 10000

// walk collects the texts of a JSON value.
type walk struct {
	dec   *json.Decoder
	row   Row
	open  bool // inside a value
	depth int
}

func (w *walk) value(pointer, key string) error {
	w.open = true
	t, err := w.dec.Token()
	if err != nil {
		return err
	}
	switch t := t.(type) {
	case json.Delim:
		if err := w.inside(t, pointer); err != nil {
			return err
		}
	case string:
		switch {
		case contam.IsID(pointer):
			w.row.ID = cmp.Or(w.row.ID, t)
		case !names(key):
			w.row.Fields = append(w.row.Fields, Field{pointer, t})
		}
	case json.Number:
		if contam.IsID(pointer) {
			w.row.ID = cmp.Or(w.row.ID, t.String())
		}
	}
	w.open = false
	return nil
}

func (w *walk) inside(open json.Delim, pointer string) error {
	if w.depth++; w.depth > maxDepth {
		return errors.New("nested too deeply")
	}
	defer func() { w.depth-- }()
	w.row.Chat = w.row.Chat || open == '[' && (pointer == "/messages" || pointer == "/conversations")
	for i := 0; w.dec.More(); i++ {
		key, step := "", strconv.Itoa(i)
		if open == '{' {
			t, err := w.dec.Token()
			if err != nil {
				return err
			}
			key, _ = t.(string)
			step = drydock.EscapePointer(key)
		}
		if err := w.value(pointer+"/"+step, key); err != nil {
			return err
		}
	}
	w.open = true
	_, err := w.dec.Token()
	return err
}

// names reports whether a field of that name labels something and is no text.
func names(key string) bool {
	switch key {
	case "role", "from", "id", "type", "kind", "lang", "source", "sha256", "locator", "license", "file":
		return true
	}
	return false
}

func (w *walk) syntax(err error) error {
	column := int(w.dec.InputOffset()) + 1
	var bad *json.SyntaxError
	if errors.As(err, &bad) {
		column = max(int(bad.Offset), 1)
	}
	what := "unexpected end"
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		what = err.Error()
	}
	return &contam.SyntaxError{Column: column, What: what}
}
