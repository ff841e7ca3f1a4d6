package checkpoint_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/launch/checkpoint"
)

// A matrix is a tensor of a fixture.
type matrix struct {
	dtype  string
	shape  []int64
	values []float32
}

func filled(rows, cols int64, f func(i int) float32) matrix {
	m := matrix{dtype: "BF16", shape: []int64{rows, cols}, values: make([]float32, rows*cols)}
	for i := range m.values {
		m.values[i] = f(i)
	}
	return m
}

// as returns the values in another type.
func (m matrix) as(dtype string) matrix {
	m.dtype = dtype
	return m
}

// noise gives values of no order, the same each time.
func noise(seed uint64, size float64) func(i int) float32 {
	return func(i int) float32 {
		x := (seed+1)*0x9E3779B97F4A7C15 + uint64(i)*0xBF58476D1CE4E5B9
		x ^= x >> 31
		x *= 0x94D049BB133111EB
		x ^= x >> 29
		return float32((float64(x>>11)/(1<<52) - 1) * size)
	}
}

func (m matrix) bytes() []byte {
	var out []byte
	for _, v := range m.values {
		switch b := math.Float32bits(v); m.dtype {
		case "BF16":
			b += 0x7fff + b>>16&1
			out = binary.LittleEndian.AppendUint16(out, uint16(b>>16))
		case "F16":
			out = binary.LittleEndian.AppendUint16(out, half(v))
		default:
			out = binary.LittleEndian.AppendUint32(out, b)
		}
	}
	return out
}

// half converts to binary16, by the nearest of all its values.
func half(v float32) uint16 {
	f := float64(v)
	sign := uint16(0)
	if f < 0 {
		sign, f = 0x8000, -f
	}
	_, e := math.Frexp(f)
	step := math.Ldexp(1, max(e-11, -24))
	n := math.RoundToEven(f / step)
	if e-11 <= -24 {
		return sign | uint16(n)
	}
	if n == 2048 {
		n, e = 1024, e+1
	}
	return sign | uint16(e+14)<<10 | uint16(n)&0x3ff
}

// tensors writes a safetensors file.
func tensors(all map[string]matrix) []byte {
	header, data := map[string]any{"__metadata__": map[string]string{"format": "pt"}}, []byte{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		m, from := all[name], len(data)
		data = append(data, m.bytes()...)
		header[name] = map[string]any{"dtype": m.dtype, "shape": m.shape, "data_offsets": []int{from, len(data)}}
	}
	h, _ := json.Marshal(header)
	return slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(len(h))), h, data)
}

