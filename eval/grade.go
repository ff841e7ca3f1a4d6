package eval

import (
	"strings"
	"time"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/eval/evalscope"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/stats"
)

// A result is one item with its answer, or why there is none.
type result struct {
	index    int // position: EvalScope's index
	item     benchmark.Item
	input    string            // as a review shows it
	messages []drydock.Message // what was asked; nil: not known
	reply    benchmark.Reply
	served   string
	id       string
	usage    *benchmark.Usage
	latency  time.Duration // 0: not known
	attempts int
	err      string            // why there is no reply; "" when there is one
	failure  evalscope.Failure // how the server put that
	// surrogate: the reply held half of a surrogate pair; EvalScope counts such a
	// row and fails to write it.
	surrogate bool
	prefers   preference // by log probability, where it was asked for
	grade     benchmark.Grade
}

// OnError says what becomes of an item whose request failed.
type OnError string

// The values of [OnError].
const (
	// OnErrorWrong keeps it as a row with an empty reply, counted as wrong.
	OnErrorWrong OnError = "wrong"
	// OnErrorEvalScope does what EvalScope 1.4.2 does with --ignore-errors: no row,
	// no place in the count, and four kinds of error text graded as answers.
	OnErrorEvalScope OnError = "evalscope"
)

// OnErrors returns the values of [OnError].
func OnErrors() []OnError { return []OnError{OnErrorWrong, OnErrorEvalScope} }

// unanswered tells why a result is no answer of the model: "" when it is one. A
// reply without any text is an answer, a wrong one, but is told.
func (r *result) unanswered() FailureKind {
	switch {
	case r.err != "":
		return FailureRequest
	case r.reply.Refused:
		return FailureRefused
	case r.reply.Finish == "content_filter" && r.grade.Extracted == "":
		return FailureFiltered
	case strings.TrimSpace(r.reply.Text) == "" && r.reply.Choice == "":
		return FailureEmpty
	}
	return ""
}

// verdict is what the item counts as in our own figures.
func (r *result) verdict() benchmark.Verdict {
	if r.unanswered() != "" {
		return benchmark.Wrong
	}
	return r.grade.Verdict
}

// asEvalScope returns what EvalScope 1.4.2 with --ignore-errors would count of
// the results: those with a reply, and those whose error text it takes for one.
// All are graded.
func asEvalScope(b benchmark.Benchmark, results []result) []result {
	var kept []result
	for i := range results {
		r := results[i]
		if r.err != "" {
			reply, ok := r.failure.Reply()
			if !ok {
				continue
			}
			r.err, r.reply, r.usage = "", reply, nil
		}
		r.grade = b.Grade(r.item, r.reply)
		kept = append(kept, r)
	}
	return kept
}

// figuresOf counts graded results as EvalScope does.
func figuresOf(asked int, results []result) Figures {
	f := Figures{Asked: asked, N: len(results)}
	for i := range results {
		if !results[i].surrogate {
			f.Rows++
		}
		if results[i].grade.Verdict == benchmark.Correct {
			f.Correct++
		}
	}
	f.setAccuracy()
	return f
}

// ourFigures counts every graded result; one without an answer is wrong.
func ourFigures(results []result) Figures {
	f := Figures{Asked: len(results), Rows: len(results), N: len(results)}
	for i := range results {
		if results[i].verdict() == benchmark.Correct {
			f.Correct++
		}
	}
	f.setAccuracy()
	return f
}

// summarize grades the results and fills the summary's counts. It returns the
// results that are counted: all of them, or EvalScope's.
func summarize(b benchmark.Benchmark, results []result, onError OnError, s *Summary) []result {
	s.Type, s.Schema = "summary", SummarySchema
	s.Benchmark = b.Ref().String()
	info := b.Info()
	s.Rule, s.OtherRule = info.Rule, info.OtherRule
	s.Letters = map[string]int{}
	s.NoExtractionIndexes, s.OtherDiffersIndexes, s.OutsideIndexes = []int{}, []int{}, []int{}
	s.Failures, s.Flaws, s.Notes = []Failure{}, []ItemFlaw{}, []Note{}
	if s.Problems == nil {
		s.Problems = []FileProblem{}
	}
	for i := range results {
		r := &results[i]
		r.grade = b.Grade(r.item, r.reply)
		if kind := r.unanswered(); kind != "" {
			s.Failures = append(s.Failures, Failure{Index: r.index, Kind: kind, Cause: r.cause(kind), Attempts: r.attempts})
		}
		if f := r.item.Flaw(); f != benchmark.FlawNone {
			s.Flaws = append(s.Flaws, ItemFlaw{r.index, f})
		}
	}
	ours := ourFigures(results)
	s.outcomes = outcomes(results, max(s.Repeats, 1))
	kept := asEvalScope(b, results)
	theirs := figuresOf(len(results), kept)
	counted, head := results, ours
	if onError == OnErrorEvalScope {
		counted, head = kept, theirs
		s.AllCounted = &ours
		s.OnError = onError
	} else if theirs != ours {
		s.EvalScope = &theirs
	}
	s.Asked, s.Rows, s.N, s.Correct, s.Accuracy = head.Asked, head.Rows, head.N, head.Correct, head.Accuracy
	// answers to the same item are one trial
	repeats := float64(max(s.Repeats, 1))
	s.Wilson95[0], s.Wilson95[1] = stats.WilsonMean(float64(s.Correct)/repeats, float64(s.N)/repeats)
	for i := range counted {
		count(s, &counted[i], onError)
	}
	s.OtherDiffers, s.OutsideOptions, s.NoExtraction = len(s.OtherDiffersIndexes), len(s.OutsideIndexes), len(s.NoExtractionIndexes)
	s.remark(counted)
	return counted
}

