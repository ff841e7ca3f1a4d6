package eval_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval"
	"github.com/drydock-ml/drydock/eval/benchmark"
)

// A model that knows the answers gives them wherever they stand; one that likes
// a letter is found out; options that speak of each other stay.
func TestPermutations(t *testing.T) {
	t.Parallel()
	items := ownItems(t, 120)
	fixed, err := benchmark.ReadItems("own.jsonl", []byte(`{"question":"自编题120：______。","answer":"D","A":"甲","B":"乙","C":"丙","D":"以上都对"}`))
	if err != nil {
		t.Fatal(err)
	}
	items = append(items, fixed...)
	items[120].Index = 120
	unprompt := choice(t)
	asked := func(m []drydock.Message) drydock.Question {
		q, ok := unprompt.Unprompt(m[0].Content)
		if !ok {
			t.Errorf("prompt %q", m[0].Content)
		}
		return q
	}
	for name, c := range map[string]struct {
		knows       bool
		consistent  int
		alwaysRight int
	}{"knows": {true, 120, 120}, "likes B": {false, 0, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			j := eval.Job{Benchmark: choice(t), Items: items, Model: "m/qwen3", WorkDir: dir, Concurrency: 4, Endpoint: asker{func(m []drydock.Message) string {
				if !c.knows {
					return "[B]"
				}
				q := asked(m)
				right := items[indexOf(m[0].Content)].Question
				for i, o := range right.Options {
					if right.Answer[0] == o.Label {
						for k, p := range q.Options {
							if p.Text == right.Options[i].Text {
								return "[" + string(rune('A'+k)) + "]"
							}
						}
					}
				}
				return ""
			}}}
			s, err := eval.RunPermuted(t.Context(), j, 3)
			if err != nil || s.Err() != nil {
				t.Fatal(err, s.Err())
			}
			p := s.Permutations
			if len(p.Orders) != 4 || p.Items != 120 || p.Fixed != 1 || p.AlwaysRight != c.alwaysRight || c.knows && p.Consistent != c.consistent || !c.knows && p.Consistent > 40 {
				t.Errorf("%+v", p)
			}
			if c.knows && (p.MeanAccuracy != 1 || s.Correct != 121) {
				t.Errorf("accuracy %v, %d", p.MeanAccuracy, s.Correct)
			}
			if _, err := os.Stat(filepath.Join(dir, "permutations", "3", "reviews", "qwen3")); err != nil {
				t.Error(err)
			}
			if n := strings.Count(read(t, s.Files.Reviews), "\n"); n != 121 {
				t.Errorf("%d rows in the benchmark's own order", n)
			}
		})
	}
}

// An asker answers by what it is asked.
type asker struct {
	reply func(m []drydock.Message) string
}

func (asker) Kind() string                 { return "http" }
func (asker) Conditions() []eval.Condition { return nil }
func (a asker) Ask(_ context.Context, m []drydock.Message) (eval.Answer, error) {
	return says(a.reply(m)), nil
}
