package contam

import (
	"strings"
	"testing"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval/benchmark"
)

// The items of the tests are our own. Their order is their index.
var testItems = []struct {
	stem    string
	options []string
	answer  string
}{
	{"在能见度不良的水域中航行，船长首先应当______。", []string{"通知机舱备车并减速", "打开全部甲板照明", "改用自动舵航行", "关闭雷达以免干扰"}, "A"},
	{"舵机失灵后，关于应急操舵的说法，正确的是______。①先通知驾驶台②由舵机室就地操纵③必须抛下双锚④保持通信畅通", []string{"①②④", "①③④", "②③④", "①②③"}, "A"},
	{"船长120 m的货船锚泊时，夜间至少应显示______盏白色环照灯。", []string{"1", "2", "3"}, "B"},
	{"下列哪一项不属于消防演习的内容？", []string{"检查水密门的关闭", "穿戴消防员装备", "启动应急消防泵", "丈量货舱容积"}, "D"},
	{"In restricted visibility a vessel that hears a fog signal forward of her beam shall reduce her speed to ______.", []string{"the minimum at which she can be kept on her course", "half of her full manoeuvring speed", "the speed of the slowest vessel nearby", "ten knots at the most"}, "A"},
	{"Which of the following is not carried in a survival craft?", []string{"A bailer and two sponges", "A rainproof whistle", "A spare propeller shaft", "A daylight signalling mirror"}, "C"},
	{"压载水置换应在距最近陆地至少200 n mile、水深至少______m的水域进行。", []string{"50", "100", "200", "500"}, "C"},
	{"锅炉给水中溶解氧含量过高会加剧______。", []string{"炉管的点状腐蚀", "炉膛的积灰", "蒸汽的过热", "燃油的雾化不良"}, "A"},
}

func testQuestion(i int) drydock.Question {
	t := testItems[i]
	q := drydock.Question{Kind: drydock.Single, Stem: t.stem, Answer: []string{t.answer}}
	for k, o := range t.options {
		q.Options = append(q.Options, drydock.Option{Label: string(rune('A' + k)), Text: o})
	}
	return q
}

func testSet() []benchmark.Item {
	var out []benchmark.Item
	for i := range testItems {
		out = append(out, benchmark.Item{Index: i, Question: testQuestion(i)})
	}
	return out
}

var testRef = benchmark.Ref{Name: "harbour_quiz", Revision: "1"}

func testIndex(t testing.TB) *Index {
	t.Helper()
	ix, err := NewIndex(testSet(), testRef, Config{})
	if err != nil {
		t.Fatal(err)
	}
	return ix
}

// row is a JSONL row with one field.
func row(text string) []byte {
	return append(drydock.AppendJSONString([]byte(`{"id":"r1","text":`), text), '}')
}

// verdict returns what the row's finding on the item says; empty when there is
// none.
func verdict(found []Finding, item int) Verdict {
	for _, f := range found {
		if f.Item.Index == item {
			return f.Verdict
		}
	}
	return ""
}

// promptTemplate returns a shipped template that shows a worked example.
func promptTemplate(t testing.TB) string {
	t.Helper()
	b, err := benchmark.Lookup("maritime_bench")
	if err != nil {
		t.Fatal(err)
	}
	return benchmark.TemplateOf(b)
}

// promptExample makes an item of the worked example in the template.
func promptExample(t testing.TB) benchmark.Item {
	t.Helper()
	_, rest, _ := strings.Cut(promptTemplate(t), "题目：")
	stem, rest, ok := strings.Cut(rest, "\n选项：\n")
	if !ok {
		t.Fatal("the template shows no example")
	}
	q := drydock.Question{Kind: drydock.Single, Stem: stem}
	for _, line := range strings.Split(rest, "\n")[:4] {
		label, text, _ := strings.Cut(line, ". ")
		q.Options = append(q.Options, drydock.Option{Label: label, Text: text})
	}
	return benchmark.Item{Index: 900, Question: q}
}

func promptText(t testing.TB, q *drydock.Question) string {
	t.Helper()
	b, err := benchmark.Lookup("maritime_bench")
	if err != nil {
		t.Fatal(err)
	}
	return b.Prompt(benchmark.Item{Question: *q})[0].Content
}

// failsAs reports whether one of the findings says that the item leaked.
func failsAs(found []Finding, ref ItemRef) bool {
	for i := range found {
		if found[i].Fail && found[i].Item == ref {
			return true
		}
	}
	return false
}
