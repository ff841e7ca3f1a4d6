package launch

import (
	"context"
	"path"
	"strings"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/spec"

	"go.yaml.in/yaml/v3"
)

// axolotlVersion is the version of axolotl the plan was tried with.
const axolotlVersion = "0.21.0"

type axolotlOptions struct {
	tuning
	Extra axolotlExtra `yaml:"extra" help:"Further axolotl settings, name and value checked against its list." zh:"其他 axolotl 设置；名称与取值均会与其列表核对。"`
}

type axolotlExtra extra

// DecodeSpec implements [spec.Decodable].
func (x *axolotlExtra) DecodeSpec(d *spec.Document, n *yaml.Node, what any) {
	(*extra)(x).decode(d, n, what, axolotlSettings(), axolotlOwns())
}

// axolotlOwns are the settings that must not stand in extra.
func axolotlOwns() owned {
	return owned{
		"base_model": "base", "adapter": "method", "load_in_4bit": "method", "load_in_8bit": "method", "rl": "method",
		"lora_r": "rank", "lora_alpha": "alpha", "lora_dropout": "dropout", "num_epochs": "epochs", "learning_rate": "learning_rate",
		"micro_batch_size": "batch_size", "batch_size": "batch_size", "gradient_accumulation_steps": "accumulate", "sequence_len": "max_tokens", "save_steps": "save_steps",
		"max_steps": "max_steps", "warmup_ratio": "warmup", "bf16": "device", "fp16": "device", "rl_beta": "beta", "dpo_beta": "beta",
		"datasets": "", "test_datasets": "", "pretraining_dataset": "", "val_set_size": "", "chat_template": "", "chat_template_jinja": "", "chat_template_kwargs": "",
		"excess_length_strategy": "", "output_dir": "", "dataset_prepared_path": "", "seed": "", "resume_from_checkpoint": "", "auto_resume_from_checkpoints": "",
		"dynamic_checkpoint": "", "saves_per_epoch": "save_steps", "train_on_inputs": "",
	}
}

var axolotlSpec = spec.Of("axolotl", msg.Text{"axolotl: supervised, preference and continued training.", "axolotl：监督训练、偏好训练与继续预训练。"},
	axolotlOptions{tuning: usual()}, newAxolotl)

func newAxolotl(o axolotlOptions) (Trainer, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	return axolotl{o}, nil
}

type axolotl struct{ o axolotlOptions }

// Name implements [Trainer].
func (axolotl) Name() string { return "axolotl" }

// Rows implements [RowTaker].
func (t axolotl) Rows() RowKind { return t.o.rows() }

// Check implements [Trainer].
func (t axolotl) Check(ctx context.Context, h Host) (Found, []Problem) {
	found, problems := look(ctx, h, "axolotl", "axolotl", "axolotl", axolotlVersion)
	if found.Binary == "" {
		return found, problems
	}
	if _, err := h.LookPath("accelerate"); err != nil {
		problems = append(problems, Problem{fail.New(fail.Trainer, msg.Text{"accelerate is not on the PATH; axolotl starts it by its bare name", "PATH 中没有 accelerate；axolotl 按名称启动它"}).Because(err).
			Hint(msg.Text{"activate the environment that axolotl is installed in", "请激活安装 axolotl 的环境"}), true})
	}
	return found, append(problems, needsGPU(h, t.o.Device)...)
}

// axolotlSave is the file whose appearance asks axolotl for a checkpoint.
const axolotlSave = "axolotl_checkpoint.save"

// Plan implements [Trainer].
func (t axolotl) Plan(j Job, f Found) (Plan, error) {
	base, contract, err := t.o.needs(t.Name(), j)
	if err != nil {
		return Plan{}, err
	}
	version := f.Version
	if version == "" {
		version = axolotlVersion
	}
	p := Plan{
		Trainer: t.Name(), Version: version, Dir: j.Dir, Output: outputDir, Rows: t.o.rows(), Limit: t.o.MaxTokens,
		Port: acceleratePort, Load: t.o.load(!extra(t.o.Extra).says("gradient_checkpointing", false)),
		Argv:     []string{"axolotl", "train", "axolotl.yaml"},
		Env:      reads("ACCELERATE_CONFIG_FILE", "AXOLOTL_DO_NOT_TRACK"),
		Set:      []string{unbuffered},
		Follow:   []string{}, // debug.log repeats what is printed
		SaveFile: path.Join(outputDir, axolotlSave),
		Notes:    versionNote("axolotl", axolotlVersion, f),
	}
	data := t.dataset(fromDir(j.Dir, j.Data))
	if t.o.rows() == RowsChat && contract != emit.EmptyThinkMasked { // chat_template never trains the think block
		p.Derived = []Derived{{Name: derivedRows, From: fromDir(j.Dir, j.Data), Layout: layoutSegments}}
		data = "{path: " + derivedRows + ", ds_type: json, type: input_output}"
	}
	p.Files = []File{{"axolotl.yaml", t.config(j, base, data)}}
	return p, nil
}

