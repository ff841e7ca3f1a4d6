package format

import (
	"path"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"

	"github.com/drydock-ml/drydock"
)

// A tocEntry is one line of a table of contents.
type tocEntry struct {
	part  string // it leads to
	title string
	depth int // 1 for a chapter
}

// contents gives the table of contents as text, a block for each entry (At.Row):
// the printed book has it, too. It notes which headings stand in which part. A
// table that cannot be read is none: the text does not depend on it.
func (e *epub) contents() error {
	e.titles = map[string]map[string]int8{}
	from, entries := e.book.nav, []tocEntry(nil)
	if from != "" {
		entries = e.navContents()
	}
	if len(entries) == 0 && e.book.ncx != "" {
		from, entries = e.book.ncx, e.ncxContents()
	}
	for i, t := range entries {
		part, title := partKey(t.part), foldTitle(t.title)
		if e.titles[part] == nil {
			e.titles[part] = map[string]int8{}
		}
		if _, known := e.titles[part][title]; !known {
			e.titles[part][title] = int8(min(t.depth, 9))
		}
		b := drydock.Block{Text: strings.Join(strings.Fields(t.title), " "), At: drydock.Locator{Part: from, Row: i + 1}}
		if !e.yield(b, nil) {
			return errStop
		}
	}
	e.toc = len(entries) > 0
	return nil
}

// navContents reads the navigation document of EPUB 3.
func (e *epub) navContents() (entries []tocEntry) {
	text, _, err := e.page(e.book.nav)
	if err != nil {
		return nil
	}
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		return nil
	}
	dir := path.Dir(e.book.nav)
	for nav := range root.Descendants() {
		if nav.DataAtom != atom.Nav || !strings.Contains(" "+attrOf(nav, "epub:type")+" ", " toc ") {
			continue
		}
		for a := range nav.Descendants() {
			if a.DataAtom != atom.A {
				continue
			}
			depth := 0
			for p := a.Parent; p != nil && p != nav; p = p.Parent {
				if p.DataAtom == atom.Ol {
					depth++
				}
			}
			if t := (tocEntry{partAt(dir, attrOf(a, "href")), textOf(a), depth}); t.valid() {
				entries = append(entries, t)
			}
		}
	}
	return entries
}

func (t tocEntry) valid() bool { return t.part != "" && foldTitle(t.title) != "" && t.depth > 0 }

// ncxContents reads the table of EPUB 2.
func (e *epub) ncxContents() (entries []tocEntry) {
	x, err := e.pkg.tokens(e.ctx, e.book.ncx)
	if err != nil {
		return nil
	}
	defer x.close()
	depth, label := 0, ""
	inLabel, points := false, false
	for x.next() {
		switch name := localName(x.name); {
		case x.text != nil:
			if inLabel {
				label += string(x.text)
			}
		case name == "navMap":
			points = x.start
		case !points:
		case name == "navPoint" && x.start:
			depth, label = depth+1, ""
		case name == "navPoint":
			depth--
		case name == "text":
			inLabel = x.start
		case name == "content" && x.start:
			if t := (tocEntry{partAt(path.Dir(e.book.ncx), x.attr("src")), label, depth}); t.valid() {
				entries = append(entries, t)
			}
		}
	}
	return entries
}

// foldTitle is a title as it is compared: blanks do not matter.
func foldTitle(s string) string { return strings.Join(strings.Fields(s), "") }

// declaredIn is the encoding a page says it has; empty when it says none.
func declaredIn(body []byte) string {
	head := body[:min(len(body), 1024)]
	_, name, sure := charset.DetermineEncoding(head, "")
	if at := strings.Index(string(head), "encoding="); at >= 0 && !sure {
		// an XML declaration, which HTML does not know
		quoted := strings.TrimLeft(string(head[at+len("encoding="):]), `"'`)
		if end := strings.IndexAny(quoted, `"'?>`); end > 0 {
			return quoted[:end]
		}
	}
	if !sure {
		return ""
	}
	return name
}

// openEmpty writes the empty elements of XHTML so that HTML reads them: <a/> is
// <a></a>, or everything behind it would be inside it.
func openEmpty(page string) string {
	var b strings.Builder
	for {
		end := strings.Index(page, "/>")
		if end < 0 {
			break
		}
		start := strings.LastIndexByte(page[:end], '<')
		name := ""
		if start >= 0 {
			name = page[start+1 : end]
			if i := strings.IndexAny(name, " \t\r\n"); i >= 0 {
				name = name[:i]
			}
		}
		if start < 0 || strings.ContainsRune(page[start:end], '>') || !isElementName(name) || isVoid(name) {
			b.WriteString(page[:end+2])
		} else {
			b.WriteString(page[:end] + "></" + name + ">")
		}
		page = page[end+2:]
	}
	if b.Len() == 0 {
		return page
	}
	return b.String() + page
}

func isElementName(s string) bool {
	for _, c := range s {
		if c != ':' && c != '-' && c != '_' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return s != ""
}

// isVoid reports the elements of HTML that have no end.
func isVoid(name string) bool {
	switch atom.Lookup([]byte(strings.ToLower(name))) {
	case atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Hr, atom.Img, atom.Input, atom.Link, atom.Meta,
		atom.Param, atom.Source, atom.Track, atom.Wbr:
		return true
	}
	return false
}
