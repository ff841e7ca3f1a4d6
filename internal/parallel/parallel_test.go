package parallel

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/drydock-ml/drydock/internal/fail"
)

func TestEachDoesEveryIndexOnce(t *testing.T) {
	t.Parallel()
	for _, workers := range []int{0, 1, 3, 100} {
		seen := make([]atomic.Int32, 57)
		if err := Each(context.Background(), workers, len(seen), func(_ context.Context, i int) error {
			seen[i].Add(1)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for i := range seen {
			if n := seen[i].Load(); n != 1 {
				t.Errorf("workers %d: index %d done %d times", workers, i, n)
			}
		}
	}
}

func TestEachStopsAtTheFirstError(t *testing.T) {
	t.Parallel()
	var started atomic.Int32
	err := Each(context.Background(), 2, 1000, func(_ context.Context, i int) error {
		started.Add(1)
		if i >= 3 {
			return fmt.Errorf("at %d", i)
		}
		return nil
	})
	if err == nil || started.Load() > 10 {
		t.Fatalf("err %v after %d starts", err, started.Load())
	}
}

func TestEachReportsTheReasonNotTheEcho(t *testing.T) {
	t.Parallel()
	reason := errors.New("disk full")
	ready := make(chan struct{})
	err := Each(context.Background(), 2, 2, func(ctx context.Context, i int) error {
		if i == 0 { // ends only because the other failed
			close(ready)
			<-ctx.Done()
			return ctx.Err()
		}
		<-ready
		return reason
	})
	if !errors.Is(err, reason) {
		t.Fatalf("got %v", err)
	}
}

func TestPanicsBecomeBugs(t *testing.T) {
	t.Parallel()
	err := Each(context.Background(), 2, 4, func(_ context.Context, i int) error {
		if i == 2 {
			panic("boom")
		}
		return nil
	})
	if fail.Code(err) != 70 {
		t.Fatalf("got %v", err)
	}
	if err := Go(func() error { panic("boom") }).Wait(); fail.Code(err) != 70 {
		t.Fatalf("Go: got %v", err)
	}
}

func TestEachHonoursTheContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, workers := range []int{2, 8} {
		if err := Each(ctx, workers, 5, func(context.Context, int) error { return nil }); !errors.Is(err, context.Canceled) {
			t.Fatalf("%d workers: got %v", workers, err)
		}
	}
	task := Go(func() error { return nil })
	select {
	case <-task.Done():
	case <-time.After(5 * time.Second):
		t.Fatal("a task that ends is never done")
	}
}
