package cli

import "github.com/drydock-ml/drydock/internal/pipeline"

// findReference resolves what data is checked against: a benchmark by name, or a
// file of questions or prompts.
func (a *app) findReference(ref string) (*pipeline.Bench, error) {
	home, err := a.host.home()
	if err != nil {
		return nil, err
	}
	own, mistakes := a.projectBenchmarks()
	b, err := pipeline.FindReference(ref, "", home, own)
	if err != nil && mistakes != nil {
		return nil, mistakes
	}
	return b, err
}
