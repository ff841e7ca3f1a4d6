package selftest

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/internal/textnorm"
)

func fixture(t testing.TB) (*contam.Index, []contam.Set, *Carrier) {
	t.Helper()
	item := func(index int, stem, key string, options ...string) benchmark.Item {
		it := benchmark.Item{Index: index, Question: drydock.Question{Stem: stem, Answer: []string{key}}}
		for i, o := range options {
			it.Question.Options = append(it.Question.Options, drydock.Option{Label: letter(i), Text: o})
		}
		return it
	}
	sets := []contam.Set{{Ref: benchmark.Ref{Name: "own"}, Items: []benchmark.Item{
		item(3, "渔船夜间下网时，船尾的两盏作业灯应当______，以免与航行灯混淆。", "B", "全部熄灭", "加罩向下照射", "改为红色", "挂到桅顶"),
		item(5, "拖网起网前应先完成的步骤有______。①停车减速②检查绞车刹车③通知甲板人员④关闭鱼舱盖", "A", "①②③", "①④", "②④", "③④"),
		item(8, "网具在水深35米处拖曳，曳纲长度不得小于______米，否则网口不能张开。", "C", "40", "75", "105", "350"),
		item(9, "The cook of a trawler who finds the galley fire out at five in the morning should first ______ before he lights it again.", "A", "open the damper of the flue", "call the second mate", "pump the bilges dry", "wake all hands"),
		item(11, "Which of the following must not be stowed beside the flour on a voyage of 30 days?", "D", "salted fish", "oil lamps", "tinned milk", "wet rope"),
	}}}
	ix, err := contam.NewIndexOf(sets, contam.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var c Carrier
	c.Add("清晨的市场上，卖菜的老人把萝卜一个个摆好，对面的修鞋匠刚支起摊子。孩子们背着书包走过石桥，桥下的水比昨天浅了许多。", false)
	c.Add("The museum in the old mill shows how paper was made by hand, and on Sundays a miller's daughter of eighty pours a sheet for every visitor who asks her nicely.", false)
	c.Add("山坡上的茶园每年四月开始采摘，制茶的师傅凭手感判断火候，从不看钟。", false)
	return ix, sets, &c
}

// Every kind is made of some item, and comes out as it should on sound items.
func TestKinds(t *testing.T) {
	t.Parallel()
	ix, sets, c := fixture(t)
	r, err := Run(t.Context(), ix, sets, c, Options{Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Kinds) < 40 || r.Items != 5 {
		t.Errorf("%d kinds of %d items", len(r.Kinds), r.Items)
	}
	names := map[string]bool{}
	for _, o := range r.Kinds {
		if names[o.Name] || o.Title[0] == "" || o.Title[1] == "" || !(o.Bar > 0 && o.Bar <= 1) {
			t.Errorf("%s is there twice, or has no title or bar", o.Name)
		}
		names[o.Name] = true
		if o.Made == 0 {
			t.Errorf("%s: no item of the fixture suits it", o.Name)
		}
		// five items cannot show a recall; what is plainly the same must be found
		if o.Bar == mechanical && o.Expect == Leak && !strings.HasPrefix(o.Name, "noise") && !o.Pass {
			t.Errorf("%s: %d of %d, missed %+v", o.Name, o.Met, o.Made, o.Missed)
		}
	}
}

// The result does not depend on the number of workers, and a seed is a seed.
func TestDeterminism(t *testing.T) {
	t.Parallel()
	ix, sets, c := fixture(t)
	run := func(seed uint64, workers int) []string {
		r, err := Run(t.Context(), ix, sets, c, Options{Seed: seed, Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		copies, err := Copies(sets, c, Options{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, o := range r.Kinds {
			for _, m := range o.Missed {
				out = append(out, o.Name+m.Verdict+strings.Join(m.Rows, " "))
			}
		}
		for c := range copies {
			out = append(out, c.ID+" "+c.Text)
		}
		return out
	}
	one := run(1, 1)
	if d := cmp.Diff(one, run(1, 8)); d != "" {
		t.Errorf("workers matter:\n%s", d)
	}
	if slices.Equal(one, run(2, 1)) {
		t.Error("the seed changes nothing")
	}
}

// A check that finds nothing, or calls everything a leak, is seen through.
func TestSeesThrough(t *testing.T) {
	t.Parallel()
	_, sets, c := fixture(t)
	strict, err := contam.NewIndexOf(sets, contam.Config{Thresholds: contam.Thresholds{
		StemSame: 1, StemWithOptions: 1, StemWithAllOptions: 1, OptionsNear: 1, StemShare: 1, OptionShare: 1,
	}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), strict, sets, c, Options{Kinds: []string{"noise_10", "verbatim"}, MinRecall: 0.9})
	if err != nil {
		t.Fatal(err)
	}
	noise := r.Kinds[1]
	if noise.Name != "noise_10" || noise.Pass || noise.Bar != 0.9 || len(noise.Missed) == 0 || r.Pass() {
		t.Errorf("letter by letter, %+v", noise)
	}
	if len(noise.Missed) > 0 && (len(noise.Missed[0].Rows) != 1 || noise.Missed[0].Item.Benchmark != "own") {
		t.Errorf("a miss without what was checked: %+v", noise.Missed[0])
	}
	all, err := contam.NewIndexOf(sets, contam.Config{Thresholds: contam.Thresholds{Fail: contam.Verdicts()}})
	if err != nil {
		t.Fatal(err)
	}
	r, err = Run(t.Context(), all, sets, c, Options{Kinds: []string{"number_changed", "own_stem"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range r.Kinds {
		if o.Expect == Variant && (o.Pass || o.Leaks == 0) {
			t.Errorf("%s passes though all verdicts fail: %+v", o.Name, o)
		}
	}
}

// Changes of layout leave every letter of the stem in its order.
func TestLayoutKeepsTheLetters(t *testing.T) {
	t.Parallel()
	_, sets, c := fixture(t)
	letters := func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) {
				return r
			}
			return -1
		}, textnorm.Key(s))
	}
	for _, k := range layoutKinds() {
		if slices.Contains([]string{"html_entities", "json_in_json", "look_alike", "statements_reordered", "enumerators"}, k.Name) {
			continue // escaped, or changed on purpose
		}
		copies, err := Copies(sets, c, Options{Kinds: []string{k.Name}})
		if err != nil {
			t.Fatal(err)
		}
		for c := range copies {
			i := slices.IndexFunc(sets[0].Items, func(it benchmark.Item) bool { return it.Index == c.Item.Index })
			if stem := letters(sets[0].Items[i].Question.Stem); !strings.Contains(letters(c.Text), stem) {
				t.Errorf("%s: %q is not in %q", c.ID, stem, c.Text)
			}
		}
	}
}

func TestTransforms(t *testing.T) {
	t.Parallel()
	_, sets, c := fixture(t)
	made := map[string]string{}
	copies, err := Copies(sets, c, Options{Seed: 4})
	if err != nil {
		t.Fatal(err)
	}
	for c := range copies {
		made[c.ID] = c.Text
	}
	for id, want := range map[string]string{
		"stem_only/own/11":    "Which of the following must not be stowed beside the flour on a voyage of 30 days?",
		"blank_filled/own/3":  "渔船夜间下网时，船尾的两盏作业灯应当加罩向下照射，以免与航行灯混淆。",
		"true_false/own/3":    "判断正误：渔船夜间下网时，船尾的两盏作业灯应当加罩向下照射，以免与航行灯混淆。\n正确",
		"traditional/own/3":   "漁船夜間下網時，船尾的兩盞作業燈應當______，以免與航行燈混淆。\nA. 全部熄滅\nB. 加罩向下照射\nC. 改為紅色\nD. 挂到桅頂",
		"table/own/8":         "| 网具在水深35米处拖曳，曳纲长度不得小于______米，否则网口不能张开。 | 40 | 75 | 105 | 350 | C |",
		"stem_answer/own/11":  "Which of the following must not be stowed beside the flour on a voyage of 30 days?\nwet rope",
		"options_first/own/8": "A. 40\nB. 75\nC. 105\nD. 350\n网具在水深35米处拖曳，曳纲长度不得小于______米，否则网口不能张开。",
	} {
		if d := cmp.Diff(want, made[id]); d != "" {
			t.Errorf("%s (-want +got):\n%s", id, d)
		}
	}
	for id, part := range map[string]string{
		"split_records/own/9/2": "wake all hands", "reworded/own/11": "which one of these", "html_entities/own/9": "&#x",
		"json_in_json/own/3": `\u`, "polarity_flipped/own/8": "可以小于", "wrapped/own/9": "\n    ", "markdown/own/3": "- [ ] `A` *全部熄灭*",
	} {
		if !strings.Contains(strings.ToLower(made[id]), strings.ToLower(part)) {
			t.Errorf("%s has no %q: %q", id, part, made[id])
		}
	}
	if n := made["number_changed/own/8"]; strings.Contains(n, "35") || !strings.Contains(n, "米处拖曳") {
		t.Errorf("numbers: %q", n)
	}
	if _, ok := made["upper/own/3"]; ok {
		t.Error("a Chinese item in capitals")
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	ix, sets, c := fixture(t)
	var little Carrier
	little.Add("短", false)
	if _, err := Run(t.Context(), ix, sets, &little, Options{}); err == nil {
		t.Error("a carrier of one character is no error")
	}
	if _, err := Run(t.Context(), ix, sets, c, Options{Kinds: []string{"nosuch"}}); err == nil || !strings.Contains(err.Error(), "nosuch") {
		t.Errorf("an unknown kind: %v", err)
	}
}

// Rows are of the shape of the user's own.
func TestRowShape(t *testing.T) {
	t.Parallel()
	r := record{`a "q"`, "b"}
	if got := string(r.row(true)); got != `{"messages":[{"role":"user","content":"a \"q\""},{"role":"assistant","content":"b"}]}` {
		t.Error(got)
	}
	if got := string(r.row(false)); got != `{"text":"a \"q\"\nb"}` {
		t.Error(got)
	}
	var c Carrier
	c.Add("x", true)
	if !c.chats() {
		t.Error("conversations are not seen as such")
	}
}

func BenchmarkRun(b *testing.B) {
	ix, sets, c := fixture(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Run(b.Context(), ix, sets, c, Options{Workers: 1}); err != nil {
			b.Fatal(err)
		}
	}
}
