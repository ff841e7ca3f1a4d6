package contam

import (
	"fmt"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval/benchmark"
)

// listed are ways to write a list of stems, an entry a line.
var listed = map[string]func(n int, stem string) string{
	"bare":           func(_ int, s string) string { return s },
	"without blanks": func(_ int, s string) string { return strings.ReplaceAll(s, "_", "") },
	"full stop":      func(_ int, s string) string { return strings.TrimRight(strings.ReplaceAll(s, "_", ""), "。.？?") },
	"numbered":       func(n int, s string) string { return fmt.Sprintf("%d. %s", n+1, s) },
	"numbered 、":     func(n int, s string) string { return fmt.Sprintf("%d、%s", n+1, s) },
	"brackets":       func(n int, s string) string { return fmt.Sprintf("(%d) %s", n+1, s) },
	"circled":        func(n int, s string) string { return fmt.Sprintf("Q%d: %s", n+1, s) },
	"第 题":            func(n int, s string) string { return fmt.Sprintf("第%d题　%s", n+1, s) },
	"Markdown":       func(_ int, s string) string { return "- " + s },
	"Markdown bold":  func(_ int, s string) string { return "* **" + s + "**" },
	"table":          func(n int, s string) string { return fmt.Sprintf("| %d | %s |", n, s) },
	"TSV":            func(n int, s string) string { return fmt.Sprintf("%d\t%s", n, s) },
	"quoted":         func(_ int, s string) string { return `    "` + s + `",` },
	"single quotes":  func(_ int, s string) string { return "  '" + s + "'," },
	"book quotes":    func(_ int, s string) string { return "「" + s + "」" },
	"map to letters": func(n int, s string) string { return fmt.Sprintf("  %q: %q,", s, "ABCD"[n%4:n%4+1]) },
	"key":            func(_ int, s string) string { return `"question": "` + s + `",` },
	"YAML":           func(_ int, s string) string { return "- q: " + s },
	"HTML":           func(_ int, s string) string { return "<li>" + s + "</li>" },
}

// A line that is a stem and nothing else is a leak, however the list is written
// and whatever the lines beside it say.
func TestOwnLine(t *testing.T) {
	t.Parallel()
	ix := testIndex(t)
	for name, write := range listed {
		for _, eol := range []string{"\n", "\r\n", "\n\n"} {
			var b strings.Builder
			b.WriteString("题目列表" + eol)
			for i := range testItems {
				b.WriteString(write(i, testItems[i].stem) + eol)
			}
			s := ix.Scanner()
			found := s.Text([]byte(b.String()))
			for i := range testItems {
				if !failsAs(found, ItemRef{testRef.Name, i}) {
					t.Errorf("%s, %q: item %d %q does not fail: %s", name, eol, i, testItems[i].stem, verdict(found, i))
				}
			}
		}
	}
}

// A rule stays a source: its sentence may stand on a line of its own, but it has
// a clause's label, or words that the item has not.
func TestOwnLineOfARule(t *testing.T) {
	t.Parallel()
	const before = "Every vessel shall keep a proper watch and be ready to stop. A vessel in the lane shall show her lights. She shall sound the prescribed signal at short intervals while she is stopped and making no way.\n"
	stem := strings.TrimRight(strings.ReplaceAll(testItems[4].stem, "_", ""), " .")
	s := testIndex(t).Scanner()
	for _, text := range []string{
		before + "(e) " + stem + "\n" + before,
		before + "5.3 " + stem + "\n" + before,
		before + "§ 83.19 " + stem + " the minimum at which she can be kept on her course.\n" + before,
		before + stem + " the minimum at which she can be kept on her course.\n" + before,
	} {
		if found := s.Text([]byte(text)); failsAs(found, ItemRef{testRef.Name, 4}) {
			t.Errorf("%q: %+v", text, found)
		}
	}
}

// A look-alike that stands before an item does not hide it.
func TestVariantDoesNotHide(t *testing.T) {
	t.Parallel()
	variant := "船长180 m的货船锚泊时，夜间至少应显示______盏白色环照灯。\nA. 1\nB. 2\nC. 3\n"
	item := "船长120 m的货船锚泊时，夜间至少应显示______盏白色环照灯。\nA. 1\nB. 2\nC. 3\n"
	other := strings.Repeat("这里说的是别的事情，与题目没有关系。", 12) + "\n"
	s := testIndex(t).Scanner()
	for _, text := range []string{
		variant + other + item, item + other + variant, variant + item, strings.Repeat(variant+other, 3) + item,
		variant + other + testItems[2].stem + "\n", testItems[2].stem + "\n" + other + variant,
	} {
		if found := s.Text([]byte(text)); !failsAs(found, ItemRef{testRef.Name, 2}) {
			t.Errorf("%q: %+v", text, found)
		}
	}
}

// A short question may be the key of its answer, too.
func TestShortKeysAreTexts(t *testing.T) {
	t.Parallel()
	ref := benchmark.Ref{Name: "quiz", Revision: "1"}
	q := drydock.Question{Kind: drydock.Single, Stem: "锚链管是______。", Answer: []string{"A"}}
	for i, o := range []string{"收放锚链的通道", "系泊用的缆绳", "舵机的传动装置"} {
		q.Options = append(q.Options, drydock.Option{Label: string(rune('A' + i)), Text: o})
	}
	ix, err := NewIndex([]benchmark.Item{{Index: 3, Question: q}}, ref, Config{})
	if err != nil {
		t.Fatal(err)
	}
	s := ix.Scanner()
	for _, row := range []string{`{"锚链管是______。":"A"}`, `{"n":{"号型":1,"锚链管是______。":2}}`} {
		found, err := s.Row([]byte(row))
		if err != nil || !failsAs(found, ItemRef{"quiz", 3}) {
			t.Errorf("%s: %+v, %v", row, found, err)
		}
	}
}
