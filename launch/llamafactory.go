package launch

import (
	"context"
	"regexp"
	"strings"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/spec"

	"go.yaml.in/yaml/v3"
)

// llamafactoryVersion is the version the plan was tried with.
const llamafactoryVersion = "0.9.5"

type llamafactoryOptions struct {
	tuning
	Extra llamafactoryExtra `yaml:"extra" help:"Further LLaMA-Factory settings, name and value checked against its list." zh:"其他 LLaMA-Factory 设置；名称与取值均会与其列表核对。"`
}

type llamafactoryExtra extra

// DecodeSpec implements [spec.Decodable].
func (x *llamafactoryExtra) DecodeSpec(d *spec.Document, n *yaml.Node, what any) {
	(*extra)(x).decode(d, n, what, llamafactorySettings(), llamafactoryOwns())
}

// llamafactoryOwns are the settings that must not stand in extra.
func llamafactoryOwns() owned {
	return owned{
		"model_name_or_path": "base", "finetuning_type": "method", "quantization_bit": "method", "quantization_method": "method", "stage": "method",
		"lora_rank": "rank", "lora_alpha": "alpha", "lora_dropout": "dropout", "num_train_epochs": "epochs", "learning_rate": "learning_rate",
		"per_device_train_batch_size": "batch_size", "gradient_accumulation_steps": "accumulate", "cutoff_len": "max_tokens", "save_steps": "save_steps",
		"pref_beta": "beta",
		"do_train":  "", "dataset": "", "dataset_dir": "", "output_dir": "", "overwrite_output_dir": "", "seed": "", "resume_from_checkpoint": "",
		"template": "", "enable_thinking": "", "mask_history": "", "train_on_prompt": "", "default_system": "", "preserve_thinking": "",
	}
}

var llamafactorySpec = spec.Of("llamafactory", msg.Text{"LLaMA-Factory: supervised, preference and continued training.", "LLaMA-Factory：监督训练、偏好训练与继续预训练。"},
	llamafactoryOptions{tuning: usual()}, newLlamafactory)

func newLlamafactory(o llamafactoryOptions) (Trainer, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	return llamafactory{o}, nil
}

type llamafactory struct{ o llamafactoryOptions }

// Name implements [Trainer].
func (llamafactory) Name() string { return "llamafactory" }

var llamafactoryVersionLine = regexp.MustCompile(`version (\d+\.\d+\.\d+)`)

// Rows implements [RowTaker].
func (t llamafactory) Rows() RowKind { return t.o.rows() }

// Check implements [Trainer].
func (t llamafactory) Check(ctx context.Context, h Host) (Found, []Problem) {
	found, problems := look(ctx, h, "llamafactory-cli", "llamafactory", "LLaMA-Factory", llamafactoryVersion)
	if found.Binary == "" {
		return found, problems
	}
	if found.Version == "" { // an installation without metadata: it says so itself, slowly
		problems = nil
		out, err := h.Output(ctx, found.Binary, "version")
		if m := llamafactoryVersionLine.FindSubmatch(out); m != nil {
			found.Version = string(m[1])
		}
		switch {
		case err != nil:
			problems = append(problems, Problem{fail.New(fail.Trainer, msg.Text{"%s version: %s", "%s version：%s"}, found.Binary, err), true})
		case found.Version != llamafactoryVersion:
			problems = append(problems, Problem{fail.New(fail.Trainer,
				msg.Text{"LLaMA-Factory %s is installed; plans are tried with %s", "已安装 LLaMA-Factory %s；计划经 %s 验证"}, orUnknown(found.Version), llamafactoryVersion), false})
		}
	}
	if strings.Contains(found.Binary, " ") {
		problems = append(problems, Problem{fail.New(fail.Trainer, msg.Text{
			"LLaMA-Factory is installed under a path with a space; with several GPUs it splits its own command there and fails",
			"LLaMA-Factory 安装路径含有空格；使用多个 GPU 时它会在空格处拆分自身命令而失败",
		}).Hint(msg.Text{"install it elsewhere, or set CUDA_VISIBLE_DEVICES to one GPU", "请换一个安装路径，或将 CUDA_VISIBLE_DEVICES 设为单个 GPU"}), false})
	}
	return found, append(problems, needsGPU(h, t.o.Device)...)
}

