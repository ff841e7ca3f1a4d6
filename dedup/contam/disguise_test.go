package contam

import (
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/drydock-ml/drydock"
)

// disguises are mechanical ways to write the same text down: whatever an item,
// its findings are the same in all of them.
var disguises = map[string]func(text string, r *rand.Rand) string{
	"character references": func(s string, _ *rand.Rand) string {
		return eachRune(s, func(c rune) string {
			if c > 0x7F {
				return fmt.Sprintf("&#x%x;", c)
			}
			return string(c)
		})
	},
	"references escaped again": func(s string, _ *rand.Rand) string {
		return html.EscapeString(eachRune(s, func(c rune) string {
			if c > 0x7F {
				return fmt.Sprintf("&#%d;", c)
			}
			return string(c)
		}))
	},
	"JSON in a string": func(s string, _ *rand.Rand) string { return ascii1(ascii1(s)) },
	"address":          func(s string, _ *rand.Rand) string { return url.PathEscape(s) },
	"tags with attributes": func(s string, r *rand.Rand) string {
		return eachRune(s, func(c rune) string {
			if c > ' ' && r.IntN(6) == 0 {
				return `<span style="color:#f00; font: 12pt" class='x'>` + string(c) + "</span>"
			}
			return string(c)
		})
	},
	"comment": func(s string, _ *rand.Rand) string {
		cut := len(s) / 2
		for s[cut]&0xC0 == 0x80 {
			cut++
		}
		return s[:cut] + "<!-- page 12 of the manual -->" + s[cut:]
	},
	"invisible characters": func(s string, r *rand.Rand) string {
		const hidden = "\u200b\u200d\u2060\ufeff\u00ad\u202a\u2066\ufe0f\u034f"
		return eachRune(s, func(c rune) string { return string(c) + string([]rune(hidden)[r.IntN(9)]) })
	},
	"combining marks": func(s string, _ *rand.Rand) string {
		return eachRune(s, func(c rune) string {
			if c > ' ' && c != '_' {
				return string(c) + "\u0336"
			}
			return string(c)
		})
	},
	"look-alikes": func(s string, _ *rand.Rand) string {
		return strings.NewReplacer("a", "а", "e", "е", "o", "о", "c", "с", "p", "р", "x", "х", "B", "Β", "M", "М", "T", "Τ").Replace(s)
	},
	"full width": func(s string, _ *rand.Rand) string {
		return eachRune(s, func(c rune) string {
			if c > ' ' && c < 0x7F {
				return string(c + 0xFEE0)
			}
			return string(c)
		})
	},
	"emphasis": func(s string, r *rand.Rand) string {
		return eachRune(s, func(c rune) string {
			if c > 0x7F && r.IntN(5) == 0 {
				return "**" + string(c) + "**"
			}
			return string(c)
		})
	},
	"quoted lines": func(s string, _ *rand.Rand) string { return "> " + strings.ReplaceAll(s, "\n", "\n>\n> ") },
	"wide spaces": func(s string, _ *rand.Rand) string {
		return eachRune(s, func(c rune) string {
			if c > 0x7F {
				return string(c) + "\u3000\t"
			}
			return string(c)
		})
	},
}

func eachRune(s string, f func(rune) string) string {
	var b strings.Builder
	for _, c := range s {
		b.WriteString(f(c))
	}
	return b.String()
}

// ascii1 is s as an ASCII JSON string, without its quotes.
func ascii1(s string) string {
	var b strings.Builder
	for _, c := range s {
		if c > 0x7F {
			fmt.Fprintf(&b, `\u%04x`, c)
			continue
		}
		q, _ := json.Marshal(string(c))
		b.Write(q[1 : len(q)-1])
	}
	return b.String()
}

