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

// run lets 64 workers ask n times a second each; it returns the most that were in
// flight at once.
func flight(t *testing.T, l *limiter, n int, smooth func(i int) bool) int64 {
	t.Helper()
	var now, most atomic.Int64
	err := parallel.Each(t.Context(), 64, n, func(ctx context.Context, i int) error {
		if err := l.acquire(ctx); err != nil {
			return err
		}
		v := now.Add(1)
		for m := most.Load(); v > m && !most.CompareAndSwap(m, v); m = most.Load() {
		}
		time.Sleep(time.Second)
		now.Add(-1)
		l.release(smooth(i))
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return most.Load()
}

func TestLimiter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if got := flight(t, newLimiter(7), 70, func(int) bool { return true }); got != 7 {
			t.Errorf("fixed at 7: %d in flight", got)
		}
		if d := time.Since(start); d != 10*time.Second {
			t.Errorf("70 questions of a second, 7 at a time, took %v", d) // no place stands idle
		}
		if got := flight(t, newLimiter(0), 1000, func(int) bool { return true }); got != autoMost {
			t.Errorf("auto, smooth: %d in flight", got)
		}
		if got := flight(t, newLimiter(0), 50, func(int) bool { return false }); got > autoStart {
			t.Errorf("auto, pushed back: %d in flight", got)
		}
	})
}

func TestLimiterCancel(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	l := newLimiter(1)
	if err := l.acquire(ctx); err != nil {
		t.Fatal(err)
	}
	why := errors.New("enough")
	cancel(why)
	if err := l.acquire(ctx); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
}
