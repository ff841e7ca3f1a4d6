package selftest

import (
	"context"
	"hash/fnv"
	"iter"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/parallel"
	"github.com/drydock-ml/drydock/internal/stats"
)

// Options say how much is made.
type Options struct {
	Seed uint64
	// Items is how many items are taken, evenly spread; 0: all.
	Items int
	// MinRecall takes the place of the bar of every kind that is a copy; 0: each
	// kind's own.
	MinRecall float64
	Kinds     []string // names of the kinds wanted; empty: all
	Workers   int      // below 1: the number of usable CPUs
}

// kinds returns the kinds that are wanted.
func (o *Options) kinds() ([]Kind, error) {
	all := Kinds()
	for _, name := range o.Kinds {
		if !slices.ContainsFunc(all, func(k Kind) bool { return k.Name == name }) {
			var names []string
			for _, k := range all {
				names = append(names, k.Name)
			}
			return nil, fail.New(fail.Usage, msg.Text{"unknown kind of change %q", "未知的改动方式 %q"}, name).
				Hint(msg.Text{"the kinds are %s", "可用的方式：%s"}, msg.List(names))
		}
	}
	return slices.DeleteFunc(all, func(k Kind) bool {
		return len(o.Kinds) > 0 && !slices.Contains(o.Kinds, k.Name)
	}), nil
}

// A Result says what came out, kind by kind.
type Result struct {
	Items int // items taken
	Kinds []Outcome
}

// Pass reports whether every kind reached its bar.
func (r *Result) Pass() bool {
	return !slices.ContainsFunc(r.Kinds, func(o Outcome) bool { return !o.Pass })
}

// An Outcome counts the copies of one kind.
type Outcome struct {
	Kind
	Made     int     // copies; items that do not suit the kind have none
	Met      int     // of them, those that came out as the kind expects
	Leaks    int     // that failed the check with the right item named
	Variants int     // that were shown as a variant of it and did not fail
	Others   int     // that failed the check with another item named
	Low      float64 // 95 % Wilson interval of Met of Made
	High     float64
	Pass     bool // Met of Made is at least the bar, or nothing was made
	Missed   []Miss
}

// maxMissed is how many missed copies of a kind are kept.
const maxMissed = 20

// A Miss is a copy that did not come out as expected.
type Miss struct {
	Item    contam.ItemRef
	Rows    []string // the rows that were checked
	Verdict string   // the right item was given; empty: it was not named
	Other   contam.ItemRef
	OtherAs string // verdict another item was given; empty: none was named
}

// chunk is how many items one task takes: a scanner's memory is worth sharing.
const chunk = 16

