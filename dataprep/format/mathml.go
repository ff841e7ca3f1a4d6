package format

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// mathText writes MathML as LaTeX between dollar signs, by the formula's own TeX
// where it has it; one without structure as plain text.
func mathText(n *html.Node) string {
	for c := range n.Descendants() {
		if c.Data == "annotation" && strings.Contains(strings.ToLower(attrOf(c, "encoding")), "tex") {
			return texFrom(textOf(c))
		}
	}
	if alt := attrOf(n, "alttext"); alt != "" {
		return texFrom(alt)
	}
	structured := false
	for c := range n.Descendants() {
		switch c.Data {
		case "mfrac", "msup", "msub", "msubsup", "msqrt", "mroot", "mtable", "mover", "munder", "munderover", "mmultiscripts":
			structured = true
		}
	}
	return formula(mathML(n, 0), strings.Join(strings.Fields(textOf(n)), ""), structured)
}

// texFrom wraps TeX that a page carries, without the wrapping it has already.
func texFrom(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if in, ok := strings.CutPrefix(s, `{\displaystyle `); ok && strings.HasSuffix(in, "}") { // as Wikipedia writes it
		s = strings.TrimSuffix(in, "}")
	}
	s = strings.TrimSpace(strings.Trim(s, "$"))
	for _, w := range [][2]string{{`\(`, `\)`}, {`\[`, `\]`}} {
		if strings.HasPrefix(s, w[0]) && strings.HasSuffix(s, w[1]) {
			s = strings.TrimSpace(s[2 : len(s)-2])
		}
	}
	return formula(s, s, strings.ContainsAny(s, `\^_`))
}

// mathML writes an element of presentation MathML as LaTeX.
func mathML(n *html.Node, depth int) string {
	if depth > maxHTMLDepth {
		return texText(textOf(n))
	}
	switch n.Data {
	case "mi", "mn", "mo", "ms":
		t := strings.TrimSpace(textOf(n))
		if n.Data == "mi" && utf8.RuneCountInString(t) > 1 {
			return texFunction(texText(t))
		}
		return texText(t)
	case "mtext":
		return texProse(textOf(n))
	case "mspace", "annotation", "annotation-xml", "mphantom":
		return ""
	}
	var parts []string
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.Type == html.TextNode && strings.TrimSpace(c.Data) != "":
			parts = append(parts, texText(strings.TrimSpace(c.Data)))
		case c.Type == html.ElementNode:
			parts = append(parts, mathML(c, depth+1))
		}
	}
	return mathMLParts(n, parts)
}

// mathMLParts writes an element by its children's LaTeX.
func mathMLParts(n *html.Node, parts []string) string {
	at := func(i int) string {
		if i < len(parts) {
			return parts[i]
		}
		return ""
	}
	switch n.Data {
	case "mfrac":
		if t := attrOf(n, "linethickness"); t == "0" || t == "0px" {
			return `\binom` + texGroup(at(0)) + texGroup(at(1))
		}
		return `\frac` + texGroup(at(0)) + texGroup(at(1))
	case "msup":
		return texScripts(at(0), "", at(1))
	case "msub":
		return texScripts(at(0), at(1), "")
	case "msubsup", "munderover":
		return texScripts(at(0), at(1), at(2))
	case "munder":
		if at(1) == "\u23DF" || at(1) == "_" || at(1) == `\_` {
			return `\underline` + texGroup(at(0))
		}
		return texScripts(at(0), at(1), "")
	case "mover":
		if accent := strings.TrimSpace(textOf(lastElement(n))); utf8.RuneCountInString(accent) == 1 && !strings.HasPrefix(at(0), `\sum`) {
			return texAccent(accent, at(0))
		}
		return texScripts(at(0), "", at(1))
	case "msqrt":
		return texRoot("", texJoin(parts...))
	case "mroot":
		return texRoot(at(1), at(0))
	case "mfenced":
		open, closing, sep := "(", ")", ","
		for _, a := range n.Attr {
			switch a.Key {
			case "open":
				open = a.Val
			case "close":
				closing = a.Val
			case "separators":
				sep = a.Val
			}
		}
		return texFence(open, closing, sep, parts)
	case "mtd":
		return texJoin(parts...)
	case "mtr":
		return strings.Join(parts, " & ")
	case "mtable":
		var rows [][]string
		for _, p := range parts {
			rows = append(rows, []string{p})
		}
		return texRows("matrix", rows)
	}
	return texJoin(parts...)
}

func lastElement(n *html.Node) *html.Node {
	for c := n.LastChild; c != nil; c = c.PrevSibling {
		if c.Type == html.ElementNode {
			return c
		}
	}
	return n
}
