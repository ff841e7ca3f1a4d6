package checkpoint

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// StateFile is the file of a checkpoint that the Hugging Face trainer writes last,
// and in which it keeps all figures so far.
const StateFile = "trainer_state.json"

// stepPrefix begins the names of the folders of its checkpoints; it takes every
// folder of such a name and a number for one.
const stepPrefix = "checkpoint-"

// Steps returns the steps of the checkpoints in a trainer's output folder, in
// order; none when the folder is not there yet.
func Steps(output string) []int {
	entries, err := os.ReadDir(output)
	if err != nil {
		return nil
	}
	var steps []int
	for _, e := range entries {
		digits, ok := strings.CutPrefix(e.Name(), stepPrefix)
		if !ok || !e.IsDir() || strings.Trim(digits, "0123456789") != "" {
			continue
		}
		if n, err := strconv.Atoi(digits); err == nil {
			steps = append(steps, n)
		}
	}
	slices.Sort(steps)
	return steps
}

// StepDir is the folder of the checkpoint of a step.
func StepDir(output string, step int) string {
	return filepath.Join(output, stepPrefix+strconv.Itoa(step))
}

// A State is what a checkpoint's [StateFile] says.
type State struct {
	Step     *int              `json:"global_step"` // nil: it does not say
	MaxSteps int               `json:"max_steps"`   // 0: it does not say
	History  []json.RawMessage `json:"log_history"` // an object for each report so far
}

// ReadState reads the state of a checkpoint. The error is os.ErrNotExist where
// there is none; any other means that it was cut.
func ReadState(dir string) (State, error) {
	var s State
	b, err := os.ReadFile(filepath.Join(dir, StateFile))
	if err != nil {
		return s, err
	}
	err = json.Unmarshal(b, &s)
	return s, err
}
