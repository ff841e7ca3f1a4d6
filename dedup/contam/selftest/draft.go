package selftest

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/drydock-ml/drydock/eval/benchmark"
)

// A draft is an item on its way to a copy.
type draft struct {
	stem    string
	options []string
	key     int // of the right option; -1: unknown
	chinese bool
	rng     *rand.Rand
	prose   func(n int) string // n characters of the user's own text
	letters []rune             // ideographs of the benchmark, to put in place of others
	other   *draft             // another item in the same script; nil: there is none
}

func newDraft(it *benchmark.Item) *draft {
	d := &draft{stem: it.Question.Stem, key: -1}
	for i, o := range it.Question.Options {
		d.options = append(d.options, o.Text)
		if slices.Contains(it.Question.Answer, o.Label) {
			d.key = i
		}
	}
	han := 0
	for _, r := range d.stem + strings.Join(d.options, "") {
		if unicode.Is(unicode.Han, r) {
			han++
		}
	}
	d.chinese = han >= 5
	return d
}

// each returns a copy of d with f applied to the stem and every option.
func (d *draft) each(f func(string) string) *draft {
	e := *d
	e.stem = f(d.stem)
	e.options = nil
	for _, o := range d.options {
		e.options = append(e.options, f(o))
	}
	return &e
}

// with returns a copy of d with other options; key is the right one's place.
func (d *draft) with(options []string, key int) *draft {
	e := *d
	e.options, e.key = options, key
	return &e
}

// shuffled returns a copy whose options stand in another order.
func (d *draft) shuffled() *draft {
	if len(d.options) < 2 {
		return d
	}
	order := d.order(len(d.options))
	e := d.with(nil, -1)
	for at, from := range order {
		e.options = append(e.options, d.options[from])
		if from == d.key {
			e.key = at
		}
	}
	return e
}

// order draws a permutation of n ≥ 2 places that moves something.
func (d *draft) order(n int) []int {
	for {
		if p := d.rng.Perm(n); !slices.IsSorted(p) {
			return p
		}
	}
}

// wrong draws an option that is not the right one; -1: there is none.
func (d *draft) wrong() int {
	if len(d.options) < 2 {
		return -1
	}
	for {
		if i := d.rng.IntN(len(d.options)); i != d.key {
			return i
		}
	}
}

const capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

// letter returns the letter of option i.
func letter(i int) string {
	if i < 0 || i >= len(capitals) {
		return "A"
	}
	return capitals[i : i+1]
}

// A style is how options are lettered and set.
type style struct {
	labels []string
	before string
	after  string
	sep    string
}

var plain = style{after: ". ", sep: "\n"}

// label returns the label of option i.
func (s *style) label(i int) string {
	if i < len(s.labels) {
		return s.labels[i]
	}
	return letter(i)
}

// list writes the options.
func (d *draft) list(s style) string {
	var b strings.Builder
	for i, o := range d.options {
		if i > 0 {
			b.WriteString(s.sep)
		}
		b.WriteString(s.before + s.label(i) + s.after + o)
	}
	return b.String()
}

// full writes the question as an exam prints it.
func (d *draft) full(s style) string {
	if len(d.options) == 0 {
		return d.stem
	}
	return d.stem + "\n" + d.list(s)
}

// say picks the text for the item's language.
func (d *draft) say(en, zh string) string {
	if d.chinese {
		return zh
	}
	return en
}

// reply is what a training row would have as the answer.
func (d *draft) reply() string { return "[" + letter(d.key) + "]" }

var blanks = regexp.MustCompile(`_{2,}|（[\s　]*）|\([\s　]*\)`)

// filled writes the stem with an option in its blank; "" when it has none.
func (d *draft) filled(option int) string {
	at := blanks.FindStringIndex(d.stem)
	if at == nil || option < 0 {
		return ""
	}
	return d.stem[:at[0]] + d.options[option] + blanks.ReplaceAllString(d.stem[at[1]:], "")
}

// circled are the signs of statements.
const circled = "①②③④⑤⑥⑦⑧⑨⑩"

var circles = regexp.MustCompile(`[①-⑩]`)

// statements cuts a stem at ①②③…; nil unless they count up from ① to at least ②.
func (d *draft) statements() (head string, parts []string) {
	at := circles.FindAllStringIndex(d.stem, -1)
	if len(at) < 2 {
		return "", nil
	}
	for i, p := range at {
		if d.stem[p[0]:p[1]] != nth(circled, i) {
			return "", nil
		}
		end := len(d.stem)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		parts = append(parts, d.stem[p[1]:end])
	}
	return d.stem[:at[0][0]], parts
}

// nth returns the i-th character of s, "" beyond its end.
func nth(s string, i int) string {
	for _, r := range s {
		if i == 0 {
			return string(r)
		}
		i--
	}
	return ""
}
