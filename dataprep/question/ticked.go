package question

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
)

// Banks without a line for the answer show the right option itself: a tick or
// an asterisk beside it, a box that is checked, or type that is coloured, bold or
// underlined from its first character to its last.

// A ticked line says which of its options are shown as right, a bit for each
// label from A.
type ticked struct {
	marks uint16 // by a sign printed for it
	looks uint16 // by the looks of the type alone
}

// ticks stand for "right" beside an option.
var ticks = [...]string{"（√）", "(√)", "（✓）", "(✓)", "（✔）", "(✔)", "[√]", "【√】", "（正确答案）", "(正确答案)", "（正确）", "(正确)", "(correct)", "(Correct)", "(correct answer)", "√", "✓", "✔", "☑", "✅"}

// boxes stand before the options of a list to be checked.
var boxes = [...]struct {
	sign string
	on   bool
}{{"[x]", true}, {"[X]", true}, {"[ ]", false}, {"☑", true}, {"☒", true}, {"☐", false}, {"□", false}, {"■", true}}

// takeTicks takes the signs for "right" off a line and says which options they
// stand with. next is the label that an option without one would have.
func takeTicks(s string, next int) (string, ticked) {
	var t ticked
	if head, on := tickBefore(s); head != s {
		switch m, ok := optionAt(head); {
		case ok:
			s = head
			if on {
				t.marks |= 1 << m.v
			}
		case next < maxOptions && boxed(s):
			s = letter(next) + ". " + head
			if on {
				t.marks |= 1 << next
			}
		}
	}
	// all signs begin with E2; words for them end a line, in brackets
	bracket := strings.HasSuffix(s, "）") || strings.HasSuffix(s, ")")
	if strings.IndexByte(s, 0xE2) >= 0 || bracket && (strings.Contains(s, "正确") || strings.Contains(s, "orrect")) {
		return takeTicksBehind(s, t)
	}
	return s, t
}

// takeTicksBehind takes off the signs that end an option's text.
func takeTicksBehind(s string, t ticked) (string, ticked) {
	var buf [24]mark
	marks := bestChain(scanMarks(s, buf[:0])).marks
	if len(marks) == 0 {
		m, ok := optionAt(s)
		if !ok {
			return s, t
		}
		marks = []mark{m}
	}
	for i := len(marks) - 1; i >= 0; i-- {
		m, end := marks[i], len(s)
		if i+1 < len(marks) {
			end = marks[i+1].start
		}
		text := strings.TrimRightFunc(s[min(m.end, end):end], isSpace)
		for _, w := range ticks {
			rest, ok := strings.CutSuffix(text, w)
			if !ok || trim(rest) == "" {
				continue
			}
			t.marks |= 1 << m.v
			rest = strings.TrimRightFunc(rest, isSpace)
			s = s[:m.end] + rest + s[m.end+len(text):]
			break
		}
	}
	return s, t
}

// tickBefore takes off a sign that stands before an option: *A. √B. [x] C.
func tickBefore(s string) (rest string, on bool) {
	switch s[0] {
	case '[', '*', 0xE2, 0xEF:
	default:
		return s, false
	}
	for _, w := range boxes {
		if t, ok := strings.CutPrefix(s, w.sign); ok {
			return trim(t), w.on
		}
	}
	for _, w := range [...]string{"*", "＊", "√", "✓", "✔", "✅", "★"} {
		if t, ok := strings.CutPrefix(s, w); ok {
			return trim(t), true
		}
	}
	return s, false
}

// formMark reports the mark that form sites print behind a stem: [单选题] *.
func formMark(s string) bool {
	s = strings.TrimRight(s, "* ")
	for _, w := range [...]string{"[单选题]", "[多选题]", "[判断题]", "【单选题】", "【多选题】", "【判断题】"} {
		if strings.HasSuffix(s, w) {
			return true
		}
	}
	return false
}

// radioBox writes the round button before an option of a form as a box.
func radioBox(s string) string {
	for _, w := range [...]string{"○", "〇", "◯", "⚪"} {
		if rest, ok := strings.CutPrefix(s, w); ok {
			return "[ ] " + trim(rest)
		}
	}
	for _, w := range [...]string{"●", "◉", "⊙", "⚫"} {
		if rest, ok := strings.CutPrefix(s, w); ok {
			return "[x] " + trim(rest)
		}
	}
	return s
}

