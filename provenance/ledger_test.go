package provenance

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/drydock-ml/drydock"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// sample is a small run: two sources, four steps, three rows kept of six.
type sample struct {
	files []*drydock.File
	recs  []*drydock.Record
	steps []Step
	rows  []string
}

const trainPath = "build/train.jsonl"

func newSample() *sample {
	s := &sample{}
	for i, name := range []string{"bank.pdf", "规则.docx"} {
		s.files = append(s.files, &drydock.File{
			Source: "colreg", Name: name, SHA256: strings.Repeat(fmt.Sprint(i+1), 64), License: "CC-BY-4.0", Lang: "zh",
		})
	}
	for i := range 6 {
		f := s.files[i%2]
		at := drydock.Locator{Page: i + 1, Line: 2}
		r := &drydock.Record{
			ID: drydock.NewID(f.Source, f.Name, at.String()), RowID: fmt.Sprintf("q%d", i), Lang: "zh",
			Origin: drydock.Origin{File: f, At: at, Key: drydock.Locator{Page: 30}},
			Question: &drydock.Question{
				Kind: drydock.Single, Stem: "信号", Answer: []string{string(rune('A' + i%3))},
				Options: []drydock.Option{{Label: "A", Text: "一"}, {Label: "B", Text: "二"}, {Label: "C", Text: "三"}},
			},
		}
		s.recs = append(s.recs, r)
	}
	for i := range 3 {
		s.rows = append(s.rows, fmt.Sprintf(`{"id":"q%d","messages":[{"role":"user","content":"信号？"},{"role":"assistant","content":"[A]"}]}`, i))
	}
	seed, scanned := uint64(7), int64(1234)
	data := strings.Join(s.rows, "\n") + "\n"
	s.steps = []Step{
		{Order: 1, Name: "parse_questions", ToolVersion: "0.1.0", Sums: drydock.Sums{Made: 6, Out: 6}},
		{
			Order: 2, Name: "drop_short", ToolVersion: "0.1.0", Params: drydock.RawJSON(`{ "min_runes": 20, "a":[1.50] }`),
			Sums: drydock.Sums{In: 6, Out: 5, Dropped: map[string]int{"too_short": 1}},
		},
		{
			Order: 3, Name: "contamination", ToolVersion: "0.1.0",
			Sums: drydock.Sums{In: 5, Out: 3, Dropped: map[string]int{"contam_exact": 1, "contam_shuffled": 1}},
			Bench: []Contamination{{
				Benchmark: "sample_bench", Revision: "1", SHA256: strings.Repeat("c", 64), Items: 60, Blind: []int{17}, Method: "default@1", Config: "sha256:abc",
				OnHit: "drop", Scanned: []Scanned{{What: "training records", Records: 5, Bytes: &scanned}},
				Verdicts: map[string]int{"exact": 1, "shuffled": 1, "overlap": 1}, Failed: 2, Removed: 2,
			}},
		},
		{
			Order: 4, Name: "qwen3_chat", ToolVersion: "0.1.0", Seed: &seed,
			Outputs: []Artifact{{Path: trainPath, SHA256: sha256hex([]byte(data)), Bytes: int64(len(data)), Records: 3, Role: RoleData}},
			Sums:    drydock.Sums{In: 3, Out: 3},
		},
	}
	for i := range s.steps {
		id, err := StepID(s.steps[i])
		if err != nil {
			panic(err)
		}
		s.steps[i].ID = id
		if i > 0 {
			s.steps[i].From = []string{s.steps[i-1].ID}
		}
	}
	return s
}

func (s *sample) chain() []string {
	var ids []string
	for _, st := range s.steps {
		ids = append(ids, st.ID)
	}
	return ids
}

