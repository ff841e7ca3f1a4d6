package benchmark

import (
	"io/fs"
	"path"

	"github.com/drydock-ml/drydock/data"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// All returns the shipped benchmarks in the order of their names.
func All() []Benchmark {
	var out []Benchmark
	for _, p := range Packs() {
		c, err := New(p)
		if err != nil { // a shipped pack that does not build is a bug, found by the tests
			panic(fail.Bug(err))
		}
		out = append(out, c)
	}
	return out
}

// Packs returns the shipped packs in the order of their names.
func Packs() []*Pack {
	names, err := fs.Glob(data.Benchmarks, "benchmarks/*.yaml")
	if err != nil {
		panic(fail.Bug(err))
	}
	var out []*Pack
	for _, name := range names {
		src, err := fs.ReadFile(data.Benchmarks, name)
		if err == nil {
			var p *Pack
			if p, err = ParsePack(path.Base(name), src, nil); err == nil {
				out = append(out, p)
				continue
			}
		}
		panic(fail.Bug(err))
	}
	return out
}

// ShippedPack finds a shipped pack by name; it fits ParsePack's base.
func ShippedPack(name string) (*Pack, bool) {
	for _, p := range Packs() {
		if p.Name == name {
			return p, true
		}
	}
	return nil, false
}

// Lookup finds a shipped benchmark by "name" or "name@revision".
func Lookup(ref string) (Benchmark, error) {
	r, err := ParseRef(ref)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, b := range All() {
		have := b.Ref()
		names = append(names, have.String())
		if have.Name != r.Name {
			continue
		}
		if r.Revision == "" || r.Revision == have.Revision {
			return b, nil
		}
	}
	return nil, fail.New(fail.Usage, msg.Text{"no benchmark %q", "没有评测集 %q"}, ref).
		Hint(msg.Text{"there are: %s", "可用评测集：%s"}, msg.List(names)).
		Hint(msg.Text{"drydock bench add NAME FILE registers your own", "drydock bench add NAME FILE 可登记自己的评测集"})
}
