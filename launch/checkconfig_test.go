package launch_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/internal/golden"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/launch"
)

// The shortest configurations without a finding.
const (
	goodLF      = "model_name_or_path: Qwen/Qwen3-8B\nstage: sft\ndo_train: true\nfinetuning_type: lora\nlora_rank: 16\nlora_target: all\ntemplate: qwen3\nenable_thinking: true\ncutoff_len: 2048\noutput_dir: out\nlearning_rate: 1.0e-4\n"
	goodSwift   = "model: Qwen/Qwen3-8B\ntuner_type: lora\ntarget_modules: all-linear\ndataset: [a.jsonl]\nmax_length: 2048\ntruncation_strategy: delete\nstrict: true\n"
	goodTRL     = "model_name_or_path: Qwen/Qwen3-8B\ndtype: bfloat16\ndatasets: [{path: json, data_files: a.jsonl, split: train}]\nuse_peft: true\nlora_r: 16\nmax_length: 2048\n"
	goodAxolotl = "base_model: Qwen/Qwen3-8B\nadapter: lora\nlora_r: 16\nlora_target_linear: true\nchat_template: tokenizer_default\ndatasets: [{path: a.jsonl, ds_type: json, type: chat_template}]\nsequence_len: 2048\nexcess_length_strategy: raise\n"
)

// probe is one change to a good configuration and the finding it must bring.
type probe struct {
	change string // "key: value" added or put in place; "-key" taken out
	id     string // "" when it is right
	want   string // in the English text or its hints
}

