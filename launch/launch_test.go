package launch_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/golden"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/spec"
	"github.com/drydock-ml/drydock/launch"
	"github.com/drydock-ml/drydock/launch/launchtest"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// build makes a trainer from YAML options.
func build(name, options string) (launch.Trainer, fail.List) {
	s, _ := spec.Find(launch.Trainers(), name)
	d := spec.Parse("drydock.yaml", []byte(options))
	t, _ := s.Build(d, d.Root, "trainer "+name)
	return t, d.Findings()
}

func must(t testing.TB, name, options string) launch.Trainer {
	t.Helper()
	tr, bad := build(name, options)
	if len(bad) > 0 {
		t.Fatal(bad)
	}
	return tr
}

func TestLlamafactory(t *testing.T) {
	t.Parallel()
	launchtest.Run(t, must(t, "llamafactory", "method: lora"))
}

func TestLlamafactoryQLoRA(t *testing.T) {
	t.Parallel()
	launchtest.Run(t, must(t, "llamafactory",
		"{method: qlora, rank: 8, alpha: 8, dropout: 0.05, learning_rate: 1e-5, epochs: 1.5, extra: {gradient_checkpointing: true, max_steps: 10, weight_decay: 0.00001, optim: adamw_torch, bf16: false}}"))
}

func TestLlamafactoryFull(t *testing.T) {
	t.Parallel()
	launchtest.Run(t, must(t, "llamafactory", "{method: full, base: models/Qwen3-8B}"))
}

func TestCommand(t *testing.T) {
	t.Parallel()
	launchtest.Run(t, must(t, "command", "{argv: [our-trainer, --data, '{data}', '--out={output}', '{base}', '{contract}', '{seed}', '{\"a\": 1}', \"it's\", ''], env: [WANDB_MODE], follow: [log.jsonl]}"))
}

// A program given by a path counts from the project, and runs in the run's folder.
func TestCommandByPath(t *testing.T) {
	t.Parallel()
	tr := must(t, "command", "argv: [scripts/train.sh]")
	if found, problems := tr.Check(t.Context(), launchtest.Empty()); found.Binary != "scripts/train.sh" || problems != nil {
		t.Errorf("%+v %v", found, problems)
	}
	p, err := tr.Plan(launchtest.Jobs()["default"], launch.Found{})
	if err != nil || p.Argv[0] != "../../../scripts/train.sh" {
		t.Errorf("%v %v", p.Argv, err)
	}
	p, err = must(t, "command", "argv: [/opt/train]").Plan(launchtest.Jobs()["default"], launch.Found{})
	if err != nil || p.Argv[0] != "/opt/train" {
		t.Errorf("%v %v", p.Argv, err)
	}
}