// write writes the sample's rows; sources first, steps last.
func (s *sample) write(w *Writer) error {
	for _, f := range s.files {
		src := Source{
			Name: f.Source, File: f.Name, SHA256: f.SHA256, Bytes: 99, MediaType: "application/pdf",
			License: LicenseOf(f.License), Languages: []string{f.Lang}, Records: 3, Units: map[string]int{"pages": 6, "ocr_pages": 0},
			Absent: map[string]string{"publisher": "not_printed_in_the_file"},
		}
		if _, err := w.Source(src); err != nil {
			return err
		}
	}
	for i, r := range s.recs[:len(s.rows)] {
		l := LineageOf(r)
		l.File, l.Line, l.Row, l.Chain, l.Split = trainPath, i+1, RowHash([]byte(s.rows[i])), s.chain(), ""
		if err := w.Lineage(l); err != nil {
			return err
		}
	}
	index := 42
	for i, d := range []Dropped{
		{Step: s.steps[1].ID, Reason: "too_short", Detail: "2 characters"},
		{Step: s.steps[2].ID, Reason: "contam_exact", Detail: "BENCH TEXT"},
		{Step: s.steps[2].ID, Reason: "contam_shuffled"},
	} {
		l := LineageOf(s.recs[3+i])
		d.Rec, d.ID, d.Loc = l.Rec, l.ID, l.Loc
		if i > 0 {
			d.Evidence = &Evidence{Benchmark: "sample_bench", Index: &index, Verdict: "exact", Score: 1}
		}
		if err := w.Dropped(d); err != nil {
			return err
		}
	}
	for _, st := range s.steps {
		if _, err := w.Step(st); err != nil {
			return err
		}
	}
	return nil
}

// build writes a whole folder and returns it with its root.
func (s *sample) build(t testing.TB) (string, Root) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "provenance")
	w, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if err := s.write(w); err != nil {
		t.Fatal(err)
	}
	root, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	return dir, root
}

func (s *sample) data() fstest.MapFS {
	return fstest.MapFS{trainPath: {Data: []byte(strings.Join(s.rows, "\n") + "\n")}}
}

func TestWriteAndCheck(t *testing.T) {
	t.Parallel()
	s := newSample()
	dir, root := s.build(t)
	sum, list, err := Check(context.Background(), os.DirFS(dir), Options{Data: FromFS(s.data())})
	if err != nil || len(list) > 0 {
		t.Fatalf("check: %v, findings: %v", err, list)
	}
	if d := cmp.Diff(root, sum.Root); d != "" {
		t.Errorf("root (-written +read):\n%s", d)
	}
	if got, want := sum.Profile.Letters[3], map[string]int{"A": 1, "B": 1, "C": 1}; !cmp.Equal(got, want) {
		t.Errorf("letters %v, want %v", got, want)
	}
	if sum.Sources[0].Publisher != "" || sum.Sources[0].Absent["publisher"] != "not_printed_in_the_file" {
		t.Errorf("source 0: publisher %q, why %q", sum.Sources[0].Publisher, sum.Sources[0].Absent["publisher"])
	}
	if got := string(sum.Steps[1].Params); got != `{"a":[1.50],"min_runes":20}` {
		t.Errorf("params %s are not canonical", got)
	}
	ents, err := os.ReadDir(filepath.Dir(dir))
	if err != nil || len(ents) != 1 {
		t.Errorf("beside the folder: %v, %v", ents, err)
	}
}

func TestLedgersAreDeterministicAndHoldNoBenchmarkText(t *testing.T) {
	t.Parallel()
	a, ra := newSample().build(t)
	b, rb := newSample().build(t)
	if ra.Hash != rb.Hash {
		t.Errorf("roots %s and %s differ", ra.Hash, rb.Hash)
	}
	for _, name := range append(ledgerNames[:], RootFile) {
		x, err := os.ReadFile(filepath.Join(a, name))
		if err != nil {
			t.Fatal(err)
		}
		y, err := os.ReadFile(filepath.Join(b, name))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(x), string(y)); d != "" {
			t.Errorf("%s differs:\n%s", name, d)
		}
		if strings.Contains(string(x), "BENCH TEXT") {
			t.Errorf("%s holds benchmark text", name)
		}
		if strings.Contains(string(x), a) {
			t.Errorf("%s names its own folder", name)
		}
	}
}

