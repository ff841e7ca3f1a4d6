package cli

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/launch"
	"github.com/drydock-ml/drydock/launch/feed"
	"github.com/drydock-ml/drydock/launch/parity"
)

// lintTraining looks at a trainer's configurations, and at training rows as it
// feeds them. Of a training file of LLaMA-Factory without errors, the rows it names
// are looked at, too.
func lintTraining(ctx context.Context, a *app, o LintOptions) error {
	if !slices.Contains(feed.Trainers(), o.Trainer) {
		return oneOf("--trainer", o.Trainer, feed.Trainers()...)
	}
	configs, rows := o, o
	configs.Files, rows.Files = nil, nil
	for _, name := range o.Files {
		if !isConfig(name) {
			rows.Files = append(rows.Files, name)
			continue
		}
		found, err := a.lintConfig(name, o.Trainer, "")
		if err != nil {
			return err
		}
		names := o.Trainer == "llamafactory" && filepath.Base(name) != emit.DatasetInfoName
		if !names || len(found) > 0 {
			configs.Files = append(configs.Files, name)
		}
		if names {
			rows.Files = append(rows.Files, name)
		}
	}
	if len(configs.Files) > 0 {
		if err := a.lintConfigs(configs, ""); err != nil || len(rows.Files) == 0 {
			return err
		}
	}
	return lintRows(ctx, a, rows)
}

// lintRows looks at training rows as a trainer feeds them: what template check
// finds, of several files, also as annotations.
func lintRows(ctx context.Context, a *app, o LintOptions) error {
	if len(o.Files) == 0 {
		return fail.New(fail.Usage, msg.Text{"--trainer wants FILE: training rows", "--trainer 需要 FILE：训练数据"})
	}
	const places = 10
	f, err := a.feeding(TemplateCheckOptions{Train: o.Files[0], Contract: o.Contract, Trainer: o.Trainer, trainerGiven: true, MaxLength: o.MaxLength, Show: places})
	if err != nil {
		return err
	}
	for _, name := range o.Files[1:] {
		f.data = append(f.data, launch.Dataset{File: name})
	}
	ans, err := a.checkFeeding(ctx, f)
	if err != nil {
		return err
	}
	switch {
	case o.Format == "github":
		for _, r := range ans.Files {
			for _, x := range r.Findings {
				a.annotate(r.File, x)
			}
		}
	case o.Format == "json" && !a.term.JSON():
		if err := a.term.Value(ans); err != nil {
			return err
		}
	default:
		if err := a.answer(ans); err != nil {
			return err
		}
	}
	return ans.verdict()
}

// annotate writes the places of a finding as workflow commands.
func (a *app) annotate(file string, f parity.Finding) {
	level := map[parity.Severity]string{parity.Error: "error", parity.Warning: "warning", parity.Note: "notice"}[f.Severity]
	for _, p := range f.Places {
		text := f.In(a.lang)
		for _, s := range []string{p.Row, p.Pointer, p.In(a.lang)} {
			if s != "" {
				text += ": " + s
			}
		}
		a.term.Println(githubAnnotation(level, finding{File: file, Line: p.Line, Column: 1, Message: text, Hint: f.FixIn(a.lang)}))
	}
}