// Plan implements [Trainer].
func (t llamafactory) Plan(j Job, f Found) (Plan, error) {
	base, contract, err := t.o.needs(t.Name(), j)
	if err != nil {
		return Plan{}, err
	}
	info, err := datasetInfo(fromDir(j.Dir, j.Data), t.o.rows())
	if err != nil {
		return Plan{}, err
	}
	p := Plan{
		Trainer: t.Name(), Version: llamafactoryVersion, Dir: j.Dir, Output: outputDir, Rows: t.o.rows(), Limit: t.o.MaxTokens,
		Load: t.o.load(!extra(t.o.Extra).says("disable_gradient_checkpointing", true)),
		// the program splits its own command line at spaces when it starts one
		// process per GPU: so it runs in the folder, and gets a plain name
		Argv:   []string{"llamafactory-cli", "train", "llamafactory.yaml"},
		Env:    reads("FORCE_TORCHRUN", "MASTER_ADDR", "MASTER_PORT", "NNODES", "NODE_RANK", "NPROC_PER_NODE"),
		Set:    []string{unbuffered},
		Follow: []string{outputDir + "/trainer_log.jsonl"},
		Files: []File{
			{emit.DatasetInfoName, info},
			{"llamafactory.yaml", t.config(j, base, contract)},
		},
		Notes: versionNote("LLaMA-Factory", llamafactoryVersion, f),
	}
	if t.o.rows() == RowsText {
		p.Notes = append(p.Notes, Note{msg.Phrase{Text: msg.Text{
			"running text is joined and cut into blocks of %d tokens; what is left over at the end of each 1000 rows is left out",
			"文本会被拼接并切成每块 %d 个 token；每 1000 行末尾不足一块的部分会被舍弃",
		}, Args: []any{t.o.MaxTokens}}})
	}
	return p, nil
}

// datasetName is how the training file is called in dataset_info.json.
const datasetName = "drydock"

// datasetInfo declares the rows.
func datasetInfo(file string, rows RowKind) (string, error) {
	task := emit.SFT
	switch rows {
	case RowsText:
		task = emit.Pretrain
	case RowsPairs:
		task = emit.DPO
	}
	b, err := emit.MergeDatasetInfo(nil, datasetName, emit.DatasetInfo(file, task))
	return string(b), err
}

// stage is what LLaMA-Factory calls the method.
func (t llamafactory) stage() string {
	switch t.o.rows() {
	case RowsPairs:
		return "dpo"
	case RowsText:
		return "pt"
	}
	return "sft"
}

// config writes the training file. What decides parity with inference is always
// written, whatever the program's defaults are today: the template, thinking,
// the history mask and dropout.
func (t llamafactory) config(j Job, base string, contract emit.Contract) string {
	var y yamlFile
	y.text("model_name_or_path", base)
	y.text("stage", t.stage())
	y.bool("do_train", true)
	t.adapter(&y)
	if t.o.rows() == RowsPairs {
		y.float("pref_beta", t.o.Beta)
		y.text("pref_loss", "sigmoid")
	}
	y.text("dataset_dir", ".")
	y.text("dataset", datasetName)
	y.text("template", llamafactoryTemplate(contract))
	// true keeps the think block, empty or full, in the loss; false moves it to
	// the prompt (and would delete reasoning)
	y.bool("enable_thinking", contract != emit.EmptyThinkMasked)
	// earlier answers carry a think block in training but none at inference:
	// only the last turn is trained. Other stages refuse it.
	y.bool("mask_history", t.o.rows() == RowsChat)
	y.bool("train_on_prompt", false)
	y.int("cutoff_len", t.o.MaxTokens)
	y.text("output_dir", outputDir)
	y.bool("overwrite_output_dir", false) // true would disable resuming
	y.text("save_strategy", "steps")
	y.int("save_steps", t.o.SaveSteps)
	y.int("logging_steps", 5)
	y.bool("plot_loss", false)
	y.text("report_to", "none")
	y.int("per_device_train_batch_size", t.o.BatchSize)
	y.int("gradient_accumulation_steps", t.o.Accumulate)
	y.float("learning_rate", t.o.LearningRate)
	y.float("num_train_epochs", t.o.Epochs)
	y.text("lr_scheduler_type", "cosine")
	if t.o.MaxSteps > 0 {
		y.int("max_steps", t.o.MaxSteps)
	}
	x := extra(t.o.Extra)
	if !x.has("warmup_steps") { // the ratio would win over it, silently
		y.float("warmup_ratio", t.o.Warmup)
	}
	y.bool("bf16", !t.o.cpu())
	if t.o.cpu() {
		y.bool("use_cpu", true)
	}
	y.int("seed", j.seed())
	y.int("ddp_timeout", 180000000)
	if j.Resume != "" {
		y.text("resume_from_checkpoint", fromDir(j.Dir, j.Resume))
	}
	for _, key := range x.keys() {
		y.node(key, x[key])
	}
	return y.String()
}

// adapter writes what is trained.
func (t llamafactory) adapter(y *yamlFile) {
	if t.o.weights() == full {
		y.text("finetuning_type", "full")
		return
	}
	y.text("finetuning_type", "lora")
	y.int("lora_rank", t.o.Rank)
	y.int("lora_alpha", t.o.alpha())
	y.float("lora_dropout", t.o.Dropout)
	y.text("lora_target", "all")
	if t.o.weights() == qlora {
		y.int("quantization_bit", 4)
		y.text("quantization_method", "bnb")
	}
}

// llamafactoryTemplate is the template that keeps a contract: without a think
// block there is another.
func llamafactoryTemplate(c emit.Contract) string {
	if c == emit.Plain {
		return "qwen3_nothink"
	}
	return "qwen3"
}

// Parse implements [Trainer].
func (llamafactory) Parse(from string, line []byte) (Event, bool) { return parseLine(from, line) }
