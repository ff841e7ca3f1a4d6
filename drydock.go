// Package drydock holds the domain types every part of the toolkit shares:
// documents and their blocks, records and their payloads, where a record came
// from, and why one was dropped. It imports the standard library only.
package drydock

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"strconv"
)

// An ID names a record for life. It is given at birth from source, file,
// locator and payload (see [NewID]); later edits of the payload keep it.
type ID [16]byte

// NewID derives the id of a record from where it stood and what it said. The
// parts are length-prefixed, so no two different tuples share an input.
func NewID(source, file, locator string, payload ...string) ID {
	size := len(source) + len(file) + len(locator) + 64
	for _, s := range payload {
		size += len(s) + 16
	}
	buf := make([]byte, 0, size)
	for _, s := range [...]string{source, file, locator} {
		buf = appendPart(buf, s)
	}
	for _, s := range payload {
		buf = appendPart(buf, s)
	}
	sum := sha256.Sum256(buf)
	return ID(sum[:len(ID{})])
}

// NewRowID is [NewID] for a row as it stood, which may be long: it is not copied.
func NewRowID(source, file, locator string, row []byte) ID {
	var room [256]byte
	buf := room[:0]
	for _, s := range [...]string{source, file, locator} {
		buf = appendPart(buf, s)
	}
	buf = strconv.AppendInt(buf, int64(len(row)), 10)
	h := sha256.New()
	h.Write(append(buf, ':'))
	h.Write(row)
	return ID(h.Sum(room[:0])[:len(ID{})])
}

func appendPart(dst []byte, s string) []byte {
	dst = strconv.AppendInt(dst, int64(len(s)), 10)
	dst = append(dst, ':')
	return append(dst, s...)
}

// String returns the 32 lower-case hex digits of the id.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// IsZero reports whether the id was never set.
func (id ID) IsZero() bool { return id == ID{} }

// MarshalText writes the id as hex.
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (id *ID) UnmarshalText(b []byte) error {
	if len(b) != 2*len(id) {
		return fmt.Errorf("record id %q: want %d hex digits", b, 2*len(id))
	}
	_, err := hex.Decode(id[:], b)
	return err
}

// A File is one input file. It is shared by all records read from it and must
// not be changed once reading has begun.
type File struct {
	Source  string `json:"source"`            // name of the source in drydock.yaml
	Name    string `json:"file"`              // path relative to the source's root, slashes, NFC
	SHA256  string `json:"sha256,omitempty"`  // 64 hex digits of the file's bytes
	License string `json:"license,omitempty"` // SPDX id or free text, as the user declared it
	Lang    string `json:"lang,omitempty"`    // BCP 47, as declared; empty: found per record
}

// A Block is the smallest piece a container gives: a line or paragraph, a
// table row, or one JSON row. At most one of Text, Cells and Raw is set; a blank
// line has none.
type Block struct {
	Text   string   // the text, without its line end
	Cells  []string // a table row's cells, in order; Text is then empty
	Raw    []byte   // a JSON row as it stood; valid until the next block
	Level  int8     // heading level, 1–9; 0: not a heading
	Spans  []Span   // marks over byte ranges of Text, or of one of Cells
	Figure string   // name of an image that stands here, the first of several; see [Image]
	At     Locator  // where it stands in its file
}

// A Span marks a byte range of a block's text; in a table row, of one cell's.
type Span struct {
	Start, End int // End is not included
	Kind       SpanKind
	Value      string // a colour as RRGGBB, an image's name; else empty
	Cell       int    // in a table row: index of the cell
}

// SpanKind says what a span marks.
type SpanKind uint8

// The kinds of span.
const (
	Bold SpanKind = iota + 1
	Color
	Subscript
	Superscript
	Underline
	Image // an image stands here: Start is End, Value its name
)

// A Document is one file seen as blocks. Text and rows are never held whole.
type Document struct {
	File *File
	Key  *Document // answers that stand in a second file or sheet; usually nil
	// Blocks may be called again, for example when keys stand at the end. An
	// error that is a *Drop names one bad block and reading goes on after it;
	// any other error ends the sequence.
	Blocks func(context.Context) iter.Seq2[Block, error]
}

// Origin says where a record was born.
type Origin struct {
	File *File
	At   Locator
	Key  Locator // where the answer stood, when it stood elsewhere
}

// Kind tells which payload a record carries.
type Kind string

// The kinds of record.
const (
	KindPassage  Kind = "passage"
	KindQuestion Kind = "question"
	KindChat     Kind = "chat"
)

// A Record is one unit of data with exactly one payload. It is owned by the
// stage that holds it; a step does not keep it after returning.
type Record struct {
	ID       ID
	RowID    string // the source row's own id, if it has one
	Lang     string // BCP 47: zh, en, mul, und
	Passage  *Passage
	Question *Question
	Chat     *Chat
	Origin   Origin
	Parents  []ID // the records it was made from
}