// A command line of a trainer whose settings are known is held to them, in notes.
func TestCommandLineOfAKnownTrainer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		argv string
		note bool
	}{
		{"swift, sft, --model, '{base}', --dataset, '{data}', --max_length, '2048', --truncation_strategy, delete, --strict, 'true', --lora_ran, '8'", true},
		{"/opt/bin/trl, sft, --dtype, bfloat16, --max_length, '512', --lora_alph, '3'", true},
		{"swift, export, --lora_ran, '8'", false},
		{"our-swift, sft, --lora_ran, '8'", false},
	} {
		p, err := must(t, "command", "argv: ["+c.argv+"]").Plan(launchtest.Jobs()["default"], launch.Found{})
		if err != nil {
			t.Fatal(err)
		}
		if (len(p.Notes) == 1) != c.note || strings.Contains(p.Text(msg.En), "has no setting") != c.note {
			t.Errorf("%s: %v", c.argv, p.Notes)
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, options, want string }{
		{"llamafactory", "method: lroa", `did you mean "lora"`},
		{"llamafactory", "rank: 0", "rank must be from 1 to 512"},
		{"llamafactory", "base: Qwen/Qwen3-14B", "base must be Qwen3-8B"},
		{"llamafactory", "extra: {lora_rnk: 8}", "did you mean lora_rank"},
		{"llamafactory", "extra: {lora_rank: 8}", "write the option rank"},
		{"llamafactory", "extra: {enable_thinking: false}", "rows, training and serving agree"},
		{"llamafactory", "extra: {nosuchthing: 1}", "LLaMA-Factory 0.9.5 has no setting nosuchthing"},
		{"llamafactory", "learning_rate: fast", "learning_rate must be a number"},
		{"command", "argv: []", "argv must name a program"},
		{"command", "{}", `needs the option "argv"`},
		{"command", "argv: [a, --hub-token, abcdefgh]", "looks like a secret"},
		{"command", "argv: [a, --api-key=abcdefgh]", "looks like a secret"},
		{"command", "argv: [a, hf_abcdefghijklmnopqrstuvwx]", "looks like a secret"},
		{"command", "{argv: [a], env: [A=b]}", `holds names, not values: "A"`},
	} {
		_, bad := build(c.name, c.options)
		if len(bad) == 0 {
			t.Errorf("%s with %s was built", c.name, c.options)
			continue
		}
		got := bad.Error() + strings.Join(bad[0].Hints(msg.En), " ")
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %q", c.options, got, c.want)
		}
		if strings.Contains(got, "abcdefgh") {
			t.Errorf("the finding repeats the secret: %s", got)
		}
	}
}

// Every key we write is one the program has, every float has a dot, booleans are
// bare, and each contract has its think setting.
func TestLlamafactoryConfig(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		contract emit.Contract
		thinking bool
	}{{"", true}, {emit.EmptyThink, true}, {emit.EmptyThinkMasked, false}, {emit.CoT, true}} {
		for _, method := range []string{"lora", "qlora", "full"} {
			job := launchtest.Jobs()["default"]
			job.Contract = c.contract
			p, err := must(t, "llamafactory", "{method: "+method+", learning_rate: 0.00001}").Plan(job, launch.Found{})
			if err != nil {
				t.Fatal(err)
			}
			var v map[string]any
			if err := yaml.Unmarshal([]byte(p.Files[1].Content), &v); err != nil {
				t.Fatal(err)
			}
			if v["enable_thinking"] != c.thinking || v["template"] != "qwen3" || v["learning_rate"] != 1e-5 || v["mask_history"] != true {
				t.Errorf("%s %s: %v", c.contract, method, v)
			}
			if !strings.Contains(p.Files[1].Content, "learning_rate: 1.0e-05\n") {
				t.Errorf("a float PyYAML takes for text: %s", p.Files[1].Content)
			}
			if _, has := v["lora_dropout"]; has != (method != "full") {
				t.Errorf("%s: lora_dropout written: %v", method, has)
			}
		}
	}
}

func TestDatasetInfoIsASCII(t *testing.T) {
	t.Parallel()
	p, err := must(t, "llamafactory", "{}").Plan(launch.Job{Data: "数据 集/𠮷.jsonl", Dir: "runs/a"}, launch.Found{Version: "0.9.5"})
	if err != nil {
		t.Fatal(err)
	}
	info := p.Files[0].Content
	if i := strings.IndexFunc(info, func(r rune) bool { return r > 126 }); i >= 0 {
		t.Errorf("not ASCII at %d: %s", i, info)
	}
	var v map[string]struct {
		File string `json:"file_name"`
	}
	if err := json.Unmarshal([]byte(info), &v); err != nil || v["drydock"].File != "../../数据 集/𠮷.jsonl" {
		t.Errorf("%v, %v", v, err)
	}
	if p.Notes != nil {
		t.Errorf("notes for the version plans are tried with: %v", p.Notes)
	}
}

