package checkpoint

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// shapes are the sizes of a base's weights: rows × columns, by module. nil: not
// known.
type shapes interface {
	of(module string) (rowsCols [2]int64, ok bool)
	layers() int
}

// dims are the figures of config.json that decide them, by their names there.
type dims struct {
	Hidden       int64 `json:"hidden_size"`
	Intermediate int64 `json:"intermediate_size"`
	Heads        int64 `json:"num_attention_heads"`
	KVHeads      int64 `json:"num_key_value_heads"`
	HeadDim      int64 `json:"head_dim"`
	Layers       int64 `json:"num_hidden_layers"`
	Vocab        int64 `json:"vocab_size"`
}

// qwen3_8B are those of Qwen/Qwen3-8B.
func qwen3_8B() dims {
	return dims{Hidden: 4096, Intermediate: 12288, Heads: 32, KVHeads: 8, HeadDim: 128, Layers: 36, Vocab: 151936}
}

func (d dims) layers() int { return int(d.Layers) }

// of returns the shape of a linear layer of Qwen3, as of Llama and its kin.
func (d dims) of(module string) ([2]int64, bool) {
	if n := layerOf(module); n >= int(d.Layers) {
		return [2]int64{}, false
	}
	last := module[strings.LastIndexByte(module, '.')+1:]
	switch last {
	case "q_proj":
		return [2]int64{d.Heads * d.HeadDim, d.Hidden}, true
	case "k_proj", "v_proj":
		return [2]int64{d.KVHeads * d.HeadDim, d.Hidden}, true
	case "o_proj":
		return [2]int64{d.Hidden, d.Heads * d.HeadDim}, true
	case "gate_proj", "up_proj":
		return [2]int64{d.Intermediate, d.Hidden}, true
	case "down_proj":
		return [2]int64{d.Hidden, d.Intermediate}, true
	case "lm_head", "embed_tokens":
		return [2]int64{d.Vocab, d.Hidden}, true
	}
	return [2]int64{}, false
}

// held are the shapes of a model whose weights are at hand.
type held struct {
	byModule map[string][2]int64
	count    int
}

func (h held) of(module string) ([2]int64, bool) {
	s, ok := h.byModule[module]
	if !ok && module == "lm_head" { // tied to the embedding
		s, ok = h.byModule["model.embed_tokens"]
	}
	return s, ok
}

func (h held) layers() int { return h.count }

// layerOf is the number of the layer a module stands in; -1: in none.
func layerOf(module string) int {
	_, rest, ok := strings.Cut(module, "layers.")
	if !ok {
		return -1
	}
	digits, _, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// baseShapes finds out the shapes of a base: from its weights, else from its
// configuration. They are not known of a name other than Qwen3-8B.
func baseShapes(base string) (shapes, error) {
	if base == "" {
		return nil, nil
	}
	if info, err := os.Stat(base); err != nil || !info.IsDir() {
		if strings.EqualFold(modelName(base), "Qwen3-8B") {
			return qwen3_8B(), nil
		}
		return nil, nil
	}
	w, err := openWeights(base)
	if errors.Is(err, errNoWeights) {
		return configShapes(base)
	}
	if err != nil {
		return nil, err
	}
	defer w.Close()
	h := held{byModule: map[string][2]int64{}}
	for _, name := range w.names() {
		t := w.byKey[name]
		h.count = max(h.count, layerOf(name)+1)
		if module, ok := strings.CutSuffix(name, ".weight"); ok && len(t.Shape) == 2 {
			h.byModule[module] = [2]int64{t.Shape[0], t.Shape[1]}
		}
	}
	return h, nil
}

func configShapes(base string) (shapes, error) {
	raw, err := os.ReadFile(filepath.Join(base, configFile))
	if err != nil {
		return nil, err
	}
	var d dims
	if err := decodeJSON(raw, &d); err != nil {
		return nil, err
	}
	if d.Hidden == 0 || d.Layers == 0 {
		return nil, nil
	}
	if d.KVHeads == 0 {
		d.KVHeads = d.Heads
	}
	if d.HeadDim == 0 && d.Heads > 0 {
		d.HeadDim = d.Hidden / d.Heads
	}
	return d, nil
}
