package judge

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"math"
	"slices"
	"sync"

	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/llm"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/parallel"
)

// A Server answers questions and embeds texts; *llm.Client is one.
type Server interface {
	Chat(ctx context.Context, r llm.Request) (*llm.Reply, error)
	Embed(ctx context.Context, model string, texts []string) ([][]float32, error)
}

// Options say whom to ask, and about how much.
type Options struct {
	Server     Server
	Model      string // the judge
	EmbedModel string // empty: candidates by shared words
	TopK       int    // items a record is compared with, at most; below 1: 3
	Fail       bool   // a paraphrase or translation fails the check
	Cache      Cache
	Workers    int // questions at once; below 1: 8
}

func (o *Options) defaults() {
	if o.TopK < 1 {
		o.TopK = 3
	}
	if o.Workers < 1 {
		o.Workers = 8
	}
}

// A Judge collects records, then decides on all of them, then tells what it
// decided. Collecting may go on in several goroutines, each with a [Collector].
type Judge struct {
	o     Options
	refs  []contam.ItemRef
	items []string
	rank  ranking

	mu      sync.Mutex
	pending map[Hash]*pending
	decided map[Hash][]contam.Finding
}

// A Hash names a record by its bytes.
type Hash [sha256.Size]byte

// HashOf hashes the bytes of a record.
func HashOf(record []byte) Hash { return sha256.Sum256(record) }

// pending is a record with its candidates.
type pending struct {
	text  string
	near  []near
	far   int
	empty bool // no candidate is near
}

// New prepares the items; with an EmbedModel the server embeds them.
func New(ctx context.Context, sets []contam.Set, o Options) (*Judge, error) {
	o.defaults()
	j := &Judge{o: o, pending: map[Hash]*pending{}, decided: map[Hash][]contam.Finding{}}
	for _, s := range sets {
		for i := range s.Items {
			j.refs = append(j.refs, contam.ItemRef{Benchmark: s.Ref.Name, Index: s.Items[i].Index})
			j.items = append(j.items, s.Items[i].Printed())
		}
	}
	if len(j.items) == 0 {
		return nil, fail.New(fail.Usage, msg.Text{"no benchmark items to check against", "没有可供比对的评测题目"})
	}
	if o.EmbedModel == "" {
		j.rank = newTerms(j.items)
		return j, nil
	}
	v, err := newVectors(ctx, o.Server, o.EmbedModel, o.Cache, j.items)
	if err != nil {
		return nil, err
	}
	j.rank = v
	return j, nil
}

// A Collector takes records for one goroutine and looks for their candidates
// batch by batch.
type Collector struct {
	j      *Judge
	hashes []Hash
	texts  []string
}

// Collector returns a collector.
func (j *Judge) Collector() *Collector { return &Collector{j: j} }

// Add takes a record's text. The same record is taken once.
func (c *Collector) Add(ctx context.Context, h Hash, text string) error {
	c.hashes, c.texts = append(c.hashes, h), append(c.texts, text)
	if len(c.texts) < batch {
		return nil
	}
	return c.Flush(ctx)
}

// Flush looks for the candidates of what was added last. It is to be called when
// nothing more comes.
func (c *Collector) Flush(ctx context.Context) error {
	if len(c.texts) == 0 {
		return nil
	}
	found, far, err := c.j.rank.nearest(ctx, c.texts, c.j.o.TopK)
	if err != nil {
		return err
	}
	c.j.mu.Lock()
	defer c.j.mu.Unlock()
	for i, h := range c.hashes {
		p := &pending{near: found[i], far: far[i], empty: len(found[i]) == 0}
		if !p.empty { // the text of a record without candidates is not needed
			p.text = c.texts[i]
		}
		c.j.pending[h] = p
	}
	c.hashes, c.texts = c.hashes[:0], c.texts[:0]
	return nil
}

// Counts sums up what was asked. Records = Compared + Apart, and every pair is
// in one of the five that follow it.
type Counts struct {
	Records      int `json:"records"`  // collected
	Apart        int `json:"apart"`    // no item is near
	Compared     int `json:"compared"` // with at least one item
	Pairs        int `json:"pairs"`
	Paraphrases  int `json:"paraphrases"`
	Translations int `json:"translations"`
	Different    int `json:"different"`
	Undecided    int `json:"undecided"` // the two orders disagree, the reply is no answer, or the judge followed the record
	Errors       int `json:"errors"`    // undecided, too: the server did not answer
	Asked        int `json:"asked"`     // questions sent
	Cached       int `json:"cached"`    // questions answered before
}

func (c *Counts) add(d Counts) {
	c.Apart += d.Apart
	c.Compared += d.Compared
	c.Pairs += d.Pairs
	c.Paraphrases += d.Paraphrases
	c.Translations += d.Translations
	c.Different += d.Different
	c.Undecided += d.Undecided
	c.Errors += d.Errors
	c.Asked += d.Asked
	c.Cached += d.Cached
}

