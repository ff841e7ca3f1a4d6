package training

import (
	"github.com/drydock-ml/drydock/eval"
	"github.com/drydock-ml/drydock/internal/runstore"
)

// NoteEvaluation notes an evaluation with the training of the store that made the
// checkpoint, known by its hash or by the name it is served under. It returns the
// run of that training; "" when none made it.
func NoteEvaluation(runsDir, sumOrName string, s *eval.Summary) (run string, err error) {
	if s == nil || s.Baseline {
		return "", nil
	}
	m, c, ok, err := runstore.FindTraining(runsDir, sumOrName)
	if err != nil || !ok {
		return "", err
	}
	return m.Run, runstore.AddEvaluation(runsDir, m.Run, runstore.Evaluation{
		Checkpoint: c.Path, Step: c.Step, SHA256: c.SHA256, Benchmark: s.Benchmark,
		N: s.N, Correct: s.Correct, Wilson95: s.Wilson95, Reviews: s.Files.Reviews,
	})
}
