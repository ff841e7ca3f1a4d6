package preset

import (
	"strings"
	"unicode"

	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/eval/benchmark"
)

// A word is a token of a text and where it stands, in characters.
type word struct {
	text     string
	from, to int
}

// ngrams is a rule that calls a text contaminated when one run of n words of an
// item stands in it.
type ngrams struct {
	n     int
	words func([]rune) []word // of the data
	gram  func([]word) string // of n words; "": counts for nothing
	items map[string][]int    // gram → items that have it
	count []int               // grams of each item
}

// newNGrams makes the rule; grams returns the runs of an item, already in the
// form that gram gives.
func newNGrams(sets []contam.Set, n int, words func([]rune) []word, gram func([]word) string, grams func(*benchmark.Item) []string) *ngrams {
	g := &ngrams{n: n, words: words, gram: gram, items: map[string][]int{}}
	for _, s := range sets {
		for i := range s.Items {
			item := len(g.count)
			g.count = append(g.count, 0)
			for _, k := range grams(&s.Items[i]) {
				if have := g.items[k]; len(have) == 0 || have[len(have)-1] != item {
					g.items[k] = append(have, item)
					g.count[item]++
				}
			}
		}
	}
	return g
}

func (g *ngrams) match(text []rune) []match {
	words := g.words(text)
	at := map[int]int{} // item → its match
	seen := map[string]bool{}
	var out []match
	for i := 0; i+g.n <= len(words); i++ {
		key := g.gram(words[i : i+g.n])
		for _, item := range g.items[key] {
			m, known := at[item]
			if !known {
				m = len(out)
				at[item] = m
				out = append(out, match{item: item, from: words[i].from})
			}
			out[m].to = words[i+g.n-1].to
			if !seen[key] {
				out[m].score += 1 / float64(g.count[item])
			}
		}
		seen[key] = true
	}
	return out
}

func (g *ngrams) blind() []bool {
	out := make([]bool, len(g.count))
	for i, n := range g.count {
		out[i] = n == 0
	}
	return out
}

// runs returns every run of n words, joined by spaces.
func runs(words []string, n int) []string {
	var out []string
	for i := 0; i+n <= len(words); i++ {
		out = append(out, strings.Join(words[i:i+n], " "))
	}
	return out
}

// fields cuts at white space, as Python's str.split does.
func fields(text []rune) []word {
	var out []word
	from := -1
	for i, r := range text {
		switch space := pythonSpace(r); {
		case space && from >= 0:
			out = append(out, word{string(text[from:i]), from, i})
			from = -1
		case !space && from < 0:
			from = i
		}
	}
	if from >= 0 {
		out = append(out, word{string(text[from:]), from, len(text)})
	}
	return out
}

// pythonSpace is str.isspace: white space, and the separators U+001C–U+001F.
func pythonSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1C && r <= 0x1F }

// textsOf returns the words' texts.
func textsOf(words []word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.text
	}
	return out
}

const thirteen = 13

// newGPT3: "gram" is a lower-case word without punctuation, cut at white space.
func newGPT3(sets []contam.Set) matcher {
	words := func(text []rune) []word {
		var out []word
		for _, w := range fields(text) {
			w.text = strings.ToLower(strings.Map(func(r rune) rune {
				if unicode.IsPunct(r) || unicode.IsSymbol(r) {
					return -1
				}
				return r
			}, w.text))
			if w.text != "" {
				out = append(out, w)
			}
		}
		return out
	}
	gram := func(w []word) string { return strings.Join(textsOf(w), " ") }
	return newNGrams(sets, thirteen, words, gram, func(it *benchmark.Item) []string {
		return runs(textsOf(words([]rune(it.Printed()))), thirteen)
	})
}

// newJanitor: items lose their punctuation and case and are then cut; data is
// cut first, so that a dash between spaces is a word of it that items do not
// have. Only ASCII has case and punctuation.
func newJanitor(sets []contam.Set) matcher {
	gram := func(w []word) string { return janitorForm(strings.Join(textsOf(w), " ")) }
	return newNGrams(sets, thirteen, fields, gram, func(it *benchmark.Item) []string {
		return runs(textsOf(fields([]rune(janitorForm(it.Printed())))), thirteen)
	})
}

func janitorForm(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r | 0x20
		case r > ' ' && r < 0x7F && !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9'):
			return -1
		}
		return r
	}, s)
}
