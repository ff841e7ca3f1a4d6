package eval

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/llm"
	"github.com/drydock-ml/drydock/internal/parallel"
)

// How hedging decides that an answer is late: later than nineteen of twenty
// were, told from at least so many of the newest ones.
const (
	lateShare  = 0.95
	lateKnown  = 20
	lateMemory = 512
	lateFloor  = 50 * time.Millisecond // below that a second ask gains nothing
	lateLook   = 20 * time.Millisecond // how often to look for room
)

// latencies are the times the newest answers took. The zero value is ready.
type latencies struct {
	mu     sync.Mutex
	newest []time.Duration // a ring
	next   int
}

func (l *latencies) add(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.newest) < lateMemory {
		l.newest = append(l.newest, d)
		return
	}
	l.newest[l.next] = d
	l.next = (l.next + 1) % lateMemory
}

// late returns from when on an answer is late; 0: not known yet.
func (l *latencies) late() time.Duration {
	l.mu.Lock()
	sorted := slices.Clone(l.newest)
	l.mu.Unlock()
	if len(sorted) < lateKnown {
		return 0
	}
	slices.Sort(sorted)
	return max(sorted[int(lateShare*float64(len(sorted)-1))], lateFloor)
}

// hedge asks, and where the job wants that, asks once more when the answer is
// late and a place is free: the first answer wins and the other request is
// given up. A place is only free when no item waits for one, so a second ask
// never delays a first one. Both requests are counted; one answer is recorded.
func (r *run) hedge(ctx context.Context, m []drydock.Message) (trial, error) {
	if !r.Hedge || r.Clock == nil {
		return r.try(ctx, m)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type outcome struct {
		trial
		err error
	}
	got := make(chan outcome, 2) // neither may wait for the other
	ask := func(second bool) {
		parallel.Go(func() error {
			o := outcome{}
			o.err = parallel.Call(func() (err error) {
				o.trial, err = r.try(ctx, m)
				return err
			})
			o.won = second && o.err == nil
			if second {
				r.limit.release(0)
			}
			got <- o
			return nil
		})
	}
	ask(false)
	start, asked := r.now(), 1
	var first error
	for {
		look := time.NewTimer(r.nextLook(r.now().Sub(start)))
		if asked > 1 {
			look.Stop() // twice is enough
		}
		select {
		case <-look.C:
			if late := r.late.late(); late > 0 && r.now().Sub(start) > late && r.limit.try() {
				asked++
				ask(true)
			}
		case o := <-got:
			look.Stop()
			o.hedged = asked > 1
			var fatal *fail.Error
			if o.err == nil || asked == 1 || first != nil || errors.As(o.err, &fatal) {
				if o.err != nil && first != nil && fatal == nil {
					o.err = first
				}
				return o.trial, o.err
			}
			first = o.err // the other may still answer
		}
	}
}

// nextLook says when to look again whether an answer is late.
func (r *run) nextLook(waited time.Duration) time.Duration {
	return max(r.late.late()-waited+time.Millisecond, lateLook)
}

// try asks once, attempts and all.
func (r *run) try(ctx context.Context, m []drydock.Message) (trial, error) {
	r.mu.Lock()
	r.traffic.Requests++
	r.mu.Unlock()
	var t trial
	var err error
	t.Answer, err = r.Endpoint.Ask(ctx, m)
	t.waited = t.Attempts > 1
	var e *llm.Error
	if errors.As(err, &e) {
		t.Attempts = e.Attempts
	}
	return t, err
}
