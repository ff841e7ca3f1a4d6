package pipeline

import (
	"path/filepath"
	"strings"

	"github.com/drydock-ml/drydock/eval/benchmark"
)

// Ref names the benchmark: its own reference where it can be asked, else the
// name of its file.
func (b *Bench) Ref() benchmark.Ref {
	if b.Benchmark == nil {
		return benchmark.Ref{Name: b.Name}
	}
	return b.Benchmark.Ref()
}

// FindReference is [FindBench] for what data is only checked against: it also
// takes any file or data set of questions or prompts, which nobody need be able to
// ask. The Benchmark of such is nil, and why, which FindBench said, comes back too.
func FindReference(ref, base, home string, own []BenchmarkConfig) (b *Bench, why, err error) {
	b, err = FindBench(ref, base, home, own)
	if err == nil {
		return b, nil, nil
	}
	path := inside(base, ref)
	items, sum, promptErr := readPrompts(path)
	switch {
	case promptErr != nil:
		return nil, nil, promptErr
	case items == nil:
		return nil, nil, err // there are none: what FindBench says is what there is to say
	}
	name := filepath.Base(path)
	return &Bench{
		Name: plainName(strings.TrimSuffix(name, filepath.Ext(name))), Items: items, Path: path,
		SHA256: sum, Canonical: benchmark.CanonicalHash(items),
	}, err, nil
}
