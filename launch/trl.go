package launch

import (
	"context"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/spec"

	"go.yaml.in/yaml/v3"
)

// trlVersion is the version of TRL the plan was tried with.
const trlVersion = "1.16.0"

// trlResumes is the first version known to go on from a checkpoint: in 1.9.0 the
// command takes resume_from_checkpoint and begins at step 0.
const trlResumes = "1.16.0"

type trlOptions struct {
	tuning
	Extra trlExtra `yaml:"extra" help:"Further TRL settings, name and value checked against its list." zh:"其他 TRL 设置；名称与取值均会与其列表核对。"`
}

type trlExtra extra

// DecodeSpec implements [spec.Decodable].
func (x *trlExtra) DecodeSpec(d *spec.Document, n *yaml.Node, what any) {
	(*extra)(x).decode(d, n, what, trlSettings(), trlOwns())
}

// trlOwns are the settings that must not stand in extra.
func trlOwns() owned {
	return owned{
		"model_name_or_path": "base", "use_peft": "method", "load_in_4bit": "method", "load_in_8bit": "method",
		"lora_r": "rank", "lora_alpha": "alpha", "lora_dropout": "dropout", "num_train_epochs": "epochs", "learning_rate": "learning_rate",
		"per_device_train_batch_size": "batch_size", "gradient_accumulation_steps": "accumulate", "max_length": "max_tokens", "save_steps": "save_steps",
		"max_steps": "max_steps", "warmup_steps": "warmup", "use_cpu": "device", "dtype": "device", "bf16": "device", "beta": "beta",
		"datasets": "", "dataset_name": "", "dataset_config": "", "dataset_train_split": "", "dataset_text_field": "", "output_dir": "", "seed": "",
		"resume_from_checkpoint": "", "config": "", "env": "", "chat_template_path": "", "assistant_only_loss": "", "completion_only_loss": "",
		"truncation_mode": "", "eos_token": "", "dataset_kwargs": "",
	}
}

var trlSpec = spec.Of("trl", msg.Text{"TRL: supervised, preference and continued training.", "TRL：监督训练、偏好训练与继续预训练。"},
	trlOptions{tuning: usual()}, newTRL)

func newTRL(o trlOptions) (Trainer, error) {
	t := trl{o}
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := extra(o.Extra).forCommand(trlSettings(), t.command()); err != nil {
		return nil, err
	}
	return t, nil
}

type trl struct{ o trlOptions }

// Name implements [Trainer].
func (trl) Name() string { return "trl" }

// Rows implements [RowTaker].
func (t trl) Rows() RowKind { return t.o.rows() }

// Check implements [Trainer].
func (t trl) Check(ctx context.Context, h Host) (Found, []Problem) {
	found, problems := look(ctx, h, "trl", "trl", "TRL", trlVersion)
	if found.Binary == "" {
		return found, problems
	}
	if found.Packages != nil && found.Packages["peft"] == "" && t.o.weights() != full {
		problems = append(problems, Problem{fail.New(fail.Trainer, msg.Text{"peft is not installed beside TRL, which needs it for adapters", "TRL 所在环境未安装 peft，训练适配器需要它"}).
			Hint(msg.Text{"pip install peft, in the same environment", "请在同一环境中运行 pip install peft"}), true})
	}
	return found, append(problems, needsGPU(h, t.o.Device)...)
}

// command is the part of TRL that does the method; running text is trained by sft.
func (t trl) command() string {
	if t.o.rows() == RowsPairs {
		return "dpo"
	}
	return "sft"
}

