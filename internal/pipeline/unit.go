package pipeline

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dataprep/question"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/parallel"
	"github.com/drydock-ml/drydock/internal/textnorm"
)

// sourcesStep is the step name of what is dropped before any step ran.
const sourcesStep = "read"

// A unitJob is one unit of one file: the work of one worker at a time.
type unitJob struct {
	part *part
	from *opened
	unit format.Unit
	key  string
}

// runUnit reads, parses and steps one unit into its part, handing every batch
// that is written to sketch.
func (r *runner) runUnit(ctx context.Context, job *unitJob, sketch func(context.Context, []*drydock.Record) error) error {
	w, err := newPartWriter(job.part)
	if err != nil {
		return err
	}
	defer w.abort()
	m := &job.part.meta
	u := &unitRun{r: r, job: job, w: w, sketch: sketch}
	for _, s := range r.steps {
		m.Steps = append(m.Steps, stepSums{Name: s.name})
	}
	for _, n := range job.from.notes {
		if job.unit.Index == 0 {
			u.note(n)
		}
	}
	if err := u.read(ctx); err != nil {
		var own *ownError
		switch {
		case errors.Is(err, errLimit):
			return u.finish(ctx)
		case errors.As(err, &own):
			return own.err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case fail.Code(err) == fail.Internal.Code():
			return err
		}
		u.failed(err)
	}
	return u.finish(ctx)
}

// errLimit ends a unit of which enough was read.
var errLimit = errors.New("limit reached")

// finish runs the steps over what is waiting and puts the part in place.
func (u *unitRun) finish(ctx context.Context) error {
	if err := u.flush(ctx); err != nil {
		return err
	}
	if err := u.job.part.meta.Sources.Close(); err != nil {
		return fail.Bug(err)
	}
	return u.w.commit(u.job.key)
}

// An ownError is trouble on this side of the unit: a full disk, a step that
// failed. It ends the run, where trouble of the input ends only the input.
type ownError struct{ err error }

func (e *ownError) Error() string { return e.err.Error() }

func own(err error) error {
	if err == nil {
		return nil
	}
	return &ownError{err}
}

// A unitRun is the state of one unit being worked on.
type unitRun struct {
	r      *runner
	job    *unitJob
	w      *partWriter
	sketch func(context.Context, []*drydock.Record) error
	recs   []*drydock.Record
	files  map[drydock.File]*drydock.File // files that rows name as their origin
	seen   idSet
	// questionNotes are the question parser's, by code.
	questionNotes []countedNote
}

func (u *unitRun) note(n format.Note) {
	m := &u.job.part.meta
	m.Notes = append(m.Notes, noteRow{n.Code, n.In(msg.En), n.In(msg.Zh), n.Damage})
}

// failed records that the unit, or its rest, could not be read.
func (u *unitRun) failed(err error) {
	row := &errorRow{File: u.job.from.name}
	for _, e := range fail.All(err) {
		row.En, row.Zh = join(row.En, e.In(msg.En)), join(row.Zh, e.In(msg.Zh))
		en, zh := e.Hints(msg.En), e.Hints(msg.Zh)
		for i := range en {
			row.Hints = append(row.Hints, en[i], zh[i])
		}
	}
	u.job.part.meta.Error, u.job.part.meta.Failed = row, true
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "\n" + b
}

