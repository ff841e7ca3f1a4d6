package pipeline

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"slices"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dedup"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/textnorm"

	"github.com/zeebo/xxh3"
)

// kin knows which records resemble others, removed or not: whatever duplicates
// are removed, near ones must not stand on both sides of a split.
type kin struct {
	remover *dedup.Remover
	node    map[drydock.ID]uint32
	up      []uint32
}

func newKin(o dedup.Options) *kin {
	k := &kin{node: map[drydock.ID]uint32{}}
	if o.Threshold == 0 {
		o.Threshold = dedup.DefaultThreshold
	}
	o.Prefer, o.Alike = nil, k.join
	k.remover = dedup.New(o)
	return k
}

// decide finds what resembles what, and forgets the texts.
func (k *kin) decide(ctx context.Context) error {
	if err := k.remover.Decide(ctx); err != nil {
		return err
	}
	for _, p := range k.remover.Pairs() {
		k.join(p.Removed.ID, p.Kept.ID)
	}
	k.remover = nil
	return nil
}

func (k *kin) of(id drydock.ID) uint32 {
	n, known := k.node[id]
	if !known {
		n = uint32(len(k.up))
		k.node[id] = n
		k.up = append(k.up, n)
	}
	return find(k.up, n)
}

func (k *kin) join(a, b drydock.ID) {
	x, y := k.of(a), k.of(b)
	unite(k.up, x, y)
}

// find returns the first of n's group.
func find(up []uint32, n uint32) uint32 {
	for up[n] != n {
		up[n] = up[up[n]]
		n = up[n]
	}
	return n
}

// unite makes one group of two; its first is the first of both.
func unite(up []uint32, a, b uint32) {
	a, b = find(up, a), find(up, b)
	up[max(a, b)] = min(a, b)
}

// appendKeys lists what a record shares with those it must not be parted from:
// what resembles it, its stem or prompt, what it was made from, and what the
// configuration says.
func (m *mixer) appendKeys(dst []mixKey, r *drydock.Record, at uint32) []mixKey {
	add := func(tag byte, texts ...string) {
		h := xxh3.New()
		h.Write([]byte{tag})
		for _, t := range texts {
			h.WriteString(t)
			h.Write([]byte{0xff}) // no text holds it
		}
		dst = append(dst, mixKey{h.Sum64(), at})
	}
	if m.kin != nil {
		if n, known := m.kin.node[r.ID]; known {
			var b [4]byte
			binary.LittleEndian.PutUint32(b[:], find(m.kin.up, n))
			add('k', string(b[:]))
		}
	}
	if asked := askedText(r); asked != "" {
		add('a', asked)
	}
	for _, p := range r.Parents {
		add('p', string(p[:]))
	}
	add('p', string(r.ID[:])) // its children name it
	file := r.Origin.File
	if file == nil {
		return dst
	}
	switch subject := subjectOf(r); {
	case m.split.By == "source":
		add('s', file.Source)
	case m.split.By == "file", m.split.By == "subject" && len(subject) == 0:
		add('f', file.Source, file.Name)
	case m.split.By == "subject":
		add('c', file.Source, file.Name, subject[0])
	}
	return dst
}

// askedText is what is asked, folded: of a question its stem, of a conversation
// the user's turns; nothing for running text.
func askedText(r *drydock.Record) string {
	switch {
	case r.Question != nil:
		return string(textnorm.Fold(nil, r.Question.Stem))
	case r.Chat != nil:
		var b []byte
		for _, t := range r.Chat.Messages {
			if t.Role == "user" {
				b = append(textnorm.Fold(b, t.Content), 0xff)
			}
		}
		return string(b)
	}
	return ""
}

// divide chooses the groups of the dev files: in the order of their lots, as long
// as they fit into the number that is asked for. It returns which of the chosen
// go there, nil without a split.
func (m *mixer) divide(d *mixDecision, chosen []mixChoice) ([]bool, error) {
	if m.split == nil {
		return nil, nil
	}
	up := m.groups(chosen)
	size := make([]uint32, len(chosen))
	for i := range chosen {
		size[find(up, uint32(i))]++
	}
	var order []uint32
	largest := 0
	for i, n := range size {
		if n > 0 {
			order = append(order, uint32(i))
			largest = max(largest, int(n))
		}
	}
	slices.SortFunc(order, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(lotOf(chosen[a].lot), lotOf(chosen[b].lot)), cmp.Compare(a, b))
	})
	wanted := m.split.wanted(len(chosen))
	dev, n := make([]bool, len(chosen)), 0
	inDev := make([]bool, len(chosen))
	for _, g := range order {
		if n+int(size[g]) <= wanted {
			inDev[g] = true
			n += int(size[g])
		}
	}
	if n == 0 || n == len(chosen) {
		return nil, m.indivisible(len(chosen), len(order), largest, wanted)
	}
	for i, c := range chosen {
		if dev[i] = inDev[find(up, uint32(i))]; dev[i] {
			set(d.dev[c.part], m.parts[c.part].records[c.record].at)
		}
	}
	d.result.Split = &SplitResult{By: m.split.By, Share: m.split.Dev, Wanted: wanted, Groups: len(order), Largest: largest}
	return dev, nil
}

// wanted is how many of n records the dev files are to hold.
func (s *SplitConfig) wanted(n int) int {
	if s.Dev < 1 {
		return int(math.Round(s.Dev * float64(n)))
	}
	return int(min(s.Dev, float64(n)))
}

func (m *mixer) indivisible(records, groups, largest, wanted int) error {
	e := fail.New(fail.Config, msg.Text{
		"split: %d {record|records} in %d groups that belong together, the largest of %d, cannot be divided so that dev has up to %d",
		"split：%d 条记录组成 %d 个不可拆分的组，最大的组有 %d 条，无法划出至多 %d 条作为 dev",
	}, records, groups, largest, wanted)
	switch {
	case records == 0:
		return fail.New(fail.Config, msg.Text{"split: no record is left to divide into train and dev", "split：没有剩下可划分为 train 和 dev 的记录"}).
			Hint(msg.Text{"take split: out to see what was read and why it was left out", "去掉 split: 可查看读入了什么、为何未采用"})
	case wanted >= records:
		return e.Hint(msg.Text{"lower dev: nothing would be left to train", "请调小 dev：否则没有剩下用于训练的记录"})
	}
	return e.Hint(msg.Text{"raise dev, or let by name something smaller: item, subject, file, source", "请调大 dev，或让 by 取更小的单位：item、subject、file、source"})
}

// groups says, by the place among the chosen, what must not be parted.
func (m *mixer) groups(chosen []mixChoice) []uint32 {
	up := make([]uint32, len(chosen))
	var keys []mixKey
	next := 0
	for p, s := range m.parts {
		from := next
		for next < len(chosen) && chosen[next].part == uint32(p) {
			up[next] = uint32(next)
			next++
		}
		at := from
		for _, k := range s.keys { // both are in the order of the records
			for at < next && chosen[at].record < k.record {
				at++
			}
			if at < next && chosen[at].record == k.record {
				keys = append(keys, mixKey{k.key, uint32(at)})
			}
		}
		s.keys = nil
	}
	slices.SortFunc(keys, func(a, b mixKey) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.record, b.record)) })
	for i := 1; i < len(keys); i++ {
		if keys[i].key == keys[i-1].key {
			unite(up, keys[i].record, keys[i-1].record)
		}
	}
	return up
}