func TestCheckConfig(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		trainer, version, good string
		probes                 []probe
	}{
		{"llamafactory", "", goodLF, []probe{
			{"seed: 1", "", ""},
			{"lora_rnk: 8", "unknown_setting", "did you mean lora_rank?"},
			{"epochs: 3", "unknown_setting", "did you mean num_train_epochs?"},
			{"train_type: lora", "unknown_setting", "did you mean finetuning_type?"},
			{"sequence_len: 512", "unknown_setting", "did you mean cutoff_len?"},
			{"max_length: 512", "wrong_limit", "cutoff_len"},
			{"template: qwen3x", "bad_value", `did you mean "qwen3"?`},
			{"template: qwen", "S2", "not Qwen3-8B's own"},
			{"template: qwen3_nothink", "S2", "without the think block"},
			{"template: null", "", ""},
			{"finetuning_type: lroa", "bad_value", `did you mean "lora"?`},
			{"stage: dpo\nmask_history: true", "sft_only", "stage dpo"},
			{"train_on_prompt: true", "prompt_in_loss", "questions"},
			{"stage: stf", "bad_value", `did you mean "sft"?`},
			{"lr_scheduler_type: cosin", "bad_value", `"cosine"`},
			{"cutoff_len: abc", "bad_value", "whole number"},
			{"cutoff_len: 0", "bad_value", "at least 1"},
			{"learning_rate: 1e-4", "", ""}, // OmegaConf reads a number
			{"learning_rate: '1e-4'", "bad_value", "without quotes"},
			{"learning_rate: 5", "bad_value", "below 1"},
			{"save_strategy: stepz", "bad_value", `"steps"`},
			{"report_to: nosuch", "bad_value", "nosuch"},
			{"report_to: [wandb, tensorboard]", "", ""},
			{"overwrite_output_dir: true", "S19", "begin at step 0"},
			{"enable_thinking: 'false'", "bad_value", "without quotes"},
			{"enable_thinking: null", "", ""},
			{"enable_thinking: maybe", "bad_value", "true or false"},
			{"lora_alpha: 0", "bad_value", "above 0"},
			{"optim: adamwx", "bad_value", "adamw"},
			{"flash_attn: fa9", "bad_value", "fa2"},
			{"lora_target: nosuch_proj", "bad_value", "no module"},
			{"lora_target: q_proj,v_proj", "", ""},
			{"lora_target: q_prj", "bad_value", `did you mean "q_proj"?`},
			{"bf16: yes", "", ""}, // PyYAML's true
		}},
		{"swift", "", goodSwift, []probe{
			{"lora_rnk: 8", "unknown_setting", "did you mean lora_rank?"},
			{"lora_ran: 8", "unknown_setting", "did you mean lora_rank?"},
			{"train_type: lora", "unknown_setting", "did you mean tuner_type?"},
			{"sft_type: lora", "unknown_setting", "did you mean tuner_type?"},
			{"tuner_type: lroa", "bad_value", `did you mean "lora"?`},
			{"max_length: abc", "bad_value", "whole number"},
			{"loss_scale: nosuch", "bad_value", "loss_scale"},
			{"loss_scale: last_round+ignore_empty_think", "", ""},
			{"truncation_strategy: x", "bad_value", "delete"},
			{"truncation_strategy: right", "S12", "cut"},
			{"-truncation_strategy", "S12", "without a word"},
			{"-strict", "S12", "strict"},
			{"template: nosuch", "bad_value", "template"},
			{"template: qwen3_nothinking", "S2", "think block"},
			{"add_non_thinking_prefix: false", "S2", "think block"},
			{"enable_thinking: false", "no_effect", "changes nothing"},
			{"target_modules: nosuch", "bad_value", "no module"},
			{"strict: maybe", "bad_value", "true or false"},
			{"lr_scheduler_type: cosin", "bad_value", "cosine"},
			{"report_to: nosuch", "bad_value", "nosuch"},
			{"create_checkpoint_symlink: true", "symlink", "exit code 1"},
			{"model: /models/mine", "model_type", "model_type qwen3"},
			{"rlhf_type: dop", "bad_value", `"dpo"`},
			{"beta: 0.1", "unknown_setting", "rlhf"},
		}},
		{"swift", "3.9.1", strings.Replace(goodSwift, "tuner_type", "train_type", 1), []probe{
			{"seed: 1", "", ""},
			{"tuner_type: lora", "unknown_setting", "called train_type"},
		}},
		{"trl", "", goodTRL, []probe{
			{"lora_rnk: 8", "unknown_setting", "did you mean lora_r?"},
			{"lora_alph: 8", "unknown_setting", "did you mean lora_alpha?"},
			{"learning_rate: '1e-4'", "", ""},
			{"max_seq_length: 512", "unknown_setting", "did you mean max_length?"},
			{"warmup_ratio: 0.1", "unknown_setting", "warmup_steps: 0.1"},
			{"torch_dtype: bfloat16", "unknown_setting", "did you mean dtype?"},
			{"overwrite_output_dir: false", "unknown_setting", ""},
			{"lr_scheduler_type: cosin", "bad_value", "cosine"},
			{"dtype: bf17", "bad_value", "bfloat16"},
			{"dtype: float32", "S7", "30.5 GiB"},
			{"-dtype", "S7", "dtype: bfloat16"},
			{"-max_length", "S8", "1024"},
			{"report_to: nosuch", "bad_value", "nosuch"},
			{"lora_target_modules: all-linear", "", ""},
			{"datasets: [{path: json, data_file: a.jsonl}]", "unknown_setting", "data_files"},
			{"truncation_mode: keep_middle", "bad_value", "keep_start"},
			{"gradient_checkpointing: 'false'", "", ""},
			{"chat_template_kwargs: {enable_thinking: false}", "unknown_setting", ""},
			{"num_processes: 2", "unknown_setting", ""},
			{"resume_from_checkpoint: out/checkpoint-5", "", ""},
		}},
		{"trl", "1.9.0", goodTRL, []probe{
			{"warmup_ratio: 0.1", "", ""},
			{"resume_from_checkpoint: out/checkpoint-5", "S10", "begins at step 0"},
		}},
		{"axolotl", "", goodAxolotl, []probe{
			{"lora_rnk: 8", "unknown_setting", "ignores it"},
			{"lora_target_modul: x", "unknown_setting", "did you mean lora_target_modules?"},
			{"max_length: 512", "unknown_setting", "did you mean sequence_len?"},
			{"gradient_accumulation_step: 2", "unknown_setting", "gradient_accumulation_steps"},
			{"val_set_siz: 0", "unknown_setting", "val_set_size"},
			{"adapter: lroa", "bad_value", `did you mean "lora"?`},
			{"chat_template: qwen3x", "bad_value", `did you mean "qwen3"?`},
			{"chat_template: qwen3", "S13", "opens an answer with <think>"},
			{"chat_template: chatml", "S13", "not the tokenizer's"},
			{"-sequence_len", "S11", "512"},
			{"-excess_length_strategy", "S11", "leaves rows"},
			{"excess_length_strategy: truncate", "S11", "cuts rows"},
			{"excess_length_strategy: rais", "bad_value", `did you mean "raise"?`},
			{"lr_scheduler: cosin", "bad_value", "cosine"},
			{"optimizer: adamwx", "bad_value", "adamw"},
			{"datasets: [{path: a.jsonl, field_message: m}]", "unknown_setting", "field_messages"},
			{"datasets: [{path: a.jsonl, type: chat_templat}]", "bad_value", "chat_template"},
			{"datasets: [{path: a.jsonl, type: my_own.loader}]", "", ""},
			{"datasets: [{path: a.jsonl, type: chat_template.default}]", "", ""},
			{"datasets: [{path: a.jsonl, train_on_eos: trun}]", "bad_value", "turn"},
			{"datasets: [{path: a.jsonl, roles_to_train: null, train_on_eos: turn}]", "null_default", "not trained"},
			{"-lora_r", "no_rank", "lora_r"},
			{"-lora_target_linear", "no_target", "lora_target_linear"},
			{"learning_rate: '1e-4'", "", ""},
			{"bf16: auto", "", ""},
		}},
	} {
		base := launch.CheckConfig(c.trainer, c.version, "good.yaml", []byte(c.good))
		for _, f := range base {
			t.Errorf("%s: the good configuration: %s %v", c.trainer, f.ID, f.Error)
		}
		for _, p := range c.probes {
			src := changed(c.good, p.change)
			found := launch.CheckConfig(c.trainer, c.version, "t.yaml", []byte(src))
			if p.id == "" {
				for _, f := range found {
					t.Errorf("%s: %s: %s %v", c.trainer, p.change, f.ID, f.Error)
				}
				continue
			}
			hit := false
			for _, f := range found {
				text := f.Message(msg.En) + " " + strings.Join(f.Hints(msg.En), " ")
				if f.ID == p.id && strings.Contains(text, p.want) {
					hit = true
					if f.Where.File != "t.yaml" || f.Where.Line == 0 && !strings.HasPrefix(p.change, "-") {
						t.Errorf("%s: %s: it has no place: %v", c.trainer, p.change, f.Where)
					}
				}
				if f.Message(msg.Zh) == f.Message(msg.En) {
					t.Errorf("%s: not in Chinese: %v", c.trainer, f.Error)
				}
			}
			if !hit {
				t.Errorf("%s %s: %s: want %s %q, found %d", c.trainer, c.version, p.change, p.id, p.want, len(found))
				for _, f := range found {
					t.Logf("  %s %v %v", f.ID, f.Error, f.Hints(msg.En))
				}
			}
		}
	}
}

