package launch

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/spec"

	"go.yaml.in/yaml/v3"
)

// The traps below are settings that a trainer's parser takes and whose harm shows
// only in the results. Their ids are those of docs/guide/training.md.

// llamafactory looks for traps of LLaMA-Factory.
func (c *configCheck) llamafactory() {
	if v := c.value("max_length"); v != nil {
		c.report("wrong_limit", c.key("max_length"), generationLimit())
	}
	if v := c.value("overwrite_output_dir"); v != nil && c.is("overwrite_output_dir") {
		c.report("S19", v, fail.New(fail.Config, msg.Text{
			"overwrite_output_dir: true has a second start begin at step 0 and deletes the log", "overwrite_output_dir: true 会使再次启动从第 0 步开始，并删除日志",
		}).Hint(msg.Text{"write overwrite_output_dir: false; it then goes on from the last checkpoint", "请写 overwrite_output_dir: false，则会从最近的检查点继续"}))
	}
	if c.is("do_predict") || c.has("adapter_name_or_path") && !c.is("do_train") {
		return // no training
	}
	c.llamafactoryTemplate()
	c.formattingOpenAI()
	if stage := c.text("stage"); stage != "" && stage != "sft" {
		for _, name := range []string{"mask_history", "train_on_prompt"} {
			if c.is(name) {
				c.report("sft_only", c.value(name), fail.New(fail.Config, msg.Text{"%s: true is refused by stage %s", "%s: true 不能用于 stage %s"}, name, stage))
			}
		}
		return
	}
	if v := c.value("train_on_prompt"); v != nil && c.is("train_on_prompt") {
		c.warn("prompt_in_loss", v, fail.New(fail.Config, msg.Text{"train_on_prompt: true trains the questions, too", "train_on_prompt: true 会把问题也纳入训练"}))
	}
}

// llamafactoryTemplate checks what stands between assistant and the answer.
func (c *configCheck) llamafactoryTemplate() {
	v := c.value("template")
	name := c.text("template")
	if name == "" || name == "qwen3" || v.Kind != yaml.ScalarNode {
		return
	}
	e := fail.New(fail.Config, msg.Text{"template %s is not Qwen3-8B's own: the model would be trained on another prompt than a server sends", "模板 %s 不是 Qwen3-8B 自带的：训练所用的提示与服务端发送的不同"}, name)
	if name == "qwen3_nothink" {
		e = fail.New(fail.Config, msg.Text{
			"template qwen3_nothink trains answers without the think block that Qwen3-8B's own template puts before them", "模板 qwen3_nothink 训练的回答前没有思考块，而 Qwen3-8B 自带模板会加入",
		})
	}
	c.report("S2", v, e.Hint(msg.Text{"write template: qwen3; enable_thinking says whether the block is trained", "请写 template: qwen3；enable_thinking 决定思考块是否参与训练"}))
}

// formattingOpenAI reads the dataset_info.json that the file names.
func (c *configCheck) formattingOpenAI() {
	names := c.text("dataset")
	if names == "" {
		return
	}
	dir := orWord(c.text("dataset_dir"), "data")
	b, err := os.ReadFile(filepath.Join(dir, emit.DatasetInfoName))
	if err != nil && !filepath.IsAbs(dir) {
		b, err = os.ReadFile(filepath.Join(c.dir, dir, emit.DatasetInfoName))
	}
	var info map[string]datasetEntry
	if err != nil || json.Unmarshal(b, &info) != nil {
		return
	}
	for name := range strings.SplitSeq(names, ",") {
		name = strings.TrimSpace(name)
		if e, there := info[name]; there && e.Formatting == "openai" {
			c.report("S1", c.value("dataset"), fail.New(fail.Config, msg.Text{
				"the data set %q has formatting openai: LLaMA-Factory adds the system turn %q to every row", "数据集 %q 的 formatting 为 openai：LLaMA-Factory 会给每一行加上系统轮 %q",
			}, name, thinkingOff).Hint(msg.Text{"write formatting: sharegpt, with role_tag, content_tag, user_tag, assistant_tag and system_tag", "请写 formatting: sharegpt，并给出 role_tag、content_tag、user_tag、assistant_tag 与 system_tag"}))
		}
	}
}

