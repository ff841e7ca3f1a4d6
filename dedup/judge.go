package dedup

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Why a record that looks like another stays, and is only listed: the reasons of a
// [Pair] that is Listed.
const (
	OtherNumber   = "variant_number"   // another number, or a number more
	OtherUnit     = "variant_unit"     // another word after the same number
	OtherPolarity = "variant_polarity" // negated, or an opposite: left and right, may and shall
	OtherSymbol   = "variant_symbol"   // another letter or sign: A and B, VHF and UHF, mW and MW
	OtherWording  = "variant_wording"  // whole words stand for others
	OtherOptions  = "variant_options"  // the same stem with other options
	OtherPassage  = "variant_passage"  // a stretch is new, or there is more of it than in the other
	OtherAnswer   = "conflict_answer"  // the same prompt or question, another answer
	Contained     = "contained"        // the shorter stands in the longer
)

const (
	// strictRunes: up to so many letters every word counts; longer texts have
	// damage in them, and only what is clean (a word put in, an opposite) counts.
	strictRunes = 256
	// wordRunes: below so many letters one replaced ideograph may be the matter.
	wordRunes = 16
	// passageUnits is how much of a stretch must be new to both, or to the one that
	// would go, to make it another text.
	passageUnits = 16
	// A stretch goes on over so many equal letters: unlike texts have as many in
	// common by chance.
	bridgeRunes = 2
	// optionSimilar is the least similarity of two short options.
	optionSimilar = 0.6
	// containedShare is how much of the shorter must stand in the longer.
	containedShare = 0.9
	gapContained   = 128 // letters; a gap with a larger distance counts whole
	shownHunks     = 4
)

// A verdict is what a comparison says; an empty reason: nothing in common.
type verdict struct {
	reason     string
	similarity float64
}

// rank orders verdicts by how much they say; 0: nothing.
func (v verdict) rank() int {
	switch v.reason {
	case "":
		return 0
	case Near:
		return 4
	case OtherAnswer:
		return 3
	case Contained:
		return 1
	}
	return 2
}

// better reports whether v says more than o.
func (v verdict) better(o verdict) bool {
	if a, b := v.rank(), o.rank(); a != b {
		return a > b
	}
	return v.similarity > o.similarity
}

// A judge compares two records letter by letter. Its buffers are reused.
type judge struct {
	threshold float64
	words     *words
	differ    differ
	measure   *measure
	bag       *bag
	a, b      []rune
	held      *part // whose letters b is; nil: none
	measured  bool  // the measure holds them
	bagged    bool  // the bag holds them

	telling bool // what differs is written down, for people
	text    strings.Builder

	// of the pair being compared
	dist, letters int
	reason, cause string // the first difference that counts
	shown         int
	whole, pieces int // differences that may be one word for another, and all
}

// begin makes the judge forget the record it has compared with others: its memory
// may hold another one by now.
func (j *judge) begin() { j.held = nil }

// explain says what differs between two records that compare has found alike.
func (j *judge) explain(a, b *saved) string {
	j.telling = true
	v := j.compare(a, b)
	j.telling = false
	switch {
	case v.reason == "", v.reason == Contained:
		return ""
	case j.cause != "":
		return j.cause
	}
	return strings.TrimSpace(j.text.String())
}

// compare says how b, which would go, relates to a, which would stay.
func (j *judge) compare(a, b *saved) verdict {
	j.dist, j.letters, j.reason, j.cause, j.shown, j.whole, j.pieces = 0, 0, "", "", 0, 0, 0
	j.text.Reset()
	if a.frame != b.frame {
		return verdict{}
	}
	if len(a.parts) == 1 && a.parts[0].role == roleText {
		return j.passage(&a.parts[0], &b.parts[0])
	}
	return j.asked(a.parts, b.parts, a.answer, b.answer)
}

// verdict sums up what the parts have said.
func (j *judge) verdict() verdict {
	v := verdict{Near, similarity(j.dist, j.letters)}
	switch {
	case j.reason != "":
		v.reason = j.reason
	case j.pieces > 0 && j.whole == j.pieces: // nothing that damage does
		v.reason = OtherWording
	}
	return v
}

func similarity(dist, letters int) float64 {
	if letters == 0 {
		return 1
	}
	return 1 - float64(dist)/float64(letters)
}

// part compares two parts; false: they are not near.
func (j *judge) part(a, b *part, similar float64) bool {
	if bytes.Equal(a.text, b.text) {
		n := utf8.RuneCount(a.text)
		j.letters += 2 * n
		j.signs(a, b)
		return true
	}
	j.a = runes(j.a[:0], a.text)
	if j.held != b {
		j.held, j.b = b, runes(j.b[:0], b.text)
		j.measured, j.bagged = j.measure.hold(j.b), false
	}
	total := len(j.a) + len(j.b)
	most := int((1-similar)*float64(total) + 1e-9)
	if gap := len(j.a) - len(j.b); max(gap, -gap) > most || j.least() > most {
		return false
	}
	dist, ok := j.differ.diff(j.a, j.b, most)
	if !ok {
		return false
	}
	j.dist, j.letters = j.dist+dist, j.letters+total
	j.weigh(a.role)
	j.signs(a, b)
	return true
}

// least returns a bound that the distance of a and b is not below.
func (j *judge) least() int {
	if j.measured {
		return j.measure.distance(j.a)
	}
	least, _ := j.shared()
	return least
}

// shared returns the bag's bound of the distance of a and b, and how many pairs of
// neighbouring letters they share.
func (j *judge) shared() (least, pairs int) {
	if !j.bagged {
		j.bag.hold(j.b)
		j.bagged = true
	}
	return j.bag.distance(j.a)
}