// A mechanical disguise changes no finding: the same items, verdicts and
// components.
func TestDisguisesKeepTheFindings(t *testing.T) {
	t.Parallel()
	s := testIndex(t).Scanner()
	for name, disguise := range disguises {
		rapid.Check(t, func(t *rapid.T) {
			items := rapid.SliceOfNDistinct(rapid.IntRange(0, len(testItems)-1), 1, 3, rapid.ID).Draw(t, "items")
			var parts []string
			for _, i := range items {
				parts = append(parts, render(i))
			}
			plain := strings.Join(parts, "\n\n")
			seed := rapid.Uint64().Draw(t, "seed")
			want := s.Text([]byte(plain))
			got, err := s.Row(row(disguise(plain, rand.New(rand.NewPCG(seed, 1)))))
			if err != nil {
				t.Fatal(err)
			}
			if a, b := outcomes(want), outcomes(got); !slices.Equal(a, b) {
				t.Fatalf("%s:\n%v, want\n%v", name, b, a)
			}
		})
	}
}

func outcomes(found []Finding) []string {
	var out []string
	for _, f := range found {
		out = append(out, fmt.Sprint(f.Item.Index, f.Verdict, f.Fail, f.Components))
	}
	return out
}

// More ways in which items come back, and what they are called.
func TestVerdictsOfShapes(t *testing.T) {
	t.Parallel()
	s := testIndex(t).Scanner()
	options7 := "\nA. 炉管的点状腐蚀\nB. 炉膛的积灰\nC. 蒸汽的过热\nD. 燃油的雾化不良"
	for _, c := range []struct {
		name, text string
		item       int
		want       Verdict
	}{
		{"page header inside the stem", "锅炉给水中溶解氧含\n轮机管理题库　第 37 页\n量过高会加剧______。" + options7, 7, Near},
		{"gloss in brackets", "锅炉给水中溶解氧(dissolved oxygen)含量过高会加剧______。" + options7, 7, Near},
		{"clauses change places", "夜间至少应显示______盏白色环照灯，船长120 m的货船锚泊时。\nA. 1\nB. 2\nC. 3", 2, Shuffled},
		{"condition put in", "锅炉给水中溶解氧在冬季低温并且长期停炉保养期间含量过高会加剧______。" + options7, 7, Variant},
		{"digit added", "船长1120 m的货船锚泊时，夜间至少应显示______盏白色环照灯。\nA. 1\nB. 2\nC. 3", 2, NumericVariant},
		{"another unit", "船长120 km的货船锚泊时，夜间至少应显示______盏白色环照灯。\nA. 1\nB. 2\nC. 3", 2, NumericVariant},
		{"unit in Chinese", "船长120米的货船锚泊时，夜间至少应显示______盏白色环照灯。\nA. 1\nB. 2\nC. 3", 2, Near},
		{"numerals in Chinese", "船长120 m的货船锚泊时，夜间至少应显示______盏白色环照灯。\nA. 一\nB. 二\nC. 三", 2, StemOnly},
		{"opposite", "锅炉给水中溶解氧含量过低会加剧______。" + options7, 7, PolarityVariant},
		{"negation at a blank", "锅炉给水中溶解氧含量过高会加剧不______。" + options7, 7, PolarityVariant},
		{"negation before the stem", "In restricted visibility a vessel that hears a fog signal forward of her beam shall reduce her speed not to ______.\nA. the minimum at which she can be kept on her course\nB. half of her full manoeuvring speed\nC. the speed of the slowest vessel nearby\nD. ten knots at the most", 4, PolarityVariant},
		{"negation left out", "Which of the following is carried in a survival craft?\nA. A bailer and two sponges\nB. A rainproof whistle\nC. A spare propeller shaft\nD. A daylight signalling mirror", 5, PolarityVariant},
		{"statement with a wrong option", "判断正误：锅炉给水中溶解氧含量过高会加剧炉膛的积灰。", 7, Near},
		{"next questions are no options", "1. 锅炉给水中溶解氧含量过高会加剧______。\n2. 船上应急部署表由谁编制？\nA. 船长\nB. 大副\nC. 三副", 7, StemOnly},
		{"stem alike, another question", "锅炉给水中悬浮物含量过高会引起______。\nA. 汽水共腾\nB. 炉水发泡\nC. 水位虚高\nD. 蒸汽带水", 7, SharedMaterial},
		{"clause of a rule", "本规则适用于一切船舶。\n第四条 航行 在能见度不良的水域中航行，船长首先应当通知机舱备车并减速，并派出瞭头，按规定鸣放雾号，同时开启雷达连续观测周围船舶的动态。其他船员应当按照应变部署表立即就位。", 0, SourceOverlap},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, err := s.Row(row(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if got := verdict(found, c.item); got != c.want {
				t.Errorf("verdict %q, want %q; all: %+v", got, c.want, found)
			}
		})
	}
}

