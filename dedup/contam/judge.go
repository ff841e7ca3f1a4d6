package contam

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// shortStem letters are too few for a damaged stem inside a sentence to be
// anything but the same words.
const shortStem = 12

// stemSure is the similarity below which a changed stem with nothing but other
// options is another question on the same subject.
const stemSure = 0.9

// judge gives the verdict of a match and the rule that decided it.
func (s *Scanner) judge(e *evidence) (Verdict, string) {
	it := e.it
	c := it.limits
	exact := e.stemDist == 0 && it.stemLen > 0
	if !e.same || !s.once(e) {
		if e.match.options >= c.OptionsOnly && e.optLetters >= c.OptionsOnlyLetters && e.stem < c.StemShown {
			return OptionsOnly, "options"
		}
		if e.sameWords() {
			return NumericVariant, "numbers"
		}
		return SharedMaterial, "stem_alike"
	}
	together := e.match.options >= c.OptionsNear
	if exact && e.inOrder && !e.othersOffered() {
		if s.turned(e) {
			return PolarityVariant, "polarity"
		}
		if s.unitChanged(e) || s.optionUnitsChanged(e) {
			return NumericVariant, "units"
		}
		return Exact, "letters"
	}
	if (exact && e.nats < c.StemNats || !exact && it.stemLen <= shortStem) && !together && !e.inOrder && !e.alone() && !e.filled() {
		return Boilerplate, "short_stem_inside"
	}
	if !e.inOrder && !e.ownLine() && s.quoted(e) {
		return SourceOverlap, "quoted"
	}
	v, rule := s.changed(e)
	if v == "" && e.how == asBroken && !e.interrupted() {
		if !together && !e.inOrder {
			return SharedMaterial, "words_added"
		}
		v, rule = Variant, "words_added"
	}
	if v == "" && e.otherAnswer(c.OptionsNear) {
		v, rule = Variant, "other_answer"
	}
	if (v == Variant || v == PolarityVariant) && e.stem < stemSure && len(e.options) >= 3 && e.offeredShare() == 0 {
		return SharedMaterial, "other_question"
	}
	if v != "" {
		return v, rule
	}
	switch {
	case e.found == 0 || !e.inOrder && e.match.options >= 0 && e.match.options < 0.3:
		if e.othersOffered() {
			return Variant, "other_options"
		}
		if exact && e.filled() {
			return Near, "filled"
		}
		return StemOnly, "stem"
	case e.how == asClauses, s.reordered(e):
		return Shuffled, "order"
	}
	return Near, "similar"
}

// alone reports whether the stem stands by itself: between line ends, blanks or
// punctuation, not inside a sentence.
func (e *evidence) alone() bool {
	if e.region[1] == 0 {
		return false
	}
	if e.ownLine() {
		return true
	}
	head, tail := e.head(), e.tail(64)
	before, _ := utf8.DecodeLastRune(bytes.TrimRight(head, " \t　"))
	after := bytes.TrimLeft(tail, " \t　")
	if len(bytes.TrimSpace(head)) > 0 && !bytes.ContainsRune([]byte("\n。？！；;.?!、．>:：—–"), before) && !bytes.HasSuffix(head, []byte("- ")) {
		return false
	}
	if len(after) == 0 || hasBlank(e.raw()) {
		return true
	}
	r, _ := utf8.DecodeRune(after)
	return blankAt(after, 64) || bytes.ContainsRune([]byte("\n？?：:<"), r)
}

// filled reports whether an option stands where the stem has its blank or ends.
func (e *evidence) filled() bool {
	for _, o := range e.pieces {
		if o.piece.kind != optionPart || o.place.dist > 0 {
			continue
		}
		for _, p := range e.pieces {
			if p.piece.kind != optionPart && o.place.start-p.place.end >= 0 && o.place.start-p.place.end <= 1 {
				return true
			}
		}
	}
	return false
}

// quoted reports whether the match looks like a sentence of a source and not
// like a question: no blank or question mark in it or right behind it, no
// options, and a record much longer than the item of which it is but a part.
func (s *Scanner) quoted(e *evidence) bool {
	// rules number their clauses (a), (b), too; three lettered A, B, C are options
	if len(e.options) >= 3 && e.lettered || len(e.options) >= 2 && e.offeredShare() >= 0.5 {
		return false
	}
	if !clause(e.head()) && (!e.partOfMore(e.it.limits.SourceRatio) || e.cutOff()) {
		return false
	}
	head := e.head()
	for _, b := range [][]byte{head[max(0, len(head)-24):], e.raw(), e.tail(48)} {
		e.plain = readable(e.plain[:0], b)
		if bytes.ContainsAny(e.plain, "？?") || hasBlank(e.plain) {
			return false
		}
	}
	return true
}

