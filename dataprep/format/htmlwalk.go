package format

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/msg"
)

// maxHTMLDepth is how deep elements are followed; below it, text is taken
// without its structure.
const maxHTMLDepth = 400

// An htmlWalk turns a parsed page into blocks.
type htmlWalk struct {
	ctx     context.Context
	file    *File
	yield   func(drydock.Block, error) bool
	para    int
	given   int
	left    map[string]int // characters left out, by the element that held them
	depth   int
	lists   []htmlList
	label   string // of a list item, waiting for its text
	pre     int    // inside preformatted text
	level   int8   // of the heading being read
	line    htmlLine
	cell    *cellWriter // a table cell takes the blocks instead
	looks   htmlLooks
	asides  int  // looked at so far
	showing bool // inside hidden text that is read
	whole   bool // what is around the content is read as well
	around  map[*html.Node]bool
	rules   *htmlRules            // of the page's style sheets
	sheet   func(string) string   // the text of a style sheet the page links to; may be nil
	choices map[*html.Node]string // letters of buttons to choose by
	part    string                // of a book: the chapter's file
	titles  map[string]int8       // of a book: level of the headings its contents name in this part
}

// htmlLine is the block being written.
type htmlLine struct {
	text   strings.Builder
	spans  []drydock.Span
	figure string
	space  bool // a blank waits for text behind it
}

// htmlLooks is how text looks at this place.
type htmlLooks struct {
	bold, under, sub, sup int
	color                 string
}

// An htmlList is an open list.
type htmlList struct {
	ordered  bool
	format   string // as in Word: decimal, lowerLetter …
	next     int
	step     int
	unlisted bool // list-style: none
}

// page walks the document.
func (w *htmlWalk) page(root *html.Node) error {
	w.rules, w.choices = styleRules(root, w.sheet), choiceLetters(root)
	if !w.whole && w.part == "" { // a part is of a book, or of another document
		w.around = around(root)
	}
	if err := w.node(root); err != nil {
		return err
	}
	return w.flush()
}

// tell notes what was left out, and a page without text.
func (w *htmlWalk) tell(note func(Note), page string) {
	if w.given == 0 {
		code := msg.Text{"%s: the page holds no visible text; it may be made by a script in the browser", "%s：网页中没有可见文字；内容可能由浏览器脚本生成"}
		note(Note{Code: "no_text", Damage: true, Text: code, Args: []any{w.file.name()}})
		return
	}
	if n := w.left["nav"]; n > 0 {
		note(Note{Code: "navigation_left_out", Text: msg.Text{
			"%s: %d characters of menus, page header, footer and links were left out; html: whole reads them",
			"%s：略去菜单、页眉、页脚和链接共 %d 个字符；html: whole 可读取",
		}, Args: []any{w.file.name(), n}})
	}
	if n := w.left["hidden"]; n > 0 {
		note(Note{Code: "hidden_text", Text: msg.Text{
			"%s: %d characters that the page hides were left out", "%s：略去网页隐藏的文字共 %d 个字符",
		}, Args: []any{w.file.name(), n}})
	}
	if n := w.left["shown"]; n > 0 {
		note(Note{Code: "hidden_answers", Text: msg.Text{
			"%s: answers that the page hides until a button is pressed were read, %d places", "%s：读取了网页按下按钮才显示的答案，共 %d 处",
		}, Args: []any{w.file.name(), n}})
	}
	if !strings.Contains(strings.ToLower(page[max(0, len(page)-4096):]), "</html") && strings.Contains(strings.ToLower(page[:min(len(page), 4096)]), "<html") {
		note(Note{Code: "torn_page", Damage: true, Text: msg.Text{
			"%s: the page has no end (</html>); it may be cut off", "%s：网页没有结尾（</html>），可能不完整",
		}, Args: []any{w.file.name()}})
	}
}

func (w *htmlWalk) node(n *html.Node) error {
	switch n.Type {
	case html.TextNode:
		w.text(n.Data)
		return nil
	case html.ElementNode:
		if w.depth++; w.depth > maxHTMLDepth {
			w.text(textOf(n))
			w.depth--
			return nil
		}
		err := w.element(n)
		w.depth--
		return err
	case html.DocumentNode:
		return w.children(n)
	}
	return nil
}

func (w *htmlWalk) children(n *html.Node) error {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if err := w.node(c); err != nil {
			return err
		}
	}
	return nil
}

