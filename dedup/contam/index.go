package contam

import (
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// seedLen letters make a seed, unless all are Latin letters or digits, since any
// four of those stand in any English text. Of these latinSeedLen make a seed,
// from the beginning of each word on: one word, or several short ones. Where no
// word ends for longestWord letters the spaces may be lost, so that a seed
// begins at every letter.
const (
	seedLen      = 4
	latinSeedLen = 8
	longestWord  = 12
)

// neutralItems is the size of the background a seed is weighed against besides
// the benchmark: without it a benchmark of one item would carry no surprise.
const neutralItems = 2000

// A Set is one benchmark to check against.
type Set struct {
	Ref   benchmark.Ref // findings carry its name
	Items []benchmark.Item
}

// An Index holds benchmark items ready for checking. It is read-only and safe
// for any number of scanners.
type Index struct {
	config  Config
	hash    string
	sets    []Set
	alpha   *alphabet
	items   []item
	seeds   seedTable
	allow   []passage
	turns   []levelTurn
	pairs   [][2]word
	numbers *numbering
	needs   []need      // by item
	covers  []itemGrams // by item
	blind   func() []ItemRef
}

// NewIndex prepares the items of one benchmark. An item without any letters is
// an error, since it could never be found.
func NewIndex(items []benchmark.Item, ref benchmark.Ref, c Config) (*Index, error) {
	return NewIndexOf([]Set{{ref, items}}, c)
}

// NewIndexOf prepares the items of several benchmarks for one pass.
func NewIndexOf(sets []Set, c Config) (*Index, error) {
	c = c.withDefaults()
	if err := c.Check(); err != nil {
		return nil, err
	}
	ix := &Index{config: c, hash: c.Hash(), sets: sets, alpha: newAlphabet()}
	for n := range sets {
		limits := c.For(sets[n].Ref.Name)
		for i := range sets[n].Items {
			it := ix.alpha.parse(&sets[n].Items[i], n, i)
			it.limits = &limits
			ix.items = append(ix.items, it)
		}
	}
	if len(ix.items) == 0 {
		return nil, fail.New(fail.Usage, msg.Text{"no benchmark items to check against", "没有可供比对的评测题目"})
	}
	ix.allow = ix.alpha.passages(sets)
	ix.turns = ix.alpha.levelTurns()
	ix.pairs, ix.numbers = ix.alpha.opposites(), ix.alpha.numbering()
	ix.alpha.freeze()
	ix.buildSeeds()
	ix.blind = sync.OnceValue(func() []ItemRef { return ix.unseen(true) })
	return ix, nil
}

// Items returns how many items the index holds.
func (ix *Index) Items() int { return len(ix.items) }

// ConfigHash returns the hash of the settings the index was built with.
func (ix *Index) ConfigHash() string { return ix.hash }

// A posting says that a seed stands in an item: its number, whether it is in an
// option, and in the lowest bits with which of the item's letters it ends.
type posting uint64

const (
	postPlace  = 16 // bits
	postOption = 1 << postPlace
	postItem   = postPlace + 1
)

// postingOf returns the posting of a seed that ends before letter end of an item's
// letters. Of longer items the rest has the last place there is.
func postingOf(item uint32, option bool, end int) posting {
	p := posting(item)<<postItem | posting(min(end, postOption-1))
	if option {
		p |= postOption
	}
	return p
}

func (p posting) item() uint32 { return uint32(p >> postItem) }

func (p posting) option() bool { return p&postOption != 0 }

func (p posting) end() int32 { return int32(p & (postOption - 1)) }

// part is the posting without its place.
func (p posting) part() posting { return p >> postPlace }

// seedTable is an open-addressing table from seed keys to postings, behind a
// bit filter that turns most look-ups away in cache.
type seedTable struct {
	filter *seedFilter
	second *seedFilter // by another hash
	slots  []slot
	shift  uint
	// runs holds what is known of each seed side by side, one cache line for most:
	// its weight, how many postings it has, and these.
	runs []posting
}

// of returns the weight and the postings of the seed whose run begins at n.
func (t *seedTable) of(n uint32) (idf float32, posts []posting) {
	r := t.runs[n:]
	return math.Float32frombits(uint32(r[0])), r[1 : 1+r[0]>>32]
}

// A seedFilter has one bit set for each key, so that next to all other keys are
// turned away in cache: of 60,000 seeds it lets 3 % of them through. Its size is
// a constant so that asking it takes no variable shift, which costs more than
// the rest, and compiles to no jump.
type seedFilter [1 << (64 - filterWord)]uint64

const (
	filterWord = 49 // 64 less the bits of a hash that choose the word
	filterBit  = filterWord - 6
)

func (f *seedFilter) add(h uint64) { f[h>>filterWord] |= 1 << (h >> filterBit & 63) }

// has reports whether the filter lets a hash through. What is counted by it is counted
// without a jump.
func (f *seedFilter) has(h uint64) bool { return f[h>>filterWord]&(1<<(h>>filterBit&63)) != 0 }

// A slot holds key and value side by side: one cache line for a look-up.
type slot struct {
	key  uint64
	seed uint32 // where its run begins + 1; 0: free
	plan uint32 // allowed passage it begins + 1; noPost: no item has it
}

const noPost = 1 << 31

// Odd numbers without pattern, to hash keys with.
const (
	mix  = 0x9E3779B97F4A7C15
	mix2 = 0xC2B2AE3D27D4EB4F
)

// eachSeed calls do with the key and the end of every seed of the stream, in no
// order. It is the one definition of a seed; scan repeats it for speed.
func (s *stream) eachSeed(do func(key uint64, end int)) {
	ls := s.letters
	for i := seedLen - 1; i < len(ls); i++ {
		if four := ls[i-seedLen+1 : i+1]; !allLatin(four) {
			do(seedKey(four), i)
		}
	}
	for n, p := range s.starts {
		for i := int(p); i <= s.lastSeed(n) && i+latinSeedLen <= len(ls); i++ {
			if key, strange := latinKey(ls[i:]); strange == 0 {
				do(key, i+latinSeedLen-1)
			}
		}
	}
}

// lastSeed returns where the last seed of word n begins: with the word, unless it is
// so long that spaces may be lost.
func (s *stream) lastSeed(n int) int {
	begin, end := int(s.starts[n]), len(s.letters)
	if n+1 < len(s.starts) {
		end = int(s.starts[n+1])
	}
	if end-begin <= longestWord {
		return begin
	}
	for i, l := range s.letters[begin:end] {
		if l >= latinEnd {
			end = begin + i
			break
		}
	}
	if end-begin <= longestWord {
		return begin
	}
	return end - latinSeedLen
}

func allLatin(ls []letter) bool {
	for _, l := range ls {
		if l >= latinEnd {
			return false
		}
	}
	return true
}

// seedKey is the key of the first four letters of ls, of which one is not Latin where
// they are a seed.
func seedKey(ls []letter) uint64 {
	_ = ls[3]
	return uint64(ls[0]) | uint64(ls[1])<<16 | uint64(ls[2])<<32 | uint64(ls[3])<<48 // one load
}

// latinKey is the key of the first eight letters of ls; strange is 0 when all are
// Latin letters. The key has two of them in every sixteen bits; it cannot meet
// one of four other letters, see lastOwn.
func latinKey(ls []letter) (key, strange uint64) {
	_ = ls[7]
	a := uint64(ls[0]) | uint64(ls[1])<<16 | uint64(ls[2])<<32 | uint64(ls[3])<<48
	b := uint64(ls[4]) | uint64(ls[5])<<16 | uint64(ls[6])<<32 | uint64(ls[7])<<48
	return a | b<<6 | 0xF<<60, (a | b) & 0xFFC0_FFC0_FFC0_FFC0
}

func latinSeed(key uint64) bool { return key>>60 == 0xF }

type rawPosting struct {
	key uint64
	posting
}

// sortByKey sorts by key, a letter of it at a time; what has the same key stays in
// its order. spare is as long as raw; the result is one of the two.
func sortByKey(raw, spare []rawPosting) []rawPosting {
	places := make([]int32, 1<<16)
	for shift := 0; shift < 64; shift += 16 {
		clear(places)
		for i := range raw {
			places[uint16(raw[i].key>>shift)]++
		}
		at := int32(0)
		for i, n := range places {
			places[i] = at
			at += n
		}
		for _, p := range raw {
			k := uint16(p.key >> shift)
			spare[places[k]] = p
			places[k]++
		}
		raw, spare = spare, raw
	}
	return raw
}

func (ix *Index) buildSeeds() {
	letters := 0
	for i := range ix.items {
		letters += ix.items[i].length
	}
	raw := make([]rawPosting, 0, letters+len(ix.allow)) // about a seed a letter
	background := ix.alpha.background()
	var ofOptions, joints []uint64  // keys of the seeds of all options, and of all joints
	item, before, first := -1, 0, 0 // letters of the item before the part; its first posting
	ix.eachPart(func(n, option int, text *stream) {
		if n != item {
			item, before, first = n, 0, len(raw)
		}
		if option == wholeStem {
			had := len(raw)
			raw = text.joints(raw, first, uint32(n), before)
			for _, p := range raw[had:] {
				joints = append(joints, p.key)
			}
			ix.items[n].joints = len(raw) - had
			return
		}
		text.eachSeed(func(key uint64, end int) {
			raw = append(raw, rawPosting{key, postingOf(uint32(n), option >= 0, before+end+1)})
			if option >= 0 {
				ofOptions = append(ofOptions, key)
				ix.items[n].options[option].seeds++
			}
		})
		before += len(text.letters)
	})
	for _, p := range ix.allow {
		raw = append(raw, rawPosting{p.key, postingOf(noItem, false, 0)})
	}
	// of each key postings have come rising, and do so now: a seed that a part has
	// twice stands where it is first
	raw = slices.CompactFunc(sortByKey(raw, make([]rawPosting, len(raw))), func(a, b rawPosting) bool {
		return a.key == b.key && a.part() == b.part()
	})
	ix.seeds.build(raw, ix, background)
	for i := range ix.items {
		it := &ix.items[i]
		it.stemMass = max(0, it.stemMass-ix.mass(joints[:it.joints]))
		joints = joints[it.joints:]
		for k := range it.options {
			o := &it.options[k]
			o.mass = ix.mass(ofOptions[:o.seeds])
			ofOptions = ofOptions[o.seeds:]
		}
		ix.needs = append(ix.needs, it.limits.needs(it))
		ix.covers = append(ix.covers, gramsOf(it))
	}
}

// joints appends the seeds of a whole stem that the item has nowhere yet, whose
// postings raw holds from first on: those that lie over the number of a statement, and those over the end
// of what stands before. Where statements have no seed of their own (①水温②水深)
// these let a damaged stem, or a part of it, be looked at; they are no part of what
// a stem weighs, since statements may be numbered in another way or lie in another
// order. Without those numbers the stem has so many letters.
func (s *stream) joints(raw []rawPosting, first int, item uint32, letters int) []rawPosting {
	s.eachSeed(func(key uint64, end int) {
		known := slices.ContainsFunc(raw[first:], func(p rawPosting) bool { return p.key == key })
		if !known && !slices.Contains(s.letters[max(0, end-seedLen+1):end+1], foreign) {
			raw = append(raw, rawPosting{key, postingOf(item, false, min(end+1, letters))})
		}
	})
	return raw
}

// wholeStem stands in the place of an option's number.
const wholeStem = -2

// eachPart calls do for each segment of the stem of each item, with option -1,
// for the stem as a whole, with option wholeStem, if it has statements too short for
// a seed, and for each option. The stream is valid until the next call.
func (ix *Index) eachPart(do func(item, option int, text *stream)) {
	var s stream
	n := 0
	for _, set := range ix.sets {
		for i := range set.Items {
			q := &set.Items[i].Question
			for _, seg := range segments(q.Stem) {
				s.reset()
				ix.alpha.feed(&s, []byte(seg.text))
				do(n, -1, &s)
			}
			if ix.items[n].shortStatements() {
				s.reset()
				ix.alpha.feed(&s, []byte(q.Stem))
				do(n, wholeStem, &s)
			}
			for k, o := range q.Options {
				s.reset()
				ix.alpha.feed(&s, []byte(o.Text))
				do(n, k, &s)
			}
			n++
		}
	}
}

// build weighs the seeds of raw, which is sorted, drops those that too many items
// share, and adds what is left to the masses of their items.
func (t *seedTable) build(raw []rawPosting, ix *Index, background *background) {
	allow := map[uint64]int16{}
	for i, p := range ix.allow {
		allow[p.key] = int16(i + 1)
	}
	n := float64(len(ix.items) + neutralItems)
	var keys []uint64
	var runs, plans []uint32
	for i := 0; i < len(raw); {
		j, df := i, 0
		for ; j < len(raw) && raw[j].key == raw[i].key; j++ {
			if raw[j].item() != noItem && (j == i || raw[j].item() != raw[j-1].item()) {
				df++
			}
		}
		idf := float32(math.Log(n / (float64(df) + 1 + neutralItems*background.share(raw[i].key))))
		most := ix.config.MaxDF
		if latinSeed(raw[i].key) {
			most = ix.config.MaxLatinDF
		}
		weak := df > most || idf <= 0
		if !weak || allow[raw[i].key] > 0 {
			keys = append(keys, raw[i].key)
			from := len(t.runs)
			runs = append(runs, uint32(from))
			t.runs = append(t.runs, 0)
			plan := uint32(allow[raw[i].key])
			if weak || raw[j-1].item() == noItem && df == 0 {
				plan |= noPost
			}
			plans = append(plans, plan)
			for _, p := range raw[i:j] {
				if weak || p.item() == noItem {
					continue
				}
				t.runs = append(t.runs, p.posting)
				if p.option() {
					ix.items[p.item()].optionMass += idf
				} else {
					ix.items[p.item()].stemMass += idf
				}
			}
			t.runs[from] = posting(math.Float32bits(idf)) | posting(len(t.runs)-from-1)<<32
		}
		i = j
	}
	t.fill(keys, runs, plans)
}

// fill lays out filter and slots for the keys.
func (t *seedTable) fill(keys []uint64, runs, plans []uint32) {
	size := bits.Len(uint(len(keys)*4/3 + 16))
	t.shift = uint(64 - size)
	t.slots = make([]slot, 1<<size)
	t.filter, t.second = new(seedFilter), new(seedFilter)
	for i, k := range keys {
		h := k * mix
		t.filter.add(h)
		t.second.add(k * mix2)
		for s := h >> t.shift; ; s = (s + 1) & (1<<size - 1) {
			if t.slots[s].seed == 0 {
				t.slots[s] = slot{k, runs[i] + 1, plans[i]}
				break
			}
		}
	}
}

// noItem is the item of a seed that only begins an allowed passage.
const noItem = math.MaxUint32

// find returns the slot of a key; nil when no item has the seed.
func (t *seedTable) find(key uint64) *slot {
	h := key * mix
	mask := uint64(len(t.slots) - 1)
	for s := h >> t.shift; ; s++ {
		p := &t.slots[s&mask]
		if p.key == key && p.seed > 0 {
			return p
		}
		if p.seed == 0 {
			return nil
		}
	}
}

// mass returns the nats of seeds.
func (ix *Index) mass(keys []uint64) float32 {
	var m float32
	for _, key := range keys {
		if p := ix.seeds.find(key); p != nil && p.plan&noPost == 0 {
			idf, _ := ix.seeds.of(p.seed - 1)
			m += idf
		}
	}
	return m
}
