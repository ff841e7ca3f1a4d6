package format

import (
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// What is around the content of a page, menus, side columns, lists of other
// pages, comments, is found by what readers of pages have long gone by: the
// elements named for it, names of classes, and how much of a text leads
// elsewhere. It is left out piece by piece, never by choosing one best element:
// a question bank is lists, tables and forms, which such a choice loses.

// htmlStats is what an element holds, those in it included.
type htmlStats struct {
	text   int  // characters, blanks not counted
	linked int  // of them in links to other pages
	links  int  // to other pages
	exam   bool // an option, a blank, an answer or something to choose, not in a link
}

// around finds the elements around the content of a page. Where most of the page
// would go, nothing is: it is a page of links, or made in a way not known here.
func around(root *html.Node) map[*html.Node]bool {
	count := htmlCount{stats: map[*html.Node]*htmlStats{}, places: map[string]bool{}}
	for n := range root.Descendants() {
		if id := attrOf(n, "id"); id != "" {
			count.places[id] = true
		}
		if name := attrOf(n, "name"); n.DataAtom == atom.A && name != "" {
			count.places[name] = true
		}
	}
	stats, all := count.stats, count.element(root, false, 0)
	out := map[*html.Node]bool{}
	lost := 0
	main := mainElement(root, stats)
	var visit func(n, main *html.Node, depth int)
	visit = func(n, main *html.Node, depth int) {
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			s := stats[c]
			if c.Type != html.ElementNode || s == nil || s.text == 0 {
				continue
			}
			if outside := main != nil && !within(c, main) && !within(main, c) && !s.exam; outside || isAround(c, s, all) {
				out[c] = true
				lost += s.text
				continue
			}
			inside := main
			if main != nil && !within(c, main) { // in the content, or an exam beside it
				inside = nil
			}
			if depth < maxHTMLDepth {
				visit(c, inside, depth+1)
			}
		}
	}
	visit(root, main, 0)
	const keep = 4 // at least a quarter of what is not links stays
	if rest := all.text - lost; rest*keep < all.text-all.linked || rest == 0 {
		return nil
	}
	return out
}

// htmlCount counts what the elements of a page hold.
type htmlCount struct {
	stats  map[*html.Node]*htmlStats
	places map[string]bool // that links of the page may lead to in it
}

// element fills in the stats of an element.
func (h *htmlCount) element(n *html.Node, inLink bool, depth int) *htmlStats {
	s := &htmlStats{}
	if n.Type == html.ElementNode && unseen(n) != "" {
		return s // left out or shown for other reasons
	}
	h.stats[n] = s
	if n.DataAtom == atom.A && h.leadsElsewhere(n) {
		inLink = true
		s.links++
	}
	if n.DataAtom == atom.Input {
		switch attrOf(n, "type") {
		case "radio", "checkbox":
			s.exam = true
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.Type == html.TextNode:
			t := 0
			for _, r := range c.Data {
				if !unicode.IsSpace(r) {
					t++
				}
			}
			s.text += t
			if inLink {
				s.linked += t
			} else if !s.exam && t > 0 {
				s.exam = examText(c.Data)
			}
		case depth < maxHTMLDepth:
			in := h.element(c, inLink, depth+1)
			s.text, s.linked, s.links = s.text+in.text, s.linked+in.linked, s.links+in.links
			s.exam = s.exam || in.exam
		}
	}
	return s
}

// leadsElsewhere reports a link to another page; a page's own contents may name
// the page in full.
func (h *htmlCount) leadsElsewhere(n *html.Node) bool {
	page, place, _ := strings.Cut(attrOf(n, "href"), "#")
	return page != "" && !h.places[place]
}

// examText reports text of an exam: an option, a blank, an answer.
func examText(s string) bool {
	s = strings.TrimSpace(s)
	for _, w := range []string{"答案", "解析", "（ ）", "（　", "( )", "____", "Answer", "answer"} {
		if strings.Contains(s, w) {
			return true
		}
	}
	for _, open := range []string{"（", "(", "【", "["} {
		s = strings.TrimPrefix(s, open)
	}
	if len(s) < 2 || s[0]|0x20 < 'a' || s[0]|0x20 > 'h' {
		return false
	}
	for _, mark := range []string{".", "、", "．", ")", "）", "】", "]", "：", ":"} {
		if strings.HasPrefix(s[1:], mark) {
			return true
		}
	}
	return false
}

// mainElement is the element a page calls its content, when it holds most of
// what is not links.
func mainElement(root *html.Node, stats map[*html.Node]*htmlStats) *html.Node {
	own := func(n *html.Node) int {
		if s := stats[n]; s != nil {
			return s.text - s.linked
		}
		return 0
	}
	var found *html.Node
	for n := range root.Descendants() {
		if n.DataAtom != atom.Main && n.DataAtom != atom.Article && attrOf(n, "role") != "main" {
			continue
		}
		if found == nil || own(n) > own(found) {
			found = n
		}
	}
	if found == nil || own(found)*10 < own(root)*6 {
		return nil
	}
	return found
}

// within reports that n is outer or lies in it.
func within(outer, n *html.Node) bool {
	for p := n; p != nil; p = p.Parent {
		if p == outer {
			return true
		}
	}
	return false
}

// isAround reports an element that is none of the content.
func isAround(n *html.Node, s, all *htmlStats) bool {
	switch n.DataAtom {
	case atom.Div, atom.Section, atom.Ul, atom.Ol, atom.Aside, atom.Form, atom.Table, atom.Dl, atom.Header, atom.Footer:
	default:
		return false
	}
	if s.exam || s.text*2 > all.text {
		return false
	}
	const fewLinks, short = 4, 200
	if s.linked*10 >= s.text*7 && s.links >= fewLinks {
		return true
	}
	hint := boilerplateName(n)
	return hint == "comment" || hint != "" && (s.linked*10 >= s.text*3 || s.text < short)
}

// boilerplateName is the word in the class or id of an element that says it is
// not of the content; empty where another word says it is, or none does.
func boilerplateName(n *html.Node) string {
	name := strings.ToLower(attrOf(n, "class") + " " + attrOf(n, "id"))
	if strings.TrimSpace(name) == "" {
		return ""
	}
	words := strings.FieldsFunc(name, func(r rune) bool { return (r < 'a' || r > 'z') && r < 0x80 })
	found := ""
	for _, w := range words {
		switch w {
		case "article", "content", "main", "post", "entry", "question", "quiz", "exam", "subject", "option", "options", "answer", "answers", "timu", "shiti", "detail":
			return ""
		case "comment", "comments", "pinglun":
			found = "comment"
		case "nav", "navbar", "menu", "sidebar", "footer", "breadcrumb", "breadcrumbs", "crumb", "crumbs", "share", "social", "related",
			"recommend", "recommended", "ad", "ads", "advert", "advertisement", "copyright", "pager", "pagination", "toolbar", "login",
			"cookie", "cookies", "banner", "popup", "modal", "subscribe", "newsletter", "hot", "tags", "links", "friendlink", "tuijian", "xiangguan":
			if found == "" {
				found = w
			}
		}
	}
	return found
}
