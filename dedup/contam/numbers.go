package contam

import (
	"slices"
	"strconv"
)

// numberWords are numbers in words; another one is another number.
var numberWords = [...]string{
	"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "twenty", "thirty",
	"forty", "fifty", "sixty", "hundred", "thousand", "first", "second", "third", "fourth", "fifth", "half", "quarter",
	"single", "double", "triple", "twice", "once",
}

// numbering is what the rules about numbers know, in letters.
type numbering struct {
	values  []int8 // by letter: one more than the value of a digit or Chinese numeral; 0: it is none
	hundred letter
	words   []word
	names   []unitName // longest first
}

func (a *alphabet) numbering() *numbering {
	n := &numbering{}
	var numerals [11][]letter
	for value, names := range [...]string{"〇零", "一壹", "二贰两", "三叁", "四肆", "五伍", "六陆", "七柒", "八捌", "九玖", "十拾"} {
		numerals[value] = a.learn(names)
		if value < 10 {
			numerals[value] = append(numerals[value], first0+letter(value))
		}
	}
	n.hundred = a.learn("百")[0]
	n.values = make([]int8, a.next)
	for value, ls := range numerals {
		for _, l := range ls {
			n.values[l] = int8(value + 1)
		}
	}
	for _, w := range numberWords {
		n.words = append(n.words, newWord(a.learn(w)))
	}
	n.names = a.unitNames()
	return n
}

// digitsOnly reports whether ls are numerals and nothing else.
func (n *numbering) digitsOnly(ls []letter) bool {
	return !slices.ContainsFunc(ls, func(l letter) bool { return !n.numeral(l) })
}

func (n *numbering) numeral(l letter) bool { return int(l) < len(n.values) && n.values[l] > 0 }

// in reports whether there is a numeral among ls.
func (n *numbering) in(ls []letter) bool { return slices.ContainsFunc(ls, n.numeral) }

// same returns ls with numerals as digits and every unit behind a number by the
// first of its names.
func (n *numbering) same(ls []letter) []letter {
	ls = n.plain(ls)
	var out []letter
next:
	for i := 0; i < len(ls); {
		if i > 0 && isDigit(ls[i-1]) && !isDigit(ls[i]) {
			for _, u := range n.names {
				if len(ls)-i >= len(u.name) && slices.Equal(ls[i:i+len(u.name)], u.name) {
					out = append(out, u.first...)
					i += len(u.name)
					continue next
				}
			}
		}
		out = append(out, ls[i])
		i++
	}
	return out
}

// plain returns ls with every numeral as digits, so that 三 is 3 and 二十七 is 27.
func (n *numbering) plain(ls []letter) []letter {
	out := make([]letter, 0, len(ls)+1)
	for i := 0; i < len(ls); {
		end := i
		for end < len(ls) && (n.numeral(ls[end]) || end > i && ls[end] == n.hundred) {
			end++
		}
		if end == i {
			out = append(out, ls[i])
			i++
			continue
		}
		out = n.appendPlain(out, ls[i:end])
		i = end
	}
	return out
}

// ten is the value of 十.
const ten = 10

// longestNumeral letters may have a numeral with 十 or 百 in it.
const longestNumeral = 7

// appendPlain appends the digits of a numeral: 一二〇 as it stands, 一百二十 by what
// it is worth.
func (n *numbering) appendPlain(out, numeral []letter) []letter {
	value := func(l letter) int { return int(n.values[l]) - 1 }
	counts := func(l letter) bool { return l == n.hundred || value(l) == ten }
	if len(numeral) > longestNumeral || !slices.ContainsFunc(numeral, counts) {
		for _, l := range numeral {
			switch {
			case l == n.hundred:
				out = append(out, l)
			case value(l) == ten:
				out = append(out, first0+1, first0)
			default:
				out = append(out, first0+letter(value(l)))
			}
		}
		return out
	}
	worth, digits := 0, -1 // digits that no 十 or 百 has followed yet; -1: none
	for _, l := range numeral {
		switch {
		case l == n.hundred:
			worth, digits = worth+max(digits, 1)*ten*ten, -1
		case value(l) == ten && digits < 0:
			worth += ten // 十五
		case value(l) == ten:
			worth, digits = worth+digits*ten, -1
		default:
			digits = max(digits, 0)*ten + value(l)
		}
	}
	for _, c := range strconv.Itoa(worth + max(digits, 0)) {
		out = append(out, first0+letter(c-'0'))
	}
	return out
}

// numbersChanged reports whether a number of the stem is another one: numerals
// stand where others stood, or a number has a digit more or less, or its unit is
// another one.
func (s *Scanner) numbersChanged(e *evidence) bool {
	n := s.ix.numbers
	for _, p := range e.spots() {
		all := n.unmoved(e.changes(p))
		for i := range all {
			if n.changed(&all[i], len(all)) {
				return true
			}
		}
		if s.wordChanged(e, p) {
			return true
		}
	}
	return e.digitsChanged() || s.unitChanged(e)
}

