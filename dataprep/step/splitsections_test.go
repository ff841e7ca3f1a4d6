package step_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/step"
	"github.com/drydock-ml/drydock/dataprep/step/steptest"
	"github.com/drydock-ml/drydock/internal/meter"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// outline shows passages as heading path, place and text.
func outline(records []*drydock.Record) []string {
	var out []string
	for _, r := range records {
		out = append(out, fmt.Sprintf("%s [%s] %s", strings.Join(r.Passage.Heading, " / "), r.Origin.At, strings.ReplaceAll(r.Passage.Text, "\n", " ¶ ")))
	}
	return out
}

const long = "在任何能见度情况下，每一船舶在任何时候都应以安全航速行驶，以便能采取适当而有效的避碰行动，" // 41 wide characters

func TestSplitSections(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		blocks []any
		want   []string
	}{
		{
			"chinese law", steptest.Lines("第一章 总则\n第一条 为了加强管理，制定本法。\n本条适用。\n第二条 一般定义\n" + long + "\n并能在适合当时环境的距离以内停住。\n\n第二章 附则\n第三条规定的船舶应当登记。"),
			[]string{
				"第一章 总则 / 第一条 [l2] 第一条 为了加强管理，制定本法。 ¶ 本条适用。",
				"第一章 总则 / 第二条 一般定义 [l5] " + long + "并能在适合当时环境的距离以内停住。",
				"第二章 附则 [l9] 第三条规定的船舶应当登记。",
			},
		},
		{
			"english rules", steptest.Lines("Part B\nRule 5 Look-out\nEvery vessel shall at all times maintain a proper look-out by sight and naviga-\ntion lights as well as by all available means.\nRule 6 applies to all vessels at any time and in any visibility.\nRule 7 - Risk of Collision\n(a) Every vessel\n(b) Proper use"),
			[]string{
				"Part B / Rule 5 Look-out [l3] Every vessel shall at all times maintain a proper look-out by sight and navigation lights as well as by all available means. ¶ Rule 6 applies to all vessels at any time and in any visibility.",
				"Part B / Rule 7 - Risk of Collision [l7] (a) Every vessel ¶ (b) Proper use",
			},
		},
		{
			"numbered headings", steptest.Lines("第一章 航海仪器\n1.1 磁罗经\n磁罗经由罗盆和罗经柜组成。\n1.1.1 自差\n" + long + "\n1.5 海里以内\n1.2 陀螺罗经\n指北力矩。\n2.1 Radar\nRange."),
			[]string{
				"第一章 航海仪器 / 1.1 磁罗经 [l3] 磁罗经由罗盆和罗经柜组成。",
				"第一章 航海仪器 / 1.1 磁罗经 / 1.1.1 自差 [l5] " + long + " ¶ 1.5 海里以内",
				"第一章 航海仪器 / 1.2 陀螺罗经 [l8] 指北力矩。",
				"第一章 航海仪器 / 2.1 Radar [l10] Range.",
			},
		},
		{
			"lists", steptest.Lines(long + "\n1.2. 号灯？1.2 海里以内\n1.3. 号型\n" + long + "\n1.5海里以内应当减速。"),
			[]string{" [l1] " + long + " ¶ 1.2. 号灯？1.2 海里以内 ¶ 1.3. 号型 ¶ " + long + "1.5海里以内应当减速。"},
		},
		{
			"marked headings",
			[]any{
				drydock.Block{Text: "航海学", Level: 1, At: drydock.Locator{Para: 1}},
				drydock.Block{Text: "海图", Level: 2, At: drydock.Locator{Para: 2}},
				drydock.Block{Text: "墨卡托投影", At: drydock.Locator{Para: 3}},
				drydock.Block{Text: "等角投影", At: drydock.Locator{Para: 4}},
				drydock.Block{Cells: []string{"比例尺", "", "用途"}, At: drydock.Locator{Para: 5}},
				drydock.Block{Text: "潮汐", Level: 2, At: drydock.Locator{Para: 6}},
				drydock.Block{Text: "第3条 大潮", At: drydock.Locator{Para: 7}},
				drydock.Block{Text: "朔望", At: drydock.Locator{Para: 8}},
			},
			[]string{
				"航海学 / 海图 [para3] 墨卡托投影 ¶ 等角投影 ¶ 比例尺 | 用途",
				"航海学 / 潮汐 / 第3条 大潮 [para8] 朔望",
			},
		},
		{
			"headings without text are not lost", steptest.Lines("第一章 总则\n第二章 驾驶\n第三章 号灯\n\n第一章 总则\n正文在此处开始，内容完整。"),
			[]string{
				" [l1] 第一章 总则 ¶ 第二章 驾驶 ¶ 第三章 号灯",
				"第一章 总则 [l6] 正文在此处开始，内容完整。",
			},
		},
		{
			"page numbers",
			[]any{
				drydock.Block{Text: long, At: drydock.Locator{Page: 1, Line: 1}},
				drydock.Block{Text: "- 1 -", At: drydock.Locator{Page: 1, Line: 2}},
				drydock.Block{Text: "第 2 页 共 9 页", At: drydock.Locator{Page: 2, Line: 1}},
				drydock.Block{Text: "续行。", At: drydock.Locator{Page: 2, Line: 2}},
				drydock.Block{Text: "27", At: drydock.Locator{Page: 2, Line: 3}},
				drydock.Block{Text: "米为一节。", At: drydock.Locator{Page: 2, Line: 4}},
			},
			[]string{" [p1 l1] " + long + "续行。 ¶ 27 ¶ 米为一节。"},
		},
		{
			"json rows",
			[]any{
				drydock.Block{Raw: []byte(`{"title":"T","text":"正文一"}`), At: drydock.Locator{Line: 1}},
				drydock.Block{Raw: []byte(`"only text"`), At: drydock.Locator{Line: 2}},
				drydock.Block{Raw: []byte(`{"a":1}`), At: drydock.Locator{Line: 3}},
			},
			[]string{"T [l1] 正文一", " [l2] only text", "drop no_text [l3]"},
		},
		{"nothing", steptest.Lines(""), nil},
		{"only white space", steptest.Lines(" \n　\n\t"), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := build(t, step.Parsers(), "split_sections", "")
			records, drops, err := steptest.Parse(t, p, steptest.Document("a.txt", c.blocks...))
			got := outline(records)
			for _, d := range drops {
				got = append(got, fmt.Sprintf("drop %s [%s]", d.Reason, d.Record.Origin.At))
			}
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestSplitSectionsErrors(t *testing.T) {
	t.Parallel()
	p := build(t, step.Parsers(), "split_sections", "")
	boom := errors.New("disk gone")
	records, drops, err := steptest.Parse(t, p, steptest.Document("a.txt",
		drydock.Block{Text: "第一段文字。", At: drydock.Locator{Line: 1}},
		&drydock.Drop{Reason: "bad_row"},
		drydock.Block{Text: "第二段文字。", At: drydock.Locator{Line: 2}},
		boom,
	))
	if len(drops) != 1 || !errors.Is(err, boom) || len(records) != 0 {
		t.Errorf("%v, %v, %v", records, drops, err)
	}
}

// Cutting keeps every character that is no white space, keeps to the limit, and
// gives every passage its own id.
func TestSplitSectionsLosesNothing(t *testing.T) {
	t.Parallel()
	p := build(t, step.Parsers(), "split_sections", "max_runes: 50")
	word := rapid.SampledFrom([]string{"船舶", "应当。", "word ", "end. ", "，", "\n", "\n\n", "第一条", "第二章 总则\n", "Rule 5\n", "一、甲\n", strings.Repeat("长", 60), "12", "（一）", "　　"})
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOf(word).Draw(rt, "words"), "")
		records, _, err := steptest.Parse(t, p, steptest.Document("a.txt", steptest.Lines(text)...))
		if err != nil {
			rt.Fatal(err)
		}
		letters := func(s string) string {
			return strings.Map(func(r rune) rune {
				if unicode.IsSpace(r) {
					return -1
				}
				return r
			}, s)
		}
		var all strings.Builder
		for _, r := range records {
			if n := len([]rune(r.Passage.Text)); n > 50 || n == 0 {
				rt.Fatalf("a passage of %d characters: %q", n, r.Passage.Text)
			}
			all.WriteString(r.Passage.Text)
			for _, h := range r.Passage.Heading {
				all.WriteString(h)
			}
		}
		for _, r := range letters(text) {
			if !strings.ContainsRune(all.String(), r) {
				rt.Fatalf("%q is lost from %q", r, text)
			}
		}
		if strings.Count(letters(text), "应") != strings.Count(all.String(), "应") || strings.Count(letters(text), "长") != strings.Count(all.String(), "长") {
			rt.Fatalf("words were lost or doubled: %q → %q", text, all.String())
		}
	})
}

