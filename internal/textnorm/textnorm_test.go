package textnorm

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

func TestFold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, a, want string }{
		{"empty", "", ""},
		{"case and width", "Ａbc１２３", "abc123"},
		{"fullwidth space", "船　舶", "船舶"},
		{"traditional", "船舶舵機與羅經誤差", "船舶舵机与罗经误差"},
		{"one form of two readings", "答覆 反复", "答复反复"},
		{"taiwan", "著火 裡面 檯", "着火里面台"},
		{"kangxi radicals", "⾈舶⽔⼿", "舟舶水手"},
		{"radical supplement", "⻢达⻛⻓⻔", "马达风长门"},
		{"compatibility ideograph", "\uF90A属", "金属"},
		{"han punctuation", "（一）船，舶。", "一船舶"},
		{"blanks", "特点是______。（  ）", "特点是"},
		{"words stay apart", "power-driven  vessel", "power driven vessel"},
		{"number and unit", "20 m 、20m", "20m20m"},
		{"numbers stay apart", "5、10 / 15", "5 10/15"},
		{"point", "0.108", "0.108"},
		{"not a point", "1. 5", "1 5"},
		{"minus", "为 -5 ℃", "为-5°c"},
		{"range is no minus", "20-30", "20 30"},
		{"relations", "L＜12 与 L≧12", "l<12与l≥12"},
		{"circled", "①②③", "123"},
		{"negative circled", "❶➋", "12"},
		{"roman", "Ⅳ ⅳ", "iv iv"},
		{"invisible", "船\u200b舶\ufeff\u00ad員\ufe0f", "船舶员"},
		{"accents", "Ångström é", "angstrom e"},
		{"ligature", "ﬁre ﬂow", "fire flow"},
		{"unit block", "㎡ ㎏", "m2kg"},
		{"kana keep their marks", "がは", "がは"},
		{"delta", "∆T Δt", "δt δt"},
		{"ohm micro", "Ω µm", "ω μm"},
		{"invalid", "a\xff\xfeb", "a b"},
		{"emoji", "船🚢舶", "船舶"},
		{"byte-level BPE", "theĠmasterĊĠshall", "the master shall"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := Key(c.a); got != c.want {
				t.Errorf("Key(%q) = %q, want %q", c.a, got, c.want)
			}
		})
	}
}

func TestFoldProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		checkFold(t, rapid.String().Draw(t, "s"))
	})
}

// checkFold holds for every string: the same bytes code point by code point,
// valid UTF-8, and a second fold changes nothing.
func checkFold(t interface{ Fatalf(string, ...any) }, s string) {
	got := Fold(nil, s)
	if slow := foldSlowly(s); slow != string(got) {
		t.Fatalf("Fold(%q) = %q, code point by code point %q", s, got, slow)
	}
	if !utf8.Valid(got) {
		t.Fatalf("Fold(%q) = %q is not UTF-8", s, got)
	}
	if again := Fold(nil, string(got)); string(again) != string(got) {
		t.Fatalf("Fold(%q) = %q, folded again %q", s, got, again)
	}
}

// foldSlowly is Fold without its short cut through runs of ideographs.
func foldSlowly(s string) string {
	folder, f := NewFolder(), foldState{}
	for i, r := range s {
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], "\ufffd") {
			f.pause(0)
			continue
		}
		p, rest := folder.Rune(r)
		for _, q := range append([]Piece{p}, rest...) {
			f.step(q.Rune, q.Class)
		}
	}
	return string(f.dst)
}

// Every code point folds to something a second fold leaves alone.
func TestEveryCodePoint(t *testing.T) {
	t.Parallel()
	f := NewFolder()
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		p, rest := f.Rune(r)
		for _, q := range append([]Piece{p}, rest...) {
			if q.Class == Ignored || q.Class == Punct || q.Class == Space {
				continue
			}
			again, more := f.Rune(q.Rune)
			if again != q || more != nil {
				t.Errorf("%U folds to %U (%d), which folds to %U (%d)", r, q.Rune, q.Class, again.Rune, again.Class)
			}
		}
	}
}

