package contam

import (
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/drydock-ml/drydock/eval/benchmark"
)

// A passage is text that every prompt of a benchmark carries: instruction and
// worked example. A record written with that prompt is no leak of the example.
// Only its hash is kept; the key of one seed says where to look.
type passage struct {
	key    uint64
	before int // letters from the passage's begin to the seed's end
	length int
	hash   uint64
}

// minPassage is the fewest letters worth allowing: shorter fixed text (选项) is
// no item.
const minPassage = 16

// passages folds the fixed parts of the prompts of the sets, and of all shipped
// benchmarks: data made for one is checked against another.
func (a *alphabet) passages(sets []Set) []passage {
	all := benchmark.All()
	for _, s := range sets {
		if b, err := benchmark.Lookup(s.Ref.Name); err == nil {
			all = append(all, b)
		}
	}
	var out []passage
	seen := map[uint64]bool{}
	for _, b := range all {
		for _, part := range fixedParts(benchmark.TemplateOf(b)) {
			text := a.learnStream(part)
			ls := text.letters
			h := hashLetters(ls)
			if len(ls) < minPassage || seen[h] {
				continue
			}
			seen[h] = true
			p := passage{length: len(ls), hash: h, before: -1}
			text.eachSeed(func(key uint64, end int) {
				if p.before < 0 {
					p.key, p.before = key, end+1
				}
			})
			if p.before >= 0 {
				out = append(out, p)
			}
		}
	}
	return out
}

// fixedParts cuts a template at its {places}.
func fixedParts(t string) []string {
	var out []string
	for {
		i := strings.IndexByte(t, '{')
		j := strings.IndexByte(t, '}')
		if i < 0 || j < i {
			return append(out, t)
		}
		out = append(out, t[:i])
		t = t[j+1:]
	}
}

func hashLetters(ls []letter) uint64 {
	b := make([]byte, 0, 2*len(ls))
	for _, l := range ls {
		b = append(b, byte(l), byte(l>>8))
	}
	return xxh3.Hash(b)
}

// mask replaces the allowed passage that the seed ending before end begins by
// foreign letters, and returns where it ends; 0 when it is not there.
func (p *passage) mask(ls []letter, end int) int {
	start := end - p.before
	if start < 0 || start+p.length > len(ls) || hashLetters(ls[start:start+p.length]) != p.hash {
		return 0
	}
	for i := start; i < start+p.length; i++ {
		ls[i] = foreign
	}
	return start + p.length
}