// blankAt reports whether text begins with a blank to fill in that ends within most
// bytes.
func blankAt(text []byte, most int) bool {
	if len(text) == 0 || bytes.IndexByte([]byte("_([\xE3\xEF"), text[0]) < 0 {
		return false // nothing that a blank begins with
	}
	return blank(string(text[:min(len(text), most)])) > 0
}

// hasBlank reports whether text has a blank to fill in: ____, （ ）.
func hasBlank(text []byte) bool {
	if bytes.Contains(text, []byte("__")) {
		return true
	}
	for i, c := range text {
		if (c == '(' || c == 0xE3 || c == 0xEF) && blankAt(text[i:], 32) {
			return true
		}
	}
	return false
}

// cutOff reports whether the record ends with the match, in the middle of a
// sentence: a chunk that ends where the item has its blank.
func (e *evidence) cutOff() bool { return len(bytes.TrimSpace(e.tail(8))) == 0 }

// partOfMore reports whether the record is ratio times longer than the stem with
// its longest option, and the match does not fill its field.
func (e *evidence) partOfMore(ratio float64) bool {
	longest := 0
	for i := range e.it.options {
		longest = max(longest, len(e.it.options[i].letters))
	}
	if float64(e.letters) <= ratio*float64(e.it.stemLen+longest) {
		return false
	}
	n := e.fieldOf(e.region[0])
	end := e.letters
	if n+1 < len(e.fields) {
		end = e.fields[n+1].first
	}
	from := e.lo + e.region[0] - e.fields[n].first
	return from > 8 || end-(e.lo+e.region[1]) > 4
}

// clause reports whether head, the text before a match, ends in the label of a
// clause of a rule and the begin of its sentence, as texts of law have it and
// questions do not: (d), (ii), §, Rule 6, 第六条.
func clause(head []byte) bool {
	if clauseLabel(head[:min(len(head), 64)]) {
		return true
	}
	head = head[max(0, len(head)-160):]
	from := max(bytes.LastIndexByte(head, '\n')+1, bytes.LastIndex(head, []byte(". "))+1, bytes.LastIndex(head, []byte("; "))+1)
	for _, end := range [...]string{"。", "；"} {
		if i := bytes.LastIndex(head, []byte(end)); i >= 0 {
			from = max(from, i+len(end))
		}
	}
	return clauseLabel(bytes.TrimLeft(head[from:], "0123456789-.— \t"))
}

func clauseLabel(h []byte) bool {
	h = bytes.TrimSpace(h)
	switch {
	case bytes.HasPrefix(h, []byte("§")), bytes.HasPrefix(h, []byte("Rule ")):
		return true
	case bytes.HasPrefix(h, []byte("第")):
		return bytes.ContainsAny(h, "条章节款") && len(h) < 40
	case bytes.HasPrefix(h, []byte("(")):
		in, _, ok := bytes.Cut(h[1:], []byte(")"))
		return ok && len(in) > 0 && len(in) <= 5 && len(bytes.Trim(in, "abcdefghijklmnopqrstuvwxyz")) == 0
	}
	return false
}

// othersOffered reports whether the record offers options most of which are not
// the item's.
func (e *evidence) othersOffered() bool {
	if len(e.options) < 2 || e.offeredShare() >= 0.5 {
		return false
	}
	known := 0
	for k, r := range e.options {
		for i := range e.it.options {
			ls := e.it.options[i].letters
			if e.sameOffer(i, k) || len(r.text) > 0 && len(r.text) < len(ls) && slices.Equal(r.text, ls[:len(r.text)]) {
				known++ // cut off counts, too
				break
			}
		}
	}
	return 2*known < len(e.options)
}

// otherAnswer reports whether the record offers its own options and the right
// one of the item, or anything near it, is not among them.
func (e *evidence) otherAnswer(near float64) bool {
	if len(e.options) < 3 || len(e.it.answer) != 1 || e.match.options >= near || e.offeredShare() >= near {
		return false
	}
	for i := range e.it.options {
		if !e.it.right(i) || e.it.options[i].combo {
			continue
		}
		key := e.it.options[i].letters
		for _, r := range e.options {
			if r.is(func(ls []letter) bool { return 2*distance(key, ls) <= len(key) }) {
				return false
			}
		}
		return len(key) > 0
	}
	return false
}

// offeredShare returns the share of the item's options among those offered.
func (e *evidence) offeredShare() float64 {
	if len(e.options) < 2 {
		return 0
	}
	n, have := 0, 0
	for i := range e.it.options {
		o := &e.it.options[i]
		if len(o.letters) == 0 || o.combo {
			continue
		}
		n++
		if e.isOffered(i) {
			have++
		}
	}
	if n == 0 {
		return 1 // nothing that could differ
	}
	return float64(have) / float64(n)
}

// isOffered reports whether option i of the item is among those offered.
func (e *evidence) isOffered(i int) bool {
	for k := range e.options {
		if e.sameOffer(i, k) {
			return true
		}
	}
	return false
}

