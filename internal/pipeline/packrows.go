package pipeline

import (
	"encoding/json"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/provenance"
)

// A PackedResult says how full rows of joined documents are.
type PackedResult struct {
	Length    int     `json:"length"` // tokens a row holds at most
	Overlap   int     `json:"overlap"`
	Documents int     `json:"documents"`
	Cut       int     `json:"cut"` // of them longer than a row
	Tokens    int64   `json:"tokens"`
	Fill      float64 `json:"fill"` // tokens by the room of all rows, 0–1
}

// A rowPacker joins the rows of one file, and what stands beside them.
type rowPacker struct {
	joiner  emit.Joiner
	shape   string
	prefix  string // of the ids
	from    []provenance.Lineage
	out     [3]*atomicfile.File // rows, sidecar, lineage
	res     *OutputResult
	buf     []byte
	packed  PackedResult
	written int
}

// packRows joins the rows of an output that asks for it; files are its rows, their
// sidecar and their lineage. All stand in the order of the sources, so what is
// made of them does not depend on the workers.
func (c *corpus) packRows(i, side int, res *OutputResult, files [3]string) error {
	joiner, ok := c.emits[i].builder.(emit.Joiner)
	if !ok || joiner.Packing().Length == 0 {
		return nil
	}
	p := &rowPacker{joiner: joiner, shape: c.emits[i].shape, prefix: splitNames()[side], res: res}
	o := joiner.Packing()
	p.packed.Length, p.packed.Overlap = o.Length, o.Overlap
	err := eachLine(files[2], func(line []byte) error {
		var l provenance.Lineage
		err := json.Unmarshal(line, &l)
		p.from = append(p.from, provenance.Lineage{Rec: l.Rec, Lang: l.Lang, Split: l.Split, Flags: l.Flags})
		return err
	})
	if err != nil {
		return err
	}
	for k, name := range files {
		f, err := atomicfile.Create(name)
		if err != nil {
			return err
		}
		defer f.Abort()
		p.out[k] = f
	}
	return p.run(files[0], emit.NewPacker(o))
}

func (p *rowPacker) run(file string, packer *emit.Packer) error {
	p.res.Rows, p.res.Longest = 0, 0
	err := eachLine(file, func(row []byte) error {
		text, err := p.joiner.TextOf(row)
		if err != nil {
			return fail.Bug(err)
		}
		p.packed.Documents++
		return p.write(packer.Add(text))
	})
	if err != nil {
		return err
	}
	if err := p.write(packer.Flush()); err != nil {
		return err
	}
	p.packed.Cut = packer.Cut
	if room := p.packed.Length * p.written; room > 0 {
		p.packed.Fill = math.Round(1e4*float64(p.packed.Tokens)/float64(room)) / 1e4
	}
	p.res.Packed = &p.packed
	for _, f := range p.out {
		if err := f.Commit(); err != nil {
			return err
		}
	}
	return nil
}

// write writes packed rows: each is a record of its own, made from those of its
// documents.
func (p *rowPacker) write(rows []emit.PackedRow) error {
	for _, r := range rows {
		p.written++
		p.packed.Tokens += int64(r.Tokens)
		id := fmt.Sprintf("%s-%06d", p.prefix, p.written)
		rec := &drydock.Record{ID: drydock.NewID(p.shape, p.res.Path, id), Passage: &drydock.Passage{}, Lang: p.from[r.Docs[0]].Lang}
		l := provenance.Lineage{Kind: string(drydock.KindPassage), Split: p.from[r.Docs[0]].Split}
		for _, d := range r.Docs {
			rec.Parents = append(rec.Parents, p.from[d].Rec)
			if p.from[d].Lang != rec.Lang {
				rec.Lang = "mul"
			}
			if len(p.from[d].Flags) > 0 {
				l.Flags = p.from[d].Flags
			}
		}
		p.buf = p.joiner.AppendText(p.buf[:0], id, r.Text)
		if _, err := p.out[0].Write(p.buf); err != nil {
			return err
		}
		p.res.Rows++
		p.res.Longest = max(p.res.Longest, utf8.RuneCount(p.buf))
		if _, err := p.out[1].Write(emit.AppendSidecar(nil, rec, emit.Emitted{RowID: id, Shape: p.shape})); err != nil {
			return err
		}
		l.Rec, l.ID, l.Row, l.Lang, l.Parents = rec.ID, id, provenance.RowHash(p.buf), rec.Lang, rec.Parents
		line, err := drydock.MarshalJSON(l)
		if err == nil {
			_, err = p.out[2].Write(append(line, '\n'))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
