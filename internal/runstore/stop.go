package runstore

import (
	"os"
	"path/filepath"
)

// stopName is the file whose appearance in the folder of a run asks it to stop.
// A file works on every system, for a run on another terminal, without one, or on
// another machine that shares the folder; and no process number can be mistaken
// for another's.
const stopName = "stop"

// AskToStop asks the run in dir to stop; with now, without waiting for what the
// trainer may still want to save.
func AskToStop(dir string, now bool) error {
	word := "stop\n"
	if now {
		word = "now\n"
	}
	return os.WriteFile(filepath.Join(dir, stopName), []byte(word), 0o644)
}

// StopAsked reports whether the run has been asked to stop.
func (r *Run) StopAsked() (asked, now bool) {
	b, err := os.ReadFile(filepath.Join(r.Dir, stopName))
	if err != nil {
		return false, false
	}
	return true, string(b) == "now\n"
}
