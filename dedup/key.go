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

// keyer computes keys; its buffers are reused.
type keyer struct {
	buf     []byte
	part    []byte
	options [][16]byte
	right   [][16]byte
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

// key returns the record's key and a hash of its answer, 0 when it has none or
// when the answer is part of the key.
func (k *keyer) key(r *drydock.Record) (sketch, uint32) {
	k.buf = k.buf[:0]
	answer := uint32(0)
	switch {
	case r.Question != nil:
		answer = k.question(r.Question)
	case r.Passage != nil:
		k.buf = append(k.buf, markPassage)
		k.text(r.Passage.Text)
	case r.Chat != nil:
		k.chat(r.Chat)
	default: // nothing to compare: equal to none but itself
		k.buf = append(k.buf, r.ID[:]...)
	}
	return sketch(xxh3.Hash128(k.buf).Bytes()), answer
}

// text appends a text as it is compared.
func (k *keyer) text(s string) { k.buf = append(appendNormal(k.buf, s), markField) }

func (k *keyer) hashText(s string) [16]byte {
	k.part = appendNormal(k.part[:0], s)
	return xxh3.Hash128(k.part).Bytes()
}

// appendNormal appends the folded text, and what folding takes away although it
// decides between two facts: the case of symbols (5 mW, 5 MW) and raised or
// lowered figures (10², 102). What folds to nothing (Morse signs, a lone blank)
// is compared as it stands.
func appendNormal(dst []byte, s string) []byte {
	n := len(dst)
	dst = textnorm.Fold(dst, s)
	if len(dst) == n {
		return append(dst, strings.TrimSpace(s)...)
	}
	return appendSigns(dst, s)
}

// maxSymbol is the longest run of letters taken for a symbol, not for a word.
const maxSymbol = 3

// appendSigns appends the Latin symbols of a text with their case: single
// letters, and short runs beside a digit or an ideograph; and raised figures.
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

// question appends what makes two questions the same and returns the hash of the
// answer. Two questions on unnamed figures are only the same when their answers
// are: the figures may differ.
func (k *keyer) question(q *drydock.Question) uint32 {
	mark := byte(markQuestion)
	switch q.Kind {
	case drydock.Judge:
		mark = markJudge
	case drydock.Blank, drydock.Short, drydock.Matching:
		mark = markOpen
	}
	k.buf = append(k.buf, mark)
	k.text(q.Stem)
	k.options, k.right = k.options[:0], k.right[:0]
	for _, o := range q.Options {
		h := k.hashText(o.Text)
		k.options = append(k.options, h)
		if slices.Contains(q.Answer, o.Label) {
			k.right = append(k.right, h)
		}
	}
	slices.SortFunc(k.options, less)
	for i := range k.options {
		k.buf = append(k.buf, k.options[i][:]...)
	}
	for _, f := range q.Figures {
		k.buf = append(k.buf, markField)
		k.buf = append(k.buf, f...)
	}
	answer := k.answer(q)
	if mark == markOpen || q.NeedsFigure && len(q.Figures) == 0 {
		k.buf = append(k.buf, markField)
		k.buf = binary.LittleEndian.AppendUint32(k.buf, answer)
		return 0
	}
	return answer
}

// answer hashes the right options' texts, since letters move with the order; an
// answer that is no option's label is hashed as it is.
func (k *keyer) answer(q *drydock.Question) uint32 {
	if len(q.Answer) == 0 {
		return 0
	}
	if len(k.right) != len(q.Answer) {
		k.right = k.right[:0]
		for _, a := range q.Answer {
			k.right = append(k.right, k.hashText(a))
		}
	}
	slices.SortFunc(k.right, less)
	k.part = k.part[:0]
	for i := range k.right {
		k.part = append(k.part, k.right[i][:]...)
	}
	return max(1, uint32(xxh3.Hash(k.part)))
}

// less orders option hashes.
func less(a, b [16]byte) int { return bytes.Compare(a[:], b[:]) }

func (k *keyer) chat(c *drydock.Chat) {
	k.buf = append(k.buf, markChat)
	for _, turns := range [][]drydock.Message{c.Messages, c.Rejected} {
		for _, m := range turns {
			k.buf = append(k.buf, m.Role...)
			k.buf = append(k.buf, markField)
			k.text(m.Content)
			k.text(m.Reasoning)
		}
		k.buf = append(k.buf, markChat)
	}
	if c.Label != nil {
		if *c.Label {
			k.buf = append(k.buf, 1)
		} else {
			k.buf = append(k.buf, 0)
		}
	}
	k.buf = append(k.buf, c.Tools...)
}
