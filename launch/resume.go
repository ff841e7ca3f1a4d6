package launch

import (
	"archive/zip"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/launch/checkpoint"
)

// A Checkpoint is a folder a training can go on from.
type Checkpoint struct {
	Dir      string  `json:"dir"`
	Step     int     `json:"step"`
	MaxSteps int     `json:"max_steps"` // the training it was cut from meant to take; 0: not known
	Losses   []Event `json:"-"`         // the figures up to it
}

// A Broken is a checkpoint nothing can go on from.
type Broken struct {
	Dir string
	Why msg.Localizer
}

// LastCheckpoint returns the last whole checkpoint of a folder and those behind
// it that are broken; c is nil when none is whole.
func LastCheckpoint(output string) (c *Checkpoint, broken []Broken) {
	steps := checkpoint.Steps(output)
	for i := len(steps) - 1; i >= 0; i-- {
		found, why := ReadCheckpoint(checkpoint.StepDir(output, steps[i]))
		if why == nil {
			return found, broken
		}
		broken = append(broken, Broken{checkpoint.StepDir(output, steps[i]), why})
	}
	return nil, broken
}

// ReadCheckpoint reads a checkpoint as far as is needed to know that it is whole:
// its state, which trainers write last, is JSON; the weights are as long as their
// headers say; the optimizer is there and was closed. why says what is missing,
// nil when nothing is.
func ReadCheckpoint(dir string) (c *Checkpoint, why msg.Localizer) {
	s, err := checkpoint.ReadState(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, msg.Text{"there is no trainer_state.json: it was cut while it was written", "缺少 trainer_state.json：写入时被中断"}
	case err != nil || s.Step == nil:
		return nil, msg.Text{"trainer_state.json is not whole", "trainer_state.json 不完整"}
	}
	if why := wholeWeights(dir); why != nil {
		return nil, why
	}
	if why := wholeOptimizer(dir); why != nil {
		return nil, why
	}
	c = &Checkpoint{Dir: dir, Step: *s.Step, MaxSteps: s.MaxSteps, Losses: figuresOf(s, "", 0)}
	return c, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// wholeWeights looks at an adapter, or at all the parts of full weights.
func wholeWeights(dir string) msg.Localizer {
	if exists(filepath.Join(dir, "latest")) || exists(filepath.Join(dir, "pytorch_model_fsdp_0")) {
		return nil // DeepSpeed and FSDP keep the weights with the optimizer
	}
	if found, err := checkpoint.Whole(dir); err != nil {
		return msg.Phrase{Text: msg.Text{"the weights are not whole: %v", "权重不完整：%v"}, Args: []any{err}}
	} else if found {
		return nil
	}
	for _, old := range []string{"adapter_model.bin", "pytorch_model.bin"} {
		path := filepath.Join(dir, old)
		if !exists(path) {
			continue
		}
		if err := wholeArchive(path); err != nil {
			return msg.Phrase{Text: msg.Text{"%s is not whole: %v", "%s 不完整：%v"}, Args: []any{old, err}}
		}
		return nil
	}
	return msg.Text{"there are no weights in it", "其中没有权重"}
}

// wholeArchive checks that a file of torch.save, a zip archive, was closed.
func wholeArchive(path string) error {
	z, err := zip.OpenReader(path)
	if err != nil {
		return err
	}
	return z.Close()
}

// wholeOptimizer looks for the state of the optimizer: without it a training
// could only begin anew from the weights.
func wholeOptimizer(dir string) msg.Localizer {
	if b, err := os.ReadFile(filepath.Join(dir, "latest")); err == nil { // DeepSpeed
		name := strings.TrimSpace(string(b))
		if name == "" || name != filepath.Base(name) || !exists(filepath.Join(dir, name)) {
			return msg.Phrase{Text: msg.Text{"the folder %q, named by latest, is missing", "缺少 latest 所指的文件夹 %q"}, Args: []any{name}}
		}
		return nil
	}
	if exists(filepath.Join(dir, "optimizer_0")) { // FSDP
		return nil
	}
	for _, name := range []string{"optimizer.pt", "optimizer.bin"} {
		path := filepath.Join(dir, name)
		if !exists(path) {
			continue
		}
		if err := wholeArchive(path); err != nil {
			return msg.Phrase{Text: msg.Text{"%s is not whole: %v", "%s 不完整：%v"}, Args: []any{name, err}}
		}
		return nil
	}
	return msg.Text{
		"there is no optimizer state (save_only_model): weights alone cannot be gone on with",
		"没有优化器状态（save_only_model）：只有权重无法继续训练",
	}
}
