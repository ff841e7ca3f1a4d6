package submission

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/eval/evalscope"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/provenance"
	"github.com/google/go-cmp/cmp"
)

// parts is a small, valid package before it is packed; a test changes what it is
// about.
type parts struct {
	team    string
	methods []string
	report  []byte
	ext     string
	bench   benchmark.Benchmark
	items   []benchmark.Item
	replies []string
	edit    func(i int, r *evalscope.Review)  // a change to one review
	rows    func([]evalscope.Review) [][]byte // how the file is written
	evalRep func(r *evalscope.Report)         // a change to the report
	train   []string                          // rows
	chain   func(*provenance.Step)            // a change to a step
	docs    map[string][]byte                 // replaces generated papers; nil value: left out
	extra   map[string]string                 // name → content
	ledger  func(dir string)                  // a change to the ledgers
	opts    func(*Options)
}

func newParts(t testing.TB) *parts {
	t.Helper()
	var items []benchmark.Item
	var rows strings.Builder
	stems := []string{
		"锚泊船在能见度不良时应当每隔多久敲一次号钟", "拖带长度超过二百米的机动船应显示何种号型", "舵效明显下降时驾驶员首先应核对哪一项参数",
		"船舶在狭水道航行时应尽量靠近哪一侧行驶", "雷达标绘三次以上回波方位不变说明什么", "救生艇释放前必须确认哪一项状态",
	}
	for i := range 12 {
		options := []string{"甲板上的第" + fmt.Sprint(i) + "号设备", "机舱内的备用装置", "驾驶台的主控面板", "船首的锚机系统"}
		d := `"` + options[3] + `"`
		if i%4 == 3 {
			d = "null"
		}
		fmt.Fprintf(&rows, `{"index":%d,"question":"%s（第%d题）______。","answer":"%c","A":"%s","B":"%s","C":"%s","D":%s}`+"\n",
			i, stems[i%len(stems)], i, 'A'+i%3, options[0], options[1], options[2], d)
	}
	items, err := benchmark.ReadItems("items.jsonl", []byte(rows.String()))
	if err != nil {
		t.Fatal(err)
	}
	src, err := benchmark.LikePack("mini_bench", "maritime_bench", items).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	pack, err := benchmark.ParsePack("mini.yaml", src, benchmark.ShippedPack)
	if err != nil {
		t.Fatal(err)
	}
	choice, err := benchmark.NewChoice(pack)
	if err != nil {
		t.Fatal(err)
	}
	p := &parts{
		team: "demo", methods: []string{"sft"}, ext: ".docx", bench: choice, items: items,
		docs: map[string][]byte{}, extra: map[string]string{},
	}
	for i := range items {
		p.replies = append(p.replies, fmt.Sprintf("[%c]", 'A'+i%2))
	}
	p.report = docx("方法与方案", "数据来源说明", "训练过程", "评测结果：正确率 "+fmt.Sprintf("%.2f", 100*p.accuracy())+"%", "合规声明")
	for i := range 6 {
		p.train = append(p.train, fmt.Sprintf(`{"id":"r%d","messages":[{"role":"user","content":"海图深度基准面练习第%d号：请选择正确说法"},{"role":"assistant","content":"<think>\n\n</think>\n\n[B]"}]}`, i, i))
	}
	return p
}

func (p *parts) accuracy() float64 {
	n := 0
	for i, r := range p.replies {
		if g := p.bench.Grade(p.items[i], benchmark.Reply{Text: r}); g.Score == 1 {
			n++
		}
	}
	return float64(n) / float64(len(p.items))
}

func docx(paragraphs ...string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, _ := z.Create("word/document.xml")
	io.WriteString(w, `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>`)
	for _, s := range paragraphs {
		fmt.Fprintf(w, `<w:p><w:r><w:t>%s</w:t></w:r></w:p>`, s)
	}
	io.WriteString(w, `</w:body></w:document>`)
	z.Close()
	return b.Bytes()
}

func pdf(content string) []byte {
	return fmt.Appendf(nil, "%%PDF-1.4\n1 0 obj\n<</Length %d>>\nstream\n%s\nendstream\nendobj\nstartxref\n9\n%%%%EOF\n", len(content), content)
}

