package checkpoint

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// A Checkpoint is a LoRA adapter that a training left.
type Checkpoint struct {
	Name     string    // of its folder: checkpoint-400
	Step     int       // training step; 0: not known
	Dir      string    // absolute
	SHA256   string    // of configuration and weights, 64 hex digits; zeros: they cannot be read
	Rank     int       // the largest of its modules; 0: not known
	Findings []Finding // what its files tell
	// Problem is why it cannot be served; nil: it can, as far as its files tell.
	Problem *fail.Error
}

// Served is the name it is served under. Its content is part of the name: a
// server must not take it for one it knows, nor its cache for another's
// (vLLM #42125).
func (c *Checkpoint) Served() string { return c.Name + "-" + c.SHA256[:8] }

// IsAdapter reports whether a folder holds an adapter.
func IsAdapter(dir string) bool { return isFile(filepath.Join(dir, adapterConfigFile)) }

// IsModel reports whether a folder holds a whole model.
func IsModel(dir string) bool { return isFile(filepath.Join(dir, configFile)) && !IsAdapter(dir) }

// Find returns the adapters of a folder in the order of their steps: its
// subfolders with an adapter_config.json, or itself. One that is not whole, or
// that vLLM will not serve, has a Problem.
func Find(dir string, o AdapterOptions) ([]Checkpoint, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(abs)
	if err != nil {
		return nil, fail.New(fail.Usage, msg.Text{"%v", "%v"}, err)
	}
	var found []Checkpoint
	full := 0
	for _, e := range entries {
		f := filepath.Join(abs, e.Name())
		switch {
		case !e.IsDir():
		case IsAdapter(f):
			found = append(found, Read(f, o))
		case IsModel(f):
			full++
		}
	}
	if len(found) == 0 && IsAdapter(abs) {
		found = append(found, Read(abs, o))
	}
	if len(found) == 0 {
		e := fail.New(fail.Usage, msg.Text{"%s: no folder in it holds an adapter_config.json", "%s：其中没有含 adapter_config.json 的目录"}, dir)
		if full > 0 {
			return nil, e.Hint(msg.Text{"full checkpoints cannot be loaded into a running server: serve each and evaluate it by itself", "完整检查点无法载入运行中的服务：请逐个部署并分别评测"})
		}
		return nil, e.Hint(msg.Text{"name the trainer's output folder, in which checkpoint-N lie", "请指定训练器的输出目录，其中含 checkpoint-N"})
	}
	slices.SortStableFunc(found, func(a, b Checkpoint) int {
		return cmp.Or(cmp.Compare(a.Step, b.Step), cmp.Compare(a.Name, b.Name))
	})
	return found, nil
}

// Read looks at one adapter.
func Read(dir string, o AdapterOptions) Checkpoint {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	c := Checkpoint{Name: filepath.Base(dir), Dir: dir, SHA256: strings.Repeat("0", 64)}
	c.Step = stepOf(dir)
	var l findings
	if _, err := ReadState(dir); err != nil && !errors.As(err, new(*os.PathError)) { // a merge of one's own has none
		l.add("cut", Error, "", msg.Text{"trainer_state.json is not whole: the checkpoint was cut while it was written", "trainer_state.json 不完整：检查点写入时被中断"})
	}
	if raw, err := os.ReadFile(filepath.Join(dir, adapterConfigFile)); err == nil {
		if sum, err := hashFiles(filepath.Join(dir, adapterConfigFile), filepath.Join(dir, adapterWeights)); err == nil {
			c.SHA256 = sum
		}
		if config, err := readAdapterConfig(raw); err == nil {
			ranks := config.ranks()
			c.Rank = int(max(0, min(ranks[len(ranks)-1], 1<<20)))
		}
	}
	c.Findings = append(l, CheckAdapter(dir, o)...)
	if f := Worst(c.Findings); f != nil {
		c.Problem = f.Err()
	}
	return c
}

// stepOf is the step of a checkpoint: as its state says, or else its name, as in
// checkpoint-400; 0 where neither does.
func stepOf(dir string) int {
	if state, err := ReadState(dir); err == nil && state.Step != nil {
		return *state.Step
	}
	name := filepath.Base(dir)
	stem := strings.TrimRight(name, "0123456789")
	if !strings.HasSuffix(stem, "-") && !strings.HasSuffix(stem, "_") {
		return 0 // bf16, rank8
	}
	step, _ := strconv.Atoi(name[len(stem):])
	return step
}
