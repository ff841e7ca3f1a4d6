package format

import (
	"path"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/drydock-ml/drydock"
)

// image notes a picture by its file name; its alternative text is text where
// the picture is a formula.
func (w *htmlWalk) image(n *html.Node) error {
	src := attrOf(n, "src")
	if src == "" {
		src = attrOf(n, "data-src")
	}
	if strings.HasPrefix(src, "data:") {
		src = "embedded"
	}
	if i := strings.IndexAny(src, "?#"); i > 0 {
		src = src[:i]
	}
	class, alt := attrOf(n, "class"), strings.TrimSpace(attrOf(n, "alt"))
	switch {
	case alt != "" && (strings.Contains(class, "math") || hasAttr(n, "eeimg") || strings.Contains(class, "latex") || strings.Contains(class, "tex-img")):
		if !besideMath(n) {
			w.put(texFrom(alt))
		}
	case src != "":
		w.figure(path.Base(src))
	}
	return nil
}

// figure puts an image at the end of the line.
func (w *htmlWalk) figure(name string) {
	l := &w.line
	if w.label != "" {
		l.text.WriteString(w.label)
		w.label = ""
	}
	at := l.text.Len()
	l.spans = append(l.spans, drydock.Span{Start: at, End: at, Kind: drydock.Image, Value: name})
	if l.figure == "" {
		l.figure = name
	}
}

// besideMath reports a picture of a formula that stands beside it as MathML.
func besideMath(n *html.Node) bool {
	if n.Parent == nil {
		return false
	}
	left := 200 // nodes looked at: a page may have many pictures in one element
	for c := range n.Parent.Descendants() {
		if left--; c.DataAtom == atom.Math || left == 0 {
			return left > 0
		}
	}
	return false
}

// rendered takes what scripts put on a page for a formula: its TeX or MathML is
// read, and what only draws it is passed over. It is false for all else.
func (w *htmlWalk) rendered(n *html.Node) (done bool, err error) {
	if n.DataAtom == atom.Script {
		if strings.HasPrefix(strings.ToLower(attrOf(n, "type")), "math/tex") {
			w.put(texFrom(textOf(n)))
		}
		return false, nil
	}
	for _, class := range strings.Fields(attrOf(n, "class")) {
		switch {
		case class == "katex-html":
			return n.PrevSibling != nil && strings.Contains(attrOf(n.PrevSibling, "class"), "katex-mathml"), nil
		case strings.HasPrefix(class, "MathJax"), strings.HasPrefix(class, "mjx-chtml"):
			for c := range n.Descendants() {
				if c.DataAtom == atom.Math {
					return true, w.node(c)
				}
			}
			return followedByTeX(n), nil
		}
	}
	return false, nil
}

// followedByTeX reports an element that a script with TeX stands behind.
func followedByTeX(n *html.Node) bool {
	const near = 4
	for range near {
		if n = n.NextSibling; n == nil {
			return false
		}
		if n.DataAtom == atom.Script && strings.HasPrefix(strings.ToLower(attrOf(n, "type")), "math/tex") {
			return true
		}
	}
	return false
}

// field shows what is written in a field, and the letter of a choice.
func (w *htmlWalk) field(n *html.Node) {
	switch strings.ToLower(attrOf(n, "type")) {
	case "checkbox", "radio":
		letter := w.choices[n]
		if letter == "" {
			return
		}
		if w.label != "" { // instead of the list's
			w.label = letter + ". "
			return
		}
		w.line.space = true // options may stand on one line
		w.put(letter + ".")
		w.line.space = true
	case "hidden", "submit", "button", "image", "reset", "file", "password":
	default:
		w.text(attrOf(n, "value"))
	}
}

// choiceLetters finds the buttons one is to choose by that have no letter
// printed, and gives each its own: the value's, else the next one.
func choiceLetters(root *html.Node) map[*html.Node]string {
	groups := map[string][]*html.Node{}
	var order []string
	for n := range root.Descendants() {
		if n.DataAtom != atom.Input {
			continue
		}
		kind, name := strings.ToLower(attrOf(n, "type")), attrOf(n, "name")
		switch {
		case kind == "checkbox": // each may have a number of its own
			name = strings.TrimRight(name, "0123456789[]")
		case kind != "radio":
			continue
		}
		if name == "" {
			continue
		}
		key := kind + " " + name
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], n)
	}
	letters := map[*html.Node]string{}
	const most = 10
	for _, key := range order {
		group := groups[key]
		if len(group) < 2 || len(group) > most {
			continue
		}
		byValue, labelled := true, false
		for _, n := range group {
			v := attrOf(n, "value")
			byValue = byValue && len(v) == 1 && v[0]|0x20 >= 'a' && v[0]|0x20 <= 'j'
			labelled = labelled || startsLettered(textBehind(n))
		}
		if labelled {
			continue
		}
		for i, n := range group {
			if letters[n] = string(rune('A' + i)); byValue {
				letters[n] = strings.ToUpper(attrOf(n, "value"))
			}
		}
	}
	return letters
}