// boxed reports a line that begins with a box to be checked.
func boxed(s string) bool {
	for _, w := range boxes {
		if strings.HasPrefix(s, w.sign) {
			return true
		}
	}
	return false
}

// optionAt reads an option label at the start of s.
func optionAt(s string) (mark, bool) {
	if m, ok := letterMark(s, 0); ok && m.style != labelGlued && m.style != labelBare {
		return m, true
	}
	return enclosedMark(s, 0)
}

// lookedAt finds the options of a block whose whole text looks different.
func lookedAt(text string, spans []drydock.Span) (bits uint16) {
	if len(spans) == 0 {
		return 0
	}
	var buf [24]mark
	marks := bestChain(scanMarks(text, buf[:0])).marks
	if len(marks) == 0 {
		rest := behindBullet(strings.TrimLeftFunc(text, isSpace))
		i := strings.LastIndex(text, rest)
		m, ok := optionAt(rest)
		if !ok {
			return 0
		}
		m.start, m.end = m.start+i, m.end+i
		marks = []mark{m}
	}
	for i, m := range marks {
		end := len(text)
		if i+1 < len(marks) {
			end = marks[i+1].start
		}
		for _, kind := range [...]drydock.SpanKind{drydock.Color, drydock.Bold, drydock.Underline} {
			// the whole text, or the letter alone
			at := m.start + strings.IndexFunc(text[m.start:m.end], func(r rune) bool { v, _ := letterValue(r); return v == m.v })
			if covered(text, min(m.end, end), end, spans, kind) || at >= m.start && covered(text, at, at+1, spans, kind) {
				bits |= 1 << m.v
			}
		}
	}
	return bits
}

// shownCells lists the cells of a row whose whole text looks different.
func shownCells(b drydock.Block) []int {
	var out []int
	for from := 0; from < len(b.Spans); {
		cell, to := b.Spans[from].Cell, from+1
		for to < len(b.Spans) && b.Spans[to].Cell == cell {
			to++
		}
		if cell < len(b.Cells) {
			for _, kind := range [...]drydock.SpanKind{drydock.Color, drydock.Bold, drydock.Underline} {
				if s := b.Cells[cell]; covered(s, 0, len(s), b.Spans[from:to], kind) {
					out = append(out, cell)
					break
				}
			}
		}
		from = to
	}
	return out
}

// byLooks takes the options whose cells look different for the answer, where some
// do and some do not.
func (d *draft) byLooks(shown, option []int) {
	var picks []int
	for v, col := range option {
		if v < len(d.options) && slices.Contains(shown, col) {
			picks = append(picks, v)
		}
	}
	if len(picks) > 0 && len(picks) < len(d.options) {
		d.ans, d.given = answer{letters: picks}, true
		d.doubted(doubtLooks)
	}
}

// covered reports whether every character from start to end but blanks lies in
// spans of a kind. Black is no colour.
func covered(text string, start, end int, spans []drydock.Span, kind drydock.SpanKind) bool {
	seen := false
	for i := start; i < end; {
		r, w := utf8.DecodeRuneInString(text[i:])
		if !isSpace(r) {
			in := false
			for _, s := range spans {
				in = in || s.Kind == kind && s.Start <= i && i < s.End && s.Value != "000000"
			}
			if !in {
				return false
			}
			seen = true
		}
		i += w
	}
	return seen
}

// shown returns the options of the item that are shown as right; some of them
// must be and some must not.
func (it *item) shown(n int, bits func(ticked) uint16) []int {
	var all uint16
	for _, l := range it.lines {
		all |= bits(l.ticked)
	}
	var out []int
	for v := range n {
		if all&(1<<v) != 0 {
			out = append(out, v)
		}
	}
	if len(out) == n {
		return nil
	}
	return out
}

// settleShown uses options that are shown as right: a printed sign is an answer
// like any other, looks are one where there is no other.
func (it *item) settleShown(d *draft) (reason, detail string) {
	if v := it.shown(len(d.options), func(t ticked) uint16 { return t.marks }); v != nil {
		a := answer{letters: v}
		if d.given && !d.ans.none() && !sameAnswer(d.ans, a) {
			return reasonConflict, "the option ticked is not the one the answer names"
		}
		d.ans, d.given = a, true
		return "", ""
	}
	if d.given {
		return "", ""
	}
	if v := it.shown(len(d.options), func(t ticked) uint16 { return t.looks }); v != nil {
		d.ans, d.given = answer{letters: v}, true
		d.doubted(doubtLooks)
	}
	return "", ""
}
