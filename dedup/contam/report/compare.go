package report

import (
	"cmp"
	"maps"
	"slices"

	"github.com/drydock-ml/drydock/dedup/contam"
)

// CompareSchema names the shape of a comparison.
const CompareSchema = "drydock.contam.compare/1"

// A Pair is one item in one record, as two reports see it. A verdict is empty in
// the report that lacks the pair.
type Pair struct {
	Record   PairRecord `json:"record"`
	Item     Item       `json:"item"`
	VerdictA string     `json:"verdict_a,omitempty"`
	VerdictB string     `json:"verdict_b,omitempty"`
	ScoreA   float64    `json:"score_a,omitempty"`
	ScoreB   float64    `json:"score_b,omitempty"`
	FailA    bool       `json:"fail_a"`
	FailB    bool       `json:"fail_b"`
}

// A PairRecord names the record of a pair.
type PairRecord struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`
	ID      string `json:"id,omitempty"`
	Locator string `json:"locator,omitempty"`
}

// A Change counts the pairs that have one verdict in A and another in B.
type Change struct {
	A     string `json:"a"`
	B     string `json:"b"`
	Pairs int    `json:"pairs"`
}

// A Comparison says what each of two reports finds that the other does not.
type Comparison struct {
	Schema string `json:"schema"`
	// Pairs of record and item: in both, in A only, in B only; and Same, those in
	// both with one verdict. Agreement is Both / (Both + OnlyA + OnlyB), 1 when
	// there are no pairs.
	Both      int     `json:"both"`
	OnlyA     int     `json:"only_a"`
	OnlyB     int     `json:"only_b"`
	Same      int     `json:"same_verdict"`
	Agreement float64 `json:"agreement"`
	// Records that fail in both, in A only, in B only.
	FailBoth  int `json:"fail_both"`
	FailOnlyA int `json:"fail_only_a"`
	FailOnlyB int `json:"fail_only_b"`
	// Records is how many were checked, by the summaries; 0: not known.
	// RecordAgreement is the share of them that fail in both or in neither.
	Records         int      `json:"records,omitempty"`
	RecordAgreement *float64 `json:"record_agreement,omitempty"`
	Changes         []Change `json:"changes"` // most frequent first
	Pairs           []Pair   `json:"pairs"`   // all that differ: in one only, or with another verdict; in the order of the data as A, then B, has it
}

type recordKey struct {
	file    string
	line    int
	id      string
	locator string
}

type pairKey struct {
	recordKey
	item contam.ItemRef
}

func keyOf(r *Row) pairKey {
	k := recordKey{file: r.Record.File, line: r.Record.Line, locator: r.Record.Locator}
	if k.line == 0 && k.locator == "" {
		k.id = r.Record.ID
	}
	return pairKey{k, r.Item}
}

// Compare joins two reports by record and item. Records are the same by file and
// line, else by locator, else by id. records is how many were checked; 0: not
// known.
func Compare(a, b []Row, records int) *Comparison {
	j := joint{at: map[pairKey]int{}, fails: map[recordKey][2]bool{}}
	j.add(a, 0)
	j.add(b, 1)
	c := &Comparison{Schema: CompareSchema, Records: records, Changes: []Change{}, Pairs: []Pair{}}
	c.count(j.pairs)
	for _, f := range j.fails {
		switch f {
		case [2]bool{true, true}:
			c.FailBoth++
		case [2]bool{true, false}:
			c.FailOnlyA++
		default:
			c.FailOnlyB++
		}
	}
	if differ := c.FailOnlyA + c.FailOnlyB; records >= differ && records > 0 {
		share := float64(records-differ) / float64(records)
		c.RecordAgreement = &share
	}
	return c
}

// joint is two reports side by side.
type joint struct {
	pairs []Pair
	at    map[pairKey]int
	fails map[recordKey][2]bool // records that fail, in A and in B
}

func (j *joint) add(rows []Row, side int) {
	for i := range rows {
		r := &rows[i]
		k := keyOf(r)
		n, known := j.at[k]
		if !known {
			n = len(j.pairs)
			j.at[k] = n
			j.pairs = append(j.pairs, Pair{
				Record: PairRecord{r.Record.File, r.Record.Line, r.Record.ID, r.Record.Locator},
				Item:   Item{r.Item.Benchmark, r.Item.Index},
			})
		}
		j.pairs[n].take(r, side)
		if r.Fail {
			f := j.fails[k.recordKey]
			f[side] = true
			j.fails[k.recordKey] = f
		}
	}
}

// count sorts the pairs into those of both reports and those of one.
func (c *Comparison) count(pairs []Pair) {
	changes := map[Change]int{}
	for _, p := range pairs {
		switch {
		case p.VerdictB == "":
			c.OnlyA++
		case p.VerdictA == "":
			c.OnlyB++
		default:
			c.Both++
			if p.VerdictA == p.VerdictB {
				c.Same++
				continue
			}
			changes[Change{A: p.VerdictA, B: p.VerdictB}]++
		}
		c.Pairs = append(c.Pairs, p)
	}
	for _, ch := range slices.SortedFunc(maps.Keys(changes), func(x, y Change) int {
		return cmp.Or(changes[y]-changes[x], cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B))
	}) {
		c.Changes = append(c.Changes, Change{ch.A, ch.B, changes[ch]})
	}
	c.Agreement = 1
	if all := len(pairs); all > 0 {
		c.Agreement = float64(c.Both) / float64(all)
	}
}

// take sets one side from a row. Of several findings of one pair the one that
// fails counts, then the one with the higher score.
func (p *Pair) take(r *Row, side int) {
	verdict, score, fails := &p.VerdictA, &p.ScoreA, &p.FailA
	if side == 1 {
		verdict, score, fails = &p.VerdictB, &p.ScoreB, &p.FailB
	}
	if *verdict != "" && (*fails && !r.Fail || *fails == r.Fail && *score >= r.Score) {
		return
	}
	*verdict, *score, *fails = string(r.Verdict), r.Score, r.Fail
}
