package eval

import (
	"math"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/internal/llm"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/stats"
)

// LogprobScore is what the letters come to that a model thought most probable,
// whatever it wrote. It stands beside the score by the rule and changes nothing of
// it: EvalScope reads text.
type LogprobScore struct {
	Correct  int        `json:"correct"`
	N        int        `json:"n"` // all answers; one without a letter is wrong
	Accuracy float64    `json:"accuracy"`
	Wilson95 [2]float64 `json:"wilson95"`
	Missing  int        `json:"missing"` // answers without a letter among the tokens
	Same     int        `json:"same"`    // answers whose letter is the one the rule read
	// Margin is the median of by how much a letter's log probability is above the
	// next letter's, over the answers that have two; nil: none has.
	Margin *float64 `json:"margin,omitempty"`
}

// A preference is the letter a model thought most probable; empty: none.
type preference struct {
	letter string
	margin float64 // over the next letter; +Inf: it was the only one
}

// preferred reads a letter from the tokens of an answer.
func preferred(it *benchmark.Item, places [][]benchmark.TokenLogprob) preference {
	c := benchmark.ChooseByLogprob(&it.Question, places)
	return preference{c.Letter, c.Margin}
}

// placesOf lists what a model thought of at each place of its answer. Places up to
// the end of a think block are no answer.
func placesOf(tokens []llm.Token) [][]benchmark.TokenLogprob {
	for i := len(tokens) - 1; i >= 0; i-- {
		if strings.Contains(tokens[i].Text, "</think>") {
			tokens = tokens[i+1:]
			break
		}
	}
	places := make([][]benchmark.TokenLogprob, len(tokens))
	for i, t := range tokens {
		for _, a := range t.Top {
			places[i] = append(places[i], benchmark.TokenLogprob{Token: a.Text, Logprob: a.LogProb})
		}
		if len(t.Top) == 0 {
			places[i] = []benchmark.TokenLogprob{{Token: t.Text, Logprob: t.LogProb}}
		}
	}
	return places
}

// scoreLogprobs counts the preferred letters.
func (r *run) scoreLogprobs(s *Summary) {
	p := &LogprobScore{N: len(r.results)}
	var margins []float64
	for i := range r.results {
		x := &r.results[i]
		if x.prefers.letter == "" {
			p.Missing++
			continue
		}
		if r.Benchmark.Grade(x.item, benchmark.Reply{Choice: x.prefers.letter}).Verdict == benchmark.Correct {
			p.Correct++
		}
		if x.prefers.letter == x.grade.Extracted {
			p.Same++
		}
		if !math.IsInf(x.prefers.margin, 1) {
			margins = append(margins, x.prefers.margin)
		}
	}
	p.Accuracy = float64(p.Correct) / float64(p.N)
	repeats := float64(r.Repeats)
	p.Wilson95[0], p.Wilson95[1] = stats.WilsonMean(float64(p.Correct)/repeats, float64(p.N)/repeats)
	if len(margins) > 0 {
		slices.Sort(margins)
		m := round(margins[len(margins)/2], 4)
		p.Margin = &m
	}
	s.Logprobs = p
	if p.Missing == p.N {
		s.note("no_logprobs", msg.Text{
			"no answer came with the probability of a letter: the server may not tell them, or the letter is not near the start",
			"没有任何回答带有字母的概率：服务端可能不提供，或回答中没有字母",
		})
	}
}
