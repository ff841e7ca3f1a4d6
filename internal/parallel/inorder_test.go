package parallel_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/drydock-ml/drydock/internal/parallel"
)

func TestInOrder(t *testing.T) {
	t.Parallel()
	for _, workers := range []int{1, 2, 7} {
		for _, n := range []int{0, 1, 3, 100} {
			results := make([]int, n)
			var got []int
			var ahead, taken atomic.Int64
			err := parallel.InOrder(t.Context(), workers, n, func(_ context.Context, i int) error {
				if int64(i) >= taken.Load()+int64(2*workers) {
					ahead.Add(1)
				}
				results[i] = i + 1
				return nil
			}, func(i int) error {
				got = append(got, results[i])
				taken.Store(int64(i + 1))
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range got {
				if v != i+1 {
					t.Fatalf("%d workers: result %d is %d", workers, i, v)
				}
			}
			if len(got) != n || ahead.Load() > 0 {
				t.Errorf("%d workers: %d of %d results, %d begun too early", workers, len(got), n, ahead.Load())
			}
		}
	}
}

// What was done before an error is done; nothing behind it is.
func TestInOrderErrors(t *testing.T) {
	t.Parallel()
	bad := errors.New("bad")
	for _, workers := range []int{1, 3} {
		last := -1
		err := parallel.InOrder(t.Context(), workers, 50, func(_ context.Context, i int) error {
			if i == 20 {
				return bad
			}
			return nil
		}, func(i int) error { last = i; return nil })
		if !errors.Is(err, bad) || last >= 20 {
			t.Errorf("work: %v after %d", err, last)
		}
		last = -1
		err = parallel.InOrder(t.Context(), workers, 50, func(context.Context, int) error { return nil }, func(i int) error {
			if i == 10 {
				return bad
			}
			last = i
			return nil
		})
		if !errors.Is(err, bad) || last != 9 {
			t.Errorf("done: %v after %d", err, last)
		}
		err = parallel.InOrder(t.Context(), workers, 50, func(_ context.Context, i int) error {
			if i == 5 {
				panic("out of bounds")
			}
			return nil
		}, func(int) error { return nil })
		if err == nil {
			t.Error("a panic is no error")
		}
	}
}

func TestInOrderCancel(t *testing.T) {
	t.Parallel()
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	err := parallel.InOrder(ctx, 3, 1000, func(ctx context.Context, i int) error {
		if i == 8 {
			cancel(stop)
		}
		return context.Cause(ctx)
	}, func(int) error { return nil })
	if !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}
