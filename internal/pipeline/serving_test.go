package pipeline

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock/dataprep/emit"
)

// loadText loads a drydock.yaml with one source, which is there.
func loadText(t *testing.T, text string) *Config {
	t.Helper()
	dir := t.TempDir()
	for name, b := range map[string]string{
		"bank.txt":           "",
		"Qwen3-8B/notes.txt": "",
		ConfigName:           "version: 1\nsources:\n  - {name: bank, path: bank.txt}\n" + text,
	} {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(b), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cfg, findings := Load(filepath.Join(dir, ConfigName))
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	return cfg
}

// What the server is started with follows from the rows, the trainer and the
// evaluation of the project.
func TestServing(t *testing.T) {
	t.Parallel()
	const rows = "output:\n  - qwen3_chat: {path: train.jsonl, contract: cot}\n"
	for name, c := range map[string]struct {
		text string
		want Serving
		dir  bool // the model is the folder in the project
	}{
		"rows alone": {rows, Serving{Contract: emit.CoT}, false},
		"the rows the trainer takes": {
			"output:\n  - text: {path: text.jsonl}\n  - qwen3_chat: {path: a.jsonl}\n  - qwen3_chat: {path: b.jsonl, contract: cot}\ntrain:\n  trl: {}\n",
			Serving{Contract: emit.EmptyThink},
			false,
		},
		"a base of the hub":     {rows + "train:\n  trl: {base: Qwen/Qwen3-8B}\n", Serving{Contract: emit.CoT, Model: "Qwen/Qwen3-8B"}, false},
		"a base in the project": {rows + "train:\n  trl: {base: Qwen3-8B}\n", Serving{Contract: emit.CoT}, true},
		"this machine": {
			rows + "eval: {benchmarks: [maritime_bench], base_url: 'http://[::1]:9000/v1', model: m}\n",
			Serving{Contract: emit.CoT, Name: "m", Host: "::1", Port: 9000},
			false,
		},
		"by name": {
			rows + "eval: {benchmarks: [maritime_bench], base_url: 'http://localhost:9000/v1', model: m}\n",
			Serving{Contract: emit.CoT, Name: "m", Host: "localhost", Port: 9000},
			false,
		},
		"another machine":  {rows + "eval: {benchmarks: [maritime_bench], base_url: 'http://10.0.0.7:9000/v1', model: m}\n", Serving{Contract: emit.CoT, Name: "m"}, false},
		"no port":          {rows + "eval: {benchmarks: [maritime_bench], base_url: 'http://localhost/v1', model: m}\n", Serving{Contract: emit.CoT, Name: "m"}, false},
		"rows without one": {"output:\n  - question: {path: q.jsonl}\n", Serving{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := loadText(t, c.text)
			if c.dir {
				c.want.Model = filepath.Join(cfg.Dir, "Qwen3-8B")
			}
			if d := cmp.Diff(c.want, cfg.Serving()); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// A finding about a training names the option in drydock.yaml that it comes from.
func TestTrainerOptionPlaces(t *testing.T) {
	t.Parallel()
	const rows = "output:\n  - qwen3_chat: {path: train.jsonl}\n"
	for name, c := range map[string]struct {
		text, option string
		line, column int
	}{
		"written":     {"train:\n  trl:\n    batch_size: 8\n", "batch_size", 8, 17},
		"in one line": {"train: {trl: {max_tokens: 4096}}\n", "max_tokens", 6, 27},
		"not written": {"train:\n  trl: {rank: 8}\n", "batch_size", 7, 8},
		"no options":  {"train:\n  trl:\n", "method", 7, 7},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := loadText(t, rows+c.text)
			tr, err := cfg.Training()
			if err != nil {
				t.Fatal(err)
			}
			at := tr.At(c.option)
			if at.File != cfg.File || at.Line != c.line || at.Column != c.column || at.Excerpt == "" {
				t.Errorf("%+v", at)
			}
		})
	}
}
