package launch

import (
	"context"
	"strconv"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/spec"

	"go.yaml.in/yaml/v3"
)

// swiftVersion is the version of ms-swift the plan was tried with.
const swiftVersion = "4.6.0"

type swiftOptions struct {
	tuning
	Extra swiftExtra `yaml:"extra" help:"Further ms-swift settings, name and value checked against its list." zh:"其他 ms-swift 设置；名称与取值均会与其列表核对。"`
}

type swiftExtra extra

// DecodeSpec implements [spec.Decodable].
func (x *swiftExtra) DecodeSpec(d *spec.Document, n *yaml.Node, what any) {
	(*extra)(x).decode(d, n, what, swiftSettings(), swiftOwns())
}

// swiftOwns are the settings that must not stand in extra.
func swiftOwns() owned {
	return owned{
		"model": "base", "tuner_type": "method", "rlhf_type": "method", "quant_method": "method", "quant_bits": "method",
		"lora_rank": "rank", "lora_alpha": "alpha", "lora_dropout": "dropout", "num_train_epochs": "epochs", "learning_rate": "learning_rate",
		"per_device_train_batch_size": "batch_size", "gradient_accumulation_steps": "accumulate", "max_length": "max_tokens", "save_steps": "save_steps",
		"max_steps": "max_steps", "warmup_ratio": "warmup", "use_cpu": "device", "torch_dtype": "device", "beta": "beta",
		"dataset": "", "columns": "", "output_dir": "", "add_version": "", "seed": "", "data_seed": "", "resume_from_checkpoint": "", "split_dataset_ratio": "",
		"model_type": "", "template": "", "template_backend": "", "system": "", "loss_scale": "", "disable_ignore_empty_think": "",
		"add_non_thinking_prefix": "", "enable_thinking": "", "strict": "", "truncation_strategy": "", "create_checkpoint_symlink": "", "use_chat_template": "",
	}
}

var swiftSpec = spec.Of("swift", msg.Text{"ms-swift: supervised, preference and continued training.", "ms-swift：监督训练、偏好训练与继续预训练。"},
	swiftOptions{tuning: usual()}, newSwift)

func newSwift(o swiftOptions) (Trainer, error) {
	t := swift{o}
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := extra(o.Extra).forCommand(swiftSettings(), t.command()); err != nil {
		return nil, err
	}
	return t, nil
}

type swift struct{ o swiftOptions }

// Name implements [Trainer].
func (swift) Name() string { return "swift" }

// Rows implements [RowTaker].
func (t swift) Rows() RowKind { return t.o.rows() }

// Check implements [Trainer].
func (t swift) Check(ctx context.Context, h Host) (Found, []Problem) {
	found, problems := look(ctx, h, "swift", "ms-swift", "ms-swift", swiftVersion)
	if found.Binary == "" {
		return found, problems
	}
	return found, append(problems, needsGPU(h, t.o.Device)...)
}

// command is the part of ms-swift that does the method.
func (t swift) command() string {
	switch t.o.rows() {
	case RowsPairs:
		return "rlhf"
	case RowsText:
		return "pt"
	}
	return "sft"
}

// args are a command line being written: --name value.
type args []string

func (a *args) add(name string, values ...string) { *a = append(append(*a, "--"+name), values...) }
func (a *args) int(name string, v int)            { a.add(name, strconv.Itoa(v)) }
func (a *args) bool(name string, v bool)          { a.add(name, strconv.FormatBool(v)) }
func (a *args) float(name string, v float64)      { a.add(name, strconv.FormatFloat(v, 'g', -1, 64)) }

// Plan implements [Trainer]. Everything stands on the command line, which every
// version reads; each argument is handed on as one, spaces and all.
func (t swift) Plan(j Job, f Found) (Plan, error) {
	base, contract, err := t.o.needs(t.Name(), j)
	if err != nil {
		return Plan{}, err
	}
	version := f.Version
	if version == "" {
		version = swiftVersion
	}
	p := Plan{
		Trainer: t.Name(), Version: version, Dir: j.Dir, Output: outputDir, Rows: t.o.rows(), Limit: t.o.MaxTokens,
		Load:   t.o.load(!extra(t.o.Extra).says("gradient_checkpointing", false)),
		Env:    reads("MASTER_ADDR", "MASTER_PORT", "NNODES", "NODE_RANK", "NPROC_PER_NODE"),
		Set:    []string{unbuffered},
		Files:  []File{},
		Follow: []string{outputDir + "/logging.jsonl"},
		Notes:  versionNote("ms-swift", swiftVersion, f),
	}
	p.Argv = append([]string{"swift", t.command()}, t.args(j, base, contract, version)...)
	return p, nil
}

