package pipeline

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/internal/archive"
	"github.com/drydock-ml/drydock/internal/fail"
)

func gzOf(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// unpacked lists what Members finds: names with what they hold, or the error.
func unpacked(t *testing.T, name string, data []byte) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	m := Members{Dir: t.TempDir()}
	list, archived, err := m.unpack(t.Context(), name, path)
	if err != nil || !archived {
		t.Fatal(archived, err)
	}
	var out []string
	for _, f := range list {
		if f.err != nil {
			out = append(out, f.name+": "+f.err.Error())
			continue
		}
		b, err := os.ReadFile(f.path)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%s %s=%s", f.name, filepath.Ext(f.path), b[:min(len(b), 12)]))
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(m.Dir); len(left) > 0 {
		t.Errorf("%s was left", left[0].Name())
	}
	return out
}

func TestMembers(t *testing.T) {
	t.Parallel()
	doc := docxOf(t, "锚")
	inner := zipOf(t, packed{"c.csv", []byte("a,b\n1,2\n")}, packed{"x.docx", doc})
	for _, c := range []struct {
		name string
		data []byte
		want []string
	}{
		{"a.zip", zipOf(t, packed{"b/", nil}, packed{"b/t.txt", []byte("甲")}, packed{"in.zip", inner}, packed{"t.txt.gz", gzOf(t, []byte("乙"))}), []string{
			"a.zip!b/t.txt .txt=甲", "a.zip!in.zip!c.csv .csv=a,b\n1,2\n", "a.zip!in.zip!x.docx .docx=" + string(doc[:12]), "a.zip!t.txt.gz .txt=乙",
		}},
		{"a.tar.gz", tarGz(t, packed{"q.jsonl", []byte("{}")}, packed{"in.zip", inner}), []string{
			"a.tar.gz!q.jsonl .jsonl={}", "a.tar.gz!in.zip!c.csv .csv=a,b\n1,2\n", "a.tar.gz!in.zip!x.docx .docx=" + string(doc[:12]),
		}},
		{"rows.csv.gz", gzOf(t, []byte("a,b\n")), []string{"rows.csv.gz .csv=a,b\n"}},
		{"hidden.zip", zipOf(t, packed{".git/a", []byte("x")}, packed{"__MACOSX/._a.txt", []byte("x")}, packed{"~$a.docx", []byte("x")}, packed{"a.txt", []byte("甲")}), []string{"hidden.zip!a.txt .txt=甲"}},
		{"twice.zip", zipOf(t, packed{"a.txt", []byte("甲")}, packed{"a.txt", []byte("乙")}), []string{"twice.zip!a.txt .txt=甲", "twice.zip!a.txt#2 .txt=乙"}},
		{"none.zip", zipOf(t), []string{"none.zip: none.zip: the archive holds no files"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(c.want, unpacked(t, c.name, c.data)); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestMembersBounds names the bound that was met and keeps what came before.
func TestMembersBounds(t *testing.T) {
	t.Parallel()
	files := make([]packed, 3)
	for i := range files {
		files[i] = packed{fmt.Sprintf("%d.txt", i), []byte("一二三四")}
	}
	data := zipOf(t, files...)
	nested := data
	for range 3 {
		nested = zipOf(t, packed{"n.zip", nested})
	}
	for _, c := range []struct {
		name   string
		data   []byte
		limits archive.Limits
		files  int
		want   string
	}{
		{"entries", data, archive.Limits{Entries: 2, Bytes: 1 << 20, Ratio: 1000, Depth: 8}, 2, "more than 2 files"},
		{"depth", nested, archive.Limits{Entries: 99, Bytes: 1 << 20, Ratio: 1000, Depth: 2}, 0, "more than 2 deep"},
		{"bytes", data, archive.Limits{Entries: 99, Bytes: 14, Ratio: 1000, Depth: 8}, 1, "unpacks to more than"},
	} {
		path := filepath.Join(t.TempDir(), "b.zip")
		if err := os.WriteFile(path, c.data, 0o644); err != nil {
			t.Fatal(err)
		}
		u := &unpacker{ctx: t.Context(), dir: t.TempDir(), budget: archive.NewBudget(c.limits), seen: map[string]int{}}
		if err := u.file(archive.Zip, "b.zip", "b.zip", path, 1); err != nil {
			t.Fatal(err)
		}
		good, said := 0, ""
		for _, m := range u.out {
			if m.err == nil {
				good++
			} else {
				said += m.err.Error()
			}
		}
		if good != c.files || !strings.Contains(said, c.want) {
			t.Errorf("%s: %d files, %q", c.name, good, said)
		}
	}
	// a torn archive gives what comes before the tear, and an error
	torn := tarGz(t, packed{"a.txt", []byte("甲")}, packed{"b.txt", bytes.Repeat([]byte("乙丙丁戊"), 9000)})
	got := unpacked(t, "torn.tar.gz", torn[:len(torn)-20])
	if len(got) < 2 || !strings.HasPrefix(got[0], "torn.tar.gz!a.txt .txt=") || !strings.Contains(got[1], "damaged") {
		t.Errorf("%q", got)
	}
	// documents of other kinds are not taken apart
	slides := filepath.Join(t.TempDir(), "s.pptx")
	if err := os.WriteFile(slides, zipOf(t, packed{"[Content_Types].xml", []byte("<Types/>")}, packed{"ppt/a.xml", nil}), 0o644); err != nil {
		t.Fatal(err)
	}
	_, bad, err := (&Members{}).OpenInputs(t.Context(), slides, format.Options{}, nil)
	if err != nil || len(bad) != 1 || !strings.Contains(bad[0].Error(), "an Office document") {
		t.Errorf("%v, %v", bad, err)
	}
}

// TestMembersCancelled ends in the middle of an archive.
func TestMembersCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	path := filepath.Join(t.TempDir(), "a.zip")
	if err := os.WriteFile(path, zipOf(t, packed{"a.txt", []byte("甲")}), 0o644); err != nil {
		t.Fatal(err)
	}
	m := Members{Dir: t.TempDir()}
	defer m.Close()
	if _, _, err := m.unpack(ctx, "a.zip", path); err != context.Canceled {
		t.Errorf("a cancelled unpacking ended with %v", err)
	}
}

// TestRunOnArchive gives the rows of the files in an archive as those of the
// files themselves, at any worker count, with the archive's hash in the ledger,
// and goes on where a killed run stopped.
func TestRunOnArchive(t *testing.T) {
	t.Parallel()
	bank := []packed{
		{"a/one.txt", []byte(bankText(1, 20))},
		{"bad.bin", bytes.Repeat([]byte{0, 1, 2}, 99)},
		{"two.txt", []byte(bankText(2, 20))},
	}
	run := func(workers int) (string, map[string]string, *Result, error) {
		dir := newProject(t, 1, 3)
		raw := filepath.Join(dir, "raw")
		if err := os.WriteFile(filepath.Join(raw, "bank.zip"), zipOf(t, bank...), 0o644); err != nil {
			t.Fatal(err)
		}
		cfg, err := os.ReadFile(filepath.Join(dir, ConfigName))
		if err != nil {
			t.Fatal(err)
		}
		cfg = bytes.Replace(cfg, []byte(`path: "raw/*.txt"`), []byte(`path: ["raw/*.txt", "raw/*.zip"]`), 1)
		if err := os.WriteFile(filepath.Join(dir, ConfigName), cfg, 0o644); err != nil {
			t.Fatal(err)
		}
		res, err := runProject(t.Context(), dir, Options{Workers: workers})
		return dir, made(t, dir), res, err
	}
	dir, one, res, err := run(1)
	if fail.Code(err) != 3 || !strings.Contains(err.Error(), "bank.zip!bad.bin: not a format we read") {
		t.Fatalf("%v", err)
	}
	var names []string
	sum := ""
	for _, in := range res.Stage(StageSources).Inputs {
		names = append(names, fmt.Sprintf("%s %d", in.File, in.Records))
		if in.File == "bank.zip!two.txt" {
			sum = in.SHA256
		}
	}
	for _, want := range []string{"bank.zip!a/one.txt 20", "bank.zip!bad.bin 0", "bank.zip!two.txt 20"} {
		if !slices.Contains(names, want) {
			t.Errorf("%q is not among %q", want, names)
		}
	}
	if len(sum) != 64 {
		t.Errorf("hash %q", sum)
	}
	_, four, _, _ := run(4)
	if d := cmp.Diff(one, four); d != "" {
		t.Errorf("4 workers differ from 1:\n%.2000s", d)
	}
	// what was kept is used again
	again, err := runProject(t.Context(), dir, Options{Workers: 2})
	if fail.Code(err) != 3 || again.Stage(StageSources).Status != StatusCached {
		t.Errorf("a second run: %v, %v", again.Stage(StageSources).Status, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".drydock", "stages", ".tmp-*")); len(left) > 0 {
		t.Errorf("%q was left", left)
	}
}