// swift looks for traps of ms-swift.
func (c *configCheck) swift() {
	if c.command != "sft" {
		return
	}
	switch {
	case c.text("truncation_strategy") == "left" || c.text("truncation_strategy") == "right":
		c.report("S12", c.value("truncation_strategy"), fail.New(fail.Config, msg.Text{"truncation_strategy %s trains rows that were cut", "truncation_strategy %s 会训练被截断的行"}, c.text("truncation_strategy")).
			Hint(msg.Text{"raise max_length, or write truncation_strategy delete", "请增大 max_length，或写 truncation_strategy delete"}))
	case !c.has("max_length") || !c.has("truncation_strategy"):
		c.warn("S12", nil, fail.New(fail.Config, msg.Text{
			"without max_length and truncation_strategy, ms-swift leaves rows that are too long out without a word", "未写 max_length 与 truncation_strategy 时，ms-swift 会不作提示地丢弃过长的行",
		}).Hint(msg.Text{"write both, and see drydock lint DATA --trainer swift --max-length N", "请两者都写，并用 drydock lint DATA --trainer swift --max-length N 检查"}))
	}
	if !c.is("strict") {
		c.report("S12", c.value("strict"), fail.New(fail.Config, msg.Text{"without strict, ms-swift leaves rows it cannot read out", "未启用 strict 时，ms-swift 会丢弃无法读取的行"}).
			Hint(msg.Text{"write strict true", "请写 strict true"}))
	}
	if v := c.value("add_non_thinking_prefix"); v != nil && !c.is("add_non_thinking_prefix") {
		c.report("S2", v, noBlock("add_non_thinking_prefix false"))
	}
	if t := c.text("template"); t == "qwen3_nothinking" || t == "qwen3_thinking" {
		c.report("S2", c.value("template"), noBlock("template "+t))
	} else if t != "" && t != "qwen3" {
		c.report("S2", c.value("template"), noBlock("template "+t))
	}
	if v := c.value("create_checkpoint_symlink"); v != nil && c.is("create_checkpoint_symlink") && (c.text("split_dataset_ratio") == "" || c.text("split_dataset_ratio") == "0") && !c.has("val_dataset") {
		c.report("symlink", v, fail.New(fail.Config, msg.Text{
			"create_checkpoint_symlink without an evaluation set ends with exit code 1 after the training", "create_checkpoint_symlink 在没有验证集时会在训练结束后以退出码 1 结束",
		}).Hint(msg.Text{"leave it out", "请去掉它"}))
	}
	if m := c.text("model"); m != "" && !c.has("template") && !strings.EqualFold(filepath.Base(m), "Qwen3-8B") {
		c.warn("model_type", c.value("model"), fail.New(fail.Config, msg.Text{"ms-swift cannot tell from the folder's name which model %s holds", "ms-swift 无法从文件夹名判断 %s 是哪种模型"}, m).
			Hint(msg.Text{"write model_type qwen3 and template qwen3", "请写 model_type qwen3 与 template qwen3"}))
	}
	if v := c.value("enable_thinking"); v != nil {
		c.warn("no_effect", c.key("enable_thinking"), fail.New(fail.Config, msg.Text{"enable_thinking changes nothing in a training by ms-swift", "enable_thinking 对 ms-swift 的训练没有任何作用"}).
			Hint(msg.Text{"disable_ignore_empty_think says whether the think block is trained", "思考块是否参与训练由 disable_ignore_empty_think 决定"}))
	}
}

func noBlock(what string) *fail.Error {
	return fail.New(fail.Config, msg.Text{
		"%s trains answers without the think block that Qwen3-8B's own template puts before them", "%s 训练的回答前没有思考块，而 Qwen3-8B 自带模板会加入",
	}, what).Hint(msg.Text{"write template qwen3 and leave add_non_thinking_prefix true", "请写 template qwen3，并保持 add_non_thinking_prefix 为 true"})
}

