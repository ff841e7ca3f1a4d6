package eval

import (
	"maps"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/internal/stats"
	"github.com/drydock-ml/drydock/internal/textnorm"
)

// An Outcome is what became of one item of a run: what statistics need to know.
type Outcome struct {
	Index  int     // position of the item, from 0
	Key    string  // the right letter; empty when the item has none
	Letter string  // what was extracted, of the first answer; empty: nothing
	Score  float64 // 0 to 1: the share of the answers that are right
	Tries  int     // answers, failures included; 1 unless the item was asked more often
	Flips  int     // answers whose letter is not that of the first
	Offer  int     // how many options the item shows

	id, subject, stem string // the item's id, the subject its row names, its folded stem
}

// Outcomes returns one outcome an item in the order of their index. Answers to
// an item that was asked several times are one outcome: they are no independent
// trials.
func (s *Summary) Outcomes() []Outcome { return s.outcomes }

// outcomes joins the graded results by item; repeats is how many stand next to
// each other for one.
func outcomes(results []result, repeats int) []Outcome {
	at := map[int]int{}
	var out []Outcome
	for i := range results {
		r := &results[i]
		item := r.index / repeats
		j, seen := at[item]
		if !seen {
			j = len(out)
			at[item] = j
			o := Outcome{
				Index: item, Letter: r.grade.Extracted, Offer: len(r.item.Question.Options),
				id: r.item.ID, subject: subjectOf(r.item.Tags), stem: textnorm.Key(r.item.Question.Stem),
			}
			if r.item.Question.Kind != drydock.Short { // a free answer is no letter
				o.Key = strings.Join(r.item.Question.Answer, "")
			}
			out = append(out, o)
		}
		o := &out[j]
		o.Tries++
		if r.verdict() == benchmark.Correct {
			o.Score++
		}
		if r.grade.Extracted != o.Letter {
			o.Flips++
		}
	}
	for i := range out {
		out[i].Score /= float64(out[i].Tries)
	}
	slices.SortFunc(out, func(a, b Outcome) int { return a.Index - b.Index })
	return out
}

// Letters compares the letters answered with those of the key.
type Letters struct {
	Key      []string `json:"key"`      // the rows: right letters
	Answered []string `json:"answered"` // the columns; the last, "", is no letter
	N        [][]int  `json:"n"`        // items by right letter, then answered letter
	// Bias is a chi-square test of the wrong answers that name an offered letter:
	// without a liking for one place they spread evenly over the wrong options.
	// Items of two options tell nothing.
	Bias LetterBias `json:"bias"`
}

// LetterBias is what the test of the wrong letters gives.
type LetterBias struct {
	Wrong     int                `json:"wrong"`  // answers it rests on
	Excess    map[string]float64 `json:"excess"` // wrong answers more than an even spread gives, by letter
	ChiSquare float64            `json:"chi_square"`
	DF        int                `json:"df"`
	PValue    float64            `json:"p_value"` // 1 when there is too little to test
}

// lettersOf counts the first answers of all items that have a key.
func lettersOf(all []Outcome) Letters {
	keys, answered := map[string]bool{}, map[string]bool{"": true}
	for _, o := range all {
		if o.Key != "" {
			keys[o.Key] = true
			answered[o.Letter] = true
		}
	}
	for k := range keys {
		answered[k] = true
	}
	l := Letters{Key: slices.Sorted(maps.Keys(keys)), Answered: slices.Sorted(maps.Keys(answered))}
	l.Answered = append(l.Answered[1:], "") // "" sorts first
	for _, k := range l.Key {
		row := make([]int, len(l.Answered))
		for _, o := range all {
			if o.Key == k {
				row[slices.Index(l.Answered, o.Letter)]++
			}
		}
		l.N = append(l.N, row)
	}
	l.Bias = letterBias(all)
	return l
}

// leastExpected is the smallest expected count for which the chi-square
// approximation is trusted (Cochran's rule).
const leastExpected = 5

// letterBias tests the wrong answers to items of three options or more: of two
// options the wrong one is no choice. Which letters can be wrong depends on the
// key, and on how many options there are, so the counts vary less than those of
// one urn would, and their own covariance is used.
func letterBias(all []Outcome) LetterBias {
	b := LetterBias{Excess: map[string]float64{}, PValue: 1}
	var more, want [26]float64
	var vary [26][26]float64
	letters := 0
	for _, o := range all {
		key, place := letterPlace(o.Key), letterPlace(o.Letter)
		if key < 0 || key >= o.Offer || place < 0 || place >= o.Offer || place == key || o.Offer < 3 {
			continue
		}
		b.Wrong++
		more[place]++
		letters = max(letters, o.Offer)
		p := 1 / float64(o.Offer-1)
		for i := range o.Offer {
			if i == key {
				continue
			}
			more[i] -= p
			want[i] += p
			vary[i][i] += p
			for j := range o.Offer {
				if j != key {
					vary[i][j] -= p * p
				}
			}
		}
	}
	least := float64(leastExpected)
	rows := make([][]float64, letters)
	for i := range rows {
		rows[i] = vary[i][:letters]
		if want[i] > 0 { // else it is the key of every item
			b.Excess[string(rune('A'+i))] = round(more[i], 1)
			least = min(least, want[i])
		}
	}
	b.ChiSquare, b.DF = stats.ChiSquare(more[:letters], rows)
	if b.DF > 0 && least >= leastExpected {
		b.PValue = stats.ChiSquareTail(b.ChiSquare, b.DF)
	}
	b.ChiSquare = round(b.ChiSquare, 4)
	return b
}

// letterPlace returns 0 for A, 25 for Z, -1 for anything else.
func letterPlace(l string) int {
	if len(l) != 1 || l[0] < 'A' || l[0] > 'Z' {
		return -1
	}
	return int(l[0] - 'A')
}

// subjectOf reads the subject a row names of its item.
func subjectOf(tags map[string]string) string {
	for _, name := range [...]string{"subject", "category"} {
		if v := tags[name]; v != "" {
			return v
		}
	}
	return ""
}
