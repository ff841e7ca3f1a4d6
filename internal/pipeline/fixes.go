package pipeline

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/overlay"
	"github.com/drydock-ml/drydock/dataprep/question"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// reasonReviewed is why a question is left out that a person does not want.
const reasonReviewed = "reviewed_out"

// A FixResult says what became of the fixes of a review.
type FixResult struct {
	File    string `json:"file"`
	SHA256  string `json:"sha256"`
	Applied int    `json:"applied"`
	// Stale are the ids of fixes about files that were read, whose text is read
	// otherwise now: they changed nothing.
	Stale []string `json:"stale"`
	Other int      `json:"other"` // fixes about other files
}

// readFixes reads the file of fixes that the configuration names.
func (r *runner) readFixes() error {
	if r.cfg.Fixes == "" {
		return nil
	}
	data, err := os.ReadFile(inside(r.base, r.cfg.Fixes))
	if err != nil {
		return fail.New(fail.Config, msg.Text{"fixes: %v", "fixes：%v"}, err).
			Hint(msg.Text{"drydock question review writes such a file", "drydock question review 会写出该文件"})
	}
	o, bad := overlay.Parse(filepath.Base(r.cfg.Fixes), data)
	if len(bad) > 0 {
		return bad
	}
	r.fixes = o
	return nil
}

// fixesKey is what the fixes add to the key of a unit.
func (r *runner) fixesKey() string {
	if r.fixes == nil {
		return ""
	}
	return r.fixes.SHA256
}

func placeOfRecord(rec *drydock.Record) (sha, at string) {
	if rec.Origin.File != nil {
		sha = rec.Origin.File.SHA256
	}
	return sha, rec.Origin.At.String()
}

// fix changes a question as a person decided. The drop is not nil when they
// decided against it.
func (u *unitRun) fix(rec *drydock.Record) *drydock.Drop {
	if u.r.fixes == nil || rec.Question == nil {
		return nil
	}
	sha, at := placeOfRecord(rec)
	f, n := u.r.fixes.Find(sha, at, overlay.Reading(rec.Question))
	if f == nil {
		return nil
	}
	unanswered := len(rec.Question.Answer) == 0
	if f.Action == overlay.Drop {
		u.fixUsed(n, unanswered)
		return &drydock.Drop{Record: rec, Step: "review", Reason: reasonReviewed, Detail: f.Note}
	}
	q := *rec.Question
	if err := f.Apply(&q); err != nil {
		u.badFix(f, err)
		return nil
	}
	u.fixUsed(n, unanswered)
	rec.Question = &q
	return nil
}

// revive makes a question of what the parser dropped, as a person decided; nil
// when nobody did. settled says that it is to stay dropped, which is no failure.
func (u *unitRun) revive(d *drydock.Drop) (rec *drydock.Record, settled bool) {
	if u.r.fixes == nil || d.Record == nil {
		return nil, false
	}
	sha, at := placeOfRecord(d.Record)
	f, n := u.r.fixes.Find(sha, at, overlay.ReadingOfText(plainText(d.Record)))
	if f == nil {
		return nil, false
	}
	unanswered := slices.Contains([]string{"no_answer", "key_count_mismatch", "key_unused"}, d.Reason)
	if f.Action == overlay.Drop {
		u.fixUsed(n, unanswered)
		return nil, true
	}
	var q drydock.Question
	if d.Record.Question != nil {
		q = *d.Record.Question
	}
	if err := f.Apply(&q); err != nil {
		u.badFix(f, err)
		return nil, false
	}
	u.fixUsed(n, unanswered)
	r := *d.Record
	r.Passage, r.Question = nil, &q
	return &r, false
}

// fixUsed notes that a fix was applied. One about a question without an answer, or
// an answer without a question, settles what the counts of a section lack.
func (u *unitRun) fixUsed(n int, settles bool) {
	m := &u.job.part.meta
	m.Fixed = append(m.Fixed, n)
	if settles {
		m.Settled++
	}
}

// settledBy reports whether as many questions and answers were decided by a person
// as the open sections of a file lack.
func settledBy(open []question.Part, settled int) bool {
	lacks := 0
	for _, p := range open {
		lacks += max(p.Questions, p.Keys) - p.Matched
	}
	return lacks > 0 && lacks <= settled
}

func (u *unitRun) badFix(f *overlay.Fix, err error) {
	text := msg.Text{"%s: fix of %s: %v", "%s：对 %s 的修正：%v"}
	args := []any{u.r.fixes.Name, f.ID, err}
	m := &u.job.part.meta
	m.Notes = append(m.Notes, noteRow{Code: "fix_incomplete", En: text.Format(msg.En, args...), Zh: text.Format(msg.Zh, args...), Damage: true})
}

// fixResult says what became of the fixes, once every unit is done.
func (r *runner) fixResult() *FixResult {
	if r.fixes == nil {
		return nil
	}
	res := &FixResult{File: r.fixes.Name, SHA256: r.fixes.SHA256, Stale: []string{}}
	used, read := map[int]bool{}, map[string]bool{}
	for _, p := range r.parts {
		for _, n := range p.meta.Fixed {
			used[n] = true
		}
		for _, f := range p.meta.Files {
			read[f.SHA256] = true
		}
	}
	for i := range r.inputs {
		if f := r.inputs[i].file; f != nil {
			read[f.SHA256] = true
		}
	}
	for n, f := range r.fixes.Fixes() {
		switch {
		case used[n]:
			res.Applied++
		case !read[f.SHA256]:
			res.Other++
		default:
			res.Stale = append(res.Stale, f.ID)
		}
	}
	if len(res.Stale) > 0 && r.opt.Limit == 0 {
		few := res.Stale[:min(len(res.Stale), 5)]
		r.partial = append(r.partial, fail.New(fail.Partial, msg.Text{
			"%s: %d {fix is|fixes are} about text that is read otherwise now and changed nothing: %s",
			"%s：%d 条修正所针对的内容现在读取结果不同，未生效：%s",
		}, r.fixes.Name, len(res.Stale), msg.List(few)).
			Hint(msg.Text{"decide again with drydock question review", "请用 drydock question review 重新确认"}))
	}
	return res
}

// fixParams names the fixes in the ledger.
func (f *FixResult) params() drydock.RawJSON {
	return drydock.RawJSON(fmt.Sprintf(`{"applied":%d,"sha256":%q,"stale":%d}`, f.Applied, f.SHA256, len(f.Stale)))
}

// takeReviewed counts a question that a person decided against.
func (u *unitRun) takeReviewed(d *drydock.Drop) error {
	m := &u.job.part.meta
	u.count(&m.Sources, d.Reason)
	m.Sources.Made++
	return own(u.w.drop(d))
}
