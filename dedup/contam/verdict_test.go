package contam

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock"
)

const fogStem = "在能见度不良的水域中航行，船长首先应当______。"

func TestVerdicts(t *testing.T) {
	t.Parallel()
	s := testIndex(t).Scanner()
	for _, c := range []struct {
		name string
		text string
		item int
		want Verdict
	}{
		{"verbatim", fogStem + "\nA. 通知机舱备车并减速\nB. 打开全部甲板照明\nC. 改用自动舵航行\nD. 关闭雷达以免干扰", 0, Exact},
		// the five disguises
		{"options shuffled", fogStem + "\nA. 关闭雷达以免干扰\nB. 改用自动舵航行\nC. 通知机舱备车并减速\nD. 打开全部甲板照明", 0, Shuffled},
		{"traditional characters", "在能見度不良的水域中航行，船長首先應當______。\nA. 通知機艙備車並減速\nB. 打開全部甲板照明\nC. 改用自動舵航行\nD. 關閉雷達以免干擾", 0, Exact},
		{"full-width letters", "Ｗｈｉｃｈ　ｏｆ　ｔｈｅ　ｆｏｌｌｏｗｉｎｇ　ｉｓ　ｎｏｔ　ｃａｒｒｉｅｄ　ｉｎ　ａ　ｓｕｒｖｉｖａｌ　ｃｒａｆｔ？\nＡ．Ａ　ｂａｉｌｅｒ　ａｎｄ　ｔｗｏ　ｓｐｏｎｇｅｓ\nＢ．Ａ　ｒａｉｎｐｒｏｏｆ　ｗｈｉｓｔｌｅ\nＣ．Ａ　ｓｐａｒｅ　ｐｒｏｐｅｌｌｅｒ　ｓｈａｆｔ\nＤ．Ａ　ｄａｙｌｉｇｈｔ　ｓｉｇｎａｌｌｉｎｇ　ｍｉｒｒｏｒ", 5, Exact},
		{"roman for circled numbers", "舵机失灵后，关于应急操舵的说法，正确的是______。Ⅰ先通知驾驶台Ⅱ由舵机室就地操纵Ⅲ必须抛下双锚Ⅳ保持通信畅通\nA. ⅠⅡⅣ\nB. ⅠⅢⅣ\nC. ⅡⅢⅣ\nD. ⅠⅡⅢ", 1, StemOnly},
		{"wrapped lines", "在能见度不良\n的水域中航行，\n船长首先应当\n______。 A. 通\n知机舱备车并减\n速 B. 打开全部\n甲板照明 C. 改\n用自动舵航行 \nD. 关闭雷达以\n免干扰", 0, Exact},
		// more
		{"spaced characters", strings.Join(strings.Split("锅炉给水中溶解氧含量过高会加剧炉管的点状腐蚀炉膛的积灰蒸汽的过热燃油的雾化不良", ""), " "), 7, Exact},
		{"markup", "<p>下列哪一项<b>不属于</b>消防演习的内容&#xff1f;</p><ol><li>检查水密门的关闭</li><li>穿戴消防员装备</li><li>启动应急消防泵</li><li>丈量货舱容积</li></ol>", 3, Exact},
		{"statements in another order", "舵机失灵后，关于应急操舵的说法，正确的是______。①保持通信畅通②必须抛下双锚③由舵机室就地操纵④先通知驾驶台\nA. ①③④\nB. ①②④", 1, Shuffled},
		{"stem alone", fogStem, 0, StemOnly},
		{"blank filled", "在能见度不良的水域中航行，船长首先应当通知机舱备车并减速。", 0, Near},
		{"one option replaced", fogStem + "\nA. 通知机舱备车并减速\nB. 打开全部甲板照明\nC. 唤醒全体乘客用餐\nD. 关闭雷达以免干扰", 0, Near},
		{"a few wrong characters", "在能见度不良的水城中肮行，船长首先应当______。\nA. 通知机舱各车并减速\nB. 打开全部甲极照明\nC. 改用自动舵航行\nD. 关闭雷达以免干扰", 0, Near},
		{"another number", "船长180 m的货船锚泊时，夜间至少应显示______盏白色环照灯。\nA. 1\nB. 2\nC. 3", 2, NumericVariant},
		{"other numbers to choose", "压载水置换应在距最近陆地至少200 n mile、水深至少______m的水域进行。\nA. 75\nB. 310\nC. 820\nD. 940", 6, NumericVariant},
		{"negation dropped", "下列哪一项属于消防演习的内容？\nA. 检查水密门的关闭\nB. 穿戴消防员装备\nC. 启动应急消防泵\nD. 丈量货舱容积", 3, PolarityVariant},
		{"negation dropped, English", "Which of the following is carried in a survival craft?\nA. A bailer and two sponges\nB. A rainproof whistle\nC. A spare propeller shaft\nD. A daylight signalling mirror", 5, PolarityVariant},
		{"condition dropped", "压载水置换应在距最近陆地、水深至少______m的水域进行。\nA. 50\nB. 100\nC. 200\nD. 500", 6, Variant},
		{"quoted in a rule", "Rule 19. Conduct of vessels in poor sight. Every vessel shall keep a proper watch and be ready to stop. A vessel in the lane shall show her lights. In restricted visibility a vessel that hears a fog signal forward of her beam shall reduce her speed to the minimum at which she can be kept on her course. She shall then navigate with great care until the danger of collision is over, and sound the prescribed signal at short intervals while she is stopped and making no way through the water.", 4, SourceOverlap},
		{"options under another stem", "雨季出海捕捞时，渔民通常最担心什么？\nA. the minimum at which she can be kept on her course\nB. half of her full manoeuvring speed\nC. the speed of the slowest vessel nearby\nD. ten knots at the most", 4, OptionsOnly},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, err := s.Row(row(c.text))
			if err != nil {
				t.Fatal(err)
			}
			got := verdict(found, c.item)
			if got != c.want {
				t.Errorf("verdict %q, want %q; all: %+v", got, c.want, found)
			}
			for _, f := range found {
				if want := f.Verdict == Exact || f.Verdict == Near || f.Verdict == Shuffled || f.Verdict == StemOnly; f.Fail != want {
					t.Errorf("%s: fail %v", f.Verdict, f.Fail)
				}
				if f.Item.Index != c.item && f.Fail {
					t.Errorf("item %d is named, too", f.Item.Index)
				}
			}
		})
	}
}

