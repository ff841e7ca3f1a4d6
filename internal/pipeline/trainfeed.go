package pipeline

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/launch"
	"github.com/drydock-ml/drydock/launch/feed"
	"github.com/drydock-ml/drydock/launch/parity"
)

// A FeedResult says how the training rows are fed, under the settings of the
// plan and the contract of the rows.
type FeedResult struct {
	Contract string   `json:"contract"`
	Rows     int      `json:"rows"`
	Matching int      `json:"matching"` // fed as the endpoint will be asked
	Tokens   int64    `json:"tokens"`
	Longest  int      `json:"longest"`
	TooLong  int      `json:"too_long"` // for the trainer's limit
	Errors   []string `json:"errors"`   // ids of what template check calls errors
	Lifted   bool     `json:"lifted"`   // started all the same
}

// tooLong is the finding that warns only: the trainer cuts such rows, and that
// is the user's to weigh.
const tooLong = "too_long"

// feedOf reads the training rows as the trainer will feed them; nil for a
// trainer whose feed is not known.
func (c *Config) feedOf(ctx context.Context, plan *launch.Plan) (*FeedResult, error) {
	if !slices.Contains(feed.Trainers(), c.Train.name) {
		return nil, nil
	}
	data, contract := c.trainData()
	s, err := feed.For(c.Train.name, contract)
	if err != nil {
		return nil, err
	}
	in, err := os.Open(inside(c.Dir, data))
	if err != nil {
		return nil, err
	}
	defer in.Close()
	r, err := parity.Check(ctx, data, in, parity.Options{
		Settings: s, Contract: contract, NoThinking: contract == emit.EmptyThinkMasked, MaxLength: plan.Limit,
	})
	if err != nil {
		return nil, err
	}
	f := &FeedResult{Contract: string(contract), Rows: r.Rows, Matching: r.Matching, Tokens: r.Tokens.Total, Longest: r.Tokens.Longest, Errors: []string{}}
	for _, x := range r.Findings {
		switch {
		case x.ID == tooLong:
			f.TooLong = x.Rows
		case x.Severity == parity.Error:
			f.Errors = append(f.Errors, x.ID)
		}
	}
	if r.Unreadable > 0 {
		f.Errors = append(f.Errors, "unreadable")
	}
	return f, nil
}

// fedAsAsked refuses to start a training whose rows would be fed otherwise than
// the endpoint will be asked.
func (c *Config) fedAsAsked(ctx context.Context, t *TrainResult, allow bool) error {
	f, err := c.feedOf(ctx, t.Plan)
	if err != nil || f == nil {
		return err
	}
	t.Feed = f
	if len(f.Errors) == 0 {
		return nil
	}
	if allow {
		f.Lifted = true
		return nil
	}
	data, _ := c.trainData()
	return fail.New(fail.Refused, msg.Text{
		"%s: %d of %d {row|rows} would be trained as they will be asked (%s)", "%s：%d / %d 行的训练内容与提问一致（%s）",
	}, data, f.Matching, f.Rows, strings.Join(f.Errors, ", ")).
		Hint(msg.Text{"drydock template check %s --contract %s shows which", "drydock template check %s --contract %s 会列出"}, filepath.ToSlash(data), f.Contract).
		Hint(msg.Text{"mend them, or lift this gate with --allow-template-mismatch", "请修正，或用 --allow-template-mismatch 放行"})
}

// cutWarning says that the trainer cuts rows; nil when it cuts none.
func (f *FeedResult) cutWarning() msg.Localizer {
	if f == nil || f.TooLong == 0 {
		return nil
	}
	return msg.Phrase{Text: msg.Text{
		"%d {row is|rows are} longer than the trainer's limit; such rows are cut or dropped", "%d 行超过训练器的长度上限，将被截断或丢弃",
	}, Args: []any{f.TooLong}}
}
