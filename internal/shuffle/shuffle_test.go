package shuffle

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func single(answer string, texts ...string) *drydock.Question {
	q := &drydock.Question{Kind: drydock.Single, Stem: "灭火时应先____。", Answer: []string{answer}}
	for i, t := range texts {
		q.Options = append(q.Options, drydock.Option{Label: string(rune('A' + i)), Text: t})
	}
	return q
}

func TestIsPositional(t *testing.T) {
	t.Parallel()
	yes := []string{
		"以上都对", "以上均不是", "以上皆非", "以上全部", "上述各项", "以上都有可能", "以上答案都不正确", "以上三项都是", "以上選項皆正確",
		"都对", "均可", "都不是", "全部都对", "两者都是", "前三项都是", "都可以", "全部", "以上都對",
		"A和C", "A、B、C", "AB", "ABD", "A+B", "Ａ和Ｂ", "A或B", "A和B都对", "A、B均不正确", "选项A和B", "A与C项", "同A", "除A以外", "A＋C", "仅A和B", "B对C错", "只有A正确", "A项", "都会", "全对",
		"all of the above", "None of the above", "Any of the above.", "Both of the above", "all the above", "None of these", "All of these", "neither of the above",
		"All of the above must be taken into account", "Two of the above", "the above", "more than one of the above",
		"both A and B", "A and B", "A or C", "Neither A nor B", "A, B and C", "Both A and B are correct", "only A and C", "A & C", "answers A and B", "Same as B", "(A) and (C)", "The first two", "Both", "Neither", "none", "All are correct", "Both are true.", "Neither is correct",
	}
	no := []string{
		"①②", "①②③④", "I and II", "Both I and II", "Neither I nor II", "I only", "Ⅰ+Ⅱ", "①和③",
		"500总吨以上", "五百米以上都应设置", "二级以上风力时全速", "A类火灾", "A类和B类火灾", "VHF", "GPS", "C级", "减速", "停车", "船首向左",
		"a vessel not under command", "a light above the deck", "all lights above the main deck line", "not less than 5 metres above the hull",
		"both gas mode and diesel mode", "both shipper and carrier", "all officers", "Any vessel", "One short blast", "A", "", "全部船员撤离", "全速前进",
		"all of the following vessels", "all vessels", "any light", "either side", "both sidelights", "B类", "A型", "对", "错误", "both vessels", "neither vessel",
	}
	for _, s := range yes {
		if !IsPositional(s, 4) {
			t.Errorf("IsPositional(%q) = false", s)
		}
	}
	for _, s := range no {
		if IsPositional(s, 4) {
			t.Errorf("IsPositional(%q) = true", s)
		}
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text string
		want string // letters found, lists joined by a space; "?" when not sure
	}{
		{"", ""},
		{"船舶应减速。", ""},
		{"A项错误，B项正确。", "A B"},
		{"A、B、D错误，故选C。", "A B D C"},
		{"选项A与选项C混淆。", "A C"},
		{"答案：B", "B"},
		{"答案为ABD。", "ABD"},
		{"（A）正确；(C) 错。", "A C"},
		{"A．过早\nB．过晚", "A B"},
		{"Ａ项不符题意", "A"},
		{"A对，B错。", "A B"},
		{"A类火灾用水扑救。", "?"},
		{"A船对B船", "?"},
		{"使用VHF和GPS。", ""},
		{"按第18条A款", "?"},
		{"Rule 9(A) applies", "?"},
		{"A vessel engaged in fishing", ""},
		{"Option B is wrong.", "B"},
		{"A is correct because the vessel stops.", "A"},
		{"A is the mast", "?"},
		{"Answers A and C are correct", "A C"},
		{"B2舱与A-1级", ""},
		{"option b is wrong", "b"},
		{"E项", ""},
		{"应选A类灭火器", "?"},
		{"故选A，因为B错误", "A B"},
		{"选A因为最短", "A"},
		{"答：C", "C"},
		{"错误的是D。使用的是B类", "?"},
		{"错误的是D。", "D"},
		{"the answer is C.", "C"},
		{"Rule 5: (a) Every vessel (b) shall", ""},
		{"answer: (b)", "b"},
		{"交流电（AC）的方向", "?"},
		{`vessel "A" overtakes vessel "B"`, "?"},
		{"应选“C”。", "C"},
		{"选“A”和“B”项", "A B"},
	} {
		found, sure := references(tc.text, 4)
		var got []string
		for _, r := range found {
			got = append(got, halfWidth(tc.text[r.start:r.end]))
		}
		s := strings.Join(got, " ")
		if !sure {
			s = "?"
		}
		if s != tc.want {
			t.Errorf("references(%q) = %q, want %q", tc.text, s, tc.want)
		}
	}
}

