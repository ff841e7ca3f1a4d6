package ui

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestWidth(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]int{"": 0, "abc": 3, "航海": 4, "Ａ．": 4, "①": 1, "e\u0301": 1, "\x1b[1mab\x1b[0m": 2, "…": 1} {
		if got := Width(s); got != want {
			t.Errorf("Width(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		width      int
		want       []string
	}{
		{"spaces", "one two three", 8, []string{"one two", "three"}},
		{"long word", "a incomprehensibility b", 6, []string{"a", "incomprehensibility", "b"}},
		{"chinese", "让路船应及早采取大幅度行动", 12, []string{"让路船应及早", "采取大幅度行", "动"}},
		{"a full-width stop stays with its letter", "航行 A．船", 6, []string{"航行", "A．船"}},
		{"no closing sign first", "让路船应及早，采取行动", 12, []string{"让路船应及", "早，采取行动"}},
		{"no opening sign last", "让路船应及（早）", 12, []string{"让路船应及", "（早）"}},
		{"mixed", "用 drydock help 查看", 12, []string{"用 drydock", "help 查看"}},
		{"kept line ends", "a\n\nb", 10, []string{"a", "", "b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(c.want, Wrap(c.text, c.width)); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

func TestWrapLosesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(rapid.SampledFrom([]rune("ab航行，。（ \n"))).Draw(t, "s")
		w := rapid.IntRange(4, 30).Draw(t, "w")
		lines := Wrap(s, w)
		squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if squeeze(strings.Join(lines, "\n")) != squeeze(s) {
			t.Fatalf("%q became %q", s, lines)
		}
	})
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"", "a\x1b[31mred\x1b[0m", "\x1b]0;title\a", "a\u202eb", "\x1b[2J", "\xff\x1b["} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := stripSGR(Clean(s))
		for _, r := range got {
			if r < 0x20 && r != '\n' && r != '\t' {
				t.Errorf("%q keeps %q", s, r)
			}
		}
		Truncate(got, 10)
		Wrap(got, 10)
	})
}

func TestWrapKeepsFullWidthWords(t *testing.T) {
	t.Parallel()
	got := Wrap("ｔｈｅ ｓｈｉｐ 船舶", 12)
	if d := cmp.Diff([]string{"ｔｈｅ", "ｓｈｉｐ 船", "舶"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestWrapCarriesColour(t *testing.T) {
	t.Parallel()
	got := Wrap("one \x1b[33mtwo three 四五六七\x1b[0m end", 9)
	want := []string{"one \x1b[33mtwo\x1b[0m", "\x1b[33mthree 四\x1b[0m", "\x1b[33m五六七\x1b[0m", "end"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
