package format

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Formulas of Word (OMML) and of web pages (MathML) are written as LaTeX, the
// notation language models have read most of.

// formula wraps LaTeX for running text; plain is what stands there when the
// formula has no structure, such as a letter or an equation on one line.
func formula(tex, plain string, structured bool) string {
	if tex = strings.TrimSpace(tex); tex == "" {
		return ""
	}
	if !structured {
		return strings.TrimSpace(plain)
	}
	return "$" + tex + "$"
}

// texJoin puts pieces side by side; a command is parted from a letter behind it.
func texJoin(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		texAppend(&b, p)
	}
	return b.String()
}

func texAppend(b *strings.Builder, p string) {
	if p == "" {
		return
	}
	if c := p[0]; (c|0x20 >= 'a' && c|0x20 <= 'z') && endsInCommand(b.String()) {
		b.WriteByte(' ')
	}
	b.WriteString(p)
}

// endsInCommand reports text that ends in \name.
func endsInCommand(s string) bool {
	i := len(s)
	for i > 0 && s[i-1]|0x20 >= 'a' && s[i-1]|0x20 <= 'z' {
		i--
	}
	return i < len(s) && i > 0 && s[i-1] == '\\'
}

func texGroup(s string) string { return "{" + strings.TrimSpace(s) + "}" }

// texBase is what a script stands on: one sign, or a group.
func texBase(s string) string {
	s = strings.TrimSpace(s)
	if utf8.RuneCountInString(s) <= 1 || oneCommand(s) || strings.Trim(s, "0123456789.") == "" || bracketed(s) {
		return s
	}
	return "{" + s + "}"
}

// oneCommand reports \name alone, or a function with its group.
func oneCommand(s string) bool {
	rest, ok := strings.CutPrefix(s, `\`)
	return ok && strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// bracketed reports an expression that one pair of round brackets encloses, of
// which the outer ones are each other's.
func bracketed(s string) bool {
	if !strings.HasPrefix(s, "(") || !strings.HasSuffix(s, ")") {
		return false
	}
	depth := 0
	for i, r := range s {
		switch r {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 && i < len(s)-1 {
				return false
			}
		}
	}
	return true
}

// texScripts writes a base with an index and an exponent; either may be empty.
func texScripts(base, sub, sup string) string {
	s := texBase(base)
	if s == "" {
		s = "{}"
	}
	if strings.TrimSpace(sub) != "" {
		s += "_" + texGroup(sub)
	}
	if strings.TrimSpace(sup) != "" {
		s += "^" + texGroup(sup)
	}
	return s
}

func texRoot(degree, e string) string {
	if degree = strings.TrimSpace(degree); degree == "" || degree == "2" {
		return `\sqrt` + texGroup(e)
	}
	return `\sqrt[` + degree + "]" + texGroup(e)
}

// texFence puts delimiters around parts; they grow where what they enclose is
// higher than a line. An empty one is not shown.
func texFence(open, closing, sep string, parts []string) string {
	if sep == "" {
		sep = ","
	}
	in := strings.Join(parts, texText(sep))
	if name := fencedRows(open+" "+closing, in); name != "" {
		return name
	}
	if rest, ok := strings.CutPrefix(in, `\binom{`); ok && open == "(" && closing == ")" && !strings.Contains(rest, `\binom`) {
		return in // it brings its brackets
	}
	high := strings.Contains(in, `\frac`) || strings.Contains(in, `\begin`) || strings.Contains(in, `\sqrt`) ||
		strings.Contains(in, `\sum`) || strings.Contains(in, `\int`) || strings.Contains(in, `\prod`)
	if !high && open != "" && closing != "" {
		return texJoin(texText(open), in, texText(closing))
	}
	side := func(s string) string {
		if s == "" {
			return "."
		}
		return texText(s)
	}
	return texJoin(`\left`+side(open), in, `\right`+side(closing))
}

// fencedRows renames an environment of rows that is all a pair of delimiters
// encloses; empty when there is no such name.
func fencedRows(fence, in string) string {
	name := ""
	switch fence {
	case "( )":
		name = "pmatrix"
	case "[ ]":
		name = "bmatrix"
	case "| |":
		name = "vmatrix"
	case "‖ ‖":
		name = "Vmatrix"
	case "{ ":
		name = "cases"
	}
	for _, environment := range []string{"matrix", "aligned"} {
		rows, ok := strings.CutPrefix(in, `\begin{`+environment+`}`)
		if rows, whole := strings.CutSuffix(rows, `\end{`+environment+`}`); ok && whole && name != "" && !strings.Contains(rows, `\begin`) {
			return `\begin{` + name + `}` + rows + `\end{` + name + `}`
		}
	}
	return ""
}

// texRows writes rows of cells in an environment.
func texRows(environment string, rows [][]string) string {
	var b strings.Builder
	b.WriteString(`\begin{` + environment + `}`)
	for i, r := range rows {
		if i > 0 {
			b.WriteString(` \\ `)
		}
		b.WriteString(strings.Join(r, " & "))
	}
	b.WriteString(`\end{` + environment + `}`)
	return b.String()
}

// texAccent writes a sign above or below an expression.
func texAccent(sign, e string) string {
	e = strings.TrimSpace(e)
	long := utf8.RuneCountInString(e) > 1 && !oneCommand(e)
	short, wide := "", ""
	switch sign {
	case "\u0302", "^", "ˆ", "":
		short, wide = "hat", "widehat"
	case "\u0303", "~", "˜":
		short, wide = "tilde", "widetilde"
	case "\u0304", "\u0305", "¯", "‾", "―", "_":
		short, wide = "bar", "overline"
	case "\u0307", "˙", ".":
		short = "dot"
	case "\u0308", "¨", "..":
		short = "ddot"
	case "\u20D7", "→", "⇀", "\u20D1":
		short, wide = "vec", "overrightarrow"
	case "\u20D6", "←":
		short, wide = "overleftarrow", "overleftarrow"
	case "\u030C", "ˇ":
		short = "check"
	case "\u0306", "˘":
		short = "breve"
	case "\u0301", "´":
		short = "acute"
	case "\u0300", "`":
		short = "grave"
	case "⏞":
		short = "overbrace"
	case "⏟":
		short = "underbrace"
	default:
		return `\overset` + texGroup(texText(sign)) + texGroup(e)
	}
	if long && wide != "" {
		short = wide
	}
	return `\` + short + texGroup(e)
}

// texFunctions are the names LaTeX has a command for.
const texFunctions = " sin cos tan cot sec csc sinh cosh tanh coth arcsin arccos arctan log ln lg exp lim max min sup inf det gcd arg dim deg ker hom Pr "

// texFunction writes the name of a function.
func texFunction(name string) string {
	name = strings.TrimSpace(name)
	if strings.Contains(texFunctions, " "+name+" ") && name != "" {
		return `\` + name
	}
	return name
}

// texProse writes words inside a formula.
func texProse(s string) string {
	if strings.TrimSpace(s) == "" {
		return s
	}
	var b strings.Builder
	b.WriteString(`\text{`)
	for _, r := range s {
		if strings.ContainsRune(`\{}$%&#_`, r) {
			b.WriteByte('\\')
			if r == '\\' {
				b.WriteString("backslash")
				continue
			}
		}
		b.WriteRune(r)
	}
	b.WriteByte('}')
	return b.String()
}

// texText writes signs of a formula, Chinese words as text.
func texText(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if unicode.Is(unicode.Han, r) {
			end := strings.IndexFunc(s, func(r rune) bool { return !unicode.Is(unicode.Han, r) && !unicode.Is(unicode.P, r) })
			if end < 0 {
				end = len(s)
			}
			b.WriteString(texProse(s[:end]))
			s = s[end:]
			continue
		}
		texAppend(&b, texSign(r))
		s = s[n:]
	}
	return b.String()
}

