package format

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/internal/fail"
)

func TestBoundedPart(t *testing.T) {
	t.Parallel()
	p := &officePackage{file: &File{Path: "bomb.docx"}}
	r := &boundedPart{ReadCloser: io.NopCloser(strings.NewReader(strings.Repeat("a", 100))), of: p, name: "word/document.xml", left: 40, limit: 40}
	b, err := io.ReadAll(r)
	var e *fail.Error
	if len(b) != 40 || !errors.As(err, &e) || !strings.Contains(err.Error(), "unfolds") {
		t.Errorf("%d bytes, error %v", len(b), err)
	}
}

func TestFormatNumber(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		format string
		n      int
		want   string
	}{
		{"decimal", 12, "12"},
		{"upperLetter", 1, "A"},
		{"upperLetter", 27, "AA"},
		{"lowerLetter", 4, "d"},
		{"upperLetter", 0, "0"},
		{"upperRoman", 1994, "MCMXCIV"},
		{"lowerRoman", 4, "iv"},
		{"upperRoman", 0, "0"},
		{"decimalZero", 7, "07"},
		{"decimalZero", 17, "17"},
		{"chineseCounting", 10, "十"},
		{"chineseCounting", 11, "十一"},
		{"chineseCounting", 20, "二十"},
		{"chineseCountingThousand", 105, "一百〇五"},
		{"chineseCountingThousand", 110, "一百一十"},
		{"chineseCountingThousand", 1001, "一千〇一"},
		{"chineseCountingThousand", 20003, "二万〇三"},
		{"chineseLegalSimplified", 11, "壹拾壹"},
		{"ideographDigital", 10, "一〇"},
		{"ideographTraditional", 3, "丙"},
		{"ideographZodiac", 13, "子"},
		{"decimalFullWidth", 12, "１２"},
		{"decimalEnclosedCircle", 20, "⑳"},
		{"decimalEnclosedCircle", 21, "㉑"},
		{"decimalEnclosedCircle", 51, "51"},
		{"decimalEnclosedParen", 3, "⑶"},
		{"decimalEnclosedFullstop", 3, "⒊"},
		{"ordinal", 22, "22nd"},
		{"ordinal", 12, "12th"},
		{"none", 3, ""},
		{"unheardOf", 3, "3"},
	} {
		if got := formatNumber(c.n, c.format); got != c.want {
			t.Errorf("%s %d = %q, want %q", c.format, c.n, got, c.want)
		}
	}
}

func TestHasLabel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, label string
		want        bool
	}{
		{"1. 缆桩", "1.", true},
		{"１．缆桩", "1.", true},
		{"1、缆桩", "1. ", true},
		{"（1）缆桩", "(1)", true},
		{"[1]缆桩", "1.", true},
		{"2.5米", "2. ", false},
		{"2．5米", "2. ", false},
		{"3级风", "3. ", false},
		{"12.题", "1. ", false},
		{"A. 系缆", "A.", true},
		{"A级船", "A. ", false},
		{"a) x", "a)", true},
		{"第三章 总则", "第三章", true},
		{"三、总则", "第三章 ", true},
		{"三角缆", "三、", false},
		{"①系缆", "①", true},
		{"②系缆", "①", false},
		{"1.1 范围", "1.1 ", true},
		{"1.10 范围", "1.1 ", false},
		{"", "1.", false},
		{"• 点", "• ", true},
		{"点", "• ", false},
	} {
		if got := hasLabel(c.text, c.label); got != c.want {
			t.Errorf("hasLabel(%q, %q) = %v", c.text, c.label, got)
		}
	}
}
