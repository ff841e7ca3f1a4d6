package checkpoint_test

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/launch/checkpoint"
)

// stored is what a file keeps of values.
func (m matrix) stored() []float64 {
	out := make([]float64, len(m.values))
	raw := m.bytes()
	for i := range out {
		switch m.dtype {
		case "BF16":
			out[i] = float64(math.Float32frombits(uint32(raw[2*i])<<16 | uint32(raw[2*i+1])<<24))
		default:
			out[i] = float64(m.values[i])
		}
	}
	return out
}

// merged adds factor·scale·B·A to the weights an adapter is for, the sum written
// in dtype.
func merged(base, adapter map[string]matrix, scale float64, dtype string) map[string]matrix {
	out := maps.Clone(base)
	for name := range modules() {
		w, a, b := base[name+".weight"], adapter["base_model.model."+name+".lora_A.weight"], adapter["base_model.model."+name+".lora_B.weight"]
		rank, cols := int(a.shape[0]), int(a.shape[1])
		av, bv := a.stored(), b.stored()
		m := matrix{dtype: dtype, shape: w.shape, values: make([]float32, len(w.values))}
		for i, v := range w.stored() {
			for k := range rank {
				v += scale * bv[i/cols*rank+k] * av[k*cols+i%cols]
			}
			m.values[i] = float32(v)
		}
		out[name+".weight"] = m
	}
	return out
}

// What a merge came to is told from the weights: right, forgotten, twice, with
// another scale, of another adapter, in one layer only.
func TestCheckMerge(t *testing.T) {
	t.Parallel()
	const scale = 2 // alpha 8, rank 4
	base, baseDir := baseTensors(), writeBase(t)
	adapter := adapterTensors(4, 0.05)
	config := adapterConfig()
	adapterDir := write(t, filepath.Join(t.TempDir(), "checkpoint-40"), map[string]any{"adapter_config.json": config, "adapter_model.safetensors": tensors(adapter)})
	other := maps.Clone(adapter)
	for i, n := range slices.Sorted(maps.Keys(other)) {
		other[n] = filled(other[n].shape[0], other[n].shape[1], noise(uint64(900+i), 0.1)).as("F32")
	}
	const one = "model.layers.1.mlp.up_proj.weight"
	for _, c := range []struct {
		name    string
		weights map[string]matrix
		want    checkpoint.Verdict
		factor  float64
		bad     int
	}{
		{"bfloat16", merged(base, adapter, scale, "BF16"), checkpoint.Merged, 1, 0},
		{"float16", merged(base, adapter, scale, "F16"), checkpoint.Merged, 1, 0},
		{"float32", merged(base, adapter, scale, "F32"), checkpoint.Merged, 1, 0},
		{"not merged", base, checkpoint.NotMerged, 0, 14},
		{"twice", merged(base, adapter, 2*scale, "BF16"), checkpoint.MergedTwice, 2, 14},
		{"rslora taken for lora", merged(base, adapter, scale/2, "BF16"), checkpoint.Scaled, 0.5, 14},
		{"with the wrong sign", merged(base, adapter, -scale, "BF16"), checkpoint.Scaled, -1, 14},
		{"another adapter", merged(base, other, scale, "BF16"), checkpoint.Differs, math.NaN(), 14},
		{"a layer forgotten", func() map[string]matrix {
			m := merged(base, adapter, scale, "BF16")
			m[one] = base[one]
			return m
		}(), checkpoint.Differs, 1, 1},
		{"one value wrong", func() map[string]matrix {
			m := merged(base, adapter, scale, "BF16")
			x := m[one]
			x.values = slices.Clone(x.values)
			x.values[5] += 0.1
			m[one] = x
			return m
		}(), checkpoint.Differs, 1, 1},
		{"not a number", func() map[string]matrix {
			m := merged(base, adapter, scale, "BF16")
			x := m[one]
			x.values = slices.Clone(x.values)
			x.values[5] = float32(math.NaN())
			m[one] = x
			return m
		}(), checkpoint.Differs, 1, 1},
		{"the embedding trained, too", func() map[string]matrix {
			m := merged(base, adapter, scale, "BF16")
			m["model.embed_tokens.weight"] = filled(vocab, hidden, noise(77, 0.05))
			return m
		}(), checkpoint.Changed, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := asBase()
			m.weights = c.weights
			for _, workers := range []int{1, 3} {
				steps := 0
				r, err := checkpoint.CheckMerge(t.Context(), checkpoint.MergeOptions{
					Merged: m.write(t), Base: baseDir, Adapter: adapterDir, Workers: workers, Progress: func(done, total int) { steps = total - done },
				})
				if err != nil {
					t.Fatal(err)
				}
				if r.Verdict != c.want || len(r.Bad) != c.bad || r.Weights != 14 || r.Others != 2 || steps != 0 {
					t.Errorf("%s: %+v", r.Verdict, r)
				}
				if !math.IsNaN(c.factor) && math.Abs(r.Factor-c.factor) > 0.01 {
					t.Errorf("factor %v, want %v", r.Factor, c.factor)
				}
				if f := r.Finding(); (f.Severity == checkpoint.Error) != (c.want != checkpoint.Merged) || f.In(msg.Zh) == "" {
					t.Errorf("%+v", f)
				}
			}
		})
	}
}

