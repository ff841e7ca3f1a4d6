package runstore

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/drydock-ml/drydock"
)

// evaluationsName is the file beside a training's manifest that lists how its
// checkpoints were evaluated, one a line.
const evaluationsName = "evaluations.jsonl"

// An Evaluation is one checkpoint on one benchmark.
type Evaluation struct {
	Checkpoint string     `json:"checkpoint"` // its path in the manifest
	Step       int        `json:"step"`
	SHA256     string     `json:"sha256"`
	Benchmark  string     `json:"benchmark"` // name@revision
	N          int        `json:"n"`
	Correct    int        `json:"correct"`
	Wilson95   [2]float64 `json:"wilson95"`
	Reviews    string     `json:"reviews"` // the file of its answers
}

// AddEvaluation notes an evaluation with the training that made the checkpoint.
// The same one again changes nothing.
func AddEvaluation(runsDir, run string, e Evaluation) error {
	dir := filepath.Join(runsDir, run)
	old, err := Evaluations(dir)
	if err != nil {
		return err
	}
	for _, o := range old {
		if o == e {
			return nil
		}
	}
	f, err := os.OpenFile(filepath.Join(dir, evaluationsName), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	row, err := drydock.MarshalJSON(e)
	if err == nil {
		_, err = f.Write(append(row, '\n'))
	}
	return errors.Join(err, f.Close())
}

// Evaluations returns what is noted in the folder of a training, in the order it
// was. A torn line is left out.
func Evaluations(dir string) ([]Evaluation, error) {
	b, err := os.ReadFile(filepath.Join(dir, evaluationsName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Evaluation
	for line := range bytes.Lines(b) {
		var e Evaluation
		if json.Unmarshal(line, &e) == nil {
			out = append(out, e)
		}
	}
	return out, nil
}

// Links says which run each run builds on: a training on the one it was resumed
// from and on the checks that vouched for its data.
func Links(runsDir string) (map[string][]string, error) {
	all, err := Trainings(runsDir)
	if err != nil {
		return nil, err
	}
	links := map[string][]string{}
	for _, m := range all {
		if m.Resumed != nil && m.Resumed.Run != "" {
			links[m.Run] = append(links[m.Run], m.Resumed.Run)
		}
		for _, g := range m.Gates {
			if g.Proof == "" || g.Proof != filepath.Base(g.Proof) {
				continue
			}
			if _, err := os.Stat(filepath.Join(runsDir, g.Proof, "run.json")); err == nil {
				links[m.Run] = append(links[m.Run], g.Proof)
			}
		}
	}
	return links, nil
}

// MoveOutput notes that the checkpoints of a training were moved to another
// folder beside the one they were in.
func MoveOutput(runsDir, run, output string) error {
	dir := filepath.Join(runsDir, run)
	m, ok, err := ReadManifest(dir)
	if err != nil || !ok {
		return err
	}
	old := path.Join(m.Trainer.Dir, m.Trainer.Output) + "/"
	m.Trainer.Output = output
	for i, c := range m.Checkpoints {
		if rest, found := strings.CutPrefix(c.Path, old); found {
			m.Checkpoints[i].Path = path.Join(m.Trainer.Dir, output, rest)
		}
	}
	return writeJSON(filepath.Join(dir, manifestName), m)
}
