package pipeline

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock"

	"github.com/zeebo/xxh3"
)

// A mixer chooses, among the records that duplicates and leaks have left, those
// that go to the outputs, and which of them are kept from training. It draws a
// lot for every record from the seed and the record's id, so that neither the
// number of workers nor the other records change it. It holds about 40 bytes a
// record between the passes.
type mixer struct {
	mix   *MixConfig
	split *SplitConfig
	seed  uint64
	named [mixDimensions]map[string]bool // what the mix lists
	parts []*mixSketch
	kin   *kin // nil without a split
}

// newMixer returns nil when the configuration asks for none.
func newMixer(c *Config) *mixer {
	if c.Mix == nil && c.Split == nil {
		return nil
	}
	m := &mixer{mix: c.Mix, split: c.Split, seed: c.Seed}
	for d := range m.named {
		m.named[d] = c.Mix.listed(d)
	}
	return m
}

// A mixCell is what records have in common as far as a mix can tell them apart.
type mixCell [mixDimensions]string

// A mixSketch is what a mixer must know of one part's records.
type mixSketch struct {
	records []mixRecord
	cells   []mixCell
	index   map[mixCell]uint32
	keys    []mixKey // what holds records together in a split
}

// A mixRecord is one record that may be chosen.
type mixRecord struct {
	at   uint32 // its number in the part
	cell uint32 // in the sketch's cells, later in the mix's
	lot  uint64 // the lowest are taken
}

// A mixKey says that a record has something that others may have, too.
type mixKey struct {
	key    uint64
	record uint32 // in the sketch's records, later in all of them
}

// sketch returns the sketch of part i, to be filled in order.
func (m *mixer) sketch(i int) *mixSketch {
	m.parts[i] = &mixSketch{index: map[mixCell]uint32{}}
	return m.parts[i]
}

// add takes in one record.
func (m *mixer) add(s *mixSketch, r *drydock.Record, at int) {
	cell := m.cellOf(r)
	n, known := s.index[cell]
	if !known {
		n = uint32(len(s.cells))
		s.index[cell] = n
		s.cells = append(s.cells, cell)
	}
	if m.split != nil {
		s.keys = m.appendKeys(s.keys, r, uint32(len(s.records)))
	}
	s.records = append(s.records, mixRecord{uint32(at), n, xxh3.HashSeed(r.ID[:], m.seed)})
}

// cellOf describes a record. Of its subject only what the mix lists is told: the
// outermost part that is.
func (m *mixer) cellOf(r *drydock.Record) mixCell {
	c := mixCell{bySubject: rest, byLang: r.Lang, byKind: r.Form()}
	if r.Origin.File != nil {
		c[bySource] = r.Origin.File.Source
	}
	for _, s := range subjectOf(r) {
		if m.named[bySubject][s] {
			c[bySubject] = s
			break
		}
	}
	return c
}

// subjectOf is the chapter path of a question, the headings of a passage.
func subjectOf(r *drydock.Record) []string {
	switch {
	case r.Question != nil:
		return r.Question.Subject
	case r.Passage != nil:
		return r.Passage.Heading
	}
	return nil
}

// A mixDecision is what a mixer decided, with bits as in partState.
type mixDecision struct {
	chosen, dev [][]uint64 // by part
	result      MixResult
	taken       map[mixCell][2]int // of how many, how many
}

// mixChoice is a record among all of a mix.
type mixChoice struct {
	part, record uint32
	lot          uint64
}