// read turns the unit into records, by the parser that takes it, or row by row
// where the rows already are records.
func (u *unitRun) read(ctx context.Context) error {
	doc := u.job.from.format.Document(u.job.unit, u.note)
	if k := u.job.from.key; k != nil {
		units, err := k.format.Units(ctx, k.file)
		if err != nil {
			return err
		}
		doc.Key = k.format.Document(units[0], u.note)
	}
	rows, err := recordRows(ctx, doc)
	if err != nil {
		return err
	}
	if rows {
		return u.readRows(ctx, doc)
	}
	p, name, err := u.r.parserFor(ctx, u.job.from.src.As, doc)
	if err != nil {
		return err
	}
	if p == nil {
		return u.notParsed(ctx, doc)
	}
	if name == "parse_questions" {
		m := &u.job.part.meta
		p = question.Watched(p, u.questionNote, func(s question.Part) { m.Sections = append(m.Sections, s) }, u.r.opt.Explain)
		defer u.tellQuestionNotes()
	}
	for rec, err := range p.Parse(ctx, doc) {
		if err := u.take(ctx, rec, err, name); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// questionNote keeps what the question parser has to say, the first of each
// kind and how many there were: a bank says the same of every row.
func (u *unitRun) questionNote(n question.Note) {
	for i := range u.questionNotes {
		if k := &u.questionNotes[i]; k.first.Code == n.Code {
			k.count++
			return
		}
	}
	u.questionNotes = append(u.questionNotes, countedNote{n, 1})
}

type countedNote struct {
	first question.Note
	count int
}

func (u *unitRun) tellQuestionNotes() {
	for _, k := range u.questionNotes {
		text := msg.Text{"%s %s: %s (%d in all)", "%s %s：%s（共 %d 处）"}
		said := func(l msg.Lang) string {
			return text.Format(l, u.job.from.name, k.first.At, k.first.Text.Format(l, k.first.Args...), k.count)
		}
		m := &u.job.part.meta
		m.Notes = append(m.Notes, noteRow{Code: k.first.Code, En: said(msg.En), Zh: said(msg.Zh)})
	}
}

// take counts one thing a parser yields.
func (u *unitRun) take(ctx context.Context, rec *drydock.Record, err error, parser string) error {
	m := &u.job.part.meta
	var d *drydock.Drop
	if errors.As(err, &d) {
		c := *d
		if c.Step == "" {
			c.Step = parser
		}
		u.complete(c.Record)
		revived, settled := u.revive(&c)
		if revived != nil {
			return u.keep(ctx, revived)
		}
		m.Failed = m.Failed || !settled
		u.count(&m.Sources, c.Reason)
		m.Sources.Made++
		return own(u.w.drop(&c))
	}
	if err != nil {
		return err
	}
	u.complete(rec)
	if d := u.fix(rec); d != nil {
		return u.takeReviewed(d)
	}
	return u.keep(ctx, rec)
}

// keep counts a record and hands it to the steps with its batch.
func (u *unitRun) keep(ctx context.Context, rec *drydock.Record) error {
	m := &u.job.part.meta
	m.Sources.Made++
	m.Sources.Out++
	if m.Kinds == nil {
		m.Kinds, m.Langs = map[string]int{}, map[string]int{}
	}
	countKinds(m.Kinds, rec)
	m.Langs[rec.Lang]++
	if u.recs = append(u.recs, rec); len(u.recs) >= batch {
		if err := own(u.flush(ctx)); err != nil {
			return err
		}
	}
	if m.Sources.Out == u.r.opt.Limit {
		return errLimit
	}
	return nil
}

// complete fills in what a parser may leave to the runner.
func (u *unitRun) complete(rec *drydock.Record) {
	if rec == nil {
		return
	}
	file := u.job.from.file.File
	if rec.Origin.File == nil {
		rec.Origin.File = file
	}
	if rec.ID.IsZero() {
		rec.ID = drydock.NewID(rec.Origin.File.Source, rec.Origin.File.Name, rec.Origin.At.String(), plainText(rec))
	}
	// an id names one record; two equal rows at one place are told apart by count
	if n := u.seen.add(rec.ID); n > 0 {
		rec.ID = drydock.NewID(rec.ID.String(), fmt.Sprint(n), "")
		u.seen.add(rec.ID)
	}
	if rec.Lang == "" {
		if rec.Lang = file.Lang; rec.Lang == "" {
			rec.Lang = textnorm.ScriptLang(plainText(rec))
		}
	}
}

// An idSet counts how often an id came. It keeps eight bytes of each, since a unit may
// have millions, and a count of those alone that came twice: that two different ids
// share the eight bytes would cost one of them its plain id, nothing else.
type idSet struct {
	seen  map[uint64]struct{}
	twice map[uint64]int
}

// add takes an id and returns how often it had come before.
func (s *idSet) add(id drydock.ID) int {
	if s.seen == nil {
		s.seen, s.twice = map[uint64]struct{}{}, map[uint64]int{}
	}
	key := binary.LittleEndian.Uint64(id[:8])
	if _, known := s.seen[key]; !known {
		s.seen[key] = struct{}{}
		return 0
	}
	s.twice[key]++
	return s.twice[key]
}

func (u *unitRun) count(s *drydock.Sums, reason string) {
	if s.Dropped == nil {
		s.Dropped = map[string]int{}
	}
	s.Dropped[reason]++
}

// flush runs the steps over the waiting records and writes what is left.
func (u *unitRun) flush(ctx context.Context) error {
	recs := u.recs
	u.recs = nil
	for i, s := range u.r.steps {
		if len(recs) == 0 {
			break
		}
		var err error
		if recs, err = u.step(ctx, s, &u.job.part.meta.Steps[i].Sums, recs); err != nil {
			return err
		}
	}
	if len(recs) == 0 {
		return nil
	}
	m := &u.job.part.meta
	m.Stems = stemsOf(m.Stems, recs)
	if u.sketch != nil {
		if err := u.sketch(ctx, recs); err != nil {
			return err
		}
	}
	return u.w.write(recs)
}

// step runs one step over one batch and proves law 1 for it.
func (u *unitRun) step(ctx context.Context, s namedStep, total *drydock.Sums, in []*drydock.Record) ([]*drydock.Record, error) {
	ids := make([]drydock.ID, len(in))
	for i, r := range in {
		ids[i] = r.ID
	}
	// a step may reuse its input, so the batch is kept for the second try
	kept := slices.Clone(in)
	out, dropped, err := callStep(ctx, s.step, in)
	if err != nil && fail.Code(err) == fail.Internal.Code() {
		return nil, blame(ctx, s, kept, err)
	}
	if err != nil {
		return nil, err
	}
	sums, err := drydock.Account(ids, out, dropped)
	if err != nil {
		return nil, fail.Bug(fmt.Errorf("step %s: %w", s.name, err))
	}
	total.Add(sums)
	for i := range dropped {
		dropped[i].Step = s.name
		if err := u.w.drop(&dropped[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func callStep(ctx context.Context, s drydock.Step, in []*drydock.Record) (out []*drydock.Record, dropped []drydock.Drop, err error) {
	err = parallel.Call(func() (err error) {
		out, dropped, err = s.Do(ctx, in)
		return err
	})
	return out, dropped, err
}

// blame runs a batch that panicked one by one, to name the record.
func blame(ctx context.Context, s namedStep, recs []*drydock.Record, first error) error {
	for _, r := range recs {
		if _, _, err := callStep(ctx, s.step, []*drydock.Record{r}); err != nil {
			name := ""
			if r.Origin.File != nil {
				name = r.Origin.File.Name
			}
			return fail.New(fail.Internal, msg.Text{
				"bug in step %s at record %s (%s %s): %v",
				"步骤 %s 在处理记录 %s（%s %s）时出现内部错误：%v",
			}, s.name, r.ID, name, r.Origin.At, err)
		}
	}
	return first
}