// cause says why there is no answer.
func (r *result) cause(kind FailureKind) string {
	switch kind {
	case FailureRefused:
		return "refusal: " + r.reply.Text
	case FailureFiltered:
		return "finish_reason content_filter"
	case FailureEmpty:
		if r.reply.Finish == "" {
			return "no text"
		}
		return "no text (finish_reason " + r.reply.Finish + ")"
	}
	return r.err
}

// count adds one counted result to the lists of what was read.
func count(s *Summary, r *result, onError OnError) {
	g := r.grade
	if onError != OnErrorEvalScope && r.unanswered() != "" {
		// what a server says in a model's place names no option
		g.Extracted, g.Other, g.Outside, g.OtherVerdict = "", "", false, benchmark.Wrong
	}
	if r.item.Question.Kind != drydock.Short { // a free answer is no letter
		s.Letters[g.Extracted]++
	}
	if g.Extracted == "" {
		s.NoExtractionIndexes = append(s.NoExtractionIndexes, r.index)
	}
	if g.Outside {
		s.OutsideIndexes = append(s.OutsideIndexes, r.index)
	}
	if g.Other != g.Extracted {
		s.OtherDiffersIndexes = append(s.OtherDiffersIndexes, r.index)
	}
	if g.OtherVerdict == benchmark.Correct {
		s.OtherCorrect++
	}
	if r.reply.Finish == "max_tokens" {
		s.Truncated++
	}
}

// remark adds the notes that the counted results call for.
func (s *Summary) remark(counted []result) {
	replaced := 0
	for i := range counted {
		if strings.ContainsRune(counted[i].reply.Text, '\ufffd') {
			replaced++
		}
	}
	if o := s.AllCounted; o != nil {
		s.note("on_error_evalscope", msg.Text{
			"--on-error evalscope: %d asked, %d {row|rows} in the files, %d counted, as EvalScope 1.4.2 --ignore-errors does it; with every item counted: %d of %d, %.4f",
			"--on-error evalscope：提问 %d 题，文件 %d 行，计入 %d 题，与 EvalScope 1.4.2 --ignore-errors 一致；若全部计入：%d / %d，%.4f",
		}, s.Asked, s.Rows, s.N, o.Correct, o.N, o.Accuracy)
	}
	if o := s.EvalScope; o != nil {
		s.note("evalscope_differs", msg.Text{
			"EvalScope 1.4.2 --ignore-errors would count %d of %d, %.4f: it leaves out failed requests and grades refusals and error texts as answers",
			"EvalScope 1.4.2 --ignore-errors 会计为 %d / %d，%.4f：它略去失败的请求，并把拒答和错误文本当作回答评分",
		}, o.Correct, o.N, o.Accuracy)
	}
	if s.Rule == benchmark.RuleContains || s.Rule == benchmark.RuleEquals {
		s.note("no_rouge", benchmark.WhyNoROUGE())
	}
	if replaced > 0 {
		s.note("replaced_characters", msg.Text{"%d {reply holds|replies hold} U+FFFD where the server sent no character", "%d 条回复中含 U+FFFD，服务端未给出有效字符"}, replaced)
	}
	if s.Truncated > 0 {
		s.note("truncated", msg.Text{"%d {reply was|replies were} cut by the token limit; raise max_tokens of the server or the request", "%d 条回复因长度上限被截断；请调大服务端或请求的 max_tokens"}, s.Truncated)
	}
	if len(s.Flaws) > 0 {
		s.note("flawed_items", msg.Text{"the key of %d {item|items} cannot be reached by the letters shown; counted as asked", "%d 道题的标准答案无法由所示字母得到；仍按原样计入"}, len(s.Flaws))
	}
}
