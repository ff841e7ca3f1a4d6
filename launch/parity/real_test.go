package parity_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/golden"
	"github.com/drydock-ml/drydock/launch/feed"
	"github.com/drydock-ml/drydock/launch/parity"
	"github.com/drydock-ml/drydock/qwen3"
)

// vector is one row as a real trainer fed it, and what a script that knows
// transformers only said about it.
type vector struct {
	Case     string
	Messages json.RawMessage
	Settings map[string]any
	InputIDs []int32 `json:"input_ids"`
	Mask     []int
	Verdict  string
}

// findings checks one conversation that is fed as the vector says.
func (v *vector) findings(t *testing.T, c emit.Contract, noThinking bool) *parity.Report {
	t.Helper()
	s := feed.Sample{IDs: v.InputIDs}
	for _, m := range v.Mask {
		s.Loss = append(s.Loss, m == 1)
	}
	r, err := parity.Check(context.Background(), v.Case, strings.NewReader(fmt.Sprintf(`{"messages":%s}`, v.Messages)), parity.Options{
		Settings:   feed.Settings{Feed: func(*qwen3.Conversation) (feed.Sample, error) { return s, nil }},
		Contract:   c,
		NoThinking: noThinking, Workers: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func has(r *parity.Report, ids ...string) *parity.Finding {
	for i, f := range r.Findings {
		for _, id := range ids {
			if f.ID == id {
				return &r.Findings[i]
			}
		}
	}
	return nil
}

// What Check says of the real trainers' rows is what the script that recorded
// them said, by other means: where the ids leave the prompt, and where the loss
// begins.
func TestVerdictsOfRealTrainers(t *testing.T) {
	t.Parallel()
	compared := 0
	for _, trainer := range []string{"llamafactory", "ms-swift", "trl", "axolotl"} {
		file := golden.RealData(t, "trainers-real", "template_vectors_"+trainer+".jsonl")
		for line := range bytes.Lines(golden.ReadFile(t, file)) {
			var v vector
			if err := json.Unmarshal(line, &v); err != nil {
				t.Fatal(err)
			}
			if v.InputIDs == nil {
				continue
			}
			open := v.findings(t, "", false)
			if open.Rows != 1 || has(open, "no_answer", "tools") != nil {
				continue
			}
			compared++
			differ, loss := has(open, "tokens_differ", "think_block_in_history"), has(open, "loss_span")
			bad := func(why string) {
				t.Errorf("%s %s %v: %s: %s: %+v", trainer, v.Case, v.Settings, v.Verdict, why, open.Findings)
			}
			switch text, rest, _ := strings.Cut(v.Verdict, " "); {
			case strings.HasPrefix(rest, "PROMPT-DIFF@"):
				k, _, _ := strings.Cut(strings.TrimPrefix(rest, "PROMPT-DIFF@"), "/")
				if at, _ := strconv.Atoi(k); differ == nil || differ.Places[0].Diff.At != at {
					bad("another first difference")
				}
			case text != "text=hf":
				if strings.Contains(rest, "masked") && differ == nil && loss == nil {
					bad("nothing is found")
				}
			case strings.HasPrefix(rest, "loss-on-PROMPT"):
				if loss == nil && differ == nil {
					bad("the question is trained")
				}
			case differ != nil:
				bad("the text is the template's")
			case strings.HasPrefix(rest, "loss@E1"):
				if loss != nil {
					bad("the loss begins with the answer")
				}
			case strings.HasPrefix(rest, "loss@E2"):
				if closed := v.findings(t, "", true); loss == nil || has(closed, "loss_span", "tokens_differ") != nil {
					bad("the loss begins behind the closed block")
				}
			case loss == nil:
				bad("the loss is not the answer's")
			}
		}
	}
	if compared < 650 {
		t.Errorf("%d rows compared", compared)
	}
}
