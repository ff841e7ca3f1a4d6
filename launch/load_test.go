package launch_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/launch"
)

// Every trainer says what its training holds in memory, in the same words for the
// same options; and nothing of a tiny model on a CPU.
func TestPlansSayTheirLoad(t *testing.T) {
	t.Parallel()
	keeps := map[string]string{
		"llamafactory": "disable_gradient_checkpointing: true", "swift": "gradient_checkpointing: false",
		"trl": "gradient_checkpointing: false", "axolotl": "gradient_checkpointing: false",
	}
	for _, tr := range trainers {
		base := launch.Load{Method: "lora", Rank: 16, BatchSize: 4, Tokens: 2048, Devices: 1, Checkpointing: true}
		for options, change := range map[string]func(*launch.Load){
			"{}":                           func(*launch.Load) {},
			"{method: qlora, rank: 8}":     func(l *launch.Load) { l.Method, l.Rank = "qlora", 8 },
			"{method: full}":               func(l *launch.Load) { l.Method = "full" },
			"{method: dpo, batch_size: 2}": func(l *launch.Load) { l.Preference, l.BatchSize = true, 2 },
			"{method: dpo, weights: full}": func(l *launch.Load) { l.Preference, l.Method = true, "full" },
			"{method: pretrain, weights: qlora, max_tokens: 512}": func(l *launch.Load) { l.Method, l.Tokens = "qlora", 512 },
			"{extra: {" + keeps[tr.name] + "}}":                   func(l *launch.Load) { l.Checkpointing = false },
			"{extra: {gradient_checkpointing: true}}":             func(*launch.Load) {},
		} {
			want := base
			change(&want)
			p, err := must(t, tr.name, options).Plan(launch.Job{Data: "build/train.jsonl", Dir: "build/train"}, tr.founds[0])
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(&want, p.Load); d != "" {
				t.Errorf("%s %s: %s", tr.name, options, d)
			}
		}
		p, err := must(t, tr.name, "{device: cpu}").Plan(launch.Job{Data: "build/train.jsonl", Dir: "build/train"}, tr.founds[0])
		if err != nil || p.Load != nil {
			t.Errorf("%s on a CPU: %+v, %v", tr.name, p.Load, err)
		}
	}
}

// What pip installs for a user lies beside no Python, but names the one it is for.
func TestVersionOfAUsersInstallation(t *testing.T) {
	t.Parallel()
	for first, python := range map[string]string{"#!/opt/python3.11\n": "/opt/python3.11", "#!/usr/bin/env python3\n": "python3"} {
		binary := filepath.Join(t.TempDir(), "swift")
		if err := os.WriteFile(binary, []byte(first), 0o755); err != nil {
			t.Fatal(err)
		}
		h := launch.Host{
			LookPath: func(string) (string, error) { return binary, nil },
			Output: func(_ context.Context, argv ...string) ([]byte, error) {
				if argv[0] != python {
					return nil, errors.New("not there")
				}
				return []byte(`{"ms-swift": "4.6.0"}`), nil
			},
		}
		if found, _ := must(t, "swift", "{}").Check(t.Context(), h); found.Version != "4.6.0" {
			t.Errorf("%q: %+v", first, found)
		}
	}
}

// A program that does not tell its version is there all the same.
func TestUnknownVersion(t *testing.T) {
	t.Parallel()
	h := launch.Host{
		LookPath: func(name string) (string, error) { return "/opt/bin/" + name, nil },
		Output:   func(context.Context, ...string) ([]byte, error) { return nil, errors.New("no") },
	}
	tr := must(t, "axolotl", "{}")
	found, problems := tr.Check(t.Context(), h)
	if len(problems) == 0 || !strings.Contains(problems[0].In(msg.En), "axolotl of an unknown version is installed") {
		t.Errorf("problems %v", problems)
	}
	p, err := tr.Plan(launch.Job{Data: "a.jsonl", Dir: "d"}, found)
	if err != nil || len(p.Notes) != 1 || !strings.HasSuffix(p.Notes[0].In(msg.En), "found: one of an unknown version") {
		t.Errorf("notes %v, %v", p.Notes, err)
	}
}

// The processes of several cards meet at a port that must be free.
func TestMeetingPort(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if !launch.PortTaken(port) {
		t.Errorf("nobody seems to listen at %d", port)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if launch.PortTaken(port) {
		t.Errorf("port %d is free again", port)
	}
	environ := []string{"A=1", "MASTER_PORT=" + strconv.Itoa(port)}
	for _, c := range []struct {
		trainer string
		environ []string
		cards   int
		want    int
	}{
		{"trl", nil, 2, 29500},
		{"axolotl", nil, 8, 29500},
		{"axolotl", environ, 8, port},
		{"trl", nil, 1, 0},
		{"llamafactory", nil, 2, 0}, // looks for a free one
		{"llamafactory", environ, 2, port},
		{"swift", environ, 1, 0},
		{"trl", []string{"MASTER_PORT=x"}, 2, 29500},
	} {
		p, err := must(t, c.trainer, "{}").Plan(launch.Job{Data: "a.jsonl", Dir: "d"}, launch.Found{})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.MeetingPort(c.environ, c.cards); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// Where the output names no steps, the state of the last checkpoint does.
func TestStepsOfAnOutputWithoutBars(t *testing.T) {
	t.Parallel()
	p := planOf(t, "barless")
	p.Output = "output"
	var log bytes.Buffer
	res, _, err := run(t, t.Context(), p, launch.Options{Log: &log})
	if err != nil {
		t.Fatal(err, log.String())
	}
	if e := res.Event; e.Step != 2 || e.MaxSteps != 2 || e.Loss == nil || *e.Loss != 0.5 {
		t.Errorf("ended at %+v", e)
	}
}