// sameOffer reports whether offer k of the record is option i of the item: the same
// numbers in nearly the same words.
func (e *evidence) sameOffer(i, k int) bool {
	if len(e.alike) == 0 {
		e.alike = append(e.alike, make([]truth, len(e.it.options)*len(e.options))...)
	}
	known := &e.alike[i*len(e.options)+k]
	if *known == unknown {
		o, r, n := e.it.options[i].letters, e.options[k], e.numbers
		*known = truthOf(r.is(func(ls []letter) bool { return sameOption(o, ls, e.it.latin) }) ||
			n.in(o) && r.is(func(ls []letter) bool {
				return n.in(ls) && sameOption(n.same(o), n.same(ls), e.it.latin)
			}))
	}
	return *known == yes
}

func sameOption(a, b []letter, latin bool) bool {
	most := tolerance(len(a), latin)
	return max(len(a)-len(b), len(b)-len(a)) <= most && sameDigits(a, b) && distance(a, b) <= most
}

// reordered reports whether all options, or all statements, are there but in
// another order than the item's.
func (s *Scanner) reordered(e *evidence) bool {
	for _, kind := range []partKind{statementPart, optionPart} {
		last, n, falls := -1, 0, false
		for _, f := range e.pieces {
			if f.piece.kind != kind || len(f.piece.letters) < 3 {
				continue
			}
			n++
			falls = falls || f.place.start < last
			last = f.place.start
		}
		if n >= 2 && falls {
			return true
		}
	}
	return false
}

// changed tells the variants: the same words with another number, negated, or
// with a condition or statement more or less.
func (s *Scanner) changed(e *evidence) (Verdict, string) {
	switch {
	case s.numbersChanged(e):
		return NumericVariant, "numbers"
	case e.optionNumbersChanged():
		return NumericVariant, "option_numbers"
	case s.optionUnitsChanged(e):
		return NumericVariant, "units"
	case s.turned(e):
		return PolarityVariant, "polarity"
	case s.statementReplaced(e):
		return Variant, "statements"
	case e.conditionDropped():
		return Variant, "condition"
	}
	return "", ""
}

// statementReplaced reports whether one of the item's statements is missing
// while the rest is there.
func (s *Scanner) statementReplaced(e *evidence) bool {
	for i := range e.it.stem {
		p := &e.it.stem[i]
		if p.kind != statementPart || len(p.letters) < 5 {
			continue
		}
		if slices.ContainsFunc(e.pieces, func(f found) bool { return f.piece == p }) {
			continue // it was found, so it is nearer than that
		}
		if d, _ := s.m.search(p.letters, e.window); float64(d) > 0.5*float64(len(p.letters)) {
			return true
		}
	}
	return false
}

// conditionDropped reports whether the record lacks a number of the stem, of two
// digits or more, or a digit with three more letters: L＜20m, （L≥12m）. Damaged
// text loses single characters.
func (e *evidence) conditionDropped() bool {
	for _, f := range e.pieces {
		if f.piece.kind == optionPart || !f.piece.digits || f.place.dist < 2 {
			continue
		}
		ls := f.piece.letters
		pairs := e.aligner.align(ls, e.own(f))
		for i := 0; i < len(ls); {
			j, some := i, 0
			for j < len(ls) && pairs[j].to < 0 {
				if isDigit(ls[j]) {
					some++
				}
				j++
			}
			if some > 0 && j-i >= 4 || missingNumber(ls, i, j) {
				return true
			}
			i = max(j, i+1)
		}
	}
	return false
}

// missingNumber reports whether ls[i:j], which is missing, holds a whole number
// of two digits or more.
func missingNumber(ls []letter, i, j int) bool {
	for k := i; k < j; {
		if !isDigit(ls[k]) || k > 0 && isDigit(ls[k-1]) {
			k++
			continue
		}
		end := k
		for end < len(ls) && isDigit(ls[end]) {
			end++
		}
		if end <= j && end-k >= 2 {
			return true
		}
		k = end
	}
	return false
}

// own returns the letters a piece was found at, without those at its ends that
// matched nothing and that a line end, a mark or another field keeps apart: they
// belong to what stands beside it.
func (e *evidence) own(f found) []letter {
	from, to := f.place.start, f.place.end
	for k := min(from+f.place.dist, to-1); k > from; k-- {
		if !e.adjacent(k-1) && distance(f.piece.letters, e.window[k:to]) <= f.place.dist {
			from = k
			break
		}
	}
	for k := max(to-f.place.dist, from+1); k < to; k++ {
		if !e.adjacent(k-1) && distance(f.piece.letters, e.window[from:k]) <= f.place.dist {
			to = k
			break
		}
	}
	return e.window[from:to]
}

// adjacent reports whether letter k of the window touches the next one.
func (e *evidence) adjacent(k int) bool {
	return k >= 0 && k+1 < len(e.origins) && e.fieldOf(k) == e.fieldOf(k+1) && e.after(k) >= int(e.origins[k+1].byte)
}