// trl looks for traps of TRL.
func (c *configCheck) trl() {
	name := "dtype"
	if before(c.version, "0.24.0") {
		name = "torch_dtype"
	}
	if d := c.text(name); (d == "" || d == "float32") && !c.is("use_cpu") && !c.has("dtype_from_checkpoint") {
		c.report("S7", c.value(name), fail.New(fail.Config, msg.Text{"TRL loads the weights of Qwen3-8B in 32 bits: 30.5 GiB in the place of 15.3 GiB", "TRL 会以 32 位加载 Qwen3-8B 的权重：30.5 GiB，而不是 15.3 GiB"}).
			Hint(msg.Text{"write %s: bfloat16", "请写 %s: bfloat16"}, name))
	}
	if !c.has("max_length") && !(before(c.version, "0.20.0") && c.has("max_seq_length")) {
		c.report("S8", nil, fail.New(fail.Config, msg.Text{"without max_length TRL cuts rows at 1024 tokens, and what it cuts off is the answer", "未写 max_length 时 TRL 在 1024 个 token 处截断，被截掉的是回答"}).
			Hint(msg.Text{"write max_length, as long as the longest row", "请写 max_length，不小于最长的行"}))
	}
	if c.command == "sft" && !c.is("assistant_only_loss") && c.firstRow("messages") && !c.firstRow("completion") {
		c.report("S9", c.value("datasets"), fail.New(fail.Config, msg.Text{"rows of messages without assistant_only_loss train the questions, too", "messages 行在未启用 assistant_only_loss 时会把问题也纳入训练"}).
			Hint(msg.Text{"drydock convert DATA --to prompt_completion; or write assistant_only_loss: true", "drydock convert DATA --to prompt_completion；或写 assistant_only_loss: true"}))
	}
	if v := c.value("resume_from_checkpoint"); c.text("resume_from_checkpoint") != "" && before(c.version, trlResumes) {
		c.report("S10", v, fail.New(fail.Config, msg.Text{"TRL %s takes resume_from_checkpoint and begins at step 0 all the same", "TRL %s 虽接受 resume_from_checkpoint，却仍从第 0 步开始"}, c.version).
			Hint(msg.Text{"pip install trl==%s goes on from it", "pip install trl==%s 可从该检查点继续"}, trlResumes))
	}
}

// firstRow reports whether the first row of the local data has a field.
func (c *configCheck) firstRow(field string) bool {
	for _, file := range c.dataFiles() {
		for _, path := range []string{file, filepath.Join(c.dir, file)} {
			f, err := os.Open(path)
			if err != nil {
				continue
			}
			line, _ := bufio.NewReaderSize(f, 1<<20).ReadBytes('\n')
			f.Close()
			var row map[string]json.RawMessage
			if json.Unmarshal(line, &row) == nil && row[field] != nil {
				return true
			}
			break
		}
	}
	return false
}

// dataFiles are the files under datasets.
func (c *configCheck) dataFiles() []string {
	list := c.value("datasets")
	if list == nil || list.Kind != yaml.SequenceNode {
		return nil
	}
	var out []string
	for _, item := range list.Content {
		files := spec.ValueOf(item, "data_files")
		if files == item || files == nil {
			continue
		}
		for _, n := range append([]*yaml.Node{files}, files.Content...) {
			if n.Kind == yaml.ScalarNode {
				out = append(out, n.Value)
			}
		}
	}
	return out
}

