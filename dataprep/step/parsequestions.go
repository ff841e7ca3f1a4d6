package step

import (
	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/question"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/spec"
)

type parseQuestionsOptions struct {
	NoOptions     string  `yaml:"no_options" help:"What becomes of a question that is answered by a letter but has no options: drop, or short (a short-answer question)." zh:"以字母作答但没有选项的题目如何处理：drop（丢弃）或 short（作为简答题）。"`
	MinConfidence float64 `yaml:"min_confidence" help:"Least confidence, 0 to 1; a question below it is dropped as low_confidence. 0 keeps all." zh:"最低可信度（0 到 1）；低于此值的题目以 low_confidence 丢弃。0 表示全部保留。"`
}

var parseQuestions = spec.Of("parse_questions",
	msg.Text{"Read exam items: stem, options, answer and explanation, from text, tables and rows.", "解析试题：题干、选项、答案和解析，来源可为文本、表格或数据行。"},
	parseQuestionsOptions{NoOptions: "drop", MinConfidence: question.DefaultBar},
	func(o parseQuestionsOptions) (drydock.Parser, error) {
		switch {
		case o.MinConfidence < 0 || o.MinConfidence > 1:
			return nil, fail.New(fail.Usage, msg.Text{"min_confidence %g: want a number from 0 to 1", "min_confidence %g：应为 0 到 1 之间的数"}, o.MinConfidence)
		case o.NoOptions != "drop" && o.NoOptions != "short":
			return nil, fail.New(fail.Usage, msg.Text{"no_options %q: want drop or short", "no_options %q：应为 drop 或 short"}, o.NoOptions)
		}
		if o.MinConfidence == 0 {
			o.MinConfidence = -1 // none is dropped
		}
		return question.New(question.Options{MinConfidence: o.MinConfidence, KeepLetters: o.NoOptions == "short"}), nil
	})
