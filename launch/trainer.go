// Package launch plans and runs trainers. A [Trainer] turns a [Job] into a
// [Plan]: the program to start, the files it reads and the places to watch. A
// plan touches nothing, so it can be shown, compared and stored; [Run] carries
// it out.
package launch

import (
	"context"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// BaseModel is the model the challenge allows.
const BaseModel = "Qwen/Qwen3-8B"

// A Trainer knows one training program. It is safe for concurrent use.
type Trainer interface {
	Name() string
	// Check looks for what the trainer needs. Problems say what is missing and
	// how to mend it; they stop nothing by themselves.
	Check(ctx context.Context, h Host) (Found, []Problem)
	// Plan says what would be done, for the version found. It is pure: it
	// touches no disk and no network and reads no environment.
	Plan(Job, Found) (Plan, error)
	// Parse reads a line of the trainer's output, or of a followed file, whose
	// name is from ("" for the output). ok is false for lines without figures.
	Parse(from string, line []byte) (e Event, ok bool)
}

// A Host is the machine as a check sees it.
type Host struct {
	// LookPath finds a program, as exec.LookPath does.
	LookPath func(name string) (string, error)
	// Output runs a program that only reports and returns what it printed.
	Output func(ctx context.Context, argv ...string) ([]byte, error)
	// RealPath follows links, as filepath.EvalSymlinks does. Nil: there are none.
	RealPath func(name string) (string, error)
}

// Local is the machine drydock runs on.
func Local() Host {
	return Host{
		LookPath: exec.LookPath,
		Output: func(ctx context.Context, argv ...string) ([]byte, error) {
			return exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput()
		},
		RealPath: filepath.EvalSymlinks,
	}
}

// Found is what a check found. The zero Found is a trainer not looked for.
type Found struct {
	Binary  string `json:"binary,omitempty"`  // path of the program
	Version string `json:"version,omitempty"` // as the program says it; "" when unknown
	// Packages are the versions of what it depends on, by the name in the Python
	// package index; nil when unknown.
	Packages map[string]string `json:"packages,omitempty"`
}

// A Problem is something a trainer needs and the machine lacks.
type Problem struct {
	*fail.Error
	Fatal bool // the trainer cannot start
}

// A Job is one training to be done. Paths are as the user knows them; relative
// ones count from the project.
type Job struct {
	Data     string        // file of training rows
	Dir      string        // folder of the run: configuration, logs, checkpoints
	Base     string        // model name or folder; "" is BaseModel
	Contract emit.Contract // what the rows and the loss hold; "" is empty-think
	Seed     uint64        // of the run; trainers take what fits of it
	// Resume is the checkpoint folder to go on from, whole as [LastCheckpoint]
	// found it; "" begins at step 0. Plans name it to the trainer, also where the
	// trainer would choose one by itself: it would choose a broken one too.
	Resume string
}

// base returns the base model and refuses any but Qwen3-8B: what is trained on
// another model cannot be submitted. A folder is known by its name only, since
// planning reads no disk; the checkpoint's own checks look inside.
func (j Job) base() (string, error) {
	if j.Base == "" {
		return BaseModel, nil
	}
	for part := range strings.SplitSeq(filepath.ToSlash(j.Base), "/") {
		// a plain name, and the name of a folder in the Hugging Face cache
		if strings.EqualFold(part, "Qwen3-8B") || strings.EqualFold(part, "models--Qwen--Qwen3-8B") {
			return j.Base, nil
		}
	}
	return "", fail.New(fail.Config, msg.Text{"the base model %q is not Qwen3-8B", "基座模型 %q 不是 Qwen3-8B"}, j.Base).
		Hint(msg.Text{"write %s, or a folder that is named Qwen3-8B", "请写 %s，或名为 Qwen3-8B 的文件夹"}, BaseModel)
}

func (j Job) contract() (emit.Contract, error) {
	if j.Contract == "" {
		return emit.EmptyThink, nil
	}
	for _, c := range append(emit.Contracts(), emit.Plain) {
		if c == j.Contract {
			return c, nil
		}
	}
	return "", fail.New(fail.Config, msg.Text{"there is no template contract %q", "不存在模板约定 %q"}, j.Contract)
}

// fromDir returns p as it is written in a file that lies in dir, or in a command
// that runs there: relative where both are, so that plans name no machine.
func fromDir(dir, p string) string {
	if filepath.IsAbs(p) || path.IsAbs(p) {
		return filepath.ToSlash(p)
	}
	rel, err := filepath.Rel(dir, p)
	if err != nil { // dir is absolute and p is not
		return filepath.ToSlash(p)
	}
	return filepath.ToSlash(rel)
}
