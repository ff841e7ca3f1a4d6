package checkpoint

import (
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock/internal/msg"
)

// Ranks are the values vLLM's --max-lora-rank takes (0.32; older versions lack
// some of them: 1 and 512 came later).
func Ranks() []int { return []int{1, 8, 16, 32, 64, 128, 256, 320, 512} }

// RankFor returns the smallest --max-lora-rank that serves a rank; 0: none does.
func RankFor(rank int) int {
	for _, r := range Ranks() {
		if rank <= r {
			return r
		}
	}
	return 0
}

// AdapterOptions say what an adapter is held to.
type AdapterOptions struct {
	// Base is the model it is to sit on: a folder, or a name such as
	// Qwen/Qwen3-8B. Empty: shapes are compared with none.
	Base string
	// MaxRank is the server's --max-lora-rank; 0: the largest vLLM takes.
	MaxRank int
}

// CheckAdapter looks at the files of an adapter before a server loads it. What
// vLLM would refuse, or take and answer wrongly with, is an error.
func CheckAdapter(dir string, o AdapterOptions) []Finding {
	var l findings
	raw, err := os.ReadFile(filepath.Join(dir, adapterConfigFile))
	if err != nil {
		l.add("config_unreadable", Error, "", msg.Text{"%v", "%v"}, err)
		return l
	}
	c, err := readAdapterConfig(raw)
	if err != nil {
		l.add("config_unreadable", Error, adapterConfigFile, msg.Text{"%v", "%v"}, err)
		return l
	}
	l.features(c)
	l.rank(c, o.MaxRank)
	m, err := baseShapes(o.Base)
	if err != nil {
		l.add("base_unreadable", Error, "", msg.Text{"the base %s: %v", "基座 %s：%v"}, o.Base, err)
	}
	l.sitsOn(c, o.Base)
	l.adapterWeights(dir, c, m)
	return l
}

const mergeIt = "drydock checkpoint check MERGED --base B --adapter A"

// features looks for what vLLM does not serve.
func (l *findings) features(c *adapterConfig) {
	refuse := func(id string, text msg.Text, args ...any) {
		l.add(id, Error, "", text, args...).trap("S15").
			repair(msg.Text{"merge it into its base, check that with %s, and serve the merged model", "合并到基座，用 %s 检查，再部署合并后的模型"}, mergeIt)
	}
	if c.Type != "" && !strings.EqualFold(c.Type, "LORA") {
		l.add("not_lora", Error, "", msg.Text{"peft_type %s is no LoRA", "peft_type %s 不是 LoRA"}, c.Type).trap("S15")
	}
	if c.DoRA {
		refuse("dora", msg.Text{"the adapter uses DoRA, which vLLM does not serve", "适配器使用 DoRA，vLLM 不支持"})
	}
	if present(c.Modules) {
		refuse("modules_to_save", msg.Text{"the adapter has modules_to_save %s, which vLLM does not serve", "适配器含 modules_to_save %s，vLLM 不支持"}, compact(c.Modules))
	}
	if c.Bias != "" && c.Bias != "none" {
		refuse("bias", msg.Text{"the adapter trains biases (%s), which vLLM does not serve", "适配器训练了偏置（%s），vLLM 不支持"}, c.Bias)
	}
	if s := c.pissa(); s != "" {
		refuse("init", msg.Text{"init_lora_weights %q changes the base's weights, too: on the untouched base the adapter is wrong", "init_lora_weights %q 同时改动了基座权重：在原始基座上适配器是错的"}, s)
	}
	for _, f := range []struct {
		name string
		on   bool
	}{
		{"lora_bias", c.LoraBias},
		{"use_qalora", c.QALoRA},
		{"alora_invocation_tokens", present(c.Activated)},
		{"layer_replication", present(c.Replication)},
		{"use_bdlora", present(c.Block)},
		{"trainable_token_indices", present(c.Tokens)},
		{"target_parameters", present(c.Parameters)},
	} {
		if f.on {
			refuse("feature", msg.Text{"the adapter uses %s, which vLLM does not serve", "适配器使用 %s，vLLM 不支持"}, f.name)
		}
	}
	if c.FanInOut {
		l.add("fan_in_fan_out", Warning, "", msg.Text{"fan_in_fan_out is set: it is for models that store weights transposed, which Qwen3 does not", "设置了 fan_in_fan_out：仅用于权重转置存储的模型，Qwen3 并非如此"})
	}
	if len(c.Ranks)+len(c.Alphas) > 0 {
		l.add("patterns", Warning, "", msg.Text{"rank_pattern or alpha_pattern gives modules a scale of their own, which vLLM before 0.32 ignores without a word", "rank_pattern 或 alpha_pattern 为部分模块设定了单独的缩放，vLLM 0.32 之前会静默忽略"}).trap("S15")
	}
}