func TestClean(t *testing.T) {
	t.Parallel()
	s := testIndex(t).Scanner()
	for _, text := range []string{
		"", "能见度", "下列说法正确的是______。\nA. 对\nB. 错", "Which of the following is correct?\nA. 1\nB. 2\nC. 3",
		"船长每天早上在甲板上散步，然后去驾驶台查看海图，最后和大副讨论当天的货物装卸计划。",
		"The master walked along the deck every morning and looked at the chart before he spoke with the mate about the cargo.",
		"下列哪一项属于船员的权利？\nA. 休假\nB. 工资\nC. 医疗",
	} {
		found, err := s.Row(row(text))
		if err != nil || len(found) > 0 {
			t.Errorf("%q: %+v, %v", text, found, err)
		}
	}
}

// Where the parts of an item stand does not matter: one field, many, several
// turns, our own question rows.
func TestShapes(t *testing.T) {
	t.Parallel()
	s := testIndex(t).Scanner()
	for _, c := range []struct{ name, row, pointer string }{
		{"columns", `{"id":7,"question":"锅炉给水中溶解氧含量过高会加剧______。","A":"炉管的点状腐蚀","B":"炉膛的积灰","C":"蒸汽的过热","D":"燃油的雾化不良","answer":"A"}`, "/question"},
		{"option list", `{"id":"7","stem":"锅炉给水中溶解氧含量过高会加剧______。","options":[{"label":"A","text":"炉管的点状腐蚀"},{"label":"B","text":"炉膛的积灰"},{"label":"C","text":"蒸汽的过热"},{"label":"D","text":"燃油的雾化不良"}]}`, "/stem"},
		{"prompt and options in one", `{"id":"7","messages":[{"role":"system","content":"你是船员。"},{"role":"user","content":"锅炉给水中溶解氧含量过高会加剧______。\nA. 炉管的点状腐蚀\nB. 炉膛的积灰\nC. 蒸汽的过热\nD. 燃油的雾化不良"},{"role":"assistant","content":"[A]"}]}`, "/messages/1/content"},
		{"two turns", `{"id":"7","conversations":[{"from":"human","value":"锅炉给水中溶解氧含量过高会加剧______。"},{"from":"gpt","value":"选项是？"},{"from":"human","value":"A. 炉管的点状腐蚀\nB. 炉膛的积灰\nC. 蒸汽的过热\nD. 燃油的雾化不良"}]}`, "/conversations/0/value"},
		{"content parts", `{"id":"7","messages":[{"role":"user","content":[{"type":"text","text":"锅炉给水中溶解氧含量过高会加剧______。"},{"type":"text","text":"A. 炉管的点状腐蚀 B. 炉膛的积灰 C. 蒸汽的过热 D. 燃油的雾化不良"}]}]}`, "/messages/0/content/0/text"},
		{"escapes", `{"id":"7","a/b":{"~":"\u9505\u7089\u7ed9\u6c34\u4e2d\u6eb6\u89e3\u6c27\u542b\u91cf\u8fc7\u9ad8\u4f1a\u52a0\u5267___\nA. \u7089\u7ba1\u7684\u70b9\u72b6\u8150\u8680\nB. \u7089\u819b\u7684\u79ef\u7070 C. \u84b8\u6c7d\u7684\u8fc7\u70ed D. 燃油的雾化不良"}}`, "/a~1b/~0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, err := s.Row([]byte(c.row))
			if err != nil {
				t.Fatal(err)
			}
			if verdict(found, 7) != Exact {
				t.Fatalf("want exact: %+v", found)
			}
			if f := found[0]; f.Record.ID != "7" || f.Record.Pointer != c.pointer || f.Score != 1 {
				t.Errorf("got %+v", f)
			}
		})
	}
}

