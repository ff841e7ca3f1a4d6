package pipeline

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/runstore"
	"github.com/drydock-ml/drydock/launch"
	"github.com/drydock-ml/drydock/provenance/submission"
)

// packPath is where the package is written unless the configuration says.
func (c *Config) packPath() string {
	if c.Submission.Path != "" {
		return c.Submission.Path
	}
	return "build/" + submission.FileName(c.Submission.Team)
}

// runPack builds the challenge package and runs its gates.
func (r *runner) runPack(ctx context.Context) error {
	res := StageResult{Name: StagePack, Status: StatusDone}
	if r.cfg.Submission.Node == nil {
		res.Status, res.Reason = StatusSkipped, "no submission in the configuration"
		return r.done(res)
	}
	if r.opt.DryRun {
		res.Status, res.Reason = StatusPlanned, "follows the evaluation"
		return r.done(res)
	}
	took := r.clock()
	graded := r.gradedEval()
	if graded == nil {
		return fail.New(fail.Config, msg.Text{"%s was not evaluated in this run", "本次运行未评测 %s"}, r.cfg.Submission.Results)
	}
	spec, err := r.packSpec(graded)
	if err != nil {
		return err
	}
	report, err := submission.Pack(ctx, spec, inside(r.base, r.cfg.packPath()))
	if err != nil {
		return err
	}
	res.Pack = &PackResult{Path: r.cfg.packPath(), SHA256: report.SHA256, Summary: report.Summary, Report: &report}
	res.Files = []string{r.cfg.packPath()}
	res.Seconds = took()
	return r.done(res)
}

func (r *runner) gradedEval() *EvalResult {
	s := r.result.Stage(StageEval)
	if s == nil {
		return nil
	}
	i := slices.IndexFunc(s.Eval, func(e EvalResult) bool { return e.Endpoint == r.cfg.Submission.Results })
	if i < 0 {
		return nil
	}
	return &s.Eval[i]
}

func (r *runner) packSpec(graded *EvalResult) (submission.Spec, error) {
	b := r.benches[r.cfg.Eval.Benchmarks[0]]
	ref := b.Benchmark.Ref()
	f := graded.Summary.Files
	s := submission.Spec{
		Team: r.cfg.Submission.Team, Methods: r.cfg.Submission.Methods, BaseModel: launch.BaseModel,
		Benchmark: submission.Benchmark{
			Name: ref.Name, Revision: ref.Revision, N: len(b.Items), SHA256: b.Canonical, Rule: graded.Summary.Rule,
		},
		Model:   graded.Summary.Model,
		Report:  inside(r.base, r.cfg.Submission.Report),
		Reviews: inside(r.base, f.Reviews), Predictions: inside(r.base, f.Predictions), EvalReport: inside(r.base, f.Report),
		Provenance: inside(r.base, ledgerDir),
		TrainDocs:  map[string][]byte{"scripts/" + ConfigName: r.cfg.Source},
		Options:    VerifyOptions(r.base, r.env.Home, r.env.CacheDir, r.cfg.Benchmarks),
	}
	if f.Config != "" {
		s.Configs = []string{inside(r.base, f.Config)}
	}
	for i, o := range r.result.Stage(StageOutput).Output {
		if _, trains := r.cfg.Output[i].builder.(emit.Trained); !trains {
			continue // passages and bare questions train nothing
		}
		for _, f := range o.sides() {
			s.Data = append(s.Data, inside(r.base, f.lines()))
			s.Sidecars = append(s.Sidecars, inside(r.base, f.Sidecar))
		}
	}
	docs := map[string]string{
		"fields.md": "build/fields.md", "fields.zh.md": "build/fields.zh.md",
		"sources.md": "build/sources.md", "sources.zh.md": "build/sources.zh.md",
		"card.en.md": cardStem + ".en.md", "card.zh.md": cardStem + ".zh.md",
	}
	for name, path := range docs {
		text, err := os.ReadFile(inside(r.base, path))
		if err != nil {
			return s, err
		}
		s.TrainDocs[name] = text
	}
	if t := r.result.Stage(StageTrain); t != nil && t.Train != nil && t.Train.Plan != nil {
		s.TrainDocs["scripts/training-plan.txt"] = []byte(t.Train.Plan.Text(msg.En))
		for _, file := range t.Train.Plan.Files {
			s.TrainDocs["scripts/"+file.Name] = []byte(file.Content)
		}
	}
	return s, nil
}

// VerifyOptions let the gates find the user's own copies of benchmarks, those of
// the project in base, then the registered ones, and read the package's files by
// their formats.
func VerifyOptions(base, home, cacheDir string, own []BenchmarkConfig) submission.Options {
	return submission.Options{
		Benchmark: func(_ context.Context, name string) (submission.Registered, error) {
			known := slices.ContainsFunc(own, func(b BenchmarkConfig) bool { return b.Name == name })
			if !known {
				if _, ok, err := runstore.FindBenchmark(home, name); err != nil || !ok {
					if err == nil {
						err = fs.ErrNotExist
					}
					return submission.Registered{}, err
				}
			}
			b, err := FindBench(name, base, home, own)
			if err != nil {
				return submission.Registered{}, err
			}
			return submission.Registered{Benchmark: b.Benchmark, Items: b.Items}, nil
		},
		Scanner: func(ix *contam.Index) (submission.FileScanner, error) { return newPackageScanner(ix, cacheDir) },
	}
}

// PackProject builds the package from what the last run of a project left,
// running what is missing first.
func PackProject(ctx context.Context, cfg *Config, env Env, o Options) (*PackResult, error) {
	if cfg.Submission.Node == nil {
		return nil, fail.New(fail.Config, msg.Text{"%s has no submission", "%s 中没有 submission"}, filepath.Base(cfg.File)).
			Hint(msg.Text{"add submission: {team: …, methods: […], report: …, results: …}", "请加入 submission: {team: …, methods: […], report: …, results: …}"})
	}
	res, err := Run(ctx, cfg, env, o)
	if s := res.Stage(StagePack); s != nil && s.Pack != nil {
		return s.Pack, err
	}
	return nil, err
}