// compact writes a JSON value on one line.
func compact(v json.RawMessage) string {
	return strings.Join(strings.Fields(string(v)), " ")
}

// rank holds the configuration's figures to the server's.
func (l *findings) rank(c *adapterConfig, limit int) {
	if missing := c.missing(); len(missing) > 0 {
		l.add("config_missing", Error, adapterConfigFile, msg.Text{"%s is missing; vLLM loads no adapter without it", "缺少 %s；没有它 vLLM 不会载入适配器"}, msg.List(missing)).trap("S15")
		return
	}
	ranks := c.ranks()
	if c.Rank < 1 || c.Rank != math.Trunc(c.Rank) {
		l.add("rank", Error, adapterConfigFile, msg.Text{"r %v is no rank", "r %v 不是有效的秩"}, whole(c.Rank)).trap("S15")
		return
	}
	if c.Alpha == 0 {
		l.add("alpha_zero", Error, adapterConfigFile, msg.Text{"lora_alpha is 0: the adapter changes nothing", "lora_alpha 为 0：适配器不起作用"}).trap("S15")
	}
	largest := ranks[len(ranks)-1]
	if all := Ranks(); limit == 0 {
		limit = all[len(all)-1]
	}
	if largest > float64(limit) {
		f := l.add("rank", Error, "", msg.Text{"rank %s is larger than --max-lora-rank %d", "秩 %s 大于 --max-lora-rank %d"}, whole(largest), limit).trap("S15")
		if r := RankFor(int(min(largest, 1<<20))); r > 0 {
			f.repair(msg.Text{"serve with --max-lora-rank %d", "请以 --max-lora-rank %d 部署"}, r)
		} else {
			f.repair(msg.Text{"no vLLM serves it: merge it into its base", "vLLM 均无法部署：请合并到基座"})
		}
	}
}

// sitsOn compares the base an adapter was trained on with the one it is put on.
// A folder of another machine says nothing by its path, but by its name.
func (l *findings) sitsOn(c *adapterConfig, base string) {
	if base == "" || c.Base == "" {
		return
	}
	if a, b := modelName(c.Base), modelName(base); !strings.EqualFold(a, b) {
		l.add("base_name", Warning, adapterConfigFile, msg.Text{"it was trained on %s and is put on %s", "其训练基座为 %s，现用于 %s"}, c.Base, base).
			repair(msg.Text{"if these are the same weights, all is well; Qwen3-8B and Qwen3-8B-Base are not", "若为同一权重则没有问题；Qwen3-8B 与 Qwen3-8B-Base 不是同一模型"})
	}
}

// modelName is the last part of a path or name; in a cache of Hugging Face, the
// part that names the model.
func modelName(path string) string {
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' })
	for _, p := range parts {
		if rest, ok := strings.CutPrefix(p, "models--"); ok {
			_, name, _ := strings.Cut(rest, "--")
			return name
		}
	}
	if len(parts) == 0 {
		return path
	}
	return parts[len(parts)-1]
}

// A loraPair is what an adapter holds for one module.
type loraPair struct {
	a, b      *Tensor
	embedding bool
}

// pairs sorts the tensors of an adapter by module; others are names that belong
// to none.
func pairs(w *weights) (byModule map[string]*loraPair, others []string) {
	byModule = map[string]*loraPair{}
	for _, name := range w.names() {
		module := strings.TrimPrefix(name, "base_model.model.")
		if strings.HasSuffix(module, ".embed_tokens.base_layer.weight") || strings.HasSuffix(module, "lm_head.base_layer.weight") {
			continue // peft keeps a copy of the base's; vLLM leaves it out
		}
		found := false
		for _, end := range []struct {
			suffix    string
			first     bool
			embedding bool
		}{{".lora_A.weight", true, false}, {".lora_B.weight", false, false}, {".lora_embedding_A", true, true}, {".lora_embedding_B", false, true}} {
			m, ok := strings.CutSuffix(module, end.suffix)
			if !ok {
				continue
			}
			p := byModule[m]
			if p == nil {
				p = &loraPair{embedding: end.embedding}
				byModule[m] = p
			}
			if end.first {
				p.a = w.byKey[name]
			} else {
				p.b = w.byKey[name]
			}
			found = true
		}
		if !found {
			others = append(others, name)
		}
	}
	return byModule, others
}

