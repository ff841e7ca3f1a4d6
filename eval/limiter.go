package eval

import (
	"context"
	"sync"
)

// How auto finds its concurrency: it begins low, adds one place for each answer
// that came at the first attempt, and takes half away when the server pushes
// back.
const (
	autoStart = 4
	autoMost  = 64
)

// A limiter bounds how many requests are in flight.
type limiter struct {
	most int

	mu     sync.Mutex
	limit  int
	flight int
	auto   bool
	free   chan struct{} // a token for each waiting worker that may look again
}

// newLimiter returns a limiter of n places; below 1 it finds the number itself.
func newLimiter(n int) *limiter {
	if n > 0 {
		return &limiter{most: n, limit: n, free: make(chan struct{}, n)}
	}
	return &limiter{most: autoMost, limit: autoStart, auto: true, free: make(chan struct{}, autoMost)}
}

// acquire waits for a place.
func (l *limiter) acquire(ctx context.Context) error {
	for {
		l.mu.Lock()
		if l.flight < l.limit {
			l.flight++
			l.mu.Unlock()
			return nil
		}
		l.mu.Unlock()
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-l.free:
		}
	}
}

// release gives the place back. smooth: the answer came at the first attempt.
func (l *limiter) release(smooth bool) {
	l.mu.Lock()
	l.flight--
	if l.auto {
		if smooth {
			l.limit = min(l.limit+1, l.most)
		} else {
			l.limit = max(l.limit/2, 1)
		}
	}
	wake := l.limit - l.flight
	l.mu.Unlock()
	for range wake {
		select {
		case l.free <- struct{}{}:
		default:
			return
		}
	}
}
