package pipeline

import (
	"path/filepath"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/launch"
)

// trainData is the first output that holds rows the trainer's method takes.
func (c *Config) trainData() (path string, contract emit.Contract) {
	kind := c.trainRows()
	for _, o := range c.Output {
		t, trains := o.builder.(emit.Trained)
		if trains && fitsTrainer(t.Target(), c.Train.name, kind) && filepath.Ext(o.path()) == ".jsonl" {
			return filepath.ToSlash(o.path()), o.contract()
		}
	}
	return "", ""
}

// trainRows says what rows the trainer's method takes; conversations where it
// does not say.
func (c *Config) trainRows() launch.RowKind {
	if t, ok := c.Train.trainer.(launch.RowTaker); ok {
		return t.Rows()
	}
	return launch.RowsChat
}

// fitsTrainer reports whether a trainer takes the rows of an output. All read
// messages, the rows named after them, and running text; pairs are laid out for
// each.
func fitsTrainer(t emit.Target, trainer string, kind launch.RowKind) bool {
	switch kind {
	case launch.RowsPairs:
		return t.Task == emit.DPO && t.Trainer == trainer
	case launch.RowsText:
		return t.Task == emit.Pretrain && (t.Trainer == "" || t.Trainer == trainer)
	}
	return t.Task == emit.SFT && (t.Messages || t.Name == trainer)
}

// noTrainData says which output the trainer's method needs.
func (c *Config) noTrainData() *fail.Error {
	e := fail.New(fail.Config, msg.Text{"no output writes training rows", "没有任何输出写出训练数据"})
	shape := "qwen3_chat"
	switch c.trainRows() {
	case launch.RowsPairs:
		shape = c.Train.name + "-dpo"
	case launch.RowsText:
		shape = "text"
	}
	return e.Hint(msg.Text{"add an output of shape %s, in a .jsonl file", "请加入 %s 形式的输出（.jsonl 文件）"}, shape)
}

func (c *Config) noTrainer() *fail.Error {
	return fail.New(fail.Config, msg.Text{"%s names no trainer", "%s 未指定训练器"}, filepath.Base(c.File)).
		Hint(msg.Text{"add train: {llamafactory: {method: lora}}", "请加入 train: {llamafactory: {method: lora}}"})
}
