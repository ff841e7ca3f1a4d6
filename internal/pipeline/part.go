package pipeline

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/question"
	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/runstore"
	"github.com/drydock-ml/drydock/provenance"
)

// batch is how many records a step is given at once: large enough that calls
// cost nothing, small enough to stay in the cache.
const batch = 512

// A part is what pass 1 makes of one unit: part-N.jsonl with the records,
// part-N.dropped.jsonl with the drops and, written last, part-N.json.
type part struct {
	n     int
	stage runstore.Stage
	meta  partMeta
}

// partMeta is part-N.json. It is all a resumed run needs of a finished part.
type partMeta struct {
	Key     string          `json:"key"`
	SHA256  string          `json:"sha256"` // of part-N.jsonl
	Files   []*drydock.File `json:"files"`  // what "file" in a record means
	Records int             `json:"records"`
	Kinds   map[string]int  `json:"kinds"` // records born, by kind
	Langs   map[string]int  `json:"langs"` // and by language
	Sources drydock.Sums    `json:"sources"`
	Steps   []stepSums      `json:"steps"`
	Notes   []noteRow       `json:"notes,omitempty"`
	// Sections are the parts of a question bank, in order.
	Sections []question.Part `json:"sections,omitempty"`
	// Stems are the stem keys of the answered questions, eight bytes each.
	Stems []byte `json:"stems,omitempty"`
	// Fixed are the numbers of the fixes that were applied.
	Fixed []int `json:"fixed,omitempty"`
	// Settled counts those that settle what the counts of a section lack.
	Settled int `json:"settled,omitempty"`
	// Failed says that something could not be read or converted: the run ends
	// with 3.
	Failed bool `json:"failed,omitempty"`
	// Error is set when the unit as a whole could not be read.
	Error *errorRow `json:"error,omitempty"`
}

type stepSums struct {
	Name string       `json:"name"`
	Sums drydock.Sums `json:"sums"`
}

// A noteRow is a note in both languages, as part files and stats keep it.
type noteRow struct {
	Code string `json:"code"`
	En   string `json:"en"`
	Zh   string `json:"zh"`
	// Damage says that part of the file could not be read: exit 3.
	Damage bool `json:"damage,omitempty"`
}

// An errorRow is an error in both languages with its hints.
type errorRow struct {
	File  string   `json:"file,omitempty"`
	En    string   `json:"en"`
	Zh    string   `json:"zh"`
	Hints []string `json:"hints,omitempty"` // English, Chinese, English, Chinese …
}

func (p *part) path(suffix string) string {
	return p.stage.Path(fmt.Sprintf("part-%06d%s", p.n, suffix))
}

// load reads a finished part's meta. ok is false when it is not there, was made
// for another key, or its records are not the ones it vouches for.
func (p *part) load(key string) bool {
	b, err := os.ReadFile(p.path(".json"))
	if err != nil || json.Unmarshal(b, &p.meta) != nil || p.meta.Key != key {
		p.meta = partMeta{}
		return false
	}
	sum, err := runstore.HashFile(p.path(".jsonl"))
	if err != nil || sum != p.meta.SHA256 {
		p.meta = partMeta{}
		return false
	}
	if _, err := os.Stat(p.path(".dropped.jsonl")); err != nil {
		p.meta = partMeta{}
		return false
	}
	return true
}

// A partWriter writes one part.
type partWriter struct {
	part    *part
	table   drydock.FileTable
	records *atomicfile.File
	drops   *atomicfile.File
	sum     interface {
		io.Writer
		Sum([]byte) []byte
	}
	buf []byte
}

