package eval

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// A Checkpoint is a LoRA adapter that a training left.
type Checkpoint struct {
	Name   string // of its folder: checkpoint-400
	Step   int    // training step; 0: not known
	Dir    string // absolute
	SHA256 string // of weights and configuration, 64 hex digits; zeros: they cannot be read
	// Problem is why it cannot be served; nil: it can, as far as its files tell.
	Problem *fail.Error
}

// Served is the name it is served under. Its content is part of the name: a
// server must not take it for one it knows, nor its cache for another's
// (vLLM #42125).
func (c *Checkpoint) Served() string { return c.Name + "-" + c.SHA256[:8] }

var stepNumber = regexp.MustCompile(`(\d+)$`)

// FindCheckpoints returns the adapters of a folder in the order of their steps:
// its subfolders with an adapter_config.json, or itself. One that is not whole,
// or that vLLM will not serve, has a Problem.
func FindCheckpoints(dir string) ([]Checkpoint, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(abs)
	if err != nil {
		return nil, fail.New(fail.Usage, msg.Text{"%v", "%v"}, err)
	}
	folders := []string{}
	for _, e := range entries {
		if e.IsDir() {
			folders = append(folders, filepath.Join(abs, e.Name()))
		}
	}
	var found []Checkpoint
	full := 0
	for _, f := range folders {
		if isFile(filepath.Join(f, "adapter_config.json")) {
			found = append(found, readCheckpoint(f))
		} else if isFile(filepath.Join(f, "config.json")) {
			full++
		}
	}
	if len(found) == 0 && isFile(filepath.Join(abs, "adapter_config.json")) {
		found = append(found, readCheckpoint(abs))
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

func isFile(path string) bool {
	s, err := os.Stat(path)
	return err == nil && s.Mode().IsRegular()
}

// adapterConfig is what vLLM looks at in adapter_config.json.
type adapterConfig struct {
	Type    string          `json:"peft_type"`
	DoRA    bool            `json:"use_dora"`
	Modules json.RawMessage `json:"modules_to_save"`
	Bias    string          `json:"bias"`
}

func readCheckpoint(dir string) Checkpoint {
	c := Checkpoint{Name: filepath.Base(dir), Dir: dir, SHA256: strings.Repeat("0", 64)}
	if m := stepNumber.FindString(c.Name); m != "" {
		c.Step, _ = strconv.Atoi(m)
	}
	problem := func(text msg.Text, args ...any) Checkpoint {
		c.Problem = fail.New(fail.Failed, text, args...)
		return c
	}
	// the trainer writes this one last
	if b, err := os.ReadFile(filepath.Join(dir, "trainer_state.json")); err == nil {
		var state struct {
			Step *int `json:"global_step"`
		}
		if json.Unmarshal(b, &state) != nil {
			return problem(msg.Text{"trainer_state.json is not whole: the checkpoint was cut while it was written", "trainer_state.json 不完整：检查点写入时被中断"})
		}
		if state.Step != nil {
			c.Step = *state.Step
		}
	}
	raw, err := os.ReadFile(filepath.Join(dir, "adapter_config.json"))
	if err != nil {
		return problem(msg.Text{"%v", "%v"}, err)
	}
	var config adapterConfig
	if err := json.Unmarshal(raw, &config); err != nil {
		return problem(msg.Text{"adapter_config.json: %v", "adapter_config.json：%v"}, err)
	}
	weights := filepath.Join(dir, "adapter_model.safetensors")
	sum, err := hashOf(raw, weights)
	if err == nil {
		c.SHA256 = sum
	}
	switch {
	case os.IsNotExist(err):
		return problem(msg.Text{"there is no adapter_model.safetensors: the checkpoint is not whole", "缺少 adapter_model.safetensors：检查点不完整"})
	case err != nil:
		return problem(msg.Text{"%v", "%v"}, err)
	case config.DoRA:
		return problem(msg.Text{"the adapter uses DoRA, which vLLM does not serve; merge it into its base", "适配器使用 DoRA，vLLM 不支持；请合并到基座"})
	case present(config.Modules):
		return problem(msg.Text{"the adapter has modules_to_save, which vLLM does not serve; merge it into its base", "适配器含 modules_to_save，vLLM 不支持；请合并到基座"})
	case config.Bias != "" && config.Bias != "none":
		return problem(msg.Text{"the adapter trains biases (%s), which vLLM does not serve; merge it into its base", "适配器训练了偏置（%s），vLLM 不支持；请合并到基座"}, config.Bias)
	case config.Type != "" && !strings.EqualFold(config.Type, "LORA"):
		return problem(msg.Text{"peft_type %s is no LoRA", "peft_type %s 不是 LoRA"}, config.Type)
	}
	if zero, err := untrained(weights); err != nil {
		return problem(msg.Text{"adapter_model.safetensors: %v", "adapter_model.safetensors：%v"}, err)
	} else if zero {
		return problem(msg.Text{"all B matrices are zero: the adapter changes nothing", "所有 B 矩阵均为零：适配器不起作用"})
	}
	return c
}

// present tells a JSON value that says something.
func present(v json.RawMessage) bool {
	switch string(v) {
	case "", "null", "[]", `""`:
		return false
	}
	return true
}

func hashOf(config []byte, weights string) (string, error) {
	f, err := os.Open(weights)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	h.Write(config)
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// longestHeader bounds the JSON that a safetensors file begins with, as the
// format does.
const longestHeader = 100 << 20

// untrained tells whether every lora_B tensor of a safetensors file is zero: the
// state of an adapter before its first step. A file without such tensors is
// none.
func untrained(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	var size [8]byte
	if _, err := io.ReadFull(f, size[:]); err != nil {
		return false, err
	}
	n := binary.LittleEndian.Uint64(size[:])
	if n == 0 || n > longestHeader {
		return false, fmt.Errorf("a header of %d bytes is none", n)
	}
	header := make([]byte, n)
	if _, err := io.ReadFull(f, header); err != nil {
		return false, err
	}
	var tensors map[string]struct {
		Offsets [2]int64 `json:"data_offsets"`
	}
	if err := json.Unmarshal(header, &tensors); err != nil {
		return false, err
	}
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	seen := false
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		t := tensors[name]
		if from, to := t.Offsets[0], t.Offsets[1]; from < 0 || to < from || to > info.Size()-int64(8+n) {
			return false, fmt.Errorf("tensor %s lies outside the file: it was cut", name)
		}
		if !strings.Contains(name, "lora_B") {
			continue
		}
		seen = true
		part := io.NewSectionReader(f, int64(8+n)+t.Offsets[0], t.Offsets[1]-t.Offsets[0])
		if zero, err := allZero(part); err != nil || !zero {
			return false, err
		}
	}
	return seen, nil
}

func allZero(r io.Reader) (bool, error) {
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		for _, b := range buf[:n] {
			if b != 0 {
				return false, nil
			}
		}
		switch err {
		case nil:
		case io.EOF:
			return true, nil
		default:
			return false, err
		}
	}
}
