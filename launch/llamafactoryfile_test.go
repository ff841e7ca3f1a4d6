package launch_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/spec"
	"github.com/drydock-ml/drydock/launch"
	"github.com/drydock-ml/drydock/launch/feed"
	"github.com/drydock-ml/drydock/launch/parity"
)

// What feed.For says LLaMA-Factory is told is what the plan writes.
func TestPlanWritesTheSettingsOfTheCheck(t *testing.T) {
	t.Parallel()
	found, _ := spec.Find(launch.Trainers(), "llamafactory")
	trainer, err := found.Default()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range emit.Contracts() {
		p, err := trainer.Plan(launch.Job{Data: "build/train.jsonl", Dir: "build/train", Contract: c}, launch.Found{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := feed.For("llamafactory", c)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range s.Words {
			if !strings.Contains(p.Files[1].Content, "\n"+w+"\n") {
				t.Errorf("%s: %s is not in\n%s", c, w, p.Files[1].Content)
			}
		}
		if p.Limit != 2048 {
			t.Errorf("limit %d", p.Limit)
		}
	}
}

// project writes a training file and its dataset_info.json.
func project(t *testing.T, training, info string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"sft.yaml": training, "rows/dataset_info.json": info} {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "sft.yaml")
}

func TestReadTrainingFile(t *testing.T) {
	t.Parallel()
	file := project(t, "template: qwen3\nenable_thinking: false\nmask_history: true\ncutoff_len: 512\ndataset: a, b\ndataset_dir: rows\n",
		`{"a": {"file_name": "a.jsonl", "formatting": "sharegpt", "columns": {"messages": "messages"}, "tags": {"role_tag": "role", "content_tag": "content", "user_tag": "user", "assistant_tag": "assistant", "system_tag": null}},
		  "b": {"file_name": "b.json", "formatting": "openai"}}`)
	f, err := launch.ReadTrainingFile("llamafactory", file)
	if err != nil {
		t.Fatal(err)
	}
	if f.MaxLength != 512 || f.Contract != emit.EmptyThinkMasked || !f.Known || f.Settings.Feed == nil || f.At.Line != 1 {
		t.Errorf("%+v", f)
	}
	if d := cmp.Diff([]string{"template: qwen3", "enable_thinking: false", "mask_history: true"}, f.Settings.Words); d != "" {
		t.Error(d)
	}
	rows := filepath.Join(filepath.Dir(file), "rows")
	want := []launch.Dataset{
		{Name: "a", File: filepath.Join(rows, "a.jsonl"), Columns: parity.Columns{Strict: true, Messages: "messages", Role: "role", Content: "content", User: "user", Assistant: "assistant"}},
		{Name: "b", File: filepath.Join(rows, "b.json"), System: "detailed thinking off", Columns: parity.Columns{
			Strict: true, Prompt: "instruction", Query: "input", Response: "output", Messages: "conversations", Role: "from", Content: "value", User: "human", Assistant: "gpt", SystemRole: "system",
		}},
	}
	if d := cmp.Diff(want, f.Datasets); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestReadTrainingFileRefuses(t *testing.T) {
	t.Parallel()
	const info = `{"harbour": {"file_name": "a.json"}, "far": {"hf_hub_url": "x/y"}, "odd": {"file_name": "a.json", "formatting": "sharegtp"},
		"half": {"file_name": "a.json", "columns": {"query": "q"}}, "pairs": {"file_name": "a.json", "ranking": true}}`
	for _, c := range []struct{ training, want string }{
		{"template: [\n", "not valid YAML"},
		{"dataset_dir: rows\n", "names no dataset"},
		{"dataset: harbor\ndataset_dir: rows\n", `has no dataset "harbor"`},
		{"dataset: far\ndataset_dir: rows\n", "is no local file"},
		{"dataset: odd\ndataset_dir: rows\n", `formatting "sharegtp" is none of`},
		{"dataset: half\ndataset_dir: rows\n", "must name every field"},
		{"dataset: pairs\ndataset_dir: rows\n", "ranking is true, and stage is sft"},
		{"dataset: harbour\ndataset_dir: rows\nstage: dpo\n", "ranking is false, and stage is dpo"},
		{"dataset: pairs\ndataset_dir: rows\nstage: dpo\n", "must name every field"},
		{"dataset: harbour\ndataset_dir: nowhere\n", "dataset_dir: "},
		{"dataset: harbour\ndataset_dir: rows\ncutoff_len: long\n", "cutoff_len must be a whole number"},
		{"dataset: harbour\ndataset_dir: rows\nenable_thinking: \"false\"\n", "is text, which LLaMA-Factory takes for true"},
	} {
		_, err := launch.ReadTrainingFile("llamafactory", project(t, c.training, info))
		if err == nil || !strings.Contains(err.Error(), c.want) || fail.Code(err) != 2 {
			t.Errorf("%q: %v, code %d", c.training, err, fail.Code(err))
		}
	}
}

func FuzzReadServing(f *testing.F) {
	f.Add([]byte(`{"model":"m","chat_template":"qwen3","chat_template_kwargs":{"enable_thinking":false}}`))
	f.Add([]byte(`{"default_chat_template_kwargs":{"enable_thinking":true}}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		s, err := launch.ReadServing("serve.json", src)
		if err == nil && s.NoThinking && !strings.Contains(string(src), "hinking") && !strings.Contains(string(src), `\u`) {
			t.Errorf("%q: %+v", src, s)
		}
	})
}

func TestReadServing(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]launch.Serving{
		`{"model":"m","chat_template":"qwen3","chat_template_kwargs":{"enable_thinking":false}}`:                     {Model: "m", Template: "qwen3", NoThinking: true},
		`{"default_chat_template_kwargs":{"enable_thinking":false}}`:                                                 {NoThinking: true},
		`{"default_chat_template_kwargs":{"enable_thinking":false},"chat_template_kwargs":{"enable_thinking":true}}`: {},
	} {
		if got, err := launch.ReadServing("serve.json", []byte(src)); err != nil || got != want || !got.Own() {
			t.Errorf("%s: %+v, %v", src, got, err)
		}
	}
	if _, err := launch.ReadServing("serve.json", []byte("[")); err == nil || fail.Code(err) != 2 {
		t.Errorf("%v", err)
	}
}

// Rows of every stage are read by the names their entry gives them.
func TestReadTrainingFileOfEveryStage(t *testing.T) {
	t.Parallel()
	const info = `{"pairs": {"file_name": "rows.jsonl", "ranking": true, "formatting": "sharegpt", "columns": {"messages": "turns", "chosen": "won", "rejected": "lost"}},
		"alpaca": {"file_name": "rows.jsonl", "ranking": true, "columns": {"prompt": "ask", "chosen": "won", "rejected": "lost"}},
		"rated": {"file_name": "rows.jsonl", "formatting": "sharegpt", "columns": {"messages": "turns", "kto_tag": "good"}},
		"text": {"file_name": "rows.jsonl", "columns": {"prompt": "body"}}}`
	const block = `<think>\n\n</think>\n\n`
	turn := func(who, said string) string { return `{"from":"` + who + `","value":"` + said + `"}` }
	asked := `"turns":[` + turn("human", "问") + `,` + turn("gpt", "[D]") + `,` + turn("human", "再问")
	for _, c := range []struct {
		stage, dataset, row string
		tokens, trained     int64
		matching            int
	}{
		{"dpo", "pairs", `{` + asked + `],"won":` + turn("gpt", block+"[A]") + `,"lost":` + turn("gpt", block+"[B]") + `}`, 31, 8, 1},
		{"dpo", "alpaca", `{"ask":"问","won":"` + block + `[A]","lost":"` + block + `[B]"}`, 17, 8, 1},
		{"kto", "rated", `{` + asked + `,` + turn("gpt", block+"[A]") + `],"good":false}`, 31, 8, 1},
		{"pt", "text", `{"body":"船舶"}`, 2, 2, 0},
	} {
		file := project(t, "template: qwen3\ndataset: "+c.dataset+"\ndataset_dir: rows\nstage: "+c.stage+"\n", info)
		f, err := launch.ReadTrainingFile("llamafactory", file)
		if err != nil {
			t.Fatal(err)
		}
		r, err := parity.Check(t.Context(), "rows.jsonl", strings.NewReader(c.row), parity.Options{Settings: f.Settings, Contract: emit.EmptyThink, Columns: f.Datasets[0].Columns, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		if r.Rows != 1 || r.Unreadable != 0 || r.Matching != c.matching || r.Tokens.Total != c.tokens || r.Tokens.Trained != c.trained {
			t.Errorf("%s %s: %d match, %+v, %+v %v", c.stage, c.dataset, r.Matching, r.Tokens, r.Findings, r.Unread)
		}
	}
}
