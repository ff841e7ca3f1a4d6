package report

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/page"
)

// answer is the one line that says how the check ended.
type answer struct {
	text string
	good bool
}

func (a answer) HTML(b *bytes.Buffer) {
	tone := "bad"
	if a.good {
		tone = "good"
	}
	fmt.Fprintf(b, "<p class=\"answer %s\">%s</p>\n", tone, page.EscapeHTML(a.text))
}

func (a answer) Markdown(b *bytes.Buffer) { fmt.Fprintf(b, "**%s**\n", page.EscapeMarkdown(a.text)) }

// filter shows and hides the findings of each verdict. It works by style alone:
// the boxes stand before the findings, as their siblings.
type filter struct {
	verdicts []string
	hint     string
}

func (f filter) style() string {
	var b strings.Builder
	for _, v := range f.verdicts {
		fmt.Fprintf(&b, "#f-%[1]s:not(:checked)~.v-%[1]s{display:none}\n", slug(v))
	}
	return b.String()
}

func (f filter) HTML(b *bytes.Buffer) {
	for _, v := range f.verdicts {
		fmt.Fprintf(b, "<input type=\"checkbox\" id=\"f-%s\" checked><label for=\"f-%[1]s\">%s</label>\n", slug(v), page.EscapeHTML(v))
	}
	fmt.Fprintf(b, "<p class=\"hint\">%s</p>\n", page.EscapeHTML(f.hint))
}

func (filter) Markdown(*bytes.Buffer) {}

// slug makes a name that can stand in a class: verdicts of other versions may
// hold anything.
func slug(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '-'
	}, s)
}

// finding is a hit, both sides beside each other.
type finding struct {
	group                group
	where, verdict, item string
	score                float64
	notes                []string // about the whole
	sides                []side
	order                string // of the options; empty: their own
}

type side struct {
	label string
	text  []Stretch
	diff  string // the HTML element around what differs
}

func newFinding(h *Hit, g group, lang msg.Lang) finding {
	f := finding{
		group: g, where: Where(&h.Record), verdict: string(h.Verdict),
		item: h.Item.Benchmark + " " + itoa(h.Item.Index), score: h.Score,
	}
	if h.Waived != nil {
		f.notes = append(f.notes, waivedBecause(h.Waived).In(lang))
	}
	v := h.View()
	if len(v.Data)+len(v.Item) > 0 {
		f.sides = []side{
			{msg.Text{"data", "数据"}.In(lang), v.Data, "ins"},
			{msg.Text{"item", "题目"}.In(lang), v.Item, "del"},
		}
	}
	for i := range f.sides {
		if len(f.sides[i].text) == 0 {
			f.sides[i].text = []Stretch{{msg.Text{"not at hand", "不可得"}.In(lang), Plain}}
		}
	}
	if v.Order != "" {
		f.order = msg.Text{"The data has the item's options in the order %s.", "数据中选项的次序为 %s。"}.Format(lang, v.Order)
	}
	return f
}

func (f finding) HTML(b *bytes.Buffer) {
	esc := page.EscapeHTML
	fmt.Fprintf(b, "<article class=\"%s v-%s\">\n<h3><span>%s</span> <code>%s</code> <span>%s</span> <span class=\"score\">%.2f</span></h3>\n",
		f.group.class(), slug(f.verdict), esc(f.where), esc(f.verdict), esc(f.item), f.score)
	for _, n := range f.notes {
		fmt.Fprintf(b, "<p>%s</p>\n", esc(n))
	}
	if len(f.sides) > 0 {
		b.WriteString("<div class=\"sides\">\n")
		for _, s := range f.sides {
			fmt.Fprintf(b, "<div><h4>%s</h4><p>%s</p></div>\n", esc(s.label), s.write(esc, "mark"))
		}
		b.WriteString("</div>\n")
	}
	if f.order != "" {
		fmt.Fprintf(b, "<p>%s</p>\n", esc(f.order))
	}
	b.WriteString("</article>\n")
}

func (f finding) Markdown(b *bytes.Buffer) {
	esc := page.EscapeMarkdown
	fmt.Fprintf(b, "### %s · `%s` · %s · %.2f\n", esc(f.where), slug(f.verdict), esc(f.item), f.score)
	for _, n := range f.notes {
		fmt.Fprintf(b, "\n%s\n", esc(n))
	}
	if len(f.sides) > 0 {
		b.WriteString("\n|  |  |\n|---|---|\n")
		for _, s := range f.sides {
			fmt.Fprintf(b, "| %s | %s |\n", esc(s.label), s.write(esc, ""))
		}
	}
	if f.order != "" {
		fmt.Fprintf(b, "\n%s\n", esc(f.order))
	}
}

// write puts HTML elements around what differs and, if same is not empty, around
// what does not: emphasis by asterisks does not work beside Chinese punctuation.
func (s *side) write(escape func(string) string, same string) string {
	var b strings.Builder
	for _, t := range s.text {
		tag := ""
		switch t.Mark {
		case Same:
			tag = same
		case Diff:
			tag = s.diff
		}
		if tag == "" {
			b.WriteString(escape(t.Text))
			continue
		}
		fmt.Fprintf(&b, "<%s>%s</%[1]s>", tag, escape(t.Text))
	}
	return b.String()
}
