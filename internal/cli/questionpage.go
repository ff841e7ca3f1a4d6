package cli

import (
	"bytes"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/page"
	"github.com/drydock-ml/drydock/internal/pipeline"
)

// write writes the pages that are wanted.
func (ans *questionReviewAnswer) write(o *QuestionReviewOptions, l msg.Lang) error {
	if o.HTML+o.Markdown == "" {
		return nil
	}
	doc := reviewPage(ans, l)
	for _, p := range []struct {
		path string
		to   *string
		data func() []byte
	}{{o.HTML, &ans.HTML, doc.HTML}, {o.Markdown, &ans.Markdown, doc.Markdown}} {
		if p.path == "" {
			continue
		}
		if err := atomicfile.WriteFile(p.path, p.data()); err != nil {
			return err
		}
		*p.to = p.path
	}
	return nil
}

// reviewPage is the list as a page, the source beside what was read.
func reviewPage(ans *questionReviewAnswer, l msg.Lang) *page.Doc {
	d := page.New(l.String(), (msg.Text{"Questions to look at", "待查看的题目"}).In(l))
	d.Style(reviewStyle)
	d.Text((msg.Text{
		"%d {question|questions} read, %d doubtful or dropped, %d of them decided.", "已读 %d 题，可疑或被丢弃 %d 条，其中已决定 %d 条。",
	}).Format(l, ans.Rows, ans.Doubtful, ans.Decided))
	d.Text((msg.Text{
		"Left stands the source, right what was read of it. Someone with drydock writes down a decision as drydock question review --answer ID=B, --accept ID or --drop ID; ID is the number at the end of a heading.",
		"左侧为来源，右侧为读取结果。可用 drydock question review --answer ID=B、--accept ID 或 --drop ID 记录决定；ID 为标题末尾的编号。",
	}).In(l))
	for i := range ans.Items {
		d.Add(reviewBlock{&ans.Items[i], l})
	}
	return d
}

const reviewStyle = `.pair{display:grid;grid-template-columns:1fr 1fr;gap:1em;margin:0 0 1.2em}
.pair>div{border:1px solid var(--rule);border-radius:6px;padding:.6em .8em;white-space:pre-wrap;overflow-wrap:anywhere}
.pair>div:first-child{color:var(--soft)}
.right{font-weight:600}
@media(max-width:40em){.pair{grid-template-columns:1fr}}
`

// A reviewBlock is one item of the page.
type reviewBlock struct {
	it *pipeline.ReviewItem
	l  msg.Lang
}

func (x reviewBlock) head() string {
	return x.it.File + " " + x.it.At + " · " + x.it.ID
}

func (x reviewBlock) doubts() string {
	return strings.Join(reviewDoubts(x.it, x.l), (msg.Text{"; ", "；"}).In(x.l))
}

// HTML implements [page.Block].
func (x reviewBlock) HTML(b *bytes.Buffer) {
	b.WriteString("<h3>" + page.EscapeHTML(x.head()) + "</h3>\n<p>" + page.EscapeHTML(x.doubts()) + "</p>\n<div class=\"pair\"><div>")
	b.WriteString(page.EscapeHTML(strings.Join(sourceLines(x.it), "\n")))
	b.WriteString("</div><div>")
	if q := reviewed(x.it); q != nil {
		b.WriteString(page.EscapeHTML(q.Stem) + "\n")
		for _, o := range q.Options {
			line := page.EscapeHTML(o.Label + ". " + o.Text)
			if slices.Contains(q.Answer, o.Label) {
				line = "<span class=\"right\">" + line + "</span>"
			}
			b.WriteString(line + "\n")
		}
		lines := questionLines(q, x.l)
		b.WriteString(page.EscapeHTML(lines[len(lines)-1]))
	}
	if x.it.Fix != nil {
		b.WriteString("\n= " + page.EscapeHTML(fixWords(x.it.Fix, x.l)))
	}
	b.WriteString("</div></div>\n")
}

// Markdown implements [page.Block].
func (x reviewBlock) Markdown(b *bytes.Buffer) {
	b.WriteString("### " + page.EscapeMarkdown(x.head()) + "\n\n" + page.EscapeMarkdown(x.doubts()) + "\n\n")
	for _, l := range sourceLines(x.it) {
		b.WriteString("> " + page.EscapeMarkdown(l) + "  \n")
	}
	b.WriteByte('\n')
	if q := reviewed(x.it); q != nil {
		for _, l := range questionLines(q, x.l) {
			b.WriteString(page.EscapeMarkdown(l) + "  \n")
		}
	}
	if x.it.Fix != nil {
		b.WriteString("= " + page.EscapeMarkdown(fixWords(x.it.Fix, x.l)) + "\n")
	}
}
