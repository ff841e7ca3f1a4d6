package checkpoint_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/golden"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/launch/checkpoint"
)

// A model is the files of a merged model before they are written.
type model struct {
	config, generation, tokenizer, tokenizerConfig map[string]any
	template                                       string // of chat_template.jinja; "": no such file
	weights                                        map[string]matrix
}

// asBase is a merge that kept the base's files, as axolotl's does.
func asBase() model {
	return model{config: baseConfig(), generation: baseGeneration(), tokenizer: baseTokenizer(), tokenizerConfig: baseTokenizerConfig(), weights: baseTensors()}
}

// asTransformers5 is what LLaMA-Factory, ms-swift and TRL write.
func asTransformers5() model {
	m := asBase()
	delete(m.config, "rope_theta")
	delete(m.config, "rope_scaling")
	delete(m.config, "torch_dtype")
	m.config["rope_parameters"] = map[string]any{"rope_theta": 1000000, "rope_type": "default"}
	m.config["dtype"], m.config["pad_token_id"] = "bfloat16", nil
	m.template = m.tokenizerConfig["chat_template"].(string)
	delete(m.tokenizerConfig, "chat_template")
	m.tokenizerConfig["extra_special_tokens"] = []string{"<|im_end|>"}
	m.tokenizer["model"].(map[string]any)["merges"] = [][]string{{"a", "b"}}
	return m
}

func (m model) write(t testing.TB) string {
	files := map[string]any{"config.json": m.config, "generation_config.json": m.generation, "tokenizer.json": m.tokenizer, "tokenizer_config.json": m.tokenizerConfig}
	maps.DeleteFunc(files, func(_ string, v any) bool { return v.(map[string]any) == nil })
	if m.template != "" {
		files["chat_template.jinja"] = m.template
	}
	if m.weights != nil {
		files["model.safetensors"] = tensors(m.weights)
	}
	return write(t, filepath.Join(t.TempDir(), "merged"), files)
}