func TestLlamafactoryAcceptedConfigIsWhatWeWrite(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(golden.RealData(t, "trainers-real", "configs", "lf.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var accepted map[string]any
	if err := yaml.Unmarshal(b, &accepted); err != nil {
		t.Fatal(err)
	}
	p, err := must(t, "llamafactory", "{}").Plan(launch.Job{Data: "data/a.jsonl", Dir: "runs/a", Contract: emit.EmptyThinkMasked, Seed: 42}, launch.Found{})
	if err != nil {
		t.Fatal(err)
	}
	var ours map[string]any
	if err := yaml.Unmarshal([]byte(p.Files[1].Content), &ours); err != nil {
		t.Fatal(err)
	}
	for _, k := range []string{"stage", "do_train", "finetuning_type", "lora_rank", "lora_target", "template", "enable_thinking", "cutoff_len", "overwrite_output_dir", "save_strategy", "plot_loss", "report_to", "learning_rate", "lr_scheduler_type", "warmup_ratio", "bf16", "seed", "ddp_timeout"} {
		if d := cmp.Diff(accepted[k], ours[k]); d != "" {
			t.Errorf("%s differs from the configuration the program took:\n%s", k, d)
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	host := func(output string, gpu bool) launch.Host {
		return launch.Host{
			LookPath: func(name string) (string, error) {
				if name == "nvidia-smi" && !gpu {
					return "", errors.New("none")
				}
				return "/bin/" + name, nil
			},
			Output: func(context.Context, ...string) ([]byte, error) { return []byte(output), nil },
		}
	}
	lf := must(t, "llamafactory", "{}")
	found, problems := lf.Check(t.Context(), host("| Welcome to LLaMA Factory, version 0.9.5  |", true))
	if found.Version != "0.9.5" || found.Binary != "/bin/llamafactory-cli" || len(problems) != 0 {
		t.Errorf("%+v %v", found, problems)
	}
	found, problems = lf.Check(t.Context(), host("version 0.9.1", false))
	if found.Version != "0.9.1" || len(problems) != 2 || problems[0].Fatal || problems[1].Fatal {
		t.Errorf("%+v %v", found, problems)
	}
	p, err := lf.Plan(launchtest.Jobs()["default"], found)
	if err != nil || len(p.Notes) != 1 || !strings.Contains(p.Text(msg.En), "planned for LLaMA-Factory 0.9.5; found: 0.9.1") {
		t.Errorf("%v %s", err, p.Text(msg.En))
	}
	if found, problems := must(t, "command", "argv: [prog]").Check(t.Context(), host("", true)); found.Binary != "/bin/prog" || problems != nil {
		t.Errorf("%+v %v", found, problems)
	}
}

func f(x float64) *float64 { return &x }

func TestParse(t *testing.T) {
	t.Parallel()
	tr := must(t, "command", "argv: [a]")
	for _, c := range []struct {
		line string
		want *launch.Event
	}{
		{`{'loss': 2.219, 'grad_norm': 0.5, 'learning_rate': 1.3e-06, 'epoch': 0.01}`, &launch.Event{Loss: f(2.219), GradNorm: f(0.5), LR: f(1.3e-6), Epoch: f(0.01)}},
		{`{'loss': '11.83', 'learning_rate': '5e-05', 'num_tokens': '492', 'epoch': '0.09'}`, &launch.Event{Loss: f(11.83), LR: f(5e-5), Epoch: f(0.09), Tokens: 492}},
		{` 60%|██████    | 6/10 [00:13<00:09,  2.31s/it]{'loss': 1.0, 'epoch': 1}`, &launch.Event{Loss: f(1), Epoch: f(1)}},
		{`{"current_steps": 10, "total_steps": 6750, "loss": 2.2, "lr": 1e-06, "epoch": 0.004, "percentage": 0.15, "elapsed_time": "0:00:32"}`, &launch.Event{Step: 10, MaxSteps: 6750, Loss: f(2.2), LR: f(1e-6), Epoch: f(0.004)}},
		{`{"current_steps": 768, "total_steps": 768, "epoch": 2.99}`, &launch.Event{Step: 768, MaxSteps: 768, Epoch: f(2.99)}},
		{`{"loss": 3.9, "global_step/max_steps": "10/438", "memory(GiB)": 16.38}`, &launch.Event{Step: 10, MaxSteps: 438, Loss: f(3.9), Memory: 16.38}},
		{`{"eval_loss": 0.158, "epoch": 0.2, "global_step/max_steps": "100/438"}`, &launch.Event{Step: 100, MaxSteps: 438, EvalLoss: f(0.158), Epoch: f(0.2)}},
		{` 12%|█▏        | 12/100 [00:10<01:20,  1.10it/s]`, &launch.Event{Step: 12, MaxSteps: 100}},
		{`Loading weights:   4%|▍         | 1/24 [00:00<00:04,  5.46it/s]`, nil},
		{`Generating train split: 64 examples [00:00, 1305.38 examples/s]`, nil},
		{`{'train_runtime': '22.2', 'train_loss': '11.86', 'epoch': '0.15'}`, nil},
		{`{'loss': nan, 'epoch': 0.5}`, &launch.Event{NotFinite: true, Epoch: f(0.5)}},
		{`{"loss": Infinity, "current_steps": 3, "total_steps": 9}`, &launch.Event{NotFinite: true, Step: 3, MaxSteps: 9}},
		{`config {"a": 1}`, nil},
		{`ValueError: {'lora_rnk'}`, nil},
		{``, nil},
	} {
		got, ok := tr.Parse("", []byte(c.line))
		if ok != (c.want != nil) {
			t.Errorf("%s: ok %v", c.line, ok)
			continue
		}
		if ok {
			if d := cmp.Diff(*c.want, got); d != "" {
				t.Errorf("%s\n%s", c.line, d)
			}
		}
	}
}

func TestParseRealLogs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file      []string
		step, max int
		events    int
	}{
		{[]string{"trainers-real", "logs", "llamafactory_trainer_log_with_resume.jsonl"}, 14, 14, 16},
		{[]string{"trainers-real", "logs", "ms-swift_logging_with_resume.jsonl"}, 14, 14, 14},
		{[]string{"trainers-real", "logs", "trl_stdout.txt"}, 10, 10, 10},
		{[]string{"trainers-real", "logs", "axolotl_debug.log"}, 10, 10, 10},
	} {
		t.Run(c.file[2], func(t *testing.T) {
			t.Parallel()
			b, err := os.ReadFile(golden.RealData(t, c.file...))
			if err != nil {
				t.Fatal(err)
			}
			tr := must(t, "llamafactory", "{}")
			events, losses := 0, 0
			var last launch.Event
			s := bufio.NewScanner(bytes.NewReader(bytes.ReplaceAll(b, []byte("\r"), []byte("\n"))))
			s.Buffer(nil, 1<<20)
			for s.Scan() {
				if e, ok := tr.Parse("", s.Bytes()); ok {
					events++
					if e.Loss != nil {
						losses++
					}
					if e.Step > 0 {
						last = e
					}
				}
			}
			if events < c.events || losses < 10 {
				t.Errorf("%d events, %d losses", events, losses)
			}
			if c.step > 0 && last.Step > 0 && (last.Step != c.step || last.MaxSteps != c.max) {
				t.Errorf("ended at %d/%d", last.Step, last.MaxSteps)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`{'loss': 1.5, 'a': 'b'}`, `{"loss": "2", "x": [1]}`, " 1%|#| 1/2 [", `{'a': {'b': 1}}`, "{'\xff"} {
		f.Add([]byte(s))
	}
	tr, _ := build("llamafactory", "{}")
	f.Fuzz(func(t *testing.T, line []byte) {
		if e, ok := tr.Parse("", line); ok {
			if _, err := json.Marshal(e); err != nil {
				t.Fatal(err)
			}
			if e.Step < 0 || e.MaxSteps < 0 {
				t.Fatalf("%+v from %q", e, line)
			}
		}
	})
}
