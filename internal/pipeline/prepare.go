package pipeline

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/parallel"
	"github.com/drydock-ml/drydock/internal/runstore"
)

// runUnits works through the units that are not finished, and takes the
// sketches of those that are where the corpus stages need them.
func (r *runner) runUnits(ctx context.Context, jobs []*unitJob) (cached int, err error) {
	var done, hits atomic.Int64
	r.parts = make([]*part, len(jobs))
	for i, j := range jobs {
		r.parts[i] = j.part
	}
	force := r.forced(StageSources, StageSteps)
	err = parallel.Each(ctx, r.opt.Workers, len(jobs), func(ctx context.Context, i int) error {
		j := jobs[i]
		sketch := r.corpus.sketch(i)
		if !force && j.part.load(j.key) {
			hits.Add(1)
			if sketch == nil {
				return nil
			}
			for recs, err := range j.part.batches(ctx) {
				if err != nil {
					return err
				}
				if err := sketch(ctx, recs); err != nil {
					return err
				}
			}
			return nil
		}
		if err := r.runUnit(ctx, j, sketch); err != nil {
			return err
		}
		r.tell(Event{Type: "progress", Stage: StageSources, Done: int(done.Add(1)), Total: len(jobs)})
		return nil
	})
	return int(hits.Load()), err
}

// finishPrepare adds up the parts, writes both stages' files and reports them.
func (r *runner) finishPrepare(ctx context.Context, stage runstore.Stage, whole string, cached int, took func() float64) error {
	if err := removeStrays(stage, len(r.parts)); err != nil {
		return err
	}
	src := StageResult{Name: StageSources, Status: StatusDone, Sums: &drydock.Sums{}, Kinds: map[string]int{}, key: whole}
	steps := StageResult{Name: StageSteps, Status: StatusDone, Sums: &drydock.Sums{}, key: whole}
	if cached == len(r.parts) && cached > 0 {
		src.Status, steps.Status = StatusCached, StatusCached
		src.Reason, steps.Reason = "unchanged", "unchanged"
	}
	r.sumInputs(&src)
	src.Fixes = r.fixResult()
	var err error
	if src.Images, err = r.copyImages(ctx); err != nil {
		return err
	}
	if src.Conflicts, err = r.conflicts(ctx); err != nil {
		return err
	}
	r.noteConflicts(&src)
	for _, s := range r.steps {
		steps.Steps = append(steps.Steps, StepResult{Name: s.name})
	}
	for _, p := range r.parts {
		for i, s := range p.meta.Steps {
			steps.Steps[i].Sums.Add(s.Sums)
		}
	}
	steps.Sums = chain(src.Sums.Out, steps.Steps)
	for _, s := range []*drydock.Sums{src.Sums, steps.Sums} {
		if err := s.Close(); err != nil {
			return fail.Bug(err)
		}
	}
	if err := r.writeDrops(stage, steps.Steps); err != nil {
		return err
	}
	seconds := took()
	src.Seconds, steps.Seconds = seconds, 0
	sources := r.stage(StageSources)
	for _, s := range []struct {
		stage  runstore.Stage
		result *StageResult
	}{{sources, &src}, {stage, &steps}} {
		if err := writeStats(s.stage, *s.result.Sums); err != nil {
			return err
		}
		d, err := s.stage.Finish(r.project, whole, []string{s.stage.Path("stats.json"), s.stage.Path("dropped.jsonl")})
		if err != nil {
			return err
		}
		s.result.done = d.Files
		if err := r.done(*s.result); err != nil {
			return err
		}
	}
	return nil
}

// chain makes one sum of steps that ran one after the other.
func chain(in int, steps []StepResult) *drydock.Sums {
	out := &drydock.Sums{In: in, Out: in, Dropped: map[string]int{}}
	for _, s := range steps {
		out.Made += s.Sums.Made
		out.Merged += s.Sums.Merged
		out.Out = s.Sums.Out
		for k, v := range s.Sums.Dropped {
			out.Dropped[k] += v
		}
	}
	return out
}