func TestReplacesAnOlderFolderOnlyWhenWhole(t *testing.T) {
	t.Parallel()
	s := newSample()
	dir, root := s.build(t)
	w, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	s.steps[1].Sums = drydock.Sums{In: 6, Out: 5, Dropped: map[string]int{"too_long": 1}} // the row says too_short
	if err := s.write(w); err != nil {
		t.Fatal(err)
	}
	if _, err = w.Close(); err == nil || !strings.Contains(err.Error(), "2 drop_short") {
		t.Errorf("close = %v, want the step named", err)
	}
	sum, err := Load(context.Background(), os.DirFS(dir))
	if err != nil || sum.Root.Hash != root.Hash {
		t.Errorf("the older folder: %v, root %s, want %s", err, sum.Root.Hash, root.Hash)
	}
	again := newSample()
	if w, err = Create(dir); err != nil {
		t.Fatal(err)
	}
	if err := again.write(w); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if ents, _ := os.ReadDir(filepath.Dir(dir)); len(ents) != 1 {
		t.Errorf("left behind: %v", ents)
	}
}

func TestLeftoversOfAKilledWriterAreRemoved(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "provenance")
	if _, err := Create(dir); err != nil { // never closed
		t.Fatal(err)
	}
	w, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := newSample().write(w); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if ents, _ := os.ReadDir(filepath.Dir(dir)); len(ents) != 1 {
		t.Errorf("left behind: %v", ents)
	}
}