func TestPinned(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		q    *drydock.Question
		want string
	}{
		{"plain", single("A", "水", "泡沫", "二氧化碳"), ""},
		{"judge", &drydock.Question{Kind: drydock.Judge, Answer: []string{"true"}}, Kind},
		{"one option", single("A", "水"), Kind},
		{"positional", single("D", "水", "泡沫", "干粉", "以上都对"), Positional},
		{"empty option", single("A", "水", ""), Blank},
		{"letters of a figure", single("A", "A", "B", "C"), Blank},
		{"twice the same label", &drydock.Question{Kind: drydock.Single, Options: []drydock.Option{{Label: "A", Text: "水"}, {Label: "A", Text: "沙"}}}, Labels},
		{"stem names an option", &drydock.Question{Kind: drydock.Single, Stem: "选项A与图不符时", Options: single("A", "水", "沙").Options}, StemRefers},
		{"unsure letters", &drydock.Question{Kind: drydock.Single, Explanation: "A类火灾", Options: single("A", "水", "沙").Options}, TextRefers},
	} {
		if got := For(tc.q, drydock.ID{1}, "t", 1, true); got.Pinned != tc.want || (got.Order == nil) != (tc.want != "") {
			t.Errorf("%s: For = %+v, want pinned %q", tc.name, got, tc.want)
		}
	}
}

func TestApplyMovesAnswerAndExplanation(t *testing.T) {
	t.Parallel()
	q := single("B", "水", "泡沫", "干粉", "沙")
	q.Explanation = "A、C错误，故选B。答案AB不可。"
	p := Plan{Order: []int{2, 0, 3, 1}} // printed: 干粉 水 沙 泡沫
	got := p.Apply(q)
	want := single("D", "干粉", "水", "沙", "泡沫")
	want.Explanation = "B、A错误，故选D。答案BD不可。"
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if q.Options[0].Text != "水" || q.Answer[0] != "B" {
		t.Error("the source question was changed")
	}
	moves := []Move{{"A", "B"}, {"B", "D"}, {"C", "A"}, {"D", "C"}}
	if d := cmp.Diff(moves, p.Moves(q)); d != "" {
		t.Error(d)
	}
}

// The answer's text must be the same before and after, whatever the order.
func TestApplyKeepsTheAnswersText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 8).Draw(t, "n")
		q := &drydock.Question{Kind: drydock.Multiple}
		for i := range n {
			q.Options = append(q.Options, drydock.Option{Label: string(rune('A' + i)), Text: fmt.Sprint("选项文本", i)})
		}
		for i := range n {
			if rapid.Bool().Draw(t, "right") {
				q.Answer = append(q.Answer, q.Options[i].Label)
			}
		}
		var id drydock.ID
		copy(id[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
		got := For(q, id, "d", rapid.Uint64().Draw(t, "seed"), true).Apply(q)
		if d := cmp.Diff(texts(q), texts(got)); d != "" {
			t.Fatal(d)
		}
		if !slices.IsSorted(got.Answer) {
			t.Fatalf("answer %v is not in printed order", got.Answer)
		}
	})
}

