package pipeline

import (
	"os"
	"path/filepath"

	"github.com/drydock-ml/drydock/internal/atomicfile"
	"go.yaml.in/yaml/v3"
)

// trainerFiles is the folder in a run's that keeps what was written for the
// trainer.
const trainerFiles = "trainer"

// keepFiles keeps the trainer's configuration with the run: the next training
// writes its own in the same place.
func (r *trainRun) keepFiles() error {
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

// TrainerFile returns the keys and values at the top of a configuration that the
// run in dir kept, in their order; nil when it is no mapping.
func TrainerFile(dir, name string) [][2]string {
	b, err := os.ReadFile(filepath.Join(dir, trainerFiles, filepath.FromSlash(name)))
	if err != nil {
		return nil
	}
	var doc yaml.Node
	if yaml.Unmarshal(b, &doc) != nil || len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil
	}
	var out [][2]string
	fields := doc.Content[0].Content
	for i := 0; i+1 < len(fields); i += 2 {
		value := fields[i+1].Value
		if fields[i+1].Kind != yaml.ScalarNode {
			text, err := yaml.Marshal(fields[i+1])
			if err != nil {
				return nil
			}
			value = string(text)
		}
		out = append(out, [2]string{fields[i].Value, value})
	}
	return out
}
