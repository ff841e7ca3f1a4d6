package step

import (
	"fmt"
	"unicode"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/spec"
)

type dropShortOptions struct {
	MinRunes int `yaml:"min_runes" help:"Shortest text kept, in characters; a question's options count, white space does not." zh:"保留的最短文本（字符数）；试题计入选项，空白不计。"`
}

var dropShort = spec.Of("drop_short", msg.Text{"Drop records too short to teach anything.", "丢弃过短的记录。"},
	dropShortOptions{MinRunes: 20}, newDropShort)

func newDropShort(o dropShortOptions) (drydock.Step, error) {
	if o.MinRunes < 1 {
		return nil, spec.Bad("min_runes", msg.Text{"must be at least 1", "至少为 1"})
	}
	return perRecord(func(r *drydock.Record) (reason, detail string) {
		if n := textRunes(r, o.MinRunes); n < o.MinRunes {
			return "too_short", fmt.Sprintf("%d characters, %d wanted", n, o.MinRunes)
		}
		return "", ""
	}), nil
}

// textRunes counts the characters of a record's text that are no white space,
// and stops at enough.
func textRunes(r *drydock.Record, enough int) int {
	n := 0
	count := func(s string) {
		for _, c := range s {
			if n >= enough {
				return
			}
			if !unicode.IsSpace(c) {
				n++
			}
		}
	}
	switch {
	case r.Question != nil:
		count(r.Question.Stem)
		for _, o := range r.Question.Options {
			count(o.Text)
		}
	case r.Passage != nil:
		count(r.Passage.Text)
	case r.Chat != nil:
		for _, m := range r.Chat.Messages {
			count(m.Content)
		}
	}
	return n
}
