package emit

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/drydock-ml/drydock/qwen3"
)

// Packing says how documents of running text are joined to rows. The zero value:
// a row for each.
type Packing struct {
	Length  int // tokens a row holds at most; 0: rows are not joined
	Overlap int // tokens that a part of a document has in common with the one before
}

// EndOfText stands between the documents of a row. None stands at its end: stage
// pt of LLaMA-Factory, ms-swift's pretraining, TRL's rows of text and axolotl's
// completion put the tokenizer's end token there themselves.
const EndOfText = "<|endoftext|>"

// openRows is how many rows are filled at a time: of several that have room, the
// fullest takes a document.
const openRows = 32

// A PackedRow is a row of joined documents.
type PackedRow struct {
	Text   string
	Tokens int   // with those between the documents
	Docs   []int // their numbers, in order; a document that was cut stands in several rows
}

// A Packer joins documents to rows. A document that fits into a row is never cut;
// a longer one is, between characters and where possible at a line or sentence.
// The rows depend on the documents and their order only.
type Packer struct {
	o     Packing
	open  []*openRow
	next  int // number of the next document
	ready []PackedRow
	// Cut counts the documents that are longer than a row.
	Cut int
}

type openRow struct {
	text   strings.Builder
	tokens int
	docs   []int
}

// NewPacker returns a Packer. Overlap is taken as at most half of the length.
func NewPacker(o Packing) *Packer {
	o.Overlap = max(0, min(o.Overlap, o.Length/2))
	return &Packer{o: o}
}

// Add takes in the next document and returns the rows that are full.
func (p *Packer) Add(text string) []PackedRow {
	p.ready = nil
	doc := p.next
	p.next++
	if n := qwen3.Count(text); n <= p.o.Length {
		p.place(text, n, doc)
		return p.ready
	}
	p.Cut++
	for {
		n := cutAt(text, p.o.Length)
		tokens := qwen3.Count(text[:n])
		p.place(text[:n], tokens, doc)
		if n == len(text) {
			return p.ready
		}
		// a part that ends early at a line may have fewer tokens than the overlap:
		// half of them at most is what keeps every part from beginning where it did
		text = text[overlapAt(text, n, min(p.o.Overlap, tokens/2)):]
	}
}

// Flush returns the rows that are not full.
func (p *Packer) Flush() []PackedRow {
	p.ready = nil
	for _, r := range p.open {
		p.ready = append(p.ready, r.row())
	}
	p.open = nil
	return p.ready
}

func (r *openRow) row() PackedRow { return PackedRow{r.text.String(), r.tokens, r.docs} }

// place puts a text into the fullest row that has room for it, or into a new one.
func (p *Packer) place(text string, tokens, doc int) {
	best := -1
	for i, r := range p.open {
		if r.tokens+1+tokens <= p.o.Length && (best < 0 || r.tokens > p.open[best].tokens) {
			best = i
		}
	}
	if best < 0 {
		p.open = append(p.open, &openRow{})
		best = len(p.open) - 1
	}
	r := p.open[best]
	if len(r.docs) > 0 {
		r.text.WriteString(EndOfText)
		r.tokens++
	}
	r.text.WriteString(text)
	r.tokens += tokens
	r.docs = append(r.docs, doc)
	switch {
	case r.tokens+2 > p.o.Length: // no document is shorter than a token and what parts it
	case len(p.open) > openRows:
		for i, x := range p.open {
			if x.tokens > p.open[best].tokens {
				best = i
			}
		}
	default:
		return
	}
	p.ready = append(p.ready, p.open[best].row())
	p.open = slices.Delete(p.open, best, best+1)
}

// cutAt returns where a text is cut so that what is before has up to so many
// tokens: behind a line or sentence in the last eighth, else between characters.
func cutAt(text string, most int) int {
	low, high := 0, len(text) // low fits, high may
	counted := 0
	if qwen3.Count(text) <= most {
		return len(text)
	}
	at := most * 3
	for range 24 {
		at = runeStart(text, min(max(at, low+1), high-1))
		if at <= low {
			break
		}
		n := qwen3.Count(text[:at])
		if n <= most {
			low, counted = at, n
		} else {
			high = at
		}
		if high-low <= utf8.UTFMax || counted*64 >= most*63 {
			break
		}
		// as many bytes a token as so far
		at = low + max(1, (most-counted)*max(1, low/max(1, counted)))
		if at >= high {
			at = (low + high) / 2
		}
	}
	if low == 0 { // a character of more tokens than a row holds
		_, low = utf8.DecodeRuneInString(text)
	}
	return softCut(text, low)
}

// softCut moves a cut back to the end of a line or sentence, if there is one in
// the last eighth and what is before has no more tokens for it.
func softCut(text string, at int) int {
	from := runeStart(text, at-at/8)
	if i := strings.LastIndexByte(text[from:at], '\n'); i >= 0 {
		return from + i + 1
	}
	best := -1
	for _, end := range []string{"。", "！", "？", ". ", "! ", "? ", "；"} {
		if i := strings.LastIndex(text[from:at], end); i >= 0 {
			best = max(best, from+i+len(end))
		}
	}
	if best > 0 {
		return best
	}
	return at
}

// overlapAt returns where the part behind a cut begins, so that it has up to so
// many tokens in common with the one before.
func overlapAt(text string, cut, tokens int) int {
	if tokens == 0 {
		return cut
	}
	at := runeStart(text, max(1, cut-tokens*4))
	for at < cut && qwen3.Count(text[at:cut]) > tokens {
		at = runeStart(text, at+max(utf8.UTFMax, (cut-at)/8))
	}
	return min(at, cut)
}

// runeStart moves back to the beginning of a character.
func runeStart(text string, at int) int {
	for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}