// changed puts a "key: value" in the place of the key's line, or at the end.
func changed(src, change string) string {
	key, _, _ := strings.Cut(strings.TrimPrefix(change, "-"), ":")
	var out []string
	for line := range strings.Lines(src) {
		if !strings.HasPrefix(line, key+":") {
			out = append(out, line)
		}
	}
	if !strings.HasPrefix(change, "-") {
		out = append(out, change+"\n")
	}
	return strings.Join(out, "")
}

// What the four programs really trained with passes; a warning is not an error.
func TestAcceptedConfigurations(t *testing.T) {
	t.Parallel()
	for file, trainer := range map[string]string{
		"axo.yaml": "axolotl", "axo_full.yaml": "axolotl", "lf.yaml": "llamafactory", "trl.yaml": "trl", "trl_full.yaml": "trl", "trl_msg.yaml": "trl",
	} {
		src, err := os.ReadFile(golden.RealData(t, "trainers-real", "configs", file))
		if err != nil {
			t.Fatal(err)
		}
		if got := launch.TrainerOf(src); got != trainer {
			t.Errorf("%s is taken for %q", file, got)
		}
		for _, f := range launch.CheckConfig(trainer, "", file, src).Errors() {
			t.Errorf("%s: %s %v", file, f.ID, f.Error)
		}
	}
}

