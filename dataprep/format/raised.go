package format

import (
	"strings"
	"unicode"
)

// Of a cell only the text reaches a row, so that raised and lowered signs must
// show in it: 10³ and H₂O, not 103 and H2O.

const (
	plainSigns   = "0123456789+-=()abcdefghijklmnoprstuvwxyz"
	raisedSigns  = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ"
	plainLower   = "0123456789+-=()aehijklmnoprstuvx"
	loweredSigns = "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ"
)

// raised writes s in superscript: by the signs Unicode has, else as ^(s).
func raised(s string) string { return shifted(s, plainSigns, raisedSigns, "^") }

// raisedAfter is raised for what follows text: a raised o after a figure is the
// sign of degrees, and ordinals are written without any sign.
func raisedAfter(text, s string) string {
	last := byte(0)
	if text != "" {
		last = text[len(text)-1]
	}
	if last >= '0' && last <= '9' {
		switch core := strings.TrimSpace(s); core {
		case "o", "O":
			return strings.Replace(s, core, "°", 1)
		case "st", "nd", "rd", "th":
			return s
		}
	}
	return raised(s)
}

// lowered writes s in subscript: by the signs Unicode has, else as _(s).
func lowered(s string) string { return shifted(s, plainLower, loweredSigns, "_") }

func shifted(s, from, to, mark string) string {
	core := strings.TrimSpace(s)
	if !strings.ContainsFunc(core, func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsNumber(r) || strings.ContainsRune("+-=−–()", r)
	}) {
		return s // blank, or a mark such as * or ® that stands high by itself
	}
	signs := []rune(to)
	var b strings.Builder
	for _, r := range core {
		switch i := strings.IndexRune(from, r); {
		case i >= 0:
			b.WriteRune(signs[i])
		case strings.ContainsRune(to, r):
			b.WriteRune(r)
		case r == '−' || r == '–':
			b.WriteRune(signs[11])
		case len(core) == len(string(r)):
			return strings.Replace(s, core, mark+core, 1)
		default:
			return strings.Replace(s, core, mark+"("+core+")", 1)
		}
	}
	return strings.Replace(s, core, b.String(), 1)
}