// sumInputs fills in the sources stage from the parts, file by file, and
// collects what could not be read.
func (r *runner) sumInputs(src *StageResult) {
	next := 0
	for i := range r.inputs {
		in := &r.inputs[i]
		row := InputResult{
			Source: in.src.Name, File: in.name, License: in.src.License, Lang: in.src.Lang,
			Kinds: map[string]int{}, Dropped: map[string]int{},
		}
		if in.file != nil {
			row.SHA256, row.Format, row.Bytes = in.file.SHA256, in.format.Name, in.file.Size
		}
		failed := false
		if in.err != nil {
			e := asPartial(in.name, in.err)
			row.Error = &Note{File: in.name, Code: "unreadable", En: e.In(msg.En), Zh: e.In(msg.Zh)}
			r.partial = append(r.partial, e)
		}
		for ; next < len(r.parts) && r.parts[next].meta.Key != "" && r.partOf(next, in); next++ {
			m := &r.parts[next].meta
			src.Sums.Add(m.Sources)
			row.Records += m.Sources.Out
			for k, v := range m.Kinds {
				row.Kinds[k] += v
				src.Kinds[k] += v
			}
			for k, v := range m.Sources.Dropped {
				row.Dropped[k] += v
			}
			row.Sections = addSections(row.Sections, m.Sections)
			row.Settled += m.Settled
			for _, n := range m.Notes {
				src.Notes = append(src.Notes, Note{in.name, n.Code, n.En, n.Zh})
				if n.Damage {
					r.partial = append(r.partial, fail.New(fail.Partial, msg.Text{"%s", "%s"}, msg.Text{n.En, n.Zh}))
					continue
				}
				r.warnNote(n)
			}
			if m.Error != nil {
				row.Error = &Note{File: in.name, Code: "unreadable", En: m.Error.En, Zh: m.Error.Zh}
				e := fail.New(fail.Partial, msg.Text{"%s", "%s"}, msg.Text{m.Error.En, m.Error.Zh})
				for h := 0; h+1 < len(m.Error.Hints); h += 2 {
					e.Hint(msg.Text{"%s", "%s"}, msg.Text{m.Error.Hints[h], m.Error.Hints[h+1]})
				}
				r.partial = append(r.partial, e)
			}
			failed = failed || m.Failed && m.Error == nil
		}
		if row.Error == nil && !failed && row.Records == 0 && len(row.Dropped) == 0 {
			e := fail.New(fail.Partial, msg.Text{"%s: there was nothing to read in it", "%s：其中没有可读的内容"}, in.name)
			row.Error = &Note{File: in.name, Code: "nothing", En: e.In(msg.En), Zh: e.In(msg.Zh)}
			r.partial = append(r.partial, e)
		}
		if failed {
			e := fail.New(fail.Partial, msg.Text{
				"%s: %d {block|blocks} could not be made records (%s)",
				"%s：有 %d 个块未能成为记录（%s）",
			}, in.name, (drydock.Sums{Dropped: row.Dropped}).DroppedTotal(), counts(row.Dropped))
			if len(row.Sections) > 0 {
				r.hintReview(e)
			} else {
				e.Hint(msg.Text{"each stands in %s with its reason and place", "每一块及其原因、位置都在 %s 中"}, r.dropFile)
			}
			r.partial = append(r.partial, e)
		}
		r.proveSections(in.name, row.Sections, row.Settled, src)
		src.Inputs = append(src.Inputs, row)
	}
}

// sameNotes is how often a note of one code is shown; a shelf of files often
// has the same to say.
const sameNotes = 3

// warnNote shows a note unless enough of its kind were; all are in the result.
func (r *runner) warnNote(n noteRow) {
	if r.noted == nil {
		r.noted = map[string]int{}
	}
	r.noted[n.Code]++
	switch c := r.noted[n.Code]; {
	case c <= sameNotes:
		r.warn(msg.Text{n.En, n.Zh})
	case c == sameNotes+1:
		r.warn(msg.Text{
			"more notes of this kind (" + n.Code + ") are not shown; --json has them all",
			"同类提示（" + n.Code + "）不再逐条显示；--json 中有全部内容",
		})
	}
}