func TestWriterRefuses(t *testing.T) {
	t.Parallel()
	good := func(s *sample) Lineage {
		l := LineageOf(s.recs[0])
		l.File, l.Line, l.Row, l.Chain = "x.jsonl", 1, RowHash([]byte("x")), []string{"step-1"}
		return l
	}
	for name, tc := range map[string]struct {
		do   func(w *Writer, s *sample) error
		want string
	}{
		"sums": {func(w *Writer, s *sample) error {
			_, err := w.Step(Step{Order: 3, Name: "dedup", Sums: drydock.Sums{In: 5, Out: 4}})
			return err
		}, "step 3 dedup: sums do not close"},
		"files": {func(w *Writer, s *sample) error {
			_, err := w.Step(Step{
				Order: 1, Name: "emit", Sums: drydock.Sums{In: 5, Out: 5},
				Outputs: []Artifact{{Path: "a", SHA256: strings.Repeat("a", 64), Records: 4, Role: RoleData}},
			})
			return err
		}, "step 1 emit: out is 5, its files have 4 records"},
		"gap":         {func(w *Writer, s *sample) error { l := good(s); l.Line = 2; return w.Lineage(l) }, "line 2 after line 0"},
		"unknown src": {func(w *Writer, s *sample) error { l := good(s); l.Loc[0].Source = "src-0"; return w.Lineage(l) }, "src-0 is not in"},
		"no origin":   {func(w *Writer, s *sample) error { l := good(s); l.Loc = nil; return w.Lineage(l) }, "neither a source nor a parent"},
		"no reason":   {func(w *Writer, s *sample) error { return w.Dropped(Dropped{Step: "step-1"}) }, "no reason"},
		"source twice": {func(w *Writer, s *sample) error {
			_, err := w.Source(Source{Name: "colreg", File: "bank.pdf", SHA256: s.files[0].SHA256})
			return err
		}, "twice"},
		"bad params": {func(w *Writer, s *sample) error {
			_, err := w.Step(Step{Order: 1, Name: "x", Params: drydock.RawJSON(`[1]`)})
			return err
		}, "params"},
		"lost in files": {func(w *Writer, s *sample) error { _ = w.Lineage(good(s)); _, err := w.Close(); return err }, "rows name step step-1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSample()
			w, err := Create(filepath.Join(t.TempDir(), "p"))
			if err != nil {
				t.Fatal(err)
			}
			defer w.Abort()
			for _, f := range s.files {
				if _, err := w.Source(Source{Name: f.Source, File: f.Name, SHA256: f.SHA256}); err != nil {
					t.Fatal(err)
				}
			}
			if err := tc.do(w, s); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

// Every change to a ledger or to the data is found, and says where.
func TestCheckFinds(t *testing.T) {
	t.Parallel()
	edit := func(fsys fstest.MapFS, name, from, to string) {
		b := string(fsys[name].Data)
		if !strings.Contains(b, from) {
			panic(name + " has no " + from)
		}
		fsys[name] = &fstest.MapFile{Data: []byte(strings.Replace(b, from, to, 1))}
	}
	for name, tc := range map[string]struct {
		spoil func(ledgers, data fstest.MapFS)
		want  string
	}{
		"dropped row removed": {func(l, d fstest.MapFS) {
			b := string(l[DroppedFile].Data)
			l[DroppedFile] = &fstest.MapFile{Data: []byte(b[strings.Index(b, "\n")+1:])}
		}, "step 2 drop_short: says 1 dropped as too_short, dropped.jsonl has 0"},
		"sums edited":    {func(l, d fstest.MapFS) { edit(l, StepsFile, `"in":6,"made":0`, `"in":7,"made":0`) }, "steps.jsonl:2: step 2 drop_short: sums do not close"},
		"params edited":  {func(l, d fstest.MapFS) { edit(l, StepsFile, `"min_runes":20`, `"min_runes":10`) }, "params_sha256 does not match"},
		"licence edited": {func(l, d fstest.MapFS) { edit(l, SourcesFile, "CC-BY-4.0", "CC0-1.0") }, "sources.jsonl: differs from root.json"},
		"source renamed": {func(l, d fstest.MapFS) { edit(l, SourcesFile, "bank.pdf", "other.pdf") }, "does not follow from its content"},
		"lineage row removed": {func(l, d fstest.MapFS) {
			b := strings.SplitAfter(string(l[LineageFile].Data), "\n")
			l[LineageFile] = &fstest.MapFile{Data: []byte(b[0] + b[2])}
		}, "lineage.jsonl:2: lineage of build/train.jsonl: line 3 after line 1"},
		"data row removed": {func(l, d fstest.MapFS) {
			b := strings.SplitAfter(string(d[trainPath].Data), "\n")
			d[trainPath] = &fstest.MapFile{Data: []byte(b[0] + b[2])}
		}, "build/train.jsonl:2: step 4 qwen3_chat: the line has hash"},
		"data row edited": {func(l, d fstest.MapFS) { edit(d, trainPath, "[A]", "[B]") }, "build/train.jsonl:1: step 4 qwen3_chat: the line has hash"},
		"data row added": {func(l, d fstest.MapFS) {
			d[trainPath] = &fstest.MapFile{Data: append(d[trainPath].Data, "{}\n"...)}
		}, "build/train.jsonl:4: step 4 qwen3_chat: 1 line without a lineage row"},
		"data gone":      {func(l, d fstest.MapFS) { delete(d, trainPath) }, "which is not there"},
		"broken json":    {func(l, d fstest.MapFS) { edit(l, DroppedFile, `{"rec"`, `{rec"`) }, "dropped.jsonl:1: "},
		"root hash":      {func(l, d fstest.MapFS) { edit(l, RootFile, `"root":"`, `"root":"0`) }, "root hash is 0"},
		"other schema":   {func(l, d fstest.MapFS) { edit(l, RootFile, "provenance/1", "provenance/9") }, "provenance/9"},
		"text after row": {func(l, d fstest.MapFS) { edit(l, SourcesFile, "}\n", "} x\n") }, "text after the JSON object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSample()
			dir, _ := s.build(t)
			ledgers := fstest.MapFS{}
			for _, name := range append(ledgerNames[:], RootFile) {
				b, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil {
					t.Fatal(err)
				}
				ledgers[name] = &fstest.MapFile{Data: b}
			}
			data := s.data()
			tc.spoil(ledgers, data)
			_, list, err := Check(context.Background(), ledgers, Options{Data: FromFS(data)})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(list.Error(), tc.want) {
				t.Errorf("findings:\n%v\nwant %q", list, tc.want)
			}
		})
	}
}

func TestCheckSourceFiles(t *testing.T) {
	t.Parallel()
	s := newSample()
	text := "规则正文"
	s.files[0].SHA256 = sha256hex([]byte(text))
	for i, r := range s.recs {
		r.Origin.File = s.files[i%2]
	}
	dir, _ := s.build(t)
	files := fstest.MapFS{"bank.pdf": {Data: []byte(text)}, "规则.docx": {Data: []byte("changed")}}
	_, list, err := Check(context.Background(), os.DirFS(dir), Options{Sources: func(src Source) (f io.ReadCloser, err error) {
		return files.Open(src.File)
	}})
	if err != nil || len(list) != 1 || !strings.Contains(list.Error(), "sources.jsonl:2: source file 规则.docx has sha256") {
		t.Errorf("%v, findings %v", err, list)
	}
}

// Rows survive writing and reading, whatever strings they hold.
func TestRowsRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[ -~一-龥\n"\\<>&]{1,12}`)
		var o object
		l := Lineage{
			ID: text.Draw(t, "id"), Row: RowHash([]byte("x")), File: text.Draw(t, "file"), Line: rapid.IntRange(1, 1e9).Draw(t, "line"),
			Loc:   []Loc{{Source: text.Draw(t, "src"), At: drydock.Locator{Sheet: text.Draw(t, "sheet"), Row: rapid.IntRange(0, 9999).Draw(t, "row")}}},
			Chain: rapid.SliceOfN(text, 1, 3).Draw(t, "chain"), Split: text.Draw(t, "split"), Kind: "question", Form: "single", Lang: "zh",
			Options: rapid.IntRange(0, 5).Draw(t, "options"), Answer: text.Draw(t, "answer"),
		}
		copy(l.Rec[:], text.Draw(t, "rec"))
		if rapid.Bool().Draw(t, "parents") {
			l.Parents = []drydock.ID{l.Rec}
		}
		line := o.lineage(&l)
		if n := strings.Count(string(line), "\n"); n != 1 {
			t.Fatalf("%d line ends in %q", n, line)
		}
		got, err := newRows().lineage(line[:len(line)-1])
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(l, got); d != "" {
			t.Fatal(d)
		}
	})
}

