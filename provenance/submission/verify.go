package submission

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/parallel"
	"github.com/drydock-ml/drydock/internal/runstore"
)

// Options is what Verify may use beside the package.
type Options struct {
	// Benchmark finds the user's own copy of a benchmark by name. nil, or an
	// error that is fs.ErrNotExist: there is none, and the gates that need it say
	// so.
	Benchmark func(ctx context.Context, name string) (Registered, error)
	// Scanner makes what looks into the files of the package for items of an
	// index, with the readers of their formats. nil: they are looked at as bytes.
	Scanner func(*contam.Index) (FileScanner, error)
}

// Registered is a benchmark with its items, in their order.
type Registered struct {
	Benchmark benchmark.Benchmark
	Items     []benchmark.Item
}

// state is what the gates share.
type state struct {
	bundle *bundle
	facts  []facts // as bundle.entries
	opts   Options

	declared bool // submission.yaml is there and valid
	problems fail.List
	decl     Declaration

	bench    benchmark.Benchmark           // nil: unknown
	items    []benchmark.Item              // nil: the user has no copy
	itemsErr error                         // there is a copy, and it cannot be read
	n        int                           // items the benchmark has; 0: unknown
	index    func() (*contam.Index, error) // of items; made once
	reviews  reviews
	verdicts map[string]*Verdict // of the gates that have run
}

func (s *state) factsOf(name string) (facts, bool) {
	i, ok := s.bundle.index[name]
	if !ok {
		return facts{}, false
	}
	return s.facts[i], true
}

// usualBenchmark is what a package is for that does not say.
const usualBenchmark = "maritime_bench"

// lastGate asks whether the others ran.
const lastGate = "P01"

// gates are all rules, in the order of the report. All but lastGate run side by
// side: they only read what they share.
func gates() []gate {
	var out []gate
	for _, list := range [][]gate{packageGates(), reportGates(), gradedGates(), trainGates(), contaminationGates()} {
		out = append(out, list...)
	}
	return out
}

// Verify checks a package, a zip or a folder, against every gate that applies.
// The error is for a package that is not there and for a cancelled context;
// everything else is in the report.
func Verify(ctx context.Context, name string, o Options) (Report, error) {
	b, err := openBundle(name)
	if err != nil {
		return Report{}, err
	}
	defer b.close()
	r, err := verify(ctx, b, o)
	if err != nil || !b.zipped {
		return r, err
	}
	r.SHA256, err = runstore.HashFile(name)
	return r, err
}

func verify(ctx context.Context, b *bundle, o Options) (Report, error) {
	s := &state{bundle: b, opts: o, verdicts: map[string]*Verdict{}}
	s.index = sync.OnceValues(s.newIndex)
	var err error
	if s.facts, err = survey(ctx, b); err != nil {
		return Report{}, err
	}
	if err := s.prepare(ctx); err != nil {
		return Report{}, err
	}
	list := gates()
	verdicts := make([]Verdict, len(list))
	err = parallel.Each(ctx, 0, len(list), func(ctx context.Context, i int) (err error) {
		if list[i].id != lastGate {
			verdicts[i], err = runGate(ctx, list[i], s)
		}
		return err
	})
	if err != nil {
		return Report{}, err
	}
	for i := range list {
		s.verdicts[list[i].id] = &verdicts[i]
	}
	for i, g := range list {
		if g.id == lastGate {
			if verdicts[i], err = runGate(ctx, g, s); err != nil {
				return Report{}, err
			}
		}
	}
	return newReport(s, verdicts), nil
}

