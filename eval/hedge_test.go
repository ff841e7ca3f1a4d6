package eval_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/drydock-ml/drydock/eval"
)

// An answer that is late is asked for once more, and counts once; the run ends
// long before the straggler would have.
func TestHedge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		items := ownItems(t, 200)
		var mu sync.Mutex
		asked := map[int]int{}
		j := job(t, items, t.TempDir(), func(ctx context.Context, i int) (eval.Answer, error) {
			mu.Lock()
			asked[i]++
			n := asked[i]
			mu.Unlock()
			wait := 100 * time.Millisecond
			if i%50 == 49 && n == 1 {
				wait = time.Hour
			}
			select {
			case <-ctx.Done():
				return eval.Answer{}, ctx.Err()
			case <-time.After(wait):
			}
			return says(gold(i)), nil
		})
		j.Hedge, j.Clock, j.Concurrency = true, time.Now, 8
		start := time.Now()
		s, err := eval.Run(t.Context(), j)
		if err != nil || s.Correct != 200 || s.Traffic.Hedged != 4 || s.Traffic.HedgeWins != 4 || s.Traffic.Requests != 204 {
			t.Errorf("correct %d, traffic %+v, %v", s.Correct, s.Traffic, err)
		}
		if d := time.Since(start); d > 10*time.Second {
			t.Errorf("it took %v", d)
		}
		if n := strings.Count(read(t, s.Files.Predictions), "\n"); n != 200 {
			t.Errorf("%d rows", n)
		}
		if n := strings.Count(read(t, logPath(j.WorkDir)), "\n"); n != 200 {
			t.Errorf("%d rows in the log", n)
		}
	})
}
