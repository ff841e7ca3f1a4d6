package eval

import (
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/stats"
)

// A result is one item with its answer, or why there is none.
type result struct {
	index    int // position: EvalScope's index
	item     benchmark.Item
	input    string // as a review shows it
	reply    benchmark.Reply
	served   string
	id       string
	usage    *benchmark.Usage
	attempts int
	err      string
	grade    benchmark.Grade
}

// summarize grades the results and fills the summary's counts.
func summarize(b benchmark.Benchmark, results []result, s *Summary) {
	s.Type, s.Schema = "summary", SummarySchema
	s.Benchmark = b.Ref().String()
	info := b.Info()
	s.Rule, s.OtherRule = info.Rule, info.OtherRule
	s.N, s.Rows = len(results), len(results)
	s.Letters = map[string]int{}
	s.NoExtractionIndexes, s.OtherDiffersIndexes, s.OutsideIndexes = []int{}, []int{}, []int{}
	s.Failures, s.Flaws, s.Notes = []Failure{}, []ItemFlaw{}, []Note{}
	if s.Problems == nil {
		s.Problems = []FileProblem{}
	}
	replaced := 0
	for i := range results {
		r := &results[i]
		r.grade = b.Grade(r.item, r.reply)
		count(s, r)
		for _, c := range r.reply.Text {
			if c == '\ufffd' {
				replaced++
				break
			}
		}
	}
	s.OtherDiffers, s.OutsideOptions, s.NoExtraction = len(s.OtherDiffersIndexes), len(s.OutsideIndexes), len(s.NoExtractionIndexes)
	if s.N > 0 {
		s.Accuracy = float64(s.Correct) / float64(s.N)
	}
	s.Wilson95[0], s.Wilson95[1] = stats.Wilson(s.Correct, s.N)
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

func count(s *Summary, r *result) {
	g := r.grade
	s.Letters[g.Extracted]++
	if g.Verdict == benchmark.Correct {
		s.Correct++
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
	if r.err != "" {
		s.Failures = append(s.Failures, Failure{Index: r.index, Cause: r.err, Attempts: r.attempts})
	}
	if f := r.item.Flaw(); f != benchmark.FlawNone {
		s.Flaws = append(s.Flaws, ItemFlaw{r.index, f})
	}
	if r.reply.Finish == "max_tokens" {
		s.Truncated++
	}
}
