package contam

import (
	"fmt"
	"html"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// beyondASCII writes every code point beyond ASCII as f does.
func beyondASCII(f func(c rune) string) func(string) string {
	return func(s string) string {
		return eachRune(s, func(c rune) string {
			if c < utf8.RuneSelf {
				return string(c)
			}
			return f(c)
		})
	}
}

func bytesAs(format string) func(c rune) string {
	return func(c rune) string {
		var b strings.Builder
		for _, v := range []byte(string(c)) {
			fmt.Fprintf(&b, format, v)
		}
		return b.String()
	}
}

// Text that a program, a mail or a page has escaped holds the same items.
func TestEscapedTexts(t *testing.T) {
	t.Parallel()
	s := testIndex(t).Scanner()
	tagged := func(s string) string {
		return "<p>" + beyondASCII(func(c rune) string { return "<b>" + string(c) + "</b>" })(s) + "</p>"
	}
	fullWidth := strings.NewReplacer("<", "＜", ">", "＞", "/", "／", "b", "ｂ", "p", "ｐ")
	n := 0
	for name, disguise := range map[string]func(string) string{
		"braces":               beyondASCII(func(c rune) string { return fmt.Sprintf(`\u{%x}`, c) }),
		"braces, Perl":         beyondASCII(func(c rune) string { return fmt.Sprintf(`\x{%X}`, c) }),
		"eight digits":         beyondASCII(func(c rune) string { return fmt.Sprintf(`\U%08x`, c) }),
		"eight digits, quoted": beyondASCII(func(c rune) string { return fmt.Sprintf(`\\U%08x`, c) }),
		"bytes":                beyondASCII(bytesAs(`\x%02x`)),
		"bytes, quoted":        beyondASCII(bytesAs(`\\x%02x`)),
		"octal":                beyondASCII(bytesAs(`\%03o`)),
		"mail":                 beyondASCII(bytesAs(`=%02X`)),
		"mail, broken lines": func(s string) string {
			n = 0
			return beyondASCII(func(c rune) string {
				if n++; n%4 > 0 {
					return bytesAs("=%02X")(c)
				}
				return strings.Replace(bytesAs("=%02X")(c), "=", "=\r\n=", 2)
			})(s)
		},
		"address twice":  func(s string) string { return url.PathEscape(url.PathEscape(s)) },
		"address thrice": func(s string) string { return url.QueryEscape(url.QueryEscape(url.QueryEscape(s))) },
		"tags escaped":   func(s string) string { return html.EscapeString(tagged(s)) },
		"escaped twice":  func(s string) string { return html.EscapeString(html.EscapeString(tagged(s))) },
		"tags in a string": func(s string) string {
			return strings.NewReplacer("<", `\u003c`, ">", `\u003e`).Replace(tagged(s))
		},
		"tags in full width": func(s string) string { return fullWidth.Replace(tagged(s)) },
	} {
		for i := range testItems {
			if testQuestion(i).Stem[0] < utf8.RuneSelf {
				continue
			}
			want, got := s.Text([]byte(render(i))), s.Text([]byte(disguise(render(i))))
			if a, b := outcomes(want), outcomes(got); !slices.Equal(a, b) {
				t.Errorf("%s: item %d: %v, want %v", name, i, b, a)
			}
		}
	}
}

// Values of attributes that are texts are read, others are not.
func TestTextAttributes(t *testing.T) {
	t.Parallel()
	s := testIndex(t).Scanner()
	for _, c := range []struct {
		text string
		item int
		want Verdict
	}{
		{`<node TEXT="锅炉给水中溶解氧含量过高会加剧______。"><node TEXT="炉管的点状腐蚀"/><node TEXT="炉膛的积灰"/><node TEXT="蒸汽的过热"/><node TEXT="燃油的雾化不良"/></node>`, 7, Exact},
		{`<row Id="4" Title='Which of the following is not carried in a survival craft?' />`, 5, StemOnly},
		{`锅炉给水中溶解氧<img src="a.png" alt="在这里插入图片描述">含量过高会加剧______。`, 7, StemOnly},
		{`锅炉给水中溶解氧<span style="font: 12pt the old song of ships" class="a b c d e f g">含量过高会加剧</span>______。`, 7, StemOnly},
	} {
		if got := verdict(s.Text([]byte(c.text)), c.item); got != c.want {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
}

// What is written otherwise is no tag where it only looks like one.
func TestWrittenTags(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"&lt;b&gt;": 9, "&amp;lt;/sub&amp;gt;x": 20, `\u003cbr/\u003e`: 15, "＜ｓｕｂ＞": 15, "%3Cp%3E": 7, "%253Cp%253E": 11, "%3": 0, "＜SOLAS＞": 0, "＜20m": 0,
		"&lt; b&gt;": 0, "&lt;b": 0, "&lt;船&gt;": 0, "&lt;": 0, "&lt;p class=&quot;x&quot;&gt;": 29, "＜": 0, `\u003`: 0,
	} {
		if got := skipMarkup([]byte(text)); got != want {
			t.Errorf("%s: %d bytes, want %d", text, got, want)
		}
	}
}

func TestSign(t *testing.T) {
	t.Parallel()
	type result struct {
		R rune
		N int
	}
	for text, want := range map[string]result{
		`\u8239x`: {'船', 6}, `\\\u8239`: {'船', 8}, `\u{8239}`: {'船', 8}, `\u{}`: {}, `\u{110000}`: {}, `\u823`: {}, `\U00008239`: {'船', 10},
		`\xe8\x88\xb9`: {'船', 12}, `\xe8\x88`: {}, `\x41`: {}, `\350\210\271`: {'船', 12}, `\101`: {}, "=E8=88=B9": {'船', 9},
		"=E8=\n=88=B9": {'船', 11}, "=41": {}, "=": {}, "=E8": {}, "&#x8239;": {'船', 8}, `\`: {}, `\\`: {},
		"%E8%88%B9": {'船', 9}, "%25E8%2588%25B9": {'船', 15}, "%25E8%88%B9": {}, "%25": {'%', 3}, "%": {}, "%2": {},
	} {
		r, n := sign([]byte(text), 0)
		if d := cmp.Diff(want, result{r, n}); d != "" {
			t.Errorf("%s (-want +got):\n%s", text, d)
		}
	}
}