// spec writes the parts to disk and says how to pack them.
func (p *parts) spec(t testing.TB) Spec {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	s := Spec{
		Team: p.team, Methods: p.methods, BaseModel: "Qwen/Qwen3-8B", Model: "builtin:lookup",
		Benchmark: Benchmark{Name: "mini_bench", Revision: p.bench.Ref().Revision, N: len(p.items), SHA256: benchmark.CanonicalHash(p.items), Rule: "bracket_first@1"},
		Report:    write("report"+p.ext, p.report), TrainDocs: map[string][]byte{}, Extra: map[string]string{},
		Options: p.options(),
	}
	reviews, report := p.results()
	s.Reviews = write("reviews.jsonl", reviews)
	s.EvalReport = write("report.json", report)
	data := []byte(strings.Join(p.train, "\n") + "\n")
	s.Data = []string{write("build/train.jsonl", data)}
	s.Provenance = p.ledgers(t, filepath.Join(dir, "provenance"), data)
	if p.ledger != nil {
		p.ledger(s.Provenance)
	}
	schema, err := provenance.ReadSchema(bytes.NewReader(data))
	if err != nil {
		schema = provenance.NewSchema() // a test broke a row
	}
	s.TrainDocs["fields.md"] = provenance.FieldsMD(msg.Zh, []provenance.FileFields{{Path: "data/train.jsonl", Rows: schema.Rows, Fields: schema.Fields()}}, nil)
	s.TrainDocs["sources.md"] = []byte("# 来源\n\n练习题，自编。\n")
	s.TrainDocs["scripts/drydock.yaml"] = []byte("version: 1\n")
	for name, b := range p.docs {
		delete(s.TrainDocs, name)
		if b != nil {
			s.TrainDocs[name] = b
		}
	}
	for name, text := range p.extra {
		s.Extra[name] = write("extra/"+name, []byte(text))
	}
	return s
}

func (p *parts) options() Options {
	o := Options{Benchmark: func(_ context.Context, name string) (Registered, error) {
		if name != "mini_bench" {
			return Registered{}, fs.ErrNotExist
		}
		return Registered{p.bench, p.items}, nil
	}}
	if p.opts != nil {
		p.opts(&o)
	}
	return o
}

func (p *parts) results() (reviews, report []byte) {
	var list []evalscope.Review
	correct := 0
	for i, it := range p.items {
		g := p.bench.Grade(it, benchmark.Reply{Text: p.replies[i]})
		r := evalscope.Review{
			Index: i, Input: evalscope.Input(p.bench.Prompt(it)), Target: it.Gold[0], Acc: g.Score,
			Extracted: g.Extracted, Prediction: p.replies[i], SampleID: i, GroupID: i,
		}
		correct += int(g.Score)
		if p.edit != nil {
			p.edit(i, &r)
		}
		list = append(list, r)
	}
	if p.rows != nil {
		reviews = bytes.Join(p.rows(list), nil)
	} else {
		for i := range list {
			reviews = evalscope.AppendReview(reviews, &list[i])
		}
	}
	rep := evalscope.Report{Model: "builtin:lookup", Bench: "mini_bench", Info: p.bench.(*benchmark.Choice).Info(), Correct: correct, Num: len(p.items)}
	if p.evalRep != nil {
		p.evalRep(&rep)
	}
	return reviews, evalscope.AppendReport(nil, &rep)
}

