package launch

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// checkpointName is how the Hugging Face trainer names the folders of its
// checkpoints; it takes every folder of such a name for one.
var checkpointName = regexp.MustCompile(`^checkpoint-(\d+)$`)

// checkpointSteps returns the steps of the checkpoints in a folder, in order.
func checkpointSteps(output string) []int {
	entries, err := os.ReadDir(output)
	if err != nil {
		return nil // it is not there yet
	}
	var steps []int
	for _, e := range entries {
		m := checkpointName.FindStringSubmatch(e.Name())
		if m == nil || !e.IsDir() {
			continue
		}
		if n, err := strconv.Atoi(m[1]); err == nil {
			steps = append(steps, n)
		}
	}
	slices.Sort(steps)
	return steps
}

func checkpointDir(output string, step int) string {
	return filepath.Join(output, "checkpoint-"+strconv.Itoa(step))
}

// A trainerState is what a checkpoint's trainer_state.json says.
type trainerState struct {
	Step     *int              `json:"global_step"`
	MaxSteps int               `json:"max_steps"`
	History  []json.RawMessage `json:"log_history"`
}

func readState(dir string) (trainerState, error) {
	var s trainerState
	b, err := os.ReadFile(filepath.Join(dir, stateName))
	if err != nil {
		return s, err
	}
	err = json.Unmarshal(b, &s)
	return s, err
}

// events returns the figures of a state from a step on.
func (s trainerState) events(from string, after int) []Event {
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
	if steps := checkpointSteps(output); len(steps) > 0 {
		r.newest = steps[len(steps)-1]
	}
	return r
}

// read returns the figures of states that are new. A state that is just being
// written is met the next time.
func (r *stateReader) read() []Event {
	var out []Event
	for _, step := range checkpointSteps(r.output) {
		if step <= r.newest {
			continue
		}
		s, err := readState(checkpointDir(r.output, step))
		if err != nil {
			continue
		}
		out = append(out, s.events(path.Join(r.name, "checkpoint-"+strconv.Itoa(step), stateName), r.newest)...)
		r.newest = step
	}
	return out
}
