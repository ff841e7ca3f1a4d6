package contam

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/drydock-ml/drydock/internal/parallel"
)

const (
	// rawChunk bytes are looked at together, rawOverlap of them again with the
	// next ones: an item of 1,000 characters takes 12 KB where every character
	// is a doubly escaped \u8239.
	rawChunk   = 256 << 10
	rawOverlap = 16 << 10
	// rawRecord bytes of text make one record, rawCarry of them again with the
	// next: strings that lie side by side (a stem, then its options) belong
	// together, and a text cut by the page of a database is one.
	rawRecord = 32 << 10
	rawCarry  = 4 << 10
	// rawExcerpt characters on either side of a match are shown.
	rawExcerpt = 200
)

// Raw checks bytes of any kind: a pickle, a database, an index, an array, a
// program. Everything in them that reads as text is checked as [Scanner.Text]
// would: in UTF-8, also as \u8239, &#x8239; or %E8%88%B9, in GB18030, UTF-16 and
// UTF-32 of either byte order and at any offset. What is compressed or encrypted
// has to be unpacked first, and Base64 is not decoded. A Raw is read-only and
// safe for any number of streams.
type Raw struct {
	ix   *Index
	wide *wideTables
}

// Raw prepares the tables of a check of bytes.
func (ix *Index) Raw() *Raw { return &Raw{ix, newWideTables(ix.alpha)} }

// A RawHit is an item found in a stream of bytes. Its record has a locator,
// @0x1f3a utf-16le: where what matched begins, and how it is written. The
// record's pointer is that of the whole run of text.
type RawHit struct {
	Finding
	Offset int64  // where what matched begins
	Text   string // of the run, or what stands around the spans in a long one
	From   int    // which character of the run Text begins with

	enc rawEncoding
}

// Scan reads the stream to its end and returns each item found in it once, at
// its plainest place, in the order of the places. Memory does not grow with the
// stream. size is how many bytes there were. An error of the stream comes with
// the hits in what could be read.
func (r *Raw) Scan(ctx context.Context, in io.Reader, workers int) (hits []RawHit, size int64, err error) {
	best := map[ItemRef]RawHit{}
	buf := make([]rawBlock, 2*parallel.Workers(workers))
	first := 4 * rawRecord // most members of archives are small
	for carry, last := []byte(nil), false; !last; {
		n := 0
		for n < len(buf) && !last {
			b := &buf[n]
			b.at = size - int64(len(carry))
			b.bytes = append(b.bytes[:0], carry...)
			b.bytes, last, err = fillBlock(b.bytes, in, first)
			first = rawChunk
			size = b.at + int64(len(b.bytes))
			carry = b.bytes[max(0, len(b.bytes)-rawOverlap):]
			n++
		}
		each := parallel.Each(ctx, workers, n, func(_ context.Context, i int) error {
			buf[i].hits = r.block(buf[i].bytes, buf[i].at)
			return nil
		})
		if each != nil {
			return nil, size, each
		}
		carry = slices.Clone(carry) // its block is filled anew
		for i := range buf[:n] {
			for _, h := range buf[i].hits {
				if old, ok := best[h.Item]; !ok || h.plainer(&old) {
					best[h.Item] = h
				}
			}
		}
	}
	for _, h := range best {
		hits = append(hits, h)
	}
	slices.SortFunc(hits, func(a, b RawHit) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Item.Benchmark, b.Item.Benchmark), a.Item.Index-b.Item.Index)
	})
	return hits, size, err
}

// rawBlock is a part of a stream and what was found in it.
type rawBlock struct {
	at    int64
	bytes []byte
	hits  []RawHit
}

// fillBlock appends up to n bytes of the stream; last says that it has ended.
func fillBlock(b []byte, in io.Reader, n int) (_ []byte, last bool, err error) {
	from := len(b)
	b = slices.Grow(b, n)[:from+n]
	got, err := io.ReadFull(in, b[from:])
	b = b[:from+got]
	if err == io.EOF || err == io.ErrUnexpectedEOF { // not what wraps it: a torn archive
		return b, true, nil
	}
	return b, err != nil, err
}

// plainer reports whether h says more than another place of the same item.
func (h *RawHit) plainer(o *RawHit) bool {
	if h.Fail != o.Fail {
		return h.Fail
	}
	if h.Score != o.Score {
		return h.Score > o.Score
	}
	if h.enc != o.enc {
		return h.enc < o.enc // a\0b\0 reads as UTF-16 of either order
	}
	return h.Offset < o.Offset
}