func FuzzLedgers(f *testing.F) {
	s := newSample()
	dir, _ := s.build(f)
	for _, name := range ledgerNames {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte("{}\n[]\nnull\n\x00"))
	root := []byte(`{"schema":"drydock.provenance/1","files":[],"root":""}`)
	f.Fuzz(func(t *testing.T, b []byte) {
		fsys := fstest.MapFS{RootFile: {Data: root}}
		for _, name := range ledgerNames {
			fsys[name] = &fstest.MapFile{Data: b}
		}
		_, list, err := Check(context.Background(), fsys, Options{})
		if err == nil && len(list) == 0 {
			t.Fatal("foreign bytes pass as ledgers") // the root hash cannot match
		}
	})
}

func BenchmarkLineage(b *testing.B) {
	s := newSample()
	w, err := Create(filepath.Join(b.TempDir(), "p"))
	if err != nil {
		b.Fatal(err)
	}
	defer w.Abort()
	for _, f := range s.files {
		if _, err := w.Source(Source{Name: f.Source, File: f.Name, SHA256: f.SHA256}); err != nil {
			b.Fatal(err)
		}
	}
	l := LineageOf(s.recs[0])
	l.File, l.Row, l.Chain = trainPath, RowHash([]byte(s.rows[0])), s.chain()
	b.SetBytes(int64(len(w.obj.lineage(&l))))
	b.ReportAllocs()
	for b.Loop() {
		l.Line++
		if err := w.Lineage(l); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadLineage(b *testing.B) {
	s := newSample()
	var o object
	l := LineageOf(s.recs[0])
	l.File, l.Line, l.Row, l.Chain = trainPath, 1, RowHash([]byte(s.rows[0])), s.chain()
	line := o.lineage(&l)
	r := newRows()
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.lineage(line); err != nil {
			b.Fatal(err)
		}
	}
}
