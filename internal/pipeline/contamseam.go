package pipeline

import (
	"context"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/dedup/contam/report"
)

// A SeamScanner also finds items that begin in one record and end in the next,
// see [contam.Scanner.Seam]. A check asks the scanners for it that can.
type SeamScanner interface {
	Break()
	Seam() []contam.Finding
}

// seamText is how many bytes of running text are read of the next unit, more
// than any item has.
const seamText = 8 << 10

// heldRecord is the record read last. What becomes of it is only known when the
// next one has been read: an item may begin in it and end there.
type heldRecord struct {
	known  bool
	raw    []byte
	at     drydock.Locator
	row    bool // a JSON row, so that act is due
	text   bool // running text: its places are those of its blocks
	hits   int  // number of its first hit
	failed bool
}

// hold keeps a record until the next one has been read.
func (u *contamReader) hold(r heldRecord) {
	raw := append(u.held.raw[:0], r.raw...)
	u.held = r
	u.held.raw, u.held.known = raw, true
}

// settle books what stands on the seam between the record held and the one the
// scanner has just seen, whose bytes are raw, and decides what becomes of the
// first.
func (u *contamReader) settle(raw []byte, at drydock.Locator) {
	h := &u.held
	if !h.known {
		return
	}
	if s, ok := u.scanner.(SeamScanner); ok && raw != nil {
		for _, hit := range u.hits(s.Seam(), h.raw) {
			u.seamHit(&hit, raw, at)
		}
	}
	if h.row {
		u.act(h.raw, u.out.hits[h.hits:], h.failed)
	}
	h.known = false
}

// seamHit books one finding on the seam with the record whose bytes are raw.
func (u *contamReader) seamHit(hit *ContamHit, raw []byte, next drydock.Locator) {
	h := &u.held
	at := h.at
	if h.text {
		at = u.placeOf(&hit.Finding)
	}
	hit.Record.Line = LineOf(at)
	if hit.Record.ID == "" {
		hit.Record.ID = at.String()
	}
	hit.Next.File, hit.Next.Line = u.file, LineOf(next)
	if hit.Next.ID == "" {
		hit.Next.ID = next.String()
	}
	switch {
	case !u.shows(hit):
	case h.row:
		hit.Fields = report.Fields(h.raw, raw, &hit.Finding)
	default:
		hit.Fields = report.TextField(string(h.raw), &hit.Finding)
	}
	if hit.Fail && !h.failed {
		h.failed = true
		u.out.failed++
	}
	u.out.hits = append(u.out.hits, *hit)
}

// placeOf returns the block of the running text in which the evidence begins.
func (u *contamReader) placeOf(f *contam.Finding) drydock.Locator {
	if len(f.Spans) == 0 || len(u.starts) == 0 {
		return drydock.Locator{}
	}
	i, ok := slices.BinarySearchFunc(u.starts, f.Spans[0].Start, func(s textStart, r int) int { return s.rune - r })
	if !ok {
		i--
	}
	return u.starts[max(i, 0)].at
}

// finish looks at the seam with the first record of the unit behind, if there is
// one, and settles the last record.
func (u *contamReader) finish(ctx context.Context) error {
	if _, ok := u.scanner.(SeamScanner); ok && u.held.known && u.behind != nil {
		raw, at, err := u.firstBehind(ctx)
		if err != nil {
			return err
		}
		u.settle(raw, at)
	}
	u.settle(nil, drydock.Locator{})
	return nil
}

// firstBehind has the scanner see the first record of the unit behind and
// returns its bytes; nil when none can be read. What is wrong with it is for the
// unit itself to say.
func (u *contamReader) firstBehind(ctx context.Context) (raw []byte, at drydock.Locator, err error) {
	var text []byte
	for b, err := range u.behind.Blocks(ctx) {
		switch {
		case ctx.Err() != nil:
			return nil, at, context.Cause(ctx)
		case err != nil:
			return nil, at, nil
		case b.Raw != nil:
			if _, err := u.scanner.Row(b.Raw); err != nil {
				return nil, at, nil
			}
			return slices.Clone(b.Raw), b.At, nil
		case b.Cells != nil:
			text = []byte(strings.Join(b.Cells, "\n"))
			u.scanner.Text(text)
			return text, b.At, nil
		}
		if len(text) == 0 {
			at = b.At
		}
		if text = append(append(text, b.Text...), '\n'); len(text) >= seamText {
			break
		}
	}
	if len(text) == 0 {
		return nil, at, nil
	}
	u.scanner.Text(text)
	return text, at, nil
}
