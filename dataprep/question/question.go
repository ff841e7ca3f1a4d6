package question

import (
	"context"
	"errors"
	"iter"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/msg"
)

// Options configure a parser. The zero value is ready for use.
type Options struct {
	// Note is told about readings that a person may want to check, for example
	// that numbers as answers were taken to count from 1. It may be nil; it is
	// called from the goroutine that parses.
	Note func(Note)
	// Part is told, in the order of the document, what was made of each of its
	// parts. It may be nil; it is called as Note is.
	Part func(Part)
	// MinConfidence is the confidence below which a question is dropped as
	// low_confidence; 0 stands for [DefaultBar], below 0 none is.
	MinConfidence float64
	// KeepLetters keeps a question that is answered by a letter but has no options
	// as a short-answer question whose answer is the letter; else it is dropped as
	// no_options.
	KeepLetters bool
	// Compare has every part's other ways to be read tried and reported, not only
	// those of parts that leave a doubt.
	Compare bool
}

// A Note says how something unusual was read. Nothing was lost.
type Note struct {
	Code string // ASCII snake_case, stable
	At   drydock.Locator
	Text msg.Text
	Args []any
}

// New returns the parser of exam items. It may be used by many goroutines.
func New(o Options) drydock.Parser {
	if o.MinConfidence == 0 {
		o.MinConfidence = DefaultBar
	}
	return parser{o}
}

// Watched returns a parser like p, made by [New], that also tells note and part
// what it finds, and tries other layouts where compare says so. Any other parser
// is returned as it is.
func Watched(p drydock.Parser, note func(Note), part func(Part), compare bool) drydock.Parser {
	if own, ok := p.(parser); ok {
		own.o.Note, own.o.Part, own.o.Compare = note, part, compare
		return own
	}
	return p
}

type parser struct{ o Options }

// Parse reads a document's text lines, table rows and JSON rows.
func (p parser) Parse(ctx context.Context, doc *drydock.Document) iter.Seq2[*drydock.Record, error] {
	return func(yield func(*drydock.Record, error) bool) {
		stopped := false
		emit := func(r *drydock.Record, d *drydock.Drop) bool {
			switch {
			case stopped:
			case d != nil:
				stopped = !yield(nil, d)
			default:
				if p.o.Note != nil && len(r.Question.Answer) == 0 {
					p.o.Note(Note{Code: "unanswered", At: r.Origin.At, Text: msg.Text{"a question without an answer", "题目没有答案"}})
				}
				stopped = !yield(r, nil)
			}
			return !stopped
		}
		r := &reader{ctx: ctx, doc: doc, note: p.o.Note, part: p.o.Part, bar: p.o.MinConfidence, emit: emit}
		r.text.file, r.text.emit, r.text.ahead, r.text.bar = doc.File, emit, r.keyAhead, p.o.MinConfidence
		r.keep, r.text.keep = p.o.KeepLetters, p.o.KeepLetters
		r.text.part, r.text.note, r.text.compare = p.o.Part, p.o.Note, p.o.Compare
		if err := r.run(); err != nil && !stopped {
			yield(nil, err)
		}
	}
}

// A reader holds the state of one document being read.
type reader struct {
	ctx     context.Context
	doc     *drydock.Document
	note    func(Note)
	part    func(Part)
	bar     float64
	keep    bool // answers that are letters of options which are not there
	emit    func(*drydock.Record, *drydock.Drop) bool
	text    chapter
	tab     table
	rows    jsonRows
	done    bool
	seen    int  // blocks read
	last    *int // the last block that reads as a key; nil until looked for
	base    indexBase
	waiting []*draft // rows of a table without answers
	tired   bool     // so many waited that no more do
	grids   []*grid  // what became of the rows, by table
}

func (r *reader) stopped() bool { return r.done || r.text.stopped }