func (t swift) args(j Job, base string, contract emit.Contract, version string) args {
	var a args
	a.add("model", base)
	// the folder's name tells ms-swift nothing: six templates match a Qwen3
	a.add("model_type", "qwen3")
	a.add("template", "qwen3")
	a.bool("check_model", false) // asks the hub, also for a folder
	a.bool("use_hf", true)       // its own hub has other revisions
	t.tuner(&a, version)
	a.add("torch_dtype", dtype(t.o.cpu()))
	if t.o.cpu() {
		a.bool("use_cpu", true)
	}
	a.add("dataset", fromDir(j.Dir, j.Data))
	a.add("split_dataset_ratio", "0")
	a.bool("strict", true) // else bad rows are left out without a word
	t.feeding(&a, contract, version)
	a.int("max_length", t.o.MaxTokens)
	a.add("truncation_strategy", "delete") // never half an answer
	a.add("output_dir", outputDir)
	a.bool("add_version", false) // else a folder with the time in its name
	a.int("save_steps", t.o.SaveSteps)
	a.int("logging_steps", 5)
	a.add("report_to", "none")
	a.int("per_device_train_batch_size", t.o.BatchSize)
	a.int("gradient_accumulation_steps", t.o.Accumulate)
	a.float("learning_rate", t.o.LearningRate)
	a.float("num_train_epochs", t.o.Epochs)
	if t.o.MaxSteps > 0 {
		a.int("max_steps", t.o.MaxSteps)
	}
	a.add("lr_scheduler_type", "cosine")
	x := extra(t.o.Extra)
	if !x.has("warmup_steps") {
		a.float("warmup_ratio", t.o.Warmup)
	}
	a.int("seed", j.seed())
	a.int("data_seed", j.seed())
	if j.Resume != "" {
		a.add("resume_from_checkpoint", fromDir(j.Dir, j.Resume))
	}
	return x.over(a)
}

// over puts the user's settings in the place of ours, or behind them.
func (x extra) over(a args) args {
	for _, key := range x.keys() {
		values := words(x[key])
		at := -1
		for i, s := range a {
			if s == "--"+key {
				at = i
			}
		}
		if at < 0 {
			a.add(key, values...)
			continue
		}
		a = append(append(append(args{}, a[:at+1]...), values...), a[at+2:]...)
	}
	return a
}

// tuner writes what is trained; the setting was called train_type before 4.0.
func (t swift) tuner(a *args, version string) {
	name := "tuner_type"
	if before(version, "4.0.0") {
		name = "train_type"
	}
	if t.o.rows() == RowsPairs {
		a.add("rlhf_type", "dpo")
		a.float("beta", t.o.Beta)
	}
	if t.o.weights() == full {
		a.add(name, "full")
		return
	}
	a.add(name, "lora")
	a.int("lora_rank", t.o.Rank)
	a.int("lora_alpha", t.o.alpha())
	a.float("lora_dropout", t.o.Dropout)
	a.add("target_modules", "all-linear")
	if t.o.weights() == qlora {
		a.add("quant_method", "bnb")
		a.add("quant_bits", "4")
	}
}

// feeding writes what decides the ids and the loss, whatever the defaults of the
// version are. The think block is put before an answer without one since 3.8; an
// empty one is left out of the loss by itself since 4.3.1, and only when asked for
// before.
func (t swift) feeding(a *args, contract emit.Contract, version string) {
	if t.o.rows() == RowsText {
		a.add("columns", `{"text": "response"}`)
		return
	}
	masked := contract == emit.EmptyThinkMasked
	scale := "last_round" // earlier answers carry no block at inference
	old := before(version, "4.3.1")
	if old && masked {
		scale += "+ignore_empty_think"
	}
	a.add("loss_scale", scale)
	if !old {
		a.bool("disable_ignore_empty_think", !masked)
	}
	if !before(version, "3.8.0") {
		a.bool("add_non_thinking_prefix", contract != emit.Plain)
	}
}

// dtype is what weights are loaded as.
func dtype(cpu bool) string {
	if cpu {
		return "float32"
	}
	return "bfloat16"
}

// Parse implements [Trainer].
func (swift) Parse(from string, line []byte) (Event, bool) { return parseLine(from, line) }
