package step

import (
	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/spec"
)

// Parsers returns the steps that turn documents into records, in the order a
// document is offered to them when drydock.yaml does not say.
func Parsers() []spec.Spec[drydock.Parser] {
	return []spec.Spec[drydock.Parser]{parseQuestions, splitSections}
}

// Steps returns the steps that work on records.
func Steps() []spec.Spec[drydock.Step] {
	return []spec.Spec[drydock.Step]{dropDuplicateOptions, dropShort, shuffleOptions, tidyText}
}
