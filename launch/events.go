package launch

import (
	"path"
	"time"

	"github.com/drydock-ml/drydock/launch/checkpoint"
)

// An Event is what a trainer said about its progress. Figures it did not give
// are nil or zero.
type Event struct {
	Step     int      `json:"step,omitempty"`
	MaxSteps int      `json:"max_steps,omitempty"`
	Epoch    *float64 `json:"epoch,omitempty"`
	Loss     *float64 `json:"loss,omitempty"`
	EvalLoss *float64 `json:"eval_loss,omitempty"`
	LR       *float64 `json:"lr,omitempty"`
	GradNorm *float64 `json:"grad_norm,omitempty"`
	Tokens   int64    `json:"tokens,omitempty"`     // trained on since the start, as the trainer counts
	Memory   float64  `json:"memory_gib,omitempty"` // of the GPU, at most so far
	// NotFinite says that the loss was NaN or infinite, which JSON cannot hold.
	NotFinite bool   `json:"not_finite,omitempty"`
	From      string `json:"from,omitempty"` // followed file; "" for the output
}

// figures reports an event that says how well training goes; others only say
// how far it is.
func (v Event) figures() bool { return v.Loss != nil || v.EvalLoss != nil || v.NotFinite }

// merge takes over the figures e has.
func (v *Event) merge(e Event) {
	if e.Step > 0 {
		v.Step = e.Step
	}
	if e.MaxSteps > 0 {
		v.MaxSteps = e.MaxSteps
	}
	for _, f := range [][2]**float64{{&v.Epoch, &e.Epoch}, {&v.Loss, &e.Loss}, {&v.EvalLoss, &e.EvalLoss}, {&v.LR, &e.LR}, {&v.GradNorm, &e.GradNorm}} {
		if *f[1] != nil {
			*f[0] = *f[1]
		}
	}
	v.Tokens, v.Memory = max(v.Tokens, e.Tokens), max(v.Memory, e.Memory)
}

// trust orders the places an event can come from: the output rounds and has no
// steps, a checkpoint's state is exact but late, a log is both.
type trust int8

const (
	trustOutput trust = iota + 1
	trustState
	trustLog
)

func (v Event) trust() trust {
	switch {
	case v.From == "":
		return trustOutput
	case path.Base(v.From) == checkpoint.StateFile:
		return trustState
	}
	return trustLog
}

// A Report is an event as it is kept: each step once, from the place to be
// trusted most, and with what our own clock says. Trainers' clocks restart when a
// training is resumed, and their estimates with them.
type Report struct {
	Event
	// Again marks more exact figures of a step that was reported already.
	Again bool `json:"again,omitempty"`
	Pace
}

// patience is how long figures of the output wait for the log to say them
// better, as long as the log has said nothing at all: some trainers write none
// on some clusters.
const patience = 5 * time.Second

// A merger makes one sequence of reports of what several places say at once.
type merger struct {
	expectLog bool // the plan names files to follow
	at        Event
	loss      map[int]trust // by step: the best source so far
	eval      map[int]trust
	last      [trustLog + 1]int // by source: its last step
	held      []heldEvent
	pace      pacer
}

type heldEvent struct {
	event Event
	until time.Time
}

func newMerger(expectLog bool) *merger {
	return &merger{expectLog: expectLog, loss: map[int]trust{}, eval: map[int]trust{}}
}

// add takes an event and returns what is to be reported now.
func (m *merger) add(e Event, now time.Time) []Report {
	from := e.trust()
	switch {
	case e.Step == 0 && from == trustOutput:
		// a dict has no step: it is printed behind the bar of its step
		e.Step, e.MaxSteps = m.at.Step, m.at.MaxSteps
	case e.Step < m.last[from] && from != trustState:
		m.rewind(e.Step)
		fallthrough
	default:
		m.last[from] = e.Step
	}
	if from != trustState { // which is as old as its checkpoint
		m.at.merge(e)
		m.pace.mark(now, m.at.Step, m.at.Tokens)
	}
	out := m.release(now)
	switch {
	case !e.figures():
		if from == trustState {
			return out
		}
		return append(out, Report{Event: e, Pace: m.pace.at(m.at)})
	case from == trustOutput && m.expectLog && m.last[trustLog] == 0:
		m.held = append(m.held, heldEvent{e, now.Add(patience)})
		return out
	}
	return append(out, m.report(e)...)
}

// rewind forgets steps that are trained again: the trainer restarted from an
// earlier checkpoint.
func (m *merger) rewind(step int) {
	for _, seen := range []map[int]trust{m.loss, m.eval} {
		for s := range seen {
			if s >= step {
				delete(seen, s)
			}
		}
	}
	m.last = [trustLog + 1]int{}
	m.pace = pacer{}
}

// release returns the held events that have waited long enough, or none if a log
// has begun to speak: it says the same.
func (m *merger) release(now time.Time) []Report {
	var out []Report
	if m.last[trustLog] > 0 {
		m.held = nil
	}
	for len(m.held) > 0 && !now.Before(m.held[0].until) {
		out = append(out, m.report(m.held[0].event)...)
		m.held = m.held[1:]
	}
	return out
}

// flush returns what is still held at the end.
func (m *merger) flush() []Report {
	if len(m.held) == 0 {
		return nil
	}
	return m.release(m.held[len(m.held)-1].until)
}

// report returns the event unless its step has been reported as well or better.
func (m *merger) report(e Event) []Report {
	seen, from := m.loss, e.trust()
	if e.EvalLoss != nil {
		seen = m.eval
	}
	before := seen[e.Step]
	if e.Step > 0 && before >= from || from == trustOutput && m.last[trustLog] > 0 {
		return nil
	}
	if e.Step > 0 {
		seen[e.Step] = from
	}
	return []Report{{Event: e, Again: before > 0, Pace: m.pace.at(m.at)}}
}
