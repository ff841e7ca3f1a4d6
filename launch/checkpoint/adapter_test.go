package checkpoint_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/golden"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/launch/checkpoint"
)

// Every way an adapter can be wrong is seen before a server loads it (S15).
func TestCheckAdapter(t *testing.T) {
	t.Parallel()
	type (
		config  = map[string]any
		weights = map[string]matrix
	)
	const q0 = "base_model.model.model.layers.0.self_attn.q_proj.lora_"
	base := writeBase(t)
	for _, c := range []struct {
		name   string
		change func(config, weights)
		max    int
		want   []string
	}{
		{"as LLaMA-Factory writes it", nil, 0, nil},
		{"as ms-swift writes it", func(c config, _ weights) { c["modules_to_save"], c["lora_alpha"] = []string{}, 8.0 }, 0, nil},
		{"as TRL writes it, full paths", func(c config, _ weights) {
			var all []string
			for m := range modules() {
				all = append(all, m)
			}
			c["target_modules"] = all
		}, 0, nil},
		{"a pattern", func(c config, _ weights) { c["target_modules"] = `.*\.(self_attn|mlp)\.\w+_proj` }, 0, nil},
		{"a pattern of Python", func(c config, _ weights) { c["target_modules"] = `^(?!.*visual).*proj$` }, 0, []string{"n targets_unread"}},
		{"a pattern that misses", func(c config, _ weights) { c["target_modules"] = `.*q_proj` }, 0, []string{"w targets_differ"}},
		{"half precision", func(_ config, w weights) {
			for n, m := range w {
				w[n] = m.as("F16")
			}
		}, 0, nil},
		{"rank within the limit", nil, 8, nil},
		{"rank over the limit", nil, 1, []string{"e rank"}},
		{"rank over all limits", func(c config, _ weights) { c["r"] = 1024 }, 0, []string{"e rank", "e shape"}},
		{"rank of one module", func(c config, _ weights) { c["rank_pattern"] = map[string]int{"q_proj": 16} }, 8, []string{"w patterns", "e rank", "e shape"}},
		{"rank is not the weights'", func(c config, _ weights) { c["r"] = 8 }, 0, []string{"e shape"}},
		{"rank is none", func(c config, _ weights) { c["r"] = 0.5 }, 0, []string{"e rank"}},
		{"no alpha", func(c config, _ weights) { delete(c, "lora_alpha") }, 0, []string{"e config_missing"}},
		{"alpha zero", func(c config, _ weights) { c["lora_alpha"] = 0 }, 0, []string{"e alpha_zero"}},
		{"no targets", func(c config, _ weights) { c["target_modules"] = []string{} }, 0, []string{"e targets_empty"}},
		{"a target without weights", func(c config, _ weights) { c["target_modules"] = append(c["target_modules"].([]string), "lm_head") }, 0, []string{"w targets_differ"}},
		{"DoRA", func(c config, w weights) {
			c["use_dora"] = true
			w["base_model.model.model.layers.0.self_attn.q_proj.lora_magnitude_vector"] = filled(1, 16, noise(1, 1))
		}, 0, []string{"e dora"}},
		{"modules_to_save", func(c config, _ weights) { c["modules_to_save"] = []string{"lm_head"} }, 0, []string{"e modules_to_save"}},
		{"bias", func(c config, _ weights) { c["bias"] = "all" }, 0, []string{"e bias"}},
		{"PiSSA", func(c config, _ weights) { c["init_lora_weights"] = "pissa_niter_4" }, 0, []string{"e init"}},
		{"a harmless start", func(c config, _ weights) { c["init_lora_weights"] = "gaussian" }, 0, nil},
		{"token indices", func(c config, _ weights) { c["trainable_token_indices"] = []int{1} }, 0, []string{"e feature"}},
		{"no LoRA", func(c config, _ weights) { c["peft_type"] = "IA3" }, 0, []string{"e not_lora"}},
		{"another base", func(c config, _ weights) { c["base_model_name_or_path"] = "org/Tiny-8B-Base" }, 0, []string{"w base_name"}},
		{"a base in a cache", func(c config, _ weights) {
			c["base_model_name_or_path"] = "/home/x/hub/models--org--Tiny-8B/snapshots/0123"
		}, 0, nil},
		{"other shapes", func(_ config, w weights) { w[q0+"B.weight"] = filled(20, 4, noise(1, 1)) }, 0, []string{"e shape"}},
		{"ranks that differ", func(_ config, w weights) { w[q0+"B.weight"] = filled(16, 5, noise(1, 1)) }, 0, []string{"e shape"}},
		{"no B", func(_ config, w weights) { delete(w, q0+"B.weight") }, 0, []string{"e tensor_missing"}},
		{"no A", func(_ config, w weights) { delete(w, q0+"A.weight") }, 0, []string{"e tensor_missing"}},
		{"a tensor more", func(_ config, w weights) { w["base_model.model.lm_head.weight"] = filled(2, 2, noise(1, 1)) }, 0, []string{"e tensor_extra"}},
		{"a name peft does not save", func(_ config, w weights) { w[q0+"A.default.weight"] = filled(2, 2, noise(1, 1)) }, 0, []string{"e tensor_extra"}},
		{"a copy of the embedding, which vLLM leaves out", func(_ config, w weights) {
			w["base_model.model.model.embed_tokens.base_layer.weight"] = filled(2, 2, noise(1, 1))
		}, 0, nil},
		{"a module the base lacks", func(_ config, w weights) {
			for _, ab := range []string{"A", "B"} {
				w["base_model.model.model.layers.7.self_attn.q_proj.lora_"+ab+".weight"] = w[q0+ab+".weight"]
			}
		}, 0, []string{"e module"}},
		{"a layer less", func(_ config, w weights) {
			for n := range w {
				if strings.Contains(n, "layers.0.") {
					delete(w, n)
				}
			}
		}, 0, []string{"w layer_missing"}},
		{"integers", func(_ config, w weights) {
			w[q0+"B.weight"] = matrix{dtype: "I32", shape: []int64{16, 4}, values: make([]float32, 64)}
		}, 0, []string{"e dtype"}},
		{"all zero", func(_ config, w weights) {
			for n, m := range adapterTensors(4, 0) {
				w[n] = m
			}
		}, 0, []string{"e untrained"}},
		{"one zero", func(_ config, w weights) { w[q0+"B.weight"] = filled(16, 4, func(int) float32 { return 0 }) }, 0, []string{"w partly_untrained"}},
		{"negative zero is zero", func(_ config, w weights) {
			w[q0+"B.weight"] = filled(16, 4, func(int) float32 { return float32(math.Copysign(0, -1)) })
		}, 0, []string{"w partly_untrained"}},
		{"not a number", func(_ config, w weights) {
			m := w[q0+"A.weight"]
			m.values = slices.Clone(m.values)
			m.values[3] = float32(math.NaN())
			w[q0+"A.weight"] = m
		}, 0, []string{"e not_finite"}},
		{"no tensors", func(_ config, w weights) { clear(w) }, 0, []string{"e no_tensors"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := writeAdapter(t, c.change)
			got := told(checkpoint.CheckAdapter(dir, checkpoint.AdapterOptions{Base: base, MaxRank: c.max}))
			if c.want == nil {
				c.want = []string{}
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// The shapes of Qwen3-8B are known without its weights, and those of a folder
// by its configuration.
func TestShapesWithoutWeights(t *testing.T) {
	t.Parallel()
	dir := writeAdapter(t, nil)
	if got := told(checkpoint.CheckAdapter(dir, checkpoint.AdapterOptions{Base: "Qwen/Qwen3-8B"})); !slices.Contains(got, "e shape") {
		t.Errorf("Qwen3-8B: %v", got)
	}
	if got := told(checkpoint.CheckAdapter(dir, checkpoint.AdapterOptions{Base: "org/Tiny-8B"})); len(got) > 0 {
		t.Errorf("a name nobody knows: %v", got)
	}
	bare := write(t, filepath.Join(t.TempDir(), "Tiny-8B"), map[string]any{"config.json": baseConfig()})
	if got := told(checkpoint.CheckAdapter(dir, checkpoint.AdapterOptions{Base: bare})); len(got) > 0 {
		t.Errorf("by its configuration: %v", got)
	}
	config := baseConfig()
	config["intermediate_size"] = 24
	write(t, bare, map[string]any{"config.json": config})
	if got := told(checkpoint.CheckAdapter(dir, checkpoint.AdapterOptions{Base: bare})); !slices.Equal(got, []string{"e shape"}) {
		t.Errorf("another configuration: %v", got)
	}
}

// A file that was cut, or is none, is said to be so, wherever it ends.
func TestTornFiles(t *testing.T) {
	t.Parallel()
	dir := writeAdapter(t, nil)
	path := filepath.Join(dir, "adapter_model.safetensors")
	all, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 3, 8, 100, len(all) / 2, len(all) - 1} {
		write(t, dir, map[string]any{"adapter_model.safetensors": all[:n]})
		list := checkpoint.CheckAdapter(dir, checkpoint.AdapterOptions{})
		if got := told(list); !slices.Equal(got, []string{"e weights_unreadable"}) || !strings.Contains(list[0].In(msg.En), "cut") {
			t.Errorf("%d bytes: %v", n, got)
		}
	}
	head := func(json, data string) []byte {
		return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(json))), json...), data...)
	}
	for name, data := range map[string][]byte{
		"behind the last": append(slices.Clone(all), 1),
		"a page":          []byte("<!DOCTYPE html><html><body>404 Not Found</body></html>"),
		"a pointer":       []byte("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"),
		"a list":          head(`[1]`, ""),
		"two of a name":   head(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, "1234"),
		"a gap":           head(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`, "12345678"),
		"a wrong shape":   head(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}`, "1234"),
		"a huge shape":    head(`{"a":{"dtype":"F32","shape":[4294967296,4294967296,4294967296],"data_offsets":[0,4]}}`, "1234"),
		"no dtype":        head(`{"a":{"dtype":"F31","shape":[1],"data_offsets":[0,4]}}`, "1234"),
		"more behind":     head(`{} {}`, ""),
	} {
		write(t, dir, map[string]any{"adapter_model.safetensors": data})
		if got := told(checkpoint.CheckAdapter(dir, checkpoint.AdapterOptions{})); !slices.Equal(got, []string{"e weights_unreadable"}) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(name string, change func(map[string]any, map[string]matrix), more map[string]any) {
		config, weights := adapterConfig(), adapterTensors(4, 0.3)
		if change != nil {
			change(config, weights)
		}
		write(t, filepath.Join(dir, name), map[string]any{"adapter_config.json": config, "adapter_model.safetensors": tensors(weights)})
		write(t, filepath.Join(dir, name), more)
	}
	put("checkpoint-1000", func(c map[string]any, _ map[string]matrix) { c["lora_alpha"] = 4 }, nil)
	put("checkpoint-200", nil, nil)
	put("checkpoint-300", func(_ map[string]any, w map[string]matrix) {
		for n, m := range adapterTensors(4, 0) {
			w[n] = m
		}
	}, nil)
	put("checkpoint-400", func(c map[string]any, _ map[string]matrix) { c["use_dora"] = true }, nil)
	put("checkpoint-700", nil, map[string]any{"trainer_state.json": `{"global_st`})
	put("checkpoint-800", nil, map[string]any{"adapter_config.json": "{"})
	put("last", nil, map[string]any{"trainer_state.json": `{"global_step": 1200}`})
	if err := os.Mkdir(filepath.Join(dir, "runs"), 0o755); err != nil {
		t.Fatal(err)
	}
	found, err := checkpoint.Find(dir, checkpoint.AdapterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range found {
		problem := ""
		if c.Problem != nil {
			problem = c.Problem.Error()
		}
		got = append(got, fmt.Sprintf("%d %s %d %.30s", c.Step, c.Name, c.Rank, problem))
	}
	want := []string{
		"200 checkpoint-200 4 ", "300 checkpoint-300 4 all B matrices are zero: the a", "400 checkpoint-400 4 the adapter uses DoRA, which v",
		"700 checkpoint-700 4 trainer_state.json is not whol", "800 checkpoint-800 0 adapter_config.json: unexpecte", "1000 checkpoint-1000 4 ", "1200 last 4 ",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	// no two checkpoints are served under one name (S14)
	if a, b := found[0].Served(), found[5].Served(); !strings.HasPrefix(a, "checkpoint-200-") || a[len(a)-8:] == b[len(b)-8:] {
		t.Errorf("served as %s and %s", a, b)
	}
	if err := os.Remove(filepath.Join(dir, "checkpoint-200", "adapter_model.safetensors")); err != nil {
		t.Fatal(err)
	}
	torn, err := checkpoint.Find(dir, checkpoint.AdapterOptions{})
	if err != nil || torn[0].Problem == nil || !strings.Contains(torn[0].Problem.Error(), "there is no adapter_model.safetensors") || torn[0].Served() != "checkpoint-200-00000000" {
		t.Errorf("%+v, %v", torn[0], err)
	}
	if one, err := checkpoint.Find(filepath.Join(dir, "last"), checkpoint.AdapterOptions{}); err != nil || len(one) != 1 || one[0].Step != 1200 {
		t.Errorf("an adapter by itself: %+v, %v", one, err)
	}
	for _, empty := range []string{t.TempDir(), filepath.Join(dir, "nowhere"), writeBase(t)} {
		if _, err := checkpoint.Find(empty, checkpoint.AdapterOptions{}); fail.Code(err) != 2 {
			t.Errorf("%s: %v", empty, err)
		}
	}
}

func TestRankFor(t *testing.T) {
	t.Parallel()
	for rank, want := range map[int]int{1: 1, 2: 8, 8: 8, 9: 16, 33: 64, 257: 320, 512: 512, 513: 0} {
		if got := checkpoint.RankFor(rank); got != want {
			t.Errorf("rank %d: --max-lora-rank %d, want %d", rank, got, want)
		}
	}
}

// The configurations real trainers wrote are taken as they are.
func TestRealAdapterConfigs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ set, path, want string }{
		{"trainers-real", "logs/llamafactory_adapter_config.json", ""},
		{"trainers-real", "logs/ms-swift_adapter_config.json", ""},
		{"trainers-real", "logs/trl_adapter_config.json", ""},
		{"trainers-real", "logs/axolotl_adapter_config.json", ""},
		{"vllm-real", "checkpoint/adapter_config.r8.json", ""},
		{"vllm-real", "checkpoint/adapter_config.dora.json", "dora"},
		{"vllm-real", "checkpoint/adapter_config.mts.json", "modules_to_save"},
		{"vllm-real", "checkpoint/adapter_config.r32.json", "rank"},
	} {
		t.Run(filepath.Base(c.path), func(t *testing.T) {
			t.Parallel()
			raw := golden.ReadFile(t, golden.RealData(t, append([]string{c.set}, strings.Split(c.path, "/")...)...))
			dir := write(t, t.TempDir(), map[string]any{"adapter_config.json": raw})
			for _, f := range checkpoint.CheckAdapter(dir, checkpoint.AdapterOptions{MaxRank: 16}) {
				if f.ID != c.want && f.ID != "weights_missing" {
					t.Errorf("%s: %s", f.ID, f.In(msg.En))
				}
				if f.ID == c.want {
					c.want = ""
				}
			}
			if c.want != "" {
				t.Errorf("%s is not seen", c.want)
			}
		})
	}
}

// FuzzAdapter: whatever bytes lie there, an adapter is read or has a problem.
func FuzzAdapter(f *testing.F) {
	good := tensors(adapterTensors(2, 1))
	f.Add([]byte(`{"r":4,"lora_alpha":8,"target_modules":["q_proj"]}`), good)
	f.Add([]byte(`{"modules_to_save":["x"],"rank_pattern":{"(":1},"target_modules":"("}`), []byte{8, 0, 0, 0, 0, 0, 0, 0, '{', '}'})
	f.Add([]byte(`{}`), append([]byte{255, 255, 255, 255, 255, 255, 255, 127}, "{}"...))
	f.Add([]byte(`{"r":1e300,"lora_alpha":-1}`), append([]byte{62, 0, 0, 0, 0, 0, 0, 0}, `{"lora_A.weight":{"dtype":"F4","shape":[],"data_offsets":[0,0]}`...))
	f.Fuzz(func(t *testing.T, config, weights []byte) {
		dir := write(t, filepath.Join(t.TempDir(), "checkpoint-1"), map[string]any{"adapter_config.json": config, "adapter_model.safetensors": weights})
		found, err := checkpoint.Find(dir, checkpoint.AdapterOptions{Base: "Qwen/Qwen3-8B"})
		if err != nil || len(found) != 1 || len(found[0].SHA256) != 64 {
			t.Fatalf("%+v, %v", found, err)
		}
		for _, x := range found[0].Findings {
			_, _ = x.In(msg.Zh), x.FixIn(msg.En)
		}
	})
}
