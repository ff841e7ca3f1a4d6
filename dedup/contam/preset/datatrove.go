package preset

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/eval/benchmark"
)

// twelve is the length of datatrove's runs.
const twelve = 12

// newDatatrove: runs of the answer, of the question's last words with the
// answer's first ones, and with query those of the question.
func newDatatrove(sets []contam.Set, query bool) matcher {
	gram := func(w []word) string { return strings.Join(textsOf(w), " ") }
	return newNGrams(sets, twelve, simpleWords, gram, func(it *benchmark.Item) []string {
		question := textsOf(simpleWords([]rune(it.Question.Stem)))
		answer := textsOf(simpleWords([]rune(rightText(it))))
		out := runs(answer, twelve)
		if query {
			out = append(out, runs(question, twelve)...)
		}
		for k := 1; k < twelve; k++ { // k words of the answer
			if len(question) >= twelve-k && len(answer) >= k {
				joint := slices.Concat(question[len(question)-(twelve-k):], answer[:k])
				out = append(out, strings.Join(joint, " "))
			}
		}
		return out
	})
}

// rightText is the text of the right option, else the key as it stands.
func rightText(it *benchmark.Item) string {
	for _, o := range it.Question.Options {
		if slices.Contains(it.Question.Answer, o.Label) {
			return o.Text
		}
	}
	if len(it.Question.Options) == 0 && len(it.Gold) > 0 {
		return it.Gold[0]
	}
	return ""
}

// simplePunct are the signs datatrove's simplify_text takes for spaces, besides
// the controls.
const simplePunct = `!/—”:％１〈&(、━\【#%「」，】；+^]~“《„';’{|∶´[=-` + "`" + `*．（–？！：$～«〉,><》)?）。…@_."}►»`

// simpleWords does what simplify_text and the English tokenizer do: lower case,
// every number 0, punctuation a space, no accents; then words.
func simpleWords(text []rune) []word {
	type char struct {
		r  rune
		at int
	}
	var chars []char
	for i := 0; i < len(text); i++ {
		r := text[i]
		if unicode.Is(unicode.Nd, r) {
			start := i
			i = numberEnd(text, i) - 1
			chars = append(chars, char{'0', start})
			continue
		}
		for _, l := range strings.ToLower(string(r)) {
			switch {
			case l < 9 || l == 11 || l == 12 || l > 12 && l < 32 || l >= 127 && l < 160, strings.ContainsRune(simplePunct, l):
				chars = append(chars, char{' ', i})
				continue
			}
			for _, d := range norm.NFD.String(string(l)) {
				if !unicode.Is(unicode.Mn, d) {
					chars = append(chars, char{d, i})
				}
			}
		}
	}
	var out []word
	for i := 0; i < len(chars); {
		if pythonSpace(chars[i].r) {
			i++
			continue
		}
		from := i
		var w []rune
		for ; i < len(chars) && !pythonSpace(chars[i].r); i++ {
			w = append(w, chars[i].r)
		}
		for _, part := range spacyParts(w) {
			out = append(out, word{string(w[part[0]:part[1]]), chars[from+part[0]].at, chars[from+part[1]-1].at + 1})
		}
	}
	return out
}

// numberEnd returns the end of the number that begins at i: digits, and behind
// one separator more digits.
func numberEnd(text []rune, i int) int {
	digits := func(i int) int {
		for i < len(text) && unicode.Is(unicode.Nd, text[i]) {
			i++
		}
		return i
	}
	i = digits(i)
	if i < len(text) && strings.ContainsRune(".,،٫⎖⎗⎘", text[i]) {
		if end := digits(i + 1); end > i+1 {
			return end
		}
	}
	return i
}

// spacyUnits are the units that spaCy cuts off behind a number.
var spacyUnits = []string{
	"km", "km²", "m²", "dm", "cm", "mm", "ha", "µm", "nm", "yd", "ft", "kg", "mg", "µg", "lb", "oz", "mph", "hpa", "pa",
	"mbar", "mb", "kb", "gb", "tb", "m", "g", "t", "k",
}

// spacyParts cuts a word as spaCy's English rules do that matter once
// punctuation is gone: other symbols (So, of them °) stand alone wherever they are.
func spacyParts(w []rune) [][2]int {
	var out [][2]int
	from := 0
	for i, r := range w {
		if unicode.Is(unicode.So, r) {
			out = append(spacyWord(out, w, from, i), [2]int{i, i + 1})
			from = i + 1
		}
	}
	return spacyWord(out, w, from, len(w))
}

// spacyWord appends the parts of w[from:to], which has no symbols.
func spacyWord(out [][2]int, w []rune, from, to int) [][2]int {
	if string(w[from:to]) == "cannot" {
		return append(out, [2]int{from, from + 3}, [2]int{from + 3, to})
	}
	for from < to && spacyEdge(w[from]) {
		out = append(out, [2]int{from, from + 1})
		from++
	}
	var tail [][2]int
	for to > from && spacyEdge(w[to-1]) {
		tail = append(tail, [2]int{to - 1, to})
		to--
	}
	for _, u := range spacyUnits {
		n := to - utf8.RuneCountInString(u)
		if n > from && w[n-1] == '0' && string(w[n:to]) == u {
			tail = append(tail, [2]int{n, to})
			to = n
			break
		}
	}
	if from < to {
		out = append(out, [2]int{from, to})
	}
	slices.Reverse(tail)
	return append(out, tail...)
}

// spacyEdge are the signs left after simplifying that spaCy cuts off at either
// end of a word.
func spacyEdge(r rune) bool {
	return strings.ContainsRune("‘‚·¿¡§£€¥『』〔〕〖〗", r)
}
