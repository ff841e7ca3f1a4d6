package question

import "unicode/utf8"

// labelStyle is the way an option label is written.
type labelStyle uint8

const (
	labelDot     labelStyle = iota + 1 // A. A．
	labelComma                         // A、
	labelParen                         // A) A）
	labelColon                         // A: A：
	labelOther                         // A, A，
	labelRound                         // (A) （A）
	labelSquare                        // 【A】 [A]
	labelBare                          // "A text"
	labelGlued                         // A文字, at a line's start only
	labelNewline                       // A alone on its line
)

func (s labelStyle) enclosed() bool { return s == labelRound || s == labelSquare }

// place is how an option label stands in the text, worst first.
type place uint8

const (
	placeGlued place = iota // after a character: 2节B.3节
	placeSpace              // after one blank
	placeGap                // after a tab or several blanks
	placeLine               // at the start of a line
)

// A mark is a possible option label.
type mark struct {
	v          int // 0 for A
	lower      bool
	style      labelStyle
	place      place
	start, end int // the label; the option's text starts at end
}

// scanMarks finds every place in s that could be an option label.
func scanMarks(s string, dst []mark) []mark {
	for i := 0; i < len(s); {
		c := s[i]
		if c < 0x80 {
			l := c | 0x20
			switch {
			case l >= 'a' && l < 'a'+maxOptions && (i == 0 || !isLatin(s[i-1]) || unitBefore(s, i, i+1)):
				if m, ok := letterMark(s, i); ok {
					dst = append(dst, m)
				}
			case c == '(' || c == '[':
				if m, ok := enclosedMark(s, i); ok {
					dst = append(dst, m)
					i = m.end
					continue
				}
			}
			i++
			continue
		}
		r, w := utf8.DecodeRuneInString(s[i:])
		switch {
		case r >= 'Ａ' && r <= 'ｚ':
			if m, ok := letterMark(s, i); ok {
				dst = append(dst, m)
			}
		case r == '（' || r == '【' || r == '［' || r == '〔':
			if m, ok := enclosedMark(s, i); ok {
				dst = append(dst, m)
				i = m.end
				continue
			}
		}
		i += w
	}
	return dst
}

func letterMark(s string, i int) (mark, bool) {
	r, w := utf8.DecodeRuneInString(s[i:])
	v, lower := letterValue(r)
	if v < 0 || v >= maxOptions {
		return mark{}, false
	}
	p, ok := placeOf(s, i)
	if !ok && !unitBefore(s, i, i+w) {
		return mark{}, false
	}
	m := mark{v: v, lower: lower, place: p, start: i}
	j := i + w
	k := j
	for k < len(s) && (s[k] == ' ' || s[k] == '\t') {
		k++
	}
	sep, sw := utf8.DecodeRuneInString(s[k:])
	switch sep {
	case '.', '．', '﹒', '·', '。':
		m.style = labelDot
	case '、', '﹑', '､':
		m.style = labelComma
	case ')', '）':
		m.style = labelParen
	case ':', '：':
		m.style = labelColon
	case ',', '，':
		m.style = labelOther
	}
	switch {
	case m.style != 0 && k-j <= 2:
		m.end = skipBlanks(s, k+sw)
	case p >= placeSpace && (k > j || sep == 0x3000 || sep == 0xA0):
		m.style, m.end = labelBare, skipBlanks(s, k)
	case p == placeLine && (k == len(s) || s[k] == '\n'):
		m.style, m.end = labelNewline, min(k+1, len(s))
	case p == placeLine && (wideText(sep) || numerals(s[k:])):
		m.style, m.end = labelGlued, k
	default:
		return mark{}, false
	}
	if lower && (p == placeGlued || m.style >= labelBare && m.style != labelNewline || m.style == labelOther) {
		return mark{}, false // lower-case labels must stand clear, with a mark
	}
	return m, true
}

// unitBefore reports a capital with a mark and no blank behind it right after a
// small letter, as the B of "12 mB．0.5 m": the blank between them was lost.
func unitBefore(s string, i, end int) bool {
	if i == 0 || s[i-1] < 'a' || s[i-1] > 'z' || s[i] < 'A' || s[i] > 'Z' {
		return false
	}
	r, _ := utf8.DecodeRuneInString(s[end:])
	return r == '．' || r == '、' || r == '.' && end+1 < len(s) && s[end+1] != ' '
}

// numerals reports a text that opens with a list of Roman numerals and nothing
// Latin behind them: the I、II of "DI、II", where the label's point was lost.
func numerals(s string) bool {
	i := 0
	for i < len(s) && (s[i] == 'I' || s[i] == 'V' || s[i] == 'X') {
		i++
	}
	return i > 0 && (i == len(s) || !isLatin(s[i]))
}

func enclosedMark(s string, i int) (mark, bool) {
	open, w := utf8.DecodeRuneInString(s[i:])
	j := skipBlanks(s, i+w)
	r, lw := utf8.DecodeRuneInString(s[j:])
	v, lower := letterValue(r)
	if v < 0 || v >= maxOptions {
		return mark{}, false
	}
	j = skipBlanks(s, j+lw)
	c, cw := utf8.DecodeRuneInString(s[j:])
	style := labelSquare
	switch {
	case (open == '(' || open == '（') && (c == ')' || c == '）'):
		style = labelRound
	case (open == '[' || open == '【' || open == '［' || open == '〔') && (c == ']' || c == '】' || c == '］' || c == '〕'):
	default:
		return mark{}, false
	}
	p, ok := placeOf(s, i)
	if !ok {
		p = placeGlued // a bracket may stand right after a word
	}
	end := skipBlanks(s, j+cw)
	if r, rw := utf8.DecodeRuneInString(s[end:]); r == '.' || r == '．' || r == '、' {
		end = skipBlanks(s, end+rw)
	}
	return mark{v: v, lower: lower, style: style, place: p, start: i, end: end}, true
}

