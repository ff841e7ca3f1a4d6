// Package launchtest is the contract suite of trainers: a new one's whole test
// begins with one call.
package launchtest

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/golden"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/launch"

	"github.com/google/go-cmp/cmp"
)

// Empty is a host with nothing installed.
func Empty() launch.Host {
	return launch.Host{
		LookPath: func(name string) (string, error) { return "", &exec.Error{Name: name, Err: exec.ErrNotFound} },
		Output: func(context.Context, ...string) ([]byte, error) {
			return nil, errors.New("nothing is installed")
		},
	}
}

// Jobs are the fixed jobs plans are made for.
func Jobs() map[string]launch.Job {
	return map[string]launch.Job{
		"default": {Data: "build/train.jsonl", Dir: "runs/r1/train", Seed: 42},
		"masked":  {Data: "build/train.jsonl", Dir: "runs/r1/train", Contract: "empty-think-masked"},
		"cot":     {Data: "数据 集/训练.jsonl", Dir: "runs/r1/train", Contract: "cot", Base: "/models/Qwen3-8B", Seed: 1<<40 + 7},
	}
}

// Run checks a trainer: plans against golden files, in text and JSON; that
// planning is pure and repeats itself; that a check without the program gives a
// hint; that no plan holds a secret or this machine's paths; that Parse survives any
// line.
func Run(t *testing.T, tr launch.Trainer) {
	t.Helper()
	for name, job := range Jobs() {
		t.Run(name, func(t *testing.T) {
			before := listing(t)
			p, err := tr.Plan(job, launch.Found{})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(before, listing(t)); d != "" {
				t.Errorf("Plan wrote to disk:\n%s", d)
			}
			again, err := tr.Plan(job, launch.Found{})
			if d := cmp.Diff(p, again); d != "" || err != nil {
				t.Errorf("a second plan differs: %v\n%s", err, d)
			}
			if p.Trainer != tr.Name() || len(p.Argv) == 0 || p.Files == nil || p.Follow == nil || p.Env == nil || p.Set == nil {
				t.Errorf("the plan lacks its trainer, its program, or a list: %+v", p)
			}
			for _, n := range p.Env {
				if strings.Contains(n, "=") {
					t.Errorf("Env holds a value: %q", n)
				}
			}
			b, err := drydock.MarshalJSON(p)
			if err != nil || !json.Valid(b) {
				t.Fatal(err)
			}
			golden.Equal(t, ".txt", []byte(p.Text(msg.En)+"\n"+p.Text(msg.Zh)+"\n"+string(b)+"\n"))
		})
	}
	t.Run("another base is refused", func(t *testing.T) {
		for _, base := range []string{"Qwen/Qwen3-8B-Base", "Qwen/Qwen3-14B", "models/other"} {
			job := Jobs()["default"]
			job.Base = base
			if _, err := tr.Plan(job, launch.Found{}); err == nil {
				t.Errorf("a plan was made for %s", base)
			}
		}
	})
	t.Run("check without the program", func(t *testing.T) {
		found, problems := tr.Check(t.Context(), Empty())
		if found.Binary != "" || len(problems) == 0 {
			t.Fatalf("found %+v, problems %v", found, problems)
		}
		for _, p := range problems {
			if len(p.Hints(msg.En)) == 0 || len(p.Hints(msg.Zh)) == 0 {
				t.Errorf("no hint: %v", p)
			}
		}
	})
	t.Run("parse survives", func(t *testing.T) {
		for _, line := range []string{"", "{", "{}", "{'", "{'a", "{'loss': }", "{'loss': nan}", `{"loss": {"a": 1}}`, "\xff{'loss': 1}", "100%|", "{'loss': 1", strings.Repeat("{", 1000)} {
			tr.Parse("", []byte(line))
			tr.Parse("x.jsonl", []byte(line))
		}
	})
}

// listing names what lies in the working folder, which the test owns.
func listing(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}
