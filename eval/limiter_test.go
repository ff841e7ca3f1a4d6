package eval

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/drydock-ml/drydock/internal/parallel"
)

// flight has as many workers as the limiter could let in ask n times; serve says
// how long an answer takes with so many in flight, and whether it is refused
// first. It returns the most that were in flight at once.
func flight(t *testing.T, l *limiter, n int, serve func(inFlight int64) (time.Duration, bool)) int64 {
	t.Helper()
	var now, most atomic.Int64
	err := parallel.Each(t.Context(), l.most, n, func(ctx context.Context, _ int) error {
		if err := l.acquire(ctx); err != nil {
			return err
		}
		v := now.Add(1)
		for m := most.Load(); v > m && !most.CompareAndSwap(m, v); m = most.Load() {
		}
		took, refused := serve(v)
		time.Sleep(took)
		now.Add(-1)
		if refused {
			l.pushback()
			took = 0
		}
		l.release(took)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return most.Load()
}

func TestLimiter(t *testing.T) {
	t.Parallel()
	steady := func(int64) (time.Duration, bool) { return time.Second, false }
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if got := flight(t, newLimiter(7, time.Now), 70, steady); got != 7 {
			t.Errorf("fixed at 7: %d in flight", got)
		}
		if d := time.Since(start); d != 10*time.Second {
			t.Errorf("70 questions of a second, 7 at a time, took %v", d) // no place stands idle
		}
		// a server that takes whatever comes is given all there is, soon
		start = time.Now()
		if got := flight(t, newLimiter(0, time.Now), 5000, steady); got != autoMost {
			t.Errorf("auto, steady: %d in flight", got)
		}
		if ideal, d := 5000*time.Second/autoMost, time.Since(start); d > ideal*3/2+5*time.Second {
			t.Errorf("auto, steady: %v, the ideal is %v", d, ideal)
		}
		refuse := func(int64) (time.Duration, bool) { return time.Second, true }
		l := newLimiter(0, time.Now)
		if got := flight(t, l, 50, refuse); got > autoStart || l.limit != 1 {
			t.Errorf("auto, always refused: %d in flight, %d places at the end", got, l.limit)
		}
	})
}

// A server that does so many at a time and no more: past that, answers take
// longer and no more come in a second. Auto stays near.
func TestLimiterFindsTheKnee(t *testing.T) {
	t.Parallel()
	for _, knee := range []int64{6, 20, 50, 100} {
		synctest.Test(t, func(t *testing.T) {
			l := newLimiter(0, time.Now)
			start := time.Now()
			flight(t, l, 4000, func(n int64) (time.Duration, bool) {
				return time.Second * time.Duration(max(n, knee)) / time.Duration(knee), false
			})
			if got := int64(l.limit); got < knee/2 || got > 3*knee {
				t.Errorf("knee at %d: %d places", knee, got)
			}
			if ideal, d := 4000*time.Second/time.Duration(knee), time.Since(start); d > ideal*5/4 {
				t.Errorf("knee at %d: %v, the ideal is %v", knee, d, ideal)
			}
		})
	}
}

// A server that refuses what is more than its queue holds: auto stays below most
// of the time, and its refusals are few.
func TestLimiterRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var refused atomic.Int64
		l := newLimiter(0, time.Now)
		flight(t, l, 4000, func(n int64) (time.Duration, bool) {
			if n > 40 {
				refused.Add(1)
				return 10 * time.Millisecond, true
			}
			return time.Second, false
		})
		if got := l.limit; got < 15 || got > 45 {
			t.Errorf("a queue of 40: %d places", got)
		}
		if refused.Load() > 400 {
			t.Errorf("%d of 4000 refused", refused.Load())
		}
	})
}

func TestLimiterCancel(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	l := newLimiter(1, time.Now)
	if err := l.acquire(ctx); err != nil {
		t.Fatal(err)
	}
	why := errors.New("enough")
	cancel(why)
	if err := l.acquire(ctx); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
}