// element reads one element and what is in it.
func (w *htmlWalk) element(n *html.Node) error {
	kind := unseen(n)
	switch {
	case kind == "nav" && w.whole:
		kind = ""
	case w.around[n]:
		kind = "nav"
	case w.whole:
	case n.DataAtom == atom.Aside && w.asides < mostAsides:
		if w.asides++; mostlyLinks(n) {
			kind = "nav"
		}
	}
	if done, err := w.rendered(n); done {
		return err
	}
	if kind == "hidden" && (w.showing || holdsAnswer(n)) {
		outer := w.showing
		if w.showing = true; !outer {
			w.left["shown"]++ // quiz sites hide what a press of a button shows
		}
		err := w.blockOf(n)
		w.showing = outer
		return err
	}
	if kind != "" {
		w.left[kind] += len([]rune(strings.Join(strings.Fields(textOf(n)), " ")))
		return nil
	}
	return w.shown(n)
}

// shown reads an element that is there to be read.
func (w *htmlWalk) shown(n *html.Node) error {
	switch n.DataAtom {
	case atom.Br:
		return w.breakLine()
	case atom.Hr:
		return w.flush()
	case atom.Img, atom.Image:
		return w.image(n)
	case atom.Input:
		w.field(n)
		return nil
	case atom.Table:
		return w.table(n)
	case atom.Ol, atom.Ul, atom.Menu:
		return w.list(n)
	case atom.Li:
		return w.item(n)
	case atom.Pre, atom.Textarea, atom.Listing, atom.Xmp:
		w.pre++
		err := w.blockOf(n)
		w.pre--
		return err
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return w.heading(n)
	case atom.Math:
		w.put(mathText(n))
		return nil
	case atom.Rt, atom.Rp:
		return nil // how a character is read
	}
	if isHTMLBlock(n) {
		return w.blockOf(n)
	}
	return w.styled(n)
}

// isHTMLBlock reports whether an element stands on lines of its own.
func isHTMLBlock(n *html.Node) bool {
	switch n.DataAtom {
	case atom.P, atom.Div, atom.Section, atom.Article, atom.Main, atom.Aside, atom.Header, atom.Footer, atom.Blockquote,
		atom.Dl, atom.Dt, atom.Dd, atom.Figure, atom.Figcaption, atom.Form, atom.Fieldset, atom.Legend, atom.Address,
		atom.Details, atom.Summary, atom.Center, atom.Body, atom.Html, atom.Hgroup, atom.Option, atom.Optgroup, atom.Caption,
		atom.Tr, atom.Td, atom.Th, atom.Dir, atom.Title, atom.Frameset:
		return true
	}
	return false
}

func (w *htmlWalk) blockOf(n *html.Node) error {
	if err := w.flush(); err != nil {
		return err
	}
	if err := w.styled(n); err != nil {
		return err
	}
	return w.flush()
}

func (w *htmlWalk) heading(n *html.Node) error {
	if err := w.flush(); err != nil {
		return err
	}
	outer := w.level
	w.level = int8(n.Data[1] - '0')
	defer func() { w.level = outer }()
	if err := w.styled(n); err != nil {
		return err
	}
	return w.flush()
}

// styled reads the children with the looks the element gives them.
func (w *htmlWalk) styled(n *html.Node) error {
	outer := w.looks
	defer func() { w.looks = outer }()
	switch n.DataAtom {
	case atom.B, atom.Strong, atom.Th:
		w.looks.bold++
	case atom.U, atom.Ins:
		w.looks.under++
	case atom.Sub:
		w.looks.sub++
	case atom.Sup:
		w.looks.sup++
	case atom.Font:
		if c := cssColor(attrOf(n, "color")); c != "" {
			w.looks.color = c
		}
	case atom.Mark:
		w.looks.color = "FFFF00"
	}
	s := w.styleOf(n)
	if s.color != "" {
		w.looks.color = s.color
	}
	for _, c := range []struct {
		on    bool
		count *int
	}{{s.bold, &w.looks.bold}, {s.under, &w.looks.under}, {s.sup, &w.looks.sup}, {s.sub, &w.looks.sub}} {
		if c.on {
			*c.count++
		}
	}
	return w.children(n)
}

