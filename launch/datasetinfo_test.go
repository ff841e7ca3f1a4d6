package launch_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/golden"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/launch"
)

// infoProject writes files beside a dataset_info.json and lints it.
func infoProject(t *testing.T, info string, files map[string]string) launch.Findings {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return launch.LintDatasetInfo(filepath.Join(dir, emit.DatasetInfoName), []byte(info))
}

func TestLintDatasetInfo(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"rows.jsonl":   `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}` + "\n",
		"human.json":   `[{"conversations":[{"from":"human","value":"a"},{"from":"gpt","value":"b"}]}]`,
		"alpaca.jsonl": `{"instruction":"a","input":"","output":"b"}` + "\n" + `{"instruction":"a","input":"x","output":"b","system":"s"}` + "\n",
		"pairs.jsonl":  `{"conversations":[{"from":"human","value":"a"}],"chosen":{"from":"gpt","value":"b"},"rejected":{"from":"gpt","value":"c"}}` + "\n",
		"text.jsonl":   `{"text":"x"}` + "\n",
		"x.docx":       "x", "mixed/a.json": "[]", "mixed/b.csv": "", "one/a.jsonl": `{"text":"x"}`,
	}
	const tags = `"tags": {"role_tag": "role", "content_tag": "content", "user_tag": "user", "assistant_tag": "assistant"}`
	for _, c := range []struct {
		name, entry string
		want        []string // "id at line:column words"
	}{
		{"right", `{"file_name": "rows.jsonl", "formatting": "sharegpt", "columns": {"messages": "messages"}, ` + tags + `}`, nil},
		{"alpaca, the defaults", `{"file_name": "alpaca.jsonl"}`, []string{`left_out 1:7 leaves out "system", so what row 2 has`}},
		{"its input falls away", `{"file_name": "alpaca.jsonl", "columns": {"prompt": "instruction", "response": "output", "system": "system"}}`, []string{`left_out 1:48 leaves out "query", so what row 2 has in "input"`}},
		{"running text", `{"file_name": "text.jsonl", "columns": {"prompt": "text"}}`, nil},
		{"a key nobody reads", `{"file_name": "text.jsonl", "columns": {"prompt": "text", "querry": "x"}, "formating": "alpaca"}`, []string{`unknown_key 1:81 "formating"`, `unknown_key 1:65 "querry"`}},
		{"openai", `{"file_name": "rows.jsonl", "formatting": "openai", "columns": {"messages": "messages"}, ` + tags + `}`, []string{"S1 1:49 detailed thinking off"}},
		{"another formatting", `{"file_name": "rows.jsonl", "formatting": "chatml"}`, []string{`bad_value 1:49 "chatml"`, `no_column 1:7 "instruction"`, `no_column 1:7 "output"`}},
		{"tags leave out", `{"file_name": "human.json", "formatting": "sharegpt", "tags": {"role_tag": "from"}}`, []string{`left_out 1:69 "content_tag"`, `left_out 1:69 "user_tag"`, `left_out 1:69 "assistant_tag"`, `wrong_tag 1:69 the role "human"`, `wrong_tag 1:69 the role "gpt"`}},
		{"the wrong tag", `{"file_name": "human.json", "formatting": "sharegpt", "tags": {"role_tag": "from", "content_tag": "value", "user_tag": "user", "assistant_tag": "gpt"}}`, []string{`wrong_tag 1:126 user_tag is "user", and row 1 has the role "human"`}},
		{"the wrong column", `{"file_name": "rows.jsonl", "formatting": "sharegpt"}`, []string{`no_column 1:7 no row has the column "conversations"`}},
		{"the wrong fields of turns", `{"file_name": "rows.jsonl", "formatting": "sharegpt", "columns": {"messages": "messages"}}`, []string{`no_column 1:7 role_tag is "from"`, `no_column 1:7 content_tag is "value"`}},
		{"pairs", `{"file_name": "pairs.jsonl", "formatting": "sharegpt"}`, []string{"left_out 1:7 preference pairs"}},
		{"no pairs", `{"file_name": "human.json", "formatting": "sharegpt", "ranking": true, "columns": {"messages": "conversations", "chosen": "chosen"}}`, []string{`no_column 1:89 needs the column chosen`, `no_column 1:89 needs the column rejected`}},
		{"gone", `{"file_name": "gone.jsonl"}`, []string{"no_file 1:21 gone.jsonl is not there"}},
		{"no file", `{"formatting": "alpaca"}`, []string{"no_file 1:7 names no file_name"}},
		{"the hub", `{"hf_hub_url": "a/b"}`, nil},
		{"a bank", `{"file_name": "x.docx"}`, []string{"bad_extension 1:21 .docx"}},
		{"two kinds", `{"file_name": "mixed"}`, []string{"mixed_folder 1:21 one extension"}},
		{"a folder", `{"file_name": "one", "columns": {"prompt": "text"}}`, nil},
		{"no entry", `"rows.jsonl"`, []string{"not_an_entry 1:7"}},
		{"beyond ASCII", `{"file_name": "text.jsonl", "columns": {"prompt": "text"}, "subset": "题"}`, []string{"not_ascii 1:0 locale"}},
	} {
		found := infoProject(t, `{"a": `+c.entry+`}`, files)
		if len(found) != len(c.want) {
			t.Errorf("%s: %d findings, want %d:\n%s", c.name, len(found), len(c.want), said(found))
			continue
		}
		for i, f := range found {
			id, words, _ := strings.Cut(c.want[i], " ")
			at, words, _ := strings.Cut(words, " ")
			if f.ID != id || at != fmt.Sprintf("%d:%d", f.Where.Line, f.Where.Column) || !strings.Contains(f.Message(msg.En), words) {
				t.Errorf("%s: want %s:\n%s", c.name, c.want[i], said(found[i:i+1]))
			}
		}
	}
}

