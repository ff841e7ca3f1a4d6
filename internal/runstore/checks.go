package runstore

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/drydock-ml/drydock/internal/atomicfile"
)

// checkName is the summary of a contamination check in the folder of its run.
const checkName = "contam.summary.json"

// SaveCheck keeps the summary of a contamination check with the run that made it.
// The summary holds counts, hashes and item numbers, no text.
func (r *Run) SaveCheck(summary []byte) error {
	return atomicfile.WriteFile(filepath.Join(r.Dir, checkName), summary)
}

// A Check is a contamination check that a run kept.
type Check struct {
	Run     string // its id
	Summary []byte // drydock.contam.summary/1
}

// FindCheck returns the newest check whose inputs hold a file of this sha256. ok
// is false when there is none.
func FindCheck(runsDir, sum string) (c Check, ok bool, err error) {
	runs, _, err := List(runsDir)
	if err != nil {
		return Check{}, false, err
	}
	for _, i := range runs {
		b, err := os.ReadFile(filepath.Join(runsDir, i.ID, checkName))
		if err != nil {
			continue // a run of another command
		}
		var s struct {
			Inputs []struct {
				SHA256 string `json:"sha256"`
			} `json:"inputs"`
		}
		if json.Unmarshal(b, &s) != nil {
			continue
		}
		for _, in := range s.Inputs {
			if in.SHA256 == sum {
				return Check{i.ID, b}, true, nil
			}
		}
	}
	return Check{}, false, nil
}
