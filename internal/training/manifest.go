package training

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/drydock-ml/drydock/internal/runstore"
	"github.com/drydock-ml/drydock/launch"
	"github.com/drydock-ml/drydock/launch/checkpoint"
)

// manifest says what a training depends on.
func (c *Config) manifest(ctx context.Context, env Env, t *Result, info runstore.Info) runstore.Manifest {
	data, contract := c.data()
	m := runstore.Manifest{
		Fingerprint: t.fingerprint,
		Data:        []runstore.FileSum{{Path: data, SHA256: t.dataSum, Bytes: sizeOf(c.Path(data))}},
		Config:      fileSum(c.configName(), c.Source),
		Trainer: runstore.Training{
			Name: t.Trainer, Version: t.Plan.Version, Base: t.job.Base, Contract: string(contract), Seed: c.Seed,
			Argv: t.Plan.Argv, Set: t.Plan.Set, Files: []runstore.FileSum{}, Dir: t.Plan.Dir, Output: t.Plan.Output,
		},
		Environment: environment(ctx, env, t.found.Binary),
		Gates:       []runstore.Gate{}, Lifted: slices.Clone(info.Overrides), Checkpoints: []runstore.CheckpointSum{},
	}
	if m.Trainer.Base == "" {
		m.Trainer.Base = launch.BaseModel
	}
	if m.Lifted == nil {
		m.Lifted = []string{}
	}
	for _, f := range t.Plan.Files {
		m.Trainer.Files = append(m.Trainer.Files, fileSum(f.Name, []byte(f.Content)))
	}
	if repo, ok := env.programs().Repository(ctx, c.Dir); ok {
		m.Code = &runstore.Code{Commit: repo.Commit, Dirty: repo.Dirty}
	}
	for _, g := range t.Gates {
		m.Gates = append(m.Gates, runstore.Gate{Gate: g.Gate, State: g.State, Proof: g.Proof})
	}
	if r := t.Resume; r != nil {
		m.Resumed = &runstore.Resumed{Run: r.Run, Checkpoint: r.Checkpoint, Step: r.Step}
	}
	return m
}

func fileSum(path string, content []byte) runstore.FileSum {
	sum := sha256.Sum256(content)
	return runstore.FileSum{Path: path, SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(content))}
}

func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// environment describes the machine and the trainer's Python. What cannot be
// found out is left empty: a training is not held up by it.
func environment(ctx context.Context, env Env, binary string) runstore.Environment {
	e := runstore.Environment{OS: runtime.GOOS, Arch: runtime.GOARCH, Packages: []string{}, GPUs: []runstore.GPU{}}
	host := env.programs()
	if found, ok := host.Environment(ctx, binary); ok {
		e.Python, e.Torch, e.CUDA, e.Packages = found.Python, found.Torch, found.CUDA, found.Packages
	}
	gpus, err := host.GPUs(ctx)
	if err != nil {
		return e // the tool's complaint stands in the preflight
	}
	for _, g := range gpus {
		e.GPUs = append(e.GPUs, runstore.GPU{Name: g.Name, Memory: g.Memory})
		e.Driver = g.Driver
	}
	return e
}

// checkpoints lists what the training left, under the hashes evaluations know.
func (c *Config) checkpoints(t *Result) []runstore.CheckpointSum {
	out := []runstore.CheckpointSum{}
	if t.Plan.Output == "" {
		return out
	}
	found := left(c.Path(t.outputDir()))
	base, err := filepath.Abs(c.Dir)
	if err != nil {
		return out
	}
	for _, k := range found {
		rel, err := filepath.Rel(base, k.Dir)
		if err != nil {
			rel = k.Dir
		}
		out = append(out, runstore.CheckpointSum{Path: filepath.ToSlash(rel), Step: k.Step, SHA256: k.SHA256, Served: k.Served()})
	}
	return out
}

// left lists the checkpoints in a trainer's output: adapters, or else whole models.
// What cannot be read is none.
func left(output string) []checkpoint.Checkpoint {
	found, err := checkpoint.Find(output, checkpoint.AdapterOptions{})
	if err == nil {
		return found
	}
	models, err := checkpoint.Models(output)
	if err != nil {
		return nil // nothing was written
	}
	if len(models) == 0 && checkpoint.IsModel(output) {
		models = []string{output} // saved at its end only
	}
	for _, dir := range models {
		if m, err := checkpoint.ReadModel(dir); err == nil {
			found = append(found, m)
		}
	}
	return found
}
