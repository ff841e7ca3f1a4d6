package dedup

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/textnorm"

	"github.com/zeebo/xxh3"
)

// A sketch is equal for records that say the same: 128 bits of xxh3 over the
// folded text. Of a choice question it covers stem and options as a set, so that
// neither the order of the options nor the answer matters.
type sketch [16]byte

// A role says what a part of a record is to it.
type role byte

// The roles of parts.
const (
	roleText   role = 't' // a passage
	roleStem   role = 's' // what is asked: a stem, a user's turn
	roleOption role = 'o' // an option that is not the answer
	roleRight  role = 'r' // an option that is
	roleAnswer role = 'a' // an answer in words: of an open question, an assistant's turn
)

// A part is one folded text of a record. The texts are valid until the draft or
// the payload they stand in changes.
type part struct {
	role  role
	text  []byte // as textnorm folds it
	signs []byte // what folding takes away although it decides, see appendSigns
}

// A draft is a record as it is compared: its folded parts, and its frame, which
// must be equal before two records are compared at all: the kind, a system
// prompt, tools, figures.
type draft struct {
	buf   []byte
	frame []byte
	parts []draftPart
	right [][16]byte
	set   [][16]byte
	hash  []byte
}

type draftPart struct {
	role             role
	from, text, sign int // text is buf[from:text], signs are buf[text:sign]
}

// Marks that no folded text holds: they keep fields apart.
const (
	markField    = 0xff
	markQuestion = 0xfe
	markPassage  = 0xfd
	markChat     = 0xfc
	markJudge    = 0xfb
	markOpen     = 0xfa
	markSign     = 0xf9
)

// read folds a record and returns its key and a hash of its answer, 0 when it
// has none or when the answer is part of the key.
func (d *draft) read(r *drydock.Record) (sketch, uint32) {
	d.buf, d.frame, d.parts = d.buf[:0], d.frame[:0], d.parts[:0]
	answer := uint32(0)
	switch {
	case r.Question != nil:
		answer = d.question(r.Question)
	case r.Passage != nil:
		d.frame = append(d.frame, markPassage)
		d.add(roleText, r.Passage.Text)
	case r.Chat != nil:
		d.chat(r.Chat)
	default: // nothing to compare: equal to none but itself
		d.frame = append(d.frame, r.ID[:]...)
	}
	return d.key(), answer
}

// add folds a text into a part.
func (d *draft) add(as role, s string) {
	p := draftPart{role: as, from: len(d.buf)}
	d.buf = textnorm.Fold(d.buf, s)
	p.text = len(d.buf)
	if p.text == p.from {
		// what folds to nothing (Morse signs, a lone blank) is compared as it stands
		d.buf = append(d.buf, strings.TrimSpace(s)...)
	} else {
		d.buf = appendSigns(d.buf, s)
	}
	p.sign = len(d.buf)
	d.parts = append(d.parts, p)
}

// key hashes frame and parts: options as a set, answers of choice questions not
// at all.
func (d *draft) key() sketch {
	d.set, d.hash = d.set[:0], append(d.hash[:0], d.frame...)
	for _, p := range d.parts {
		if p.role == roleOption || p.role == roleRight {
			d.set = append(d.set, d.hashPart(p))
			continue
		}
		d.hash = append(d.hash, markField, byte(p.role))
		d.hash = append(d.hash, d.buf[p.from:p.sign]...)
	}
	slices.SortFunc(d.set, less)
	for i := range d.set {
		d.hash = append(d.hash, d.set[i][:]...)
	}
	return sketch(xxh3.Hash128(d.hash).Bytes())
}

func (d *draft) hashPart(p draftPart) [16]byte {
	return xxh3.Hash128(d.buf[p.from:p.sign]).Bytes()
}

// question lays out what makes two questions the same and returns the hash of the
// answer. Two questions on unnamed figures are only the same when their answers
// are: the figures may differ.
func (d *draft) question(q *drydock.Question) uint32 {
	mark := byte(markQuestion)
	switch q.Kind {
	case drydock.Judge:
		mark = markJudge
	case drydock.Blank, drydock.Short, drydock.Matching:
		mark = markOpen
	}
	d.frame = append(d.frame, mark)
	for _, f := range q.Figures {
		d.frame = append(append(d.frame, markField), f...)
	}
	d.add(roleStem, q.Stem)
	d.right = d.right[:0]
	for _, o := range q.Options {
		as := roleOption
		if slices.Contains(q.Answer, o.Label) {
			as = roleRight
		}
		d.add(as, o.Text)
		if as == roleRight {
			d.right = append(d.right, d.hashPart(d.parts[len(d.parts)-1]))
		}
	}
	answer := d.answer(q)
	switch {
	case mark == markOpen:
		for _, a := range q.Answer {
			d.add(roleAnswer, a)
		}
		return 0
	case q.NeedsFigure && len(q.Figures) == 0:
		d.frame = binary.LittleEndian.AppendUint32(append(d.frame, markField), answer)
		return 0
	}
	return answer
}

