package cli

import (
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/pipeline"
)

// findReference resolves what data is checked against: a benchmark by name, or a
// file of questions or prompts.
func (a *app) findReference(ref string) (*pipeline.Bench, error) {
	home, err := a.host.home()
	if err != nil {
		return nil, err
	}
	own, mistakes := a.projectBenchmarks()
	b, why, err := pipeline.FindReference(ref, "", home, own)
	switch {
	case err != nil && mistakes != nil:
		return nil, mistakes
	case err != nil:
		return nil, err
	case why != nil:
		a.term.Note(msg.Text{"%s is taken as %d {prompt|prompts} to check against; eval could not ask it: %s", "%s 作为 %d 条提示词参与比对；eval 无法用其提问：%s"}, ref, len(b.Items), fail.All(why)[0])
	}
	return b, nil
}