// decide settles what goes where. sizes are the parts' numbers of records.
func (m *mixer) decide(ctx context.Context, sizes []int) (*mixDecision, error) {
	cells := m.gather()
	d := &mixDecision{chosen: bitsFor(sizes), dev: bitsFor(sizes), taken: map[mixCell][2]int{}}
	have := make([][]mixChoice, len(cells))
	for p, s := range m.parts {
		for i, r := range s.records {
			have[r.cell] = append(have[r.cell], mixChoice{uint32(p), uint32(i), r.lot})
		}
	}
	take := make([]int, len(cells))
	for c := range cells {
		take[c] = len(have[c])
	}
	if m.mix != nil {
		take = m.task(cells, take).solve()
	}
	var chosen []mixChoice
	for c, list := range have {
		slices.SortFunc(list, func(a, b mixChoice) int {
			return cmp.Or(cmp.Compare(a.lot, b.lot), cmp.Compare(a.part, b.part), cmp.Compare(a.record, b.record))
		})
		d.taken[cells[c]] = [2]int{len(list), take[c]}
		chosen = append(chosen, list[:take[c]]...)
		have[c] = nil
	}
	slices.SortFunc(chosen, func(a, b mixChoice) int {
		return cmp.Or(cmp.Compare(a.part, b.part), cmp.Compare(a.record, b.record))
	})
	for _, c := range chosen {
		set(d.chosen[c.part], m.parts[c.part].records[c.record].at)
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	dev, err := m.divide(d, chosen)
	if err != nil {
		return nil, err
	}
	m.report(d, cells, chosen, dev)
	return d, nil
}

// gather numbers the cells of all parts in order, and has the records say theirs.
func (m *mixer) gather() []mixCell {
	index := map[mixCell]uint32{}
	var cells []mixCell
	for _, s := range m.parts {
		for _, c := range s.cells {
			if _, known := index[c]; !known {
				index[c] = 0
				cells = append(cells, c)
			}
		}
	}
	slices.SortFunc(cells, func(a, b mixCell) int { return slices.Compare(a[:], b[:]) })
	for i, c := range cells {
		index[c] = uint32(i)
	}
	for _, s := range m.parts {
		for i := range s.records {
			s.records[i].cell = index[s.cells[s.records[i].cell]]
		}
	}
	return cells
}

// task puts the mix's names into numbers.
func (m *mixer) task(cells []mixCell, have []int) *mixTask {
	t := &mixTask{have: have, group: make([][mixDimensions]int, len(cells)), size: m.mix.Size}
	for d := range mixDimensions {
		names := []string{rest}
		for _, name := range sortedNames(m.named[d]) {
			if name != rest {
				names = append(names, name)
			}
		}
		weights, quotas := m.mix.Weights.all()[d], m.mix.Quotas.all()[d]
		for _, name := range names {
			if weights != nil {
				t.weight[d] = append(t.weight[d], weightOf(weights, name))
			}
			if quotas != nil {
				q, given := quotas[name]
				if !given {
					q = -1
				}
				t.quota[d] = append(t.quota[d], q)
			}
		}
		for c := range cells {
			t.group[c][d] = max(0, slices.Index(names, cells[c][d]))
		}
	}
	return t
}

// weightOf is the weight of a listed name; of "*", 1 unless it is given. A name
// that only the quotas list has none of its own: it weighs as the rest does.
func weightOf(weights map[string]float64, name string) float64 {
	if w, given := weights[name]; given {
		return w
	}
	if w, given := weights[rest]; given {
		return w
	}
	return 1
}

func sortedNames(m map[string]bool) []string {
	out := make([]string, 0, len(m))
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func bitsFor(sizes []int) [][]uint64 {
	out := make([][]uint64, len(sizes))
	for i, n := range sizes {
		out[i] = make([]uint64, n/64+1)
	}
	return out
}

func set(bits []uint64, at uint32)     { bits[at/64] |= 1 << (at % 64) }
func isSet(bits []uint64, at int) bool { return bits[at/64]>>(at%64)&1 != 0 }

// notInMix is the reason of a record that the mix leaves out.
const notInMix = "not_in_mix"

// drop says why a record is left out: how many of its like are taken.
func (m *mixer) drop(d *mixDecision, r *drydock.Record) *drydock.Drop {
	cell := m.cellOf(r)
	var words []string
	for i, name := range mixNames() {
		if len(m.named[i]) > 0 {
			words = append(words, name+" "+cell[i])
		}
	}
	what := ""
	if len(words) > 0 {
		what = strings.Join(words, ", ") + ": "
	}
	n := d.taken[cell]
	return &drydock.Drop{
		Record: r, Step: StageMix, Reason: notInMix,
		Detail: fmt.Sprintf("%s%d of %d are taken", what, n[1], n[0]),
	}
}

// lotOf draws the lot of a group from that of its first record.
func lotOf(lot uint64) uint64 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], lot)
	return xxh3.Hash(b[:])
}
