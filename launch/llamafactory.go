package launch

import (
	"context"
	_ "embed"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/spec"
)

// llamafactoryKeys are the names LLaMA-Factory 0.9.5 takes in a training file,
// one a line, sorted. It refuses any other.
//
//go:embed llamafactory_keys.txt
var llamafactoryKeys string

// llamafactoryVersion is the version the plan was tried with.
const llamafactoryVersion = "0.9.5"

type llamafactoryOptions struct {
	Method       string            `yaml:"method" enum:"lora,qlora,full" help:"What is trained: an adapter, an adapter over a 4-bit base, or all weights." zh:"训练方式：适配器、4 比特基座上的适配器，或全部权重。"`
	Base         string            `yaml:"base" help:"The base model: Qwen/Qwen3-8B, or a folder that holds it." zh:"基座模型：Qwen/Qwen3-8B 或其本地文件夹。"`
	Rank         int               `yaml:"rank" help:"Rank of the adapter." zh:"适配器的秩。"`
	Alpha        int               `yaml:"alpha" help:"Scale of the adapter; 0 is twice the rank." zh:"适配器的缩放；0 表示秩的两倍。"`
	Dropout      float64           `yaml:"dropout" help:"Dropout in the adapter." zh:"适配器的 dropout。"`
	Epochs       float64           `yaml:"epochs" help:"Passes over the data." zh:"训练轮数。"`
	LearningRate float64           `yaml:"learning_rate" help:"Peak learning rate." zh:"学习率峰值。"`
	BatchSize    int               `yaml:"batch_size" help:"Rows per device and step." zh:"每个设备每步的样本数。"`
	Accumulate   int               `yaml:"accumulate" help:"Steps whose gradients are added up." zh:"梯度累积步数。"`
	MaxTokens    int               `yaml:"max_tokens" help:"Longest row in tokens; LLaMA-Factory cuts longer ones." zh:"单行最大 token 数；更长的行会被 LLaMA-Factory 截断。"`
	SaveSteps    int               `yaml:"save_steps" help:"Steps between checkpoints." zh:"保存检查点的步数间隔。"`
	Extra        map[string]string `yaml:"extra" help:"Further LLaMA-Factory keys, checked against its list." zh:"其他 LLaMA-Factory 键，会与其键表核对。"`
}

var llamafactorySpec = spec.Of("llamafactory", msg.Text{"LLaMA-Factory: LoRA, QLoRA or full fine-tuning.", "LLaMA-Factory：LoRA、QLoRA 或全参数微调。"},
	llamafactoryOptions{
		Method: "lora", Base: BaseModel, Rank: 16, Epochs: 3, LearningRate: 1e-4, BatchSize: 4, Accumulate: 4, MaxTokens: 2048, SaveSteps: 100,
	}, newLlamafactory)

func newLlamafactory(o llamafactoryOptions) (Trainer, error) {
	for _, c := range []struct {
		name string
		ok   bool
		text msg.Text
	}{
		{"rank", o.Rank >= 1 && o.Rank <= 512, msg.Text{"must be from 1 to 512", "须在 1 到 512 之间"}},
		{"alpha", o.Alpha >= 0, msg.Text{"must not be negative", "不能为负"}},
		{"dropout", o.Dropout >= 0 && o.Dropout < 1, msg.Text{"must be from 0 to below 1", "须在 0（含）到 1（不含）之间"}},
		{"epochs", o.Epochs > 0, msg.Text{"must be above 0", "须大于 0"}},
		{"learning_rate", o.LearningRate > 0 && o.LearningRate < 1, msg.Text{"must be between 0 and 1", "须在 0 和 1 之间"}},
		{"batch_size", o.BatchSize >= 1, msg.Text{"must be at least 1", "至少为 1"}},
		{"accumulate", o.Accumulate >= 1, msg.Text{"must be at least 1", "至少为 1"}},
		{"max_tokens", o.MaxTokens >= 64, msg.Text{"must be at least 64", "至少为 64"}},
		{"save_steps", o.SaveSteps >= 1, msg.Text{"must be at least 1", "至少为 1"}},
	} {
		if !c.ok {
			return nil, spec.Bad(c.name, c.text)
		}
	}
	if _, err := (Job{Base: o.Base}).base(); err != nil {
		return nil, spec.Bad("base", msg.Text{"must be Qwen3-8B: %s, or a folder of that name", "必须是 Qwen3-8B：%s 或同名文件夹"}, BaseModel)
	}
	if err := checkExtra(o.Extra); err != nil {
		return nil, err
	}
	return llamafactory{o}, nil
}

