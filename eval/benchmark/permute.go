package benchmark

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"

	"github.com/drydock-ml/drydock"
)

// A Permutation is an item whose options stand in another order.
type Permutation struct {
	// Item is what to ask and to grade: options lettered anew, key and answer
	// moved with them. Its index and id are the original's.
	Item Item
	// Order holds, for each place, the place the option there had before.
	Order []int
	// Bound tells that the options name one another or their places ("A and C",
	// "all of the above") so that some or all had to stay where they were.
	Bound bool
}

// Permute puts the options of an item into another order, to tell what a model
// knows from what it likes to say. Seed 0 leaves them. The first seeds turn the
// options round one place each, so that over as many seeds as there are options
// every option stands in every place once; the next turn a shuffled order round,
// and so on. The order depends on the item's own text and the seed alone.
func Permute(it Item, seed int) Permutation {
	n := len(it.Question.Options)
	p := Permutation{Item: it, Order: shuffled(&it, n, 0)}
	free := freePlaces(&it.Question)
	p.Bound = free < n
	if seed <= 0 || free < 2 {
		return p
	}
	copy(p.Order, turned(shuffled(&it, free, seed/free), seed%free))
	p.Item = reordered(it, p.Order)
	return p
}

// freePlaces returns how many options, from the first on, can change places: all
// but a last one that speaks of those before it; none when options name letters,
// or one that speaks of those before it is not the last.
func freePlaces(q *drydock.Question) int {
	n := len(q.Options)
	for i, o := range q.Options {
		switch {
		case namesLetters(o.Text, n):
			return 0
		case mentionsOthers(o.Text) && i < n-1:
			return 0
		case mentionsOthers(o.Text):
			return n - 1
		}
	}
	return n
}

// turned turns an order round by some places.
func turned(order []int, by int) []int {
	return append(append([]int{}, order[by:]...), order[:by]...)
}

// shuffled returns the places 0 to n-1 in an order drawn from the item and the
// round; round 0 is their own order.
func shuffled(it *Item, n, round int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	if round == 0 {
		return order
	}
	row := AppendCanonical(nil, it)
	row = binary.BigEndian.AppendUint64(row, uint64(round))
	sum := sha256.Sum256(row)
	for i := n - 1; i > 0; i-- {
		// 64 bits over at most 26 places: what is left of the bias is below 1e-17
		j := int(binary.BigEndian.Uint64(sum[:]) % uint64(i+1))
		order[i], order[j] = order[j], order[i]
		sum = sha256.Sum256(sum[:])
	}
	return order
}

// reordered moves the options, and with them what the key names.
func reordered(it Item, order []int) Item {
	q := it.Question
	options := make([]drydock.Option, len(order))
	moved := map[string]string{}
	for to, from := range order {
		label := string(rune('A' + to))
		options[to] = drydock.Option{Label: label, Text: q.Options[from].Text}
		moved[string(rune('A'+from))] = label
	}
	q.Options = options
	q.Answer = movedLabels(q.Answer, moved)
	it.Question = q
	it.Gold = movedLabels(it.Gold, moved)
	return it
}

// movedLabels follows labels; what names no option stays, so that it stays wrong.
func movedLabels(labels []string, moved map[string]string) []string {
	out := make([]string, len(labels))
	for i, l := range labels {
		out[i] = l
		if to, ok := moved[strings.ToUpper(strings.TrimSpace(l))]; ok {
			out[i] = to
		}
	}
	return out
}

// mentionsOthers tells an option that speaks of the ones before it.
func mentionsOthers(text string) bool {
	t := strings.ToLower(text)
	for _, s := range []string{
		"以上", "上述各项", "上述都", "上述均", "上述全", "前三项", "前两项", "前述", "皆对", "均对", "都对", "皆错", "均错", "都错", "都不对", "均不对",
		"of the above", "the above", "of these", "of the foregoing", "the preceding",
	} {
		if strings.Contains(t, s) {
			return true
		}
	}
	return false
}

// namesLetters finds two letters of options with nothing between them but what
// joins such: "A和B", "A + C", "AC都对".
func namesLetters(text string, options int) bool {
	last := -1 // where the last letter that stands for an option ended
	for i := 0; i < len(text); i++ {
		if c := text[i]; c < 'A' || int(c-'A') >= options || !letterStands(text, i, options) {
			continue
		}
		if last >= 0 && (joins(text[last:i]) || last == i && judges(text[i+1:])) {
			return true
		}
		last = i + 1
	}
	return false
}

// judges tells what goes on like "都对", after letters.
func judges(rest string) bool {
	rest = strings.TrimLeft(rest, "ABCDEFGHIJ ")
	for _, s := range []string{"都", "均", "皆", "全对", "两项", "both"} {
		if strings.HasPrefix(rest, s) {
			return true
		}
	}
	return false
}

// letterStands reports whether the letter at i is no part of a word: next to it
// stand no other letters than those of options.
func letterStands(s string, i, options int) bool {
	word := func(c byte) bool {
		return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z' && int(c-'A') >= options)
	}
	from, to := i, i+1
	for from > 0 && isASCIIWord(s[from-1]) {
		from--
	}
	for to < len(s) && isASCIIWord(s[to]) {
		to++
	}
	for _, c := range []byte(s[from:to]) {
		if word(c) {
			return false
		}
	}
	return to-from <= options
}

func isASCIIWord(c byte) bool {
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z')
}

func joins(s string) bool {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "+", "&", "/", ",", "，", "、", "和", "与", "或", "及", "and", "or", "and/or", "＋":
		return true
	}
	return false
}
