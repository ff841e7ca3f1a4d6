package launch

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// An Environment is the Python a trainer runs in. What could not be found out is
// empty.
type Environment struct {
	Python   string   `json:"python"`
	Torch    string   `json:"torch"`
	CUDA     string   `json:"cuda"`     // that torch was built for
	Packages []string `json:"packages"` // name==version, sorted, as pip freeze writes them
}

// freezeProgram prints what is installed without importing any of it: importing
// torch alone can take ten seconds. pip need not be there; uv's environments have
// none. torch/version.py holds nothing but assignments.
const freezeProgram = `import importlib.metadata as m, json, os, platform
found = {d.metadata["Name"]: d.version for d in m.distributions() if d.metadata["Name"]}
cuda = None
try:
    d = m.distribution("torch")
    scope = {}
    exec(open(d.locate_file(os.path.join("torch", "version.py"))).read(), scope)
    cuda = scope.get("cuda")
except Exception:
    pass
print(json.dumps({"python": platform.python_version(), "torch": found.get("torch", ""), "cuda": cuda or "",
    "packages": sorted(n + "==" + v for n, v in found.items())}))`

// Environment asks the Python of a trainer's program what it is. ok is false when
// no Python lies beside the program, which then is none of Python's.
func (h Host) Environment(ctx context.Context, binary string) (e Environment, ok bool) {
	for _, python := range pythons(h, binary) {
		out, err := h.Output(ctx, python, "-c", freezeProgram)
		if err != nil {
			continue
		}
		// warnings of the interpreter stand before it
		i := strings.Index(string(out), `{"python"`)
		if i >= 0 && json.Unmarshal(out[i:], &e) == nil {
			return e, true
		}
	}
	return Environment{}, false
}

// pythons returns where the Python of a program may be: the program itself, the
// one its first line names, or the one of the virtual environment it lies in; also
// of what a link in the user's bin folder leads to.
func pythons(h Host, binary string) []string {
	if binary == "" {
		return nil
	}
	if isPython(binary) {
		return []string{binary}
	}
	name := "python"
	if runtime.GOOS == "windows" {
		name = "python.exe"
	}
	paths := []string{binary}
	if h.RealPath != nil {
		if real, err := h.RealPath(binary); err == nil && real != binary {
			paths = append(paths, real)
		}
	}
	var out []string
	for _, path := range paths {
		if python := interpreter(path); isPython(python) {
			out = append(out, python)
		}
		dir := filepath.Dir(path)
		if _, err := os.Stat(filepath.Join(filepath.Dir(dir), "pyvenv.cfg")); err == nil {
			out = append(out, filepath.Join(dir, name))
		}
	}
	return out
}

func isPython(path string) bool {
	return strings.HasPrefix(strings.ToLower(filepath.Base(path)), "python")
}

// interpreter returns the program that the first line of a script names; "" for
// what is no script.
func interpreter(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	line, _ := bufio.NewReaderSize(f, 512).ReadSlice('\n')
	words := strings.Fields(strings.TrimPrefix(string(line), "#!"))
	if !strings.HasPrefix(string(line), "#!") || len(words) == 0 {
		return ""
	}
	if len(words) > 1 && filepath.Base(words[0]) == "env" {
		return words[1] // looked for where programs are
	}
	return words[0]
}

// A Repository is the state of the version control a folder lies in.
type Repository struct {
	Commit string
	Dirty  bool // files that are tracked differ from the commit
}

// Repository asks git about a folder. ok is false when it lies in no repository,
// or there is no git.
func (h Host) Repository(ctx context.Context, dir string) (r Repository, ok bool) {
	git, err := h.LookPath("git")
	if err != nil {
		return r, false
	}
	head, err := h.Output(ctx, git, "-C", dir, "rev-parse", "HEAD")
	commit := strings.TrimSpace(string(head))
	if err != nil || len(commit) < 40 {
		return r, false
	}
	changed, err := h.Output(ctx, git, "-C", dir, "status", "--porcelain", "--untracked-files=no")
	return Repository{Commit: commit, Dirty: err != nil || len(strings.TrimSpace(string(changed))) > 0}, true
}
