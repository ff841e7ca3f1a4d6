package pipeline

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/dedup/contam/report"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// contamUnit is what became of one unit.
type contamUnit struct {
	size    int64 // bytes of the file
	records int
	failed  int
	shown   int // hits that have Fields because they fail
	hits    []ContamHit
	rows    contamRows
	bad     fail.List
	members map[ReadAs]int // files of archives
	broken  bool           // the reader gave up
}

// contamReader reads one unit. Rows are checked one by one; running text as one
// record, so that an item broken over lines is found.
type contamReader struct {
	check   *ContamCheck
	out     *contamUnit
	scanner ContamScanner
	file    string
	text    []byte
	starts  []textStart
	runes   int
	behind  *drydock.Document // the unit behind this one in the file; nil: none
	held    heldRecord
	masker  ContamScanner // for rows made here
}

// textStart says which block begins at which character of the text.
type textStart struct {
	rune int
	at   drydock.Locator
}

func (u *contamReader) read(ctx context.Context, doc *drydock.Document) error {
	u.file = doc.File.Name
	if s, ok := u.scanner.(SeamScanner); ok {
		s.Break()
	}
	for b, err := range doc.Blocks(ctx) {
		var drop *drydock.Drop
		switch {
		case errors.As(err, &drop):
			u.out.bad = append(u.out.bad, BadBlock(drop))
			if r := drop.Record; r != nil && r.Passage != nil {
				u.plain(r.Passage.Text, r.Origin.At)
				u.unreadable([]byte(r.Passage.Text))
			}
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			u.out.bad = append(u.out.bad, fail.All(err)...)
			u.out.broken = true
			u.running()
			return u.finish(ctx)
		case b.Raw != nil:
			u.row(b)
		case b.Cells != nil:
			u.plain(strings.Join(b.Cells, "\n"), b.At)
		default:
			u.starts = append(u.starts, textStart{u.runes, b.At})
			u.text = append(append(u.text, b.Text...), '\n')
			u.runes += utf8.RuneCountInString(b.Text) + 1
		}
	}
	u.running()
	return u.finish(ctx)
}

// plain checks a text that is one record by itself: a table row, or a row too
// broken to be read, which may hide a leak all the same.
func (u *contamReader) plain(text string, at drydock.Locator) {
	u.record(u.scanner.Text([]byte(text)), heldRecord{raw: []byte(text), at: at}, func(h *ContamHit) { h.Fields = report.TextField(text, &h.Finding) })
}

// row checks one JSON row.
func (u *contamReader) row(b drydock.Block) {
	found, err := u.scanner.Row(b.Raw)
	if err != nil {
		w := fail.Where{File: u.file, Line: LineOf(b.At), Excerpt: string(b.Raw)}
		var bad *contam.SyntaxError
		if errors.As(err, &bad) {
			w.Column = utf8.RuneCount(b.Raw[:min(bad.Column-1, len(b.Raw))]) + 1
		}
		u.out.bad = append(u.out.bad, fail.New(fail.Partial, msg.Text{"no JSON, checked as plain text: %v", "不是 JSON，已按纯文本检查：%v"}, err).At(w))
		u.plain(string(b.Raw), b.At)
		u.unreadable(b.Raw)
		return
	}
	u.record(found, heldRecord{raw: b.Raw, at: b.At, row: true}, func(h *ContamHit) { h.Fields = report.Fields(b.Raw, nil, &h.Finding) })
}

// record settles the record before and books the findings of r; show fills what
// a reader wants to see.
func (u *contamReader) record(found []contam.Finding, r heldRecord, show func(*ContamHit)) {
	u.settle(r.raw, r.at)
	u.out.records++
	r.hits = len(u.out.hits)
	for _, h := range u.hits(found, r.raw) {
		h.Record.Line = LineOf(r.at)
		if h.Record.ID == "" {
			h.Record.ID = r.at.String()
		}
		if u.shows(&h) {
			show(&h)
		}
		r.failed = r.failed || h.Fail
		u.out.hits = append(u.out.hits, h)
	}
	if r.failed {
		u.out.failed++
	}
	u.hold(r)
}

// shows reports whether the next hit gets its Fields.
func (u *contamReader) shows(h *ContamHit) bool {
	if u.check.Shown < 1 {
		return true
	}
	if !h.Fail || u.out.shown == u.check.Shown {
		return false
	}
	u.out.shown++
	return true
}

// hits names the record whose bytes are raw in its findings.
func (u *contamReader) hits(found []contam.Finding, raw []byte) []ContamHit {
	if len(found) == 0 {
		return nil
	}
	sum := sha256.Sum256(raw)
	out := make([]ContamHit, len(found))
	for i, f := range found {
		f.Record.File, f.Record.SHA256 = u.file, hex.EncodeToString(sum[:])
		f.Fail = f.Fail && (u.check.Waived == nil || !u.check.Waived(&f))
		out[i] = ContamHit{Finding: f, BenchItem: u.check.items[f.Item]}
	}
	return out
}

// running checks the text of a document. Each finding is placed at the block
// its evidence begins in; a record that fails is counted once a place.
func (u *contamReader) running() {
	if len(bytes.TrimSpace(u.text)) == 0 {
		return
	}
	found := u.hits(u.scanner.Text(u.text), u.text)
	u.settle(u.text, u.starts[0].at)
	text := string(u.text)
	places := map[drydock.Locator]bool{}
	u.out.records++
	for _, h := range found {
		at := u.placeOf(&h.Finding)
		h.Record.ID, h.Record.Line = at.String(), LineOf(at)
		if u.shows(&h) {
			h.Fields = report.TextField(text, &h.Finding)
		}
		if h.Fail && !places[at] {
			places[at] = true
			u.out.failed++
		}
		u.out.hits = append(u.out.hits, h)
	}
	u.hold(heldRecord{raw: u.text, text: true, hits: len(u.out.hits)})
}