func said(found launch.Findings) string {
	var b strings.Builder
	for _, f := range found {
		fmt.Fprintf(&b, "%s %d:%d %s\n", f.ID, f.Where.Line, f.Where.Column, f.Message(msg.En))
	}
	return b.String()
}

func TestLintDatasetInfoThatIsNoJSON(t *testing.T) {
	t.Parallel()
	found := infoProject(t, "{\"a\": {},\n\t\"b\" 1}", nil)
	if len(found) != 1 || found[0].Where.Line != 2 || found[0].Where.Column != 6 {
		t.Errorf("%s", said(found))
	}
	// a tab before a name is JSON, and no YAML
	if found := infoProject(t, "{\n\t\"a\": {\"hf_hub_url\": \"x\"}\n}", nil); len(found) != 0 {
		t.Errorf("%s", said(found))
	}
}

func TestLintDatasetInfoOfTheCase(t *testing.T) {
	t.Parallel()
	path := golden.RealData(t, "..", "cases", "01-sharegpt-tags", emit.DatasetInfoName)
	found := launch.LintDatasetInfo(path, golden.ReadFile(t, path))
	if len(found) != 2 || !strings.Contains(found[0].Message(msg.En), `user_tag is "user", and row 1 has the role "human"`) || found[0].Where.Line == 0 {
		t.Errorf("%s", said(found))
	}
}

// No list of data sets, whatever it holds, is a panic.
func FuzzLintDatasetInfo(f *testing.F) {
	f.Add([]byte(`{"a": {"file_name": "a.jsonl", "columns": {"prompt": "x"}, "tags": []}}`))
	f.Add([]byte(`{"a": {"columns": null, "tags": {"role_tag": 3}}, "b": [1]}`))
	f.Add([]byte("{\n\t\"a\": \"\\ud83d\\ude00\"}"))
	f.Add([]byte(`[]`))
	f.Fuzz(func(_ *testing.T, src []byte) {
		launch.LintDatasetInfo("dataset_info.json", src)
	})
}
