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
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/runstore"
	"github.com/drydock-ml/drydock/provenance"
)

// sidecarOf names the file that holds what a row of path cannot.
func sidecarOf(path string) string { return strings.TrimSuffix(path, ".jsonl") + ".sidecar.jsonl" }

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
	rows    []*atomicfile.File
	sidecar []*atomicfile.File
	lineage []*atomicfile.File
	left    []*atomicfile.File // what each output left out
	drops   *atomicfile.File
	buf     []byte
}

func (c *corpus) emitPart(ctx context.Context, p *part, s *partState) (*outState, error) {
	e := &emitRun{c: c, state: &outState{outputs: make([]OutputResult, len(c.emits))}}
	var all []*atomicfile.File
	create := func(suffix string) (*atomicfile.File, error) {
		f, err := atomicfile.Create(c.chunk(2, p, suffix))
		if err == nil {
			all = append(all, f)
		}
		return f, err
	}
	defer func() {
		for _, f := range all {
			f.Abort()
		}
	}()
	var err error
	if e.drops, err = create(".dropped.jsonl"); err != nil {
		return nil, err
	}
	for i := range c.emits {
		e.state.outputs[i] = OutputResult{Letters: map[string]int{}, LeftOut: map[string]int{}}
		for _, k := range []struct {
			to     *[]*atomicfile.File
			suffix string
		}{{&e.rows, "rows"}, {&e.sidecar, "sidecar"}, {&e.lineage, "lineage"}, {&e.left, "left"}} {
			f, err := create(fmt.Sprintf(".%d.%s.jsonl", i, k.suffix))
			if err != nil {
				return nil, err
			}
			*k.to = append(*k.to, f)
		}
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
			if err := e.record(r); err != nil {
				return nil, err
			}
		}
		base += len(recs)
	}
	for _, f := range all {
		if err := f.Commit(); err != nil {
			return nil, err
		}
	}
	return e.state, nil
}

// record offers one record to every output. It is dropped only when none takes
// it, for the reason of the first. Every output keeps a list of what it left
// out, so that its own sums close, too.
func (e *emitRun) record(r *drydock.Record) error {
	taken := false
	left := make([]*drydock.Drop, len(e.c.emits))
	for i, o := range e.c.emits {
		rows, err := o.emitter.Emit(e.buf[:0], r)
		if errors.As(err, &left[i]) {
			continue
		}
		if err != nil {
			return fmt.Errorf("record %s: %w", r.ID, err)
		}
		e.buf = rows
		taken = true
		if err := e.rowsOf(i, o, r, rows); err != nil {
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

func writeDrop(w io.Writer, d *drydock.Drop) error {
	b, err := appendDrop(nil, d, nil)
	if err == nil {
		_, err = w.Write(b)
	}
	return err
}

// rowsOf writes the rows of one record, each with its sidecar and its lineage.
func (e *emitRun) rowsOf(i int, o *output, r *drydock.Record, rows []byte) error {
	if _, err := e.rows[i].Write(rows); err != nil {
		return err
	}
	res := &e.state.outputs[i]
	described := o.emitter.Describe(r)
	for k, how := range described {
		end := bytes.IndexByte(rows, '\n') + 1
		row := rows[:end]
		rows = rows[end:]
		if _, err := e.sidecar[i].Write(emit.AppendSidecar(nil, r, how)); err != nil {
			return err
		}
		res.Rows++
		res.Longest = max(res.Longest, utf8.RuneCount(row))
		l := provenance.LineageOf(r)
		l.ID, l.Row = how.RowID, provenance.RowHash(row)
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
		if _, err := e.lineage[i].Write(append(b, '\n')); err != nil {
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
func (c *corpus) joinOutputs(res *StageResult, in int) ([]string, error) {
	for _, s := range c.outs {
		res.Sums.Add(s.sums)
	}
	if res.Sums.In != in {
		return nil, fail.Bug(fmt.Errorf("output: %d records came, %d were kept", res.Sums.In, in))
	}
	var files []string
	for i, o := range c.emits {
		row := OutputResult{
			Shape: o.shape, Path: filepath.ToSlash(o.path()), Sidecar: filepath.ToSlash(sidecarOf(o.path())),
			Letters: map[string]int{}, LeftOut: map[string]int{},
		}
		for _, s := range c.outs {
			p := s.outputs[i]
			row.Rows += p.Rows
			row.Longest = max(row.Longest, p.Longest)
			for k, v := range p.Letters {
				row.Letters[k] += v
			}
			for k, v := range p.LeftOut {
				row.LeftOut[k] += v
			}
		}
		data, side := inside(c.r.base, o.path()), inside(c.r.base, sidecarOf(o.path()))
		size, rows, err := concat(data, c.chunks(2, fmt.Sprintf(".%d.rows.jsonl", i)))
		if err != nil {
			return nil, err
		}
		if rows != row.Rows {
			return nil, fail.Bug(fmt.Errorf("output %s: %d lines for %d rows", o.path(), rows, row.Rows))
		}
		row.Bytes = size
		if _, _, err := concat(side, c.chunks(2, fmt.Sprintf(".%d.sidecar.jsonl", i))); err != nil {
			return nil, err
		}
		files = append(files, data, side)
		for _, kind := range []string{"lineage", "left"} {
			to := c.stages[2].Path(fmt.Sprintf("%s-%d.jsonl", kind, i))
			if _, _, err := concat(to, c.chunks(2, fmt.Sprintf(".%d.%s.jsonl", i, kind))); err != nil {
				return nil, err
			}
			files = append(files, to)
		}
		if row.SHA256, err = runstore.HashFile(data); err != nil {
			return nil, err
		}
		res.Output = append(res.Output, row)
		res.Files = append(res.Files, row.Path, row.Sidecar)
	}
	return files, nil
}
