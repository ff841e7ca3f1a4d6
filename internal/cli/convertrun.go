package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dataprep/rowfile"
	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/pipeline"
)

// convertRun reads rows one at a time and writes them to a file of its own first:
// whether ids collide and which types the columns have is known at the end only.
type convertRun struct {
	a        *app
	o        ConvertOptions
	kind     rowfile.Kind
	conv     *emit.Conversion
	work     string // folder that is removed at the end
	rows     *atomicfile.File
	drops    output
	schema   rowfile.Schema // of the rows without their ids
	ids      *pipeline.InputIDs
	parts    []convertPart
	idKinds  [2]bool // an id was text, was anything else
	buf      []byte
	answer   convertAnswer
	bad      fail.List
	pairs    int // rows written as preference pairs
	labels   int // rows written with a label
	refusals []*refusalKind
}

// A convertPart is how many rows one input gave.
type convertPart struct {
	source *drydock.File
	rows   int
}

func runConvert(ctx context.Context, a *app, o ConvertOptions) error {
	names, bad, err := o.check()
	if err != nil {
		return err
	}
	r := &convertRun{a: a, o: o, conv: o.conversion(), bad: bad}
	if r.kind, err = o.kind(); err != nil {
		return err
	}
	r.schema.Loose = !r.kind.Columns()
	r.answer = convertAnswer{
		Schema: "drydock.convert/1", To: o.To, Inputs: []dedupInput{},
		Sums: drydock.Sums{Dropped: map[string]int{}}, Out: o.Out, DryRun: o.DryRun,
	}
	if err := r.all(ctx, names); err != nil {
		return err
	}
	r.tellRest()
	if err := r.answer.Sums.Close(); err != nil {
		return fail.Bug(err)
	}
	if err := a.answer(r.answer); err != nil {
		return err
	}
	return r.bad.OrNil()
}

// all converts the inputs. Nothing stands under the names of the outputs until
// all rows are written.
func (r *convertRun) all(ctx context.Context, names []string) (err error) {
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
	if r.drops, err = r.a.createOutput(dropped, r.o.DryRun); err != nil {
		return err
	}
	defer r.drops.Abort()
	for _, name := range names {
		if err := r.file(ctx, name); err != nil {
			return err
		}
	}
	if err := errors.Join(r.rows.Commit(), r.ids.Settle()); err != nil {
		return err
	}
	if r.answer.Sums.DroppedTotal() > 0 || r.o.Dropped != "" {
		r.answer.Dropped = dropped
		if err := r.drops.Commit(); err != nil {
			return err
		}
	}
	return r.write(ctx)
}

// spool is where converted rows wait, one a line.
func (r *convertRun) spool() string { return filepath.Join(r.work, "rows.jsonl") }