func texts(q *drydock.Question) []string {
	var out []string
	for _, a := range q.Answer {
		out = append(out, q.Options[place(q, a)].Text)
	}
	slices.Sort(out)
	return out
}

// Over many records each option lands on each place equally often: chi-square
// under the 99.9 % point, also after two shuffles of different domains.
func TestOrderIsUniform(t *testing.T) {
	t.Parallel()
	for n, limit := range map[int]float64{3: 13.8, 4: 16.3, 5: 18.5} {
		const records = 20000
		count := make([]float64, n)
		twice := make([]float64, n)
		for i := range records {
			id := drydock.NewID("bank", "f", fmt.Sprint(i))
			first := Order(id, "emit", 7, n)
			second := Order(id, "step", 7, n)
			count[slices.Index(first, 0)]++
			twice[slices.Index(second, slices.Index(first, 0))]++
		}
		for _, c := range [][]float64{count, twice} {
			x := 0.0
			for _, v := range c {
				d := v - records/float64(n)
				x += d * d / (records / float64(n))
			}
			if x > limit {
				t.Errorf("n=%d: counts %v, chi-square %.1f over %.1f", n, c, x, limit)
			}
		}
	}
}

func TestOrderIsPinnedToItsInputs(t *testing.T) {
	t.Parallel()
	// a change here changes every training set made with a seed
	got := fmt.Sprint(Order(drydock.ID{1, 2, 3}, "emit", 1, 5), Order(drydock.ID{1, 2, 3}, "emit", 2, 5), Order(drydock.ID{}, "", 0, 4))
	if want := "[0 2 4 1 3] [1 4 3 0 2] [2 1 0 3]"; got != want {
		t.Errorf("Order = %s, want %s", got, want)
	}
}

func FuzzReferences(f *testing.F) {
	for _, s := range []string{"A项", "（B）对", "Ａ、B\xff错", "答案：", "A-", "\nA．"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		found, _ := references(s, 4)
		last := 0
		for _, r := range found {
			if r.start < last || r.end <= r.start || r.end > len(s) || len(r.letters) == 0 {
				t.Fatalf("bad reference %+v in %q", r, s)
			}
			last = r.end
		}
		q := single("A", "x", "y", "z", "w")
		q.Explanation = s
		p := For(q, drydock.ID{9}, "f", 3, true)
		back := Plan{Order: inverse(p.Order)}
		if p.Order != nil {
			if got := back.Apply(p.Apply(q)); len(found) > 0 && len(got.Explanation) != len(s) {
				t.Fatalf("there and back: %q → %q", s, got.Explanation)
			}
		}
		IsPositional(s, 4)
	})
}

func inverse(order []int) []int {
	out := make([]int, len(order))
	for i, v := range order {
		out[v] = i
	}
	return out
}

func BenchmarkFor(b *testing.B) {
	q := single("B", "减速并保持航向", "立即停车", "向右转向", "鸣放五声短声")
	q.Explanation = "A、C错误，故选B。"
	b.ReportAllocs()
	for i := range b.N {
		For(q, drydock.ID{byte(i), byte(i >> 8)}, "emit", 1, true)
	}
}

// TestSaysHan holds the quick no to the answer it stands for.
func TestSaysHan(t *testing.T) {
	t.Parallel()
	quick := 0
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SampledFrom([]string{"以上", "都", "对", "A", "和", "B", "Ｃ", "前述", "船舶", "舵", "（", "）", " ", "5", "两者", "項", "々", "が", "㐀", "有"})
		text := strings.Join(rapid.SliceOfN(words, 1, 8).Draw(t, "words"), "")
		if folded := halfWidth(text); saysHan(text) {
			quick++
			if !hasHan(folded) || positionalZh(folded, 4) {
				t.Fatalf("%q is turned away, and speaks of other options", text)
			}
		}
	})
	if quick == 0 {
		t.Error("nothing was turned away")
	}
}