func (p *parts) ledgers(t testing.TB, dir string, data []byte) string {
	t.Helper()
	w, err := provenance.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	f := &drydock.File{Source: "own", Name: "bank.txt", SHA256: hexOf([]byte("bank"))}
	if _, err := w.Source(provenance.Source{Name: f.Source, File: f.Name, SHA256: f.SHA256, License: provenance.LicenseOf("CC0-1.0")}); err != nil {
		t.Fatal(err)
	}
	step := provenance.Step{
		Order: 1, Name: "qwen3_chat", ToolVersion: "0.1.0", Sums: drydock.Sums{Made: len(p.train), Out: len(p.train)},
		Outputs: []provenance.Artifact{{Path: "build/train.jsonl", SHA256: hexOf(data), Bytes: int64(len(data)), Records: len(p.train), Role: provenance.RoleData}},
	}
	if p.chain != nil {
		p.chain(&step)
	}
	id, err := w.Step(step)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range p.train {
		at := drydock.Locator{Line: i + 1}
		r := &drydock.Record{ID: drydock.NewID("own", "bank.txt", at.String()), RowID: fmt.Sprintf("r%d", i), Lang: "zh", Chat: &drydock.Chat{}, Origin: drydock.Origin{File: f, At: at}}
		l := provenance.LineageOf(r)
		l.File, l.Line, l.Row, l.Chain = "build/train.jsonl", i+1, provenance.RowHash([]byte(row)), []string{id}
		if err := w.Lineage(l); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func hexOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// pack packs the parts and returns the package's path and its report.
func (p *parts) pack(t testing.TB) (string, Report) {
	t.Helper()
	name := filepath.Join(t.TempDir(), FileName(p.team))
	r, err := Pack(context.Background(), p.spec(t), name)
	if err != nil {
		t.Fatal(err)
	}
	return name, r
}

// statuses are the gates that are not a pass.
func statuses(r Report) map[string]Status {
	m := map[string]Status{}
	for _, v := range r.Gates {
		if v.Status != Pass {
			m[v.ID] = v.Status
		}
	}
	return m
}

func explain(r Report) string { return string(r.Markdown(msg.En)) }

func TestPackOfGoodParts(t *testing.T) {
	t.Parallel()
	name, r := newParts(t).pack(t)
	if d := cmp.Diff(map[string]Status{}, statuses(r)); d != "" || !r.OK() {
		t.Fatalf("a good package:\n%s\n%s", d, explain(r))
	}
	z, err := zip.OpenReader(name)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
	}
	want := []string{
		"MANIFEST.sha256", "drydock-report.json", "report/report.docx", "results/mini_bench_default.jsonl", "results/reports/mini_bench.json",
		"submission.yaml", "train/data/train.jsonl", "train/fields.md",
		"train/provenance/dropped.jsonl", "train/provenance/lineage.jsonl", "train/provenance/root.json", "train/provenance/sources.jsonl", "train/provenance/steps.jsonl",
		"train/scripts/drydock.yaml", "train/sources.md",
	}
	if d := cmp.Diff(want, names); d != "" {
		t.Errorf("entries (-want +got):\n%s", d)
	}
}

func TestPackIsDeterministic(t *testing.T) {
	t.Parallel()
	var sums []string
	for range 2 {
		name, _ := newParts(t).pack(t)
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if i := bytes.Index(b, []byte(filepath.ToSlash(os.TempDir()))); i >= 0 {
			t.Errorf("the package names a folder of this machine")
		}
		sums = append(sums, hexOf(b))
	}
	if sums[0] != sums[1] {
		t.Error("two packs of the same parts differ")
	}
}

func TestPackSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	s := newParts(t).spec(t)
	s.Report, s.Reviews = filepath.Join(t.TempDir(), "no.docx"), filepath.Join(t.TempDir(), "no.jsonl")
	out := filepath.Join(t.TempDir(), "x.zip")
	_, err := Pack(context.Background(), s, out)
	if err == nil || !strings.Contains(err.Error(), "no.docx") || !strings.Contains(err.Error(), "no.jsonl") {
		t.Errorf("got %v, want both files named", err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a package was left behind")
	}
}

// unpack reads a package into memory, to change it.
func unpack(t testing.TB, name string) map[string][]byte {
	t.Helper()
	z, err := zip.OpenReader(name)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	files := map[string][]byte{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if files[f.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
		r.Close()
	}
	return files
}

// repack writes files as a package; sealed makes the manifest anew.
func repack(t testing.TB, files map[string][]byte, base string, sealed bool) string {
	t.Helper()
	if sealed {
		delete(files, manifestName)
		var b strings.Builder
		for _, n := range slices.Sorted(maps.Keys(files)) {
			fmt.Fprintf(&b, "%s  %s\n", hexOf(files[n]), n)
		}
		files[manifestName] = []byte(b.String())
	}
	name := filepath.Join(t.TempDir(), base)
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	for _, n := range slices.Sorted(maps.Keys(files)) {
		w, err := z.Create(n)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(files[n]); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

func jsonString(s string) (string, error) { return string(drydock.AppendJSONString(nil, s)), nil }

// BenchmarkVerify runs every gate over a package of 20,000 training rows.
func BenchmarkVerify(b *testing.B) {
	p := newParts(b)
	for i := len(p.train); i < 20_000; i++ {
		p.train = append(p.train, fmt.Sprintf(`{"id":"r%d","messages":[{"role":"user","content":"海图深度基准面练习第%d号：%s"},{"role":"assistant","content":"<think>\n\n</think>\n\n[B]"}]}`,
			i, i, strings.Repeat("请根据航行规则选择正确的说法。", 6)))
	}
	name, r := p.pack(b)
	if !r.OK() {
		b.Fatal(explain(r))
	}
	size := 0
	for _, f := range unpack(b, name) {
		size += len(f)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Verify(context.Background(), name, p.options()); err != nil {
			b.Fatal(err)
		}
	}
}