// prepare reads the declaration and finds what it names. Where it is missing the
// usual places are tried, so that one missing file does not hide the rest.
func (s *state) prepare(ctx context.Context) error {
	if e, ok := s.bundle.find(declarationName); ok {
		src, err := e.read(1 << 20)
		if err != nil {
			s.problems = append(s.problems, fail.New(fail.Submission, msg.Text{"%v", "%v"}, err))
		} else {
			s.decl, s.problems = ParseDeclaration(declarationName, src)
			s.declared = len(s.problems) == 0
		}
	}
	s.guess()
	d := &s.decl.Benchmark
	if _, err := benchmark.ParseRef(d.Name); err != nil { // from a file name, then
		d.Name = usualBenchmark
	}
	if b, err := benchmark.Lookup(d.Name); err == nil {
		s.bench = b
	}
	if s.opts.Benchmark != nil {
		r, err := s.opts.Benchmark(ctx, d.Name)
		switch {
		case err == nil:
			s.items = r.Items
			if r.Benchmark != nil {
				s.bench = r.Benchmark
			}
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !errors.Is(err, fs.ErrNotExist):
			s.itemsErr = err // the gates that need them say so
		}
	}
	// what drydock knows of a benchmark goes before what the package says
	switch {
	case s.bench != nil && s.bench.Info().Items > 0:
		s.n = s.bench.Info().Items
	case s.items != nil:
		s.n = len(s.items)
	default:
		s.n = d.N
	}
	s.loadReviews()
	return nil
}

// guess fills what the declaration leaves out from the layout.
func (s *state) guess() {
	s.guessResults()
	s.guessReport()
	s.guessTrain()
}

func (s *state) guessResults() {
	d := &s.decl
	if d.Results.Reviews == "" {
		d.Results.Reviews = s.firstOf(
			func(n string) bool { return strings.HasSuffix(n, "_default.jsonl") && path.Dir(n) == "results" },
			// EvalScope's own folders, as they are
			func(n string) bool {
				return strings.HasSuffix(n, "_default.jsonl") && strings.Contains("/"+n, "/reviews/")
			},
			func(n string) bool {
				return strings.HasSuffix(n, "_default.jsonl") && !strings.Contains(n, "predictions")
			},
		)
	}
	if d.Benchmark.Name == "" {
		d.Benchmark.Name = strings.TrimSuffix(path.Base(d.Results.Reviews), "_default.jsonl")
		if d.Results.Reviews == "" {
			d.Benchmark.Name = usualBenchmark
		}
	}
	if d.Results.Reviews == "" {
		d.Results.Reviews = "results/" + d.Benchmark.Name + "_default.jsonl"
	}
	if d.Results.Report != "" {
		return
	}
	usual := "results/reports/" + d.Benchmark.Name + ".json"
	d.Results.Report = s.firstOf(
		func(n string) bool { return n == usual },
		func(n string) bool {
			return path.Base(n) == d.Benchmark.Name+".json" && strings.Contains("/"+n, "/reports/")
		},
	)
	if d.Results.Report == "" {
		d.Results.Report = usual
	}
}

func (s *state) guessReport() {
	if s.decl.Report != "" {
		return
	}
	document := func(n string) bool {
		ext := strings.ToLower(path.Ext(n))
		return ext == ".docx" || ext == ".pdf"
	}
	s.decl.Report = s.firstOf(
		func(n string) bool { return document(n) && strings.HasPrefix(n, "report/") },
		func(n string) bool { return document(n) && !strings.Contains(n, "/") },
	)
}

func (s *state) guessTrain() {
	t := &s.decl.Train
	if len(t.Data) == 0 {
		for _, e := range s.bundle.under("train/data") {
			if !strings.Contains(path.Base(e.name), ".sidecar.") {
				t.Data = append(t.Data, e.name)
			}
		}
	}
	for _, f := range []struct {
		to    *string
		usual string
	}{
		{&t.Fields, "train/fields.md"},
		{&t.Sources, "train/sources.md"},
		{&t.Scripts, "train/scripts"},
		{&t.Provenance, "train/provenance"},
	} {
		if *f.to == "" {
			*f.to = f.usual
		}
	}
	t.Provenance = strings.TrimSuffix(t.Provenance, "/")
}

// firstOf returns the first file that fits the first test which any file fits.
func (s *state) firstOf(tests ...func(name string) bool) string {
	for _, fits := range tests {
		for _, e := range s.bundle.entries {
			if fits(e.name) {
				return e.name
			}
		}
	}
	return ""
}
