package report

import (
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/eval"
	"github.com/drydock-ml/drydock/internal/msg"
)

// Answers too few to test are not said to show that no letter is liked.
func TestBiasOfFewAnswers(t *testing.T) {
	t.Parallel()
	few := eval.LetterBias{Wrong: 2, Excess: map[string]float64{"B": 1.3, "C": -0.7}, ChiSquare: 4, DF: 2, PValue: 1}
	even := eval.LetterBias{Wrong: 40, Excess: map[string]float64{"B": 0, "C": 0}, DF: 2, PValue: 1}
	for _, c := range []struct {
		bias eval.LetterBias
		lang msg.Lang
		want string
	}{
		{few, msg.En, "2 wrong answers are too few"},
		{few, msg.Zh, "2 个错误回答太少"},
		{even, msg.En, "show no liking"},
	} {
		if got := BiasSentence(&c.bias, c.lang); !strings.Contains(got, c.want) {
			t.Errorf("got %q, want %q in it", got, c.want)
		}
	}
}
