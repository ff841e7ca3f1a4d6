package format_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"

	"github.com/drydock-ml/drydock"
)

// TestPDFScripts writes raised and lowered type by the signs Unicode has.
func TestPDFScripts(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	line := 0
	// each line: text, then what is set small after it, points above the baseline
	small := func(before, script string, rise float64, after string) {
		y := 760 - float64(line)*30
		x := 72 + 6.7*float64(len([]rune(before)))
		b.WriteString(at(72, y, 12, before) + at(x, y+rise, 7, script) + at(x+4*float64(len([]rune(script)))+1, y, 12, after))
		line++
	}
	want := []string{"10³ m", "CO₂ tanks", "m² of deck", "10⁻³ bar", "xₙ", "x^(Ab) long", "21st of May", "45° north"}
	small("10", "3", 5, " m")
	small("CO", "2", -3, " tanks")
	small("m", "2", 5, " of deck")
	small("10", "-3", 5, " bar")
	small("x", "n", -3, "")
	small("x", "Ab", 5, " long")
	small("21", "st", 4, " of May")
	small("45", "o", 5, " north")
	got := texts(readPDFFile(t, onePage(b.String()), pdfOptions()))
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestPDFColours marks what is printed in a colour, as answers sometimes are.
func TestPDFColours(t *testing.T) {
	t.Parallel()
	page := at(72, 700, 11, "A. left") + "1 0 0 rg " + at(180, 700, 11, "B. right") + "0.2 g " + at(300, 700, 11, "C. stop")
	want := []drydock.Block{{
		Text: "A. left  B. right  C. stop", At: drydock.Locator{Page: 1, Line: 1},
		Spans: []drydock.Span{{Start: 9, End: 17, Kind: drydock.Color, Value: "FF0000"}},
	}}
	if d := cmp.Diff(want, readPDFFile(t, onePage(page), pdfOptions()).Blocks); d != "" {
		t.Error(d)
	}
}

// TestPDFGarbled decodes Chinese whose bytes a font shows as Latin letters, and
// leaves alone what only looks like that.
func TestPDFGarbled(t *testing.T) {
	t.Parallel()
	want := []string{"船舶在能见度不良的水域中航行时，应以安全航速行驶。", "1. 两船对遇时应（B）。", "A．向左转向 B．根据AIS"}
	show := func(text string, enc encoding.Encoding) string {
		b := []byte(text)
		if enc != nil {
			var err error
			if b, err = enc.NewEncoder().Bytes(b); err != nil {
				t.Fatal(err)
			}
		}
		var s strings.Builder
		for _, c := range b {
			fmt.Fprintf(&s, "\\%03o", c)
		}
		return s.String()
	}
	page := func(texts []string, enc encoding.Encoding) string {
		var b strings.Builder
		for i, text := range texts {
			fmt.Fprintf(&b, "BT /F1 11 Tf 1 0 0 1 40 %d Tm (%s) Tj ET\n", 760-18*i, show(text, enc))
		}
		return b.String()
	}
	for _, c := range []struct {
		name string
		page string
		want []string
		code string
	}{
		{"GB18030", page(want, simplifiedchinese.GB18030), want, "redecoded"},
		{"Big5", page([]string{"船舶在能見度不良的水域中航行時", "應以安全航速行駛"}, traditionalchinese.Big5), []string{"船舶在能見度不良的水域中航行時", "應以安全航速行駛"}, "redecoded"},
		{"UTF-8, as far as it can be told", page([]string{"船在水域中航行时应以安全为主"}, nil), []string{"船在水域中航行时应以安全为主"}, "redecoded"},
		{"French", page([]string{"Les règles de barre sont déjà élevées à l'état définitif.", "Où êtes-vous né ?"}, charmap.Windows1252), []string{"Les règles de barre sont déjà élevées à l'état définitif.", "Où êtes-vous né ?"}, ""},
		{"Portuguese in capitals", page([]string{"NAVEGAÇÃO E SINALIZAÇÃO: CONDIÇÕES, POSIÇÕES, AÇÕES"}, charmap.Windows1252), []string{"NAVEGAÇÃO E SINALIZAÇÃO: CONDIÇÕES, POSIÇÕES, AÇÕES"}, ""},
		{"marks in Chinese", at(72, 700, 11, "所采取的行动……应是积极地——见“规则” ·· ··"), []string{"所采取的行动……应是积极地——见“规则” ·· ··"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := onePage(c.page)
			r := readPDFFile(t, f, pdfOptions())
			if d := cmp.Diff(c.want, texts(r)); d != "" {
				t.Error(d)
			}
			if got := strings.Join(noteCodes(r), " "); got != c.code {
				t.Errorf("notes %q, want %q", got, c.code)
			}
		})
	}
}