// Run makes the copies of the items of sets, which ix was built of, hides them
// in the carrier's text and checks each. The result depends on nothing but the
// arguments.
func Run(ctx context.Context, ix *contam.Index, sets []contam.Set, carrier *Carrier, o Options) (*Result, error) {
	t, err := newTrial(sets, carrier, o)
	if err != nil {
		return nil, err
	}
	tasks := (len(t.items) + chunk - 1) / chunk
	err = parallel.Each(ctx, o.Workers, tasks, func(ctx context.Context, i int) error {
		s := ix.Scanner()
		for n := i * chunk; n < min(len(t.items), (i+1)*chunk); n++ {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			t.item(s, n)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return t.result(), nil
}

// A trial is one run over all items.
type trial struct {
	kinds   []Kind
	all     []chosen
	items   []chosen // of all, those that copies are made of
	carrier *Carrier
	letters []rune
	o       Options
	tries   [][]try // by item, by kind
}

// chosen is an item and the benchmark it is of.
type chosen struct {
	set  string
	item *benchmark.Item
}

func (c chosen) ref() contam.ItemRef { return contam.ItemRef{Benchmark: c.set, Index: c.item.Index} }

// try is what became of one copy.
type try struct {
	made                 bool
	leak, variant, other bool
	miss                 Miss
}

func newTrial(sets []contam.Set, carrier *Carrier, o Options) (*trial, error) {
	if len(carrier.text) < minCarrier {
		return nil, fail.New(fail.Usage, msg.Text{
			"the data has less than %d characters without benchmark items: nothing to hide copies in",
			"数据中不含评测题目的文字不足 %d 个字符：无处嵌入副本",
		}, minCarrier).Hint(msg.Text{
			"a document is one record, and one with a leak carries nothing: drydock prep makes rows of it",
			"文档整体为一条记录，含泄漏的记录不能用来嵌入副本：请先用 drydock prep 转换为数据行",
		})
	}
	kinds, err := o.kinds()
	if err != nil {
		return nil, err
	}
	t := &trial{kinds: kinds, carrier: carrier, o: o}
	seen := map[rune]bool{}
	for _, s := range sets {
		for i := range s.Items {
			t.all = append(t.all, chosen{s.Ref.Name, &s.Items[i]})
			for _, r := range s.Items[i].Question.Stem {
				if unicode.Is(unicode.Han, r) && !seen[r] {
					seen[r] = true
					t.letters = append(t.letters, r)
				}
			}
		}
	}
	n := len(t.all)
	if o.Items > 0 {
		n = min(n, o.Items)
	}
	for i := range n {
		t.items = append(t.items, t.all[i*len(t.all)/n])
	}
	t.tries = make([][]try, n)
	return t, nil
}

// A Copy is one item changed in one way.
type Copy struct {
	ID   string // kind/benchmark/index, and /n for one of several records
	Item contam.ItemRef
	Kind Kind
	Text string
}

// Copies yields the copies that Run would check at these options, record by
// record, so that another program can be tried on them.
func Copies(sets []contam.Set, carrier *Carrier, o Options) (iter.Seq[Copy], error) {
	t, err := newTrial(sets, carrier, o)
	if err != nil {
		return nil, err
	}
	return func(yield func(Copy) bool) {
		for n, c := range t.items {
			for _, k := range t.kinds {
				records := k.make(t.draft(n, k.Name))
				for i, r := range records {
					id := k.Name + "/" + c.set + "/" + strconv.Itoa(c.item.Index)
					if len(records) > 1 {
						id += "/" + strconv.Itoa(i+1)
					}
					if !yield(Copy{id, c.ref(), k, strings.Join(r, "\n")}) {
						return
					}
				}
			}
		}
	}, nil
}

// item makes and checks all copies of one item.
func (t *trial) item(s *contam.Scanner, n int) {
	c := t.items[n]
	same := twins(s, c)
	t.tries[n] = make([]try, len(t.kinds))
	for k := range t.kinds {
		records := t.kinds[k].make(t.draft(n, t.kinds[k].Name))
		if len(records) == 0 {
			continue
		}
		rows := make([][]byte, len(records))
		for i, r := range records {
			rows[i] = r.row(t.carrier.chats())
		}
		t.tries[n][k] = judge(&t.kinds[k], c, same, rows, find(s, rows))
	}
}

// draft prepares item n for one kind. Its random numbers are its own, so that
// another kind or item changes nothing.
func (t *trial) draft(n int, kind string) *draft {
	c := t.items[n]
	h := fnv.New64a()
	_, _ = h.Write([]byte(kind + "\x00" + c.set + "\x00" + strconv.Itoa(c.item.Index)))
	d := newDraft(c.item)
	d.rng = rand.New(rand.NewPCG(t.o.Seed, h.Sum64()))
	d.letters = t.letters
	d.prose = func(n int) string { return t.carrier.cut(d.rng, n) }
	for range 20 { // one in the same script is soon found, if there is any
		if o := t.all[d.rng.IntN(len(t.all))]; o.item != c.item {
			if other := newDraft(o.item); other.chinese == d.chinese && len(other.options) > 0 {
				d.other = other
				break
			}
		}
	}
	return d
}

// twins are the items that a verbatim copy of c is found as: c itself, and those
// that say the same. Naming any of them is naming the right one.
func twins(s *contam.Scanner, c chosen) map[contam.ItemRef]bool {
	same := map[contam.ItemRef]bool{c.ref(): true}
	for _, f := range s.Record(&drydock.Record{Question: &c.item.Question}) {
		if f.Fail {
			same[f.Item] = true
		}
	}
	return same
}

// find checks rows that follow one another in a file, and the seams between
// them.
func find(s *contam.Scanner, rows [][]byte) []contam.Finding {
	var out []contam.Finding
	s.Break()
	for i, row := range rows {
		found, err := s.Row(row)
		if err != nil {
			continue // not to be: the row was written here, as JSON
		}
		out = append(out, found...)
		if i > 0 {
			out = append(out, s.Seam()...)
		}
	}
	return out
}

// judge compares what was found with what the kind expects.
func judge(k *Kind, c chosen, same map[contam.ItemRef]bool, rows [][]byte, found []contam.Finding) try {
	t := try{made: true, miss: Miss{Item: c.ref()}}
	for i := range found {
		f := &found[i]
		if !same[f.Item] {
			if f.Fail || isVariant(f.Verdict) {
				t.other = t.other || f.Fail
				t.miss.Other, t.miss.OtherAs = f.Item, string(f.Verdict)
			}
			continue
		}
		if t.miss.Verdict == "" || f.Fail {
			t.miss.Verdict = string(f.Verdict)
		}
		t.leak = t.leak || f.Fail
		t.variant = t.variant || isVariant(f.Verdict)
	}
	t.variant = t.variant && !t.leak
	if !t.met(k) {
		for _, r := range rows {
			t.miss.Rows = append(t.miss.Rows, string(r))
		}
	}
	return t
}

func isVariant(v contam.Verdict) bool {
	return v == contam.Variant || v == contam.NumericVariant || v == contam.PolarityVariant
}

// met reports whether a copy came out as its kind expects.
func (t *try) met(k *Kind) bool {
	switch k.Expect {
	case Leak:
		return t.leak
	case Shown:
		return t.leak || t.variant
	case Variant:
		return t.variant
	}
	return !t.leak && !t.variant && !t.other
}

func (t *trial) result() *Result {
	r := &Result{Items: len(t.items)}
	for k := range t.kinds {
		o := Outcome{Kind: t.kinds[k]}
		if t.o.MinRecall > 0 && o.Expect != Clean && o.Expect != Variant {
			o.Bar = t.o.MinRecall
		}
		for n := range t.tries {
			o.count(&t.tries[n][k])
		}
		o.Low, o.High = stats.Wilson(o.Met, o.Made)
		o.Pass = o.Made == 0 || float64(o.Met) >= o.Bar*float64(o.Made)
		r.Kinds = append(r.Kinds, o)
	}
	return r
}

func (o *Outcome) count(t *try) {
	if !t.made {
		return
	}
	o.Made++
	if t.leak {
		o.Leaks++
	}
	if t.variant {
		o.Variants++
	}
	if t.other {
		o.Others++
	}
	if t.met(&o.Kind) {
		o.Met++
	} else if len(o.Missed) < maxMissed {
		o.Missed = append(o.Missed, t.miss)
	}
}

// row writes the record as a row of training data: a conversation, or a text.
func (r record) row(chat bool) []byte {
	if !chat {
		return append(drydock.AppendJSONString([]byte(`{"text":`), strings.Join(r, "\n")), '}')
	}
	b := []byte(`{"messages":[`)
	for i, t := range r {
		if i > 0 {
			b = append(b, ',')
		}
		role := "user"
		if i%2 == 1 {
			role = "assistant"
		}
		b = drydock.AppendJSONString(append(b, `{"role":"`+role+`","content":`...), t)
		b = append(b, '}')
	}
	return append(b, "]}"...)
}
