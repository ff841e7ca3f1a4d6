package launch

import (
	"context"
	"encoding/json"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// before reports whether version a, such as 4.3.1 or 1.16.0.dev0, comes before b.
// An unknown one, "", comes before none.
func before(a, b string) bool {
	if a == "" {
		return false
	}
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range max(len(as), len(bs)) {
		x, y := part(as, i), part(bs, i)
		if x != y {
			return x < y
		}
	}
	return false
}

// part is the number that a part of a version begins with.
func part(parts []string, i int) int {
	if i >= len(parts) {
		return 0
	}
	s := parts[i]
	end := 0
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	n, _ := strconv.Atoi(s[:end])
	return n
}

// packagesProgram prints the versions of the Python packages a training depends
// on, without importing one: that alone can take ten seconds.
const packagesProgram = `import importlib.metadata as m, json, sys
found = {}
for name in sys.argv[1:]:
    try:
        found[name] = m.version(name)
    except m.PackageNotFoundError:
        pass
print(json.dumps(found))`

// packages asks the Python that a program of a virtual environment lies beside
// for the versions of packages. It is nil when there is no such Python.
func packages(ctx context.Context, h Host, binary, program string) map[string]string {
	python := "python"
	if runtime.GOOS == "windows" {
		python = "python.exe"
	}
	var tried []string
	for _, dir := range binaryDirs(h, binary) {
		tried = append(tried, filepath.Join(dir, python))
	}
	// what pip installs for a user lies beside no Python, and names it
	for _, path := range append(tried, pythons(h, binary)...) {
		out, err := h.Output(ctx, path, "-c", packagesProgram,
			program, "torch", "transformers", "peft", "trl", "accelerate", "datasets", "deepspeed", "bitsandbytes", "flash-attn")
		if err != nil {
			continue
		}
		var found map[string]string
		if i := strings.LastIndexByte(string(out), '{'); i >= 0 && json.Unmarshal(out[i:], &found) == nil && found[program] != "" {
			return found
		}
	}
	return nil
}

// binaryDirs are the folders the program's Python may lie in: its own, and that
// of what a link in the user's bin folder leads to (pipx, uv tool).
func binaryDirs(h Host, binary string) []string {
	dirs := []string{filepath.Dir(binary)}
	if h.RealPath != nil {
		if real, err := h.RealPath(binary); err == nil && filepath.Dir(real) != dirs[0] {
			dirs = append(dirs, filepath.Dir(real))
		}
	}
	return dirs
}

// look finds a trainer's program and its version. tried is the version that plans
// are tried with, pip what installs it.
func look(ctx context.Context, h Host, program, pkg, title, tried string) (Found, []Problem) {
	binary, err := h.LookPath(program)
	if err != nil {
		return Found{}, []Problem{{fail.New(fail.Trainer, msg.Text{"%s is not found", "找不到 %s"}, program).Because(err).
			Hint(msg.Text{"pip install %s==%s, in an environment that is active", "请在已激活的环境中运行 pip install %s==%s"}, pkg, tried), true}}
	}
	found := Found{Binary: binary, Packages: packages(ctx, h, binary, pkg)}
	found.Version = found.Packages[pkg]
	var problems []Problem
	if found.Version != tried {
		problems = append(problems, Problem{fail.New(fail.Trainer,
			msg.Text{"%s %s is installed; plans are tried with %s", "已安装 %s %s；计划经 %s 验证"}, title, orUnknown(found.Version), tried), false})
	}
	return found, problems
}

// needsGPU warns of a machine without one, unless the training is for the CPU.
func needsGPU(h Host, device string) []Problem {
	if device == deviceCPU {
		return nil
	}
	if _, err := h.LookPath("nvidia-smi"); err != nil {
		return []Problem{{fail.New(fail.Trainer, msg.Text{"no NVIDIA driver is found; Qwen3-8B does not train without a GPU", "找不到 NVIDIA 驱动；没有 GPU 无法训练 Qwen3-8B"}).Because(err), false}}
	}
	return nil
}

// orUnknown follows the name of a program that is there.
func orUnknown(version string) any {
	if version == "" {
		return msg.Text{"of an unknown version", "（版本未知）"}
	}
	return version
}

// versionNote says that a plan is for another version than the one found; nil
// when it is for that one.
func versionNote(title, planned string, f Found) []Note {
	if f.Version == planned {
		return nil
	}
	return []Note{{msg.Phrase{Text: msg.Text{"planned for %s %s; found: %s", "按 %s %s 制定；已安装：%s"}, Args: []any{title, planned, orNone(f)}}}}
}

func orNone(f Found) any {
	switch {
	case f.Version != "":
		return f.Version
	case f.Binary != "":
		return msg.Text{"one of an unknown version", "版本未知"}
	}
	return msg.Text{"none", "无"}
}