// placeOf says how position i stands; false inside a Latin word or acronym.
func placeOf(s string, i int) (place, bool) {
	if i == 0 || s[i-1] == '\n' {
		return placeLine, true
	}
	prev, w := utf8.DecodeLastRuneInString(s[:i])
	if isSpace(prev) {
		j := i - w
		blanks := 1
		for j > 0 {
			r, rw := utf8.DecodeLastRuneInString(s[:j])
			if !isSpace(r) || r == '\n' {
				break
			}
			if r == '\t' {
				blanks++
			}
			blanks++
			j -= rw
		}
		switch {
		case j == 0 || s[j-1] == '\n':
			return placeLine, true
		case blanks > 1 || prev == '\t' || prev == 0x3000:
			return placeGap, true
		}
		return placeSpace, true
	}
	if v, _ := letterValue(prev); v >= 0 {
		return 0, false
	}
	if prev == '.' || prev == '\'' || prev == '-' || prev == '/' || prev == '&' || prev == '+' || prev == '＋' || prev == '、' || prev == '"' || prev == '“' || prev == '(' || prev == '（' {
		return 0, false
	}
	if prev == ';' || prev == '；' || prev == '|' {
		return placeSpace, true // A:红;B:绿
	}
	return placeGlued, true
}

func skipBlanks(s string, i int) int {
	for i < len(s) {
		r, w := utf8.DecodeRuneInString(s[i:])
		if r == '\n' || !isSpace(r) {
			break
		}
		i += w
	}
	return i
}

// score is how much a mark looks like an option label by itself.
func (m mark) score() float64 {
	s := [...]float64{placeGlued: 0.4, placeSpace: 1.2, placeGap: 2, placeLine: 3}[m.place]
	switch m.style {
	case labelBare, labelGlued:
		s -= 1
	case labelOther:
		s -= 1
	case labelColon:
		s -= 0.3
	case labelNewline:
		s -= 0.5
	}
	if m.place == placeGlued && m.v >= 4 {
		s -= 0.8 // four options are the rule: an E inside a text is a letter
	}
	return s
}

// step is what is gained or lost by b following a.
func step(a, b mark) float64 {
	switch {
	case a.lower != b.lower:
		return -10
	case a.style == b.style:
		return 0.5
	case a.style <= labelComma && b.style <= labelComma:
		return -0.2 // banks mix A. and A、
	case a.style.enclosed() != b.style.enclosed():
		return -2.5
	case b.style >= labelBare:
		return -1.2
	}
	return -0.7
}

// A chain is a run of labels A, B, C … in order.
type chain struct {
	marks []mark
	score float64
}

// bestChain chooses the labels that together look most like an option list:
// they run A, B, C … without a gap, and score best by place and style.
//
// The best chain up to each label is kept once per way of writing it, so the
// work grows with the text and not with its square.
func bestChain(marks []mark) chain {
	type node struct {
		score float64
		prev  int32
		n     int32
	}
	var buf [48]node
	nodes := buf[:0]
	var tip [maxOptions][2 * (labelNewline + 1)]int32 // 1 + the best mark so far
	top := -1
	for i, m := range marks {
		nd := node{prev: -1}
		if m.v == 0 {
			nd.score, nd.n = m.score(), 1
		} else {
			base := m.score()
			for _, t := range tip[m.v-1] {
				if t == 0 {
					continue
				}
				p := nodes[t-1]
				gain := base + step(marks[t-1], m)
				if gain > 0 && (nd.n == 0 || p.score+gain > nd.score) {
					nd = node{p.score + gain, t - 1, p.n + 1}
				}
			}
		}
		nodes = append(nodes, nd)
		if nd.n == 0 {
			continue
		}
		slot := &tip[m.v][m.kind()]
		if *slot == 0 || nd.score > nodes[*slot-1].score {
			*slot = int32(i) + 1
		}
		if nd.n >= 2 && (top < 0 || nd.score > nodes[top].score) {
			top = i
		}
	}
	if top < 0 {
		return chain{}
	}
	n := nodes[top].n
	out := make([]mark, n)
	for i := int32(top); n > 0; i = nodes[i].prev {
		n--
		out[n] = marks[i]
	}
	c := chain{out, nodes[top].score}
	if !c.believable() {
		return chain{}
	}
	return c
}

// kind numbers the ways a label is written, case included.
func (m mark) kind() int {
	k := 2 * int(m.style)
	if m.lower {
		k++
	}
	return k
}

// believable rejects chains that are more likely prose: letters without a mark
// need to stand clear, glued ones need company.
func (c chain) believable() bool {
	bare, glued, line := 0, 0, 0
	for _, m := range c.marks {
		if m.style >= labelBare {
			bare++
		}
		if m.place == placeGlued {
			glued++
		}
		if m.place == placeLine {
			line++
		}
	}
	n := len(c.marks)
	switch {
	case bare == n && (n < 3 && line < n || c.marks[0].place != placeLine):
		return false
	case bare > 0 && bare < n && n < 3:
		return false
	case glued == n && n < 3:
		return false
	case c.marks[0].style == labelGlued && line < n:
		return false
	}
	return true
}

// scanOptionsFast counts the options found in a short text.
func scanOptionsFast(s string) int {
	var buf [16]mark
	return len(bestChain(scanMarks(s, buf[:0])).marks)
}
