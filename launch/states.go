package launch

import (
	"path"
	"path/filepath"

	"github.com/drydock-ml/drydock/launch/checkpoint"
)

// figuresOf returns the figures of a checkpoint's state from a step on.
func figuresOf(s checkpoint.State, from string, after int) []Event {
	var out []Event
	for _, row := range s.History {
		fields := dict(row)
		e := Event{From: from}
		if fields == nil || !e.take(fields) || !e.figures() || e.Step <= after {
			continue
		}
		e.MaxSteps = s.MaxSteps
		out = append(out, e)
	}
	return out
}

// A stateReader reads the states of checkpoints as they appear.
type stateReader struct {
	name, output string
	newest       int // the step of the newest state that was read
}

// newStateReader begins behind what is there already.
func newStateReader(name, output string) *stateReader {
	r := &stateReader{name: name, output: output}
	if steps := checkpoint.Steps(output); len(steps) > 0 {
		r.newest = steps[len(steps)-1]
	}
	return r
}

// read returns the figures of states that are new. A state that is just being
// written is met the next time.
func (r *stateReader) read() []Event {
	var out []Event
	for _, step := range checkpoint.Steps(r.output) {
		if step <= r.newest {
			continue
		}
		dir := checkpoint.StepDir(r.output, step)
		s, err := checkpoint.ReadState(dir)
		if err != nil {
			continue
		}
		out = append(out, figuresOf(s, path.Join(r.name, filepath.Base(dir), checkpoint.StateFile), r.newest)...)
		r.newest = step
	}
	return out
}
