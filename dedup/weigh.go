package dedup

import (
	"slices"
	"strings"
)

// weigh looks at what differs between j.a and j.b: whether it counts, and how it
// is shown.
func (j *judge) weigh(as role) {
	j.stretches()
	size := max(len(j.a), len(j.b))
	w := weighing{judge: j, as: as, strict: size <= strictRunes, size: size}
	for i := 0; i < len(j.differ.hunks) && (j.reason == "" || j.telling); {
		var t hunk
		t, i = j.token(i)
		w.token(t)
	}
}

// stretches notes where many letters in a row are other ones, or more are than in
// the text that stays.
func (j *judge) stretches() {
	hunks := j.differ.hunks
	for i := 0; i < len(hunks); {
		gone, come, first := 0, 0, i
		for ; i < len(hunks) && (i == first || hunks[i].a0-hunks[i-1].a1 <= bridgeRunes); i++ {
			h := hunks[i]
			for _, r := range j.a[h.a0:h.a1] {
				gone += unitsOf(r)
			}
			for _, r := range j.b[h.b0:h.b1] {
				come += unitsOf(r)
			}
		}
		if min(gone, come) >= passageUnits || come-gone >= passageUnits {
			j.note(OtherPassage, j.a[hunks[first].a0:hunks[i-1].a1], j.b[hunks[first].b0:hunks[i-1].b1])
		}
	}
}

// token widens hunk i to whole words and numbers, and takes in the hunks that
// stand in the same ones. next is the hunk after it.
func (j *judge) token(i int) (t hunk, next int) {
	hunks := j.differ.hunks
	t = hunks[i]
	floorA, floorB := 0, 0
	if i > 0 {
		floorA, floorB = hunks[i-1].a1, hunks[i-1].b1
	}
	for t.a0 > floorA && t.b0 > floorB && (joins(j.a[t.a0-1], at(j.a, t.a0)) || joins(j.b[t.b0-1], at(j.b, t.b0))) {
		t.a0, t.b0 = t.a0-1, t.b0-1
	}
	for next = i + 1; ; next++ {
		stopA, stopB := len(j.a), len(j.b)
		if next < len(hunks) {
			stopA, stopB = hunks[next].a0, hunks[next].b0
		}
		for t.a1 < stopA && t.b1 < stopB && (joins(at(j.a, t.a1-1), j.a[t.a1]) || joins(at(j.b, t.b1-1), j.b[t.b1])) {
			t.a1, t.b1 = t.a1+1, t.b1+1
		}
		if next == len(hunks) || t.a1 < stopA || t.b1 < stopB {
			return t, next
		}
		t.a1, t.b1 = hunks[next].a1, hunks[next].b1
	}
}

func at(s []rune, i int) rune {
	if i < 0 || i >= len(s) {
		return ' '
	}
	return s[i]
}

// isHan reports what the fold calls Han: a token by itself.
func isHan(r rune) bool { return r >= 0x2e80 }

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

// isLetter reports a letter of an alphabet, as folded texts have them.
func isLetter(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 0xdf && r < 0x2000 && r != 0xf7
}

// joins reports whether two neighbours are of one word or number. Folded texts have
// no space between a number and a word.
func joins(a, b rune) bool {
	return isLetter(a) && isLetter(b) || (isDigit(a) || a == '.') && (isDigit(b) || b == '.')
}

// weighing is one part's differences being looked at.
type weighing struct {
	*judge
	as     role
	strict bool
	size   int
}

// token weighs one difference.
func (w *weighing) token(t hunk) {
	a, b := w.a[t.a0:t.a1], w.b[t.b0:t.b1]
	if spaced(a, b) {
		return
	}
	w.show(a, b)
	w.pieces++
	if w.numbers(t, a, b) {
		return
	}
	x, y := split(a), split(b)
	if w.words.opposed(x.all, y.all) || w.words.turned(x.all, y.all) && (w.strict || len(a) == 0 || len(b) == 0) {
		w.note(OtherPolarity, a, b)
		return
	}
	w.latin(t, x.latin, y.latin)
	if x.han == 0 || y.han == 0 {
		return
	}
	switch {
	case w.as == roleOption || w.as == roleRight:
		if w.size < 4 || max(x.han, y.han) > 1 {
			w.note(OtherOptions, a, b)
		}
	case w.strict && w.size < wordRunes:
		w.note(OtherWording, a, b)
	case w.strict && (min(x.han, y.han) > 1 || max(x.han, y.han) > 2):
		w.note(OtherWording, a, b)
	case max(x.han, y.han) > 1:
		w.whole++
	}
}

// numbers weighs figures, signs and what stands after a number.
func (w *weighing) numbers(t hunk, a, b []rune) bool {
	switch {
	case !same(a, b, nextFigure) && !onlyOne(a, b):
		w.note(OtherNumber, a, b)
	case !same(a, b, nextSign):
		w.note(OtherSymbol, a, b)
	case len(a) > 0 && len(b) > 0 && isDigit(at(w.a, t.a0-1)):
		w.note(OtherUnit, a, b)
	default:
		return false
	}
	return true
}

// onlyOne reports that 一 is all there is of numbers: it is in many words (哪一项,
// 同一, 一般).
func onlyOne(a, b []rune) bool {
	n := 0
	for _, s := range [2][]rune{a, b} {
		for x, rest := nextFigure(s); len(x) > 0; x, rest = nextFigure(rest) {
			if n++; n > 1 || x[0] != '一' {
				return false
			}
		}
	}
	return true
}

// same reports whether two stretches hold the same things in order, as next cuts
// them out.
func same(a, b []rune, next func([]rune) (x, rest []rune)) bool {
	for {
		var x, y []rune
		x, a = next(a)
		y, b = next(b)
		if len(x) != len(y) {
			return false
		}
		for i := range x {
			if figure(x[i]) != figure(y[i]) {
				return false
			}
		}
		if len(x) == 0 {
			return true
		}
	}
}

