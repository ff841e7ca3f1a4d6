package eval

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/internal/bm25"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/stats"
	"github.com/drydock-ml/drydock/internal/textnorm"
)

// The baselines' names, as --model takes them.
const (
	MajorityModel = "builtin:majority"
	LookupModel   = "builtin:lookup"
)

// IsBuiltin reports whether a model's name is a baseline's.
func IsBuiltin(model string) bool { return strings.HasPrefix(model, "builtin:") }

// Builtin returns the baseline of that name.
func Builtin(model string, t *Training, u Unprompter) (Endpoint, error) {
	switch model {
	case MajorityModel:
		return NewMajority(t), nil
	case LookupModel:
		return NewLookup(t, u), nil
	}
	return nil, fail.New(fail.Usage, msg.Text{"no baseline %q", "没有基线 %q"}, model).
		Hint(msg.Text{"there are %s and %s", "可用：%s 和 %s"}, MajorityModel, LookupModel)
}

// baseline is an endpoint that has something to say about its own result.
type baseline interface {
	remark(results []result, s *Summary)
}

func letterAnswer(model, letter string) Answer {
	return Answer{Reply: benchmark.Reply{Text: "[" + letter + "]", Finish: "stop"}, Served: model, Attempts: 1}
}

// Majority always answers the commonest letter of the training rows.
type Majority struct {
	letter string
	train  *Training
}

// NewMajority counts the letters; of equals the earlier one is taken.
func NewMajority(t *Training) *Majority {
	count := map[string]int{}
	for _, ex := range t.Examples {
		if ex.Letter != "" {
			count[ex.Letter]++
		}
	}
	best := "A"
	for l := 'A'; l <= 'Z'; l++ {
		if count[string(l)] > count[best] {
			best = string(l)
		}
	}
	return &Majority{best, t}
}

// Letter returns the letter that is always answered.
func (m *Majority) Letter() string { return m.letter }

// Kind implements [Endpoint].
func (*Majority) Kind() string { return "builtin" }

// Conditions implements [Endpoint].
func (m *Majority) Conditions() []Condition {
	return []Condition{{"method", "majority/1"}, {"training", "sha256:" + m.train.SHA256}}
}

// Ask implements [Endpoint].
func (m *Majority) Ask(context.Context, []drydock.Message) (Answer, error) {
	return letterAnswer(MajorityModel, m.letter), nil
}

func (m *Majority) remark(_ []result, s *Summary) {
	s.note("baseline", msg.Text{"%s is no model: it always answers [%s], the commonest letter of the training file", "%s 不是模型：它总是回答 [%s]，即训练文件中最常见的字母"}, MajorityModel, m.letter)
	m.train.note(s)
}

func (t *Training) note(s *Summary) {
	if t.Skipped > 0 {
		s.note("training_rows_skipped", msg.Text{"%d training rows hold no answered question, the first in line %d", "%d 行训练数据不含带答案的题目，首个在第 %d 行"}, t.Skipped, t.FirstSkipped)
	}
}

// Lookup answers by lexical retrieval over the training rows: it finds the
// questions that read most alike and takes the option whose text is nearest to
// their answers' texts. It knows nothing, so where it does well the training
// rows hold the benchmark's questions.
type Lookup struct {
	train    *Training
	u        Unprompter
	majority *Majority
	index    *bm25.Index
	stems    [][]uint64 // sorted gram sets
	whole    [][]uint64 // of stem and options together
	answers  [][]uint64
	free     chan *bm25.Searcher
}

// How many questions are looked at again after retrieval, the length of the
// character grams that compare them, and from where two whole questions are
// called nearly identical.
const (
	lookupDepth    = 10
	lookupGram     = 2
	nearlyTheSame  = 0.8
	leakPValue     = 0.001
	searchersCache = 64
)

// NewLookup builds the index.
func NewLookup(t *Training, u Unprompter) *Lookup {
	l := &Lookup{train: t, u: u, majority: NewMajority(t), free: make(chan *bm25.Searcher, searchersCache)}
	docs := make([][]string, len(t.Examples))
	for i, ex := range t.Examples {
		docs[i] = textnorm.Terms(nil, ex.Stem)
		l.stems = append(l.stems, gramSet(ex.Stem))
		l.whole = append(l.whole, gramSet(append([]string{ex.Stem}, ex.Options...)...))
		l.answers = append(l.answers, gramSet(ex.Answer))
	}
	l.index = bm25.New(docs)
	return l
}

// Kind implements [Endpoint].
func (*Lookup) Kind() string { return "builtin" }

// Conditions implements [Endpoint].
func (l *Lookup) Conditions() []Condition {
	return []Condition{{"method", "lookup/1"}, {"training", "sha256:" + l.train.SHA256}}
}