// unmoved returns the changes without those of a digit that has changed places
// with the letter beside it, as in damaged text: 大7于5 for 大于75.
func (n *numbering) unmoved(all []change) []change {
	for i := 0; i+1 < len(all); i++ {
		in, out := &all[i], &all[i+1]
		if len(in.item) > 0 {
			in, out = out, in
		}
		if len(in.item) > 0 || len(out.data) > 0 || len(in.data) != 1 || !slices.Equal(in.data, out.item) || !isDigit(in.data[0]) {
			continue
		}
		past := out.before
		if in == &all[i+1] {
			past = out.behind
		}
		if past != none && !n.numeral(past) && (in.dataBefore == past || in.dataBehind == past) {
			all = slices.Delete(all, i, i+2)
			i--
		}
	}
	return all
}

// changed reports whether c makes another number of one; others is how many
// changes there are in all. Damaged text loses and swaps single digits, so these
// count only where nothing else is changed.
func (n *numbering) changed(c *change, others int) bool {
	if !n.digitsOnly(c.item) || !n.digitsOnly(c.data) {
		return false
	}
	switch {
	case len(c.item) == 0:
		return n.numeral(c.dataBefore) || n.numeral(c.dataBehind)
	case len(c.data) == 0:
		return others <= 2 && (n.numeral(c.before) || n.numeral(c.behind))
	}
	a, b := n.plain(c.item), n.plain(c.data)
	if slices.Equal(a, b) {
		return false
	}
	return !slices.Equal(sorted(a), sorted(b)) || others <= 1
}

// wordChanged reports whether a number in words is another one.
func (s *Scanner) wordChanged(e *evidence, p spot) bool {
	n := s.ix.numbers
	has := maskOf(p.item)
	for i := range n.words {
		w := &n.words[i]
		if !w.mayBeIn(&has) || index(p.item, w.letters) < 0 {
			continue
		}
		for k, v := range n.words {
			if i != k && e.swapped(p, w.letters, v.letters) {
				return true
			}
		}
	}
	return false
}

// digitsChanged reports whether a piece of the stem comes nearer to its place
// when all digits count as one, and the digits really differ.
func (e *evidence) digitsChanged() bool {
	for _, f := range e.pieces {
		if !f.piece.digits || f.place.dist == 0 || f.piece.kind == optionPart {
			continue
		}
		text := e.own(f)
		if digitCounts(f.piece.letters) == digitCounts(text) {
			continue
		}
		if e.distanceOfWords(f.piece.letters, text) < f.place.dist {
			return true
		}
	}
	return false
}

// sameWords reports whether the stem stands there but for its digits: where they
// are most of it, other ones make too much of a difference to be found otherwise.
func (e *evidence) sameWords() bool {
	left, digits := e.it.stemLen, false
	for _, f := range e.pieces {
		if f.piece.kind != optionPart {
			left -= len(f.piece.letters) - e.distanceOfWords(f.piece.letters, e.own(f))
			digits = digits || f.piece.digits && f.place.dist > 0
		}
	}
	return digits && float64(left) <= (1-lineSure)*float64(e.it.stemLen)
}

// otherNumbers reports whether b is a with other digits.
func (e *evidence) otherNumbers(a, b []letter) bool {
	if digitCounts(a) == digitCounts(b) {
		return false
	}
	d := distance(a, b)
	return d > 0 && e.distanceOfWords(a, b) <= min(d-1, tolerance(len(a), e.it.latin))
}

// digitCounts returns how often each digit stands in ls.
func digitCounts(ls []letter) (counts [10]int32) {
	for _, l := range ls {
		if isDigit(l) {
			counts[l-first0]++
		}
	}
	return counts
}

// sameDigits reports whether two texts have the same digits in the same order.
func sameDigits(a, b []letter) bool {
	for {
		i, j := slices.IndexFunc(a, isDigit), slices.IndexFunc(b, isDigit)
		if i < 0 || j < 0 {
			return i == j
		}
		if a[i] != b[j] {
			return false
		}
		a, b = a[i+1:], b[j+1:]
	}
}

func sorted(ls []letter) []letter { slices.Sort(ls); return ls }

// distanceOfWords is distance where all digits count as one.
func (e *evidence) distanceOfWords(a, b []letter) int {
	e.one, e.two = appendOneDigit(e.one[:0], a), appendOneDigit(e.two[:0], b)
	return distance(e.one, e.two)
}

func appendOneDigit(out, ls []letter) []letter {
	for _, l := range ls {
		if isDigit(l) {
			l = first0
		}
		out = append(out, l)
	}
	return out
}

// optionNumbersChanged reports whether options are offered that are the item's
// but for their numbers.
func (e *evidence) optionNumbersChanged() bool {
	if len(e.options) < 2 {
		return false
	}
	var strange []offer // offered, but no option of the item
next:
	for k, r := range e.options {
		for i := range e.it.options {
			if e.sameOffer(i, k) {
				continue next
			}
		}
		strange = append(strange, r)
	}
	with, changed := 0, 0
	for i := range e.it.options {
		o := &e.it.options[i]
		if countDigits(o.letters) == 0 || o.combo {
			continue
		}
		with++
		if slices.ContainsFunc(strange, func(r offer) bool {
			return r.is(func(ls []letter) bool { return e.otherNumbers(o.letters, ls) })
		}) && !e.isOffered(i) {
			changed++
		}
	}
	return changed > 0 && 2*changed >= with
}
