package checkpoint

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock/internal/msg"
)

// CheckModel looks at a merged or fully trained model. With a base, a folder,
// all that decides ids, positions, prompt and stopping is compared with it: what
// trainers write today silently means something else to older readers.
func CheckModel(dir, base string) []Finding {
	var l findings
	c, err := readObject(filepath.Join(dir, configFile))
	switch {
	case err != nil:
		l.add("config_unreadable", Error, configFile, msg.Text{"%v", "%v"}, err)
		return l
	case c == nil:
		l.add("config_missing", Error, configFile, msg.Text{"it is missing: this is no model", "缺少该文件：不是模型"})
		return l
	}
	if base == "" {
		l.alone(c)
		l.weights(dir, "", c, nil)
		return l
	}
	b, err := readObject(filepath.Join(base, configFile))
	if err != nil || b == nil {
		if err == nil {
			err = os.ErrNotExist
		}
		l.add("base_unreadable", Error, "", msg.Text{"the base's config.json: %v", "基座的 config.json：%v"}, err)
		return l
	}
	l.config(c, b)
	tc, err := readObject(filepath.Join(dir, tokenizerConfig))
	tb, berr := readObject(filepath.Join(base, tokenizerConfig))
	if berr != nil {
		l.add("base_unreadable", Error, "", msg.Text{"the base's tokenizer_config.json: %v", "基座的 tokenizer_config.json：%v"}, berr)
		return l
	}
	l.tokenizerConfigs(tc, tb, err)
	l.templates(dir, base, tc, tb)
	l.tokenizers(dir, base)
	l.generation(dir, base)
	l.weights(dir, base, c, b)
	return l
}

// alone looks at a configuration that is compared with none.
func (l *findings) alone(c object) {
	if r := c.rope(); r.new && !r.old {
		l.rope(r, rope{scaling: r.scaling})
	}
	if a, ok := c.value("architectures").([]any); ok && len(a) > 0 {
		if name, _ := a[0].(string); !strings.HasSuffix(name, "ForCausalLM") && name != "" {
			l.add("architecture", Warning, configFile, msg.Text{"%s is no model that answers", "%s 不是生成模型"}, name)
		}
	}
}

// weights holds the tensors to the configuration and to the base's.
func (l *findings) weights(dir, base string, c, b object) {
	w, err := openWeights(dir)
	if errors.Is(err, errNoWeights) {
		f := l.add("weights_missing", Error, "", msg.Text{"there are no safetensors weights", "没有 safetensors 权重"})
		if bins, _ := filepath.Glob(filepath.Join(dir, "*.bin")); len(bins) > 0 {
			f.repair(msg.Text{"%s is not read: save as safetensors", "不读取 %s：请保存为 safetensors"}, filepath.Base(bins[0]))
		}
		return
	}
	if err != nil {
		l.add("weights_unreadable", Error, "", msg.Text{"%v", "%v"}, err)
		return
	}
	defer w.Close()
	l.beside(dir)
	l.finite(w)
	l.tied(w, c)
	types := w.dtypes()
	if base == "" {
		return
	}
	bw, err := openWeights(base)
	if errors.Is(err, errNoWeights) {
		l.add("base_weights", Note, "", msg.Text{"the base has no weights here: shapes were not compared", "基座目录没有权重：未比较形状"})
		return
	}
	if err != nil {
		l.add("base_unreadable", Error, "", msg.Text{"the base: %v", "基座：%v"}, err)
		return
	}
	defer bw.Close()
	l.tensors(w, bw, c)
	if have, want := types[0], bw.dtypes()[0]; have != want {
		if have == "F32" {
			l.add("dtype_float32", Warning, "", msg.Text{"the weights are float32, the base's %s: twice the memory and disk for the same answers", "权重为 float32，基座为 %s：回答相同，内存与磁盘加倍"}, dtypeName(want)).
				repair(msg.Text{"serve with --dtype %s", "请以 --dtype %s 部署"}, dtypeName(want))
		} else {
			l.add("dtype", Warning, "", msg.Text{"the weights are %s, the base's %s", "权重为 %s，基座为 %s"}, dtypeName(have), dtypeName(want))
		}
	}
	if d := c.dtype(); d != "" && d != dtypeName(types[0]) {
		l.add("dtype", Warning, configFile, msg.Text{"it says %s, and the weights are %s", "其中写 %s，而权重为 %s"}, d, dtypeName(types[0]))
	}
}

