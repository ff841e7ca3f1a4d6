package training

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/launch"
	"github.com/drydock-ml/drydock/launch/feed"
	"github.com/drydock-ml/drydock/launch/parity"
)

// A Feed says how the training rows are fed, under the settings of the
// plan and the contract of the rows.
type Feed struct {
	Contract string `json:"contract"`
	Rows     int    `json:"rows"`
	Matching int    `json:"matching"` // fed as the endpoint will be asked
	Tokens   int64  `json:"tokens"`
	Longest  int    `json:"longest"`
	TooLong  int    `json:"too_long"` // for the trainer's limit
	// TooLongRows are the ids of the first thousand of them; line numbers where a
	// row has none.
	TooLongRows []string `json:"too_long_rows,omitempty"`
	Errors      []string `json:"errors"` // ids of what template check calls errors
}

// tooLong is the finding that has a gate of its own: the trainer cuts or drops
// such rows, and that is the user's to weigh.
const (
	tooLong    = "too_long"
	maxTooLong = 1000
)

// feedOf reads the training rows as the trainer will feed them; nil for a
// trainer whose feed is not known.
func (c *Config) feedOf(ctx context.Context, plan *launch.Plan) (*Feed, error) {
	if !slices.Contains(feed.Trainers(), c.Name) || launch.RowsOf(c.Trainer) != launch.RowsChat {
		return nil, nil
	}
	data, contract := c.data()
	s, err := feed.For(c.Name, contract)
	if err != nil {
		return nil, err
	}
	in, err := os.Open(c.Path(data))
	if err != nil {
		return nil, err
	}
	defer in.Close()
	r, err := parity.Check(ctx, data, in, parity.Options{
		Settings: s, Contract: contract, NoThinking: contract == emit.EmptyThinkMasked, MaxLength: plan.Limit, Places: maxTooLong,
	})
	if err != nil {
		return nil, err
	}
	f := &Feed{Contract: string(contract), Rows: r.Rows, Matching: r.Matching, Tokens: r.Tokens.Total, Longest: r.Tokens.Longest, Errors: []string{}}
	for _, x := range r.Findings {
		switch {
		case x.ID == tooLong:
			f.TooLong = x.Rows
			for _, p := range x.Places {
				f.TooLongRows = append(f.TooLongRows, cmp.Or(p.Row, fmt.Sprintf("line %d", p.Line)))
			}
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
func (c *Config) fedAsAsked(ctx context.Context, t *Result) (proof string, err error) {
	if t.Feed, err = c.feedOf(ctx, t.Plan); err != nil {
		return "", err
	}
	f := t.Feed
	switch {
	case f == nil:
		return "", errNotKnown
	case len(f.Errors) == 0:
		return fmt.Sprintf("%d/%d", f.Matching, f.Rows), nil
	}
	data, _ := c.data()
	return "", fail.New(fail.Refused, msg.Text{
		"%s: %d of %d {row|rows} would be trained as they will be asked (%s)", "%s：%d / %d 行的训练内容与提问一致（%s）",
	}, data, f.Matching, f.Rows, msg.List(f.Errors)).
		Hint(msg.Text{"drydock template check %s --contract %s shows which", "drydock template check %s --contract %s 会列出"}, filepath.ToSlash(data), f.Contract)
}

// uncutData refuses rows that the trainer would cut or drop for their length.
func (c *Config) uncutData(t *Result) (proof string, err error) {
	switch f := t.Feed; {
	case f == nil || t.Plan.Limit == 0:
		return "", errNotKnown
	case f.TooLong > 0:
		return "", fail.New(fail.Refused, msg.Text{
			"%d {row is|rows are} longer than the trainer's limit of %d tokens (the longest has %d) and would be cut or dropped: %s",
			"%d 行超过训练器 %d token 的上限（最长 %d），将被截断或丢弃：%s",
		}, f.TooLong, t.Plan.Limit, f.Longest, msg.Few(f.TooLongRows, 5)).At(c.at("max_tokens")).
			Hint(msg.Text{"raise max_tokens of the trainer, or make the rows shorter", "请调大训练器的 max_tokens，或缩短这些行"})
	default:
		return fmt.Sprintf("%d/%d", f.Longest, t.Plan.Limit), nil
	}
}