func newPartWriter(p *part) (*partWriter, error) {
	// a stale meta must not vouch for the new records
	if err := os.Remove(p.path(".json")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	rec, err := atomicfile.Create(p.path(".jsonl"))
	if err != nil {
		return nil, err
	}
	drops, err := atomicfile.Create(p.path(".dropped.jsonl"))
	if err != nil {
		rec.Abort()
		return nil, err
	}
	return &partWriter{part: p, records: rec, drops: drops, sum: sha256.New()}, nil
}

func (w *partWriter) write(recs []*drydock.Record) error {
	for _, r := range recs {
		if r.Origin.File != nil {
			w.table.Add(r.Origin.File)
		}
		var err error
		if w.buf, err = w.table.Append(w.buf[:0], r); err != nil {
			return err
		}
		w.sum.Write(w.buf)
		if _, err := w.records.Write(w.buf); err != nil {
			return err
		}
	}
	w.part.meta.Records += len(recs)
	return nil
}

func (w *partWriter) drop(d *drydock.Drop) error {
	var err error
	w.buf, err = appendDrop(w.buf[:0], d, nil)
	if err == nil {
		_, err = w.drops.Write(w.buf)
	}
	return err
}

// commit puts the three files in place, the meta last.
func (w *partWriter) commit(key string) error {
	if err := w.records.Commit(); err != nil {
		return err
	}
	if err := w.drops.Commit(); err != nil {
		return err
	}
	w.part.meta.Key = key
	w.part.meta.SHA256 = hex.EncodeToString(w.sum.Sum(nil))
	w.part.meta.Files = w.table.Files()
	b, err := drydock.MarshalJSON(w.part.meta)
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(w.part.path(".json"), append(b, '\n'))
}

func (w *partWriter) abort() {
	w.records.Abort()
	w.drops.Abort()
}

// batches reads the part's records again, batch by batch.
func (p *part) batches(ctx context.Context) iter.Seq2[[]*drydock.Record, error] {
	return func(yield func([]*drydock.Record, error) bool) {
		f, err := os.Open(p.path(".jsonl"))
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		var table drydock.FileTable
		for _, fl := range p.meta.Files {
			table.Add(fl)
		}
		in := bufio.NewReaderSize(f, 256<<10)
		recs := make([]*drydock.Record, 0, batch)
		for line := 1; ; line++ {
			b, err := in.ReadBytes('\n')
			if errors.Is(err, io.EOF) && len(b) == 0 {
				break
			}
			if err != nil && !errors.Is(err, io.EOF) {
				yield(nil, err)
				return
			}
			r, err := table.Decode(bytes.TrimSuffix(b, []byte{'\n'}))
			if err != nil {
				yield(nil, fmt.Errorf("%s:%d: %w", p.path(".jsonl"), line, err))
				return
			}
			if recs = append(recs, r); len(recs) == batch {
				if ctx.Err() != nil {
					yield(nil, context.Cause(ctx))
					return
				}
				if !yield(recs, nil) {
					return
				}
				recs = recs[:0]
			}
		}
		if len(recs) > 0 {
			yield(recs, nil)
		}
	}
}

// dropRow is one line of dropped.jsonl (docs/json-output.md).
type dropRow struct {
	ID     string     `json:"id"`
	Step   string     `json:"step"`
	Reason string     `json:"reason"`
	Detail string     `json:"detail"`
	Text   string     `json:"text"`
	Origin *originRow `json:"origin"`
	// Evidence says what a duplicate or a leak matched; absent for others.
	Evidence *provenance.Evidence `json:"evidence,omitempty"`
}

type originRow struct {
	Source  string `json:"source"`
	File    string `json:"file"`
	SHA256  string `json:"sha256"`
	Locator string `json:"locator"`
	License string `json:"license"`
}

func originOf(r *drydock.Record) *originRow {
	if r == nil || r.Origin.File == nil {
		return nil
	}
	f := r.Origin.File
	return &originRow{f.Source, f.Name, f.SHA256, r.Origin.At.String(), f.License}
}

func appendDrop(dst []byte, d *drydock.Drop, ev *provenance.Evidence) ([]byte, error) {
	row := dropRow{Step: d.Step, Reason: d.Reason, Detail: d.Detail, Origin: originOf(d.Record), Evidence: ev}
	if d.Record != nil {
		row.ID = d.Record.ID.String()
		row.Text = plainText(d.Record)
	}
	b, err := drydock.MarshalJSON(row)
	if err != nil {
		return dst, err
	}
	dst = append(dst, b...)
	return append(dst, '\n'), nil
}

// plainText is the whole text of a record, for people who look at drops.
func plainText(r *drydock.Record) string {
	var b bytes.Buffer
	line := func(s string) {
		if s == "" {
			return
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(s)
	}
	switch {
	case r.Passage != nil:
		for _, h := range r.Passage.Heading {
			line(h)
		}
		line(r.Passage.Text)
	case r.Question != nil:
		line(r.Question.Stem)
		for _, o := range r.Question.Options {
			line(o.Label + ". " + o.Text)
		}
		for _, a := range r.Question.Answer {
			line("= " + a)
		}
	case r.Chat != nil:
		for _, m := range r.Chat.Messages {
			line(m.Role + ": " + m.Content)
		}
	}
	return b.String()
}