// answer hashes the right options' texts, since letters move with the order; an
// answer that is no option's label is hashed as it is.
func (d *draft) answer(q *drydock.Question) uint32 {
	if len(q.Answer) == 0 {
		return 0
	}
	if len(d.right) != len(q.Answer) {
		d.right = d.right[:0]
		for _, a := range q.Answer {
			n, parts := len(d.buf), len(d.parts)
			d.add(roleAnswer, a)
			d.right = append(d.right, d.hashPart(d.parts[parts]))
			d.buf, d.parts = d.buf[:n], d.parts[:parts]
		}
	}
	slices.SortFunc(d.right, less)
	d.hash = d.hash[:0]
	for i := range d.right {
		d.hash = append(d.hash, d.right[i][:]...)
	}
	return max(1, uint32(xxh3.Hash(d.hash)))
}

// less orders option hashes.
func less(a, b [16]byte) int { return bytes.Compare(a[:], b[:]) }

// chat lays out what training would see: user turns as what is asked, assistant
// turns as answers; everything else is frame.
func (d *draft) chat(c *drydock.Chat) {
	d.frame = append(d.frame, markChat)
	for _, turns := range [][]drydock.Message{c.Messages, c.Rejected} {
		for _, m := range turns {
			d.frame = append(append(d.frame, m.Role...), markField)
			as := roleStem
			switch m.Role {
			case "system":
				d.frame = append(textnorm.Fold(d.frame, m.Content), markField)
				continue
			case "assistant":
				as = roleAnswer
			}
			d.add(as, m.Content)
			if m.Reasoning != "" {
				d.frame = append(d.frame, markField)
				d.add(as, m.Reasoning)
			}
		}
		d.frame = append(d.frame, markChat)
	}
	if c.Label != nil {
		if *c.Label {
			d.frame = append(d.frame, 1)
		} else {
			d.frame = append(d.frame, 0)
		}
	}
	d.frame = append(d.frame, c.Tools...)
}

// maxSymbol is the longest run of letters taken for a symbol, not for a word.
const maxSymbol = 3

// appendSigns appends what folding takes away although it decides between two
// facts: Latin symbols with their case (5 mW, 5 MW), that is single letters and
// short runs beside a digit or an ideograph, and raised figures (10², 102).
func appendSigns(dst []byte, s string) []byte {
	if !maySign(s) {
		return dst
	}
	prev := ' ' // the last character before the run that is no space
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !isLatin(r) {
			if isRaised(r) {
				dst = utf8.AppendRune(append(dst, markSign), r)
			}
			if r != ' ' {
				prev = r
			}
			i += size
			continue
		}
		j, upper := i, false
		for j < len(s) && isLatin(rune(s[j])) {
			upper = upper || s[j] < 'a'
			j++
		}
		next, _ := utf8.DecodeRuneInString(s[j:])
		article := j == i+1 && (s[i] == 'A' || s[i] == 'a')
		// lower case is what folding leaves: only capitals need a mark
		if upper && j-i <= maxSymbol && !article && (j == i+1 || besideSymbol(prev) || besideSymbol(next)) {
			dst = append(append(dst, markSign), s[i:j]...)
		}
		prev = rune(s[j-1])
		i = j
	}
	return dst
}

// maySign is the quick no for most texts: no capital, and none of the bytes that
// raised figures begin with.
func maySign(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 'A' && c <= 'Z' || c == 0xc2 || c == 0xe2 {
			return true
		}
	}
	return false
}

func isLatin(r rune) bool { return r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' }

func besideSymbol(r rune) bool { return r >= '0' && r <= '9' || r >= 0x4e00 && r <= 0x9fff }

// isRaised reports super- and subscript figures.
func isRaised(r rune) bool {
	return r == 0xb2 || r == 0xb3 || r == 0xb9 || r >= 0x2070 && r <= 0x208e
}
