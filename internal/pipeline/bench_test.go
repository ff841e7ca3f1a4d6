package pipeline

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dedup"
	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/internal/meter"
)

// zhQuestion writes a question of the domain.
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

// zhSentence writes a sentence of ship's business that no question asks for.
func zhSentence(r *rand.Rand) string {
	who := []string{"水手长", "大管轮", "三副", "机工", "船厂代表", "验船师", "理货员", "引航站", "港口调度", "船舶代理", "电子员", "木匠", "大厨", "实习生", "公司海务"}
	what := []string{"检查了货舱污水井", "更换了空压机滤芯", "登记了垃圾记录簿", "测量了淡水舱液位", "整理了防火控制图", "核对了仓库备件", "清洗了分油机转鼓", "校正了驾驶台时钟", "油漆了舷梯踏板", "申请了岸电接驳", "复印了航海通告", "盘点了救生衣数量", "调整了伙食采购单", "润滑了克令吊钢丝", "誊写了体系文件"}
	when := []string{"上午", "靠泊之后", "早餐以前", "台风过去的次日", "换班之前", "装货间隙", "夜航期间", "抵港当天", "检修周期届满时", "开航前两小时"}
	why := []string{"以便迎接公司检查", "因为上一航次留有缺陷", "并向机舱作了说明", "随后拍照存档", "同时抄送了岸基", "但是没有填写编号", "结果令人满意", "费用由租家承担", "耗时约四十分钟", "需要下一港补充"}
	return fmt.Sprintf("%s，%s%s，%s（%d）。", when[r.IntN(len(when))], who[r.IntN(len(who))], what[r.IntN(len(what))], why[r.IntN(len(why))], r.IntN(10000))
}

// zhRows writes about size bytes of JSONL: documents of 150 to 3,000 characters,
// one in twenty of them with a sentence a question has, too, and one in a hundred
// repeating an earlier one.
func zhRows(size int) []byte {
	r := rand.New(rand.NewPCG(7, 7))
	var b, text bytes.Buffer
	var early []string
	for n := 0; b.Len() < size; n++ {
		text.Reset()
		for want := int(150 * math.Pow(20, r.Float64())); text.Len() < 3*want; {
			text.WriteString(zhSentence(r))
		}
		if n%20 == 0 {
			stem, _ := zhQuestion(r)
			text.WriteString(stem)
		}
		doc := text.String()
		if n%100 == 99 {
			doc = early[r.IntN(len(early))]
		}
		if len(early) < 100 {
			early = append(early, doc)
		}
		fmt.Fprintf(&b, `{"id":%d,"text":"%s"}`+"\n", n, doc)
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
	sum := uint64(0)
	defer meter.CPU(b, len(data))()
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
	records, kept := 0, 0
	defer meter.CPU(b, len(data))()
	for b.Loop() {
		recs, err := readAll(ctx, path)
		if err != nil {
			b.Fatal(err)
		}
		records = len(recs)
		exact := dedup.New(dedup.Options{Workers: 1})
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
			r.ID = drydock.NewRowID("s", "rows.jsonl", b.At.String(), b.Raw)
			r.Origin = drydock.Origin{File: f.File, At: b.At}
			recs = append(recs, r)
		}
	}
	return recs, nil
}

// BenchmarkRun is a whole run of a project of text banks, and of question rows,
// in bytes of source: read, parse, write in two passes, ledgers and card.
func BenchmarkRun(b *testing.B) {
	for _, c := range []struct {
		name string
		file func(i int) (string, []byte)
	}{
		{"banks", func(i int) (string, []byte) { return fmt.Sprintf("%d.txt", i), []byte(bankText(i, 3000)) }},
		{"rows", func(i int) (string, []byte) { return fmt.Sprintf("%d.jsonl", i), questionRows(i, 4000) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			dir := b.TempDir()
			if err := os.MkdirAll(filepath.Join(dir, "raw"), 0o755); err != nil {
				b.Fatal(err)
			}
			size := 0
			for i := range 2 {
				name, data := c.file(i)
				size += len(data)
				if err := os.WriteFile(filepath.Join(dir, "raw", name), data, 0o644); err != nil {
					b.Fatal(err)
				}
			}
			cfg := "version: 1\nsources:\n  - {name: bank, path: raw, license: CC0-1.0}\nsteps: [parse_questions]\noutput:\n  - qwen3_chat: {path: build/train.jsonl}\n"
			if err := os.WriteFile(filepath.Join(dir, ConfigName), []byte(cfg), 0o644); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := runProject(context.Background(), dir, Options{Fresh: true}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// questionRows writes n question rows, no two alike.
func questionRows(seed, n int) []byte {
	r := rand.New(rand.NewPCG(uint64(seed), 3))
	var b bytes.Buffer
	for i := range n {
		stem, options := zhQuestion(r)
		fmt.Fprintf(&b, `{"id":"s%d-%d","kind":"single","lang":"zh","stem":"%s","options":[`, seed, i, stem)
		for j, o := range options {
			if j > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `{"label":"%c","text":"%s"}`, 'A'+j, o)
		}
		fmt.Fprintf(&b, `],"answer":["%c"]}`+"\n", 'A'+r.IntN(4))
	}
	return b.Bytes()
}
