package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
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
// takes any file of questions or prompts, which nobody need be able to ask. The
// Benchmark of such a file is nil, and why, which FindBench said, comes back too.
func FindReference(ref, base, home string, own []BenchmarkConfig) (b *Bench, why, err error) {
	b, err = FindBench(ref, base, home, own)
	if err == nil {
		return b, nil, nil
	}
	path := inside(base, ref)
	data, readErr := os.ReadFile(path)
	if readErr != nil {
		return nil, nil, err // no file: what FindBench says is what there is to say
	}
	name := filepath.Base(path)
	items, promptErr := benchmark.ReadPrompts(name, data)
	if promptErr != nil {
		return nil, nil, promptErr
	}
	sum := sha256.Sum256(data)
	return &Bench{
		Name: plainName(strings.TrimSuffix(name, filepath.Ext(name))), Items: items, Path: path, Data: data,
		SHA256: hex.EncodeToString(sum[:]), Canonical: benchmark.CanonicalHash(items),
	}, err, nil
}