func BenchmarkSplitSections(b *testing.B) {
	p := build(b, step.Parsers(), "split_sections", "")
	text := strings.Repeat("第一条 总则\n"+long+"\n并能在适合当时环境的距离以内停住。\n\n", 500)
	doc := steptest.Document("a.txt", steptest.Lines(text)...)
	defer meter.CPU(b, len(text))()
	for b.Loop() {
		for _, err := range p.Parse(b.Context(), doc) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

func FuzzSplitSections(f *testing.F) {
	for _, s := range []string{"第一条 总则\n船舶。", "1.1 罗经\n1.2\u00a0\xff\n", "Rule 5\n(a) x-\ny", "第之条", "一、\n", "{\"text\": 1}", strings.Repeat("长", 200), strings.Repeat("0", 49) + "\xbf0"} {
		f.Add(s, 3)
	}
	p := build(f, step.Parsers(), "split_sections", "max_runes: 50")
	f.Fuzz(func(t *testing.T, text string, page int) {
		blocks := steptest.Lines(text)
		for i := range blocks {
			b := blocks[i].(drydock.Block)
			if page > 0 { // as a PDF gives it
				b.At.Page = 1 + i/page
			}
			if strings.HasPrefix(b.Text, "{") {
				b = drydock.Block{Raw: []byte(b.Text), At: b.At}
			}
			blocks[i] = b
		}
		records, _, err := steptest.Parse(t, p, steptest.Document("a.txt", blocks...))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			if n := len([]rune(r.Passage.Text)); n == 0 || n > 50 {
				t.Fatalf("a passage of %d characters", n)
			}
		}
	})
}
