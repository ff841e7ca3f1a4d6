package dedup_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dedup"

	"github.com/google/go-cmp/cmp"
)

func text(s string) *drydock.Record {
	return &drydock.Record{Passage: &drydock.Passage{Text: s}}
}

func chat(turns ...string) *drydock.Record {
	c := &drydock.Chat{}
	for i, t := range turns {
		c.Messages = append(c.Messages, drydock.Message{Role: []string{"user", "assistant"}[i%2], Content: t})
	}
	return &drydock.Record{Chat: c}
}

// relation compares two records and says what became of the second.
func relation(t testing.TB, a, b *drydock.Record) string {
	t.Helper()
	e := dedup.New(dedup.Options{Threshold: dedup.DefaultThreshold, Workers: 1})
	if err := e.Sketch(0)(t.Context(), place(0, a, b)); err != nil {
		t.Fatal(err)
	}
	if err := e.Decide(t.Context()); err != nil {
		t.Fatal(err)
	}
	switch pairs := e.Pairs(); len(pairs) {
	case 0:
		return ""
	case 1:
		return strings.TrimSpace(pairs[0].Reason + " " + pairs[0].Differs)
	default:
		t.Fatalf("%d pairs of two records", len(pairs))
	}
	return ""
}

func TestNearTexts(t *testing.T) {
	t.Parallel()
	long := ""
	for i := range 40 {
		long += fmt.Sprintf("第%d条规定，机动船在航时应当在前部显示一盏桅灯，并在能见距离之内保持正规的瞭望，%d号记录簿应由值班驾驶员填写。", i+1, i*37%101)
	}
	for _, c := range []struct{ a, b, want string }{
		{"", "", "duplicate_exact"},
		{"", "   ", "duplicate_exact"},
		{"是", "是", "duplicate_exact"},
		{"是", "否", ""},
		{"……", "⚓⚓⚓", ""},
		{"⚓⚓⚓⚓⚓⚓⚓⚓⚓⚓", "⚓⚓⚓⚓⚓⚓⚓⚓⚓⚓⚓", ""},
		{"", "……", ""},
		{"船舶在狭水道航行时，应尽量靠近本船右舷的水道或航道外缘行驶。", "船舶在狭水道航行时应尽量靠近本船右舷的水道或航道外缘行驶", "duplicate_exact"},
		{"船舶在狭水道航行时，应尽量靠近本船右舷的水道或航道外缘行驶。", "船舶在狭水道航行时，应尽量靠近本船左舷的水道或航道外缘行驶。", "variant_polarity 右→左"},
		{"船舶在狭水道航行时，应尽量靠近本船右舷的水道或航道外缘行驶。", "船舶在狭水道内航行时，应尽量靠近本船右舷的水道或航道的外缘行驶。", "duplicate_near +内 +的"},
		{"船舶在狭水道航行时，应尽量靠近本船右舷的水道或航道外缘行驶。", "船舶在狭水道航行时，应尽量靠近本船右舷的水道或航遣外缘行驶。", "duplicate_near 道→遣"},
		{"船舶在狭水道航行时，应尽量靠近本船右舷的水道或航道外缘行驶。", "船舶在狭水道航行时，不应尽量靠近本船右舷的水道或航道外缘行驶。", "variant_polarity +不"},
		{"拖轮在狭水道航行时，应尽量靠近本船右舷的水道或航道外缘行驶。", "渔船在狭水道航行时，应尽量靠近本船右舷的水道或航道外缘行驶。", "variant_wording 拖轮→渔船"},
		{"拖轮在狭水道航行时，应尽量靠近本船右舷的水道或航道外缘行驶。", "渔船在狭水道内航行时，应尽量靠近本船右舷的水道或航道的外缘行驶。", "variant_wording 拖轮→渔船"},
		{"判断对称浮力的方法适用于下列的哪些船舶和水域", "判断不对称浮力方法适用于下列哪些船舶和水域", "variant_polarity +不"},
		{"同一航次内的货物应当分别记入货物记录簿并由大副签字。", "不同航次内的货物应当分别记入货物记录簿并由大副签字。", "variant_polarity +不"},
		{"1506号航标位于主航道东侧。", "1507号航标位于主航道东侧。", "variant_number 1506→1507"},
		{"第三类航标位于主航道的最东侧，夜间发光。", "第四类航标位于主航道的最东侧，夜间发光。", "variant_number 三→四"},
		{"第三类航标位于主航道的最东侧，夜间发光。", "第3类航标位于主航道的最东侧，夜间发光。", "duplicate_near 三→3"},
		{"船舶的旋回直径约为5链，应当记入航海日志。", "船舶的旋回直径约为5米，应当记入航海日志。", "variant_unit 链→米"},
		{"船舶的输出功率约为5 mW，应当记入航海日志。", "船舶的输出功率约为5 MW，应当记入航海日志。", "variant_symbol mW→MW"},
		{"A级分隔的船舶舱壁应当能够在一小时内防止烟火通过。", "B级分隔的船舶舱壁应当能够在一小时内防止烟火通过。", "variant_symbol a→b"},
		{"值班船员应当使用VHF电话与附近的船舶及时取得联系。", "值班船员应当使用UHF电话与附近的船舶及时取得联系。", "variant_symbol vhf→uhf"},
		{"大副的职责有哪些", "二副的职责有哪些", "variant_number 大→二"},
		{"大副的职责有哪些", "水手的职责有哪些", ""},
		{"雷达主要的作用有哪些", "雷达主要的优点有哪些", ""},
		{"船长的主要职责有哪些", "船员的主要职责有哪些", "variant_wording 长→员"},
		{"A vessel engaged in fishing shall exhibit two all-round lights in a vertical line.", "A vessel engaged in fishing shall exhibit two all-round lights in vertical line", "duplicate_near -a"},
		{"A vessel engaged in fishing shall exhibit two all-round lights in a vertical line.", "A vessel engaged in fishing shall exhibit three all-round lights in a vertical line.", "variant_polarity two→three"},
		{"A vessel engaged in fishing shall exhibit two all-round lights in a vertical line.", "A vesse1 engaged in fishing shall exhibit two all-round lights in a vertical line.", "variant_number vessel→vesse1"},
		{"A vessel engaged in fishing shall exhibit two all-round lights in a vertical line.", "A vessei engaged in fishing shall exhibit two all-round lights in a vertical line.", "duplicate_near vessel→vessei"},
		{"A vessel engaged in fishing shall exhibit two all-round lights in a vertical line.", "A vessel engaged in fishing shall not exhibit two all-round lights in a vertical line.", "variant_polarity +not"},
		{"A vessel engaged in fishing shall exhibit two all-round lights in a vertical line.", "A vessel engaged in towing shall exhibit two all-round lights in a vertical line.", "variant_wording fishing→towing"},
		{"A vessel engaged in fishing shall exhibit two all-round lights in a vertical line.", "A vessel which is engaged in towing shall exhibit two all-round lights in vertical line.", "variant_wording fishing→towing"},
		{"You should alter course to port when the other vessel crosses.", "You should alter course to starboard when the other vessel crosses.", "variant_polarity port→starboard"},
		{"The range of the light is 5 nautical miles in clear weather.", "The range of the light is 6 nautical miles in clear weather.", "variant_number 5→6"},
		{long, strings.Replace(long, "正规的瞭望", "正规瞭望", 3), "duplicate_near -的 -的 -的"},
		{long, long[:len(long)/2-len(long)/2%3], "contained"},
		{strings.ReplaceAll(long[len(long)/2-len(long)/2%3:], "瞭望", "嘹望"), long, "contained"},
	} {
		got := relation(t, text(c.a), text(c.b))
		if i := strings.IndexByte(c.want, ' '); i < 0 && strings.HasPrefix(got, c.want+" ") && c.want != "" {
			got = c.want
		}
		if got != c.want {
			t.Errorf("%.60s | %.60s: %q, want %q", c.a, c.b, got, c.want)
		}
	}
}

