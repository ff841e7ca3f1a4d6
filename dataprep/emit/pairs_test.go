package emit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/spec"
)

func fourOptions(i int, texts ...string) *drydock.Record {
	q := &drydock.Question{Kind: drydock.Single, Stem: fmt.Sprintf("第%d题", i), Answer: []string{"A"}} // the key always stands first
	for k, t := range texts {
		q.Options = append(q.Options, drydock.Option{Label: string(rune('A' + k)), Text: t})
	}
	return &drydock.Record{ID: drydock.NewID("s", "f", fmt.Sprint(i)), Question: q}
}

func emitterOf(t *testing.T, shape string, seed uint64) emit.Emitter {
	t.Helper()
	sp, ok := spec.Find(emit.Emitters(), shape)
	if !ok {
		t.Fatalf("no shape %s", shape)
	}
	b, err := sp.Default()
	if err != nil {
		t.Fatal(err)
	}
	e, err := b.New(emit.Context{Seed: seed, Prompt: func(q *drydock.Question) (string, error) { return q.Stem, nil }})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Of questions whose key always stands first, chosen and rejected letters are
// even, and so are their pairs: chi-square with 3 and 11 degrees of freedom, at
// one in a thousand.
func TestPairLettersAreEven(t *testing.T) {
	t.Parallel()
	e := emitterOf(t, "trl-dpo", 3)
	const n = 6000
	chosen, rejected, both := map[byte]int{}, map[byte]int{}, map[string]int{}
	for i := range n {
		row, err := e.Emit(nil, fourOptions(i, "左舷", "右舷", "船首", "船尾"))
		if err != nil {
			t.Fatal(err)
		}
		var r struct{ Chosen, Rejected []struct{ Content string } }
		if err := json.Unmarshal(row, &r); err != nil {
			t.Fatal(err)
		}
		letter := func(s string) byte { return s[len(s)-2] }
		c, x := letter(r.Chosen[0].Content), letter(r.Rejected[0].Content)
		if c == x {
			t.Fatalf("row %d rejects the key: %s", i, row)
		}
		chosen[c]++
		rejected[x]++
		both[string([]byte{c, x})]++
	}
	chi := func(counts []int, cells int) float64 {
		sum, want := 0.0, float64(n)/float64(cells)
		for _, k := range counts {
			sum += (float64(k) - want) * (float64(k) - want) / want
		}
		return sum + want*float64(cells-len(counts))
	}
	if x := chi(values(chosen), 4); x > 16.3 {
		t.Errorf("chosen letters %v: chi-square %.1f", chosen, x)
	}
	if x := chi(values(rejected), 4); x > 16.3 {
		t.Errorf("rejected letters %v: chi-square %.1f", rejected, x)
	}
	if x := chi(values(both), 12); x > 31.3 {
		t.Errorf("pairs of letters %v: chi-square %.1f", both, x)
	}
}

func values[K comparable](m map[K]int) []int {
	var out []int
	for _, v := range m {
		out = append(out, v)
	}
	return out
}

func TestPairOf(t *testing.T) {
	t.Parallel()
	// an option that says the same is never rejected
	for i := range 50 {
		r := fourOptions(i, "左舷。", "左舷", "右舷", " 左 舷 ")
		if p, err := emit.PairOf(r.Question, r.ID, 1); err != nil || p != (emit.Pair{Chosen: "A", Rejected: "C"}) {
			t.Fatalf("%v %v", p, err)
		}
	}
	r := fourOptions(1, "左舷", "左舷")
	if p, err := emit.PairOf(r.Question, r.ID, 1); err == nil {
		t.Errorf("%v", p)
	}
	// options of pictures fold to nothing: they are as different as their letters
	r = fourOptions(1, "", "")
	if p, err := emit.PairOf(r.Question, r.ID, 1); err != nil || p.Rejected != "B" {
		t.Errorf("%v %v", p, err)
	}
	// the seed decides, and nothing else
	seen := map[string]bool{}
	for seed := range uint64(40) {
		r := fourOptions(9, "左舷", "右舷", "船首", "以上都不对")
		p, err := emit.PairOf(r.Question, r.ID, seed)
		again, _ := emit.PairOf(r.Question, r.ID, seed)
		if err != nil || p != again {
			t.Fatalf("%v, then %v: %v", p, again, err)
		}
		seen[p.Rejected] = true
	}
	if len(seen) != 3 {
		t.Errorf("of three wrong options %v are drawn", seen)
	}
}

// Where an option speaks of others all keep their place, the key, too.
func TestPairOfPositionalOptions(t *testing.T) {
	t.Parallel()
	e := emitterOf(t, "swift-kto", 3)
	r := fourOptions(1, "左舷", "右舷", "船首", "以上都对")
	r.Question.Answer = []string{"D"}
	rows, err := e.Emit(nil, r)
	if err != nil {
		t.Fatal(err)
	}
	var labels []bool
	for line := range bytes.Lines(rows) {
		var row struct {
			Label    bool
			Messages []struct{ Content string }
		}
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		answer := row.Messages[len(row.Messages)-1].Content
		if row.Label != (answer[len(answer)-3:] == "[D]") {
			t.Errorf("%s", line)
		}
		labels = append(labels, row.Label)
	}
	if len(labels) != 2 || labels[0] == labels[1] {
		t.Errorf("labels %v: one good, one bad answer is wanted", labels)
	}
}