func (r *reader) run() error {
	for b, err := range r.doc.Blocks(r.ctx) {
		if r.stopped() {
			return nil
		}
		if err != nil {
			var d *drydock.Drop
			if !errors.As(err, &d) {
				return err
			}
			r.done = !r.emit(nil, d)
			continue
		}
		r.seen++
		if err := r.block(b); err != nil {
			return err
		}
	}
	if r.stopped() {
		return nil
	}
	r.endTable()
	if r.doc.Key != nil {
		if err := r.readKey(); err != nil {
			return err
		}
	}
	if c := &r.text; len(r.waiting) > 0 && len(c.keys) > 0 && len(c.secs) == 0 {
		for _, k := range c.keys[1:] {
			c.keys[0].runs, c.keys[0].text = append(c.keys[0].runs, k.runs...), append(c.keys[0].text, k.text...)
		}
		f := r.doc.File
		if c.keyFile != nil {
			f = c.keyFile
		}
		k := c.keys[0]
		c.keys = nil
		r.giveWaiting(k, f)
	}
	r.giveHeld()
	r.text.end()
	r.tellGrids()
	return nil
}

func (r *reader) block(b drydock.Block) error {
	switch {
	case b.Raw != nil:
		return r.jsonRow(b)
	case b.Cells != nil:
		r.tableRow(b)
	default:
		r.endTable()
		r.text.feed(b)
	}
	return nil
}

// keyAhead reports whether answers stand further down, reading the file once
// more for it. It is asked only when much text is held.
func (r *reader) keyAhead() bool {
	if r.doc.Key != nil {
		return true
	}
	if r.last == nil {
		last, n := 0, 0
		for b, err := range r.doc.Blocks(r.ctx) {
			if err != nil {
				continue
			}
			n++
			s := trim(b.Text)
			if ok, bare := keyHeader(s); ok && !bare || keyLike(s) {
				last = n
			}
		}
		r.last = &last
	}
	return *r.last > r.seen
}

// readKey reads the answers that stand in a second file.
func (r *reader) readKey() error {
	c := &r.text
	if !c.zone {
		c.openZone()
	}
	if c.keyFile = r.doc.Key.File; c.keyFile == nil {
		c.keyFile = c.file
	}
	var rows []tableRow
	for b, err := range r.doc.Key.Blocks(r.ctx) {
		if err != nil {
			var d *drydock.Drop
			if !errors.As(err, &d) {
				return err
			}
			r.done = !r.emit(nil, d)
			continue
		}
		switch {
		case b.Cells != nil:
			rows = append(rows, tableRow{cells: append([]string(nil), b.Cells...), at: b.At, figure: b.Figure})
			continue
		case b.Raw != nil:
			b.Text = string(b.Raw)
		}
		s := trim(repair(b.Text))
		if s == "" {
			continue
		}
		if l := (line{text: s, at: b.At}); !c.tableLine(l) && !c.zoneTake(l, b.Level) {
			c.orphans = append(c.orphans, l)
		}
	}
	r.keyFileRows(rows)
	bank := c.file
	c.file = c.keyFile // what is left over stands there
	c.dropOrphans()
	c.file = bank
	return nil
}

// keyFileRows reads a key file's table: by its columns, else row by row as text.
func (r *reader) keyFileRows(rows []tableRow) {
	if runs := keyTable(rows); runs != nil {
		r.keyRows(rows, runs)
		return
	}
	for _, row := range rows {
		l := line{text: cellsAsText(row.cells), at: row.at}
		if trim(l.text) != "" && !r.text.tableLine(l) && !r.text.zoneTake(l, 0) {
			r.text.orphans = append(r.text.orphans, l)
		}
	}
}

// end closes the document.
func (c *chapter) end() {
	if c.stopped {
		return
	}
	if c.header != nil {
		h := *c.header
		c.header = nil
		if c.cur != nil {
			c.addLine(h)
		}
	}
	if c.zone {
		c.closeZone()
	}
	c.finish()
}
