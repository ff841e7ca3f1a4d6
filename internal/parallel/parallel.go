// Package parallel is the only place goroutines start. Every one recovers its
// panic and turns it into a fail.Bug, since an unrecovered panic exits with 2,
// which means something else.
package parallel

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/drydock-ml/drydock/internal/fail"
)

// Workers returns n, or the number of usable CPUs when n is below 1.
func Workers(n int) int {
	if n < 1 {
		return runtime.GOMAXPROCS(0)
	}
	return n
}

// Each calls do for 0 … n-1 on up to workers goroutines, starting them in
// order. After the first error no further index is started, the context of those
// that run is cancelled, and that error is returned: the others may only be its
// echo. A cancelled context ends it with its cause.
func Each(ctx context.Context, workers, n int, do func(ctx context.Context, i int) error) error {
	workers = min(Workers(workers), n)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		next  atomic.Int64
		ended atomic.Int64 // indexes whose call returned without an error
		wg    sync.WaitGroup
		mu    sync.Mutex
		first error
	)
	for range workers {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n || ctx.Err() != nil {
					return
				}
				if err := Call(func() error { return do(ctx, i) }); err != nil {
					mu.Lock()
					if first == nil {
						first = err
					}
					mu.Unlock()
					cancel()
					return
				}
				ended.Add(1)
			}
		})
	}
	wg.Wait()
	if first != nil {
		return first
	}
	if int(ended.Load()) < n {
		return context.Cause(ctx)
	}
	return nil
}

// Call runs f and returns its panic as a fail.Bug.
func Call(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fail.Bug(v)
		}
	}()
	return f()
}

// A Task is one goroutine that can be waited for.
type Task struct {
	done chan struct{}
	err  error
}

// Go starts f.
func Go(f func() error) *Task {
	t := &Task{done: make(chan struct{})}
	go func() {
		defer close(t.done)
		t.err = Call(f)
	}()
	return t
}

// Wait returns f's error once it has ended.
func (t *Task) Wait() error {
	<-t.done
	return t.err
}

// Done is closed when f has ended.
func (t *Task) Done() <-chan struct{} { return t.done }
