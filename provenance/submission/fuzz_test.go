package submission

import (
	"archive/zip"
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/internal/golden"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestDeclarationRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-z一-龥"\\:#{}\[\], '@-]{1,12}`)
		d := Declaration{
			Schema: Schema, Team: text.Draw(t, "team"), Methods: []string{"sft", "rag"}, BaseModel: text.Draw(t, "base"),
			Benchmark: Benchmark{Name: "mini_bench", Revision: text.Draw(t, "rev"), N: rapid.IntRange(0, 1e6).Draw(t, "n"), SHA256: "abc", Rule: "bracket_first@1"},
			Results:   Results{Model: text.Draw(t, "model"), Reviews: text.Draw(t, "reviews"), Report: "r.json"},
			Report:    text.Draw(t, "report"),
			Train:     Train{Data: []string{text.Draw(t, "data"), "b"}, Fields: "f", Sources: "s", Scripts: "x", Provenance: "p"},
		}
		got, list := ParseDeclaration("submission.yaml", d.Append(nil))
		if len(list) > 0 {
			t.Fatalf("%v\n%s", list, d.Append(nil))
		}
		if diff := cmp.Diff(d, got); diff != "" {
			t.Fatalf("%s\n%s", diff, d.Append(nil))
		}
	})
}

func TestDeclarationFindingsAllAtOnce(t *testing.T) {
	t.Parallel()
	_, list := ParseDeclaration("submission.yaml", []byte("schema: drydock.submission/1\nteam: [x]\nmethods: [sft]\nmethods: [lora]\nreprot: x\n"))
	text := list.Error()
	for _, want := range []string{":2:", `"methods" stands twice`, "reprot"} {
		if !strings.Contains(text, want) {
			t.Errorf("findings:\n%s\nwant %q", text, want)
		}
	}
}

func TestDeclarationNamesNoPath(t *testing.T) {
	t.Parallel()
	d := Declaration{Schema: Schema, Team: "x", Methods: []string{"sft"}, Benchmark: Benchmark{Name: "../../secret"}}
	got, list := ParseDeclaration("submission.yaml", d.Append(nil))
	if len(list) == 0 || got.Benchmark.Name != "" {
		t.Errorf("a path passes as a benchmark: %q, %v", got.Benchmark.Name, list)
	}
}

func FuzzDeclaration(f *testing.F) {
	d := Declaration{Schema: Schema, Team: "demo", Methods: []string{"sft"}}
	f.Add(d.Append(nil))
	f.Add([]byte("a: &a [*a]\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, list := ParseDeclaration("x.yaml", b)
		if len(list) == 0 && (d.Team == "" || len(d.Methods) == 0) {
			t.Fatal("a declaration without a team passes")
		}
	})
}