// A chunk of the least length is found wherever it stands in a longer text, which
// of the two comes first.
func TestContained(t *testing.T) {
	t.Parallel()
	w := newWriter(9)
	for _, lang := range []string{"zh", "en"} {
		size, chunk := 900, 60
		write := w.zh
		if lang == "en" {
			size, chunk, write = 2500, 120, w.en
		}
		for i := range 20 {
			whole := []rune(write(size))
			at := w.IntN(len(whole) - chunk)
			part := string(whole[at : at+chunk])
			if got := relation(t, text(string(whole)), text(part)); got != dedup.Contained {
				t.Errorf("%s %d: the chunk after the text: %q", lang, i, got)
			}
			if got := relation(t, text(part), text(string(whole))); got != dedup.Contained {
				t.Errorf("%s %d: the chunk before the text: %q", lang, i, got)
			}
		}
	}
}

func TestNearQuestions(t *testing.T) {
	t.Parallel()
	base := func() *drydock.Record {
		return q("船舶主推进动力装置的传动轴系在正常运转中不承受的作用力是____。", "A", "电磁力", "压应力", "弯曲应力", "扭应力")
	}
	for _, c := range []struct {
		name string
		b    *drydock.Record
		want string
	}{
		{"options in another order", q("船舶主推进动力装置的传动轴系在正常运转中不承受的作用力是", "C", "扭应力", "弯曲应力", "电磁力", "压应力"), "duplicate_exact"},
		{"and a letter", q("船舶主推进动力装置的传动轴系在正常运转时不承受的作用力是", "C", "扭应力", "弯曲应力", "电磁力", "压应力"), "duplicate_near 中→时"},
		{"another answer", q("船舶主推进动力装置的传动轴系在正常运转时不承受的作用力是", "A", "扭应力", "弯曲应力", "电磁力", "压应力"), "conflict_answer 中→时"},
		{"no answer", q("船舶主推进动力装置的传动轴系在正常运转时不承受的作用力是", "", "扭应力", "弯曲应力", "电磁力", "压应力"), "duplicate_near 中→时"},
		{"polarity", q("船舶主推进动力装置的传动轴系在正常运转中承受的作用力是", "A", "电磁力", "压应力", "弯曲应力", "扭应力"), "variant_polarity -不"},
		{"another option", q("船舶主推进动力装置的传动轴系在正常运转中不承受的作用力是", "A", "电磁力", "压应力", "弯曲应力", "热应变"), "variant_options"},
		{"fewer options", q("船舶主推进动力装置的传动轴系在正常运转中不承受的作用力是", "A", "电磁力", "压应力", "弯曲应力"), "variant_options"},
		{"all options others", q("船舶主推进动力装置的传动轴系在正常运转中不承受的作用力是", "A", "甲", "乙", "丙", "丁"), ""},
		{"a damaged option", q("船舶主推进动力装置的传动轴系在正常运转中不承受的作用力是", "A", "电磁力", "压应力", "弯曲应刀", "扭应力"), "duplicate_near 力→刀"},
	} {
		if got := relation(t, base(), c.b); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestNearChats(t *testing.T) {
	t.Parallel()
	const ask, say = "请说明机动船在航时应当显示哪些号灯。", "应显示前桅灯、后桅灯、舷灯和尾灯，船长小于五十米的可不显示后桅灯。"
	for _, c := range []struct {
		name string
		b    *drydock.Record
		want string
	}{
		{"equal", chat(ask, say+" "), "duplicate_exact"},
		{"a letter of the answer", chat(ask, strings.Replace(say, "舷灯和尾灯", "舷灯与尾灯", 1)), "duplicate_near 和→与"},
		{"a letter of the prompt", chat(strings.Replace(ask, "应当", "应", 1), say), "duplicate_near -当"},
		{"another answer", chat(ask, "四种。"), "conflict_answer"},
		{"another number in the answer", chat(ask, strings.Replace(say, "五十", "二十", 1)), "conflict_answer 五→二"},
		{"another prompt", chat("请说明帆船在航时应当显示哪些号灯。", say), "variant_wording 机动→帆"},
		{"another prompt, the same short answer", chat("请说明限于吃水的船舶应当显示哪些号灯。", say), ""},
		{"more turns", chat(ask, say, "谢谢", "不客气"), ""},
	} {
		if got := relation(t, chat(ask, say), c.b); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	// a template of many letters must not hide that the question in it is another
	frame := "回答下面的单项选择题，只给出一个字母。先仔细阅读题干和全部选项，再作出选择，不要解释理由，不要重复题干，也不要输出任何其他的文字、标点或者空格，否则该题记为零分。题目如下："
	if got := relation(t, chat(frame+"船舶号灯的显示时间", "A"), chat(frame+"消防泵的最低压力值", "A")); strings.HasPrefix(got, dedup.Near) {
		t.Errorf("two questions in one template: %q", got)
	}
}

func TestKeepPolicy(t *testing.T) {
	t.Parallel()
	old, fresh := &drydock.File{Source: "old", Name: "old"}, &drydock.File{Source: "fresh", Name: "fresh"}
	a := place(0, text("值班驾驶员应当在交接班之前核对船位、航向和航速。"))
	b := place(1, text("值班驾驶员应当在交接班以前核对船位、航向和航速。"), text("值班驾驶员应当在交接班以前核对船位、航向和航速"))
	a[0].Origin.File, b[0].Origin.File, b[1].Origin.File = old, fresh, fresh
	for _, c := range []struct {
		first *drydock.File
		want  []string
	}{
		{nil, []string{"p2 l1 duplicate_near → p1 l1", "p2 l2 duplicate_near → p1 l1"}},
		{fresh, []string{"p1 l1 duplicate_near → p2 l1", "p2 l2 duplicate_exact → p2 l1"}},
	} {
		e := dedup.New(dedup.Options{Threshold: 0.85, Prefer: func(f *drydock.File) int {
			if f == c.first {
				return 0
			}
			return 1
		}})
		for i, u := range [][]*drydock.Record{a, b} {
			if err := e.Sketch(i)(t.Context(), u); err != nil {
				t.Fatal(err)
			}
		}
		if err := e.Decide(t.Context()); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range e.Pairs() {
			got = append(got, fmt.Sprintf("%s %s → %s", p.Removed.At, p.Reason, p.Kept.At))
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Error(d)
		}
	}
}

// Alike tells all that hangs together, also through a record that another stands
// for, whatever is near whom first.
func TestAlike(t *testing.T) {
	t.Parallel()
	runes := []rune(newWriter(4).zh(40))
	chain := []string{string(runes), string(runes[2:]), string(runes[4:]), string(runes[6:]), newWriter(5).zh(40)}
	var recs []*drydock.Record
	for _, s := range chain {
		recs = append(recs, text(s))
	}
	recs = place(0, recs...)
	up := map[drydock.ID]drydock.ID{}
	var root func(drydock.ID) drydock.ID
	root = func(id drydock.ID) drydock.ID {
		if next, ok := up[id]; ok {
			return root(next)
		}
		return id
	}
	r := dedup.New(dedup.Options{Threshold: 0.95, Alike: func(a, b drydock.ID) {
		if a, b = root(a), root(b); a != b {
			up[a] = b
		}
	}})
	if err := r.Sketch(0)(t.Context(), recs); err != nil {
		t.Fatal(err)
	}
	if err := r.Decide(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := 1; i < 4; i++ {
		if root(recs[i].ID) != root(recs[0].ID) {
			t.Errorf("record %d hangs together with none", i)
		}
	}
	if root(recs[4].ID) == root(recs[0].ID) {
		t.Error("the stranger was taken for one of them")
	}
}