// config writes the training file. axolotl ignores names it does not know, so
// that every one is held to its list by a test.
func (t axolotl) config(j Job, base, dataset string) string {
	var y yamlFile
	y.text("base_model", base)
	t.adapter(&y)
	// its own "qwen3" opens an answer otherwise than the model's template does, and
	// is saved with the tokenizer
	y.text("chat_template", "tokenizer_default")
	y.set("datasets", "["+dataset+"]")
	y.text("dataset_prepared_path", "prepared")
	y.int("sequence_len", t.o.MaxTokens)      // the default is 512
	y.text("excess_length_strategy", "raise") // the default leaves longer rows out
	y.int("val_set_size", 0)
	y.int("micro_batch_size", t.o.BatchSize)
	y.int("gradient_accumulation_steps", t.o.Accumulate)
	y.float("num_epochs", t.o.Epochs)
	if t.o.MaxSteps > 0 {
		y.int("max_steps", t.o.MaxSteps)
	}
	y.text("optimizer", "adamw_torch")
	y.text("lr_scheduler", "cosine")
	y.float("learning_rate", t.o.LearningRate)
	x := extra(t.o.Extra)
	if !x.has("warmup_steps") {
		y.float("warmup_ratio", t.o.Warmup)
	}
	y.bool("bf16", !t.o.cpu())
	y.bool("fp16", false)
	y.bool("gradient_checkpointing", true)
	if t.o.cpu() && t.o.weights() != full { // they are on by themselves, and ask for a driver
		y.bool("lora_mlp_kernel", false)
		y.bool("lora_qkv_kernel", false)
		y.bool("lora_o_kernel", false)
	}
	y.int("save_steps", t.o.SaveSteps)
	y.int("logging_steps", 5)
	y.text("output_dir", outputDir)
	y.set("dynamic_checkpoint", "{enabled: true, check_interval: 1}") // at every step: the default is every 100
	y.int("seed", j.seed())
	if j.Resume != "" {
		y.text("resume_from_checkpoint", fromDir(j.Dir, j.Resume))
	} else {
		y.bool("auto_resume_from_checkpoints", true)
	}
	for _, key := range x.keys() {
		y.node(key, x[key])
	}
	return y.String()
}

// adapter writes what is trained.
func (t axolotl) adapter(y *yamlFile) {
	if t.o.rows() == RowsPairs {
		y.text("rl", "dpo")
		y.float("rl_beta", t.o.Beta)
	}
	if t.o.weights() == full {
		return
	}
	y.text("adapter", t.o.weights())
	if t.o.weights() == qlora {
		y.bool("load_in_4bit", true)
	}
	y.int("lora_r", t.o.Rank)
	y.int("lora_alpha", t.o.alpha())
	y.float("lora_dropout", t.o.Dropout)
	y.bool("lora_target_linear", true)
}

// dataset declares the rows as they are.
func (t axolotl) dataset(file string) string {
	fields := []string{"path: " + jsonText(file), "ds_type: " + loader(file)}
	switch t.o.rows() {
	case RowsText:
		fields = append(fields, "type: completion", "field: text")
	case RowsPairs:
		fields = append(fields, "type: chat_template.default", "field_messages: messages", "field_chosen: chosen", "field_rejected: rejected")
	default:
		fields = append(fields, "type: chat_template", "field_messages: messages", "roles_to_train: [assistant]", "train_on_eos: turn")
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// Parse implements [Trainer].
func (axolotl) Parse(from string, line []byte) (Event, bool) { return parseLine(from, line) }
