package question_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/question"
	"github.com/drydock-ml/drydock/internal/golden"
)

// bank reads a file of testdata/banks: lines, rows parted by tabs (.tsv) or JSON
// rows (.jsonl), and behind a line =====KEY a second file with the answers.
func bank(t testing.TB, name string) *drydock.Document {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "banks", name))
	if err != nil {
		t.Fatal(err)
	}
	s := strings.TrimSuffix(strings.ReplaceAll(string(b), "\r\n", "\n"), "\n")
	s, key, hasKey := strings.Cut(s, "\n=====KEY\n")
	var doc *drydock.Document
	switch filepath.Ext(name) {
	case ".tsv":
		doc = rowsDocument(tabbed(s))
	case ".jsonl":
		doc = jsonDocument(t, []byte(s))
	default:
		doc = text(s)
	}
	if hasKey {
		if doc.Key = text(key); strings.Contains(key, "\t") {
			doc.Key = rowsDocument(tabbed(key))
		}
	}
	return doc
}

func tabbed(s string) [][]string {
	var rows [][]string
	for l := range strings.SplitSeq(s, "\n") {
		rows = append(rows, strings.Split(l, "\t"))
	}
	return rows
}

// Whole banks, each with something that is easily read wrong: what comes of them
// stands beside them, question by question, with what was left out and the proof
// of every part.
func TestBanks(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/banks/*.*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		name := filepath.Base(f)
		t.Run(strings.ReplaceAll(name, ".", "_"), func(t *testing.T) {
			t.Parallel()
			var b strings.Builder
			say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
			p := question.New(question.Options{
				Note: func(n question.Note) { say("note %s %s", n.Code, n.At) },
				Part: func(p question.Part) {
					say("part %q questions %d keys %d matched %d closed %v missing %v repeated %v", p.Title, p.Questions, p.Keys, p.Matched, p.Closed, p.Missing, p.Repeated)
				},
			})
			for r, err := range p.Parse(t.Context(), bank(t, name)) {
				if d, ok := err.(*drydock.Drop); ok {
					say("drop %s (%s): %q", d.Reason, d.Detail, d.Record.Passage.Text)
					continue
				} else if err != nil {
					t.Fatal(err)
				}
				q := *r.Question
				line, err := drydock.MarshalJSON(q)
				if err != nil {
					t.Fatal(err)
				}
				say("%s %s", r.Origin.At, line)
			}
			golden.Equal(t, ".golden", []byte(b.String()))
		})
	}
}

// Every shape of the list that the tests are named by has one, the ones about
// containers apart, which are read elsewhere.
func TestEveryShapeHasATest(t *testing.T) {
	t.Parallel()
	var names []string
	for _, c := range textShapes {
		names = append(names, c.name)
	}
	for _, c := range rowShapes {
		names = append(names, c.name)
	}
	for _, c := range moreShapes {
		names = append(names, c.name)
	}
	for n := 1; n <= 41; n++ {
		prefix := fmt.Sprintf("%02d ", n)
		if !slices.ContainsFunc(names, func(s string) bool { return strings.HasPrefix(s, prefix) }) {
			t.Errorf("shape %d has no test", n)
		}
	}
}

// moreShapes are the shapes that need more than lines or rows to be shown.
var moreShapes = []struct {
	name string
	doc  func(t *testing.T) *drydock.Document
	want []string
}{
	{"16 a separate answer file joined by number", func(*testing.T) *drydock.Document {
		doc := text("1. 甲\nA. 红\nB. 绿\n2. 乙\nA. 红\nB. 绿")
		doc.Key = text("1. B\n2. A")
		return doc
	}, []string{"single|甲|A=红;B=绿|B", "single|乙|A=红;B=绿|A"}},
	{"16 a separate answer sheet joined by number", func(*testing.T) *drydock.Document {
		doc := rowsDocument([][]string{{"序号", "题目", "A", "B"}, {"1", "左舷灯为", "红", "绿"}, {"2", "右舷灯为", "红", "绿"}})
		doc.Key = rowsDocument([][]string{{"序号", "答案"}, {"2", "B"}, {"1", "A"}})
		return doc
	}, []string{"single|左舷灯为|A=红;B=绿|A", "single|右舷灯为|A=红;B=绿|B"}},
	{"20 statement combinations", func(*testing.T) *drydock.Document {
		return text("1. 系泊时带：①艏缆②艉缆③横缆\nA. ①②\nB. ①③\n答案：A\n2. 正确的是 I. 鸣笛 II. 减速 III. 停车\nA. I、II\nB. I～III\n答案：B")
	}, []string{"single|系泊时带：①艏缆②艉缆③横缆|A=①②;B=①③|A", "single|正确的是 I. 鸣笛 II. 减速 III. 停车|A=I、II;B=I～III|B"}},
	{"24 images, formulas and subscripts", func(*testing.T) *drydock.Document {
		return document([]drydock.Block{
			{Text: "1. 该标志为"},
			{Figure: "image1.png"},
			{Text: "A. 左侧标"},
			{Text: "B. 右侧标"},
			{Text: "答案：A"},
			{Text: `2. $\sin\varphi$ 等于`},
			{Text: "A. $a/c$"},
			{Text: "B. $b/c$"},
			{Text: "答案：A"},
			{Text: "3. 水的分子式为"},
			{Text: "A. H₂O"},
			{Text: "B. CO₂"},
			{Text: "答案：A"},
		})
	}, []string{"single|该标志为|A=左侧标;B=右侧标|A", `single|$\sin\varphi$ 等于|A=$a/c$;B=$b/c$|A`, "single|水的分子式为|A=H₂O;B=CO₂|A"}},
	{"34 marked by colour only", func(*testing.T) *drydock.Document {
		red := func(s string) drydock.Block {
			return drydock.Block{Text: s, Spans: []drydock.Span{{Start: 0, End: len(s), Kind: drydock.Color, Value: "FF0000"}}}
		}
		return document([]drydock.Block{{Text: "1. 左舷灯为"}, red("A. 红"), {Text: "B. 绿"}, {Text: "2. 右舷灯为"}, {Text: "A. 红"}, red("B. 绿")})
	}, []string{"single|左舷灯为|A=红;B=绿|A", "single|右舷灯为|A=红;B=绿|B"}},
	{"41 machine-made", func(*testing.T) *drydock.Document {
		var b strings.Builder
		for i := 1; i <= 60; i++ {
			fmt.Fprintf(&b, "%d. 锚链第 %d 节应如何处理（第 %d 题）\nA. 检查\nB. 更换\n答案：A\n", i, i, i)
		}
		return text(b.String())
	}, slices.Collect(func(yield func(string) bool) {
		for i := 1; i <= 60; i++ {
			if !yield("single|锚链第 " + strconv.Itoa(i) + " 节应如何处理（第 " + strconv.Itoa(i) + " 题）|A=检查;B=更换|A") {
				return
			}
		}
	})},
}

func TestMoreShapes(t *testing.T) {
	t.Parallel()
	for _, c := range moreShapes {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			wantShown(t, c.doc(t), c.want)
		})
	}
}

// An image that stands with a question is named and makes it need a figure.
func TestFigureBlocks(t *testing.T) {
	t.Parallel()
	got := parse(t, document([]drydock.Block{
		{Text: "1. 该标志为"},
		{Figure: "image1.png"},
		{Text: "A. 左侧标"},
		{Text: "B. 右侧标"},
		{Text: "答案：A"},
		{Text: "2. 灯色为"},
		{Text: "A. 红"},
		{Text: "B. 绿"},
		{Text: "答案：A"},
		{Text: "3. 此船为", Figure: "image2.png"},
		{Text: "A. 渔船"},
		{Text: "B. 帆船"},
		{Text: "答案：A"},
	}))
	var figures []string
	for _, r := range got.records {
		figures = append(figures, fmt.Sprint(r.Question.Figures, r.Question.NeedsFigure))
	}
	if s := strings.Join(figures, " "); s != "[image1.png] true [] false [image2.png] true" {
		t.Error(s)
	}
}

func TestSuspicions(t *testing.T) {
	t.Parallel()
	parts := func(doc *drydock.Document) (out []question.Part) {
		p := question.New(question.Options{Part: func(p question.Part) { out = append(out, p) }})
		for range p.Parse(t.Context(), doc) {
		}
		return out
	}
	var codes []string
	for _, n := range question.Suspicions(parts(moreShapes[len(moreShapes)-1].doc(t))) {
		codes = append(codes, n.Code)
	}
	if !slices.Equal(codes, []string{"key_bias", "stems_alike"}) {
		t.Error(codes)
	}
	if s := question.Suspicions(parts(text(benchBank(1)))); len(s) != 1 || s[0].Code != "stems_alike" {
		t.Error(s)
	}
	b, err := json.Marshal(parts(text("1. 甲\nA. 红\nB. 绿\n答案：A")))
	if err != nil || !strings.Contains(string(b), `"closed":true`) {
		t.Error(string(b), err)
	}
}
