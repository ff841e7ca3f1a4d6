package runstore

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// A Registered benchmark is the user's own copy of one, kept by content hash
// under HOME/benchmarks/NAME/SHA256/. drydock ships no benchmark's items.
type Registered struct {
	Name   string `json:"name"`
	Like   string `json:"like"` // benchmark whose prompt and rule it has: maritime_bench
	File   string `json:"file"` // base name of the copy
	SHA256 string `json:"sha256"`
	Items  int    `json:"items"`
	Dir    string `json:"-"`
}

// metaName is the file beside the items that describes them.
const metaName = "bench.json"

// Path returns where the items lie.
func (r Registered) Path() string { return filepath.Join(r.Dir, r.File) }

// AddBenchmark copies data into the store. It is the caller who has read the
// items and knows how many they are. Adding the same bytes again changes
// nothing but makes them the current copy.
func AddBenchmark(home string, r Registered, data []byte) (Registered, error) {
	if r.Name == "" || strings.ContainsAny(r.Name, `/\:`) || strings.HasPrefix(r.Name, ".") {
		return r, fail.New(fail.Usage, msg.Text{"%q cannot be the name of a benchmark", "%q 不能用作评测集名称"}, r.Name).
			Hint(msg.Text{"use letters, digits, - and _", "请使用字母、数字、- 和 _"})
	}
	if r.File == "" || r.File == metaName || filepath.Base(r.File) != r.File {
		return r, fail.Bug(fmt.Sprintf("a benchmark cannot be kept under the file name %q", r.File))
	}
	r.Dir = filepath.Join(home, "benchmarks", r.Name, r.SHA256)
	if err := atomicfile.WriteFile(r.Path(), data); err != nil {
		return r, err
	}
	if err := writeJSON(filepath.Join(r.Dir, metaName), r); err != nil {
		return r, err
	}
	// the last one added is the one a bare name means
	return r, atomicfile.WriteFile(filepath.Join(home, "benchmarks", r.Name, "current"), []byte(r.SHA256+"\n"))
}

// FindBenchmark returns the current copy of a name. ok is false when the user
// has registered none.
func FindBenchmark(home, name string) (r Registered, ok bool, err error) {
	dir := filepath.Join(home, "benchmarks", filepath.Base(name))
	cur, err := os.ReadFile(filepath.Join(dir, "current"))
	if os.IsNotExist(err) {
		return r, false, nil
	}
	if err != nil {
		return r, false, err
	}
	r, err = readRegistered(filepath.Join(dir, filepath.Base(strings.TrimSpace(string(cur)))))
	return r, err == nil, err
}

// ListBenchmarks returns the current copy of every registered name, by name.
func ListBenchmarks(home string) ([]Registered, error) {
	entries, err := os.ReadDir(filepath.Join(home, "benchmarks"))
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Registered
	for _, e := range entries {
		r, ok, err := FindBenchmark(home, e.Name())
		if err != nil {
			return out, err
		}
		if ok {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b Registered) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

func readRegistered(dir string) (Registered, error) {
	var r Registered
	b, err := os.ReadFile(filepath.Join(dir, metaName))
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(b, &r); err != nil {
		return r, fail.New(fail.Failed, msg.Text{"%s: %v", "%s：%v"}, filepath.Join(dir, metaName), err).
			Hint(msg.Text{"register the benchmark again: drydock bench add", "请重新登记评测集：drydock bench add"})
	}
	r.Dir = dir
	return r, nil
}
