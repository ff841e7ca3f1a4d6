package launch_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/golden"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/launch"
	"github.com/drydock-ml/drydock/launch/feed"
	"github.com/drydock-ml/drydock/launch/launchtest"

	"go.yaml.in/yaml/v3"
)

func TestSwift(t *testing.T) {
	t.Parallel()
	launchtest.Run(t, must(t, "swift", "{}"))
}

func TestTRL(t *testing.T) {
	t.Parallel()
	launchtest.Run(t, must(t, "trl", "{}"))
}

func TestAxolotl(t *testing.T) {
	t.Parallel()
	launchtest.Run(t, must(t, "axolotl", "{}"))
}

// trainers lists the versions that plans differ for, the tried one first.
var trainers = []struct {
	name   string
	founds []launch.Found
}{
	{"llamafactory", []launch.Found{{Version: "0.9.5"}}},
	{"swift", []launch.Found{{Version: "4.6.0"}, {Version: "4.2.0"}, {Version: "3.9.1"}, {Version: "3.7.0"}}},
	{"trl", []launch.Found{
		{Version: "1.16.0", Packages: map[string]string{"transformers": "5.24.0"}},
		{Version: "1.9.0", Packages: map[string]string{"transformers": "4.57.6"}},
		{Version: "0.19.0", Packages: map[string]string{"transformers": "4.52.0"}},
	}},
	{"axolotl", []launch.Found{{Version: "0.21.0"}, {Version: "0.18.0"}}},
}

// TestPlans writes every plan that differs: trainer, version, method, contract.
func TestPlans(t *testing.T) {
	t.Parallel()
	for _, tr := range trainers {
		for _, options := range []string{
			"method: lora", "method: qlora", "method: full", "{method: lora, device: cpu, max_steps: 10}",
			"method: dpo", "{method: dpo, weights: full}", "method: pretrain", "{method: pretrain, weights: full}",
		} {
			name := tr.name + "/" + strings.NewReplacer("{", "", "}", "", ": ", "-", ", ", "_").Replace(options)
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				var b strings.Builder
				for _, f := range tr.founds {
					for _, c := range []emit.Contract{emit.EmptyThink, emit.EmptyThinkMasked, emit.CoT, emit.Plain} {
						fmt.Fprintf(&b, "=== %s %s\n", f.Version, c)
						p, err := must(t, tr.name, options).Plan(launch.Job{Data: "build/train.jsonl", Dir: "build/train", Contract: c, Seed: 42}, f)
						if err != nil {
							fmt.Fprintf(&b, "%v\n", err)
							continue
						}
						b.WriteString(p.Text(msg.En))
					}
				}
				golden.Equal(t, ".txt", []byte(b.String()))
			})
		}
	}
}

