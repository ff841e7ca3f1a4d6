package msg

import (
	"errors"
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