// texSign is a sign as LaTeX has it; letters of the mathematical alphabets are
// plain ones.
func texSign(r rune) string {
	switch {
	case r >= 0x1D400 && r <= 0x1D433: // bold
		return mathLetter(r - 0x1D400)
	case r >= 0x1D434 && r <= 0x1D467: // italic
		return mathLetter(r - 0x1D434)
	case r >= 0x1D468 && r <= 0x1D49B: // bold italic
		return mathLetter(r - 0x1D468)
	case strings.ContainsRune(`{}$%&#_`, r):
		return `\` + string(r)
	case r == '−':
		return "-"
	case r == '°':
		return `^{\circ}`
	case r == '\u2009' || r == '\u2006' || r == '\u200A':
		return `\,`
	case r == '\u2003' || r == '\u2001':
		return `\quad `
	case r == '\u00A0' || r == '\u2002' || r == '\u2004' || r == '\u2005':
		return " "
	case r == '\u200B' || r >= 0x2061 && r <= 0x2064: // nothing, and operators that do not show
		return ""
	}
	i := strings.IndexRune(texSigns, r)
	if r < 0x80 && r != '\\' || i < 0 {
		return string(r)
	}
	name, _, _ := strings.Cut(texSigns[i+utf8.RuneLen(r):], " ")
	return `\` + name
}

func mathLetter(n rune) string {
	if n < 26 {
		return string('A' + n)
	}
	return string('a' + n - 26)
}

// texSigns has each sign before the name of its command.
const texSigns = `αalpha βbeta γgamma δdelta εvarepsilon ϵepsilon ζzeta ηeta θtheta ϑvartheta ιiota κkappa λlambda μmu νnu ξxi ` +
	`πpi ρrho ςvarsigma σsigma τtau υupsilon φvarphi ϕphi χchi ψpsi ωomega ΓGamma ΔDelta ∆Delta ΘTheta ΛLambda ΞXi ΠPi ΣSigma ` +
	`ΥUpsilon ΦPhi ΨPsi ΩOmega ×times ÷div ±pm ∓mp ·cdot ⋅cdot ∙cdot ∗ast ∘circ ≤leq ≥geq ⩽leqslant ⩾geqslant ≠neq ≈approx ` +
	`≡equiv ∼sim ≃simeq ≅cong ∝propto ∞infty ∂partial ∇nabla ∈in ∉notin ∋ni ⊂subset ⊆subseteq ⊃supset ⊇supseteq ∪cup ∩cap ` +
	`∅emptyset ∀forall ∃exists ¬neg ∧wedge ∨vee ⊥perp ∥parallel ∠angle △triangle ∴therefore ∵because →to ←leftarrow ` +
	`↔leftrightarrow ⇒Rightarrow ⇐Leftarrow ⇔Leftrightarrow ↑uparrow ↓downarrow ↦mapsto ⟶longrightarrow …ldots ⋯cdots ⋮vdots ` +
	`⋱ddots ′prime ″prime\prime ∑sum ∏prod ∫int ∬iint ∭iiint ∮oint ⋃bigcup ⋂bigcap ⋁bigvee ⋀bigwedge ⨁bigoplus ⊕oplus ⊗otimes ` +
	`≪ll ≫gg ⟨langle ⟩rangle 〈langle 〉rangle ⌈lceil ⌉rceil ⌊lfloor ⌋rfloor ‖Vert ∣mid ℏhbar ℓell \backslash `
