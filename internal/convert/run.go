package convert

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dataprep/rowfile"
	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/pipeline"
)

// Options say what is converted, and how.
type Options struct {
	Inputs         []string // files of rows
	Encoding       string   // of those that are text; "" finds it
	From, To       string   // formats; From "" is found row by row
	EscapeSpecials bool     // control tokens spelled out in a text are escaped, not refused
	Out            string   // of a dry run it may be ""
	Kind           rowfile.Kind
	Dropped        string // what could not be converted; "" is beside Out, if there is any
	DryRun         bool   // nothing stays written
	Workers        int
	Note           func(format.Note) // of the readers
}

// A Result is what became of the rows.
type Result struct {
	Schema  string               `json:"schema"`
	To      string               `json:"to"`
	Inputs  []pipeline.InputRows `json:"inputs"`
	Sums    drydock.Sums         `json:"sums"`
	Out     string               `json:"out,omitempty"`
	Dropped string               `json:"dropped,omitempty"`
	Info    drydock.RawJSON      `json:"dataset_info,omitempty"`      // LLaMA-Factory's entry for the rows
	InfoAt  string               `json:"dataset_info_file,omitempty"` // where it was put
	Renamed int                  `json:"renamed_ids,omitempty"`       // ids that stand in several inputs
	AsText  bool                 `json:"ids_as_text,omitempty"`       // some were text, others not
	DryRun  bool                 `json:"dry_run,omitempty"`
}

// run reads rows one at a time and writes them to a file of its own first:
// whether ids collide and which types the columns have is known at the end only.
type run struct {
	o        Options
	conv     *emit.Conversion
	work     string // folder that is removed at the end
	rows     *atomicfile.File
	drops    atomicfile.Output
	schema   rowfile.Schema // of the rows without their ids
	ids      *pipeline.InputIDs
	parts    []part
	idKinds  [2]bool // an id was text, was anything else
	buf      []byte
	res      Result
	bad      fail.List
	pairs    int // rows written as preference pairs
	labels   int // rows written with a label
	refusals []*refusalKind
}

// A part is how many rows one input gave.
type part struct {
	source *drydock.File
	rows   int
}

// Run converts rows. What is wrong with an input or a row is in bad, and the good
// rows come out; the error is of the disk or the context.
func Run(ctx context.Context, o Options) (res *Result, bad fail.List, err error) {
	r := &run{o: o, conv: emit.NewConversion(o.From, o.To)}
	if o.EscapeSpecials {
		r.conv.EscapeSpecials()
	}
	r.schema.Loose = !o.Kind.Columns()
	r.res = Result{
		Schema: "drydock.convert/1", To: o.To, Inputs: []pipeline.InputRows{},
		Sums: drydock.Sums{Dropped: map[string]int{}}, Out: o.Out, DryRun: o.DryRun,
	}
	if err := r.all(ctx); err != nil {
		return nil, nil, err
	}
	r.tellRest()
	if err := r.res.Sums.Close(); err != nil {
		return nil, nil, fail.Bug(err)
	}
	return &r.res, r.bad, nil
}

// all converts the inputs. Nothing stands under the names of the outputs until
// all rows are written.
func (r *run) all(ctx context.Context) (err error) {
	beside := filepath.Dir(r.o.Out)
	if r.o.DryRun {
		beside = os.TempDir()
	} else if err := os.MkdirAll(beside, 0o755); err != nil {
		return err
	}
	if r.work, err = os.MkdirTemp(beside, ".drydock-convert-*"); err != nil {
		return err
	}
	defer os.RemoveAll(r.work)
	if r.ids, err = pipeline.NewInputIDs(filepath.Join(r.work, "ids")); err != nil {
		return err
	}
	if r.rows, err = atomicfile.Create(r.spool()); err != nil {
		return err
	}
	defer r.rows.Abort()
	dropped := r.o.Dropped
	if dropped == "" && r.o.Out != "" {
		dropped = strings.TrimSuffix(r.o.Out, filepath.Ext(r.o.Out)) + ".dropped.jsonl"
	}
	if r.drops, err = atomicfile.CreateUnless(r.o.DryRun, dropped); err != nil {
		return err
	}
	defer r.drops.Abort()
	for _, name := range r.o.Inputs {
		if err := r.file(ctx, name); err != nil {
			return err
		}
	}
	if err := errors.Join(r.rows.Commit(), r.ids.Settle()); err != nil {
		return err
	}
	if r.res.Sums.DroppedTotal() > 0 || r.o.Dropped != "" {
		r.res.Dropped = dropped
		if err := r.drops.Commit(); err != nil {
			return err
		}
	}
	return r.write(ctx)
}

