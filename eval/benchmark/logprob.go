package benchmark

import (
	"math"
	"strings"

	"github.com/drydock-ml/drydock"
)

// RuleLogprob is what a grade names as its rule when the letter was chosen by log
// probability ([Reply.Choice]).
const RuleLogprob = "logprob_max@1"

// A TokenLogprob is a token a server thought of, and the natural logarithm of its
// probability.
type TokenLogprob struct {
	Token   string
	Logprob float64
}

// A LogprobChoice is the letter a model prefers.
type LogprobChoice struct {
	Letter string  // "" when no letter was among the tokens
	Margin float64 // by how much its logarithm is above the next letter's; +Inf: it was the only one
	// Logprobs has the logarithm of the summed probability of each offered letter,
	// in the order of the options; -Inf: not among the tokens.
	Logprobs []float64
	Position int // the place in the reply that was read, from 0; -1: none
}

// ChooseByLogprob reads the letter a model prefers from the most probable tokens
// at each place of its reply: the first place at which the most probable token is
// the letter of an offered option — alone, in brackets, or with a space or a full
// stop beside it — decides. All spellings of a letter there are summed up. When no
// place has a letter on top, the first place that has one at all decides. Of
// letters equally probable the first is taken.
func ChooseByLogprob(q *drydock.Question, places [][]TokenLogprob) LogprobChoice {
	c := LogprobChoice{Position: -1, Logprobs: make([]float64, len(q.Options))}
	for i, place := range places {
		top, any := topLetter(place, len(q.Options))
		if any && c.Position < 0 {
			c.Position = i
		}
		if top {
			c.Position = i
			break
		}
	}
	for i := range c.Logprobs {
		c.Logprobs[i] = math.Inf(-1)
	}
	if c.Position < 0 {
		return c
	}
	for _, t := range places[c.Position] {
		if i := letterOf(t.Token, len(q.Options)); i >= 0 && !math.IsNaN(t.Logprob) {
			c.Logprobs[i] = addLogs(c.Logprobs[i], t.Logprob)
		}
	}
	best, next := math.Inf(-1), math.Inf(-1)
	for i, l := range c.Logprobs {
		switch {
		case l > best:
			best, next = l, best
			c.Letter = string(rune('A' + i))
		case l > next:
			next = l
		}
	}
	if c.Letter == "" {
		return c
	}
	c.Margin = best - next
	return c
}

// topLetter reports whether the most probable token of a place is a letter, and
// whether any is.
func topLetter(place []TokenLogprob, options int) (top, some bool) {
	best := math.Inf(-1)
	for _, t := range place {
		letter := letterOf(t.Token, options) >= 0
		some = some || letter
		if t.Logprob > best {
			best, top = t.Logprob, letter
		}
	}
	return top, some
}

// letterOf returns the option a token names; -1 when it names none.
func letterOf(token string, options int) int {
	t := strings.Trim(token, " \t\n\r[](){}（）【】<>.:：。．、*\"'`▁Ġ")
	if len(t) != 1 {
		return -1
	}
	if i := int(t[0]) - 'A'; i >= 0 && i < options {
		return i
	}
	return -1
}

// addLogs is the logarithm of the sum of two probabilities given by theirs.
func addLogs(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(b, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}
