package launch

import (
	"archive/zip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/drydock-ml/drydock/internal/msg"
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
	steps := checkpointSteps(output)
	for i := len(steps) - 1; i >= 0; i-- {
		found, why := ReadCheckpoint(checkpointDir(output, steps[i]))
		if why == nil {
			return found, broken
		}
		broken = append(broken, Broken{checkpointDir(output, steps[i]), why})
	}
	return nil, broken
}

// ReadCheckpoint reads a checkpoint as far as is needed to know that it is whole:
// its state, which trainers write last, is JSON; the weights are as long as their
// headers say; the optimizer is there and was closed. why says what is missing,
// nil when nothing is.
func ReadCheckpoint(dir string) (c *Checkpoint, why msg.Localizer) {
	s, err := readState(dir)
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
	c = &Checkpoint{Dir: dir, Step: *s.Step, MaxSteps: s.MaxSteps, Losses: s.events("", 0)}
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
	names := []string{"adapter_model.safetensors", "model.safetensors"}
	if b, err := os.ReadFile(filepath.Join(dir, "model.safetensors.index.json")); err == nil {
		var index struct {
			Files map[string]string `json:"weight_map"`
		}
		if json.Unmarshal(b, &index) != nil {
			return msg.Text{"model.safetensors.index.json is not whole", "model.safetensors.index.json 不完整"}
		}
		for _, part := range index.Files {
			if part != filepath.Base(part) || !exists(filepath.Join(dir, part)) {
				return msg.Phrase{Text: msg.Text{"%s is missing", "缺少 %s"}, Args: []any{part}}
			}
		}
		names = nil
		seen := map[string]bool{}
		for _, part := range index.Files {
			if !seen[part] {
				seen[part] = true
				names = append(names, part)
			}
		}
	}
	found := false
	for _, name := range names {
		path := filepath.Join(dir, name)
		if !exists(path) {
			continue
		}
		found = true
		if err := wholeSafetensors(path); err != nil {
			return msg.Phrase{Text: msg.Text{"%s is not whole: %v", "%s 不完整：%v"}, Args: []any{name, err}}
		}
	}
	for _, old := range []string{"adapter_model.bin", "pytorch_model.bin"} {
		path := filepath.Join(dir, old)
		if !found && exists(path) {
			if err := wholeArchive(path); err != nil {
				return msg.Phrase{Text: msg.Text{"%s is not whole: %v", "%s 不完整：%v"}, Args: []any{old, err}}
			}
			found = true
		}
	}
	if !found {
		return msg.Text{"there are no weights in it", "其中没有权重"}
	}
	return nil
}

// maxHeader is the longest header that safetensors' own reader takes.
const maxHeader = 100_000_000

// wholeSafetensors checks that a file holds as many bytes as its header says.
func wholeSafetensors(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var size uint64
	if err := binary.Read(f, binary.LittleEndian, &size); err != nil {
		return errors.New("no header")
	}
	if size > maxHeader || int64(size) > info.Size()-8 {
		return errors.New("the header is cut")
	}
	header := make([]byte, size)
	if _, err := io.ReadFull(f, header); err != nil {
		return err
	}
	var tensors map[string]struct {
		Offsets [2]int64 `json:"data_offsets"`
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(header, &raw); err != nil {
		return fmt.Errorf("header: %w", err)
	}
	delete(raw, "__metadata__")
	clean, err := json.Marshal(raw)
	if err == nil {
		err = json.Unmarshal(clean, &tensors)
	}
	if err != nil {
		return fmt.Errorf("header: %w", err)
	}
	end := int64(0)
	for _, t := range tensors {
		end = max(end, t.Offsets[1])
	}
	if end < 0 || end > math.MaxInt64-8-int64(size) || info.Size() != 8+int64(size)+end {
		return fmt.Errorf("%d bytes instead of %d", info.Size(), 8+int64(size)+end)
	}
	return nil
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