// text adds text, blanks folded as a browser does, except that a line end of the
// source between two Chinese characters is none.
func (w *htmlWalk) text(s string) {
	if w.pre > 0 {
		for i, part := range strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n") {
			if i > 0 && w.breakLine() != nil {
				return
			}
			w.put(part)
		}
		return
	}
	for len(s) > 0 {
		i := strings.IndexFunc(s, isHTMLSpace)
		if i < 0 {
			w.put(s)
			return
		}
		if i > 0 {
			w.put(s[:i])
		}
		rest := strings.TrimLeftFunc(s[i:], isHTMLSpace)
		broken := strings.ContainsAny(s[i:len(s)-len(rest)], "\r\n")
		if !broken || !w.betweenHan(rest) {
			w.line.space = true
		}
		s = rest
	}
}

// isHTMLSpace reports the blanks HTML folds; U+00A0 and U+3000 stay.
func isHTMLSpace(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r == '\r' || r == '\f' }

// betweenHan reports whether a line break of the source stands between two
// Chinese characters, where it is no blank.
func (w *htmlWalk) betweenHan(rest string) bool {
	before, _ := utf8.DecodeLastRuneInString(w.line.text.String())
	after, _ := utf8.DecodeRuneInString(rest)
	return wide(before) && wide(after)
}

func wide(r rune) bool {
	return unicode.Is(unicode.Han, r) || r >= 0x3000 && r < 0x3040 || r >= 0xFF00 && r < 0xFF61
}

// put writes text as it stands.
func (w *htmlWalk) put(s string) {
	if s == "" {
		return
	}
	l := &w.line
	if w.label != "" {
		l.text.WriteString(w.label)
		w.label, l.space = "", false
	}
	if l.space && l.text.Len() > 0 {
		l.text.WriteByte(' ')
	}
	l.space = false
	start := l.text.Len()
	l.text.WriteString(strings.ReplaceAll(s, "\u00a0", " "))
	end := l.text.Len()
	mark := func(kind drydock.SpanKind, value string) {
		for i := len(l.spans) - 1; i >= 0 && i >= len(l.spans)-4; i-- {
			if p := &l.spans[i]; p.Kind == kind && p.Value == value && (p.End == start || p.End == start-1 && l.text.String()[p.End] == ' ') {
				p.End = end
				return
			}
		}
		l.spans = append(l.spans, drydock.Span{Start: start, End: end, Kind: kind, Value: value})
	}
	if w.looks.bold > 0 {
		mark(drydock.Bold, "")
	}
	if w.looks.under > 0 {
		mark(drydock.Underline, "")
	}
	if w.looks.color != "" && w.looks.color != "000000" {
		mark(drydock.Color, w.looks.color)
	}
	if w.looks.sup > 0 {
		mark(drydock.Superscript, "")
	}
	if w.looks.sub > 0 {
		mark(drydock.Subscript, "")
	}
}

// breakLine ends the line; an empty one, from two breaks in a row, is kept as
// an empty block.
func (w *htmlWalk) breakLine() error {
	if w.line.text.Len() == 0 && w.line.figure == "" {
		return w.give(drydock.Block{})
	}
	return w.flush()
}

// flush gives the block being written, if there is any.
func (w *htmlWalk) flush() error {
	l := &w.line
	l.space = false
	text := strings.TrimRight(l.text.String(), " ")
	if text == "" && l.figure == "" {
		l.text.Reset()
		l.spans = nil
		return nil
	}
	b := drydock.Block{Text: text, Level: w.level, Figure: l.figure}
	for _, s := range l.spans {
		s.Start, s.End = min(s.Start, len(text)), min(s.End, len(text))
		if s.Start < s.End || s.Kind == drydock.Image {
			b.Spans = append(b.Spans, s)
		}
	}
	w.line = htmlLine{}
	return w.give(b)
}

// give yields a block, or adds it to the table cell that is open.
func (w *htmlWalk) give(b drydock.Block) error {
	if w.cell != nil {
		w.cell.line(b.Text, b.Spans)
		return nil
	}
	return w.emit(b)
}

func (w *htmlWalk) emit(b drydock.Block) error {
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	w.para++
	if b.Text != "" || b.Cells != nil || b.Figure != "" {
		w.given++
	}
	if len(w.titles) > 0 && b.Level == 0 {
		title := foldTitle(b.Text)
		if level := w.titles[title]; level > 0 {
			b.Level = level
			delete(w.titles, title) // what repeats it is text
		}
	}
	b.At = drydock.Locator{Part: w.part, Para: w.para}
	if !w.yield(b, nil) {
		return errStop
	}
	return nil
}
