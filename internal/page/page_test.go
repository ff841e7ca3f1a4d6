package page

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
	"pgregory.net/rapid"
)

func TestBothForms(t *testing.T) {
	t.Parallel()
	d := New("zh", "评测 <1>")
	d.Heading("成绩")
	d.Text("1. 不是列表 | _a_ <b>")
	d.List("- 一", "二")
	d.Table([]Column{{Name: "项"}, {Name: "n", Right: true}}, [][]string{{"a|b", "3"}, {"# c\nd", "-1"}})
	d.Table([]Column{{Name: "nothing"}}, nil)
	d.Fold("更多", func(in *Doc) {
		in.Table([]Column{{Name: "sha256", Code: true}}, [][]string{{"ab_c"}, {"a`b"}})
	})
	d.Chart("<svg></svg>\n", "▲\n")
	want := `# 评测 &lt;1>

## 成绩

1\. 不是列表 \| \_a\_ &lt;b>

- \- 一
- 二

| 项 | n |
|---|--:|
| a\|b | 3 |
| # c d | -1 |

更多

| sha256 |
|---|
| ` + "`ab_c`" + ` |
| a\` + "`" + `b |

` + "```text\n▲\n```\n"
	if d := cmp.Diff(want, string(d.Markdown())); d != "" {
		t.Error(d)
	}
	page := string(d.HTML())
	for _, s := range []string{`<html lang="zh">`, "<title>评测 &lt;1&gt;</title>", `<td class="n">3</td>`, "<svg></svg>", "<details><summary>更多</summary>\n<table>", "<td><code>ab_c</code></td>", "<li>- 一</li>"} {
		if !strings.Contains(page, s) {
			t.Errorf("no %s in\n%s", s, page)
		}
	}
	for _, s := range []string{"http://", "https://", "<script", "url("} {
		if strings.Contains(page, s) {
			t.Errorf("the page asks for more than itself: %s", s)
		}
	}
}

// TestTextStaysText: whatever text is shown, the page has the elements that were
// asked for and no other.
func TestTextStaysText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"</td><script>", "\x00\x1b[1m\x7f", "$x$ ~~y~~", "a|b\nc", "&lt;", "\"'", "```"})).Draw(t, "s")
		d := New("en", s)
		d.Text(s)
		d.Table([]Column{{Name: s}}, [][]string{{s}})
		elements := map[string]int{}
		z := html.NewTokenizer(bytes.NewReader(d.HTML()))
		for {
			kind := z.Next()
			if kind == html.ErrorToken {
				break
			}
			if kind == html.StartTagToken {
				name, _ := z.TagName()
				elements[string(name)]++
			}
		}
		want := map[string]int{"html": 1, "head": 1, "meta": 2, "title": 1, "style": 1, "body": 1, "h1": 1, "p": 1, "table": 1, "tr": 2, "th": 1, "td": 1}
		if diff := cmp.Diff(want, elements); diff != "" {
			t.Fatalf("%q: %s", s, diff)
		}
		for _, line := range strings.Split(string(d.Markdown()), "\n") {
			if strings.HasPrefix(line, "|") && strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") != 2 {
				t.Fatalf("%q makes another cell: %s", s, line)
			}
		}
	})
}