// A short stem inside a sentence is any sentence.
func TestBoilerplateIsNotReported(t *testing.T) {
	t.Parallel()
	items := testSet()
	items[3].Question.Stem = "下列说法正确的是"
	items[4].Question.Stem = "下列说法错误的是"
	ix, err := NewIndex(items, testRef, Config{})
	if err != nil {
		t.Fatal(err)
	}
	s := ix.Scanner()
	text := "请问各位老师下列说法正确的是什么意思呢我不太明白"
	if found := s.Text([]byte(text)); len(found) > 0 {
		t.Errorf("%+v", found)
	}
	s.begin()
	s.addText([]byte(text))
	m := s.verify(&ix.items[3], s.text.letters, true)
	m.hi = len(s.text.letters)
	s.unfolded.reset(s.fields, m.hi)
	if v, rule := s.judge(s.located(3, m)); v != Boilerplate {
		t.Errorf("%s by %s", v, rule)
	}
}

// Keys may be texts.
func TestKeysAreTexts(t *testing.T) {
	t.Parallel()
	s := testIndex(t).Scanner()
	found, err := s.Row([]byte(`{"qa":{"锅炉给水中溶解氧含量过高会加剧______。":"炉管的点状腐蚀"}}`))
	if err != nil || len(found) != 1 || found[0].Item.Index != 7 || !found[0].Fail || found[0].Record.Pointer != "/qa" {
		t.Errorf("%+v, %v", found, err)
	}
}

// FuzzRecords feeds any two texts as rows, texts and records that follow one
// another: nothing panics, all ranges lie in their texts, and a scanner that has
// seen others says the same as a fresh one.
func FuzzRecords(f *testing.F) {
	f.Add(render(0), render(1))
	f.Add("锅炉给水中溶解", "氧含量过高会加剧______。")
	f.Add("<!-- &amp;#x4e0d; %E8%88 \\u8239 \\\\begin{", "</b>\xff\xf0\x9f")
	f.Add(testItems[2].stem[:20], testItems[2].stem[20:])
	ix := testIndex(f)
	f.Fuzz(func(t *testing.T, a, b string) {
		s := ix.Scanner()
		s.Break()
		s.Text([]byte(a))
		plain := s.Text([]byte(b))
		for _, sp := range s.Seam() {
			checkRanges(t, relabel(sp), map[string]string{"1": a, "2": b})
		}
		if d := outcomes(ix.Scanner().Text([]byte(b))); !slices.Equal(d, outcomes(plain)) {
			t.Fatalf("%v, fresh: %v", outcomes(plain), d)
		}
		s.Record(&drydock.Record{Passage: &drydock.Passage{Text: a}})
		s.Record(&drydock.Record{Question: &drydock.Question{Stem: b, Options: []drydock.Option{{Text: a}}}})
		s.Seam()
		if _, err := s.Row(row(a)); err != nil {
			t.Fatal(err)
		}
		s.Seam()
	})
}

func relabel(f Finding) Finding {
	f.Record.ID, f.Next = "1", &Place{ID: "2"}
	return f
}

// An interruption may begin or end within a character that stands for several
// letters.
func TestInterruptedByLigatures(t *testing.T) {
	t.Parallel()
	s := testIndex(t).Scanner()
	found := s.Text([]byte("Which of theﬂﬃﬃfollowing is not carried ﬀin a survival craft?"))
	if len(found) != 1 || found[0].Item.Index != 5 {
		t.Errorf("%+v", found)
	}
}
