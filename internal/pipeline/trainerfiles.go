package pipeline

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/dataprep/rowfile"
	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/launch/feed"
)

// PutDatasetInfo puts the entry for rows into the dataset_info.json beside them,
// where LLaMA-Factory looks for it, and returns the file and the entry. rows is
// what the rows were written as, besides lists columns as [emit.DatasetInfo] takes
// them. Of a folder for load_from_disk there is no entry:
// LLaMA-Factory takes none.
func PutDatasetInfo(rows string, kind rowfile.Kind, task emit.Task, besides ...string) (file string, entry []byte, err error) {
	name, key := filepath.Base(rows), beside(filepath.Base(rows), "")
	switch kind {
	case rowfile.Disk:
		return "", nil, nil
	case rowfile.Hub: // a folder must hold files of one kind, as data does
		name += "/data"
	}
	entry = emit.DatasetInfo(name, task, besides...)
	file = filepath.Join(filepath.Dir(rows), emit.DatasetInfoName)
	old, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", entry, err
	}
	merged, err := emit.MergeDatasetInfo(old, key, entry)
	if err != nil {
		return "", entry, fail.New(fail.Partial, msg.Text{"%s: the entry for the rows was not put in: %v", "%s：未写入该数据的条目：%v"}, file, err).
			Hint(msg.Text{"add it by hand: %s", "请手动加入：%s"}, string(entry))
	}
	if bytes.Equal(old, merged) {
		return file, entry, nil
	}
	return file, entry, atomicfile.WriteFile(file, merged)
}

// TrainerSettings are the lines of a trainer's configuration that belong to rows of
// a target, in its own words: how it finds them in file and what keeps their
// contract. It is nil for rows of no one trainer.
func TrainerSettings(t emit.Target, contract emit.Contract, file string, kind rowfile.Kind) []string {
	var lines []string
	switch t.Trainer {
	case "swift":
		lines = []string{"--dataset " + file}
		switch t.Task {
		case emit.DPO, emit.KTO:
			lines = append(lines, "--rlhf_type "+string(t.Task))
		}
	case "llamafactory":
		if kind != rowfile.Disk {
			lines = []string{"dataset_dir: " + path.Dir(file), "dataset: " + beside(path.Base(file), "")}
		}
	case "axolotl":
		lines = axolotlLines(t, file, kind)
	case "trl":
	default:
		return nil
	}
	if t.Task != emit.SFT || t.Name == "axolotl-segments" {
		return lines
	}
	s, err := feed.For(t.Trainer, contract)
	if err != nil {
		return lines
	}
	for _, w := range s.Words {
		if !slices.Contains(lines, "    "+w) {
			lines = append(lines, w)
		}
	}
	return lines
}

// axolotlLines are the entry of axolotl's datasets.
func axolotlLines(t emit.Target, file string, kind rowfile.Kind) []string {
	var head []string
	lines := []string{"datasets:", "  - path: " + file}
	switch kind {
	case rowfile.Parquet, rowfile.Arrow:
		lines = append(lines, "    ds_type: "+string(kind))
	case rowfile.JSON, rowfile.JSONL:
		lines = append(lines, "    ds_type: json")
	}
	switch {
	case t.Name == "axolotl-segments":
		lines = append(lines, "    type: input_output")
	case t.Task == emit.DPO:
		head = []string{"rl: dpo"}
		lines = append(lines, "    type: chat_template.default", "    field_messages: messages", "    field_chosen: chosen", "    field_rejected: rejected")
	default:
		lines = append(lines, "    type: chat_template", "    field_messages: messages")
	}
	return append(head, lines...)
}

// trainerFiles writes what a trainer needs beside an output's rows, and says which
// settings belong to them.
func (c *corpus) trainerFiles(i int, row *OutputResult) (files []string, err error) {
	o := c.r.cfg.Output[i]
	b, trains := o.builder.(emit.Trained)
	if !trains {
		return nil, nil
	}
	t := b.Target()
	row.Settings = TrainerSettings(t, o.contract(), filepath.ToSlash(o.path()), o.kind())
	if t.Trainer != "llamafactory" {
		return nil, nil
	}
	for _, f := range row.sides() {
		file, _, err := PutDatasetInfo(inside(c.r.base, f.Path), o.kind(), t.Task)
		var unread *fail.Error
		if errors.As(err, &unread) {
			c.r.partial = append(c.r.partial, unread)
			continue
		}
		if err != nil {
			return nil, err
		}
		if file != "" && !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	return files, nil
}
