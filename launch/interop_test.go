package launch_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/launch"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestInterop plans the very files the real LLaMA-Factory 0.9.5 was given: its
// parser took them, and PyYAML read from them the values of read.json.
// scripts/interop/trainer.py made testdata/interop.
func TestInterop(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob(filepath.Join("testdata", "interop", "*"))
	if err != nil || len(folders) == 0 {
		t.Fatal("no goldens", err)
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			file := func(name string) string {
				b, err := os.ReadFile(filepath.Join(folder, name))
				if err != nil {
					t.Fatal(err)
				}
				return strings.ReplaceAll(string(b), "\r\n", "\n")
			}
			var real struct {
				Contract, Dir, Data string
				Values              map[string]any
			}
			if err := json.Unmarshal([]byte(file("read.json")), &real); err != nil {
				t.Fatal(err)
			}
			p, err := must(t, "llamafactory", file("options.yaml")).Plan(
				launch.Job{Data: real.Data, Dir: real.Dir, Seed: 7, Contract: emit.Contract(real.Contract)}, launch.Found{})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range p.Files {
				if d := cmp.Diff(file(f.Name), f.Content); d != "" {
					t.Errorf("%s (-read by LLaMA-Factory +planned):\n%s", f.Name, d)
				}
			}
			// what a reader of YAML 1.1 takes for a text is no rate
			for _, k := range []string{"learning_rate", "num_train_epochs", "lora_dropout", "warmup_ratio", "weight_decay", "adam_epsilon", "val_size"} {
				if v, there := real.Values[k]; there {
					if _, number := v.(float64); !number {
						t.Errorf("%s was read as %T", k, v)
					}
				}
			}
		})
	}
}

// TestParsers plans what the trainers' own parsers have read whole, holding every
// setting as it is written. scripts/interop/trainer_configs.py made
// testdata/parsers.
func TestParsers(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"llamafactory", "swift", "trl", "axolotl"} {
		b, err := os.ReadFile(filepath.Join("testdata", "parsers", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var cases []struct {
			Contract emit.Contract
			Options  json.RawMessage
			Argv     []string
			Files    []launch.File
			Derived  []launch.Derived
		}
		if err := json.Unmarshal(b, &cases); err != nil || len(cases) < 6 {
			t.Fatal(name, err, len(cases))
		}
		for _, c := range cases {
			tr := must(t, name, string(c.Options))
			data := map[launch.RowKind]string{launch.RowsChat: "build/训练 集.jsonl", launch.RowsText: "build/text.jsonl", launch.RowsPairs: "build/pairs.jsonl"}[tr.(launch.RowTaker).Rows()]
			p, err := tr.Plan(launch.Job{Data: data, Dir: "build/train", Contract: c.Contract, Seed: 7}, launch.Found{})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.Argv, p.Argv); d != "" {
				t.Errorf("%s %s (-read +planned):\n%s", name, c.Options, d)
			}
			if d := cmp.Diff(c.Files, p.Files); d != "" {
				t.Errorf("%s %s (-read +planned):\n%s", name, c.Options, d)
			}
			if d := cmp.Diff(c.Derived, p.Derived, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("%s %s: derived files: %s", name, c.Options, d)
			}
		}
	}
}