// Plan implements [Trainer].
func (t trl) Plan(j Job, f Found) (Plan, error) {
	base, contract, err := t.o.needs(t.Name(), j)
	if err != nil {
		return Plan{}, err
	}
	version := f.Version
	if version == "" {
		version = trlVersion
	}
	if j.Resume != "" && before(version, trlResumes) {
		return Plan{}, fail.New(fail.Refused, msg.Text{
			"TRL %s takes a checkpoint to go on from and begins at step 0 all the same", "TRL %s 虽接受要恢复的检查点，却仍从第 0 步开始",
		}, version).Hint(msg.Text{"pip install trl==%s goes on from it", "pip install trl==%s 可从该检查点继续"}, trlResumes)
	}
	p := Plan{
		Trainer: t.Name(), Version: version, Dir: j.Dir, Output: outputDir, Rows: t.o.rows(), Limit: t.o.MaxTokens,
		Port: acceleratePort, Load: t.o.load(!extra(t.o.Extra).says("gradient_checkpointing", false)),
		Argv:   []string{"trl", t.command(), "--config", "trl.yaml"},
		Env:    reads("ACCELERATE_CONFIG_FILE"),
		Set:    []string{unbuffered},
		Follow: []string{}, // it writes no log of its own
		Notes:  versionNote("TRL", trlVersion, f),
	}
	data := fromDir(j.Dir, j.Data)
	if t.o.rows() == RowsChat {
		p.Derived = []Derived{{Name: derivedRows, From: data, Layout: layoutPromptCompletion, NoThinking: contract == emit.EmptyThinkMasked}}
		data = derivedRows
	}
	p.Files = []File{{"trl.yaml", t.config(j, base, data, version, f)}}
	return p, nil
}

func (t trl) config(j Job, base, data, version string, f Found) string {
	var y yamlFile
	y.text("model_name_or_path", base)
	name := "dtype" // the default would load the weights in 32 bits
	if before(version, "0.24.0") {
		name = "torch_dtype"
	}
	y.text(name, dtype(t.o.cpu()))
	y.set("datasets", "[{path: "+loader(data)+", data_files: "+jsonText(data)+", split: train}]")
	if t.o.rows() == RowsText {
		y.text("dataset_text_field", "text")
	}
	t.adapter(&y)
	if t.o.rows() == RowsPairs {
		y.float("beta", t.o.Beta)
	}
	y.int("max_length", t.o.MaxTokens) // the default cuts at 1024, and the answer is what is cut
	if t.o.rows() == RowsChat {
		y.bool("completion_only_loss", true)
	}
	y.text("output_dir", outputDir)
	y.text("save_strategy", "steps")
	y.int("save_steps", t.o.SaveSteps)
	y.int("logging_steps", 5)
	y.text("report_to", "none")
	y.int("per_device_train_batch_size", t.o.BatchSize)
	y.int("gradient_accumulation_steps", t.o.Accumulate)
	y.float("learning_rate", t.o.LearningRate)
	y.float("num_train_epochs", t.o.Epochs)
	if t.o.MaxSteps > 0 {
		y.int("max_steps", t.o.MaxSteps)
	}
	y.text("lr_scheduler_type", "cosine")
	// transformers 5 takes a part of the steps as warmup_steps, and 5.24 has no
	// warmup_ratio any more
	if v := f.Packages["transformers"]; before(v, "5.0.0") || v == "" && before(version, trlVersion) {
		y.float("warmup_ratio", t.o.Warmup)
	} else {
		y.float("warmup_steps", t.o.Warmup)
	}
	y.bool("bf16", !t.o.cpu())
	if t.o.cpu() {
		y.bool("use_cpu", true)
	}
	y.int("seed", j.seed())
	if j.Resume != "" {
		y.text("resume_from_checkpoint", fromDir(j.Dir, j.Resume))
	}
	x := extra(t.o.Extra)
	for _, key := range x.keys() {
		y.node(key, x[key])
	}
	return y.String()
}

// adapter writes what is trained.
func (t trl) adapter(y *yamlFile) {
	if t.o.weights() == full {
		y.bool("use_peft", false)
		return
	}
	y.bool("use_peft", true)
	y.int("lora_r", t.o.Rank)
	y.int("lora_alpha", t.o.alpha())
	y.float("lora_dropout", t.o.Dropout)
	y.set("lora_target_modules", "[all-linear]")
	if t.o.weights() == qlora {
		y.bool("load_in_4bit", true)
	}
}

// Parse implements [Trainer].
func (trl) Parse(from string, line []byte) (Event, bool) { return parseLine(from, line) }
