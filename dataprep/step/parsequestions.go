package step

import (
	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/question"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/spec"
)

type parseQuestionsOptions struct{}

var parseQuestions = spec.Of("parse_questions",
	msg.Text{"Read exam items: stem, options, answer and explanation, from text, tables and rows.", "解析试题：题干、选项、答案和解析，来源可为文本、表格或数据行。"},
	parseQuestionsOptions{},
	func(parseQuestionsOptions) (drydock.Parser, error) { return question.New(question.Options{}), nil })
