package format

import (
	"path"
	"strings"

	"golang.org/x/net/html"
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
	if alt := strings.TrimSpace(attrOf(n, "alt")); alt != "" && strings.Contains(attrOf(n, "class"), "math") {
		w.put(alt)
		return nil
	}
	if src == "" {
		return nil
	}
	if w.line.figure != "" {
		if err := w.flush(); err != nil {
			return err
		}
	}
	w.line.figure = path.Base(src)
	return nil
}

// field shows a tick box or a chosen button, as tests on the web have them.
func (w *htmlWalk) field(n *html.Node) {
	switch strings.ToLower(attrOf(n, "type")) {
	case "checkbox", "radio", "hidden", "submit", "button", "image", "reset", "file", "password":
	default:
		w.text(attrOf(n, "value"))
	}
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
