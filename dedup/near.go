package dedup

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/parallel"
)

const (
	// blockRecords are decided together: first each against those decided before,
	// all at once; then one after the other against those of the block.
	blockRecords = 1024
	// judgedMax is how many candidates of a record are compared letter by letter:
	// those that share most keys, the first of equals.
	judgedMax = 8
	// alongWeight is what a key all along a text counts: a chunk has few of them, and
	// they are long.
	alongWeight = 3
	// wholeWeight is what an equal prompt counts among shared keys: enough.
	wholeWeight = 1 << 16
)

// matchNear finds near duplicates among what equal records have left. Records are
// taken in the order of preference and compared with those that stay; so what
// stays has no near one that stays, and chains of small changes are not followed.
// Each record meets the same candidates whatever is decided at the same time.
func (r *Remover) matchNear(ctx context.Context, same []match) ([]match, error) {
	order := r.ordered(same)
	run := &nearRun{
		r: r, order: order, index: newIndex(len(order) * sampleAsked / 2),
		block: make([]candidate, min(blockRecords, len(order))),
	}
	run.pool.New = func() any { return newBench(r.opt.Threshold) }
	for from := 0; from < len(order); from += blockRecords {
		if err := run.decide(ctx, from, min(from+blockRecords, len(order))); err != nil {
			return nil, err
		}
	}
	return run.found, nil
}

// ordered lists the records that are not removed yet, the preferred ones first.
func (r *Remover) ordered(same []match) []spot {
	gone := make(map[spot]bool, len(same))
	for _, m := range same {
		gone[m.removed] = true
	}
	grades := map[uint64][]spot{}
	for n, u := range r.units {
		if u == nil {
			continue
		}
		for i := range u.keys {
			s := spot{uint32(n), uint32(i)}
			if len(gone) == 0 || !gone[s] {
				g := r.grade(s)
				grades[g] = append(grades[g], s)
			}
		}
	}
	if len(grades) == 1 {
		for _, spots := range grades {
			return spots
		}
	}
	var out []spot
	for _, g := range slices.Sorted(maps.Keys(grades)) {
		out = append(out, grades[g]...)
	}
	return out
}

// nearRun is one search for near duplicates. Records are numbered by order.
type nearRun struct {
	r     *Remover
	order []spot
	sizes []uint16 // number of keys of each record up to the block's end
	index *index
	block []candidate
	pool  sync.Pool // of benches
	found []match
	// others are the records of the block's matches.
	others []pairing
	// fresh has a bit for every key of the block's own that was indexed: most keys
	// need not be looked up a second time.
	fresh [1 << (freshBits - 6)]uint64
}

const freshBits = 18

func (n *nearRun) isFresh(key uint32) bool {
	key >>= 32 - freshBits
	return n.fresh[key>>6]>>(key&63)&1 != 0
}

func (n *nearRun) add(key, record uint32) {
	n.index.add(key, record)
	key >>= 32 - freshBits
	n.fresh[key>>6] |= 1 << (key & 63)
}

// id is that of the i-th record.
func (n *nearRun) id(i int) drydock.ID {
	s := n.order[i]
	return n.r.units[s.unit].ids[s.at]
}

type pairing struct{ removed, record uint32 }

// A candidate is a record of the block that is being decided.
type candidate struct {
	keys  keySet
	buf   []byte
	saved saved
	met   []meeting // with records decided before, best first
	// judged says that those of earlier blocks are among them
	judged bool
}

// A meeting is a record that shares keys with a candidate.
type meeting struct {
	record, shared uint32
	judged         bool
	verdict        verdict
}

// admit takes a meeting among the best ones, in order.
func (c *candidate) admit(m meeting) {
	i := len(c.met)
	for i > 0 && (m.shared > c.met[i-1].shared || m.shared == c.met[i-1].shared && m.record < c.met[i-1].record) {
		i--
	}
	if i == judgedMax {
		return
	}
	if len(c.met) == judgedMax {
		c.met = c.met[:judgedMax-1]
	}
	c.met = slices.Insert(c.met, i, m)
}

// A bench is what one goroutine works with.
type bench struct {
	gramer *gramer
	tally  *tally
	judge  judge
	fresh  []uint32 // keys to look up a second time
	buf    []byte
	other  saved
}

func newBench(threshold float64) *bench {
	return &bench{gramer: newGramer(), tally: newTally(), judge: judge{threshold: threshold, words: theWords(), measure: &measure{}, bag: newBag()}}
}

