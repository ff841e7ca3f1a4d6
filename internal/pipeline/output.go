package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/dataprep/rowfile"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/runstore"
	"github.com/drydock-ml/drydock/provenance"
)

// sidecarOf names the file that holds what a row of path cannot.
func sidecarOf(path string) string { return beside(path, ".sidecar.jsonl") }

// promptSource is what a prompt's text depends on, for the stage key.
func (r *runner) promptSource(ref string) (string, error) {
	if ref == "" {
		return "", nil
	}
	b, err := r.prompter(ref)
	if err != nil {
		return "", err
	}
	return b.Fingerprint(), nil
}

// prompter finds the benchmark, or makes one of a template file, whose prompt
// training rows carry.
func (r *runner) prompter(ref string) (*benchmark.Choice, error) {
	base, _ := benchmark.ShippedPack("maritime_bench")
	if strings.HasSuffix(ref, ".txt") || strings.ContainsAny(ref, `/\`) {
		text, err := os.ReadFile(inside(r.base, ref))
		if err != nil {
			return nil, fail.New(fail.Config, msg.Text{"prompt: %v", "prompt：%v"}, err)
		}
		p := *base
		p.Name, p.Prompt, p.PromptSHA256 = "template", strings.TrimSuffix(string(text), "\n"), ""
		p.Items, p.ItemsSHA256 = 0, ""
		return benchmark.NewChoice(&p)
	}
	name, _, _ := strings.Cut(ref, "@")
	for _, b := range r.cfg.Benchmarks {
		if b.Name == name {
			ref = orLike(b.Like)
		}
	}
	b, err := benchmark.Lookup(ref)
	if err != nil {
		return nil, err
	}
	c, ok := b.(*benchmark.Choice)
	if !ok {
		return nil, fail.New(fail.Config, msg.Text{"%s has no prompt for a single question", "%s 没有针对单个题目的提示词"}, ref)
	}
	return c, nil
}

// outState is what one part gave to the outputs.
type outState struct {
	sums    drydock.Sums
	outputs []OutputResult
}

// emitAll writes the kept records of every part in all shapes. It is the only
// pass that restores the order, by joining the parts' chunks.
func (c *corpus) emitAll(ctx context.Context, states []*partState, ids *rowIDs) error {
	for _, o := range c.r.cfg.Output {
		cx := emit.Context{RowID: ids.name, Seed: c.r.cfg.Seed}
		if ref := o.prompt(); ref != "" {
			p, err := c.r.prompter(ref)
			if err != nil {
				return err
			}
			cx.Prompt = p.PromptText
		}
		e, err := o.builder.New(cx)
		if err != nil {
			return err
		}
		c.emits = append(c.emits, &output{o, e})
	}
	c.outs = make([]*outState, len(c.r.parts))
	return c.eachPart(ctx, StageOutput, func(ctx context.Context, i int) (err error) {
		c.outs[i], err = c.emitPart(ctx, c.r.parts[i], states[i])
		return err
	})
}

// An emitRun writes one part.
type emitRun struct {
	c       *corpus
	state   *outState
	all     []*atomicfile.File // every file that is open
	files   [][2]rowFiles      // by output, of train and dev
	left    []*atomicfile.File // what each output left out
	drops   *atomicfile.File
	unmixed *atomicfile.File // what the mix left out
	buf     []byte
	escaped bool // control tokens of the record at hand
}

// rowFiles are the chunks of one file of rows.
type rowFiles struct{ rows, sidecar, lineage *atomicfile.File }

// inTrain and inDev are the places of what a split keeps apart; without a split
// all is in the first.
const (
	inTrain = iota
	inDev
)

// splitNames are what chunks and lineage call the two sides of a split.
func splitNames() [2]string { return [2]string{"train", "dev"} }

// sides is how many files each output has.
func (c *corpus) sides() int {
	if c.r.cfg.Split != nil {
		return 2
	}
	return 1
}

func (c *corpus) emitPart(ctx context.Context, p *part, s *partState) (*outState, error) {
	e := &emitRun{c: c, state: &outState{outputs: make([]OutputResult, len(c.emits))}}
	defer func() {
		for _, f := range e.all {
			f.Abort()
		}
	}()
	if err := e.open(p); err != nil {
		return nil, err
	}
	base := 0
	for recs, err := range p.batches(ctx) {
		if err != nil {
			return nil, err
		}
		for i, r := range recs {
			if !s.has(base + i) {
				continue
			}
			if err := e.choose(p, base+i, s.asKept(base+i, r)); err != nil {
				return nil, err
			}
		}
		base += len(recs)
	}
	for _, f := range e.all {
		if err := f.Commit(); err != nil {
			return nil, err
		}
	}
	return e.state, nil
}

// open creates the part's chunks of every output.
func (e *emitRun) open(p *part) (err error) {
	c := e.c
	if e.drops, err = e.create(atOutput, p, ".dropped.jsonl"); err != nil {
		return err
	}
	if c.mixed != nil {
		if e.unmixed, err = e.create(atMix, p, ".dropped.jsonl"); err != nil {
			return err
		}
	}
	e.files, e.left = make([][2]rowFiles, len(c.emits)), make([]*atomicfile.File, len(c.emits))
	for i := range c.emits {
		e.state.outputs[i] = newOutputResult()
		if e.left[i], err = e.create(atOutput, p, chunkName(i, inTrain, "left")); err != nil {
			return err
		}
		for side := range c.sides() {
			f := &e.files[i][side]
			for _, k := range []struct {
				to   **atomicfile.File
				name string
			}{{&f.rows, "rows"}, {&f.sidecar, "sidecar"}, {&f.lineage, "lineage"}} {
				if *k.to, err = e.create(atOutput, p, chunkName(i, side, k.name)); err != nil {
					return err
				}
			}
		}
		if c.sides() > 1 {
			dev := newOutputResult()
			e.state.outputs[i].Dev = &dev
		}
	}
	return nil
}

func (e *emitRun) create(stage int, p *part, suffix string) (*atomicfile.File, error) {
	f, err := atomicfile.Create(e.c.chunk(stage, p, suffix))
	if err == nil {
		e.all = append(e.all, f)
	}
	return f, err
}

func newOutputResult() OutputResult {
	return OutputResult{Letters: map[string]int{}, LeftOut: map[string]int{}}
}

// chunkName names a part's chunk of an output.
func chunkName(output, side int, what string) string {
	if side == inDev {
		what = "dev." + what
	}
	return fmt.Sprintf(".%d.%s.jsonl", output, what)
}

// choose sends a record where the mix wants it: it is the at-th of its part.
func (e *emitRun) choose(p *part, at int, r *drydock.Record) error {
	m := e.c.mixed
	switch {
	case m == nil:
		return e.record(r, inTrain)
	case !isSet(m.chosen[p.n-1], at):
		return writeDrop(e.unmixed, e.c.mixer.drop(m, r))
	case isSet(m.dev[p.n-1], at):
		return e.record(r, inDev)
	}
	return e.record(r, inTrain)
}

// record offers one record to every output. It is dropped only when none takes
// it, for the reason of the first. Every output keeps a list of what it left
// out, so that its own sums close, too.
func (e *emitRun) record(r *drydock.Record, side int) error {
	taken := false
	left := make([]*drydock.Drop, len(e.c.emits))
	for i, o := range e.c.emits {
		rows, err := o.emitter.Emit(e.buf[:0], e.written(o, r))
		if errors.As(err, &left[i]) {
			continue
		}
		if err != nil {
			return fmt.Errorf("record %s: %w", r.ID, err)
		}
		e.buf = rows
		taken = true
		if err := e.rowsOf(i, side, r, rows); err != nil {
			return err
		}
	}
	e.state.sums.In++
	for i, d := range left {
		if d == nil {
			continue
		}
		c := *d
		c.Record, c.Step = r, StageOutput
		if taken {
			c.Reason, c.Detail = provenance.WrittenElsewhere, d.Reason
		}
		e.state.outputs[i].LeftOut[c.Reason]++
		if err := writeDrop(e.left[i], &c); err != nil {
			return err
		}
	}
	if taken {
		e.state.sums.Out++
		return nil
	}
	d := *left[0]
	d.Record, d.Step = r, StageOutput
	e.state.sums.Add(drydock.Sums{Dropped: map[string]int{d.Reason: 1}})
	return writeDrop(e.drops, &d)
}

// written is a record as an output writes it: training rows may be asked to
// escape control tokens.
func (e *emitRun) written(o *output, r *drydock.Record) *drydock.Record {
	e.escaped = false
	if _, trains := o.builder.(emit.Trained); trains && e.c.r.cfg.SpecialTokens == "escape" {
		r, e.escaped = emit.EscapeSpecials(r)
	}
	return r
}

// escapedFlag marks rows in which control tokens were escaped, in the lineage.
const escapedFlag = "special_tokens_escaped"

func writeDrop(w io.Writer, d *drydock.Drop) error {
	b, err := appendDrop(nil, d, nil)
	if err == nil {
		_, err = w.Write(b)
	}
	return err
}

// rowsOf writes the rows of one record, each with its sidecar and its lineage.
func (e *emitRun) rowsOf(i, side int, r *drydock.Record, rows []byte) error {
	files, res := &e.files[i][side], &e.state.outputs[i]
	if side == inDev {
		res = res.Dev
	}
	if _, err := files.rows.Write(rows); err != nil {
		return err
	}
	for k, how := range e.c.emits[i].emitter.Describe(r) {
		end := bytes.IndexByte(rows, '\n') + 1
		row := rows[:end]
		rows = rows[end:]
		if _, err := files.sidecar.Write(emit.AppendSidecar(nil, r, how)); err != nil {
			return err
		}
		res.Rows++
		res.Longest = max(res.Longest, utf8.RuneCount(row))
		l := provenance.LineageOf(r)
		l.ID, l.Row = how.RowID, provenance.RowHash(row)
		if e.c.sides() > 1 {
			l.Split = splitNames()[side]
		}
		if e.escaped {
			l.Flags = append(l.Flags, escapedFlag)
		}
		if q := r.Question; q != nil && len(q.Answer) > 0 && len(q.Options) > 0 {
			l.Answer = printedAnswer(q, how)
			if q.Kind == drydock.Single && k == 0 {
				res.Letters[fmt.Sprintf("%d:%s", len(q.Options), l.Answer)]++
			}
		}
		b, err := drydock.MarshalJSON(l)
		if err != nil {
			return err
		}
		if _, err := files.lineage.Write(append(b, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// printedAnswer is a question's answer in the letters of its row.
func printedAnswer(q *drydock.Question, how emit.Emitted) (letters string) {
	for _, a := range q.Answer {
		for _, m := range how.Letters {
			if m.From == a {
				a = m.To
				break
			}
		}
		letters += a
	}
	return letters
}

// joinOutputs puts the chunks of every output together and fills in the
// stage's result. It returns the files written.
func (c *corpus) joinOutputs(ctx context.Context, res *StageResult, in int) ([]string, error) {
	for _, s := range c.outs {
		res.Sums.Add(s.sums)
	}
	if res.Sums.In != in {
		return nil, fail.Bug(fmt.Errorf("output: %d records came, %d were kept", res.Sums.In, in))
	}
	var files []string
	for i, o := range c.emits {
		row, err := c.joinRows(i, inTrain, o.shape, o.path(), func(s *outState) *OutputResult { return &s.outputs[i] })
		if err != nil {
			return nil, err
		}
		for _, s := range c.outs {
			for k, v := range s.outputs[i].LeftOut {
				row.LeftOut[k] += v
			}
		}
		if c.sides() > 1 {
			if row.Dev, err = c.joinRows(i, inDev, o.shape, o.devPath(), func(s *outState) *OutputResult { return s.outputs[i].Dev }); err != nil {
				return nil, err
			}
		}
		if err := c.contain(ctx, i, row); err != nil {
			return nil, err
		}
		infos, err := c.trainerFiles(i, row)
		if err != nil {
			return nil, err
		}
		for _, info := range infos {
			res.Files = append(res.Files, relative(c.r.base, info))
		}
		left := c.stages[atOutput].Path(fmt.Sprintf("left-%d.jsonl", i))
		if _, _, err := concat(left, c.chunks(atOutput, chunkName(i, inTrain, "left"))); err != nil {
			return nil, err
		}
		files = append(files, left)
		for side, f := range row.sides() {
			for _, part := range f.files() {
				files = append(files, inside(c.r.base, part.Path))
				res.Files = append(res.Files, part.Path)
			}
			if f.RowsFile != "" {
				files = append(files, inside(c.r.base, f.RowsFile))
				res.Files = append(res.Files, f.RowsFile)
			}
			files = append(files, inside(c.r.base, f.Sidecar), c.stages[atOutput].Path(lineageName(i, side)))
			res.Files = append(res.Files, f.Sidecar)
		}
		res.Output = append(res.Output, *row)
	}
	return files, nil
}

// sides are the files of an output: that of training, and that of dev where there
// is one.
func (o *OutputResult) sides() []*OutputResult {
	if o.Dev == nil {
		return []*OutputResult{o}
	}
	return []*OutputResult{o, o.Dev}
}

// lineageName names the lineage of an output's file in the stage's folder.
func lineageName(output, side int) string {
	if side == inDev {
		return fmt.Sprintf("lineage-%d.dev.jsonl", output)
	}
	return fmt.Sprintf("lineage-%d.jsonl", output)
}

// joinRows puts the chunks of one file together with its sidecar and lineage.
func (c *corpus) joinRows(i, side int, shape, path string, of func(*outState) *OutputResult) (*OutputResult, error) {
	row := newOutputResult()
	sidecar := sidecarOf(path)
	if side == inDev && path == c.r.cfg.Output[i].path() { // a folder holds both
		sidecar = beside(path, ".dev.sidecar.jsonl")
	}
	row.Shape, row.Path, row.Sidecar = shape, filepath.ToSlash(path), filepath.ToSlash(sidecar)
	for _, s := range c.outs {
		p := of(s)
		row.Rows += p.Rows
		row.Longest = max(row.Longest, p.Longest)
		for k, v := range p.Letters {
			row.Letters[k] += v
		}
	}
	o := c.r.cfg.Output[i]
	if o.kind() != rowfile.JSONL {
		row.RowsFile = filepath.ToSlash(o.rowsPath(side))
	}
	data := inside(c.r.base, o.rowsPath(side))
	size, rows, err := concat(data, c.chunks(atOutput, chunkName(i, side, "rows")))
	if err != nil {
		return nil, err
	}
	if rows != row.Rows {
		return nil, fail.Bug(fmt.Errorf("output %s: %d lines for %d rows", path, rows, row.Rows))
	}
	row.Bytes = size
	for to, what := range map[string]string{
		inside(c.r.base, sidecar):                     "sidecar",
		c.stages[atOutput].Path(lineageName(i, side)): "lineage",
	} {
		if _, _, err := concat(to, c.chunks(atOutput, chunkName(i, side, what))); err != nil {
			return nil, err
		}
	}
	lineage := c.stages[atOutput].Path(lineageName(i, side))
	if err := c.packRows(i, side, &row, [3]string{data, inside(c.r.base, sidecar), lineage}); err != nil {
		return nil, err
	}
	if row.Packed != nil {
		info, err := os.Stat(data)
		if err != nil {
			return nil, err
		}
		row.Bytes = info.Size()
	}
	row.SHA256, err = runstore.HashFile(data)
	return &row, err
}