// Decide asks about all that was collected. A server that cannot be reached, or
// refuses the key, ends it with that error; a question that fails otherwise
// counts in Errors, and why the first did is returned beside the counts.
func (j *Judge) Decide(ctx context.Context) (counts Counts, why error, err error) {
	hashes := make([]Hash, 0, len(j.pending))
	for h := range j.pending {
		hashes = append(hashes, h)
	}
	slices.SortFunc(hashes, func(a, b Hash) int { return bytes.Compare(a[:], b[:]) })
	results := make([]verdicts, len(hashes))
	err = parallel.Each(ctx, j.o.Workers, len(hashes), func(ctx context.Context, i int) error {
		var err error
		results[i], err = j.record(ctx, j.pending[hashes[i]])
		return err
	})
	if err != nil {
		return counts, nil, err
	}
	counts.Records = len(hashes)
	for i, r := range results {
		counts.add(r.counts)
		why = cmp.Or(why, r.why)
		if len(r.found) > 0 {
			j.decided[hashes[i]] = r.found
		}
	}
	clear(j.pending)
	return counts, why, nil
}

// Findings returns what was decided about a record, without its place.
func (j *Judge) Findings(h Hash) []contam.Finding { return slices.Clone(j.decided[h]) }

// verdicts is what became of one record.
type verdicts struct {
	counts Counts
	found  []contam.Finding
	why    error
}

// record asks about one record and its candidates.
func (j *Judge) record(ctx context.Context, p *pending) (v verdicts, err error) {
	if p.empty {
		v.counts.Apart = 1
		return v, nil
	}
	v.counts.Compared = 1
	answers := make([]outcome, len(p.near))
	for i, n := range p.near {
		v.counts.Pairs++
		if answers[i], err = j.pair(ctx, &v, p.text, j.items[n.item]); err != nil {
			return v, err
		}
	}
	believed, err := j.believed(ctx, &v, p, answers)
	if err != nil {
		return v, err
	}
	for i, o := range answers {
		if !believed && (o == isParaphrase || o == isTranslation || o == isDifferent) {
			o = isUndecided
		}
		switch o {
		case isParaphrase:
			v.counts.Paraphrases++
			v.found = append(v.found, j.finding(contam.Paraphrase, p.near[i]))
		case isTranslation:
			v.counts.Translations++
			v.found = append(v.found, j.finding(contam.Translation, p.near[i]))
		case isDifferent:
			v.counts.Different++
		case isUndecided:
			v.counts.Undecided++
		case isError:
			v.counts.Errors++
		}
	}
	return v, nil
}

// believed puts the control question. A judge that was moved to say “same” says
// it of an item that has nothing to do with the record; one that was moved to say
// “different” says it of the record and itself.
func (j *Judge) believed(ctx context.Context, v *verdicts, p *pending, answers []outcome) (bool, error) {
	positive := slices.Contains(answers, isParaphrase) || slices.Contains(answers, isTranslation)
	if positive && !slices.ContainsFunc(p.near, func(n near) bool { return n.item == p.far }) {
		got, err := j.ask(ctx, v, j.items[p.far], p.text)
		if err != nil || got == same || got == translated {
			return false, err
		}
	}
	if slices.Contains(answers, isDifferent) && !positive {
		got, err := j.ask(ctx, v, p.text, p.text)
		if err != nil || got == different {
			return false, err
		}
	}
	return true, nil
}

// An outcome is what both orders of a pair come to.
type outcome int

const (
	isUndecided outcome = iota
	isDifferent
	isParaphrase
	isTranslation
	isError
)

// pair asks about two texts in both orders.
func (j *Judge) pair(ctx context.Context, v *verdicts, record, item string) (outcome, error) {
	first, err := j.ask(ctx, v, record, item)
	if err != nil {
		return isError, err
	}
	second, err := j.ask(ctx, v, item, record)
	if err != nil {
		return isError, err
	}
	yes := func(a answer) bool { return a == same || a == translated }
	switch {
	case first == failed || second == failed:
		return isError, nil
	case first == different && second == different:
		return isDifferent, nil
	case first == same && second == same:
		return isParaphrase, nil
	case yes(first) && yes(second): // they agree that it is the same
		return isTranslation, nil
	}
	return isUndecided, nil
}

// failed is the answer of a server that gave none.
const failed answer = '!'

// ask puts one question, unless it was answered before. An error that would meet
// every question is returned; any other is noted.
func (j *Judge) ask(ctx context.Context, v *verdicts, a, b string) (answer, error) {
	r := request(j.o.Model, a, b)
	body, err := r.Body()
	if err != nil {
		return failed, err
	}
	k := key("answer", string(body))
	if kept, ok := j.o.Cache.get(k); ok {
		v.counts.Cached++
		return read(string(kept)), nil
	}
	v.counts.Asked++
	reply, err := j.o.Server.Chat(ctx, r)
	var known *fail.Error
	switch {
	case ctx.Err() != nil:
		return failed, context.Cause(ctx)
	case errors.As(err, &known):
		return failed, err
	case err != nil:
		v.why = cmp.Or(v.why, err)
		return failed, nil
	case reply.Content == nil || reply.Finish != nil && *reply.Finish == "length":
		return unreadable, nil // cut off: another run may get more
	}
	return read(*reply.Content), j.o.Cache.put(k, []byte(*reply.Content))
}

func (j *Judge) finding(v contam.Verdict, n near) contam.Finding {
	rule := "judge:" + j.o.Model
	return contam.Finding{
		Item: j.refs[n.item], Verdict: v, Fail: j.o.Fail, Score: n.score,
		Components: contam.Components{Stem: math.NaN(), Options: math.NaN(), Statements: math.NaN()},
		Rule:       rule, Config: "sha256:" + key(promptVersion, j.o.Model, j.o.EmbedModel),
	}
}
