package checkpoint_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/launch/checkpoint"
)

// said joins what was found, in English.
func said(list []checkpoint.Finding) string {
	var out []string
	for _, f := range list {
		out = append(out, f.ID+": "+f.In(msg.En)+" "+f.FixIn(msg.En))
	}
	return strings.Join(out, "\n")
}

// A model with values that are no numbers, and one whose file lies beside another
// save of it, are no models to serve.
func TestCheckModelIsSound(t *testing.T) {
	t.Parallel()
	base := writeBase(t)
	broken := asBase()
	for name, m := range broken.weights { // as where a loss became NaN: everywhere, the last value too
		m.values = append([]float32(nil), m.values...)
		m.values[len(m.values)/2] = float32(math.Inf(1))
		broken.weights[name] = m
	}
	dir := broken.write(t)
	for _, b := range []string{"", base} {
		if got := said(checkpoint.CheckModel(dir, b)); !strings.Contains(got, "not_finite: ") {
			t.Errorf("base %q: %s", b, got)
		}
	}
	twice := asBase().write(t)
	if got := said(checkpoint.CheckModel(twice, base)); got != "" {
		t.Fatalf("a sound model: %s", got)
	}
	write(t, twice, map[string]any{"model-00001-of-00002.safetensors": tensors(nil)})
	if got := said(checkpoint.CheckModel(twice, base)); !strings.Contains(got, "two_weights: model-00001-of-00002.safetensors lies beside model.safetensors") {
		t.Errorf("two saves: %s", got)
	}
}

// JSON of another type than expected is said in the words of JSON.
func TestOtherJSON(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`{"r": "4"}`:                    "r is of the type string, and should be number",
		`{"use_dora": 1}`:               "use_dora is of the type number, and should be boolean",
		`{"rank_pattern": [1]}`:         "rank_pattern is of the type array, and should be object",
		`{"peft_type": {}}`:             "peft_type is of the type object, and should be string",
		`[1]`:                           "it holds JSON of the type array, and should hold an object",
		`{"r": 4,`:                      "unexpected end of JSON input",
		`{"alpha_pattern": {"a": "x"}}`: "should be number",
	} {
		dir := write(t, t.TempDir(), map[string]any{"adapter_config.json": raw})
		got := said(checkpoint.CheckAdapter(dir, checkpoint.AdapterOptions{}))
		if !strings.Contains(got, want) || strings.Contains(got, "Go ") {
			t.Errorf("%s: %s", raw, got)
		}
	}
	dir := write(t, t.TempDir(), map[string]any{"config.json": "[]"})
	if got := said(checkpoint.CheckModel(dir, "")); !strings.Contains(got, "should hold an object") {
		t.Errorf("config.json: %s", got)
	}
}

// Weights of another kind of file are named.
func TestAdapterAsPickle(t *testing.T) {
	t.Parallel()
	dir := write(t, t.TempDir(), map[string]any{
		"adapter_config.json": `{"peft_type":"LORA","r":1,"lora_alpha":1,"target_modules":["q_proj"]}`, "adapter_model.bin": "PK",
	})
	if got := said(checkpoint.CheckAdapter(dir, checkpoint.AdapterOptions{})); !strings.Contains(got, "adapter_model.bin is not read: save as safetensors") {
		t.Error(got)
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"checkpoint-100", "checkpoint-90", "other", "checkpoint-95"} {
		write(t, filepath.Join(dir, name), map[string]any{map[bool]string{true: "config.json", false: "x"}[name != "other"]: "{}"})
	}
	write(t, filepath.Join(dir, "checkpoint-95"), map[string]any{"adapter_config.json": "{}"})
	got, err := checkpoint.Models(dir)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{filepath.Join(dir, "checkpoint-90"), filepath.Join(dir, "checkpoint-100")}, got); d != "" {
		t.Error(d)
	}
	if _, err := checkpoint.Models(filepath.Join(dir, "nowhere")); !os.IsNotExist(err) {
		t.Errorf("no folder: %v", err)
	}
}

// A whole model is told from others by its configuration and by any change of its
// weights; a plain name's digits are no step.
func TestReadModel(t *testing.T) {
	t.Parallel()
	read := func(m model) checkpoint.Checkpoint {
		t.Helper()
		c, err := checkpoint.ReadModel(m.write(t))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	first, again := read(asBase()), read(asBase())
	if first.SHA256 != again.SHA256 || first.Step != 0 || first.Name != "merged" || first.Served() != "merged-"+first.SHA256[:8] {
		t.Errorf("%+v and %+v", first, again)
	}
	trained, edited := asBase(), asBase()
	for name, m := range trained.weights {
		m.values = append([]float32(nil), m.values...)
		for i := range m.values {
			m.values[i] += 1
		}
		trained.weights[name] = m
	}
	edited.config["rope_theta"] = 1
	for name, c := range map[string]checkpoint.Checkpoint{"weights": read(trained), "configuration": read(edited)} {
		if c.SHA256 == first.SHA256 {
			t.Errorf("other %s, the same hash", name)
		}
	}
	if _, err := checkpoint.ReadModel(t.TempDir()); err == nil {
		t.Error("a model out of nothing")
	}
	for name, want := range map[string]int{"checkpoint-40": 40, "step_7": 7, "bf16": 0, "rank8": 0, "v-": 0} {
		dir := write(t, filepath.Join(t.TempDir(), name), map[string]any{"adapter_config.json": "{}"})
		if c := checkpoint.Read(dir, checkpoint.AdapterOptions{}); c.Step != want {
			t.Errorf("%s: step %d", name, c.Step)
		}
	}
}