// decidedElsewhere says what settles a key that must not stand in extra: another
// value would break the contract between rows, training and serving.
func decidedElsewhere(key string) (by string, decided bool) {
	by, decided = map[string]string{
		"model_name_or_path": "base", "finetuning_type": "method", "quantization_bit": "method", "quantization_method": "method",
		"lora_rank": "rank", "lora_alpha": "alpha", "lora_dropout": "dropout", "num_train_epochs": "epochs", "learning_rate": "learning_rate",
		"per_device_train_batch_size": "batch_size", "gradient_accumulation_steps": "accumulate", "cutoff_len": "max_tokens", "save_steps": "save_steps",
		"stage": "", "do_train": "", "dataset": "", "dataset_dir": "", "output_dir": "", "overwrite_output_dir": "", "seed": "",
		"template": "", "enable_thinking": "", "mask_history": "", "train_on_prompt": "", "default_system": "",
	}[key]
	return by, decided
}

func checkExtra(extra map[string]string) error {
	known := strings.Fields(llamafactoryKeys)
	for _, key := range slices.Sorted(maps.Keys(extra)) {
		if by, decided := decidedElsewhere(key); decided {
			if by != "" {
				return spec.Bad("extra", msg.Text{"must not hold %s; write the option %s", "不能包含 %s；请写选项 %s"}, key, by)
			}
			return spec.Bad("extra", msg.Text{"must not hold %s; drydock writes it so that rows, training and serving agree", "不能包含 %s；它由 drydock 写入，以保证数据、训练与部署一致"}, key)
		}
		if _, found := slices.BinarySearch(known, key); !found {
			if s := spec.Suggest(key, known); s != "" {
				return spec.Bad("extra", msg.Text{"holds %s, which LLaMA-Factory does not know; did you mean %s?", "包含 LLaMA-Factory 不认识的 %s；是否想写 %s？"}, key, s)
			}
			return spec.Bad("extra", msg.Text{"holds %s, which LLaMA-Factory does not know", "包含 LLaMA-Factory 不认识的 %s"}, key)
		}
	}
	return nil
}

type llamafactory struct{ o llamafactoryOptions }

// Name implements [Trainer].
func (llamafactory) Name() string { return "llamafactory" }

var llamafactoryVersionLine = regexp.MustCompile(`version (\d+\.\d+\.\d+)`)

// Check implements [Trainer].
func (llamafactory) Check(ctx context.Context, h Host) (Found, []Problem) {
	binary, err := h.LookPath("llamafactory-cli")
	if err != nil {
		return Found{}, []Problem{{fail.New(fail.Trainer, msg.Text{"llamafactory-cli is not found", "找不到 llamafactory-cli"}).Because(err).
			Hint(msg.Text{"pip install llamafactory==%s, in an environment that is active", "请在已激活的环境中运行 pip install llamafactory==%s"}, llamafactoryVersion), true}}
	}
	found := Found{Binary: binary}
	var problems []Problem
	out, err := h.Output(ctx, binary, "version")
	if m := llamafactoryVersionLine.FindSubmatch(out); m != nil {
		found.Version = string(m[1])
	}
	switch {
	case err != nil:
		problems = append(problems, Problem{fail.New(fail.Trainer, msg.Text{"%s version: %s", "%s version：%s"}, binary, err), true})
	case found.Version != llamafactoryVersion:
		problems = append(problems, Problem{fail.New(fail.Trainer,
			msg.Text{"LLaMA-Factory %s is installed; plans are tried with %s", "已安装 LLaMA-Factory %s；计划经 %s 验证"}, orUnknown(found.Version), llamafactoryVersion), false})
	}
	if _, err := h.LookPath("nvidia-smi"); err != nil {
		problems = append(problems, Problem{fail.New(fail.Trainer, msg.Text{"no NVIDIA driver is found; Qwen3-8B does not train without a GPU", "找不到 NVIDIA 驱动；没有 GPU 无法训练 Qwen3-8B"}).Because(err), false})
	}
	return found, problems
}

func orUnknown(version string) string {
	if version == "" {
		return "?"
	}
	return version
}