// A rawRun is a stretch of bytes that reads as text.
type rawRun struct {
	at    int // of its first byte
	text  []byte
	enc   rawEncoding
	inner bool // text was escaped: at is all that is known of its places
}

// place names a run, or a byte in it.
func (n *rawRun) place(at int64) string {
	s := fmt.Sprintf("@%#x %s", at, n.enc)
	if n.inner {
		s += " %xx"
	}
	return s
}

// A rawScanner checks the runs of one block.
type rawScanner struct {
	*Scanner
	base int64            // where the block begins
	done map[ItemRef]bool // items that are leaks already
	hits []RawHit
}

// block checks the bytes of a block, which begins at byte base of its stream.
func (r *Raw) block(b []byte, base int64) []RawHit {
	s := rawScanner{Scanner: r.ix.Scanner(), base: base, done: map[ItemRef]bool{}}
	for _, runs := range r.runs(b) {
		for from := 0; from < len(runs); {
			to, size := from, 0
			for to < len(runs) && (to == from || size+len(runs[to].text) <= rawRecord) {
				size += len(runs[to].text)
				to++
			}
			s.record(runs[from:to])
			if to == len(runs) {
				break
			}
			next := to
			for carried := 0; next > from+1; next-- {
				if carried += len(runs[next-1].text); carried > rawCarry {
					break
				}
			}
			from = next
		}
	}
	return s.hits
}

// record checks each run by itself: what lies beside a string may look like the
// options of another question. Then it checks all of them as one text, in which
// an item that some bytes cut in two is whole.
func (s *rawScanner) record(runs []rawRun) {
	open := false // a run has seeds and is no leak by itself
	for i := range runs {
		leaks := len(s.done)
		seeds := s.together(runs[i : i+1])
		open = open || seeds > 0 && len(s.done) == leaks
	}
	if open && len(runs) > 1 {
		s.together(runs)
	}
}

// together checks runs as the fields of one record, and returns how many seeds
// there were.
func (s *rawScanner) together(runs []rawRun) (seeds int) {
	s.begin()
	for i := range runs {
		s.addText(runs[i].text)
	}
	s.find()
	seeds = len(s.Scanner.hits)
	s.order = slices.DeleteFunc(s.order, func(i uint32) bool {
		it := &s.ix.items[i]
		return s.done[ItemRef{s.ix.sets[it.set].Ref.Name, it.index}]
	})
	if len(s.order) == 0 {
		return seeds
	}
	byPlace := make(map[string]*rawRun, len(runs))
	for i := range runs {
		p := runs[i].place(s.base + int64(runs[i].at))
		s.fields[i].pointer = p
		byPlace[p] = &runs[i]
	}
	for _, f := range s.findings("") {
		run := byPlace[f.Record.Pointer]
		if run == nil {
			continue // it has no letters of its own, so there is nothing to show
		}
		h := RawHit{Finding: f, enc: run.enc}
		s.wholeStem(&h)
		h.excerpt(run, s.base)
		h.Record.Locator = run.place(h.Offset)
		s.hits = append(s.hits, h)
		if h.Fail {
			s.done[h.Item] = true
		}
	}
	return seeds
}

// wholeStem makes a leak of a stem that stands there letter by letter with what
// reads as other options, or as an opposite: in bytes that is any string that lies
// beside it.
func (s *Scanner) wholeStem(h *RawHit) {
	if (h.Verdict == Variant || h.Verdict == PolarityVariant) && h.Components.Stem == 1 && !h.Fail {
		h.Verdict, h.Rule = StemOnly, "raw_stem"
		h.Fail = slices.Contains(s.ix.config.For(h.Item.Benchmark).Fail, StemOnly)
	}
}

// excerpt fills in the text and the place of a hit.
func (h *RawHit) excerpt(run *rawRun, base int64) {
	from, to := 0, utf8.RuneCount(run.text)
	if spans := h.Shown(); len(spans) > 0 {
		from, to = spans[0].Start, spans[len(spans)-1].End
	}
	start := runeAt(run.text, from)
	h.Offset = base + int64(run.at)
	if !run.inner {
		h.Offset += int64(run.enc.width(run.text[:start]))
	}
	h.From = max(0, from-rawExcerpt)
	h.Text = string(run.text[runeAt(run.text, h.From):runeAt(run.text, to+rawExcerpt)])
}

// runeAt returns the byte at which the n-th character of a text begins.
func runeAt(text []byte, n int) int {
	i := 0
	for ; n > 0 && i < len(text); n-- {
		_, w := utf8.DecodeRune(text[i:])
		i += w
	}
	return i
}
