package msg

import (
	"errors"
	"strings"
	"testing"
)

func TestParseLang(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]struct {
		lang Lang
		ok   bool
	}{
		"zh": {Zh, true}, "zh_CN.UTF-8": {Zh, true}, "zh-Hant-TW": {Zh, true}, "ZH": {Zh, true},
		"en_US.UTF-8": {En, true}, "C": {En, true}, "C.UTF-8": {En, true}, "POSIX": {En, true},
		"de_DE@euro": {En, false}, "": {En, false}, "zhuang": {En, false},
	} {
		if l, ok := ParseLang(in); l != want.lang || ok != want.ok {
			t.Errorf("ParseLang(%q) = %v, %v", in, l, ok)
		}
	}
}

func TestFormatLocalizesArguments(t *testing.T) {
	t.Parallel()
	text := Text{"%s of %d", "%s，共 %d"}
	if got := text.Format(Zh, Text{"rows", "行"}, 3); got != "行，共 3" {
		t.Errorf("got %q", got)
	}
	if got := text.Format(En, Text{"rows", "行"}, 3); got != "rows of 3" {
		t.Errorf("got %q", got)
	}
	if got := (Text{"100% sure", "百分之百"}).Format(En); got != "100% sure" {
		t.Errorf("a text without arguments was formatted: %q", got)
	}
	if got := (Text{"only", ""}).In(Zh); got != "only" {
		t.Errorf("missing Chinese gives %q", got)
	}
	if got := (Text{"%v", "%v"}).Format(En, errors.New("x")); got != "x" {
		t.Errorf("got %q", got)
	}
}

func TestFormatPlurals(t *testing.T) {
	t.Parallel()
	text := Text{"%d {row is|rows are} bad, %5.1f %% of %d {file|files}; {a|b", "%d 行有误，%5.1f %%，%d 个文件"}
	if got := (Text{"%d %s {row|rows}", ""}).Format(En, 1, "chat"); got != "1 chat row" {
		t.Errorf("got %q", got)
	}
	for _, c := range []struct {
		args []any
		want string
	}{
		{[]any{1, 2.5, int64(1)}, "1 row is bad,   2.5 % of 1 file; {a|b"},
		{[]any{0, 2.5, uint64(2)}, "0 rows are bad,   2.5 % of 2 files; {a|b"},
	} {
		if got := text.Format(En, c.args...); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	if got := text.Format(Zh, 1, 2.5, 1); got != "1 行有误，  2.5 %，1 个文件" {
		t.Errorf("got %q", got)
	}
	for _, text := range []string{"{x|y} %d", "%s {x|y}", "100 %% {x|y}"} {
		if got := (Text{text, ""}).Format(En, "1"); !strings.Contains(got, "{x|y}") {
			t.Errorf("no number stands before it: %q", got)
		}
	}
}

func TestListIsSaidInTheReadersLanguage(t *testing.T) {
	t.Parallel()
	text := Text{"known: %s", "可用：%s"}
	names := []string{"a", "b", "c", "d", "e", "f"}
	for _, c := range []struct {
		lang Lang
		list List
		want string
	}{
		{En, names, "known: a, b, c, d, e, f"},
		{Zh, names, "可用：a、b、c、d、e、f"},
		{En, Few(names, 5), "known: a, b, c, d, e, …"},
		{Zh, Few(names[:5], 5), "可用：a、b、c、d、e"},
		{Zh, nil, "可用："},
		{Zh, Few(Numbers([]int{1, -2, 30}), 2), "可用：1、-2、…"},
	} {
		if got := text.Format(c.lang, c.list); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	if names[5] != "f" {
		t.Error("Few has changed what it was given")
	}
}

func FuzzFormatPlurals(f *testing.F) {
	f.Add("%d {row|rows}", 1)
	f.Add("%", 1)
	f.Add("%d {|}|{%", 2)
	f.Fuzz(func(t *testing.T, text string, n int) {
		got := plurals(text, []any{n})
		if !strings.Contains(text, "{") && got != text {
			t.Errorf("%q became %q", text, got)
		}
	})
}