// Plan implements [Trainer].
func (t llamafactory) Plan(j Job, f Found) (Plan, error) {
	if j.Base == "" {
		j.Base = t.o.Base
	}
	base, err := j.base()
	if err != nil {
		return Plan{}, err
	}
	contract, err := j.contract()
	if err != nil {
		return Plan{}, err
	}
	p := Plan{
		Trainer: t.Name(), Version: f.Version, Dir: j.Dir, Output: outputDir, Limit: t.o.MaxTokens,
		// the program splits its own command line at spaces when it starts one
		// process per GPU: so it runs in the folder, and gets a plain name
		Argv:   []string{"llamafactory-cli", "train", "llamafactory.yaml"},
		Env:    reads("FORCE_TORCHRUN", "MASTER_ADDR", "MASTER_PORT", "NNODES", "NODE_RANK", "NPROC_PER_NODE"),
		Set:    []string{unbuffered},
		Follow: []string{outputDir + "/trainer_log.jsonl"},
		Files: []File{
			{"dataset_info.json", datasetInfo(fromDir(j.Dir, j.Data))},
			{"llamafactory.yaml", t.config(j, base, contract)},
		},
	}
	if f.Version != llamafactoryVersion {
		p.Version = llamafactoryVersion
		p.Notes = append(p.Notes, Note{msg.Phrase{Text: msg.Text{"planned for LLaMA-Factory %s; found: %s", "按 LLaMA-Factory %s 制定；已安装：%s"}, Args: []any{llamafactoryVersion, orNone(f.Version)}}})
	}
	return p, nil
}

func orNone(version string) any {
	if version == "" {
		return msg.Text{"none", "无"}
	}
	return version
}

// datasetName is how the training file is called in dataset_info.json.
const datasetName = "drydock"

// datasetInfo declares the rows. The columns and tags are spelled out: with the
// formatting "openai" LLaMA-Factory adds a system turn of its own to every row.
// The file is opened in the locale's encoding, so it is ASCII.
func datasetInfo(file string) string {
	return fmt.Sprintf(`{
  "%s": {
    "file_name": %s,
    "formatting": "sharegpt",
    "columns": {"messages": "messages"},
    "tags": {
      "role_tag": "role",
      "content_tag": "content",
      "user_tag": "user",
      "assistant_tag": "assistant",
      "system_tag": "system"
    }
  }
}
`, datasetName, asciiJSON(file))
}

// config writes the training file. What decides parity with inference is always
// written, whatever the program's defaults are today: the template, thinking,
// the history mask and dropout.
func (t llamafactory) config(j Job, base string, contract emit.Contract) string {
	var y yamlFile
	y.text("model_name_or_path", fromBase(j, base))
	y.text("stage", "sft")
	y.bool("do_train", true)
	if t.o.Method == "full" {
		y.text("finetuning_type", "full")
	} else {
		alpha := t.o.Alpha
		if alpha == 0 {
			alpha = 2 * t.o.Rank
		}
		y.text("finetuning_type", "lora")
		y.int("lora_rank", t.o.Rank)
		y.int("lora_alpha", alpha)
		y.float("lora_dropout", t.o.Dropout)
		y.text("lora_target", "all")
	}
	if t.o.Method == "qlora" {
		y.int("quantization_bit", 4)
		y.text("quantization_method", "bnb")
	}
	y.text("dataset_dir", ".")
	y.text("dataset", datasetName)
	y.text("template", "qwen3")
	// true keeps the think block, empty or full, in the loss; false moves it to
	// the prompt (and would delete reasoning)
	y.bool("enable_thinking", contract != emit.EmptyThinkMasked)
	// earlier answers carry a think block in training but none at inference:
	// only the last turn is trained
	y.bool("mask_history", true)
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
	if _, given := t.o.Extra["warmup_steps"]; !given { // the ratio would win over it, silently
		y.float("warmup_ratio", 0.1)
	}
	y.bool("bf16", true)
	y.int("seed", int(j.Seed%(1<<31)))
	y.int("ddp_timeout", 180000000)
	for _, key := range slices.Sorted(maps.Keys(t.o.Extra)) {
		y.scalar(key, t.o.Extra[key])
	}
	return y.String()
}

// Parse implements [Trainer].
func (llamafactory) Parse(from string, line []byte) (Event, bool) { return parseLine(from, line) }
