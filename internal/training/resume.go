package training

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/runstore"
	"github.com/drydock-ml/drydock/launch"
)

// A Resume says from which checkpoint a training goes on, and once its
// first figures came, whether it did.
type Resume struct {
	Checkpoint string `json:"checkpoint"` // from the project
	Step       int    `json:"step"`
	Run        string `json:"run,omitempty"` // that wrote it; "" when not of this project
	// Verdict is continues, restarted, loss_jumped or unseen; "" before the start.
	Verdict string `json:"verdict,omitempty"`
	First   int    `json:"first_step,omitempty"` // the first step that was reported

	from *launch.Checkpoint
}

// fingerprint is what two trainings share that would do the same.
func fingerprint(p *launch.Plan, dataSum string) (string, error) {
	b, err := drydock.MarshalJSON(p)
	if err != nil {
		return "", err
	}
	return runstore.Key(string(b), dataSum), nil
}

// chooseBegin decides whether a training begins anew or goes on, and from where,
// and makes the plan for it. The newest training in the same folder is gone on
// with when it did not end well and data and plan are the same.
func (c *Config) chooseBegin(t *Result, o Options) error {
	data, _ := c.data()
	sum, err := runstore.HashFile(c.Path(data))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // preflight says so, a plan needs none
	}
	if err != nil {
		return err
	}
	t.dataSum = sum
	if t.fingerprint, err = fingerprint(t.Plan, sum); err != nil {
		return err
	}
	switch {
	case o.Resume != "":
		return c.resumeFrom(t, o.Resume)
	case o.Fresh || t.Plan.Output == "":
		return nil
	}
	last, ok, err := c.unfinished(t)
	if err != nil || !ok {
		return err
	}
	if last.Fingerprint != t.fingerprint {
		t.notes = append(t.notes, msg.Phrase{Text: msg.Text{
			"data or settings have changed since run %s was cut: training begins anew", "自运行 %s 中断后，数据或设置已变化：重新开始训练",
		}, Args: []any{last.Run}})
		return nil
	}
	found, broken := launch.LastCheckpoint(c.Path(t.outputDir()))
	for _, b := range broken {
		t.notes = append(t.notes, msg.Phrase{Text: msg.Text{
			"%s is passed over: %s", "跳过 %s：%s",
		}, Args: []any{path.Join(t.outputDir(), filepath.Base(b.Dir)), b.Why}})
	}
	if found == nil {
		return nil
	}
	return c.goOnFrom(t, found, path.Join(t.outputDir(), filepath.Base(found.Dir)), last.Run)
}

// outputDir is the folder of checkpoints, from the project.
func (t *Result) outputDir() string { return path.Join(t.Plan.Dir, t.Plan.Output) }

// unfinished returns the newest training of the plan's folder if it did not end
// well.
func (c *Config) unfinished(t *Result) (runstore.Manifest, bool, error) {
	m, ok, err := c.owner(t)
	if err != nil || !ok {
		return m, false, err
	}
	info, err := runstore.Read(filepath.Join(c.Runs(), m.Run))
	return m, err == nil && info.Status != runstore.Success, err
}

// resumeFrom goes on from the checkpoint the user names.
func (c *Config) resumeFrom(t *Result, dir string) error {
	found, why := launch.ReadCheckpoint(c.Path(dir))
	if why != nil {
		return fail.New(fail.Refused, msg.Text{"%s: %s", "%s：%s"}, dir, why).
			Hint(msg.Text{"name a folder checkpoint-N that the trainer wrote to its end", "请指定训练器完整写出的 checkpoint-N 文件夹"})
	}
	run := ""
	all, err := runstore.Trainings(c.Runs())
	if err != nil {
		return err
	}
	clean := filepath.ToSlash(filepath.Clean(dir))
	for _, m := range all {
		if path.Dir(clean) == path.Join(m.Trainer.Dir, m.Trainer.Output) {
			run = m.Run
			break
		}
	}
	if err := c.goOnFrom(t, found, clean, run); err != nil {
		return err
	}
	if t.Resume == nil {
		return fail.New(fail.Config, msg.Text{"the trainer %s takes no checkpoint to go on from", "训练器 %s 无法指定检查点继续训练"}, t.Trainer).
			Hint(msg.Text{"write {resume} where its argv takes one", "请在 argv 中用 {resume} 标出位置"})
	}
	return nil
}

// goOnFrom makes the plan anew for a checkpoint. A trainer whose plan does not
// change takes none, and is left to do what it does.
func (c *Config) goOnFrom(t *Result, from *launch.Checkpoint, name, run string) error {
	job := t.job
	job.Resume = name
	plan, err := c.Trainer.Plan(job, t.found)
	if err != nil {
		return err
	}
	if same, err := samePlan(&plan, t.Plan); err != nil || same {
		return err
	}
	t.Plan = &plan
	t.Resume = &Resume{Checkpoint: name, Step: from.Step, Run: run, from: from}
	t.notes = append(t.notes, msg.Phrase{Text: msg.Text{"going on from %s (step %d)", "从 %s（第 %d 步）继续"}, Args: []any{name, from.Step}})
	return nil
}

func samePlan(a, b *launch.Plan) (bool, error) {
	x, err := drydock.MarshalJSON(a)
	if err != nil {
		return false, err
	}
	y, err := drydock.MarshalJSON(b)
	return string(x) == string(y), err
}

// setAside moves the checkpoints of an earlier training out of the way of one
// that begins anew: trainers would go on from them, or mix theirs among them.
func (c *Config) setAside(t *Result, run string) error {
	if t.Resume != nil || t.Plan.Output == "" {
		return nil
	}
	job := t.job
	job.Resume = path.Join(t.outputDir(), "checkpoint-1")
	plan, err := c.Trainer.Plan(job, t.found)
	if err != nil {
		return nil // a version that takes no checkpoint finds none either
	}
	if same, err := samePlan(&plan, t.Plan); err != nil || same {
		return err // it is left to do what it does
	}
	output := c.Path(t.outputDir())
	entries, err := os.ReadDir(output)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	owner, ok, err := c.owner(t)
	if err != nil {
		return err
	}
	aside := t.outputDir() + ".before-" + run
	if ok {
		aside = t.outputDir() + "." + owner.Run
	}
	if err := os.Rename(output, c.Path(aside)); err != nil {
		return err
	}
	t.notes = append(t.notes, msg.Phrase{Text: msg.Text{
		"earlier checkpoints are kept in %s", "之前的检查点保存在 %s",
	}, Args: []any{aside}})
	if ok {
		return runstore.MoveOutput(c.Runs(), owner.Run, path.Base(aside))
	}
	return nil
}

// owner returns the newest training whose checkpoints lie in the plan's folder.
func (c *Config) owner(t *Result) (runstore.Manifest, bool, error) {
	all, err := runstore.Trainings(c.Runs())
	if err != nil {
		return runstore.Manifest{}, false, err
	}
	i := slices.IndexFunc(all, func(m runstore.Manifest) bool {
		return m.Trainer.Dir == t.Plan.Dir && m.Trainer.Output == t.Plan.Output
	})
	if i < 0 {
		return runstore.Manifest{}, false, nil
	}
	return all[i], true, nil
}
