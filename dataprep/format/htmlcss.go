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
	behind      string // of the ground, white aside
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
		case "background", "background-color":
			for f := range strings.FieldsSeq(value) {
				if c := cssColor(f); c != "" && c != "FFFFFF" {
					s.behind = c
				}
			}
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
	if o.behind != "" {
		s.behind = o.behind
	}
	s.bold, s.under = s.bold || o.bold, s.under || o.under
	s.sup, s.sub = s.sup || o.sup, s.sub || o.sub
	return s
}

// styleOf is what classes and the style attribute say of an element's text. A
// class that says itself that an option is the right one makes it green.
func (w *htmlWalk) styleOf(n *html.Node) (s htmlStyle) {
	if s = w.rules.of(n); s.color == "" && marksText(n) {
		s.color = s.behind
	}
	for _, class := range strings.Fields(attrOf(n, "class")) {
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
		own := declarations(style)
		if own.color == "" && marksText(n) {
			own.color = own.behind
		}
		s = s.with(own)
	}
	return s
}

// marksText reports an element whose ground may single its text out, as a marker
// does; rows and cells have theirs for the eye to follow.
func marksText(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Span, atom.Font, atom.Mark, atom.B, atom.Strong, atom.I, atom.Em, atom.U, atom.A, atom.Label, atom.Li, atom.P:
		return true
	}
	return false
}
