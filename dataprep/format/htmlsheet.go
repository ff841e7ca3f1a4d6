package format

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// What is read of style sheets is bounded: so many rules, of so many elements each;
// so many rules with others around them for one class; so many elements looked at
// around one; so many sheets of so many bytes.
const (
	maxStyleRules = 20_000
	maxCompounds  = 5
	maxRulesOf    = 64
	maxAround     = 64
	maxSheets     = 32
	maxSheet      = 4 << 20
)

// htmlRules are the rules of a page's style sheets whose last element is told by a
// class or an id: ".right", "span.right", "li.chosen > .letter". Rules for whole
// elements say how a page looks, not which of its options is right.
type htmlRules struct {
	simple map[string]htmlStyle  // of one class or id alone
	around map[string][]htmlRule // the others, by the class or id of their last element
	n      int
}

// An htmlRule is a selector and what it says.
type htmlRule struct {
	chain []compound // outermost first
	style htmlStyle
}

// A compound tells an element: its name, if any, and its classes and id, as .a and
// #b. child says that it must stand right in the one before it.
type compound struct {
	element string
	marks   []string
	child   bool
}

// styleRules reads the rules of a page's own style sheets and of those it links to,
// which open returns; open may be nil.
func styleRules(root *html.Node, open func(href string) string) *htmlRules {
	r := &htmlRules{simple: map[string]htmlStyle{}, around: map[string][]htmlRule{}}
	sheets := 0
	for n := range root.Descendants() {
		switch {
		case n.DataAtom == atom.Style:
			r.sheet(textOf(n))
		case n.DataAtom == atom.Link && open != nil && sheets < maxSheets && isStyleSheet(n):
			sheets++
			r.sheet(open(attrOf(n, "href")))
		}
	}
	return r
}

// isStyleSheet reports a link to a style sheet that is in use.
func isStyleSheet(n *html.Node) bool {
	rel := strings.Fields(strings.ToLower(attrOf(n, "rel")))
	media := strings.ToLower(attrOf(n, "media"))
	return slices.Contains(rel, "stylesheet") && !slices.Contains(rel, "alternate") && media != "print"
}

// sheet adds the rules of one style sheet.
func (r *htmlRules) sheet(text string) {
	for text = stripComments(text); text != "" && r.n < maxStyleRules; {
		var rule string
		rule, text, _ = strings.Cut(text, "}")
		selectors, body, ok := strings.Cut(rule, "{")
		if !ok || strings.Contains(body, "{") { // a rule in @media depends on the reader's screen
			continue
		}
		s := declarations(body)
		if gray(s.color) {
			s.color = "000000" // a page's text colour
		}
		if s == (htmlStyle{}) {
			continue
		}
		for sel := range strings.SplitSeq(selectors, ",") {
			r.add(sel, s)
		}
	}
}

// add adds a rule for a selector, unless it is of a kind that is not read.
func (r *htmlRules) add(selector string, s htmlStyle) {
	chain := selectorChain(selector)
	if len(chain) == 0 || r.n >= maxStyleRules {
		return
	}
	last := chain[len(chain)-1]
	if len(last.marks) == 0 {
		return
	}
	r.n++
	key := last.marks[0]
	if len(chain) == 1 && last.element == "" && len(last.marks) == 1 {
		r.simple[key] = r.simple[key].with(s)
	} else if len(r.around[key]) < maxRulesOf {
		r.around[key] = append(r.around[key], htmlRule{chain, s})
	}
}

// selectorChain reads a selector of names, classes and ids with blanks or ">"
// between them; nil for any other.
func selectorChain(s string) []compound {
	if strings.ContainsAny(s, ":[*+~@\\\"") || len(s) > 512 {
		return nil
	}
	var out []compound
	child := false
	for f := range strings.FieldsSeq(strings.ReplaceAll(s, ">", " > ")) {
		if f == ">" {
			child = true
			continue
		}
		c := compound{child: child && len(out) > 0}
		child = false
		for f != "" {
			end := strings.IndexAny(f[1:], ".#") + 1
			if end == 0 {
				end = len(f)
			}
			switch {
			case f[0] != '.' && f[0] != '#':
				c.element = strings.ToLower(f[:end])
			case end > 1:
				c.marks = append(c.marks, f[:end])
			default:
				return nil
			}
			f = f[end:]
		}
		if out = append(out, c); len(out) > maxCompounds {
			return nil
		}
	}
	return out
}

// of is what the rules say of an element.
func (r *htmlRules) of(n *html.Node) (s htmlStyle) {
	look := func(mark string) {
		s = s.with(r.simple[mark])
		for _, rule := range r.around[mark] {
			if rule.meant(n) {
				s = s.with(rule.style)
			}
		}
	}
	for class := range strings.FieldsSeq(attrOf(n, "class")) {
		look("." + class)
	}
	if id := attrOf(n, "id"); id != "" {
		look("#" + id)
	}
	return s
}

// meant reports whether the rule is for the element. Of several elements around it
// that a part of the selector fits, the nearest is taken.
func (r htmlRule) meant(n *html.Node) bool {
	i := len(r.chain) - 1
	if !r.chain[i].fits(n) {
		return false
	}
	for steps := 0; i > 0 && n.Parent != nil && steps < maxAround; steps++ {
		child := r.chain[i].child
		if n = n.Parent; r.chain[i-1].fits(n) {
			i--
		} else if child {
			return false
		}
	}
	return i == 0
}

func (c compound) fits(n *html.Node) bool {
	if n.Type != html.ElementNode || c.element != "" && n.Data != c.element {
		return false
	}
	for _, m := range c.marks {
		if m[0] == '#' && attrOf(n, "id") != m[1:] || m[0] == '.' && !slices.Contains(strings.Fields(attrOf(n, "class")), m[1:]) {
			return false
		}
	}
	return true
}

// gray reports a colour without a hue that is dark enough to read: what pages set
// their text in instead of black.
func gray(color string) bool {
	if len(color) != 6 {
		return false
	}
	hex := func(i int) int {
		return strings.IndexByte("0123456789ABCDEF", color[i])<<4 + strings.IndexByte("0123456789ABCDEF", color[i+1])
	}
	a, b, c := hex(0), hex(2), hex(4)
	return max(a, b, c) <= 0x90 && max(a, b, c)-min(a, b, c) <= 0x10
}

// sheetPath is where a linked style sheet lies beside the page at base, with
// slashes; empty for one that is somewhere else.
func sheetPath(base, href string) string {
	u, err := url.Parse(strings.TrimSpace(href))
	if err != nil || u.Scheme != "" || u.Host != "" || u.Path == "" || path.IsAbs(u.Path) {
		return ""
	}
	return path.Join(path.Dir(base), u.Path)
}