// Kind returns which payload is set; the empty kind when none is.
func (r *Record) Kind() Kind {
	switch {
	case r.Question != nil:
		return KindQuestion
	case r.Passage != nil:
		return KindPassage
	case r.Chat != nil:
		return KindChat
	}
	return ""
}

// Form returns the kind of a question, single or judge, and of other records the
// name of their payload: what ledgers, sidecars and mixes tell records apart by.
func (r *Record) Form() string {
	if r.Question != nil {
		return string(r.Question.Kind)
	}
	return string(r.Kind())
}

// A Passage is running text under its headings.
type Passage struct {
	Heading []string `json:"heading,omitempty"` // outermost first
	Text    string   `json:"text"`
}

// QuestionKind is the form of an exam item.
type QuestionKind string

// The forms of an exam item.
const (
	Single   QuestionKind = "single"   // one right option
	Multiple QuestionKind = "multiple" // several right options
	Judge    QuestionKind = "judge"    // true or false
	Blank    QuestionKind = "blank"    // fill in
	Short    QuestionKind = "short"    // answer in own words
	Matching QuestionKind = "matching" // pair two lists
)

// A Question is one exam item. Stem is the whole text as printed, numbered
// statements included; Statements repeats those apart. Answer holds option
// labels for single and multiple, "true" or "false" for judge, texts for the
// others; it is empty when the source gives none.
type Question struct {
	Kind        QuestionKind `json:"kind"`
	Stem        string       `json:"stem"`
	Statements  []string     `json:"statements,omitempty"`
	Options     []Option     `json:"options,omitempty"`
	Answer      []string     `json:"answer,omitempty"`
	Explanation string       `json:"explanation,omitempty"`
	Reasoning   string       `json:"reasoning,omitempty"` // worked thinking, for the cot contract
	Subject     []string     `json:"subject,omitempty"`   // path, outermost first: chapter, article
	Figures     []string     `json:"figures,omitempty"`
	NeedsFigure bool         `json:"needs_figure,omitempty"`
	Confidence  float64      `json:"confidence,omitempty"` // 0–1; how sure the parser is
	Doubts      []string     `json:"doubts,omitempty"`     // what lowers it, as ASCII snake_case; stable
}

// An Option is one choice of a question.
type Option struct {
	Label string `json:"label"` // A, B, C … by position as printed
	Text  string `json:"text"`
}

// A Message is one turn of a conversation.
type Message struct {
	Role      string `json:"role"` // system, user, assistant, tool
	Content   string `json:"content"`
	Reasoning string `json:"reasoning_content,omitempty"`
}

// A Chat is a conversation to train on. Fields a row carried that drydock has
// no meaning for are kept by name in Extra, in source order.
type Chat struct {
	Messages []Message  `json:"messages"`
	Rejected []Message  `json:"rejected,omitempty"` // the losing side of a preference pair
	Label    *bool      `json:"label,omitempty"`    // KTO
	Tools    RawJSON    `json:"tools,omitempty"`
	Extra    []RawField `json:"extra,omitempty"`
}

// RawJSON is a JSON value kept as it stood.
type RawJSON []byte

// MarshalJSON returns the value itself; nil is null.
func (r RawJSON) MarshalJSON() ([]byte, error) {
	if len(r) == 0 {
		return []byte("null"), nil
	}
	return r, nil
}

// UnmarshalJSON keeps a copy of the value.
func (r *RawJSON) UnmarshalJSON(b []byte) error {
	*r = append((*r)[:0], b...)
	return nil
}

// A RawField is a named JSON value of a row.
type RawField struct {
	Name  string  `json:"name"`
	Value RawJSON `json:"value"`
}

// A Drop is a record, or a block that never became one, that was left out, and
// why. It is an error so that parsers can yield it: one bad block, go on.
type Drop struct {
	Record *Record // for a block that never became a record: a passage holding its text
	Step   string  // set by the runner, not by the step
	Reason string  // ASCII snake_case, stable: no_options, too_short …
	Detail string  // English, for people
}

// Error names the reason and the place.
func (d *Drop) Error() string {
	s := d.Reason
	if d.Detail != "" {
		s += ": " + d.Detail
	}
	if d.Record != nil && d.Record.Origin.File != nil {
		s = d.Record.Origin.File.Name + " " + d.Record.Origin.At.String() + ": " + s
	}
	return s
}

// A Parser turns a document into records, holding the open chapter, not the
// file. It yields (nil, *Drop) for one bad block and goes on; any other error
// ends the file.
type Parser interface {
	Parse(ctx context.Context, doc *Document) iter.Seq2[*Record, error]
}

// A Step works on batches of any size with the same result, may be called by
// many goroutines at once, reorders nothing and keeps no record after it
// returns. It may reuse in for out. Every input record is in out, in dropped,
// or a parent of a record in out (see [Account]).
type Step interface {
	Do(ctx context.Context, in []*Record) (out []*Record, dropped []Drop, err error)
}