// Every name that the recorded lists of the real parsers have is known, with their
// types: values those take are not refused.
func TestRecordedSettingsAreKnown(t *testing.T) {
	t.Parallel()
	for file, trainer := range map[string]string{"llamafactory_keys.txt": "llamafactory", "ms-swift_keys.txt": "swift", "trl_keys.txt": "trl"} {
		src, err := os.ReadFile(golden.RealData(t, "trainers-real", "keys", file))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for line := range strings.Lines(string(src)) {
			name, _, ok := strings.Cut(line, "\t")
			if !ok || strings.HasPrefix(line, "#") {
				continue
			}
			n++
			for _, f := range launch.CheckArgv(trainer, "", []string{trainer, "sft", "--" + name, "x"}) {
				if f.ID == "unknown_setting" {
					t.Errorf("%s: %v", file, f.Error)
				}
			}
		}
		if n < 100 {
			t.Errorf("%s: %d names", file, n)
		}
	}
}

func TestTrapsOfData(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("dataset_info.json", `{"a": {"file_name": "a.jsonl", "formatting": "openai"}, "b": {"file_name": "a.jsonl", "formatting": "sharegpt"}}`)
	write("a.jsonl", `{"messages": []}`+"\n")
	write("pc.jsonl", `{"prompt": [], "completion": []}`+"\n")
	for _, c := range []struct{ trainer, src, id string }{
		{"llamafactory", goodLF + "dataset: a\ndataset_dir: .\n", "S1"},
		{"llamafactory", goodLF + "dataset: b, a\ndataset_dir: .\n", "S1"},
		{"llamafactory", goodLF + "dataset: b\ndataset_dir: .\n", ""},
		{"trl", goodTRL, "S9"},
		{"trl", goodTRL + "assistant_only_loss: true\n", ""},
		{"trl", strings.Replace(goodTRL, "a.jsonl", "pc.jsonl", 1), ""},
	} {
		found := launch.CheckConfig(c.trainer, "", filepath.Join(dir, "t.yaml"), []byte(c.src))
		switch {
		case c.id == "" && len(found) > 0:
			t.Errorf("%s: %s %v", c.src, found[0].ID, found[0].Error)
		case c.id != "" && (len(found) != 1 || found[0].ID != c.id):
			t.Errorf("%s: want %s, got %v", c.src, c.id, found)
		}
	}
}

func TestCheckArgv(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ argv, id, want string }{
		{"swift sft --model Qwen/Qwen3-8B --max_length 2048 --truncation_strategy delete --strict true --lora_ran 8", "unknown_setting", "lora_rank"},
		{"swift rlhf --rlhf_type dpo --beta 0.1 --lora_rank 0", "bad_value", "at least 1"},
		{"trl dpo --dtype bfloat16 --max_length 512 --beta=0.1 --packing", "unknown_setting", "sft"},
		{"trl sft --dtype bfloat16 --max_length 512 --lora_alph 3", "unknown_setting", "lora_alpha"},
	} {
		trainer, _, _ := strings.Cut(c.argv, " ")
		found := launch.CheckArgv(trainer, "", strings.Fields(c.argv))
		if len(found) != 1 || found[0].ID != c.id || !strings.Contains(found[0].Message(msg.En)+strings.Join(found[0].Hints(msg.En), ""), c.want) {
			t.Errorf("%s: %v", c.argv, found)
		}
	}
}

func FuzzCheckConfig(f *testing.F) {
	for _, s := range []string{goodLF, goodSwift, goodTRL, goodAxolotl, "a: &x [*x]", "datasets: [1, {path: [a]}]", "- a", "lora_target: [[a]]", "a: 1\na: 2"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		launch.TrainerOf(src)
		for _, trainer := range []string{"llamafactory", "swift", "trl", "axolotl"} {
			for _, x := range launch.CheckConfig(trainer, "", "t.yaml", src) {
				if x.ID == "" || x.Error == nil {
					t.Fatalf("%+v", x)
				}
			}
		}
	})
}
