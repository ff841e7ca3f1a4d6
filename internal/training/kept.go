package training

import (
	"os"
	"path/filepath"

	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/launch"
)

// trainerFiles is the folder in a run's that keeps what was written for the
// trainer.
const trainerFiles = "trainer"

// keepFiles keeps the trainer's configuration with the run: the next training
// writes its own in the same place.
func (r *follower) keepFiles() error {
	for _, f := range r.t.Plan.Files {
		name := filepath.FromSlash(f.Name)
		if !filepath.IsLocal(name) {
			continue // a plan's files lie in its folder
		}
		if err := atomicfile.WriteFile(filepath.Join(r.log.Dir, trainerFiles, name), []byte(f.Content)); err != nil {
			return err
		}
	}
	return nil
}

// KeptSettings returns the keys and values at the top of a configuration that the
// run in dir kept, in their order; nil when it is no mapping.
func KeptSettings(dir, name string) [][2]string {
	b, err := os.ReadFile(filepath.Join(dir, trainerFiles, filepath.FromSlash(name)))
	if err != nil {
		return nil
	}
	return launch.TopSettings(b)
}
