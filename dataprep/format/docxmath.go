package format

import (
	"strings"
)

// A mathNode is an element of a formula (OMML, ECMA-376 Part 1, 22.1).
type mathNode struct {
	name string
	text string
	val  string
	kids []*mathNode
}

// readMath reads a formula and writes it as LaTeX between dollar signs, or as
// plain text where it has no structure. The start of m:oMath was just read.
func readMath(x *xmlTokens) string {
	n := readMathNode(x)
	return formula(n.tex(), n.plain(), n.structured())
}

func readMathNode(x *xmlTokens) *mathNode {
	n := &mathNode{name: strings.TrimPrefix(x.name, "m:"), val: x.attr("val")}
	var text strings.Builder
	for in := x.depth; x.next() && x.depth >= in; {
		switch {
		case x.start && (x.name == "w:del" || x.name == "w:moveFrom" || x.name == "m:ctrlPr" || x.name == "w:rPr"):
			x.skip()
		case x.start && x.name == "w:t":
			k := readMathNode(x)
			k.name = "t"
			n.kids = append(n.kids, k)
		case x.start:
			n.kids = append(n.kids, readMathNode(x))
		case !x.end && n.name == "t":
			text.Write(x.text)
		}
	}
	n.text = text.String()
	return n
}

func (n *mathNode) kid(name string) *mathNode {
	if n == nil {
		return nil
	}
	for _, k := range n.kids {
		if k.name == name {
			return k
		}
	}
	return nil
}

// property returns a value such as the sign of m:nary, or what stands for it
// when it is not written.
func (n *mathNode) property(group, name, otherwise string) string {
	if p := n.kid(group).kid(name); p != nil {
		return p.val
	}
	return otherwise
}

// off reports a switch such as m:degHide that is set.
func (n *mathNode) off(group, name string) bool {
	p := n.kid(group).kid(name)
	return p != nil && p.val != "0" && p.val != "off" && p.val != "false"
}

// structured reports more than signs in a row.
func (n *mathNode) structured() bool {
	switch n.name {
	case "f", "sSup", "sSub", "sSubSup", "sPre", "rad", "nary", "limLow", "limUpp", "acc", "bar", "m", "eqArr", "groupChr":
		return true
	}
	for _, k := range n.kids {
		if k.structured() {
			return true
		}
	}
	return false
}

// plain is the formula's text as it stands.
func (n *mathNode) plain() string {
	switch n.name {
	case "t":
		return n.text
	case "d":
		return n.property("dPr", "begChr", "(") + strings.Join(n.elements((*mathNode).plain), n.property("dPr", "sepChr", "|")) +
			n.property("dPr", "endChr", ")")
	case "func":
		return n.kid("fName").orEmpty().plain() + " " + n.kid("e").orEmpty().plain()
	}
	var b strings.Builder
	for _, k := range n.kids {
		b.WriteString(k.plain())
	}
	return b.String()
}

// orEmpty stands an empty node in for a missing one.
func (n *mathNode) orEmpty() *mathNode {
	if n == nil {
		return &mathNode{}
	}
	return n
}

// elements writes the m:e children of a node.
func (n *mathNode) elements(write func(*mathNode) string) []string {
	var out []string
	for _, k := range n.kids {
		if k.name == "e" {
			out = append(out, write(k))
		}
	}
	return out
}

// part writes a child as LaTeX; a missing one is empty.
func (n *mathNode) part(name string) string { return n.kid(name).orEmpty().tex() }

// tex writes the node as LaTeX.
func (n *mathNode) tex() string {
	switch n.name {
	case "r":
		return n.run()
	case "t":
		return texText(n.text)
	case "f":
		return n.fraction()
	case "sSup", "sSub", "sSubSup":
		return texScripts(n.part("e"), n.part("sub"), n.part("sup"))
	case "sPre":
		return texJoin(texScripts("", n.part("sub"), n.part("sup")), n.part("e"))
	case "rad":
		degree := n.part("deg")
		if n.off("radPr", "degHide") {
			degree = ""
		}
		return texRoot(degree, n.part("e"))
	case "d":
		return texFence(n.property("dPr", "begChr", "("), n.property("dPr", "endChr", ")"), n.property("dPr", "sepChr", "|"), n.elements((*mathNode).tex))
	case "nary":
		return texJoin(texScripts(texText(n.property("naryPr", "chr", "∫")), n.part("sub"), n.part("sup")), " ", n.part("e"))
	case "func":
		name := n.kid("fName").orEmpty()
		if !name.structured() {
			return texJoin(texFunction(name.plain()), n.argument())
		}
		return texJoin(name.tex(), " ", n.part("e"))
	case "limLow":
		if n.kid("lim").orEmpty().plain() == "⏟" {
			return texAccent("⏟", n.part("e"))
		}
		return texFunction(n.part("e")) + "_" + texGroup(n.part("lim"))
	case "limUpp":
		if n.kid("lim").orEmpty().plain() == "⏞" {
			return texAccent("⏞", n.part("e"))
		}
		return texFunction(n.part("e")) + "^" + texGroup(n.part("lim"))
	case "acc":
		return texAccent(n.property("accPr", "chr", "\u0302"), n.part("e"))
	case "bar":
		if n.property("barPr", "pos", "bot") == "bot" {
			return `\underline` + texGroup(n.part("e"))
		}
		return `\overline` + texGroup(n.part("e"))
	case "groupChr":
		return texAccent(n.property("groupChrPr", "chr", "⏟"), n.part("e"))
	case "borderBox":
		return `\boxed` + texGroup(n.part("e"))
	case "m":
		return n.matrix()
	case "eqArr":
		var rows [][]string
		for _, e := range n.elements((*mathNode).tex) {
			rows = append(rows, []string{strings.ReplaceAll(e, `\&`, "&")}) // where rows are aligned
		}
		return texRows("aligned", rows)
	}
	var b strings.Builder
	for _, k := range n.kids {
		texAppend(&b, k.tex())
	}
	return b.String()
}

// argument is what a function is applied to.
func (n *mathNode) argument() string {
	e := n.part("e")
	if strings.HasPrefix(e, "(") || strings.HasPrefix(e, `\`) || e == "" {
		return e
	}
	return " " + e
}

// run writes signs, or words where the run is set as text.
func (n *mathNode) run() string {
	prose := n.off("rPr", "nor")
	var b strings.Builder
	for _, k := range n.kids {
		switch {
		case k.name == "t" && prose:
			b.WriteString(texProse(k.text))
		case k.name == "t" && n.property("rPr", "sty", "") == "p" && strings.Contains(texFunctions, " "+strings.TrimSpace(k.text)+" "):
			texAppend(&b, texFunction(k.text))
		default:
			texAppend(&b, k.tex())
		}
	}
	return b.String()
}

func (n *mathNode) fraction() string {
	num, den := n.part("num"), n.part("den")
	switch n.property("fPr", "type", "bar") {
	case "noBar":
		return `\binom` + texGroup(num) + texGroup(den)
	case "lin", "skw":
		return texBase(num) + "/" + texBase(den)
	}
	return `\frac` + texGroup(num) + texGroup(den)
}

func (n *mathNode) matrix() string {
	var rows [][]string
	for _, k := range n.kids {
		if k.name == "mr" {
			rows = append(rows, k.elements((*mathNode).tex))
		}
	}
	return texRows("matrix", rows)
}
