package cli

import (
	"github.com/drydock-ml/drydock/eval"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/training"
)

// noteEvaluation notes an evaluation with the training that made the checkpoint,
// if it was one of this project. That it cannot be noted is no reason to fail.
func (a *app) noteEvaluation(sumOrName string, s *eval.Summary) {
	runs, err := a.projectRuns()
	if err != nil {
		return
	}
	run, err := training.NoteEvaluation(runs, sumOrName, s)
	switch {
	case err != nil:
		a.term.Warn(msg.Text{"the evaluation is not noted with its training: %v", "评测未能记入其训练：%v"}, err)
	case run != "":
		a.term.Note(msg.Text{"trained by run %s", "由运行 %s 训练"}, run)
	}
}
