package pipeline

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dedup"
	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/eval/benchmark"
)

// zhQuestion writes a question of the domain. Every tenth of a run of n repeats
// an earlier one, so that the duplicates path is measured, too.
func zhQuestion(r *rand.Rand) (stem string, options []string) {
	subjects := []string{"船舶在狭水道内航行时", "能见度不良的水域中", "机动船在航且对水移动时", "锚泊船在大风浪来临之前", "拖轮协助大型船舶靠泊时", "值班驾驶员交接班之际"}
	asks := []string{"首先应当采取的措施是", "下列做法中不符合良好船艺的是", "应显示的号灯号型为", "对安全航速影响最大的因素是", "主机备车的时间一般不少于"}
	things := []string{"减速并加强瞭望", "保持原航向航速", "鸣放规定的声号", "立即抛下双锚", "通知机舱备车", "向右大幅度转向", "打开甲板照明灯", "核对罗经差", "关闭水密门", "请求拖轮协助"}
	stem = fmt.Sprintf("第%d题：%s，%s______。", r.IntN(1_000_000), subjects[r.IntN(len(subjects))], asks[r.IntN(len(asks))])
	for _, i := range r.Perm(len(things))[:4] {
		options = append(options, fmt.Sprintf("%s（%d）", things[i], r.IntN(1000)))
	}
	return stem, options
}

// zhRows writes about size bytes of question rows as `prep` writes them.
func zhRows(size int) []byte {
	r := rand.New(rand.NewPCG(7, 7))
	var b bytes.Buffer
	var lines [][]byte
	for n := 0; b.Len() < size; n++ {
		if n%10 == 9 {
			b.Write(lines[r.IntN(len(lines))])
			continue
		}
		stem, options := zhQuestion(r)
		start := b.Len()
		fmt.Fprintf(&b, `{"id":"q%d","kind":"single","lang":"zh","stem":"%s","statements":[],"options":[`, n, stem)
		for i, o := range options {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `{"label":"%c","text":"%s"}`, 'A'+i, o)
		}
		fmt.Fprintf(&b, `],"answer":["%c"],"explanation":"","subject":["航海学"],"needs_figure":false,"confidence":1}`+"\n", 'A'+r.IntN(4))
		if len(lines) < 1000 {
			lines = append(lines, bytes.Clone(b.Bytes()[start:]))
		}
	}
	return b.Bytes()
}

// benchItems are as many items as MaritimeBench has.
func benchItems(n int) []benchmark.Item {
	r := rand.New(rand.NewPCG(11, 11))
	items := make([]benchmark.Item, n)
	for i := range items {
		stem, options := zhQuestion(r)
		q := drydock.Question{Kind: drydock.Single, Stem: stem, Answer: []string{"A"}}
		for j, o := range options {
			q.Options = append(q.Options, drydock.Option{Label: string(rune('A' + j)), Text: o})
		}
		items[i] = benchmark.Item{ID: fmt.Sprint(i), Index: i, Question: q}
	}
	return items
}

// BenchmarkByteHash is the limit the others are compared with: a plain FNV-1a
// loop over the same bytes.
func BenchmarkByteHash(b *testing.B) {
	data := zhRows(8 << 20)
	b.SetBytes(int64(len(data)))
	sum := uint64(0)
	for b.Loop() {
		h := uint64(14695981039346656037)
		for _, c := range data {
			h = (h ^ uint64(c)) * 1099511628211
		}
		sum += h
	}
	if sum == 0 {
		b.Fatal("nothing was hashed")
	}
}

// BenchmarkReadDedupContam is what a run does to rows that already are
// records: read the JSONL, decode, find exact duplicates, compare the rest with
// a benchmark of 1,888 items; one goroutine.
func BenchmarkReadDedupContam(b *testing.B) {
	data := zhRows(8 << 20)
	path := filepath.Join(b.TempDir(), "rows.jsonl")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		b.Fatal(err)
	}
	ix, err := contam.NewIndex(benchItems(1888), benchmark.Ref{Name: "bench"}, contam.DefaultConfig())
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	records, kept := 0, 0
	for b.Loop() {
		recs, err := readAll(ctx, path)
		if err != nil {
			b.Fatal(err)
		}
		records = len(recs)
		exact := dedup.NewExact()
		exact.Workers = 1
		if err := exact.Sketch(0)(ctx, recs); err != nil {
			b.Fatal(err)
		}
		if err := exact.Decide(ctx); err != nil {
			b.Fatal(err)
		}
		out, dropped, err := exact.Do(ctx, recs)
		if err != nil || len(dropped) == 0 {
			b.Fatal(err, len(dropped))
		}
		sc := ix.Scanner()
		kept = 0
		for _, r := range out {
			if len(sc.Record(r)) == 0 {
				kept++
			}
		}
	}
	b.ReportMetric(float64(records)/b.Elapsed().Seconds()*float64(b.N), "records/s")
	if kept == 0 {
		b.Fatal("everything was taken for a benchmark item")
	}
}

func readAll(ctx context.Context, path string) ([]*drydock.Record, error) {
	f, kind, err := format.Open(&drydock.File{Source: "s", Name: "rows.jsonl"}, path, format.Options{}, nil)
	if err != nil {
		return nil, err
	}
	units, err := kind.Units(ctx, f)
	if err != nil {
		return nil, err
	}
	var recs []*drydock.Record
	for _, u := range units {
		for b, err := range kind.Document(u, nil).Blocks(ctx) {
			if err != nil {
				return nil, err
			}
			s := shapeOf(b.Raw)
			r, err := s.Decode(b.Raw)
			if err != nil {
				return nil, err
			}
			r.ID = drydock.NewID("s", "rows.jsonl", b.At.String(), string(b.Raw))
			r.Origin = drydock.Origin{File: f.File, At: b.At}
			recs = append(recs, r)
		}
	}
	return recs, nil
}

// BenchmarkRun is a whole run of a project of text banks, in bytes of source.
func BenchmarkRun(b *testing.B) {
	text := bankText(1, 20_000)
	dir := b.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "raw"), 0o755); err != nil {
		b.Fatal(err)
	}
	for i := range 4 {
		if err := os.WriteFile(filepath.Join(dir, "raw", fmt.Sprintf("%d.txt", i)), []byte(bankText(i, 5000)), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	cfg := "version: 1\nsources:\n  - {name: bank, path: raw, license: CC0-1.0}\nsteps: [parse_questions]\noutput:\n  - qwen3_chat: {path: build/train.jsonl}\n"
	if err := os.WriteFile(filepath.Join(dir, ConfigName), []byte(cfg), 0o644); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := runProject(context.Background(), dir, Options{Fresh: true}); err != nil {
			b.Fatal(err)
		}
	}
}
