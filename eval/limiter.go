package eval

import (
	"context"
	"sync"
	"time"
)

// How auto finds its concurrency. It begins low and doubles as long as that
// brings more answers a second (slow start). Past the first sign of a limit it
// goes up by a little each time all places have answered (additive increase),
// and back by a part when the server pushes back or the knee is passed
// (multiplicative decrease).
const (
	autoStart = 4
	autoMost  = 256

	stepPart = 16 // a step up is this part of the places, at least one

	backOff = 0.5  // what is left after 429, 5xx, a reset or a timeout
	atKnee  = 0.75 // what is left where more requests only wait longer

	// A step up that brings less than this share of its own size in answers a
	// second, while each takes that much longer, has passed the knee.
	gainWanted    = 0.25
	slowerAllowed = 1.25
)

// A limiter bounds how many requests are in flight.
type limiter struct {
	most int

	mu     sync.Mutex
	limit  int
	flight int
	free   chan struct{} // a token for each waiting worker that may look again

	auto    bool
	now     func() time.Time
	slow    bool // slow start is not over
	settled int  // pushbacks are ignored until so many more answers came: they are of the same moment
	window  window
	before  window // the window at the last lower limit
}

// A window is about two answers a place: enough to tell how the server does.
type window struct {
	limit int
	n     int
	took  time.Duration // all answers together
	start time.Time
	rate  float64 // answers a second, once it is over
	mean  time.Duration
}

// newLimiter returns a limiter of n places; below 1 it finds the number itself,
// by the clock now.
func newLimiter(n int, now func() time.Time) *limiter {
	if n > 0 {
		return &limiter{most: n, limit: n, free: make(chan struct{}, n)}
	}
	l := &limiter{most: autoMost, limit: autoStart, auto: true, slow: true, now: now, free: make(chan struct{}, autoMost)}
	l.window = window{limit: autoStart, start: now()}
	return l
}

// acquire waits for a place.
func (l *limiter) acquire(ctx context.Context) error {
	for !l.try() {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-l.free:
		}
	}
	return nil
}

// try takes a place if one is free.
func (l *limiter) try() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.flight >= l.limit {
		return false
	}
	l.flight++
	return true
}

// release gives the place back. took is how long the answer took; 0: there was
// none, which says nothing about how many requests the server can take.
func (l *limiter) release(took time.Duration) {
	l.mu.Lock()
	l.flight--
	if l.auto {
		l.settled = max(l.settled-1, 0)
		if took > 0 {
			l.learn(took)
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

// pushback takes note that the server had no room: 429, 5xx, a reset, a timeout.
// Requests that were sent together are refused together, so one step back is
// taken for all of them.
func (l *limiter) pushback() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.auto || l.settled > 0 {
		return
	}
	l.slow = false
	l.back(backOff)
	l.settled = l.flight
}

func (l *limiter) back(part float64) {
	l.limit = max(int(float64(l.limit)*part), 1)
	l.before = window{}
	l.window = window{limit: l.limit, start: l.now()}
}

// learn counts one answer and, at the end of a window, decides. The caller holds
// mu.
func (l *limiter) learn(took time.Duration) {
	r := &l.window
	r.n++
	r.took += took
	if r.n < 2*l.limit {
		return
	}
	elapsed := l.now().Sub(r.start)
	if elapsed <= 0 { // a clock that stands still tells nothing: only refusals count
		l.up()
		return
	}
	r.rate, r.mean = float64(r.n)/elapsed.Seconds(), r.took/time.Duration(r.n)
	if l.pastKnee() {
		part := atKnee
		if l.slow {
			l.slow, part = false, float64(l.before.limit)/float64(l.limit) // the step was a large one
		}
		l.back(part)
		return
	}
	l.up()
}

// pastKnee compares the window with the one at the lower limit.
func (l *limiter) pastKnee() bool {
	b, r := l.before, l.window
	if b.n == 0 || r.limit <= b.limit {
		return false
	}
	step := float64(r.limit)/float64(b.limit) - 1
	if step < 0.1 { // too small a step to tell from noise
		return false
	}
	gain := r.rate/b.rate - 1
	slower := float64(r.mean) / float64(b.mean)
	return gain < gainWanted*step && slower > 1+(slowerAllowed-1)*min(step, 1)
}

// up makes room: twice as much in slow start, a little later. The window to
// compare with stays until the step is large enough to tell.
func (l *limiter) up() {
	if l.before.n == 0 || float64(l.limit) >= 1.25*float64(l.before.limit) {
		l.before = l.window
	}
	if l.slow {
		l.limit = min(2*l.limit, l.most)
	} else {
		l.limit = min(l.limit+max(1, l.limit/stepPart), l.most)
	}
	l.window = window{limit: l.limit, start: l.now()}
}
