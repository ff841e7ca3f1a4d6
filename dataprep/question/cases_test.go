package question_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/question"
)

func TestThreeKinds(t *testing.T) {
	t.Parallel()
	got := parse(t, text(`一、单选题
1、船舶夜间右舷灯颜色为（  ）
A.红 B.绿 C.白 D.黄
答案：B
2、以下属于遇险频道的是：
A、16 B、72 C、6
答案：A

二、多选题
1、救生衣应配备（   ）。
A、哨笛　B、救生衣灯　C、反光带　D、信号枪
答案：A、B、C
2、影响制动距离的因素
A 排水量 B 初速 C 主机类型 D 船名
答案：ABC

三、判断题
1、船舶可以不备海图出航。（ × ）
2、雾航时应使用安全航速。
答案：对
3、弃船令由船长下达。（√）
4、Distress flares may be used for signalling at parties. (F)

四、填空题
1、国际信号旗“A”表示水下有______。
答案：潜水员`))
	want := []string{
		"single|船舶夜间右舷灯颜色为（  ）|A=红;B=绿;C=白;D=黄|B",
		"single|以下属于遇险频道的是：|A=16;B=72;C=6|A",
		"multiple|救生衣应配备（   ）。|A=哨笛;B=救生衣灯;C=反光带;D=信号枪|A,B,C",
		"multiple|影响制动距离的因素|A=排水量;B=初速;C=主机类型;D=船名|A,B,C",
		"judge|船舶可以不备海图出航。||false",
		"judge|雾航时应使用安全航速。||true",
		"judge|弃船令由船长下达。||true",
		"judge|Distress flares may be used for signalling at parties.||false",
		"blank|国际信号旗“A”表示水下有______。||潜水员",
	}
	if d := cmp.Diff(want, shown(got)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestMixedTypes(t *testing.T) {
	t.Parallel()
	got := parse(t, jsonDocument(t, []byte(`[
 {"id": 1, "题目": "1节等于每小时多少海里？", "A": "1", "B": "2", "C": "3", "D": "4", "答案": "A"},
 {"id": "2a", "题目": "一海里约多少米？", "A": 1609, "B": 1852, "C": 2000, "D": 1000, "答案": "B"},
 {"id": "Nan", "题目": "满舵角通常为？", "A": "15°", "B": "25°", "C": "35°", "D": null, "答案": 3},
 {"id": null, "题目": "船长L的计量单位", "A": "米", "B": "海里", "C": true, "D": "节", "答案": ["A"]}]`)))
	want := []string{
		"single|1节等于每小时多少海里？|A=1;B=2;C=3;D=4|A",
		"single|一海里约多少米？|A=1609;B=1852;C=2000;D=1000|B",
		"single|满舵角通常为？|A=15°;B=25°;C=35°|C",
		"single|船长L的计量单位|A=米;B=海里;C=true;D=节|A",
	}
	if d := cmp.Diff(want, shown(got)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	var ids, notes []string
	for _, r := range got.records {
		ids = append(ids, r.RowID)
	}
	for _, n := range got.notes {
		notes = append(notes, n.Code)
	}
	if d := cmp.Diff([]string{"1", "2a", "Nan", ""}, ids); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"answer_by_index", "option_not_text"}, notes); d != "" {
		t.Error(d)
	}
}

// A container that restores list numbers may print them twice.
func TestNumbersTwice(t *testing.T) {
	t.Parallel()
	got := parse(t, text("1. 1. 缆桩的用途是\nA. A. 系缆\nB. B. 测深\nC. C. 瞭望\n答案：A\n2. 导缆孔的用途是\nA. 导引缆绳\nB. 排水\nC. 通风\n答案：A\n3. 3级风下，下列正确的是\nA. 2.5米浪高\nB. 海面平静\n答案：B"))
	want := []string{
		"single|缆桩的用途是|A=系缆;B=测深;C=瞭望|A",
		"single|导缆孔的用途是|A=导引缆绳;B=排水;C=通风|A",
		"single|3级风下，下列正确的是|A=2.5米浪高;B=海面平静|B",
	}
	if d := cmp.Diff(want, shown(got)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestKeyInSecondFile(t *testing.T) {
	t.Parallel()
	doc := text("1. 甲\nA. 红\nB. 绿\n2. 乙\nA. 红\nB. 绿\n3. 丙\nA. 红\nB. 绿")
	doc.Key = text("参考答案\n1-3 BAB")
	got := parse(t, doc)
	want := []string{"single|甲|A=红;B=绿|B", "single|乙|A=红;B=绿|A", "single|丙|A=红;B=绿|B"}
	if d := cmp.Diff(want, shown(got)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if at := got.records[0].Origin.Key; at.Line != 2 {
		t.Errorf("key stands at %v", at)
	}
	doc.Key = rowsDocument([][]string{{"题号", "答案"}, {"1", "A"}, {"2", "B"}, {"3", "A"}})
	got = parse(t, doc)
	want = []string{"single|甲|A=红;B=绿|A", "single|乙|A=红;B=绿|B", "single|丙|A=红;B=绿|A"}
	if d := cmp.Diff(want, shown(got)); d != "" {
		t.Errorf("table: (-want +got)\n%s", d)
	}
}

// A reader may stop at any record.
func TestStopAnywhere(t *testing.T) {
	t.Parallel()
	docs := []*drydock.Document{text(twoSections + "第1条 1-2、BA\n第2条 1-2、BAB"), text("1. 甲\nA. 红\nB. 绿")}
	docs[1].Key = rowsDocument([][]string{{"题号", "答案"}, {"1", "A"}, {"7", "B"}})
	for _, c := range textShapes {
		docs = append(docs, text(c.in))
	}
	for _, c := range rowShapes {
		if c.rows != nil {
			docs = append(docs, rowsDocument(append(c.rows, []string{"1. 甲"}, []string{"尾"})))
		}
	}
	for _, doc := range docs {
		for stop := 1; stop < 9; stop++ {
			n := 0
			for range question.New(question.Options{}).Parse(t.Context(), doc) {
				if n++; n == stop {
					break
				}
			}
		}
	}
}

// What stands around a key in its own file does not spoil it.
func TestKeyFileWithProse(t *testing.T) {
	t.Parallel()
	doc := text("1. 甲\nA. 红\nB. 绿\n2. 乙\nA. 红\nB. 绿")
	doc.Key = text("本答案仅供参考，若有错误，请以教材为准，谢谢！\n参考答案\n1-2 BA\n以上答案由教研室提供，未经许可不得转载。")
	got := parse(t, doc)
	want := []string{"single|甲|A=红;B=绿|B", "single|乙|A=红;B=绿|A", "drop unparsed_text"}
	if d := cmp.Diff(want, shown(got)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// A document may lay out the options of an item as a table.
func TestOptionsInATable(t *testing.T) {
	t.Parallel()
	for _, rows := range [][][]string{
		{{"A", "应当鸣放一长声"}, {"B", "应当鸣放两短声"}, {"C", "不必鸣放声号"}},
		{{"A. 应当鸣放一长声", "B. 应当鸣放两短声"}, {"C. 不必鸣放声号", ""}},
	} {
		blocks := []drydock.Block{{Text: "1. 雾中航行时"}}
		for _, r := range rows {
			blocks = append(blocks, drydock.Block{Cells: r})
		}
		blocks = append(blocks, drydock.Block{Text: "答案：B"})
		got := parse(t, document(blocks))
		want := []string{"single|雾中航行时|A=应当鸣放一长声;B=应当鸣放两短声;C=不必鸣放声号|B"}
		if d := cmp.Diff(want, shown(got)); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
	}
}

// A table of answers at the end of a document of lines.
func TestKeyTableInDocument(t *testing.T) {
	t.Parallel()
	var blocks []drydock.Block
	for i, l := range strings.Split("1. 甲\nA. 红\nB. 绿\n2. 乙\nA. 红\nB. 绿\n参考答案", "\n") {
		blocks = append(blocks, drydock.Block{Text: l, At: drydock.Locator{Para: i + 1}})
	}
	for _, rows := range [][][]string{
		{{"题号", "1", "2"}, {"答案", "B", "A"}},
		{{"题号", "答案", "题号", "答案"}, {"1", "B", "2", "A"}},
	} {
		all := blocks[:len(blocks):len(blocks)]
		for _, r := range rows {
			all = append(all, drydock.Block{Cells: r})
		}
		got := parse(t, document(all))
		if d := cmp.Diff([]string{"single|甲|A=红;B=绿|B", "single|乙|A=红;B=绿|A"}, shown(got)); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
	}
}

const twoSections = "第1章 题集\n第一条 范围\n1. 甲\nA. 红\nB. 绿\n2. 乙\nA. 红\nB. 绿\n第二条 定义\n1. 丙\nA. 红\nB. 绿\n2. 丁\nA. 红\nB. 绿\n3. 戊\nA. 红\nB. 绿\n习题集答案\n"

// Where the counts differ nothing is guessed, and only the part concerned is
// marked.
func TestKeyCounts(t *testing.T) {
	t.Parallel()
	first := []string{"single|甲|A=红;B=绿|B", "single|乙|A=红;B=绿|A"}
	bad := []string{"drop key_count_mismatch", "drop key_count_mismatch", "drop key_count_mismatch", "drop key_unused"}
	for _, c := range []struct {
		name, key string
		want      []string
	}{
		{"equal", "第1条 1-2、BA\n第2条 1-3、BAB", append(first[:2:2], "single|丙|A=红;B=绿|B", "single|丁|A=红;B=绿|A", "single|戊|A=红;B=绿|B")},
		{"a letter short", "第1条 1-2、BA\n第2条 1-3、BA", append(first[:2:2], bad...)},
		{"a letter more", "第1条 1-2、BA\n第2条 1-3、BABA", append(first[:2:2], bad...)},
		{"a question short at the end", "第1条 1-2、BA\n第2条 1-4、BABA", append(first[:2:2], bad...)},
		{"a row missing at the end", "第1条 1-2、BA\n第2条 1-2、BA", append(first[:2:2], bad...)},
		{"a row missing inside", "第1条 1-2、BA\n第2条 1、B 3、A", append(first[:2:2], "single|丙|A=红;B=绿|B", "single|戊|A=红;B=绿|A", "drop key_count_mismatch", "drop key_unused")},
		{"one row broken, others whole", "第1条 1-2、BA\n第2条 1-2、B 3、A", append(first[:2:2], "single|戊|A=红;B=绿|A", "drop key_count_mismatch", "drop key_count_mismatch", "drop key_unused")},
		{"wrapped row", "第1条 1-2、\nBA\n第2条 1-2、BA\n3、B", append(first[:2:2], "single|丙|A=红;B=绿|B", "single|丁|A=红;B=绿|A", "single|戊|A=红;B=绿|B")},
		{"a key for nothing", "第1条 1-2、BA\n第2条 1-3、BAB\n第9条 1-2、AA", append(first[:2:2], "single|丙|A=红;B=绿|B", "single|丁|A=红;B=绿|A", "single|戊|A=红;B=绿|B", "drop key_unused")},
		{"no labels, numbers restart", "1-2、BA\n1-3、BAB", append(first[:2:2], "single|丙|A=红;B=绿|B", "single|丁|A=红;B=绿|A", "single|戊|A=红;B=绿|B")},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			wantShown(t, text(twoSections+c.key), c.want)
		})
	}
}

func TestKeyForms(t *testing.T) {
	t.Parallel()
	const bank = "一、单选题\n1. 甲\nA. 红\nB. 绿\n2. 乙\nA. 红\nB. 绿\n二、多选题\n1. 丙\nA. 红\nB. 绿\n三、判断题\n1. 丁。\n2. 戊。\n四、填空题\n1. 灯为____色。\n"
	want := []string{"single|甲|A=红;B=绿|B", "single|乙|A=红;B=绿|A", "multiple|丙|A=红;B=绿|A,B", "judge|丁。||true", "judge|戊。||false", "blank|灯为____色。||白"}
	for _, c := range []struct{ name, key string }{
		{"labels before the rows", "参考答案\n一、单选题：1-2 BA\n二、多选题：1. AB\n三、判断题：1-2 √×\n四、填空题\n1. 白"},
		{"labels over the rows", "参考答案\n一、单选题\n1.B 2.A\n二、多选题\n1.AB\n三、判断题\n1. √ 2. ×\n四、填空题\n1. 白"},
		{"with explanations", "答案与解析\n一、单选题\n1.【答案】B\n【解析】见规则。\n2. A 解析：见规则\n第二条。\n二、多选题\n1.【答案】AB 【解析】都是。\n三、判断题\n1. 对\n2. 错\n四、填空题\n1. 白"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			wantShown(t, text(bank+c.key), want)
		})
	}
}

func TestStatements(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		want []string
	}{
		{"1. 系泊时带：①艏缆②艉缆③横缆\nA. ①②\nB. ①③\n答案：A", []string{"艏缆", "艉缆", "横缆"}},
		{"1. 说法正确的是：Ⅰ.可以；Ⅱ.不可以\nA. Ⅰ\nB. Ⅱ\n答案：A", []string{"可以", "不可以"}},
		{"1. 说法正确的是：I、可以；II、不可以；III应当\nA. I、II\nB. II、III\n答案：A", []string{"可以", "不可以", "应当"}},
		{"5. 下列正确的是：\n1. 可以\n2. 不可以\n3. 应当\nA. 1和2\nB. 2和3\n答案：A\n6. 灯色为\nA. 红\nB. 绿\n答案：A", nil},
		{"1. I. The vessel shall stop.\nII. The vessel may stop.\nWhich is true?\nA. I only\nB. II only\n答案：A", []string{"The vessel shall stop", "The vessel may stop"}},
		{"1. VHF 与 I、II 类航区有关的是\nA. 红\nB. 绿\n答案：A", nil},
	} {
		got := parse(t, text(c.in))
		if len(got.records) == 0 || len(got.drops) > 0 {
			t.Errorf("%q: drops %v", c.in, got.drops)
			continue
		}
		q := got.records[0].Question
		if d := cmp.Diff(c.want, q.Statements); d != "" {
			t.Errorf("%q: %s", c.in, d)
		}
		if len(q.Options) != 2 {
			t.Errorf("%q: options %v", c.in, q.Options)
		}
	}
}

func TestFigures(t *testing.T) {
	t.Parallel()
	for stem, want := range map[string]bool{
		"如图所示，灯色为": true, "（见图3-2）灯色为": true, "What does the light in the diagram show? See illustration D032RR": true,
		"海图作业时应": false, "图书馆": false, "灯色为": false,
	} {
		got := parse(t, text("1. "+stem+"\nA. 红\nB. 绿\n答案：A"))
		if len(got.records) != 1 || got.records[0].Question.NeedsFigure != want {
			t.Errorf("%q: %+v", stem, got.records)
		}
	}
}

// Text between the parts of a bank is reported, not lost and not glued to an
// option.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	got := parse(t, text("前言。本题库供培训使用。\n第一章 号灯\n本章各条适用于任何能见度。\n另有规定者除外。\n1. 甲\nA. 红\nB. 绿\n答案：A\n第二章 号型\n1. 乙\nA. 红\nC. 绿\n答案：A\n2. 没有选项的文字\n3. 丙是什么？\n4. 丁\nA. 红\nB. 绿\n答案：E"))
	want := []string{"single|甲|A=红;B=绿|A", "drop unparsed_text", "drop unparsed_text", "drop option_gap", "drop not_a_question", "drop no_answer", "drop answer_outside_options"}
	if d := cmp.Diff(want, shown(got)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if p := got.drops[1].Record; p.Passage.Text != "本章各条适用于任何能见度。\n另有规定者除外。" || p.Origin.At.Line != 3 {
		t.Errorf("%q at %v", p.Passage.Text, p.Origin.At)
	}
	for _, r := range got.records {
		if d := cmp.Diff([]string{"第一章 号灯"}, r.Question.Subject); d != "" {
			t.Error(d)
		}
	}
}

// A running title at the edge of pages is not glued to the option it parts.
func TestRunningTitle(t *testing.T) {
	t.Parallel()
	var blocks []drydock.Block
	for page := 1; page <= 4; page++ {
		for i, l := range []string{"航海题库 第" + string(rune('0'+page)) + "页 内部资料", "续上页的文字", string(rune('0'+page)) + ". 灯色为", "A. 红", "B. 绿", "答案：A", string(rune('0'+page)) + "0. 灯色是", "A. 红", "B. 很长很长"} {
			blocks = append(blocks, drydock.Block{Text: l, At: drydock.Locator{Page: page, Line: i + 1}})
		}
	}
	got := parse(t, document(blocks))
	for _, r := range got.records {
		for _, o := range r.Question.Options {
			if strings.Contains(o.Text, "题库") {
				t.Errorf("%s: %+v", r.Origin.At, r.Question)
			}
		}
	}
}

func TestAccepts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		doc  *drydock.Document
		want bool
	}{
		{"bank", text("1. 甲\nA. 红\nB. 绿\nC. 白\n答案：A\n2. 乙\nA. 红\nB. 绿\nC. 白\n答案：A"), true},
		{"judge", text("判断题\n1. 甲。（√）\n2. 乙。（×）\n3. 丙。（√）"), true},
		{"no numbers", text("左舷灯为\nA. 红\nB. 绿\n答案：A\n\n右舷灯为\nA. 红\nB. 绿\n答案：B"), true},
		{"lists without numbers", text("The following apply:\nA. one\nB. two\nC. three\nThe following do not:\nA. four\nB. five\nC. six"), false},
		{"regulation", text("第一条 适用范围\n1. 本规则适用于一切船舶。\n2. 本规则不妨碍特殊规定。\n第二条 责任\n1. 本规则不免除责任。\n（1）甲；\n（2）乙。"), false},
		{"prose", text("雾航时应使用安全航速。\n船长应当负责。"), false},
		{"english regulation", text("Rule 5\n(a) Every vessel shall keep a look-out.\n(b) Vessels shall proceed at a safe speed.\n(c) Vessels may anchor.\nRule 6\n(a) In all vessels.\n(b) With radar.\n(c) By others."), false},
		{"table", rowsDocument([][]string{{"题目", "A", "B", "答案"}, {"甲", "红", "绿", "A"}}), true},
		{"other table", rowsDocument([][]string{{"港口", "潮高"}, {"上海", "3.2"}, {"大连", "2.1"}}), false},
		{"json", jsonDocument(t, []byte(`{"question":"x","options":["a","b"],"answer":"A"}`)), true},
		{"chat", jsonDocument(t, []byte(`{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"ho"}]}`)), false},
		{"query and response", jsonDocument(t, []byte(`{"query":"x","response":"y"}`)), false},
		{"empty", document(nil), false},
	} {
		got, err := question.Accepts(context.Background(), c.doc)
		if err != nil || got != c.want {
			t.Errorf("%s: %v %v, want %v", c.name, got, err, c.want)
		}
	}
}