// file converts the rows of one input. What is wrong with it goes to bad; an
// error is of the disk or the context.
func (r *convertRun) file(ctx context.Context, name string) error {
	in, err := pipeline.OpenInput(ctx, name, format.Options{Encoding: r.o.Encoding, Workers: r.a.workers()}, r.a.note)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		r.bad = append(r.bad, fail.All(err)...)
		return nil
	}
	r.parts = append(r.parts, convertPart{source: &drydock.File{Source: r.ids.Source(name)}})
	rows := 0
	for _, u := range in.Units {
		for b, err := range in.Kind.Document(u, r.a.note).Blocks(ctx) {
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
	r.answer.Inputs = append(r.answer.Inputs, dedupInput{File: in.Name(), SHA256: in.File.SHA256, Rows: rows, Bytes: in.File.Size})
	return nil
}

// row converts one row, or drops it.
func (r *convertRun) row(in *pipeline.InputFile, b drydock.Block) error {
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
	r.answer.Sums.In++
	r.answer.Sums.Out++
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

// idField begins every row that has an id: a conversion writes it first.
const idField = `{"id":`

// idOf returns a row's id as it is written; nil when it has none.
func idOf(row []byte) []byte {
	rest, ok := bytes.CutPrefix(row, []byte(idField))
	if !ok {
		return nil
	}
	return rest[:emit.ValueEnd(rest)]
}

// idText is an id without its quotes, if it has any.
func idText(id []byte) (text string, quoted bool) {
	if id[0] != '"' {
		return string(id), false
	}
	s, err := strconv.Unquote(string(id))
	if err != nil { // an escape that only JSON knows
		s = string(id[1 : len(id)-1])
	}
	return s, true
}

// fits holds a row's columns to those of the rows before it. The id is left out:
// ids of two types become text.
func (r *convertRun) fits(row []byte) error {
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

// droppedAt is where in an input something stands.
type droppedAt struct {
	at      drydock.Locator
	line    int // 0: not known
	column  int // in characters, from 1; 0: not known
	pointer string
}

// placeOf finds the line and column of a value. Only of JSON Lines is it known how
// a row stood in its file.
func placeOf(in *pipeline.InputFile, b drydock.Block, pointer string) droppedAt {
	p := droppedAt{at: b.At, line: b.At.Line, pointer: pointer}
	if in.Kind.Name == "jsonl" && b.At.Line > 0 {
		p.column = utf8.RuneCount(b.Raw[:emit.Locate(b.Raw, pointer)]) + 1
	}
	return p
}

// A refusalKind is why rows of one file were refused, and how many.
type refusalKind struct {
	file, reason, detail string
	rows                 int
}

// toldKinds is of how many kinds one refused row is named on the terminal; the
// rest are counted, and the drop file has each.
const toldKinds = 4

// tell names a refused row, unless one like it was.
func (r *convertRun) tell(in *pipeline.InputFile, p droppedAt, no *emit.Refusal, detail string) {
	i := slices.IndexFunc(r.refusals, func(k *refusalKind) bool {
		return k.file == in.Name() && k.reason == no.Reason && k.detail == detail
	})
	if i < 0 {
		i = len(r.refusals)
		if i > toldKinds { // the last one counts whatever else there is
			i = toldKinds
		} else {
			r.refusals = append(r.refusals, &refusalKind{file: in.Name(), reason: no.Reason, detail: detail})
		}
	}
	k := r.refusals[i]
	if k.rows++; k.rows > 1 || i == toldKinds {
		return
	}
	r.bad = append(r.bad, refusedAs(no.Reason, fail.New(fail.Partial, msg.Text{"not converted (%s): %s", "未转换（%s）：%s"}, no.Reason, detail).
		At(fail.Where{File: in.Name(), Line: pipeline.LineOf(p.at), Column: p.column})))
}

// refusedAs says with a refusal what else to do with such a file.
func refusedAs(reason string, e *fail.Error) *fail.Error {
	if reason == notARow {
		return e.Hint(msg.Text{"drydock prep makes rows of documents and tables", "drydock prep 可从文档和表格生成数据行"})
	}
	return e
}

// tellRest counts the refused rows that were not named.
func (r *convertRun) tellRest() {
	for i, k := range r.refusals {
		switch {
		case i == toldKinds:
			r.bad = append(r.bad, fail.New(fail.Partial, msg.Text{"%d more {row|rows} not converted, for other reasons", "另有 %d 行因其他原因未转换"}, k.rows))
		case k.rows > 1:
			r.bad = append(r.bad, refusedAs(k.reason, fail.New(fail.Partial, msg.Text{
				"%d more {row|rows} not converted (%s): %s", "另有 %d 行未转换（%s）：%s",
			}, k.rows-1, k.reason, k.detail).At(fail.Where{File: k.file})))
		}
	}
}

// notARow is the reason of a line that is no JSON object.
const notARow = "not_a_row"

// drop writes a row that was not converted to the drop file.
func (r *convertRun) drop(in *pipeline.InputFile, p droppedAt, no *emit.Refusal, text string) error {
	r.answer.Sums.In++
	r.answer.Sums.Dropped[no.Reason]++
	detail := no.Detail
	if no.Field != "" {
		detail = no.Error()
	}
	r.tell(in, p, no, detail)
	line, err := drydock.MarshalJSON(droppedRow{
		ID:   drydock.NewRowID("", in.Name(), p.at.String(), []byte(text)).String(),
		Step: "convert", Reason: no.Reason, Field: no.Field, Pointer: p.pointer, Line: p.line, Column: p.column, Detail: detail, Text: text,
		Origin: droppedOrigin{File: in.Name(), SHA256: in.File.SHA256, Locator: p.at.String()},
	})
	if err != nil {
		return err
	}
	_, err = r.drops.Write(append(line, '\n'))
	return err
}

// droppedRow is a line of the drop file, as prep writes it.
type droppedRow struct {
	ID     string `json:"id"`
	Step   string `json:"step"`
	Reason string `json:"reason"`
	Field  string `json:"field,omitempty"`
	// Pointer is a JSON Pointer to what is refused; Line and Column count from 1.
	Pointer string        `json:"pointer,omitempty"`
	Line    int           `json:"line,omitempty"`
	Column  int           `json:"column,omitempty"`
	Detail  string        `json:"detail"`
	Text    string        `json:"text"`
	Origin  droppedOrigin `json:"origin"`
}

type droppedOrigin struct {
	Source  string `json:"source"`
	File    string `json:"file"`
	SHA256  string `json:"sha256"`
	Locator string `json:"locator"`
	License string `json:"license"`
}