// decide settles the records from … to-1.
func (n *nearRun) decide(ctx context.Context, from, to int) error {
	n.sizes = append(n.sizes, make([]uint16, to-from)...)
	const group = 32
	groups := (to - from + group - 1) / group
	err := parallel.Each(ctx, n.r.opt.Workers, groups, func(_ context.Context, g int) error {
		b := n.pool.Get().(*bench)
		defer n.pool.Put(b)
		for i := from + g*group; i < min(to, from+(g+1)*group); i++ {
			if err := n.prepare(b, i, &n.block[i-from]); err != nil {
				return err
			}
			if err := n.meet(b, &n.block[i-from], 0, from); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	b := n.pool.Get().(*bench)
	defer n.pool.Put(b)
	clear(n.fresh[:])
	first := len(n.found)
	n.others = n.others[:0]
	for i := from; i < to; i++ {
		c := &n.block[i-from]
		if err := n.meet(b, c, uint32(from), from); err != nil {
			return err
		}
		n.settle(c, i)
	}
	return n.explain(ctx, n.found[first:], from)
}

// explain fills in what differs. The pairs are those of the block from on.
func (n *nearRun) explain(ctx context.Context, pairs []match, from int) error {
	const group = 32
	return parallel.Each(ctx, n.r.opt.Workers, (len(pairs)+group-1)/group, func(_ context.Context, g int) error {
		b := n.pool.Get().(*bench)
		defer n.pool.Put(b)
		for k := g * group; k < min(len(pairs), (g+1)*group); k++ {
			with := n.others[k]
			other, err := n.other(b, int(with.record), from)
			if err != nil {
				return err
			}
			b.judge.begin()
			pairs[k].differs = b.judge.explain(other, &n.block[int(with.removed)-from].saved)
		}
		return nil
	})
}

// prepare reads a record and computes its keys.
func (n *nearRun) prepare(b *bench, i int, c *candidate) (err error) {
	var data []byte
	s := n.order[i]
	if data, c.buf, err = n.r.spool.payload(&n.r.units[s.unit].texts, int(s.at), c.buf); err != nil {
		return err
	}
	c.met, c.judged = c.met[:0], false
	c.saved.read(data)
	b.gramer.keys(&c.keys, &c.saved)
	n.sizes[i] = uint16(min(len(c.keys.own), 1<<16-1))
	return nil
}

// meet adds the candidates not below since to those met, keeps the best and
// compares those that are new.
func (n *nearRun) meet(b *bench, c *candidate, since uint32, from int) error {
	b.tally.reset()
	again := c.judged
	c.judged = true
	count := func(keys []uint32, weight uint32) {
		if again {
			b.fresh = b.fresh[:0]
			for _, key := range keys {
				if n.isFresh(key) {
					b.fresh = append(b.fresh, key)
				}
			}
			keys = b.fresh
		}
		n.index.count(keys, since, weight, b.tally)
	}
	count(c.keys.asked, 1)
	count(c.keys.along, alongWeight)
	if c.keys.whole != 0 {
		count([]uint32{c.keys.whole}, wholeWeight)
	}
	for _, at := range b.tally.found {
		x := b.tally.slots[at]
		if x.shared >= enough(min(len(c.keys.asked)+len(c.keys.along), int(n.sizes[x.record]))) {
			c.admit(meeting{record: x.record, shared: x.shared})
		}
	}
	b.judge.begin()
	for k := range c.met {
		m := &c.met[k]
		if m.judged {
			continue
		}
		other, err := n.other(b, int(m.record), from)
		if err != nil {
			return err
		}
		m.verdict, m.judged = b.judge.compare(other, &c.saved), true
	}
	return nil
}

// enough is how many shared keys make a candidate of a record, when the one of the
// two that has fewer has so many. Where one letter in ten is damaged they still
// share half of the keys in Chinese, a quarter in English.
func enough(keys int) uint32 {
	if keys < 8 {
		return 1
	}
	return uint32(max(min(3, keys*3/16), 2, keys/16))
}

// other returns a record that stays: of the block, or read again.
func (n *nearRun) other(b *bench, i, from int) (*saved, error) {
	if i >= from {
		return &n.block[i-from].saved, nil
	}
	s := n.order[i]
	data, buf, err := n.r.spool.payload(&n.r.units[s.unit].texts, int(s.at), b.buf)
	b.buf = buf
	if err != nil {
		return nil, err
	}
	b.other.read(data)
	return &b.other, nil
}

// settle removes the record when one it met stands for it; otherwise it stays,
// is listed with the one it resembles most, and is there for others to meet.
func (n *nearRun) settle(c *candidate, i int) {
	var best meeting
	for _, m := range c.met {
		if m.verdict.better(best.verdict) {
			best = m
		}
		if m.verdict.reason != "" && n.r.opt.Alike != nil {
			n.r.opt.Alike(n.id(i), n.id(int(m.record)))
		}
	}
	if best.verdict.reason != "" {
		n.found = append(n.found, match{
			removed: n.order[i], kept: n.order[best.record], reason: best.verdict.reason,
			similarity: best.verdict.similarity,
		})
		n.others = append(n.others, pairing{uint32(i), best.record})
	}
	if best.verdict.reason == Near && n.r.opt.Alike == nil {
		return
	}
	for _, key := range c.keys.own {
		n.add(key, uint32(i))
	}
	if c.keys.whole != 0 {
		n.add(c.keys.whole, uint32(i))
	}
}