// startsLettered reports text that begins with the letter of an option.
func startsLettered(s string) bool {
	s = strings.TrimLeft(s, "（([【")
	if s == "" || s[0]|0x20 < 'a' || s[0]|0x20 > 'j' {
		return false
	}
	return len(s) == 1 || strings.ContainsAny(s[1:2], ".):] ") || strings.HasPrefix(s[1:], "、") || strings.HasPrefix(s[1:], "．") ||
		strings.HasPrefix(s[1:], "）") || strings.HasPrefix(s[1:], "】") || strings.HasPrefix(s[1:], "：")
}

// textBehind is the first text that follows a node on the page.
func textBehind(n *html.Node) string {
	const most = 60 // nodes
	for range most {
		switch {
		case n.FirstChild != nil:
			n = n.FirstChild
		default:
			for n != nil && n.NextSibling == nil {
				n = n.Parent
			}
			if n == nil {
				return ""
			}
			n = n.NextSibling
		}
		if n.DataAtom == atom.Input {
			return ""
		}
		if t := strings.TrimSpace(n.Data); n.Type == html.TextNode && t != "" {
			return t
		}
	}
	return ""
}

func attrOf(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func hasAttr(n *html.Node, name string) bool {
	for _, a := range n.Attr {
		if a.Key == name {
			return true
		}
	}
	return false
}

// textOf is all text below a node.
func textOf(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}

// unseen says why an element is not shown: nav, hidden, or code, which is no
// text at all.
func unseen(n *html.Node) string {
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Template, atom.Noscript, atom.Object, atom.Iframe, atom.Head, atom.Svg,
		atom.Datalist, atom.Noframes, atom.Noembed, atom.Canvas, atom.Video, atom.Audio, atom.Map:
		return "code"
	case atom.Nav:
		return "nav"
	case atom.Header, atom.Footer:
		// of the page, not of an article in it
		for p := n.Parent; p != nil; p = p.Parent {
			switch p.DataAtom {
			case atom.Article, atom.Main, atom.Section, atom.Aside:
				return ""
			}
		}
		if n.DataAtom == atom.Header && holdsHeading(n) {
			return "" // many pages put the title there
		}
		return "nav"
	}
	if n.Data == "xml" { // settings Word writes into its pages
		return "code"
	}
	switch role := attrOf(n, "role"); role {
	case "navigation", "banner", "contentinfo", "search":
		if !holdsHeading(n) {
			return "nav"
		}
	}
	if hasAttr(n, "hidden") {
		return "hidden"
	}
	if strings.Contains(attrOf(n, "class"), "mwe-math") {
		return "" // Wikipedia hides the formula behind its picture
	}
	if style := strings.ToLower(strings.ReplaceAll(attrOf(n, "style"), " ", "")); strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden") {
		return "hidden"
	}
	return ""
}

// holdsAnswer reports hidden text that says an answer or explains one.
func holdsAnswer(n *html.Node) bool {
	const most = 4000 // bytes; a longer one is a dialogue or a page of its own
	t := strings.ToLower(textOf(n))
	return len(t) <= most && (strings.Contains(t, "答案") || strings.Contains(t, "解析") || strings.Contains(t, "answer"))
}

// mostAsides is how many asides of a page are looked at; each look takes time by
// its size, and they may be nested.
const mostAsides = 100

// mostlyLinks reports an element most of whose text leads elsewhere.
func mostlyLinks(n *html.Node) bool {
	all, linked := len(strings.Join(strings.Fields(textOf(n)), "")), 0
	for c := range n.Descendants() {
		if c.DataAtom == atom.A {
			linked += len(strings.Join(strings.Fields(textOf(c)), ""))
		}
	}
	return linked*2 > all
}

func holdsHeading(n *html.Node) bool {
	for c := range n.Descendants() {
		switch c.DataAtom {
		case atom.H1, atom.H2:
			return true
		}
	}
	return false
}
