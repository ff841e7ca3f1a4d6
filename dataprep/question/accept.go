package question

import (
	"context"
	"errors"

	"github.com/drydock-ml/drydock"
)

// lookBlocks is how far Accepts reads.
const lookBlocks = 200

// Accepts reports whether a document looks like a bank of exam items: numbered
// stems with options, or rows with question-like columns or fields. It reads
// the first blocks only. A read error is returned only when nothing could be
// read before it.
func Accepts(ctx context.Context, doc *drydock.Document) (bool, error) {
	var s sampler
	n := 0
	for b, err := range doc.Blocks(ctx) {
		if err != nil {
			var d *drydock.Drop
			if errors.As(err, &d) {
				continue
			}
			if n == 0 {
				return false, err
			}
			break
		}
		s.add(b)
		if n++; n >= lookBlocks {
			break
		}
	}
	return s.verdict(), nil
}

// A sampler counts what makes a bank.
type sampler struct {
	numbers, lists, answers int
	open                    bool // a numbered line stands without options yet
	next                    int
	loose, looseItems       int // options of a list under no number; such lists with an answer
	rows, questionRows      int
	header                  bool
}

func (s *sampler) add(b drydock.Block) {
	switch {
	case b.Raw != nil:
		s.rows++
		if looksLikeItem(b.Raw) {
			s.questionRows++
		}
	case b.Cells != nil:
		s.rows++
		if s.cells(b.Cells) {
			s.questionRows++
		}
	default:
		s.line(trim(b.Text))
	}
}

func (s *sampler) line(t string) {
	if t == "" {
		return
	}
	if t = plain(t); t == "" {
		return
	}
	s.looseLine(t)
	if m := scanNumber(t); m.style != noNumber && !m.weak {
		s.numbers++
		s.open, s.next = true, 0
		t = t[m.end:]
	}
	if lb, ok := scanLabel(t); ok && !lb.explain && s.open || findAnswerLabel(t) >= 0 || trailingMark(t) {
		s.answers++
	}
	if in, ok := findInline(t); ok && in.strong && s.open {
		s.answers++
	}
	if !s.open {
		return
	}
	var buf [16]mark
	for _, m := range scanMarks(t, buf[:0]) {
		if m.v == s.next && (m.place == placeLine || s.next > 0 || m.style < labelBare) {
			s.next++
		}
	}
	if s.next >= 3 || s.next == 2 && m2(t) {
		s.lists++
		s.open, s.next = false, 0
	}
}

// looseLine follows lists whose question has no number: they count when an
// answer stands below them.
func (s *sampler) looseLine(t string) {
	if m, ok := optionAt(t); ok && !s.open {
		if m.v == 0 {
			s.loose = 0
		}
		if m.v == s.loose {
			s.loose++
		}
		return
	}
	if lb, ok := scanLabel(t); ok && !lb.explain && s.loose >= 2 {
		s.looseItems++
	}
	s.loose = 0
}

// m2 reports a pair of options on one line, as true/false items have.
func m2(t string) bool { return scanOptionsFast(t) == 2 }

func (s *sampler) verdict() bool {
	if s.rows > 0 && s.questionRows*2 >= s.rows {
		return true
	}
	return s.looseItems >= 2 || s.lists >= 2 && s.lists*4 >= s.numbers || s.lists == 1 && s.numbers <= 3 || s.answers >= 2 && (s.answers+s.lists)*3 >= s.numbers
}
