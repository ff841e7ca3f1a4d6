package vllm

import (
	"context"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/launch"
)

// askVersion asks a Python for the versions of vLLM and of what reads its models
// without importing them, which takes seconds.
const askVersion = "import importlib.metadata as m; print(m.version('transformers')); print(m.version('vllm'))"

// Find looks for the program and asks for its version: the Python beside it,
// else the program itself. The version is "" when neither says one; that of
// transformers is among the packages where the Python does.
func Find(ctx context.Context, h launch.Host, program string) (launch.Found, error) {
	words := regexp.MustCompile(`(?m)\b(\d+\.\d+(?:\.\d+)?[0-9A-Za-z.+-]*)\s*$`)
	binary, err := h.LookPath(program)
	if err != nil {
		return launch.Found{}, fail.New(fail.Failed, msg.Text{"%s is not found", "找不到 %s"}, program).Because(err).
			Hint(msg.Text{"pip install vllm==%s, in an environment that is active, or --vllm PATH", "请在已激活的环境中运行 pip install vllm==%s，或使用 --vllm PATH"}, ListedVersion)
	}
	found := launch.Found{Binary: binary}
	python := "python"
	if runtime.GOOS == "windows" {
		python = "python.exe"
	}
	for i, argv := range [][]string{{filepath.Join(filepath.Dir(binary), python), "-c", askVersion}, {binary, "--version"}} {
		out, err := h.Output(ctx, argv...)
		if err != nil {
			if ctx.Err() != nil {
				return found, context.Cause(ctx)
			}
			continue
		}
		if m := words.FindAllSubmatch(out, -1); m != nil {
			found.Version = string(m[len(m)-1][1]) // warnings may stand before it
			if i == 0 && len(m) > 1 {
				found.Packages = map[string]string{"transformers": string(m[len(m)-2][1])}
			}
			break
		}
	}
	return found, nil
}

// A version is a release of vLLM, as far as its options depend on it.
type version struct{ major, minor int }

// parseVersion reads 0.32.0, v0.32.0+cpu, 0.11.1rc2; the listed version for what
// is none.
func parseVersion(s string) version {
	parts := strings.SplitN(strings.TrimPrefix(s, "v"), ".", 3)
	if len(parts) < 2 {
		return parseVersion(ListedVersion)
	}
	major, err := strconv.Atoi(parts[0])
	minor, err2 := strconv.Atoi(parts[1])
	if err != nil || err2 != nil {
		return parseVersion(ListedVersion)
	}
	return version{major, minor}
}

func (v version) before(major, minor int) bool {
	return v.major < major || v.major == major && v.minor < minor
}

// listed reports whether the options of a version are those of the list.
func (v version) listed() bool { return v == parseVersion(ListedVersion) }