// dtypes lists the types of the tensors, the one with the most values first.
func (w *weights) dtypes() []string {
	n := map[string]int64{}
	for _, t := range w.byKey {
		n[t.DType] += t.Len()
	}
	out := make([]string, 0, len(n))
	for d := range n {
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b string) int {
		switch {
		case n[a] > n[b]:
			return -1
		case n[a] < n[b]:
			return 1
		}
		return strings.Compare(a, b)
	})
	if len(out) == 0 {
		return []string{""}
	}
	return out
}

// dtypeName spells a dtype as config.json does.
func dtypeName(d string) string {
	switch d {
	case "F32":
		return "float32"
	case "F16":
		return "float16"
	case "BF16":
		return "bfloat16"
	}
	return strings.ToLower(d)
}

const (
	embedding = "model.embed_tokens.weight"
	head      = "lm_head.weight"
)

// tied looks at the output weights: with tie_word_embeddings they are the
// embedding, and a readers drops others.
func (l *findings) tied(w *weights, c object) {
	tie := c.value("tie_word_embeddings") == true
	e, h := w.byKey[embedding], w.byKey[head]
	switch {
	case !tie && h == nil && e != nil:
		l.add("head_missing", Error, "", msg.Text{"lm_head.weight is missing, and tie_word_embeddings is off", "缺少 lm_head.weight，而 tie_word_embeddings 为关"})
	case tie && h != nil && e != nil:
		if equal, err := sameBytes(e, h); err == nil && !equal {
			l.add("head_dropped", Error, "", msg.Text{"lm_head.weight differs from the embedding, and tie_word_embeddings is on: readers drop it", "lm_head.weight 与词嵌入不同，而 tie_word_embeddings 为开：读取方会丢弃它"})
		}
	}
	if n, ok := c.value("vocab_size").(float64); ok && e != nil && len(e.Shape) == 2 && e.Shape[0] != int64(n) {
		l.add("vocab_size", Error, configFile, msg.Text{"vocab_size is %s, and the embedding has %d rows", "vocab_size 为 %s，而词嵌入有 %d 行"}, whole(n), e.Shape[0])
	}
}

// sameBytes compares two tensors, a block at a time.
func sameBytes(a, b *Tensor) (bool, error) {
	if a.DType != b.DType || !slices.Equal(a.Shape, b.Shape) {
		return false, nil
	}
	const block = 1 << 20
	x, y := make([]byte, block), make([]byte, block)
	for at := int64(0); at < a.size; at += block {
		n := min(block, a.size-at)
		if _, err := a.file.ReadAt(x[:n], a.from+at); err != nil {
			return false, err
		}
		if _, err := b.file.ReadAt(y[:n], b.from+at); err != nil {
			return false, err
		}
		if !bytes.Equal(x[:n], y[:n]) {
			return false, nil
		}
	}
	return true, nil
}

// tensors compares names and shapes.
func (l *findings) tensors(w, base *weights, c object) {
	tie := c.value("tie_word_embeddings") == true
	for _, name := range base.names() {
		t, b := w.byKey[name], base.byKey[name]
		switch {
		case t == nil && name == head && tie:
		case t == nil:
			l.add("tensor_missing", Error, "", msg.Text{"%s is missing", "缺少 %s"}, name)
			return
		case slices.Equal(t.Shape, b.Shape):
		case name == embedding || name == head:
			l.add("vocab_resized", Error, "", msg.Text{"%s has %d rows, the base's %d: the vocabulary was resized, and the base's tokenizer does not fit", "%s 有 %d 行，基座为 %d 行：词表被改动，基座分词器不适用"}, name, t.Shape[0], b.Shape[0])
			return
		default:
			l.add("shape", Error, "", msg.Text{"%s is %v, the base's %v", "%s 为 %v，基座为 %v"}, name, t.Shape, b.Shape)
			return
		}
	}
	for _, name := range w.names() {
		if base.byKey[name] != nil || name == head && tie {
			continue
		}
		f := l.add("tensor_extra", Error, "", msg.Text{"%s is no tensor of the base", "%s 不是基座的张量"}, name)
		if strings.Contains(name, "lora_") || strings.Contains(name, "base_layer") {
			f.repair(msg.Text{"the adapter was saved beside the weights, not merged into them", "适配器与权重并列保存，并未合并"})
		}
		return
	}
}