func write(t testing.TB, dir string, files map[string]any) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, v := range files {
		data, ok := v.([]byte)
		if s, text := v.(string); text {
			data, ok = []byte(s), true
		}
		if !ok {
			var err error
			if data, err = json.MarshalIndent(v, "", "  "); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The base of the fixtures: two layers of Qwen3, small.
const (
	hidden, inter, vocab = 8, 16, 32
	heads, kv, headDim   = 4, 2, 4
)

// linear lists the layers an adapter is for, with rows and columns.
var linear = map[string][2]int64{
	"self_attn.q_proj": {heads * headDim, hidden}, "self_attn.k_proj": {kv * headDim, hidden}, "self_attn.v_proj": {kv * headDim, hidden},
	"self_attn.o_proj": {hidden, heads * headDim}, "mlp.gate_proj": {inter, hidden}, "mlp.up_proj": {inter, hidden}, "mlp.down_proj": {hidden, inter},
}

func modules() map[string][2]int64 {
	out := map[string][2]int64{}
	for layer := range 2 {
		for name, s := range linear {
			out[fmt.Sprintf("model.layers.%d.%s", layer, name)] = s
		}
	}
	return out
}

func baseTensors() map[string]matrix {
	out := map[string]matrix{"model.embed_tokens.weight": filled(vocab, hidden, noise(1, 0.05)), "model.norm.weight": {dtype: "BF16", shape: []int64{hidden}, values: make([]float32, hidden)}}
	for i, name := range slices.Sorted(maps.Keys(modules())) {
		s := modules()[name]
		out[name+".weight"] = filled(s[0], s[1], noise(uint64(10+i), 0.05))
	}
	return out
}

// adapterTensors has a rank and a size of its values; 0: B is zero.
func adapterTensors(rank int64, size float64) map[string]matrix {
	out := map[string]matrix{}
	for i, name := range slices.Sorted(maps.Keys(modules())) {
		s := modules()[name]
		out["base_model.model."+name+".lora_A.weight"] = filled(rank, s[1], noise(uint64(100+i), 0.3)).as("F32")
		out["base_model.model."+name+".lora_B.weight"] = filled(s[0], rank, noise(uint64(200+i), size)).as("F32")
	}
	return out
}

func baseConfig() map[string]any {
	return map[string]any{
		"architectures": []string{"Qwen3ForCausalLM"}, "model_type": "qwen3", "hidden_size": hidden, "intermediate_size": inter, "num_hidden_layers": 2,
		"num_attention_heads": heads, "num_key_value_heads": kv, "head_dim": headDim, "hidden_act": "silu", "rms_norm_eps": 1e-6, "attention_bias": false,
		"tie_word_embeddings": true, "vocab_size": vocab, "max_position_embeddings": 40960, "rope_theta": 1000000, "rope_scaling": nil,
		"torch_dtype": "bfloat16", "eos_token_id": 31, "bos_token_id": 30, "use_cache": true, "use_sliding_window": false, "transformers_version": "4.51.0",
	}
}

func baseTokenizer() map[string]any {
	return map[string]any{
		"version": "1.0", "truncation": nil, "padding": nil,
		"added_tokens": []any{map[string]any{"id": 31, "content": "<|im_end|>", "special": true}},
		"normalizer":   map[string]any{"type": "NFC"}, "pre_tokenizer": nil, "post_processor": nil, "decoder": map[string]any{"type": "ByteLevel"},
		"model": map[string]any{"type": "BPE", "vocab": map[string]int{"a": 0, "b": 1, "ab": 2}, "merges": []string{"a b"}},
	}
}

func baseTokenizerConfig() map[string]any {
	return map[string]any{
		"tokenizer_class": "Qwen2Tokenizer", "eos_token": "<|im_end|>", "pad_token": "<|endoftext|>", "add_bos_token": false, "add_prefix_space": false,
		"chat_template": "{% for m in messages %}{{ m.content }}{% endfor %}", "model_max_length": 131072,
	}
}

func baseGeneration() map[string]any {
	return map[string]any{"eos_token_id": []int{31, 29}, "do_sample": true, "temperature": 0.6, "top_k": 20, "top_p": 0.95}
}

// writeBase writes a base as it is published: old spellings.
func writeBase(t testing.TB) string {
	return write(t, filepath.Join(t.TempDir(), "Tiny-8B"), map[string]any{
		"config.json": baseConfig(), "generation_config.json": baseGeneration(), "tokenizer.json": baseTokenizer(), "tokenizer_config.json": baseTokenizerConfig(),
		"model.safetensors": tensors(baseTensors()),
	})
}

func adapterConfig() map[string]any {
	return map[string]any{
		"peft_type": "LORA", "base_model_name_or_path": "org/Tiny-8B", "r": 4, "lora_alpha": 8, "bias": "none", "use_dora": false, "use_rslora": false,
		"modules_to_save": nil, "rank_pattern": map[string]int{}, "alpha_pattern": map[string]int{}, "init_lora_weights": true, "fan_in_fan_out": false,
		"target_modules": []string{"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"},
	}
}

func writeAdapter(t testing.TB, change func(config map[string]any, weights map[string]matrix)) string {
	config, weights := adapterConfig(), adapterTensors(4, 0.3)
	if change != nil {
		change(config, weights)
	}
	return write(t, filepath.Join(t.TempDir(), "checkpoint-40"), map[string]any{"adapter_config.json": config, "adapter_model.safetensors": tensors(weights)})
}

// told lists findings as "severity id", the severity by its letter.
func told(list []checkpoint.Finding) []string {
	out := []string{}
	for _, f := range list {
		if f.In(msg.En) == "" || f.In(msg.Zh) == "" {
			out = append(out, "no words")
		}
		out = append(out, string(f.Severity[0])+" "+f.ID)
	}
	return out
}