// Patterns, rslora and embeddings have scales and shapes of their own.
func TestCheckMergeScales(t *testing.T) {
	t.Parallel()
	base, adapter := baseTensors(), adapterTensors(4, 0.05)
	check := func(config map[string]any, weights map[string]matrix) *checkpoint.MergeReport {
		t.Helper()
		m := asBase()
		m.weights = weights
		dir := write(t, t.TempDir(), map[string]any{"adapter_config.json": config, "adapter_model.safetensors": tensors(adapter)})
		r, err := checkpoint.CheckMerge(t.Context(), checkpoint.MergeOptions{Merged: m.write(t), Base: writeBase(t), Adapter: dir})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	config := adapterConfig()
	config["use_rslora"] = true
	if r := check(config, merged(base, adapter, 4, "BF16")); r.Verdict != checkpoint.Merged {
		t.Errorf("rslora: %+v", r)
	}
	config = adapterConfig()
	config["alpha_pattern"] = map[string]any{"up_proj": 16, `layers.0.mlp.up_proj`: 16}
	weights := merged(base, adapter, 2, "BF16")
	double := merged(base, adapter, 4, "BF16")
	for n := range weights {
		if strings.Contains(n, "up_proj") {
			weights[n] = double[n]
		}
	}
	if r := check(config, weights); r.Verdict != checkpoint.Merged {
		t.Errorf("patterns: %+v", r)
	}
	if r := check(adapterConfig(), weights); r.Verdict != checkpoint.Differs || len(r.Bad) != 2 || r.Bad[0].Verdict != checkpoint.MergedTwice {
		t.Errorf("a merge that knows patterns, of an adapter without: %+v", r)
	}
}

// Changes that bfloat16 cannot hold beside the weights are lost by every merge,
// which is said.
func TestCheckMergeLost(t *testing.T) {
	t.Parallel()
	base, adapter := baseTensors(), adapterTensors(4, 5e-5)
	dir := write(t, t.TempDir(), map[string]any{"adapter_config.json": adapterConfig(), "adapter_model.safetensors": tensors(adapter)})
	m := asBase()
	m.weights = merged(base, adapter, 2, "BF16")
	r, err := checkpoint.CheckMerge(t.Context(), checkpoint.MergeOptions{Merged: m.write(t), Base: writeBase(t), Adapter: dir})
	if err != nil {
		t.Fatal(err)
	}
	if f := r.Finding(); r.Verdict != checkpoint.Merged || r.Lost < 0.5 || f.ID != "merge_lost" || f.Severity != checkpoint.Warning {
		t.Errorf("%s %.2f lost, %v", r.Verdict, r.Lost, f.In(msg.En))
	}
}

// Some rows tell what all do, from a share of the bytes.
func TestCheckMergeRows(t *testing.T) {
	t.Parallel()
	base, adapter := baseTensors(), adapterTensors(4, 0.05)
	dir := write(t, t.TempDir(), map[string]any{"adapter_config.json": adapterConfig(), "adapter_model.safetensors": tensors(adapter)})
	for _, c := range []struct {
		scale float64
		want  checkpoint.Verdict
	}{{2, checkpoint.Merged}, {0, checkpoint.NotMerged}, {4, checkpoint.MergedTwice}} {
		m := asBase()
		m.weights = merged(base, adapter, c.scale, "BF16")
		o := checkpoint.MergeOptions{Merged: m.write(t), Base: writeBase(t), Adapter: dir}
		all, err := checkpoint.CheckMerge(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		o.Rows = 4
		some, err := checkpoint.CheckMerge(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if some.Verdict != c.want || all.Verdict != c.want || some.Values*2 > all.Values {
			t.Errorf("scale %v: %s of %d values, %s of %d", c.scale, some.Verdict, some.Values, all.Verdict, all.Values)
		}
	}
}

func TestCheckMergeRefuses(t *testing.T) {
	t.Parallel()
	merged, base := asBase().write(t), writeBase(t)
	for words, dir := range map[string]string{
		"more than base": writeAdapter(t, func(c map[string]any, _ map[string]matrix) { c["use_dora"] = true }),
		"the base has no model.layers.9.mlp.up_proj.weight": writeAdapter(t, func(_ map[string]any, w map[string]matrix) {
			for _, ab := range []string{"A", "B"} {
				w["base_model.model.model.layers.9.mlp.up_proj.lora_"+ab+".weight"] = w["base_model.model.model.layers.0.mlp.up_proj.lora_"+ab+".weight"]
			}
		}),
		"adapter_config.json": t.TempDir(),
	} {
		_, err := checkpoint.CheckMerge(t.Context(), checkpoint.MergeOptions{Merged: merged, Base: base, Adapter: dir})
		if fail.Code(err) != 1 || err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", words, err)
		}
	}
}

// The report is the same bytes at any worker count.
func TestCheckMergeIsDeterministic(t *testing.T) {
	t.Parallel()
	base, adapter := baseTensors(), adapterTensors(4, 0.05)
	dir := write(t, t.TempDir(), map[string]any{"adapter_config.json": adapterConfig(), "adapter_model.safetensors": tensors(adapter)})
	m := asBase()
	m.weights = merged(base, adapter, 3, "BF16")
	o := checkpoint.MergeOptions{Merged: m.write(t), Base: writeBase(t), Adapter: dir}
	var first string
	for workers := 1; workers < 5; workers++ {
		o.Workers = workers
		r, err := checkpoint.CheckMerge(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if s := fmt.Sprintf("%+v", *r); first == "" {
			first = s
		} else if d := cmp.Diff(first, s); d != "" {
			t.Error(d)
		}
	}
}

// BenchmarkCheckMerge goes through a weight of 1024×1024 under rank 16; bytes are
// those of base and merged weight.
func BenchmarkCheckMerge(b *testing.B) {
	const n, rank = 1024, 16
	name := "model.layers.0.self_attn.q_proj"
	w := filled(n, n, noise(1, 0.05))
	adapter := map[string]matrix{
		"base_model.model." + name + ".lora_A.weight": filled(rank, n, noise(2, 0.1)).as("F32"), "base_model.model." + name + ".lora_B.weight": filled(n, rank, noise(3, 0.1)).as("F32"),
	}
	config := adapterConfig()
	config["r"] = rank
	dir := write(b, b.TempDir(), map[string]any{"adapter_config.json": config, "adapter_model.safetensors": tensors(adapter)})
	base := write(b, b.TempDir(), map[string]any{"model.safetensors": tensors(map[string]matrix{name + ".weight": w})})
	b.SetBytes(2 * 2 * n * n)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := checkpoint.CheckMerge(b.Context(), checkpoint.MergeOptions{Merged: base, Base: base, Adapter: dir, Workers: 1}); err != nil {
			b.Fatal(err)
		}
	}
}
