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

// readMath reads a formula and writes it in one line: (a)/(b), x^2, x_(ij),
// √(x). The start of m:oMath was just read.
func readMath(x *xmlTokens) string {
	return strings.TrimSpace(readMathNode(x).String())
}

func readMathNode(x *xmlTokens) *mathNode {
	n := &mathNode{name: strings.TrimPrefix(x.name, "m:"), val: x.attr("val")}
	var text strings.Builder
	for in := x.depth; x.next() && x.depth >= in; {
		switch {
		case x.start && (x.name == "w:del" || x.name == "w:moveFrom" || x.name == "m:ctrlPr"):
			x.skip()
		case x.start && x.name == "w:t":
			k := readMathNode(x)
			k.name = "t"
			n.kids = append(n.kids, k)
		case x.start:
			n.kids = append(n.kids, readMathNode(x))
		case !x.end && (n.name == "t"):
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

func (n *mathNode) all(sep string) string {
	var parts []string
	for _, k := range n.kids {
		if s := k.String(); s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, sep)
}

// String writes the node in one line.
func (n *mathNode) String() string {
	if n == nil {
		return ""
	}
	switch n.name {
	case "t":
		return n.text
	case "f":
		if n.property("fPr", "type", "bar") == "noBar" {
			return "(" + n.kid("num").String() + " " + n.kid("den").String() + ")"
		}
		return mathAtom(n.kid("num")) + "/" + mathAtom(n.kid("den"))
	case "sSup":
		return base(n.kid("e")) + "^" + mathAtom(n.kid("sup"))
	case "sSub":
		return base(n.kid("e")) + "_" + mathAtom(n.kid("sub"))
	case "sSubSup":
		return base(n.kid("e")) + "_" + mathAtom(n.kid("sub")) + "^" + mathAtom(n.kid("sup"))
	case "sPre":
		return "_" + mathAtom(n.kid("sub")) + "^" + mathAtom(n.kid("sup")) + n.kid("e").String()
	case "rad":
		degree := n.kid("deg").String()
		if degree == "2" {
			degree = ""
		}
		return degree + "√" + mathAtom(n.kid("e"))
	case "d":
		return n.delimited()
	case "nary":
		s := n.property("naryPr", "chr", "∫")
		if sub := mathAtom(n.kid("sub")); sub != "" {
			s += "_" + sub
		}
		if sup := mathAtom(n.kid("sup")); sup != "" {
			s += "^" + sup
		}
		return s + " " + n.kid("e").String()
	case "func":
		return n.kid("fName").String() + " " + n.kid("e").String()
	case "limLow":
		return n.kid("e").String() + "_" + mathAtom(n.kid("lim"))
	case "limUpp":
		return n.kid("e").String() + "^" + mathAtom(n.kid("lim"))
	case "acc":
		return n.kid("e").String() + n.property("accPr", "chr", "\u0302")
	case "bar":
		return n.kid("e").String() + "\u0305"
	case "m":
		return "[" + n.all("; ") + "]"
	case "mr":
		return n.all(", ")
	case "eqArr":
		return n.all("; ")
	}
	return n.all("")
}

// delimited writes what stands in brackets.
func (n *mathNode) delimited() string {
	var parts []string
	for _, k := range n.kids {
		if k.name == "e" {
			parts = append(parts, k.String())
		}
	}
	return n.property("dPr", "begChr", "(") + strings.Join(parts, n.property("dPr", "sepChr", "|")) + n.property("dPr", "endChr", ")")
}

// mathAtom writes a part in brackets unless it is one sign or one number.
func mathAtom(n *mathNode) string { return bracket(strings.TrimSpace(n.String())) }

// base is what an exponent or index stands on: letters, digits and what is
// bracketed already need no brackets.
func base(n *mathNode) string {
	s := strings.TrimSpace(n.String())
	if strings.ContainsAny(s, " +-*/=<>±×÷") && !strings.HasPrefix(s, "(") {
		return "(" + s + ")"
	}
	return s
}
