package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/spec"
	"github.com/drydock-ml/drydock/launch/feed"
	"github.com/drydock-ml/drydock/launch/parity"
)

// write puts a training file into a folder of its own.
func write(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// quotedForShell writes a command line as a script.
func quotedForShell(argv []string) string {
	words := make([]string, len(argv))
	for i, w := range argv {
		words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return "#!/bin/sh\nset -e\n# swift sft --model none\nNPROC=1 " + strings.Join(words, " \\\n  ") + "; echo done\n"
}

// What a plan writes is read as the settings that the check of its data uses.
func TestPlansAreReadAsTheyAreMeant(t *testing.T) {
	t.Parallel()
	const withBlock = `{"messages":[{"role":"user","content":"一"},{"role":"assistant","content":"二"},{"role":"user","content":"问"},{"role":"assistant","content":"<think>\n\n</think>\n\n[C]"}]}` + "\n"
	for _, name := range []string{"swift", "trl", "axolotl"} {
		found, _ := spec.Find(Trainers(), name)
		trainer, err := found.Default()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range append(emit.Contracts(), emit.Plain) {
			rows := withBlock
			if c == emit.Plain {
				rows = strings.Replace(rows, `<think>\n\n</think>\n\n`, "", 1)
			}
			settings, err := feed.For(name, c)
			if err != nil {
				continue
			}
			p, err := trainer.Plan(Job{Data: "build/训练 集.jsonl", Dir: "build/train", Contract: c}, Found{})
			if err != nil {
				t.Fatal(err)
			}
			file, data := "", rows
			if name == "swift" {
				file = write(t, "train.sh", quotedForShell(p.Argv))
			} else {
				file = write(t, p.Files[0].Name, p.Files[0].Content)
			}
			for _, d := range p.Derived {
				var b strings.Builder
				if err := d.Write(&b, strings.NewReader(rows)); err != nil {
					t.Fatal(err)
				}
				data = b.String()
			}
			f, err := ReadTrainingFile(name, file)
			if err != nil {
				t.Fatalf("%s %s: %v", name, c, err)
			}
			if f.MaxLength != 2048 || !f.Known || len(f.Datasets) != 1 || !strings.HasSuffix(f.Datasets[0].File, ".jsonl") {
				t.Errorf("%s %s: %+v", name, c, f)
			}
			var reports [2]*parity.Report
			for i, s := range []feed.Settings{f.Settings, settings} {
				o := parity.Options{Settings: s, Contract: c, NoThinking: c == emit.EmptyThinkMasked, Workers: 1}
				if reports[i], err = parity.Check(t.Context(), "rows.jsonl", strings.NewReader(data), o); err != nil {
					t.Fatal(err)
				}
			}
			if d := cmp.Diff(shownReport(reports[1]), shownReport(reports[0])); d != "" {
				t.Errorf("%s %s (-meant +read):\n%s", name, c, d)
			}
		}
	}
}

// shownReport is what a report says of the rows.
func shownReport(r *parity.Report) string {
	out := fmt.Sprintf("%d of %d match, %d of %d tokens trained", r.Matching, r.Rows, r.Tokens.Trained, r.Tokens.Total)
	for _, f := range r.Findings {
		out += "\n" + f.ID
		for _, p := range f.Places {
			out += " " + p.Pointer + " " + p.Detail
		}
	}
	return out
}

// What a file of the user's own says, and what is not known of it.
func TestReadTrainingFileOfOthers(t *testing.T) {
	t.Parallel()
	const entry = "base_model: m\ndatasets:\n  - {path: a.jsonl, type: chat_template, "
	for _, c := range []struct{ trainer, name, text, want string }{
		{"trl", "a.yaml", "dataset_name: a.jsonl\nassistant_only_loss: true\n", "assistant_only_loss: true · 1024 · a.jsonl · "},
		{"trl", "a.yaml", "datasets:\n  - path: json\n    data_files: [a.jsonl, b.jsonl]\nmax_length: 99\nchat_template_path: x.jinja\n", "assistant_only_loss: false · 99 · a.jsonl b.jsonl · x.jinja unknown"},
		{"trl", "a.yaml", "max_length: 99\n", "it names no dataset"},
		{"trl", "a.yaml", "dataset_name: a.jsonl\ncompletion_only_loss: false\n", "2:23: what is fed under completion_only_loss: false is not known"},
		{"trl", "a.yaml", "dataset_name: a.jsonl\nmax_length: none\n", "max_length must be a whole number above 0, not none"},
		// axolotl's reader leaves null out, so that the defaults hold
		{"axolotl", "a.yaml", entry + "roles_to_train: null, train_on_eos: null}\n", "type: chat_template, roles_to_train: assistant, train_on_eos: turn · 512 · a.jsonl ·  empty-think-masked"},
		{"axolotl", "a.yaml", entry + "roles_to_train: []}\n", "what is fed under roles_to_train: [] is not known"},
		{"axolotl", "a.yaml", "base_model: m\ndatasets: [{path: a.jsonl, type: input_output}]\n", "type: input_output · 512 · a.jsonl · "},
		{"axolotl", "a.yaml", entry + "}\nchat_template: llama3\nsequence_len: 4096\n", "type: chat_template, roles_to_train: assistant, train_on_eos: turn · 4096 · a.jsonl · llama3 unknown empty-think-masked"},
		{"axolotl", "a.yaml", entry + "roles_to_train: [assistant, user]}\n", "what is fed under roles_to_train: assistant,user is not known"},
		{"axolotl", "a.yaml", entry + "train_on_eos: last}\n", "what is fed under train_on_eos: last is not known"},
		{"axolotl", "a.yaml", entry + "field_messages: turns}\n", "what is fed under field_messages: turns is not known"},
		{"axolotl", "a.yaml", entry + "}\n  - {path: b.jsonl, type: completion}\n", "its settings differ"},
		{"axolotl", "a.yaml", "base_model: m\ndatasets:\n  - {path: a.jsonl, type: alpaca}\n", "what is fed under type: alpaca is not known"},
		{"swift", "a.yaml", "model: m\ndataset: [a.jsonl#100, b.jsonl]\ntemplate: qwen3_nothinking\nmax_length: 64\n", "--template qwen3_nothinking, --loss_scale default, --add_non_thinking_prefix true · 64 · a.jsonl b.jsonl · qwen3_nothinking plain"},
		{"swift", "a.sh", "swift rlhf --rlhf_type dpo --dataset a.jsonl --disable_ignore_empty_think true\n", "--template qwen3, --loss_scale last_round, --disable_ignore_empty_think true · 0 · a.jsonl · "},
		{"swift", "a.sh", "CUDA_VISIBLE_DEVICES=0 \\\n/opt/bin/swift sft \\\n  --dataset 'a b.jsonl' \"$MORE\" \\\n  --loss_scale hermes # weights\nswift infer\n", "what is fed under loss_scale: hermes is not known"},
		{"swift", "a.sh", "llamafactory-cli train x.yaml\n", "it starts no swift"},
		{"swift", "a.sh", "swift sft --dataset 'a\n", "a.sh:1: a quote is not closed"},
		{"swift", "a.sh", "# weights\nswift sft \\\n  --dataset 'a\n", "a.sh:3: a quote is not closed"},
		{"unsloth", "a.yaml", "a: 1\n", "training files of unsloth are not read"},
	} {
		f, err := ReadTrainingFile(c.trainer, write(t, c.name, c.text))
		if err != nil {
			if !strings.Contains(err.Error(), c.want) || fail.Code(err) != 2 {
				t.Errorf("%q: %v, code %d", c.text, err, fail.Code(err))
			}
			continue
		}
		var files []string
		for _, d := range f.Datasets {
			files = append(files, filepath.Base(d.File))
		}
		got := strings.Join(f.Settings.Words, ", ") + " · " + strconv.Itoa(f.MaxLength) + " · " + strings.Join(files, " ") + " · " + f.Template
		if !f.Known {
			got += " unknown"
		}
		if f.Contract != "" {
			got += " " + string(f.Contract)
		}
		if got != c.want || f.Known != (f.Settings.Feed != nil) {
			t.Errorf("%q:\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}

func TestShellWords(t *testing.T) {
	t.Parallel()
	for src, want := range map[string][]string{
		"a b\tc":                    {"a", "b", "c"},
		"a \\\n  b\\\r\n c":         {"a", "b", "c"},
		`'a b'c "d\"e" "\n" ''`:     {"a bc", `d"e`, `\n`, ""},
		"a # b\nc":                  {"a", commandEnd, "c"},
		"a#b;c|d&&e":                {"a#b", commandEnd, "c", commandEnd, "d", commandEnd, commandEnd, "e"},
		`--columns {\"text\":\ 1}`:  {"--columns", `{"text": 1}`},
		"":                          nil,
		`a\`:                        {`a\`},
		"--x=$HOME/${Y} 'it'\\''s'": {"--x=$HOME/${Y}", "it's"},
	} {
		if got, err := shellWords(src); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v", src, got, err)
		}
	}
}

func FuzzShellWords(f *testing.F) {
	f.Add("swift sft \\\n --model 'a b' # c\n")
	f.Add("\"")
	f.Fuzz(func(t *testing.T, src string) {
		words, err := shellWords(src)
		if err != nil {
			return
		}
		n := 0
		for _, w := range words {
			n += len(w)
		}
		if n > len(src) {
			t.Errorf("%q: %q is longer", src, words)
		}
	})
}
