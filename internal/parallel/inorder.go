package parallel

import (
	"context"
	"sync"
)

// InOrder calls work for 0 … n-1 on up to workers goroutines and done for each
// in order, on the caller's goroutine. No work begins that is more than two
// indexes a worker ahead of what is done, so that few results wait; but within
// that no worker waits for another. The first error of either ends it.
func InOrder(ctx context.Context, workers, n int, work func(ctx context.Context, i int) error, done func(i int) error) error {
	workers = min(Workers(workers), n)
	if workers < 1 {
		return context.Cause(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	q := orderly{ready: make([]bool, 2*workers)}
	q.cond.L = &q.mu
	task := Go(func() error {
		defer q.end()
		return Each(ctx, workers, n, func(ctx context.Context, i int) error {
			if !q.await(i) {
				return nil // another index failed; Each knows of it, or will
			}
			err := ctx.Err()
			if err != nil {
				err = context.Cause(ctx)
			} else {
				err = Call(func() error { return work(ctx, i) })
			}
			if err != nil {
				q.end()
				return err
			}
			q.finish(i)
			return nil
		})
	})
	for i := range n {
		if !q.next(i) {
			break // an index before it failed, or the context ended
		}
		if err := Call(func() error { return done(i) }); err != nil {
			cancel(err)
			q.end()
			_ = task.Wait() // an echo of err
			return err
		}
		q.advance(i)
	}
	return task.Wait()
}

// orderly is what the goroutines of InOrder share.
type orderly struct {
	mu    sync.Mutex
	cond  sync.Cond
	ready []bool // by index modulo its length: worked on, not yet done
	taken int    // indexes that are done
	ended bool
}

// await blocks until index i may begin; false when none may any more.
func (q *orderly) await(i int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i >= q.taken+len(q.ready) && !q.ended {
		q.cond.Wait()
	}
	return !q.ended
}

func (q *orderly) finish(i int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ready[i%len(q.ready)] = true
	q.cond.Broadcast()
}

// next blocks until index i is worked on; false when it never will be.
func (q *orderly) next(i int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.ready[i%len(q.ready)] && !q.ended {
		q.cond.Wait()
	}
	return q.ready[i%len(q.ready)]
}

func (q *orderly) advance(i int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ready[i%len(q.ready)] = false
	q.taken = i + 1
	q.cond.Broadcast()
}

func (q *orderly) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	q.cond.Broadcast()
}
