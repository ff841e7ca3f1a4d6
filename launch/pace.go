package launch

import "time"

// A Pace says how fast training goes and when it will end, by our own clock.
// What is not known yet is nil.
type Pace struct {
	StepsPerSecond  *float64 `json:"steps_per_second,omitempty"`
	TokensPerSecond *float64 `json:"tokens_per_second,omitempty"`
	// ETA is how many seconds are left to the last step.
	ETA *float64 `json:"eta_seconds,omitempty"`
}

// paceWindow is how much of the past counts: long enough to even out a pause for
// a checkpoint, short enough to follow a change of speed.
const paceWindow = 10 * time.Minute

// A pacer keeps when which step was reached.
type pacer struct{ marks []mark }

type mark struct {
	at     time.Time
	step   int
	tokens int64
}

// mark notes where training is. The first step seen is where the clock begins:
// what came before it, loading and compiling, does not come again.
func (p *pacer) mark(now time.Time, step int, tokens int64) {
	if n := len(p.marks); step <= 0 || n > 0 && step <= p.marks[n-1].step {
		if n > 0 && step == p.marks[n-1].step {
			p.marks[n-1].tokens = max(p.marks[n-1].tokens, tokens) // told a moment after the bar
		}
		return
	}
	p.marks = append(p.marks, mark{now, step, tokens})
	for len(p.marks) > 2 && now.Sub(p.marks[0].at) > paceWindow {
		p.marks = p.marks[1:]
	}
}

// at returns the pace where training stands.
func (p *pacer) at(e Event) Pace {
	n := len(p.marks)
	if n < 2 {
		return Pace{}
	}
	first, last := p.marks[0], p.marks[n-1]
	seconds := last.at.Sub(first.at).Seconds()
	if seconds <= 0 {
		return Pace{}
	}
	speed := float64(last.step-first.step) / seconds
	pace := Pace{StepsPerSecond: &speed}
	if e.MaxSteps >= e.Step && e.MaxSteps > 0 {
		left := float64(e.MaxSteps-e.Step) / speed
		pace.ETA = &left
	}
	if first.tokens > 0 && last.tokens > first.tokens {
		tokens := float64(last.tokens-first.tokens) / seconds
		pace.TokensPerSecond = &tokens
	}
	return pace
}