// openAdapter opens the weights of an adapter.
func openAdapter(dir string) (*weights, error) {
	w := &weights{byKey: map[string]*Tensor{}}
	if _, err := w.add(filepath.Join(dir, adapterWeights)); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// adapterWeights holds the tensors to the configuration and to the base.
func (l *findings) adapterWeights(dir string, c *adapterConfig, m shapes) {
	w, err := openAdapter(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		f := l.add("weights_missing", Error, "", msg.Text{"there is no adapter_model.safetensors: the checkpoint is not whole", "缺少 adapter_model.safetensors：检查点不完整"})
		if isFile(filepath.Join(dir, "adapter_model.bin")) {
			f.repair(msg.Text{"%s is not read: save as safetensors", "不读取 %s：请保存为 safetensors"}, "adapter_model.bin")
		}
		return
	case err != nil:
		l.add("weights_unreadable", Error, "", msg.Text{"%v", "%v"}, err)
		return
	}
	defer w.Close()
	byModule, others := pairs(w)
	if len(byModule) == 0 {
		l.add("no_tensors", Error, adapterWeights, msg.Text{"it holds no lora_A and lora_B", "其中没有 lora_A 与 lora_B"}).trap("S15")
		return
	}
	if len(others) > 0 && !c.DoRA && !present(c.Modules) { // said already
		l.add("tensor_extra", Error, adapterWeights, msg.Text{"%d {tensor is|tensors are} no part of a LoRA, the first %q: vLLM refuses them", "%d 个张量不属于 LoRA，第一个为 %q：vLLM 会拒绝"}, len(others), others[0]).trap("S15")
	}
	modules := make([]string, 0, len(byModule))
	for name := range byModule {
		modules = append(modules, name)
	}
	slices.SortFunc(modules, byLayer)
	l.targets(c, modules)
	for _, name := range modules {
		if !l.pair(name, byModule[name], c, m) {
			return // the others would say the same
		}
	}
	l.layers(modules, m)
	l.values(modules, byModule)
}

// byLayer orders modules by layer number, then by name.
func byLayer(a, b string) int {
	return cmp.Or(cmp.Compare(layerOf(a), layerOf(b)), cmp.Compare(a, b))
}

// pair holds the two tensors of a module to each other, to the rank and to the
// base. It reports whether they fit.
func (l *findings) pair(name string, p *loraPair, c *adapterConfig, m shapes) bool {
	bad := func(id string, text msg.Text, args ...any) bool {
		l.add(id, Error, adapterWeights, text, args...).trap("S15")
		return false
	}
	switch {
	case p.b == nil:
		return bad("tensor_missing", msg.Text{"%s has lora_A and no lora_B", "%s 有 lora_A 而无 lora_B"}, name)
	case p.a == nil:
		return bad("tensor_missing", msg.Text{"%s has lora_B and no lora_A", "%s 有 lora_B 而无 lora_A"}, name)
	case len(p.a.Shape) != 2 || len(p.b.Shape) != 2 || p.a.Shape[0] != p.b.Shape[1]:
		return bad("shape", msg.Text{"%s: A %v and B %v are not r×in and out×r", "%s：A %v 与 B %v 不是 r×in 与 out×r"}, name, p.a.Shape, p.b.Shape)
	}
	for _, t := range []*Tensor{p.a, p.b} {
		if !readable(t.DType) {
			return bad("dtype", msg.Text{"%s is %s; an adapter is F32, BF16 or F16", "%s 为 %s；适配器应为 F32、BF16 或 F16"}, t.Name, t.DType)
		}
	}
	if r := c.rank(name); c.Rank >= 1 && float64(p.a.Shape[0]) != r {
		return bad("shape", msg.Text{"%s has rank %d, and adapter_config.json says %s", "%s 的秩为 %d，而 adapter_config.json 为 %s"}, name, p.a.Shape[0], whole(r))
	}
	if m == nil {
		return true
	}
	in, out := p.a.Shape[1], p.b.Shape[0]
	want, known := m.of(name)
	switch {
	case !known:
		return bad("module", msg.Text{"the base has no %s", "基座没有 %s"}, name)
	case p.embedding && (in != want[0] || out != want[1]), !p.embedding && (in != want[1] || out != want[0]):
		return bad("shape", msg.Text{"%s: B·A is %d×%d, and the base's weight is %d×%d: it was trained on another model", "%s：B·A 为 %d×%d，而基座权重为 %d×%d：训练所用的是另一个模型"}, name, out, in, want[0], want[1])
	}
	return true
}

// targets compares target_modules with the modules that have weights: either may
// name what the other does not.
func (l *findings) targets(c *adapterConfig, modules []string) {
	names, match, known := c.targets()
	if !known {
		if present(c.Targets) {
			l.add("targets_unread", Note, adapterConfigFile, msg.Text{"target_modules %s is a pattern in Python's own syntax and was not compared with the tensors", "target_modules %s 为 Python 专有正则，未与张量比对"}, compact(c.Targets))
		}
		return
	}
	if names != nil && len(names) == 0 && strings.TrimSpace(string(c.Targets)) == "[]" {
		l.add("targets_empty", Error, adapterConfigFile, msg.Text{"target_modules is empty", "target_modules 为空"}).trap("S15")
		return
	}
	for _, m := range modules {
		if !match(m) {
			l.add("targets_differ", Warning, adapterConfigFile, msg.Text{"%s has weights, and target_modules does not name it", "%s 有权重，而 target_modules 未列出"}, m)
			break
		}
	}
	for _, n := range names {
		if !slices.ContainsFunc(modules, func(m string) bool { return m == n || strings.HasSuffix(m, "."+n) }) {
			l.add("targets_differ", Warning, adapterConfigFile, msg.Text{"target_modules names %s, which has no weights", "target_modules 列出 %s，但没有对应权重"}, n)
			break
		}
	}
}

// layers looks for layers that are left out: a file that lost a part is whole by
// its header.
func (l *findings) layers(modules []string, m shapes) {
	have := map[int]int{}
	last := -1
	for _, name := range modules {
		if n := layerOf(name); n >= 0 {
			have[n]++
			last = max(last, n)
		}
	}
	if m != nil {
		last = max(last, m.layers()-1)
	}
	for n := range last {
		if have[n] == 0 && len(have) > 0 {
			l.add("layer_missing", Warning, adapterWeights, msg.Text{"layer %d has no weights, others do", "第 %d 层没有权重，其他层有"}, n)
			return
		}
	}
}

// values reads every value: an adapter whose B are all zero was never trained,
// and one with NaN answers with noise.
func (l *findings) values(modules []string, byModule map[string]*loraPair) {
	zero := 0
	for _, name := range modules {
		p := byModule[name]
		finite, _, err := scan(p.a)
		if err == nil && finite {
			var none bool
			finite, none, err = scan(p.b)
			if none {
				zero++
			}
		}
		switch {
		case err != nil:
			l.add("weights_unreadable", Error, adapterWeights, msg.Text{"%v", "%v"}, err)
			return
		case !finite:
			l.add("not_finite", Error, adapterWeights, msg.Text{"%s holds values that are no numbers (NaN or infinite): the training broke down", "%s 含非数值（NaN 或无穷）：训练已发散"}, name).trap("S15")
			return
		}
	}
	switch {
	case zero == len(modules):
		l.add("untrained", Error, "", msg.Text{"all B matrices are zero: the adapter changes nothing", "所有 B 矩阵均为零：适配器不起作用"}).trap("S15").
			repair(msg.Text{"it was saved before its first step, or nothing was learned: take a later checkpoint", "该适配器在第一步之前保存，或未学到内容：请用更晚的检查点"})
	case zero > 0:
		l.add("partly_untrained", Warning, "", msg.Text{"the B matrices of %d of %d modules are zero", "%d 个模块（共 %d 个）的 B 矩阵为零"}, zero, len(modules)).trap("S15")
	}
}

// scan reads a tensor whole, a block at a time.
func scan(t *Tensor) (finite, zero bool, err error) {
	const block = 1 << 16
	values := make([]float32, block)
	var buf []byte
	zero = true
	for at, n := int64(0), t.Len(); at < n; at += block {
		part := values[:min(block, n-at)]
		if buf, err = t.floats(part, at, buf); err != nil {
			return false, false, err
		}
		for _, v := range part {
			if v != 0 {
				zero = false
				if v-v != 0 {
					return false, false, nil
				}
			}
		}
	}
	return true, zero, nil
}