// spool is where converted rows wait, one a line.
func (r *run) spool() string { return filepath.Join(r.work, "rows.jsonl") }

// file converts the rows of one input. What is wrong with it goes to bad; an
// error is of the disk or the context.
func (r *run) file(ctx context.Context, name string) error {
	in, err := pipeline.OpenInput(ctx, name, format.Options{Encoding: r.o.Encoding, Workers: r.o.Workers}, r.o.Note)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		r.bad = append(r.bad, fail.All(err)...)
		return nil
	}
	r.parts = append(r.parts, part{source: &drydock.File{Source: r.ids.Source(name)}})
	rows := 0
	for _, u := range in.Units {
		for b, err := range in.Kind.Document(u, r.o.Note).Blocks(ctx) {
			var d *drydock.Drop
			switch {
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case errors.As(err, &d):
				rows++
				if err := r.drop(in, droppedAt{at: d.Record.Origin.At}, &emit.Refusal{Reason: d.Reason, Detail: d.Detail}, d.Record.Passage.Text); err != nil {
					return err
				}
				continue
			case err != nil:
				r.bad = append(r.bad, fail.All(err)...)
			case b.Raw == nil && b.Level > 0: // the name of a part of a JSON document
			default:
				rows++
				if err := r.row(in, b); err != nil {
					return err
				}
			}
		}
	}
	r.res.Inputs = append(r.res.Inputs, pipeline.InputRows{File: in.Name(), SHA256: in.File.SHA256, Rows: rows, Bytes: in.File.Size})
	return nil
}

// row converts one row, or drops it.
func (r *run) row(in *pipeline.InputFile, b drydock.Block) error {
	if b.Raw == nil {
		no := &emit.Refusal{Reason: notARow, Detail: "a line or cell of " + in.Kind.Name + "; rows are JSON objects"}
		return r.drop(in, droppedAt{at: b.At}, no, b.Text+strings.Join(b.Cells, "\t"))
	}
	out, err := r.conv.Row(r.buf[:0], b.Raw)
	var no *emit.Refusal
	if err == nil {
		r.buf = out
		err = r.fits(out)
	}
	if errors.As(err, &no) {
		return r.drop(in, placeOf(in, b, no.Pointer), no, string(b.Raw))
	}
	if err != nil {
		return err
	}
	r.res.Sums.In++
	r.res.Sums.Out++
	part := &r.parts[len(r.parts)-1]
	part.rows++
	if id := idOf(out); len(id) > 0 {
		text, quoted := idText(id)
		if quoted {
			r.idKinds[0] = true
		} else {
			r.idKinds[1] = true
		}
		if err := r.ids.Add(text, part.source); err != nil {
			return err
		}
	}
	pair, label := emit.Preference(out)
	if pair {
		r.pairs++
	}
	if label {
		r.labels++
	}
	r.buf = append(out, '\n')
	_, err = r.rows.Write(r.buf)
	return err
}

// fits holds a row's columns to those of the rows before it. The id is left out:
// ids of two types become text.
func (r *run) fits(row []byte) error {
	rest := row
	if id := idOf(row); id != nil {
		at := len(idField) + len(id)
		if row[at] != ',' {
			return nil // nothing but an id
		}
		rest = row[at:]
		rest[0] = '{'
		defer func() { rest[0] = ',' }()
	}
	var c *rowfile.Conflict
	switch err := r.schema.Add(rest); {
	case err == nil:
		return nil
	case !errors.As(err, &c):
		return err
	case c.Table:
		return &emit.Refusal{Reason: "no_column", Field: c.Pointer, Detail: c.Detail, Pointer: c.Pointer}
	default:
		return &emit.Refusal{Reason: "type_drift", Field: c.Pointer, Detail: c.Detail, Pointer: c.Pointer}
	}
}
