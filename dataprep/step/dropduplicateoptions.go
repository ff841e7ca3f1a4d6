package step

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/spec"
	"github.com/drydock-ml/drydock/internal/textnorm"
)

type dropDuplicateOptionsOptions struct{}

var dropDuplicateOptions = spec.Of("drop_duplicate_options",
	msg.Text{"Drop questions that give two options the same text.", "丢弃有两个选项文本相同的试题。"},
	dropDuplicateOptionsOptions{},
	func(dropDuplicateOptionsOptions) (drydock.Step, error) { return perRecord(duplicateOptions), nil })

func duplicateOptions(r *drydock.Record) (reason, detail string) {
	if r.Question == nil {
		return "", ""
	}
	options := r.Question.Options
	var few [8]string
	keys := few[:0]
	for i, o := range options {
		k := optionKey(o.Text)
		if k == "" { // an option that is a figure
			keys = append(keys, k)
			continue
		}
		for j, before := range keys {
			if before == k {
				return "duplicate_options", fmt.Sprintf("options %s and %s say the same: %s", options[j].Label, options[i].Label, o.Text)
			}
		}
		keys = append(keys, k)
	}
	return "", ""
}

// optionKey is equal for options that say the same. Words are compared as
// textnorm folds them. Where digits or signs carry the meaning, case, signs and
// raised figures do, too (5 mW and 5 MW, 10² and 102): only width and white
// space are then taken off.
func optionKey(text string) string {
	if !strings.ContainsFunc(text, unicode.IsNumber) {
		if k := textnorm.Key(text); k != "" {
			return k
		}
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return textnorm.HalfWidth(r)
	}, text)
}
