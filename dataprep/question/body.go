package question

import (
	"slices"
	"strings"

	"github.com/drydock-ml/drydock"
)

// A body is the text of an item cut into its parts.
type body struct {
	stem    string
	options []drydock.Option
	doubts  []string // about the option list
	gap     string   // why the labels do not make a list; empty when they do
}

// splitBody finds the option list in an item's text, answer and explanation
// taken off.
func splitBody(text string) body {
	var buf [48]mark
	marks := scanMarks(text, buf[:0])
	c := bestChain(marks)
	if down := columnOrder(marks); len(down) > len(c.marks) {
		return splitColumns(text, down)
	}
	if len(c.marks) == 0 {
		return body{stem: unwrap(text), gap: orphanLabels(marks, -1)}
	}
	b := body{stem: unwrap(text[:c.marks[0].start]), options: make([]drydock.Option, 0, len(c.marks))}
	mixed, glued := false, false
	for i, m := range c.marks {
		end := len(text)
		if i+1 < len(c.marks) {
			end = c.marks[i+1].start
		}
		t := stripOwnLabel(unwrap(text[min(m.end, end):end]), m.v)
		if i+1 < len(c.marks) {
			t = stripJoint(t)
		}
		b.options = append(b.options, drydock.Option{Label: letter(m.v), Text: t})
		if i > 0 && c.marks[i-1].style != m.style && (m.style > labelComma || c.marks[i-1].style > labelComma) {
			mixed = true
		}
		glued = glued || m.place == placeGlued
	}
	if mixed {
		b.doubts = append(b.doubts, string(doubtMixedLabels))
	}
	if glued {
		b.doubts = append(b.doubts, string(doubtGluedLabels))
	}
	b.gap = leftLabels(marks, c.marks)
	b.options = dropFillers(b.options)
	return b
}

// columnOrder recognises options printed in columns and read across: A, C on
// the first line and B, D on the second. The labels must be clear, of one style,
// and A to the last without a gap.
func columnOrder(marks []mark) []mark {
	var room [maxOptions]mark
	out := room[:0]
	seen := 0
	for _, m := range marks {
		if m.place < placeGap || m.style > labelParen && !m.style.enclosed() {
			continue
		}
		if len(out) > 0 && (m.style != out[0].style || m.lower != out[0].lower) || seen&(1<<m.v) != 0 {
			return nil
		}
		seen |= 1 << m.v
		out = append(out, m)
	}
	if len(out) < 4 || seen != 1<<len(out)-1 || out[0].v != 0 || out[1].v == 1 {
		return nil
	}
	return slices.Clone(out)
}

// splitColumns cuts the options where their labels stand and sorts them.
func splitColumns(text string, marks []mark) body {
	b := body{stem: unwrap(text[:marks[0].start]), doubts: []string{string(doubtColumns)}, options: make([]drydock.Option, len(marks))}
	for i, m := range marks {
		end := len(text)
		if i+1 < len(marks) {
			end = marks[i+1].start
		}
		b.options[m.v] = drydock.Option{Label: letter(m.v), Text: stripOwnLabel(unwrap(text[min(m.end, end):end]), m.v)}
	}
	return b
}

// leftLabels names a clear label that the chosen list leaves inside an option:
// a letter that comes twice or one that skips its neighbour.
func leftLabels(all, chosen []mark) string {
	first, style := chosen[0].start, chosen[0].style
	in := 0
	for _, m := range all {
		if in < len(chosen) && m.start == chosen[in].start {
			in++
			continue
		}
		if m.start > first && m.place >= placeGap && m.style == style && m.style != labelGlued && m.style != labelBare {
			if m.v <= chosen[len(chosen)-1].v {
				return "option " + letter(m.v) + " stands twice"
			}
			return "option " + letter(m.v) + " follows " + letter(chosen[len(chosen)-1].v)
		}
	}
	return ""
}

// orphanLabels describes labels that never became a list.
func orphanLabels(marks []mark, _ int) string {
	var seen []string
	for _, m := range marks {
		if m.place == placeLine && m.style <= labelParen && !m.lower {
			seen = append(seen, letter(m.v))
		}
	}
	if len(seen) < 2 {
		return ""
	}
	return "labels " + strings.Join(seen, ", ") + " make no list from A"
}

// stripOwnLabel removes a label that the container numbered again: "A. A. x".
func stripOwnLabel(s string, v int) string {
	m, ok := letterMark(s, 0)
	if ok && m.v == v && m.style <= labelParen && m.end < len(s) {
		return s[m.end:]
	}
	if m, ok = enclosedMark(s, 0); ok && m.v == v && m.end < len(s) {
		return s[m.end:]
	}
	return s
}

// stripJoint takes off what only leads over to the next option: "x, or (B) y",
// "x；B. y".
func stripJoint(s string) string {
	t := s
	for _, w := range [...]string{" or", " and"} {
		if c, ok := strings.CutSuffix(t, w); ok {
			t = strings.TrimRight(c, ", ")
		}
	}
	return strings.TrimRight(t, ";； ")
}

// dropFillers removes options that only fill the form, from the end.
func dropFillers(o []drydock.Option) []drydock.Option {
	for len(o) > 2 && strings.Trim(o[len(o)-1].Text, "-—_–/\\.… 　无*") == "" && o[len(o)-1].Text != "" && o[len(o)-1].Text != "无" {
		o = o[:len(o)-1]
	}
	return o
}
