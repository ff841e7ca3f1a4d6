package pipeline

import (
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

// FindReference is [FindBench] for what data is only checked against: besides
// benchmarks it takes any file of questions or prompts.
func FindReference(ref, base, home string, own []BenchmarkConfig) (*Bench, error) {
	return FindBench(ref, base, home, own)
}