// Ask implements [Endpoint].
func (l *Lookup) Ask(_ context.Context, messages []drydock.Message) (Answer, error) {
	q, ok := l.question(messages)
	if !ok {
		return Answer{}, fail.New(fail.Failed, msg.Text{"%s cannot take this benchmark's prompt apart", "%s 无法解析此评测集的提示"}, LookupModel)
	}
	letter, _ := l.answer(&q)
	return letterAnswer(LookupModel, letter), nil
}

func (l *Lookup) question(messages []drydock.Message) (drydock.Question, bool) {
	if len(messages) == 0 {
		return drydock.Question{}, false
	}
	return l.u.Unprompt(messages[len(messages)-1].Content)
}

// answer returns the letter and how alike the nearest whole question is, 0–1.
func (l *Lookup) answer(q *drydock.Question) (letter string, alike float64) {
	stem := gramSet(q.Stem)
	texts := []string{q.Stem}
	options := make([][]uint64, len(q.Options))
	for i, o := range q.Options {
		options[i] = gramSet(o.Text)
		texts = append(texts, o.Text)
	}
	whole := gramSet(texts...)
	best, at := 0.0, -1
	for _, hit := range l.search(q.Stem) {
		near := dice(stem, l.stems[hit.Doc])
		alike = max(alike, dice(whole, l.whole[hit.Doc]))
		for i := range options {
			// stems that hardly agree should not outvote one that does
			if score := near * near * dice(options[i], l.answers[hit.Doc]); score > best {
				best, at = score, i
			}
		}
	}
	if at >= 0 {
		return string(rune('A' + at)), alike
	}
	if int(l.majority.letter[0]-'A') < len(q.Options) {
		return l.majority.letter, alike
	}
	return "A", alike
}

func (l *Lookup) search(stem string) []bm25.Hit {
	var s *bm25.Searcher
	select {
	case s = <-l.free:
	default:
		s = l.index.Searcher()
	}
	hits := s.Search(textnorm.Terms(nil, stem), lookupDepth)
	select {
	case l.free <- s:
	default:
	}
	return hits
}

func (l *Lookup) remark(results []result, s *Summary) {
	s.note("baseline", msg.Text{"%s is no model: it answers from the training question that reads most alike", "%s 不是模型：它依据最相似的训练题作答"}, LookupModel)
	l.train.note(s)
	near, majority := 0, 0
	chance := 0.0
	for i := range results {
		q := results[i].item.Question
		if _, alike := l.answer(&q); alike >= nearlyTheSame {
			near++
		}
		if len(q.Options) > 0 {
			chance += 1 / float64(len(q.Options))
		}
		if g := results[i].item.Gold; len(g) == 1 && strings.EqualFold(strings.TrimSpace(g[0]), l.majority.letter) {
			majority++
		}
	}
	n := float64(len(results))
	sig := &LeakSignal{Against: "chance", Expected: chance / n, NearIdentical: near}
	if m := float64(majority) / n; m > sig.Expected {
		sig.Against, sig.Expected = MajorityModel, m
	}
	if near > 0 {
		s.note("near_identical", msg.Text{"%d {item has|items have} a training question nearly identical; drydock contam check says whether {it is|they are} the same", "%d 道题在训练数据中有几乎相同的题；可用 drydock contam check 判断是否为同一题"}, near)
	}
	repeats := max(s.Repeats, 1) // it answers the same each time: that is one trial
	sig.PValue = stats.BinomialTail(s.Correct/repeats, len(results)/repeats, sig.Expected)
	if sig.PValue >= leakPValue {
		return
	}
	sig.said.Text = msg.Text{
		"looking up training rows answers %d of %d (%.1f %%; %s: %.1f %%; %s), %d with a training question nearly identical: the training file may hold benchmark items; drydock contam check names them",
		"仅靠检索训练数据就答对 %d 题，共 %d 题（%.1f %%；%s：%.1f %%；%s），其中 %d 道题在训练数据中有几乎相同的题：训练文件可能含有评测题；可用 drydock contam check 找出",
	}
	sig.said.Args = []any{s.Correct, len(results), 100 * s.Accuracy, sig.Against, 100 * sig.Expected, pText(sig.PValue), near}
	sig.Text = sig.In(msg.En)
	s.LeakSignal = sig
}

// pText does not pretend to digits nobody can use.
func pText(p float64) string {
	if p < 1e-9 {
		return "p < 1e-9"
	}
	return "p = " + strconv.FormatFloat(p, 'g', 2, 64)
}

// gramSet returns the sorted set of the character grams of the texts, each by
// itself.
func gramSet(texts ...string) []uint64 {
	var g []uint64
	for _, t := range texts {
		g = textnorm.Grams(g, t, lookupGram)
	}
	slices.Sort(g)
	return slices.Compact(g)
}

// dice is twice the common part over the sum; 0 when either is empty.
func dice(a, b []uint64) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	common := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			common++
			i++
			j++
		case a[i] < b[j]:
			i++
		default:
			j++
		}
	}
	return 2 * float64(common) / float64(len(a)+len(b))
}
