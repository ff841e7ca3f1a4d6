package launch

import (
	"context"
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// A GPU is a graphics card as NVIDIA's tool lists it.
type GPU struct {
	Index  int    `json:"index"`
	Name   string `json:"name"`
	Memory int64  `json:"memory"` // bytes
	Free   int64  `json:"free"`   // bytes that no process holds
	Driver string `json:"driver"`
	// Compute is the compute capability, such as "9.0"; "" when the driver is
	// too old to say.
	Compute string `json:"compute,omitempty"`
}

// GPUs lists the cards nvidia-smi knows, in its order. There are none, and no
// error, where the tool is not installed; a tool that fails is an error of kind
// Trainer with its own words.
func (h Host) GPUs(ctx context.Context) ([]GPU, error) {
	tool, err := h.LookPath("nvidia-smi")
	if err != nil {
		return nil, nil
	}
	out, err := h.Output(ctx, tool, "--query-gpu=index,name,memory.total,memory.free,driver_version,compute_cap", "--format=csv,noheader,nounits")
	if err != nil {
		return nil, fail.New(fail.Trainer, msg.Text{"nvidia-smi: %s", "nvidia-smi：%s"}, strings.TrimSpace(string(out))).Because(err)
	}
	r := csv.NewReader(strings.NewReader(string(out)))
	r.TrimLeadingSpace, r.FieldsPerRecord, r.LazyQuotes = true, -1, true
	rows, err := r.ReadAll()
	if err != nil {
		return nil, err
	}
	var gpus []GPU
	for _, f := range rows {
		if len(f) < 5 {
			continue // a notice between the rows
		}
		g := GPU{Name: f[1], Memory: mebibytes(f[2]), Free: mebibytes(f[3]), Driver: f[4]}
		if g.Index, err = strconv.Atoi(f[0]); err != nil {
			continue
		}
		if len(f) > 5 && !strings.HasPrefix(f[5], "[") { // [N/A], [Not Supported]
			g.Compute = f[5]
		}
		gpus = append(gpus, g)
	}
	return gpus, nil
}

func mebibytes(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0 // [N/A]
	}
	return n << 20
}

// VisibleGPUs keeps the cards that CUDA_VISIBLE_DEVICES names by number. Other
// forms (UUIDs, MIG slices) leave the list as it is.
func VisibleGPUs(gpus []GPU, environ []string) []GPU {
	const name = "CUDA_VISIBLE_DEVICES="
	value, set := "", false
	for _, kv := range environ {
		if v, ok := strings.CutPrefix(kv, name); ok {
			value, set = v, true
		}
	}
	if !set {
		return gpus
	}
	var out []GPU
	for field := range strings.SplitSeq(value, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(field))
		if err != nil {
			if strings.TrimSpace(field) == "" {
				break
			}
			return gpus
		}
		if n < 0 {
			break // CUDA stops at the first that does not exist
		}
		for _, g := range gpus {
			if g.Index == n {
				out = append(out, g)
			}
		}
	}
	return out
}

// existing is dir, or the nearest folder above it that exists.
func existing(dir string) string {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "."
	}
	for {
		if _, err := os.Stat(dir); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return dir
		}
		dir = up
	}
}
