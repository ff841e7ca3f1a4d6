package contam

import (
	_ "embed"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/zeebo/xxh3"
)

// backgroundTable says how common the seeds of neutral Chinese and English text
// are. scripts/background counts it; NOTICE names the texts and their licences.
//
//go:embed background.bin
var backgroundTable string

// The table is backgroundMagic and then, rising by hash, an entry of five bytes
// for each gram: four of its hash, one of its class. Class c is a share of
// 2^(-c/2) of all stretches of backgroundItem letters, about what an item has.
const (
	backgroundMagic = "drydock background 1\n"
	backgroundEntry = 5
	backgroundItem  = 100
)

// backgroundLeast is the smallest share that is kept: against neutralItems
// stretches a smaller one weighs less than one item of the benchmark.
const backgroundLeast = 1.0 / neutralItems

// phrases are what questions of any bank say and other text does not, so that no
// background has them; a seed of one carries next to no surprise. phraseShare is
// the share of questions that have one, roughly.
var phrases = [...]string{
	"下列说法正确的是", "下列说法不正确的是", "下列说法错误的是", "以下说法正确的是", "以下说法不正确的是", "以下说法错误的是",
	"下列叙述正确的是", "下列叙述中不正确的是", "下列各项中正确的是", "下列哪项是正确的", "下列哪项不正确", "下列哪一项是错误的",
	"下列哪种说法是正确的", "以下哪项不是", "以下哪项正确", "下列不属于", "下列属于", "不包括以下哪项", "应采取的措施是", "主要原因是",
	"正确的是", "错误的是", "不正确的是", "说法正确的有", "属于的是", "以上都对", "以上都不对", "以上都是", "以上均可", "以上答案都正确",
	"请回答单选题", "判断正误", "请给出选项", "请选择正确答案", "单项选择题", "答案", "解析", "题目", "选项",
	"which of the following is correct", "which of the following is not correct", "which of the following statements is true",
	"which of the following statement is incorrect", "which statement is true", "which one of the following", "all of the above",
	"none of the above", "choose the correct answer", "is not true about", "according to the passage",
}

const phraseShare = 0.2

// boilerplate returns the share of questions that have each seed of a phrase.
func (a *alphabet) boilerplate() map[uint64]float64 {
	out := map[uint64]float64{}
	for _, p := range phrases {
		var s stream
		a.feed(&s, []byte(p))
		s.eachSeed(func(key uint64, _ int) { out[key] = phraseShare })
	}
	return out
}

// background tells how common a seed is outside the benchmark.
type background struct {
	table   string
	phrases map[uint64]float64
	runes   []rune // by letter
	gram    []byte
}

func (a *alphabet) background() *background {
	return &background{table: backgroundTable[len(backgroundMagic):], phrases: a.boilerplate(), runes: a.runes()}
}

// share returns the share of neutral stretches of text, or of questions, that
// have the seed.
func (b *background) share(key uint64) float64 {
	b.gram = appendGram(b.gram[:0], b.runes, key)
	return max(b.phrases[key], tableShare(b.table, xxh3.Hash(b.gram)))
}

// tableShare finds a gram's entry. Hashes are spread evenly, so that its place
// can be guessed.
func tableShare(table string, hash uint64) float64 {
	want := uint32(hash >> 32)
	at := func(i int) uint32 {
		return binary.BigEndian.Uint32([]byte(table[i*backgroundEntry : i*backgroundEntry+4]))
	}
	n := len(table) / backgroundEntry
	if n == 0 {
		return 0
	}
	i := int(uint64(want) * uint64(n) >> 32)
	for i > 0 && at(i) > want {
		i--
	}
	for i < n-1 && at(i) < want {
		i++
	}
	if at(i) != want {
		return 0
	}
	return math.Exp2(-float64(table[i*backgroundEntry+4]) / 2)
}

// runes returns the folded code point of each letter.
func (a *alphabet) runes() []rune {
	out := make([]rune, a.next)
	for r := range rune(26) {
		out[firstA+letter(r)] = 'a' + r
	}
	for r := range rune(10) {
		out[first0+letter(r)] = '0' + r
	}
	for r, l := range a.own {
		out[l] = r
	}
	return out
}

// appendGram appends the text of a seed.
func appendGram(dst []byte, runes []rune, key uint64) []byte {
	if latinSeed(key) {
		for i := range latinSeedLen {
			dst = append(dst, byte(runes[key>>(i%4*16+i/4*6)&63]))
		}
		return dst
	}
	for i := range seedLen {
		dst = append(dst, string(runes[uint16(key>>(16*i))])...)
	}
	return dst
}

// A BackgroundCounter counts the seeds of neutral text for the table that ships
// with the check.
type BackgroundCounter struct {
	alpha        *alphabet
	counts       map[uint64]seedCount
	latin, other uint32 // stretches, by the script of most letters
}

// seedCount is the number of stretches with a seed, and the last of them.
type seedCount struct{ n, last uint32 }

// NewBackgroundCounter returns an empty counter.
func NewBackgroundCounter() *BackgroundCounter {
	return &BackgroundCounter{alpha: newAlphabet(), counts: map[uint64]seedCount{}}
}

// Add counts the seeds of a text. It is divided into stretches as long as an
// item; the end, when it is short, counts as a part of the last.
func (c *BackgroundCounter) Add(text string) {
	s := c.alpha.learnStream(text)
	if len(s.letters) == 0 {
		return
	}
	first, n := c.latin+c.other+1, max(1, uint32(len(s.letters)/backgroundItem))
	if 2*(countLatin(s.letters)+countDigits(s.letters)) > len(s.letters) {
		c.latin += n
	} else {
		c.other += n
	}
	s.eachSeed(func(key uint64, end int) {
		at := first + min(n-1, uint32(end/backgroundItem))
		if have := c.counts[key]; have.last != at {
			c.counts[key] = seedCount{have.n + 1, at}
		}
	})
}

// Stretches returns how many stretches were counted.
func (c *BackgroundCounter) Stretches() int { return int(c.latin + c.other) }

// Table returns the table of the grams that are common enough to matter, and
// their number. The share of a gram is that of the stretches in its script.
func (c *BackgroundCounter) Table() (table []byte, grams int) {
	runes := c.alpha.runes()
	classes := map[uint32]byte{}
	var gram []byte
	for key, k := range c.counts {
		share := float64(k.n) / float64(max(1, c.other))
		if latinSeed(key) {
			share = float64(k.n) / float64(max(1, c.latin))
		}
		if share < backgroundLeast {
			continue
		}
		gram = appendGram(gram[:0], runes, key)
		h, class := uint32(xxh3.Hash(gram)>>32), byte(max(0, math.Round(-2*math.Log2(share))))
		if have, ok := classes[h]; !ok || class < have {
			classes[h] = class
		}
	}
	hashes := make([]uint32, 0, len(classes))
	for h := range classes {
		hashes = append(hashes, h)
	}
	slices.Sort(hashes)
	table = fmt.Appendf(table, backgroundMagic)
	for _, h := range hashes {
		table = append(binary.BigEndian.AppendUint32(table, h), classes[h])
	}
	return table, len(hashes)
}