func TestScriptLang(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"":               Undetermined,
		"12 / 3.5":       Undetermined,
		"灯罩的厚度是指______。": Chinese,
		"NAVTEX接收机的字符B4代表什么？":    Chinese,
		"当AIS设备失效时，应报告VTS。":      Chinese,
		"You must sound a blast": English,
		"MAYDAY":                 English,
		"Ａｌｌ":                    English,
		"The master shall proceed to the assistance of persons in distress. 船长应全速前往救助遇险人员。": Mixed,
		"Судно должно": Undetermined,
		"船を右に曲げるときにはどうすればよいですか":                                                                    Undetermined,
		"The word 船 means a vessel that is used for carrying people or goods over water, and more": English,
	} {
		if got := ScriptLang(s); got != want {
			t.Errorf("ScriptLang(%q) = %s, want %s", s, got, want)
		}
	}
}

func TestTerms(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"船舶 電力":                    "船舶 舶电 电力",
		"船，舵":                      "船 舵",
		"A 1.5 m Power-driven VHF": "a 1.5 m power driven vhf",
		"使用VHF通信":                  "使用 vhf 通信",
	} {
		if d := cmp.Diff(strings.Fields(want), Terms(nil, s)); d != "" {
			t.Errorf("Terms(%q) (-want +got):\n%s", s, d)
		}
	}
}

func TestGrams(t *testing.T) {
	t.Parallel()
	if a, b := Grams(nil, "船舶電力系統", 3), Grams(nil, "船 舶，电力\n系统", 3); !slices.Equal(a, b) || len(a) != 4 {
		t.Errorf("grams of one text typed twice differ or are not 4: %v %v", a, b)
	}
	if n := len(Grams(nil, "on", 5)); n != 1 {
		t.Errorf("a short text has %d grams, want the whole as one", n)
	}
	if n := len(Grams(nil, " 。", 3)); n != 0 {
		t.Errorf("an empty text has %d grams", n)
	}
}

func FuzzFold(f *testing.F) {
	for _, s := range []string{"", "船舶（ ）①Ⅰ", "a\xffb", "-1 -2.5.", "ﬁ㎡⑴", "\u0301\u3099が"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkFold(t, s); ScriptLang(s); Terms(nil, s) })
}

var benchText = strings.Repeat("在船舶主机的起动过程中，起动空气压力不应低于 0.6 MPa；the main engine shall be stopped. ", 200)

func TestInvalidUTF8(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]int{"": -1, "船 a": -1, "\ufffd": -1, "a\xff": 1, "船\xe8\x88": 3, "\xed\xa0\x80": 0} {
		if got := InvalidUTF8([]byte(s)); got != want {
			t.Errorf("InvalidUTF8(%q) = %d, want %d", s, got, want)
		}
	}
}

func BenchmarkFold(b *testing.B) {
	b.SetBytes(int64(len(benchText)))
	b.ReportAllocs()
	var dst []byte
	for b.Loop() {
		dst = Fold(dst[:0], benchText)
	}
}

func BenchmarkScriptLang(b *testing.B) {
	b.SetBytes(int64(len(benchText)))
	for b.Loop() {
		ScriptLang(benchText)
	}
}

func BenchmarkTable(b *testing.B) {
	for b.Loop() {
		buildTable()
	}
}

// What compatible leaves out really has no compatibility form.
func TestCompatibleMissesNothing(t *testing.T) {
	t.Parallel()
	for r := rune(0x10000); r <= utf8.MaxRune; r++ {
		if s := string(r); !compatible(r) && norm.NFKC.String(s) != s {
			if got := []rune(norm.NFKC.String(s)); len(got) == 1 || unicode.Is(unicode.Latin, got[0]) {
				t.Errorf("%U has the compatibility form %q", r, string(got))
			}
		}
	}
}