// nextFigure cuts out the next number: digits with their point, or a numeral.
func nextFigure(s []rune) (x, rest []rune) {
	for i := range s {
		if isDigit(s[i]) {
			k := i
			for k < len(s) && (isDigit(s[k]) || s[k] == '.') {
				k++
			}
			return s[i:k], s[k:]
		}
		if figure(s[i]) != s[i] {
			return s[i : i+1], s[i+1:]
		}
	}
	return nil, nil
}

// figure returns the digit a numeral stands for, another sign for those that are
// no digits (十 百), and any other letter itself.
func figure(r rune) rune {
	switch r {
	case '〇', '零':
		return '0'
	case '一':
		return '1'
	case '二', '两':
		return '2'
	case '三':
		return '3'
	case '四':
		return '4'
	case '五':
		return '5'
	case '六':
		return '6'
	case '七':
		return '7'
	case '八':
		return '8'
	case '九':
		return '9'
	case '十':
		return 'X'
	case '百':
		return 'C'
	case '千':
		return 'M'
	case '万':
		return 'W'
	case '亿':
		return 'Y'
	case '半':
		return 'H'
	}
	return r
}

// nextSign cuts out the next sign with a meaning: - % / < °.
func nextSign(s []rune) (x, rest []rune) {
	for i, r := range s {
		if !isHan(r) && !isLetter(r) && !isDigit(r) && r != ' ' && r != '.' {
			return s[i : i+1], s[i+1:]
		}
	}
	return nil, nil
}

// latin weighs words of an alphabet.
func (w *weighing) latin(t hunk, x, y []string) {
	x, y = w.words.content(x, y), w.words.content(y, x)
	if len(x) == 0 && len(y) == 0 {
		return
	}
	beside := isHan(at(w.a, t.a0-1)) || isHan(at(w.a, t.a1))
	if beside && (hasSymbol(x) || hasSymbol(y)) {
		w.note(OtherSymbol, w.a[t.a0:t.a1], w.b[t.b0:t.b1])
		return
	}
	if len(x) > 0 && len(y) > 0 && w.strict && !w.damaged(x, y) {
		w.note(OtherWording, w.a[t.a0:t.a1], w.b[t.b0:t.b1])
	}
}

// content leaves out fillers, and what the other side has, too.
func (w *words) content(list, other []string) []string {
	var out []string
	for _, x := range list {
		if !w.filler[x] && !contains(other, x) {
			out = append(out, x)
		}
	}
	return out
}

// hasSymbol reports a word so short that beside ideographs it is a symbol: A, VHF.
func hasSymbol(list []string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return len(s) <= maxSymbol })
}

// damaged reports whether words are the others' but for some letters, and not
// other words that are known.
func (w *weighing) damaged(a, b []string) bool {
	known := func(s string) bool { return w.words.sets[s] != nil }
	if slices.ContainsFunc(a, known) && slices.ContainsFunc(b, known) {
		return false
	}
	x, y := strings.Join(a, ""), strings.Join(b, "")
	return 2*inCommon(x, y)*10 >= 6*(len(x)+len(y))
}

// inCommon is the length of the longest common subsequence of two words.
func inCommon(a, b string) int {
	row := make([]int, len(b)+1)
	for i := range len(a) {
		last := 0
		for k := range len(b) {
			up := row[k+1]
			if a[i] == b[k] {
				row[k+1] = last + 1
			} else {
				row[k+1] = max(up, row[k])
			}
			last = up
		}
	}
	return row[len(b)]
}

// show writes what differs, for people.
func (j *judge) show(a, b []rune) {
	if !j.telling {
		return
	}
	if j.shown++; j.shown > shownHunks {
		if j.shown == shownHunks+1 {
			j.text.WriteString(" …")
		}
		return
	}
	j.text.WriteByte(' ')
	j.text.WriteString(change(a, b))
}

// change shows one difference: 右→左, +不, -的.
func change(a, b []rune) string {
	x, y := clip(a), clip(b)
	switch {
	case x == "" && y == "":
		return ""
	case x == "":
		return "+" + y
	case y == "":
		return "-" + x
	}
	return x + "→" + y
}

// clip shortens a long stretch.
func clip(s []rune) string {
	const most = 24
	if len(s) <= most {
		return strings.TrimSpace(string(s))
	}
	return strings.TrimSpace(string(s[:most])) + "…"
}

// spaced reports whether only spaces differ.
func spaced(a, b []rune) bool {
	i, k := 0, 0
	for {
		for i < len(a) && a[i] == ' ' {
			i++
		}
		for k < len(b) && b[k] == ' ' {
			k++
		}
		if i == len(a) || k == len(b) {
			return i == len(a) && k == len(b)
		}
		if a[i] != b[k] {
			return false
		}
		i, k = i+1, k+1
	}
}

// pieces are a stretch in words.
type pieces struct {
	all   []string // Latin words, ideographs one by one, and in pairs
	latin []string
	han   int
}

func split(s []rune) (p pieces) {
	for i := 0; i < len(s); {
		switch {
		case isHan(s[i]):
			p.han++
			p.all = append(p.all, string(s[i]))
			if i+1 < len(s) && isHan(s[i+1]) {
				p.all = append(p.all, string(s[i:i+2]))
			}
			i++
		case isLetter(s[i]):
			k := i
			for k < len(s) && isLetter(s[k]) {
				k++
			}
			p.latin = append(p.latin, string(s[i:k]))
			p.all = append(p.all, string(s[i:k]))
			i = k
		default:
			i++
		}
	}
	return p
}