// Everything that decides ids, positions, prompt and stopping is compared with
// the base (S13, S16 and what trainers-on-cpu found).
func TestCheckModel(t *testing.T) {
	t.Parallel()
	base := writeBase(t)
	for _, c := range []struct {
		name   string
		from   func() model
		change func(*model)
		want   []string
	}{
		{"as axolotl merges", asBase, nil, nil},
		{"as LLaMA-Factory exports", asTransformers5, func(m *model) { m.tokenizerConfig["padding_side"] = "left" }, []string{"e rope_spelling", "w dtype_spelling", "e tokenizer_list", "w padding_side", "w template_file"}},
		{"as TRL trains whole models", asTransformers5, func(m *model) {
			m.config["use_cache"], m.config["dtype"] = false, "float32"
			for n, x := range m.weights {
				m.weights[n] = x.as("F32")
			}
		}, []string{"e rope_spelling", "w dtype_spelling", "w use_cache", "e tokenizer_list", "w template_file", "w dtype_float32"}},
		{"both spellings", asTransformers5, func(m *model) { m.config["rope_theta"], m.config["torch_dtype"] = 1e6, "bfloat16" }, []string{"e tokenizer_list", "w template_file"}},
		{"another rope", asBase, func(m *model) { m.config["rope_theta"] = 10000 }, []string{"e rope_value"}},
		{"no rope", asBase, func(m *model) { delete(m.config, "rope_theta") }, []string{"e rope_missing"}},
		{"YaRN was added", asBase, func(m *model) { m.config["rope_scaling"] = map[string]any{"type": "yarn", "factor": 4} }, []string{"e rope_scaling"}},
		{"default scaling is none", asBase, func(m *model) { m.config["rope_scaling"] = map[string]any{"rope_type": "default"} }, nil},
		{"another size", asBase, func(m *model) { m.config["num_key_value_heads"] = 4 }, []string{"e architecture"}},
		{"stops elsewhere", asBase, func(m *model) { m.config["eos_token_id"] = 29 }, []string{"e token_ids"}},
		{"quantized", asBase, func(m *model) { m.config["quantization_config"] = map[string]any{"bits": 4} }, []string{"e architecture"}},
		{"no tokenizer", asBase, func(m *model) { m.tokenizer = nil }, []string{"e tokenizer_missing"}},
		{"no tokenizer configuration", asBase, func(m *model) { m.tokenizerConfig = nil }, []string{"e tokenizer_config_missing", "e template_missing"}},
		{"a tokenizer that cuts", asBase, func(m *model) {
			m.tokenizer["truncation"] = map[string]any{"max_length": 512, "strategy": "LongestFirst"}
		}, []string{"e tokenizer_truncation"}},
		{"a tokenizer that pads", asBase, func(m *model) { m.tokenizer["padding"] = map[string]any{"strategy": "BatchLongest"} }, []string{"w tokenizer_padding"}},
		{"another vocabulary", asBase, func(m *model) {
			m.tokenizer["model"].(map[string]any)["vocab"] = map[string]int{"a": 1, "b": 0, "ab": 2}
		}, []string{"e tokenizer_vocab"}},
		{"merges in another order", asBase, func(m *model) { m.tokenizer["model"].(map[string]any)["merges"] = []string{"b a"} }, []string{"e tokenizer_vocab"}},
		{"a token more", asBase, func(m *model) {
			m.tokenizer["added_tokens"] = append(m.tokenizer["added_tokens"].([]any), map[string]any{"id": 3, "content": "<pad>", "special": true})
		}, []string{"e tokenizer_added"}},
		{"other rules", asBase, func(m *model) { m.tokenizer["normalizer"] = nil }, []string{"e tokenizer_rules"}},
		{"ends with another token", asBase, func(m *model) { m.tokenizerConfig["eos_token"] = map[string]any{"content": "<|endoftext|>"} }, []string{"e special_tokens"}},
		{"adds a token in front", asBase, func(m *model) { m.tokenizerConfig["add_bos_token"] = true }, []string{"e special_tokens"}},
		{"a class of transformers 5", asBase, func(m *model) { m.tokenizerConfig["tokenizer_class"] = "TokenizersBackend" }, []string{"e tokenizer_class"}},
		{"the fast class is the same", asBase, func(m *model) { m.tokenizerConfig["tokenizer_class"] = "Qwen2TokenizerFast" }, nil},
		{"another template saved", asBase, func(m *model) { m.tokenizerConfig["chat_template"] = "{{ bos }}<think>" }, []string{"e template"}},
		{"another template in a file of its own", asBase, func(m *model) { m.template = "{{ bos }}<think>" }, []string{"e template"}},
		{"no template", asBase, func(m *model) { delete(m.tokenizerConfig, "chat_template") }, []string{"e template_missing"}},
		{"no generation config", asBase, func(m *model) { m.generation = nil }, []string{"w generation_missing"}},
		{"stops at one of two", asBase, func(m *model) { m.generation["eos_token_id"] = 31 }, []string{"e generation_eos"}},
		{"samples otherwise", asBase, func(m *model) { m.generation["repetition_penalty"] = 1.05 }, []string{"w generation_sampling"}},
		{"no weights", asBase, func(m *model) { m.weights = nil }, []string{"e weights_missing"}},
		{"a tensor less", asBase, func(m *model) { delete(m.weights, "model.layers.1.mlp.up_proj.weight") }, []string{"e tensor_missing"}},
		{"the adapter beside the weights", asBase, func(m *model) {
			m.weights["base_model.model.model.layers.0.q.lora_A.weight"] = filled(1, 1, noise(1, 1))
		}, []string{"e tensor_extra"}},
		{"resized", asBase, func(m *model) {
			m.weights["model.embed_tokens.weight"] = filled(vocab+8, hidden, noise(1, 1))
			m.config["vocab_size"] = vocab + 8
		}, []string{"e vocab_resized"}},
		{"vocab_size of another", asBase, func(m *model) { m.config["vocab_size"] = vocab + 8 }, []string{"e vocab_size"}},
		{"a head of its own that is dropped", asBase, func(m *model) { m.weights["lm_head.weight"] = filled(vocab, hidden, noise(9, 1)) }, []string{"e head_dropped"}},
		{"a head that is the embedding", asBase, func(m *model) { m.weights["lm_head.weight"] = m.weights["model.embed_tokens.weight"] }, nil},
		{"untied without a head", asBase, func(m *model) { m.config["tie_word_embeddings"] = false }, []string{"e architecture", "e head_missing"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := c.from()
			if c.change != nil {
				c.change(&m)
			}
			got := told(checkpoint.CheckModel(m.write(t), base))
			if c.want == nil {
				c.want = []string{}
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// The files real trainers exported are refused for what older readers would take
// them for; those of axolotl are not.
func TestRealExports(t *testing.T) {
	t.Parallel()
	read := func(name string) []byte { return golden.ReadFile(t, golden.RealData(t, "trainers-real", "logs", name)) }
	base := write(t, t.TempDir(), map[string]any{"config.json": read("axolotl_merge_config.json"), "tokenizer_config.json": read("axolotl_merge_tokenizer_config.json")})
	for _, c := range []struct {
		name string
		want []string
	}{
		{"llamafactory_export", []string{"e rope_spelling", "w dtype_spelling", "e tokenizer_list", "w padding_side", "e template_missing"}},
		{"ms-swift_export", []string{"e rope_spelling", "w dtype_spelling", "e tokenizer_list", "e template_missing"}},
		{"trl_full", []string{"e rope_spelling", "w dtype_spelling", "w use_cache", "e tokenizer_list", "e template_missing"}},
		{"axolotl_merge", nil},
	} {
		dir := write(t, t.TempDir(), map[string]any{"config.json": read(c.name + "_config.json"), "tokenizer_config.json": read(c.name + "_tokenizer_config.json")})
		want := append(slices.Clone(c.want), "e weights_missing")
		if d := cmp.Diff(want, told(checkpoint.CheckModel(dir, base))); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

func fixed(t testing.TB, dir, base string) *checkpoint.FixPlan {
	t.Helper()
	p, err := checkpoint.PlanFix(dir, base)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Apply(); err != nil {
		t.Fatal(err)
	}
	return p
}

// A mended model has both spellings and the base's tokenizer; what was there is
// kept, and there is nothing left to mend.
func TestFix(t *testing.T) {
	t.Parallel()
	base := writeBase(t)
	m := asTransformers5()
	m.config["use_cache"] = false
	m.template = "{{ another }}"
	m.generation["eos_token_id"] = 31
	dir := m.write(t)
	before := readAll(t, dir)
	p := fixed(t, dir, base)
	if d := cmp.Diff([]string{"config.json", "tokenizer.json", "tokenizer_config.json", "chat_template.jinja", "generation_config.json"}, filesOf(p)); d != "" {
		t.Error(d)
	}
	var config map[string]any
	after := readAll(t, dir)
	if err := json.Unmarshal(after["config.json"], &config); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{
		"rope_theta": 1e6, "rope_scaling": nil, "rope_parameters": map[string]any{"rope_theta": 1e6, "rope_type": "default"},
		"dtype": "bfloat16", "torch_dtype": "bfloat16", "use_cache": true, "hidden_size": float64(hidden), "rms_norm_eps": 1e-6,
	} {
		if d := cmp.Diff(want, config[key]); d != "" {
			t.Errorf("%s: %s", key, d)
		}
	}
	if _, there := after["chat_template.jinja"]; there {
		t.Error("the other template is still there, and would win")
	}
	for _, c := range p.Changes {
		if c.Backup == "" || string(after[c.Backup]) != string(before[c.File]) {
			t.Errorf("%s is not kept as %q", c.File, c.Backup)
		}
	}
	if got := told(checkpoint.CheckModel(dir, base)); len(got) > 0 {
		t.Errorf("after the fix: %v", got)
	}
	if again := fixed(t, dir, base); len(again.Changes) > 0 {
		t.Errorf("a second fix changes %q", filesOf(again))
	}
	if d := cmp.Diff(after, readAll(t, dir)); d != "" {
		t.Error("a second fix left other files")
	}
}

func filesOf(p *checkpoint.FixPlan) []string {
	var names []string
	for _, c := range p.Changes {
		names = append(names, c.File)
	}
	return names
}

func readAll(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, e := range entries {
		if out[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// What the base cannot mend is refused, and nothing is touched.
func TestFixRefuses(t *testing.T) {
	t.Parallel()
	base := writeBase(t)
	for name, change := range map[string]func(*model){
		"resized": func(m *model) {
			m.weights["model.embed_tokens.weight"] = filled(vocab+8, hidden, noise(1, 1))
			m.config["vocab_size"] = vocab + 8
		},
		"another model": func(m *model) { m.config["num_hidden_layers"] = 3 },
		"no weights":    func(m *model) { m.weights = nil },
	} {
		m := asTransformers5()
		change(&m)
		dir := m.write(t)
		before := readAll(t, dir)
		if _, err := checkpoint.PlanFix(dir, base); fail.Code(err) != 1 || err == nil {
			t.Errorf("%s: %v", name, err)
		}
		if d := cmp.Diff(before, readAll(t, dir)); d != "" {
			t.Errorf("%s: files changed", name)
		}
	}
	if _, err := checkpoint.PlanFix(writeAdapter(t, nil), base); fail.Code(err) != 1 || !strings.Contains(err.Error(), "adapter") {
		t.Errorf("an adapter: %v", err)
	}
}

// Whatever of the base's files a merge lost or changed, the fix brings it back,
// and leaves nothing for a second one.
func TestFixLeavesNothing(t *testing.T) {
	t.Parallel()
	base := writeBase(t)
	damage := []func(*model){
		func(m *model) { m.config["rope_theta"] = 10000 },
		func(m *model) { m.config["rope_scaling"] = map[string]any{"type": "linear", "factor": 2} },
		func(m *model) { m.config["eos_token_id"] = 1 },
		func(m *model) { m.config["use_cache"] = false },
		func(m *model) { m.generation = nil },
		func(m *model) { m.generation = map[string]any{"temperature": 1} },
		func(m *model) { m.tokenizer = nil },
		func(m *model) { m.tokenizer = map[string]any{} },
		func(m *model) { m.tokenizerConfig = nil },
		func(m *model) { m.tokenizerConfig = map[string]any{"padding_side": "left"} },
		func(m *model) { m.template = "x" },
	}
	rapid.Check(t, func(rt *rapid.T) {
		m := []func() model{asBase, asTransformers5}[rapid.IntRange(0, 1).Draw(rt, "from")]()
		for _, i := range rapid.SliceOfDistinct(rapid.IntRange(0, len(damage)-1), rapid.ID).Draw(rt, "damage") {
			damage[i](&m)
		}
		dir := m.write(t)
		fixed(t, dir, base)
		if got := told(checkpoint.CheckModel(dir, base)); len(got) > 0 {
			rt.Fatalf("left: %v", got)
		}
	})
}

// Shards are whole or refused, and the index cannot lead out of the folder.
func TestShards(t *testing.T) {
	t.Parallel()
	base := writeBase(t)
	all := baseTensors()
	names := slices.Sorted(maps.Keys(all))
	a, b, index := map[string]matrix{}, map[string]matrix{}, map[string]string{}
	for i, n := range names {
		part, file := a, "model-00001-of-00002.safetensors"
		if i%2 == 1 {
			part, file = b, "model-00002-of-00002.safetensors"
		}
		part[n], index[n] = all[n], file
	}
	build := func(change func(index map[string]string, files map[string]any)) string {
		m := asBase()
		m.weights = nil
		dir, own := m.write(t), maps.Clone(index)
		files := map[string]any{"model-00001-of-00002.safetensors": tensors(a), "model-00002-of-00002.safetensors": tensors(b)}
		if change != nil {
			change(own, files)
		}
		files["model.safetensors.index.json"] = map[string]any{"metadata": map[string]any{"total_size": 1}, "weight_map": own}
		return write(t, dir, files)
	}
	if got := told(checkpoint.CheckModel(build(nil), base)); len(got) > 0 {
		t.Errorf("whole: %v", got)
	}
	for words, change := range map[string]func(map[string]string, map[string]any){
		"is missing: the checkpoint is not whole": func(_ map[string]string, f map[string]any) { delete(f, "model-00002-of-00002.safetensors") },
		"which the index does not place there":    func(i map[string]string, _ map[string]any) { delete(i, names[0]) },
		"is in no shard":                          func(i map[string]string, _ map[string]any) { i["x"] = "model-00001-of-00002.safetensors" },
		"which is no file beside it":              func(i map[string]string, _ map[string]any) { i[names[0]] = "../model.safetensors" },
		"it was cut": func(_ map[string]string, f map[string]any) {
			d := f["model-00001-of-00002.safetensors"].([]byte)
			f["model-00001-of-00002.safetensors"] = d[:len(d)-5]
		},
	} {
		list := checkpoint.CheckModel(build(change), base)
		if len(list) != 1 || list[0].ID != "weights_unreadable" || !strings.Contains(list[0].In(msg.En), words) {
			t.Errorf("%s: %v", words, list)
		}
	}
}

// FuzzModel: whatever bytes the files hold, they are compared or have a finding.
func FuzzModel(f *testing.F) {
	f.Add([]byte(`{"rope_parameters":{"rope_theta":1e6}}`), []byte(`{"model":{"vocab":{"a":0},"merges":["a b",["c","d"]]}}`), []byte(`{"weight_map":{"x":"y"}}`))
	f.Add([]byte(`{"rope_parameters":{"full_attention":{"rope_theta":1}},"eos_token_id":[1,"x"]}`), []byte(`{"added_tokens":[{"id":1}]}`), []byte(`{}`))
	f.Add([]byte(`null`), []byte(`[]`), []byte(``))
	base := writeBase(f)
	f.Fuzz(func(t *testing.T, config, tokenizer, index []byte) {
		dir := write(t, t.TempDir(), map[string]any{
			"config.json": config, "generation_config.json": config, "tokenizer_config.json": config, "tokenizer.json": tokenizer, "model.safetensors.index.json": index,
		})
		for _, b := range []string{"", base} {
			for _, x := range checkpoint.CheckModel(dir, b) {
				_, _ = x.In(msg.Zh), x.FixIn(msg.En)
			}
		}
		if _, err := checkpoint.PlanFix(dir, base); err == nil {
			t.Error("a model without weights is mended")
		}
	})
}