func FuzzZip(f *testing.F) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("submission.yaml")
	if err != nil {
		f.Fatal(err)
	}
	if _, err := w.Write([]byte("schema: x")); err != nil {
		f.Fatal(err)
	}
	if err := z.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	f.Fuzz(func(t *testing.T, b []byte) {
		bundle, err := openZip(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		r, err := verify(context.Background(), bundle, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.OK() {
			t.Fatal("noise is a valid package")
		}
	})
}

func FuzzReview(f *testing.F) {
	f.Add([]byte(`{"index": 0, "input": "**User**: \nq", "target": "B", "sample_score": {"score": {"value": {"acc": 1.0}, "extracted_prediction": "B", "prediction": "[B]", "explanation": null, "metadata": {}, "main_score_name": null}, "sample_id": 0, "group_id": 0, "sample_metadata": {}}}`))
	f.Add([]byte(`{"index":1.5,"messages":[1]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, ok, wrong := readReview("x", b, 1); !ok && wrong == nil {
			t.Fatal("a row that cannot be read has no finding")
		}
	})
}

func FuzzTrainRow(f *testing.F) {
	f.Add([]byte(`{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}]}`))
	f.Add([]byte(`{"conversations":[{"from":"human","value":[{"text":"q"}]}]}`))
	f.Add([]byte(`{"instruction":"q","output":"a"} x`))
	f.Fuzz(func(t *testing.T, b []byte) { (&rowChecker{methods: []string{"sft"}}).check(b) })
}

func FuzzDocuments(f *testing.F) {
	f.Add(docx("a"))
	f.Add(pdf("BT (a) Tj ET"))
	f.Add([]byte("%PDF-1.4 stream /Encrypt startxref %%EOF"))
	f.Fuzz(func(t *testing.T, b []byte) {
		pdfHasText(b)
		_, _ = docxText(b)
	})
}

func TestCheckRow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ row, want string }{
		{`{"messages":[{"role":"system","content":"s"},{"role":"user","content":"q"},{"role":"assistant","content":"a"}]}`, ""},
		{`{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[1]},{"role":"tool","content":"r"},{"role":"assistant","content":"a"}]}`, ""},
		{`{"conversations":[{"from":"human","value":"q"},{"from":"gpt","value":"a"}]}`, ""},
		{`{"instruction":"q","input":"","output":"a"}`, ""},
		{`{"query":"q","response":""}`, "answer is empty"},
		{`{"prompt":"q","chosen":"a","rejected":"b"}`, ""},
		{`{"text":"t"}`, "cpt is not declared"},
		{`{"messages":[]}`, "conversation is empty"},
		{`{"messages":[{"role":"user","content":"q"},{"role":"user","content":"q"}]}`, "user comes after user"},
		{`{"messages":[{"role":"user","content":"q"}]}`, "ends with user"},
		{`{"messages":[{"role":"bot","content":"q"}]}`, "unknown role"},
		{`{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"<think>\n\n</think>\n\n"}]}`, "says nothing"},
		{`{"messages":[{"role":"user","content":5},{"role":"assistant","content":"a"}]}`, "without text"},
		{`{"messages":1}`, "not a list"},
		{`[]`, "must be an object"},
		{`{"q":1}`, "no conversation"},
		{`{"text":"a"`, "not valid JSON"},
	} {
		p := (&rowChecker{methods: []string{"sft"}}).check([]byte(c.row))
		got := ""
		if p != nil {
			got = p.text.Format(msg.En, p.args...)
		}
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s\n got %q, want %q", c.row, got, c.want)
		}
	}
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"key = " + "sk-" + "A1b2C3d4E5f6G7h8I9j0":        "api_key",
		"risk-" + "assessment-of-towing-operations-2024": "",
		"sk-" + "your-key-goes-here-000000":              "",
		"token: " + "d41d8cd98f00b204e9800998ecf8427e":   "", // a checksum
		"hf_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE":       "api_key",
		"AKIA" + "J7Q2M9X4T1R8W5K3":                      "api_key",
		"-----BEGIN " + "PRIVATE KEY-----":               "private_key",
		`out = "/Users/` + `wang/ship/data"`:             "home_path",
		`out = "C:\Users\` + `wang\data"`:                "home_path",
		"https://example.org/home/" + "index/page":       "",
		`password: "` + `correct horse"`:                 "",
		`"api_key": "` + `q8Zr5Tn2Wv9Lx4Kp7Md1"`:         "api_key",
		"EMPTY":                                          "",
	} {
		got := ""
		if s := findSecrets([]byte(text+"\n"), 1, true); len(s) > 0 {
			got = s[0].kind
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// What is found must be found at the borders of the chunks a file is read in.
func TestSurveyAcrossChunks(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("船", 1000) + "\n"
	for _, tail := range []string{"", "\n"} {
		text := strings.Repeat(line, 200) + "\xff" + tail
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "one.txt"), []byte(strings.Repeat("航", 300_000)), 0o644); err != nil {
			t.Fatal(err)
		}
		b, err := openBundle(dir)
		if err != nil {
			t.Fatal(err)
		}
		list, err := survey(context.Background(), b)
		if err != nil {
			t.Fatal(err)
		}
		if f := list[0]; f.badAt != int64(len(line)*200) || f.badLine != 201 || f.sha256 != hexOf([]byte(text)) {
			t.Errorf("offset %d line %d", f.badAt, f.badLine)
		}
		if f := list[1]; f.badAt != -1 {
			t.Errorf("one long line: offset %d", f.badAt)
		}
	}
}

func TestReportPages(t *testing.T) {
	t.Parallel()
	p := newParts(t)
	p.opts = func(o *Options) { o.Benchmark = nil }
	p.replies[0] = "答案是[A]"
	p.train[2] = strings.Replace(p.train[2], "[B]", " ", 1)
	name, _ := p.pack(t)
	files := unpack(t, name)
	delete(files, "train/sources.md")
	r, err := Verify(context.Background(), repack(t, files, filepath.Base(name), true), p.options())
	if err != nil {
		t.Fatal(err)
	}
	r.SHA256 = strings.Repeat("0", 64) // the test's own zip depends on the Go version
	for _, lang := range []msg.Lang{msg.En, msg.Zh} {
		t.Run(lang.String(), func(t *testing.T) {
			t.Parallel()
			golden.Equal(t, ".md", r.Markdown(lang))
			b, err := r.JSON(lang)
			if err != nil {
				t.Fatal(err)
			}
			golden.Equal(t, ".json", b)
		})
	}
	if r.OK() || !(&Report{Summary: Summary{Passed: 1}}).OK() || (&Report{}).OK() {
		t.Error("OK does not follow the summary")
	}
}