func (r *runner) partOf(n int, in *opened) bool { return r.owner[n] == in }

// writeDrops gathers the parts' drops into the dropped.jsonl of their stages.
func (r *runner) writeDrops(stage runstore.Stage, steps []StepResult) error {
	own := map[string]bool{}
	for _, s := range steps {
		own[s.Name] = true
	}
	sources := r.stage(StageSources)
	if err := sources.Reset(); err != nil {
		return err
	}
	first, err := atomicfile.Create(sources.Path("dropped.jsonl"))
	if err != nil {
		return err
	}
	defer first.Abort()
	second, err := atomicfile.Create(stage.Path("dropped.jsonl"))
	if err != nil {
		return err
	}
	defer second.Abort()
	for _, p := range r.parts {
		err := eachLine(p.path(".dropped.jsonl"), func(line []byte) error {
			step, err := dropStep(line)
			if err != nil {
				return err
			}
			w := first
			if own[step] {
				w = second
			}
			_, err = w.Write(line)
			return err
		})
		if err != nil {
			return err
		}
	}
	if err := first.Commit(); err != nil {
		return err
	}
	return second.Commit()
}

// removeStrays removes the parts of units that are gone.
func removeStrays(stage runstore.Stage, parts int) error {
	names, err := filepath.Glob(stage.Path("part-*"))
	if err != nil {
		return err
	}
	for _, name := range names {
		var n int
		if !partNumber(filepath.Base(name), &n) || n > parts {
			if err := os.Remove(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// planPrepare says what pass 1 would do.
func (r *runner) planPrepare(jobs []*unitJob, stage runstore.Stage, took func() float64) error {
	s := StageResult{Name: StageSources, Status: StatusPlanned, Seconds: took()}
	ready := 0
	r.parts = make([]*part, len(jobs))
	for i, j := range jobs {
		r.parts[i] = j.part
		if !r.forced(StageSources, StageSteps) && j.part.load(j.key) {
			ready++
		}
	}
	switch {
	case ready == len(jobs) && ready > 0:
		s.Status, s.Reason = StatusCached, "unchanged"
	case ready > 0:
		s.Reason = "some units are new or changed"
	default:
		s.Reason = "not done yet"
		if _, done := stage.Done(); done {
			s.Reason = "sources, steps or options changed"
		}
	}
	for i := range r.inputs {
		in := &r.inputs[i]
		row := InputResult{Source: in.src.Name, File: in.name}
		if in.err != nil {
			e := asPartial(in.name, in.err)
			row.Error = &Note{File: in.name, Code: "unreadable", En: e.In(msg.En), Zh: e.In(msg.Zh)}
			r.partial = append(r.partial, e)
		} else {
			row.SHA256, row.Format, row.Bytes = in.file.SHA256, in.format.Name, in.file.Size
			row.Parser = r.plannedParser(in)
		}
		s.Inputs = append(s.Inputs, row)
	}
	if err := r.done(s); err != nil {
		return err
	}
	s.Name, s.Inputs, s.Seconds = StageSteps, nil, 0
	for _, st := range r.cfg.Steps {
		s.Steps = append(s.Steps, StepResult{Name: st.name})
	}
	return r.done(s)
}

// plannedParser names who would take a file. A file that cannot be read now
// will say so when it is run.
func (r *runner) plannedParser(in *opened) string {
	ctx := context.Background()
	doc := in.format.Document(format.Unit{File: in.file, End: in.file.Size, Line: 1}, nil)
	if rows, err := recordRows(ctx, doc); err == nil && rows {
		return "records"
	}
	if _, name, err := r.parserFor(ctx, in.src.As, doc); err == nil {
		return name
	}
	return ""
}