// settingsIn reads what a plan sets, from its files and its command line.
func settingsIn(t *testing.T, p launch.Plan) map[string]any {
	t.Helper()
	out := map[string]any{}
	for _, f := range p.Files {
		if strings.HasSuffix(f.Name, ".yaml") {
			if err := yaml.Unmarshal([]byte(f.Content), &out); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, a := range p.Argv {
		if name, ok := strings.CutPrefix(a, "--"); ok && i+1 < len(p.Argv) {
			out[name] = p.Argv[i+1]
		}
	}
	return out
}

// The settings under which launch/feed was held to the trainers' own ids and
// masks are those that plans write, word for word.
func TestPlansKeepTheFeed(t *testing.T) {
	t.Parallel()
	for _, tr := range trainers {
		for _, c := range []emit.Contract{emit.EmptyThink, emit.EmptyThinkMasked, emit.CoT, emit.Plain} {
			want, err := feed.For(tr.name, c)
			p, perr := must(t, tr.name, "{}").Plan(launch.Job{Data: "build/train.jsonl", Dir: "build/train", Contract: c}, tr.founds[0])
			if (err == nil) != (perr == nil) {
				t.Errorf("%s %s: feed %v, plan %v", tr.name, c, err, perr)
			}
			if err != nil || perr != nil {
				continue
			}
			if want.Version != p.Version {
				t.Errorf("%s: feed of %s, plan of %s", tr.name, want.Version, p.Version)
			}
			text := p.Text(msg.En)
			for _, w := range want.Words {
				switch {
				case w == "rows of prompt and completion":
					if len(p.Derived) != 1 || p.Derived[0].Layout != "prompt_completion" {
						t.Errorf("%s %s: rows are not made into prompt and completion: %+v", tr.name, c, p.Derived)
					}
				case w == "rows of segments":
					if len(p.Derived) != 1 || p.Derived[0].Layout != "segments" {
						t.Errorf("%s %s: rows are not made into segments: %+v", tr.name, c, p.Derived)
					}
				case strings.HasSuffix(w, "in each row"):
					if len(p.Derived) != 1 || !p.Derived[0].NoThinking {
						t.Errorf("%s %s: rows do not say enable_thinking false", tr.name, c)
					}
				case !strings.Contains(text, w):
					t.Errorf("%s %s: the plan does not hold %q", tr.name, c, w)
				}
			}
			if c != emit.EmptyThinkMasked && len(p.Derived) == 1 && p.Derived[0].NoThinking {
				t.Errorf("%s %s: thinking is closed", tr.name, c)
			}
		}
	}
}

// Whatever a plan writes passes the check that a user's own file does.
func TestPlansPassTheCheck(t *testing.T) {
	t.Parallel()
	for _, tr := range trainers {
		for _, method := range []string{"lora", "qlora", "full", "dpo", "pretrain"} {
			p, err := must(t, tr.name, "{method: "+method+", learning_rate: 0.00001}").Plan(launch.Job{Data: "a b/训练.jsonl", Dir: "build/train", Base: "m/Qwen3-8B"}, tr.founds[0])
			if err != nil {
				t.Fatal(err)
			}
			var found launch.Findings
			for _, f := range p.Files {
				if strings.HasSuffix(f.Name, ".yaml") {
					found = append(found, launch.CheckConfig(tr.name, p.Version, f.Name, []byte(f.Content))...)
				}
			}
			if tr.name == "swift" {
				found = launch.CheckArgv(tr.name, p.Version, p.Argv)
			}
			for _, x := range found {
				t.Errorf("%s %s: %s: %v", tr.name, method, x.ID, x.Error)
			}
			v := settingsIn(t, p)
			for _, rate := range []string{"learning_rate"} {
				if s := fmt.Sprint(v[rate]); s != "1e-05" {
					t.Errorf("%s: %s is %q", tr.name, rate, s)
				}
			}
			dropout, written := v["lora_dropout"]
			if method != "full" && (!written || fmt.Sprint(dropout) != "0") {
				t.Errorf("%s %s: dropout %v", tr.name, method, dropout)
			}
		}
	}
}

func TestResume(t *testing.T) {
	t.Parallel()
	job := launch.Job{Data: "build/train.jsonl", Dir: "build/train", Resume: "build/train/output/checkpoint-20"}
	for _, tr := range trainers {
		p, err := must(t, tr.name, "{}").Plan(job, tr.founds[0])
		if err != nil {
			t.Fatal(err)
		}
		if v := settingsIn(t, p)["resume_from_checkpoint"]; v != "output/checkpoint-20" {
			t.Errorf("%s goes on from %v", tr.name, v)
		}
	}
	// TRL 1.9.0 reads the setting and begins at step 0
	_, err := must(t, "trl", "{}").Plan(job, launch.Found{Version: "1.9.0"})
	if err == nil || fail.Code(err) != 1 || !strings.Contains(err.Error(), "begins at step 0") {
		t.Errorf("%v", err)
	}
}

func TestExtraIsWrittenOverOurs(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"llamafactory": "logging_steps: 1\n", "trl": "logging_steps: 1\n", "axolotl": "logging_steps: 1\n", "swift": "--logging_steps 1 ",
	} {
		p, err := must(t, name, "extra: {logging_steps: 1}").Plan(launch.Job{Data: "a.jsonl", Dir: "b"}, launch.Found{})
		if err != nil {
			t.Fatal(err)
		}
		text := p.Text(msg.En)
		if strings.Count(text, "logging_steps") != 1 || !strings.Contains(text, want) {
			t.Errorf("%s:\n%s", name, text)
		}
	}
	p, err := must(t, "swift", "extra: {target_modules: [q_proj, v_proj], model_kwargs: {a: 1e-6, b: x}}").Plan(launch.Job{Data: "a b.jsonl", Dir: "."}, launch.Found{})
	if err != nil {
		t.Fatal(err)
	}
	if i := slices.Index(p.Argv, "--target_modules"); p.Argv[i+1] != "q_proj" || p.Argv[i+2] != "v_proj" || p.Argv[i+3] == "all-linear" {
		t.Errorf("%q", p.Argv)
	}
	if i := slices.Index(p.Argv, "--model_kwargs"); p.Argv[i+1] != `{"a": 1.0e-06, "b": "x"}` {
		t.Errorf("%q", p.Argv[i+1])
	}
	if i := slices.Index(p.Argv, "--dataset"); p.Argv[i+1] != "a b.jsonl" {
		t.Errorf("a path with a space is not one argument: %q", p.Argv)
	}
}