// signs notes that folding has taken away what differs.
func (j *judge) signs(a, b *part) {
	if !bytes.Equal(a.signs, b.signs) && j.reason == "" {
		j.note(OtherSymbol, []rune(readSigns(a.signs)), []rune(readSigns(b.signs)))
	}
}

// readSigns makes signs readable.
func readSigns(signs []byte) string {
	return strings.TrimSpace(string(bytes.ReplaceAll(signs, []byte{markSign}, []byte{' '})))
}

// note keeps the first reason, and what it is about.
func (j *judge) note(reason string, a, b []rune) {
	if j.reason != "" {
		return
	}
	j.reason = reason
	if j.telling {
		j.cause = change(a, b)
	}
}

func (j *judge) passage(a, b *part) verdict {
	if j.part(a, b, j.threshold) {
		return j.verdict()
	}
	shorter, longer := min(len(j.a), len(j.b)), max(len(j.a), len(j.b))
	if longer*5 < shorter*6 || min(countUnits(a.text), countUnits(b.text)) < unitsContained {
		return verdict{}
	}
	if _, pairs := j.shared(); 4*pairs < 3*shorter {
		return verdict{}
	}
	j.differ.hunks = j.differ.hunks[:0]
	dist, _ := j.differ.anchored(j.a, j.b, len(j.a)+len(j.b), gapContained)
	common := (len(j.a) + len(j.b) - dist) / 2
	if share := float64(common) / float64(shorter); share >= containedShare {
		return verdict{Contained, share}
	}
	return verdict{}
}

// asked compares questions and conversations: first what is asked, then what is
// answered.
func (j *judge) asked(a, b []part, answerA, answerB uint32) verdict {
	var at, bt asking
	at.split(a)
	bt.split(b)
	if len(at.stems) != len(bt.stems) {
		return verdict{}
	}
	for i := range at.stems {
		if !j.part(at.stems[i], bt.stems[i], j.threshold) {
			return verdict{}
		}
	}
	sameAnswer, ok := j.options(at.options, bt.options)
	if !ok {
		return verdict{}
	}
	if j.letters == 0 {
		return verdict{} // nothing but signs: only equal ones are alike
	}
	if v := j.verdict(); v.reason != Near {
		return v
	}
	if !sameAnswer || len(at.options) == 0 && answerA != 0 && answerB != 0 && answerA != answerB {
		v := j.verdict()
		v.reason = OtherAnswer
		return v
	}
	return j.answered(at.answers, bt.answers)
}

// answered compares the answers to what has turned out to be the same prompt.
func (j *judge) answered(a, b []*part) verdict {
	conflict := verdict{OtherAnswer, j.verdict().similarity}
	if len(a) != len(b) {
		return conflict
	}
	for i := range a {
		if !j.part(a[i], b[i], j.threshold) {
			return conflict
		}
	}
	if v := j.verdict(); v.reason == Near {
		return v
	}
	return conflict
}

// asking is a record's parts by what they are for.
type asking struct{ stems, options, answers []*part }

func (t *asking) split(parts []part) {
	for i := range parts {
		p := &parts[i]
		switch p.role {
		case roleOption, roleRight:
			t.options = append(t.options, p)
		case roleAnswer:
			t.answers = append(t.answers, p)
		default:
			t.stems = append(t.stems, p)
		}
	}
}

// options pairs the options of two questions, equal ones first. ok is false when
// they have so little in common that the questions are two.
func (j *judge) options(a, b []*part) (sameAnswer, ok bool) {
	var used [64]bool
	if len(b) > len(used) || len(a) > len(used) {
		return true, len(a) == len(b)
	}
	sameAnswer = true
	var left []*part
	match := func(x, y *part) {
		// a question without a key has no right option at all
		sameAnswer = sameAnswer && x.role == y.role
	}
	for _, x := range a {
		if i := equalOption(b, used[:], x); i >= 0 {
			used[i] = true
			j.part(x, b[i], 1)
			match(x, b[i])
			continue
		}
		left = append(left, x)
	}
	missing := 0
	for _, x := range left {
		i := j.nearest(b, used[:], x)
		if i < 0 {
			missing++
			continue
		}
		used[i] = true
		j.part(x, b[i], optionSimilar)
		match(x, b[i])
	}
	if answerless(a) || answerless(b) {
		sameAnswer = true
	}
	if missing > 0 || len(a) != len(b) {
		j.note(OtherOptions, nil, nil)
		shared := len(a) - missing
		return sameAnswer, 2*shared >= max(len(a), len(b)) && shared > 0
	}
	return sameAnswer, true
}

func answerless(options []*part) bool {
	for _, o := range options {
		if o.role == roleRight {
			return false
		}
	}
	return true
}

func equalOption(b []*part, used []bool, x *part) int {
	for i, y := range b {
		if !used[i] && bytes.Equal(x.text, y.text) && bytes.Equal(x.signs, y.signs) {
			return i
		}
	}
	return -1
}

// nearest finds the option of b that x has become.
func (j *judge) nearest(b []*part, used []bool, x *part) int {
	best, at := 0.0, -1
	j.held = nil
	j.a = runes(j.a[:0], x.text)
	for i, y := range b {
		if used[i] {
			continue
		}
		j.b = runes(j.b[:0], y.text)
		total := len(j.a) + len(j.b)
		dist, ok := j.differ.diff(j.a, j.b, int((1-optionSimilar)*float64(total)+1e-9))
		if s := similarity(dist, total); ok && total > 0 && s > best {
			best, at = s, i
		}
	}
	return at
}

func runes(dst []rune, text []byte) []rune {
	for i := 0; i < len(text); {
		r, n := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(text[i:])
		}
		dst = append(dst, r)
		i += n
	}
	return dst
}
