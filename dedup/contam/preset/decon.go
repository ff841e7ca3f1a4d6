package preset

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/eval/benchmark"
)

// decon's defaults.
const (
	deconGram         = 5  // tokens in a run of a question
	deconAnswerGram   = 3  // tokens in a run of an answer
	deconSample       = 10 // every so many tokens are looked up
	deconMisses       = 11 // runs in a row that may miss
	deconMinTokens    = 20 // references with fewer are left out
	deconMinWords     = 4  // different words, cut at white space; the same
	deconShortAnswer  = 3  // tokens up to which an answer is searched whole
	deconShortWindow  = 50 // tokens behind the question it may stand in
	deconLongWindow   = 100
	deconThreshold    = 0.8
	deconPerfectBelow = 20 // tokens up to which everything must match
	deconRelaxedFrom  = 50 // tokens from which the threshold holds as it is
	deconInformative  = 20 // different runs from which a question stands for itself
)

// decon is the index: questions as runs of five tokens, answers as runs of three
// or, when short, as they are.
type decon struct {
	split  func(string) []string
	items  int
	tokens map[string]uint32 // from 1; 0 is a token no reference has
	grams  map[string]uint32 // run → number; questions and answers share them
	docs   map[uint32][]int  // number of a question's run → references, rising
	hot    int               // runs of more references than this start nothing
	refs   []reference
	df     map[uint32]int // references' fields by token
	ansDF  map[uint32]int // references by run of an answer
}

// A reference is a question with one of its options.
type reference struct {
	item    int
	grams   []uint32 // different runs of the question, rising
	tokens  int      // of the question
	mass    float32  // idf of its runs
	answer  []uint32 // tokens
	answers []uint32 // different runs of the answer, rising
}

func newDecon(sets []contam.Set, split func(string) []string) matcher {
	d := &decon{
		split: split, tokens: map[string]uint32{}, grams: map[string]uint32{}, docs: map[uint32][]int{},
		df: map[uint32]int{}, ansDF: map[uint32]int{},
	}
	seen := map[string]bool{}
	for _, s := range sets {
		for i := range s.Items {
			for _, answer := range choices(&s.Items[i]) {
				key := s.Ref.Name + "\x00" + s.Items[i].Question.Stem + "\x00" + answer
				if d.keeps(s.Items[i].Question.Stem, answer) && !seen[key] {
					seen[key] = true
					d.add(d.items, s.Items[i].Question.Stem, answer)
				}
			}
			d.items++
		}
	}
	d.hot = max(2*int(math.Sqrt(float64(len(d.refs)))), 2000)
	for i := range d.refs {
		for _, g := range d.refs[i].grams {
			d.refs[i].mass += d.idf(len(d.docs[g]))
		}
	}
	return d
}

// choices are the answers an item has a reference for: each option, else the
// key, else none, which is a reference, too.
func choices(it *benchmark.Item) []string {
	var out []string
	for _, o := range it.Question.Options {
		out = append(out, o.Text)
	}
	switch {
	case len(out) > 0:
		return out
	case len(it.Gold) > 0:
		return it.Gold[:1]
	}
	return []string{""}
}

// keeps reports whether a reference is long enough to be indexed.
func (d *decon) keeps(question, answer string) bool {
	all := string(deconClean([]rune(question)).text)
	if a := string(deconClean([]rune(answer)).text); a != "" {
		all = strings.TrimPrefix(all+" "+a, " ")
	}
	tokens := len(d.split(" " + all))
	different := map[string]bool{}
	for w := range strings.FieldsSeq(all) {
		different[w] = true
	}
	return tokens >= deconMinTokens && len(different) >= deconMinWords
}

func (d *decon) add(item int, question, answer string) {
	text := deconClean([]rune(question))
	if len(text.text) == 0 {
		return
	}
	n := len(d.refs)
	tokens := d.learn(text)
	r := reference{item: item, tokens: len(tokens)}
	size := min(deconGram, len(tokens))
	for i := 0; i+size <= len(tokens); i++ {
		g := d.number(tokens[i : i+size])
		r.grams = append(r.grams, g)
		if have := d.docs[g]; len(have) == 0 || have[len(have)-1] != n {
			d.docs[g] = append(have, n)
		}
	}
	r.grams = distinct(r.grams)
	if a := deconClean([]rune(answer)); len(a.text) > 0 {
		r.answer = d.learn(a)
		if len(r.answer) > deconShortAnswer {
			for i := 0; i+deconAnswerGram <= len(r.answer); i++ {
				r.answers = append(r.answers, d.number(r.answer[i:i+deconAnswerGram]))
			}
			r.answers = distinct(r.answers)
			for _, g := range r.answers {
				d.ansDF[g]++
			}
		}
	}
	d.refs = append(d.refs, r)
}

func distinct(s []uint32) []uint32 {
	slices.Sort(s)
	return slices.Compact(s)
}

// learn numbers the tokens of a field and counts it for each of them.
func (d *decon) learn(t cleaned) []uint32 {
	var out []uint32
	for _, w := range d.split(" " + string(t.text)) {
		id, known := d.tokens[w]
		if !known {
			id = uint32(len(d.tokens) + 1)
			d.tokens[w] = id
		}
		out = append(out, id)
	}
	for _, id := range distinct(slices.Clone(out)) {
		d.df[id]++
	}
	return out
}

// gramKey is a run as a map's key.
func gramKey(tokens []uint32) string {
	b := make([]byte, 0, 4*deconGram)
	for _, t := range tokens {
		b = binary.LittleEndian.AppendUint32(b, t)
	}
	return string(b)
}

func (d *decon) number(tokens []uint32) uint32 {
	k := gramKey(tokens)
	id, known := d.grams[k]
	if !known {
		id = uint32(len(d.grams))
		d.grams[k] = id
	}
	return id
}

// idf is ln(references / df), in single precision as decon computes it.
func (d *decon) idf(df int) float32 {
	return float32(math.Log(float64(float32(len(d.refs)) / float32(df))))
}

func (d *decon) blind() []bool {
	out := make([]bool, d.items)
	for i := range out {
		out[i] = true
	}
	for i := range d.refs {
		out[d.refs[i].item] = false
	}
	return out
}

// cleaned is a text as decon compares it: lower case, its punctuation and every
// white space one space, none at the ends. at says where each character was.
type cleaned struct {
	text []rune
	at   []int
}

// deconPunct is decon's list, all ASCII punctuation and five typographic signs.
const deconPunct = "!'\"#$%&()*+,-./:;<=>?@[\\]^_`{|}~“”‘’—"

func deconClean(text []rune) cleaned {
	var c cleaned
	space := true
	for i, r := range text {
		if unicode.IsSpace(r) || strings.ContainsRune(deconPunct, r) {
			if !space {
				c.text, c.at = append(c.text, ' '), append(c.at, i)
			}
			space = true
			continue
		}
		for _, l := range strings.ToLower(string(r)) {
			c.text, c.at = append(c.text, l), append(c.at, i)
		}
		space = false
	}
	if n := len(c.text); n > 0 && space {
		c.text, c.at = c.text[:n-1], c.at[:n-1]
	}
	return c
}
