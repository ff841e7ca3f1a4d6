package step

import (
	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/shuffle"
	"github.com/drydock-ml/drydock/internal/spec"
)

type shuffleOptionsOptions struct {
	Seed uint64 `yaml:"seed" help:"Another seed gives another order." zh:"不同的种子得到不同的顺序。"`
}

var shuffleOptions = spec.Of("shuffle_options",
	msg.Text{"Shuffle the options of choice questions; answer and explanation follow.", "打乱选择题的选项；答案与解析随之调整。"},
	shuffleOptionsOptions{}, newShuffleOptions)

// newShuffleOptions makes the step. It drops nothing: a question whose options
// must not move (see package shuffle) stays as it is.
func newShuffleOptions(o shuffleOptionsOptions) (drydock.Step, error) {
	return perRecord(func(r *drydock.Record) (reason, detail string) {
		if q := r.Question; q != nil {
			if p := shuffle.For(q, r.ID, "shuffle_options", o.Seed, true); p.Order != nil {
				r.Question = p.Apply(q)
			}
		}
		return "", ""
	}), nil
}
