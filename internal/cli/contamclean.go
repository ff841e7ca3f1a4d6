package cli

import (
	"errors"

	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/pipeline"
	"github.com/drydock-ml/drydock/internal/ui"
)

// contamClean is the cleaned copy that a check writes.
type contamClean struct {
	Clean   string `json:"clean,omitempty"`
	Removed string `json:"removed,omitempty"`
	OnHit   string `json:"on_hit,omitempty"`
	// RowsIn = CleanRows + RemovedRows; the others are parts of these two.
	RowsIn        int `json:"rows_in,omitempty"`
	CleanRows     int `json:"clean_rows,omitempty"`
	RemovedRows   int `json:"removed_rows,omitempty"`
	MaskedRows    int `json:"masked_rows,omitempty"`
	AnnotatedRows int `json:"annotated_rows,omitempty"`
	UnreadRows    int `json:"unread_rows,omitempty"`

	onHitGiven bool // --on-hit stands on the command line
}

func (f flags) contamClean(o *contamClean) {
	f.output(&o.Clean, "clean", "", msg.Text{"write the rows to `FILE` without leaks; one JSONL or JSON input", "将去除泄漏后的数据行写入 `FILE`；仅限一个 JSONL 或 JSON 输入"})
	f.str(&o.OnHit, "on-hit", "", pipeline.OnHitDrop, msg.Text{"with --clean: `drop|mask|annotate|quarantine` rows that leak", "配合 --clean：对泄漏行 `drop|mask|annotate|quarantine`（删除、遮盖、标注或隔离）"})
	f.output(&o.Removed, "removed", "", msg.Text{"with --clean: write the rows that do not stay to `FILE`", "配合 --clean：将未保留的数据行写入 `FILE`"})
}

func (o *contamClean) check() error {
	words := pipeline.OnHits()
	for _, w := range words {
		if o.OnHit != w {
			continue
		}
		switch {
		case o.onHitGiven && o.Clean == "":
			return fail.New(fail.Usage, msg.Text{"--on-hit goes with --clean", "--on-hit 须与 --clean 同用"}).
				Hint(msg.Text{"the data itself is never changed: --clean FILE writes the rows anew", "原数据绝不改动：--clean FILE 另写一份数据行"})
		case o.Removed != "" && o.Clean == "":
			return fail.New(fail.Usage, msg.Text{"--removed goes with --clean", "--removed 须与 --clean 同用"})
		case o.OnHit == pipeline.OnHitQuarantine && o.Clean != "" && o.Removed == "":
			return fail.New(fail.Usage, msg.Text{"--on-hit quarantine needs --removed FILE", "--on-hit quarantine 需要 --removed FILE"})
		}
		return nil
	}
	return oneOf("--on-hit", o.OnHit, words...)
}

func (o *contamClean) named() []namedOutput {
	return []namedOutput{{"--clean", o.Clean}, {"--removed", o.Removed}}
}

// open begins the files and hands them to the check; commit puts them in place,
// and abort, which may follow, does not.
func (o *contamClean) open(a *app, dryRun bool, c *pipeline.ContamCheck) (commit func() error, abort func(), err error) {
	clean, err := atomicfile.CreateUnless(dryRun, o.Clean)
	if err != nil {
		return nil, nil, err
	}
	removed, err := atomicfile.CreateUnless(dryRun, o.Removed)
	if err != nil {
		clean.Abort()
		return nil, nil, err
	}
	if o.Clean != "" {
		c.Clean, c.OnHit = clean, o.OnHit
	}
	if o.Removed != "" {
		c.Removed = removed
	}
	return func() error { return errors.Join(clean.Commit(), removed.Commit()) },
		func() { clean.Abort(); removed.Abort() }, nil
}

// take fills in what was counted.
func (o *contamClean) take(flags contamClean, t *pipeline.ContamTotals, dryRun bool) {
	if flags.Clean == "" {
		return
	}
	*o = contamClean{
		OnHit: flags.OnHit, RowsIn: t.RowsIn, CleanRows: t.CleanRows, RemovedRows: t.RemovedRows,
		MaskedRows: t.MaskedRows, AnnotatedRows: t.AnnotatedRows, UnreadRows: t.UnreadRows,
	}
	if !dryRun {
		o.Clean, o.Removed = flags.Clean, flags.Removed
	}
}

// text prints the sum: in = clean + removed.
func (o *contamClean) text(t *ui.Terminal) {
	if o.Clean == "" {
		return
	}
	t.Print(msg.Text{"clean: %s, %d {row|rows}", "干净数据：%s，%d 行"}, o.Clean, o.CleanRows)
	if o.Removed != "" {
		t.Print(msg.Text{"removed: %s, %d {row|rows}", "移除数据：%s，%d 行"}, o.Removed, o.RemovedRows)
	}
	t.Print(msg.Text{"rows: %d in = %d clean + %d removed", "行数：输入 %d = 保留 %d + 移除 %d"}, o.RowsIn, o.CleanRows, o.RemovedRows)
	for _, n := range []struct {
		count int
		text  msg.Text
	}{
		{o.MaskedRows, msg.Text{"masked among the clean: %d", "保留行中已遮盖：%d"}},
		{o.AnnotatedRows, msg.Text{"annotated among the clean: %d", "保留行中已标注：%d"}},
		{o.UnreadRows, msg.Text{"no JSON among the removed: %d", "移除行中不是 JSON：%d"}},
	} {
		if n.count > 0 {
			t.Print(n.text, n.count)
		}
	}
}
