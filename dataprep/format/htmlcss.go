package format

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// An htmlStyle is what a rule or a style attribute says of text.
type htmlStyle struct {
	color       string // RRGGBB; empty: not said
	bold, under bool
	sup, sub    bool
}

// declarations reads "color: red; font-weight: bold".
func declarations(style string) (s htmlStyle) {
	for style != "" {
		var decl string
		decl, style, _ = strings.Cut(style, ";")
		name, value, _ := strings.Cut(decl, ":")
		value = strings.TrimSpace(strings.TrimSuffix(strings.ToLower(strings.TrimSpace(value)), "!important"))
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "color":
			s.color = cssColor(value)
		case "font-weight":
			n, err := strconv.Atoi(value)
			s.bold = value == "bold" || value == "bolder" || err == nil && n >= 600
		case "text-decoration", "text-decoration-line":
			s.under = strings.Contains(value, "underline")
		case "vertical-align":
			s.sup, s.sub = value == "super", value == "sub"
		}
	}
	return s
}

// maxStyleRules bounds how many rules of a page are kept.
const maxStyleRules = 20_000

// styleRules reads the rules of a page's own style sheets that are for one
// class, whatever the element: ".right" and "span.right".
func styleRules(root *html.Node) map[string]htmlStyle {
	rules := map[string]htmlStyle{}
	for n := range root.Descendants() {
		if n.DataAtom != atom.Style {
			continue
		}
		for sheet := stripComments(textOf(n)); sheet != "" && len(rules) < maxStyleRules; {
			var rule string
			rule, sheet, _ = strings.Cut(sheet, "}")
			selectors, body, ok := strings.Cut(rule, "{")
			if !ok || strings.Contains(body, "{") { // a rule in @media depends on the reader's screen
				continue
			}
			s := declarations(body)
			if s == (htmlStyle{}) {
				continue
			}
			for _, sel := range strings.Split(selectors, ",") {
				element, class, ok := strings.Cut(strings.TrimSpace(sel), ".")
				if ok && class != "" && !strings.ContainsAny(class, " .:>+~#[*") && !strings.ContainsAny(element, " :>+~#[*") {
					rules[class] = rules[class].with(s)
				}
			}
		}
	}
	return rules
}

func stripComments(s string) string {
	var out strings.Builder
	for closed := true; closed; {
		text, comment, _ := strings.Cut(s, "/*")
		out.WriteString(text)
		_, s, closed = strings.Cut(comment, "*/")
	}
	return out.String()
}

// with adds what o says.
func (s htmlStyle) with(o htmlStyle) htmlStyle {
	if o.color != "" {
		s.color = o.color
	}
	s.bold, s.under = s.bold || o.bold, s.under || o.under
	s.sup, s.sub = s.sup || o.sup, s.sub || o.sub
	return s
}

// styleOf is what classes and the style attribute say of an element's text. A
// class that says itself that an option is the right one makes it green.
func (w *htmlWalk) styleOf(n *html.Node) (s htmlStyle) {
	for _, class := range strings.Fields(attrOf(n, "class")) {
		if r, ok := w.rules[class]; ok {
			s = s.with(r)
		}
		switch strings.ToLower(class) {
		case "correct", "is-correct", "iscorrect", "correct-answer", "correct_answer", "correctanswer", "right-answer", "right_answer", "rightanswer", "answer-right", "answer-correct":
			if s.color == "" {
				s.color = "008000"
			}
		}
	}
	if attrOf(n, "data-correct") == "true" && s.color == "" {
		s.color = "008000"
	}
	if style := attrOf(n, "style"); style != "" {
		s = s.with(declarations(style))
	}
	return s
}
