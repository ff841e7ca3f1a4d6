// Package shuffle decides in which order a question's options are printed, so
// that the answer's letter says nothing, and moves answer and explanation along.
//
// The order is a function of the record's id, a seed and a domain alone: it does
// not depend on batches, workers or the other records. Some questions keep the
// order of their source; [For] says why.
package shuffle

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/textnorm"

	"github.com/zeebo/xxh3"
)

// Reasons for which a question keeps its order.
const (
	Kind       = "kind"               // it has no options to choose from
	Labels     = "labels"             // option labels are missing or stand twice
	Blank      = "blank_option"       // an option is empty or only a letter: the text is elsewhere, in a figure
	Positional = "positional_option"  // an option speaks of the others: 以上都对, A和C, all of the above
	StemRefers = "stem_names_option"  // the stem speaks of an option by letter
	TextRefers = "explanation_unsure" // the explanation has letters that may or may not be options
)

// A Plan is the order for one question. The zero Plan keeps the order.
type Plan struct {
	Order  []int  // Order[i] is the source position of the option printed at place i; nil keeps all
	Pinned string // why the order is kept, when it is
}

// For decides the order for q. domain separates independent shuffles of the
// same record: shuffling twice by the same permutation would bring a third of
// three-option answers back to where they stood. withText says that the
// explanation or reasoning will be printed too, so that letters in it count.
func For(q *drydock.Question, id drydock.ID, domain string, seed uint64, withText bool) Plan {
	if why := pinned(q, withText); why != "" {
		return Plan{Pinned: why}
	}
	return Plan{Order: Order(id, domain, seed, len(q.Options))}
}

// Order returns a permutation of n places in which every place of every option
// is equally likely over ids.
func Order(id drydock.ID, domain string, seed uint64, n int) []int {
	key := make([]byte, 0, len(id)+8+len(domain))
	key = append(key, id[:]...)
	key = binary.LittleEndian.AppendUint64(key, seed)
	key = append(key, domain...)
	state := xxh3.Hash(key)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	for i := n - 1; i > 0; i-- {
		// splitmix64, then the high word of the product: its bias is below 2^-60
		state += 0x9e3779b97f4a7c15
		z := state
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		j, _ := bits.Mul64(z^z>>31, uint64(i+1))
		order[i], order[j] = order[j], order[i]
	}
	return order
}

func pinned(q *drydock.Question, withText bool) string {
	n := len(q.Options)
	if q.Kind != drydock.Single && q.Kind != drydock.Multiple || n < 2 {
		return Kind
	}
	for i, o := range q.Options {
		if o.Label == "" || slices.ContainsFunc(q.Options[:i], func(p drydock.Option) bool { return p.Label == o.Label }) {
			return Labels
		}
		if isLoneLabel(o.Text, n) {
			return Blank
		}
	}
	for _, o := range q.Options {
		if IsPositional(o.Text, n) {
			return Positional
		}
	}
	if found, _ := references(q.Stem, n); len(found) > 0 {
		return StemRefers
	}
	if withText {
		for _, text := range []string{q.Explanation, q.Reasoning} {
			if _, sure := references(text, n); !sure {
				return TextRefers
			}
		}
	}
	return ""
}

// isLoneLabel reports an option whose text is empty or a single letter of the
// label range, as banks print them whose options are parts of a figure.
func isLoneLabel(text string, n int) bool {
	t := strings.TrimSpace(text)
	if t == "" {
		return true
	}
	first, size := utf8.DecodeRuneInString(t)
	if size < len(t) {
		return false
	}
	r := textnorm.HalfWidth(first)
	return r >= 'A' && r < 'A'+rune(n) || r >= 'a' && r < 'a'+rune(n)
}

// Apply returns q with its options in the planned order, labels staying in
// place, and answer, explanation and reasoning following. q is not changed.
func (p Plan) Apply(q *drydock.Question) *drydock.Question {
	out := *q
	if p.Order == nil {
		return &out
	}
	out.Options = make([]drydock.Option, len(q.Options))
	for i, from := range p.Order {
		out.Options[i] = drydock.Option{Label: q.Options[i].Label, Text: q.Options[from].Text}
	}
	to := p.moves(q)
	if len(q.Answer) > 0 {
		out.Answer = make([]string, len(q.Answer))
		for i, a := range q.Answer {
			out.Answer[i] = a // a label no option has stays for others to complain about
			if l, ok := to[a]; ok {
				out.Answer[i] = l
			}
		}
		slices.SortStableFunc(out.Answer, func(a, b string) int { return place(q, a) - place(q, b) })
	}
	out.Explanation = p.rewrite(q, q.Explanation)
	out.Reasoning = p.rewrite(q, q.Reasoning)
	return &out
}

// moves maps each source label to the label its option is printed under.
func (p Plan) moves(q *drydock.Question) map[string]string {
	m := make(map[string]string, len(p.Order))
	for i, from := range p.Order {
		m[q.Options[from].Label] = q.Options[i].Label
	}
	return m
}

func place(q *drydock.Question, label string) int {
	i := slices.IndexFunc(q.Options, func(o drydock.Option) bool { return o.Label == label })
	if i < 0 {
		return len(q.Options)
	}
	return i
}

// A Move says under which label an option of the source is printed.
type Move struct {
	From, To string // labels: of the source, and as printed
}

// Moves lists the options' moves in source order; with the order kept each
// label maps to itself.
func (p Plan) Moves(q *drydock.Question) []Move {
	out := make([]Move, len(q.Options))
	for i, o := range q.Options {
		out[i] = Move{o.Label, o.Label}
	}
	for i, from := range p.Order {
		out[from].To = q.Options[i].Label
	}
	return out
}

func (p Plan) rewrite(q *drydock.Question, text string) string {
	if text == "" || p.Order == nil {
		return text
	}
	refs, sure := references(text, len(q.Options))
	if !sure || len(refs) == 0 {
		return text
	}
	at := make([]int, len(p.Order)) // source place → printed place
	for i, from := range p.Order {
		at[from] = i
	}
	var b strings.Builder
	last := 0
	for _, r := range refs {
		b.WriteString(text[last:r.start])
		places := make([]int, 0, len(r.letters))
		for _, l := range r.letters {
			places = append(places, at[l])
		}
		slices.Sort(places)
		for _, i := range places {
			b.WriteRune(r.base + rune(i))
		}
		last = r.end
	}
	b.WriteString(text[last:])
	return b.String()
}