// axolotl looks for traps of axolotl.
func (c *configCheck) axolotl() {
	if !c.has("sequence_len") {
		c.report("S11", nil, fail.New(fail.Config, msg.Text{"without sequence_len axolotl takes rows of up to 512 tokens", "未写 sequence_len 时 axolotl 只接受至多 512 个 token 的行"}).
			Hint(msg.Text{"write sequence_len, as long as the longest row", "请写 sequence_len，不小于最长的行"}))
	}
	if s := c.text("excess_length_strategy"); s != "raise" {
		what := msg.Text{"leaves rows that are too long out", "会丢弃过长的行"}
		if s == "truncate" {
			what = msg.Text{"cuts rows that are too long", "会截断过长的行"}
		}
		c.report("S11", c.value("excess_length_strategy"), fail.New(fail.Config, msg.Text{"axolotl %s, without a word", "axolotl %s，且不作提示"}, what).
			Hint(msg.Text{"write excess_length_strategy: raise", "请写 excess_length_strategy: raise"}))
	}
	c.axolotlTemplate()
	if a := c.text("adapter"); a == "lora" || a == "qlora" {
		if !c.has("lora_r") {
			c.report("no_rank", c.value("adapter"), fail.New(fail.Config, msg.Text{"adapter %s needs lora_r; axolotl does not say so", "adapter %s 需要 lora_r；axolotl 不会提示"}, a))
		}
		if !c.has("lora_target_linear") && !c.has("lora_target_modules") && !c.has("lora_target_parameters") {
			c.report("no_target", c.value("adapter"), fail.New(fail.Config, msg.Text{"adapter %s names no module to adapt", "adapter %s 未指定要适配的模块"}, a).
				Hint(msg.Text{"write lora_target_linear: true", "请写 lora_target_linear: true"}))
		}
	}
	if c.is("sample_packing") && c.text("attn_implementation") == "sdpa" {
		c.report("packing", c.value("sample_packing"), fail.New(fail.Config, msg.Text{"sample_packing with sdpa lets rows of one pack see each other", "sample_packing 与 sdpa 同用时，同一打包内的行会互相可见"}).
			Hint(msg.Text{"write attn_implementation: flash_attention_2, or leave packing out", "请写 attn_implementation: flash_attention_2，或不使用打包"}))
	}
}

// axolotlTemplate checks the template of the file and of each data set.
func (c *configCheck) axolotlTemplate() {
	if c.has("pretraining_dataset") {
		return
	}
	check := func(v *yaml.Node) {
		if v.Kind != yaml.ScalarNode || v.Tag == "!!null" || v.Value == "tokenizer_default" || strings.HasPrefix(v.Value, "tokenizer_default_fallback_") {
			return
		}
		e := fail.New(fail.Config, msg.Text{"chat_template %s is not the tokenizer's: another prompt is trained, and it is saved with the model", "chat_template %s 不是分词器自带的：训练的是另一种提示，且会随模型保存"}, v.Value)
		if v.Value == "qwen3" {
			e = fail.New(fail.Config, msg.Text{
				"axolotl's own chat_template qwen3 opens an answer with <think>, and is saved with the model", "axolotl 自带的 chat_template qwen3 会以 <think> 开始回答，且会随模型保存",
			})
		}
		c.report("S13", v, e.Hint(msg.Text{"write chat_template: tokenizer_default", "请写 chat_template: tokenizer_default"}))
	}
	if v := c.value("chat_template"); v != nil {
		check(v)
	}
	list := c.value("datasets")
	if list == nil || list.Kind != yaml.SequenceNode {
		return
	}
	for _, item := range list.Content {
		if v := entry(item, "chat_template"); v != nil {
			check(v)
		}
		for _, name := range []string{"roles_to_train", "train_on_eos"} {
			if v := entry(item, name); v != nil && v.Tag == "!!null" {
				c.warn("null_default", v, fail.New(fail.Config, msg.Text{"axolotl leaves %s: null out, and its default holds: the think block is not trained", "axolotl 会忽略 %s: null 而使用默认值：思考块不参与训练"}, name).
					Hint(msg.Text{"rows of segments under type: input_output train it: drydock prep --to axolotl-segments", "type: input_output 的 segments 行会训练它：drydock prep --to axolotl-segments"}))
			}
		}
	}
}

// key returns the node of a setting's name.
func (c *configCheck) key(name string) *yaml.Node {
	for _, p := range c.values {
		if p.Key.Value == name {
			return p.Key
		}
	}
	return nil
}
