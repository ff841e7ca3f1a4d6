package checkpoint

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
)

// The files of an adapter, as peft names them.
const (
	adapterConfigFile = "adapter_config.json"
	adapterWeights    = "adapter_model.safetensors"
)

// adapterConfig is what matters of adapter_config.json. The trainers write it
// unalike: alpha may be a float, modules_to_save null or [], target_modules
// suffixes, full paths or one pattern.
type adapterConfig struct {
	Type     string          `json:"peft_type"`
	Base     string          `json:"base_model_name_or_path"`
	Rank     float64         `json:"r"`
	Alpha    float64         `json:"lora_alpha"`
	Targets  json.RawMessage `json:"target_modules"`
	Exclude  json.RawMessage `json:"exclude_modules"`
	Bias     string          `json:"bias"`
	LoraBias bool            `json:"lora_bias"`
	DoRA     bool            `json:"use_dora"`
	RSLoRA   bool            `json:"use_rslora"`
	FanInOut bool            `json:"fan_in_fan_out"`

	Modules     json.RawMessage    `json:"modules_to_save"`
	Init        json.RawMessage    `json:"init_lora_weights"`
	Tokens      json.RawMessage    `json:"trainable_token_indices"`
	Parameters  json.RawMessage    `json:"target_parameters"`
	Activated   json.RawMessage    `json:"alora_invocation_tokens"`
	Replication json.RawMessage    `json:"layer_replication"`
	Block       json.RawMessage    `json:"use_bdlora"`
	QALoRA      bool               `json:"use_qalora"`
	Ranks       map[string]float64 `json:"rank_pattern"`
	Alphas      map[string]float64 `json:"alpha_pattern"`

	has map[string]json.RawMessage
}

func readAdapterConfig(raw []byte) (*adapterConfig, error) {
	c := &adapterConfig{}
	if err := decodeJSON(raw, c); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(raw, &c.has); err != nil {
		return nil, err
	}
	return c, nil
}

// present tells a JSON value that says something.
func present(v json.RawMessage) bool {
	switch strings.TrimSpace(string(v)) {
	case "", "null", "[]", "{}", `""`, "false":
		return false
	}
	return true
}

// missing lists what vLLM does not do without: it refuses such an adapter.
func (c *adapterConfig) missing() []string {
	var out []string
	for _, name := range []string{"r", "lora_alpha", "target_modules"} {
		if v := string(c.has[name]); v == "" || v == "null" {
			out = append(out, name)
		}
	}
	return out
}

// ranks lists every rank the adapter has, the largest last.
func (c *adapterConfig) ranks() []float64 {
	out := []float64{c.Rank}
	for _, r := range c.Ranks {
		out = append(out, r)
	}
	slices.Sort(out)
	return out
}

// pattern finds a module's own rank or alpha by peft's rule (get_pattern_key):
// a key is a pattern for the end of the name, from a dot on.
func pattern(p map[string]float64, module string) (float64, bool) {
	keys := make([]string, 0, len(p))
	for k := range p {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		if re, err := regexp.Compile(`^(?:.*\.)?(?:` + k + `)$`); err == nil && re.MatchString(module) {
			return p[k], true
		}
	}
	return 0, false
}

// scale is what B·A of a module is multiplied with.
func (c *adapterConfig) scale(module string) float64 {
	rank, alpha := c.rank(module), c.Alpha
	if a, ok := pattern(c.Alphas, module); ok {
		alpha = a
	}
	if c.RSLoRA {
		return alpha / math.Sqrt(rank)
	}
	return alpha / rank
}

func (c *adapterConfig) rank(module string) float64 {
	if r, ok := pattern(c.Ranks, module); ok {
		return r
	}
	return c.Rank
}

// targets reads target_modules: names, or one pattern that must match a whole
// name. known is false for a pattern in Python's own syntax.
func (c *adapterConfig) targets() (names []string, match func(module string) bool, known bool) {
	if json.Unmarshal(c.Targets, &names) == nil {
		return names, func(module string) bool {
			return slices.ContainsFunc(names, func(n string) bool { return module == n || strings.HasSuffix(module, "."+n) })
		}, true
	}
	var one string
	if json.Unmarshal(c.Targets, &one) != nil {
		return nil, nil, false
	}
	if one == "all-linear" { // peft resolves it when the model is at hand
		return []string{}, func(module string) bool { return module != "lm_head" }, true
	}
	re, err := regexp.Compile(`^(?:` + one + `)$`)
	if err != nil {
		return nil, nil, false
	}
	return []string{}, re.MatchString, true
}

// pissa reports an initialisation that changes the base's weights, too, so that
// the adapter is right on no untouched base: PiSSA, OLoRA, CorDA, LoftQ and what
// else is not named as harmless. vLLM 0.32 refuses these.
func (c *adapterConfig) pissa() string {
	var s string
	if json.Unmarshal(c.Init, &s) != nil {
		return ""
	}
	switch strings.ToLower(s) {
	case "", "gaussian", "eva", "orthogonal", "mica", "lora_ga":
		return ""
	}
	return s
}

// whole writes a number as an integer where it is one.
func whole(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		return fmt.Sprintf("%d", int64(f))
	}
	return fmt.Sprint(f)
}