// Spans are characters of the field as it stands, whatever was folded away.
func TestSpans(t *testing.T) {
	t.Parallel()
	s := testIndex(t).Scanner()
	text := "🚢 第 3 题：鍋 爐 給 水 中 溶 解 氧 含 量 過 高 會 加 劇（ ）。 谢谢"
	found, err := s.Row(row(text))
	if err != nil || len(found) != 1 {
		t.Fatalf("%+v, %v", found, err)
	}
	var got []string
	for _, sp := range found[0].Spans {
		got = append(got, string([]rune(text)[sp.Start:sp.End]))
	}
	if d := cmp.Diff([]string{"鍋 爐 給 水 中 溶 解 氧 含 量 過 高 會 加 劇"}, got); d != "" {
		t.Error(d)
	}
}

func TestFindingRow(t *testing.T) {
	t.Parallel()
	ix := testIndex(t)
	found, err := ix.Scanner().Row(row(fogStem))
	if err != nil || len(found) != 1 {
		t.Fatalf("%+v, %v", found, err)
	}
	f := found[0]
	f.Record.File, f.Record.Line = "train.jsonl", 7
	want := `{"schema":"drydock.contam/1","record":{"id":"r1","file":"train.jsonl","line":7,"pointer":"/text"},` +
		`"item":{"benchmark":"harbour_quiz","index":0},"verdict":"stem_only","fail":true,"score":1,` +
		`"components":{"stem":1,"options":0,"statements":null},"spans":[{"start":0,"end":19}],"alignment":[{"op":"equal","data":[0,19],"item":[0,19]}],"run":18,"answer":null,"rule":"stem",` +
		`"config":"` + ix.ConfigHash() + `"}` + "\n"
	if d := cmp.Diff(want, string(f.Append(nil))); d != "" {
		t.Error(d)
	}
}

func TestAnswerIsRecorded(t *testing.T) {
	t.Parallel()
	s := testIndex(t).Scanner()
	q := testQuestion(7)
	q.Answer = []string{"C"} // a wrong key hides nothing
	found := s.Record(&drydock.Record{RowID: "q7", Question: &q})
	if verdict(found, 7) != Exact || found[0].Answer != "C" || found[0].Record.ID != "q7" {
		t.Errorf("%+v", found)
	}
	for text, want := range map[string]string{
		"\n答案：B": "B", "\nAnswer: (D)": "D", "\n【答案】A": "A", "\n[C]": "C", "": "",
	} {
		found, err := s.Row(row(render(7) + text))
		if err != nil || len(found) != 1 || found[0].Answer != want {
			t.Errorf("%q: %+v, %v", text, found, err)
		}
	}
}

// render prints an item as question banks do.
func render(i int) string {
	var b strings.Builder
	b.WriteString(testItems[i].stem)
	for k, o := range testItems[i].options {
		fmt.Fprintf(&b, "\n%c. %s", 'A'+k, o)
	}
	return b.String()
}

// A row made with the benchmark's own prompt shows the prompt's example, which
// is no leak; the item it asks about is.
func TestPromptExampleIsAllowed(t *testing.T) {
	t.Parallel()
	items := testSet()
	example := promptExample(t)
	items = append(items, example)
	ix, err := NewIndex(items, testRef, Config{})
	if err != nil {
		t.Fatal(err)
	}
	s := ix.Scanner()
	q := testQuestion(7)
	prompt := promptText(t, &q)
	found, err := s.Row(row(prompt))
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || found[0].Item.Index != 7 || found[0].Verdict != Exact {
		t.Errorf("want item 7 alone: %+v", found)
	}
	// outside the prompt the example is an item like any other
	bare := example.Question.Stem
	for _, o := range example.Question.Options {
		bare += "\n" + o.Label + ". " + o.Text
	}
	if found, err = s.Row(row(bare)); err != nil || len(found) != 1 || !found[0].Fail {
		t.Errorf("the example by itself: %+v, %v", found, err)
	}
}

func TestBlind(t *testing.T) {
	t.Parallel()
	if b := testIndex(t).Blind(); len(b) > 0 {
		t.Errorf("blind to %v", b)
	}
	items := testSet()
	items[3].Question.Stem, items[3].Question.Options = "？", []drydock.Option{{Label: "A", Text: "是"}, {Label: "B", Text: "否"}}
	ix, err := NewIndex(items, testRef, Config{})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]ItemRef{{"harbour_quiz", 3}}, ix.Blind()); d != "" {
		t.Errorf("an item without words must be named blind:\n%s", d)
	}
}
