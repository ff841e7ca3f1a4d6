package pipeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/provenance"
	"github.com/drydock-ml/drydock/qwen3"
)

// packProject has passages of every length in several files, and a question that
// explains itself.
func packProject(t *testing.T, output string) string {
	t.Helper()
	dir := t.TempDir()
	for f := range 4 {
		var b strings.Builder
		for i := range 25 {
			fmt.Fprintf(&b, "# 第%d节\n\n%s\n\n", i+1, strings.Repeat(fmt.Sprintf("第%d号缆绳应在%d天内检查。", f*100+i, i+2), 1+i%12))
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("t%d.md", f)), []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	q := `{"id":"q1","kind":"single","lang":"zh","stem":"左舷灯为何色","options":[{"label":"A","text":"绿"},{"label":"B","text":"红"}],"answer":["B"],"explanation":"红灯在左。"}` + "\n" +
		`{"id":"q2","kind":"single","lang":"zh","stem":"尾灯为何色","options":[{"label":"A","text":"白"},{"label":"B","text":"红"}],"answer":["A"]}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, "q.jsonl"), []byte(q), 0o644); err != nil {
		t.Fatal(err)
	}
	config := "version: 1\nsources:\n  - {name: text, path: \"*.md\", as: passage}\n  - {name: bank, path: q.jsonl}\nsteps: [split_sections]\n" +
		"split: {dev: 0.1}\noutput:\n  - " + output + "\n"
	if err := os.WriteFile(filepath.Join(dir, ConfigName), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestPackedRows(t *testing.T) {
	t.Parallel()
	for shape, textOf := range map[string]func(row []byte) string{
		"text": func(row []byte) string {
			var r struct{ Text string }
			_ = json.Unmarshal(row, &r)
			return r.Text
		},
		"swift-pretrain": func(row []byte) string {
			var r struct{ Messages []struct{ Content string } }
			_ = json.Unmarshal(row, &r)
			return r.Messages[0].Content
		},
	} {
		output := shape + ": {path: build/t.jsonl, pack: 256, overlap: 16, explanations: true}"
		dir := packProject(t, output)
		res := mustRun(t, dir, Options{Workers: 1})
		o := res.Stage(StageOutput).Output[0]
		p := o.Packed
		if p == nil || p.Length != 256 || p.Documents+o.Dev.Packed.Documents != 101 || p.Fill < 0.8 || o.LeftOut["no_explanation"] != 1 {
			t.Fatalf("%s: %+v, left out %v", shape, p, o.LeftOut)
		}
		data, err := os.ReadFile(filepath.Join(dir, "build/t.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		rows, documents, tokens := 0, 0, 0
		for row := range bytes.Lines(data) {
			text := textOf(row)
			rows++
			documents += 1 + strings.Count(text, emit.EndOfText)
			tokens += qwen3.Count(text)
			if strings.HasSuffix(text, emit.EndOfText) || qwen3.Count(text) > 256 {
				t.Errorf("%s: %q", shape, text)
			}
		}
		if rows != o.Rows || documents != p.Documents || int64(tokens) != p.Tokens {
			t.Errorf("%s: %d rows of %d documents, %d tokens: %+v", shape, rows, documents, tokens, o)
		}
		all, err := os.ReadFile(filepath.Join(dir, "build/t.dev.jsonl"))
		if err != nil || !strings.Contains(string(data)+string(all), "左舷灯为何色\\n红\\n红灯在左。") {
			t.Errorf("%s: the explanation is in no row: %v", shape, err)
		}
		ledgers := os.DirFS(filepath.Join(dir, filepath.FromSlash(ledgerDir)))
		if _, findings, err := provenance.Check(t.Context(), ledgers, provenance.Options{Data: provenance.FromFS(os.DirFS(dir))}); err != nil || len(findings) > 0 {
			t.Errorf("%s: %v %v", shape, findings, err)
		}
		other := packProject(t, output)
		mustRun(t, other, Options{Workers: 4})
		if diff := cmp.Diff(made(t, dir), made(t, other)); diff != "" {
			t.Errorf("%s: %s", shape, diff)
		}
	}
}

func TestPackFindings(t *testing.T) {
	t.Parallel()
	dir := packProject(t, "text: {path: build/t.jsonl, pack: 64, overlap: 40}")
	_, findings := Load(filepath.Join(dir, ConfigName))
	if len(findings) != 1 || !strings.Contains(findings[0].Error(), "overlap lies between 0 and half of pack") {
		t.Errorf("%v", findings)
	}
}
