package runstore

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// manifestName is the file of a training's manifest in the folder of its run.
const manifestName = "manifest.json"

// ManifestSchema names the shape of a [Manifest] as JSON.
const ManifestSchema = "drydock.train.manifest/1"

// A Manifest says all a training depended on and what it left: enough to do it
// again, and to tell two of them apart. Paths count from the project, with
// slashes; sums are sha256 in hex.
type Manifest struct {
	Schema string `json:"schema"`
	Run    string `json:"run"`
	// Fingerprint is a hash of data and plan: two trainings with the same one
	// would do the same. A training is resumed only by one with its fingerprint.
	Fingerprint string      `json:"fingerprint"`
	Data        []FileSum   `json:"data"`
	Config      FileSum     `json:"config"` // drydock.yaml as it was; a copy lies beside
	Trainer     Training    `json:"trainer"`
	Code        *Code       `json:"code,omitempty"` // nil: the project is in no repository
	Environment Environment `json:"environment"`
	// Gates are the checks before the start; Lifted names the flags that lifted
	// some.
	Gates  []Gate   `json:"gates"`
	Lifted []string `json:"lifted"`
	// Resumed is where it went on; nil when it began at step 0.
	Resumed *Resumed `json:"resumed,omitempty"`
	// Outcome is how it ended; nil while it runs.
	Outcome     *Outcome        `json:"outcome,omitempty"`
	Checkpoints []CheckpointSum `json:"checkpoints"`
}

// A FileSum is a file and its content.
type FileSum struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}

// Training is the trainer and what it was given.
type Training struct {
	Name     string    `json:"name"`
	Version  string    `json:"version"` // "" when not known
	Base     string    `json:"base"`
	Contract string    `json:"contract"`
	Seed     uint64    `json:"seed"`
	Argv     []string  `json:"argv"`
	Set      []string  `json:"set"`   // environment variables given to it
	Files    []FileSum `json:"files"` // configuration written for it, paths from Dir
	Dir      string    `json:"dir"`
	Output   string    `json:"output"` // folder of checkpoints, from Dir
}

// Code is the repository the project lies in.
type Code struct {
	Commit string `json:"commit"`
	Dirty  bool   `json:"dirty"` // files that are tracked differ from the commit
}

// Environment is the machine and the trainer's Python. What could not be found
// out is empty.
type Environment struct {
	OS       string   `json:"os"`
	Arch     string   `json:"arch"`
	Python   string   `json:"python,omitempty"` // its version
	Torch    string   `json:"torch,omitempty"`
	CUDA     string   `json:"cuda,omitempty"` // that torch was built for
	Packages []string `json:"packages"`       // name==version, as pip freeze writes them
	GPUs     []GPU    `json:"gpus"`
	Driver   string   `json:"driver,omitempty"`
}

// A GPU is a card as nvidia-smi names it.
type GPU struct {
	Name   string `json:"name"`
	Memory int64  `json:"memory_bytes"`
}

// A Gate is a check before the start and what it passed by.
type Gate struct {
	Gate  string `json:"gate"`
	State string `json:"state"`
	Proof string `json:"proof,omitempty"`
}

// Resumed says from where a training went on, and whether it did.
type Resumed struct {
	Run        string `json:"run,omitempty"` // that wrote the checkpoint; "" when not of this store
	Checkpoint string `json:"checkpoint"`
	Step       int    `json:"step"`
	// Verdict is what the first figures after it showed: continues, restarted (at
	// a step that had been done), loss_jumped, unseen (none came).
	Verdict string `json:"verdict,omitempty"`
	First   int    `json:"first_step,omitempty"` // the first step that was reported
}

// Outcome is how a training ended.
type Outcome struct {
	ExitCode int      `json:"exit_code"` // of the trainer; -1 for a signal
	Cause    string   `json:"cause,omitempty"`
	Rank     *int     `json:"rank,omitempty"` // the process that failed first, where known
	Step     int      `json:"step"`
	MaxSteps int      `json:"max_steps"`
	Loss     *float64 `json:"loss,omitempty"` // the last one
	EvalLoss *float64 `json:"eval_loss,omitempty"`
}

// A CheckpointSum is a checkpoint that a training left. SHA256 is the hash by
// which evaluations know it: of weights and configuration.
type CheckpointSum struct {
	Path   string `json:"path"`
	Step   int    `json:"step"`
	SHA256 string `json:"sha256"`
	Served string `json:"served"` // the name it is served under
}

// SaveManifest writes the manifest of a training, in place of an earlier one.
func (r *Run) SaveManifest(m Manifest) error {
	m.Schema, m.Run = ManifestSchema, r.Info().ID
	return writeJSON(filepath.Join(r.Dir, manifestName), m)
}

// ReadManifest reads the manifest in the folder of a run. ok is false when the
// run trained nothing.
func ReadManifest(dir string) (m Manifest, ok bool, err error) {
	b, err := os.ReadFile(filepath.Join(dir, manifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return m, false, nil
	}
	if err != nil {
		return m, false, err
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return m, false, fail.New(fail.Failed, msg.Text{"%s: %v", "%s：%v"}, filepath.Join(dir, manifestName), err)
	}
	return m, true, nil
}

// Trainings returns the manifests of a store, newest first. Those that cannot be
// read are left out.
func Trainings(runsDir string) ([]Manifest, error) {
	runs, _, err := List(runsDir)
	if err != nil {
		return nil, err
	}
	var out []Manifest
	for _, i := range runs {
		if m, ok, err := ReadManifest(filepath.Join(runsDir, i.ID)); ok && err == nil {
			out = append(out, m)
		}
	}
	return out, nil
}

// FindTraining returns the newest training that left a checkpoint of this hash,
// or one that is served under this name.
func FindTraining(runsDir, sumOrName string) (m Manifest, c CheckpointSum, ok bool, err error) {
	if sumOrName == "" {
		return m, c, false, nil
	}
	all, err := Trainings(runsDir)
	if err != nil {
		return m, c, false, err
	}
	for _, m := range all {
		i := slices.IndexFunc(m.Checkpoints, func(c CheckpointSum) bool { return c.SHA256 == sumOrName || c.Served == sumOrName })
		if i >= 0 {
			return m, m.Checkpoints[i], true, nil
		}
	}
	return m, c, false, nil
}
