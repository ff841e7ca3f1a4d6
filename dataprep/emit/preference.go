package emit

import (
	"errors"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/shuffle"
)

// A Pair names the two answers of a preference pair by the labels of a
// question's options.
type Pair struct{ Chosen, Rejected string }

// PairOf makes the pair of a single-choice question as it is printed: the key,
// and one of the other options, which are equally likely over ids.
func PairOf(q *drydock.Question, id drydock.ID, seed uint64) (Pair, error) {
	for _, i := range shuffle.Order(id, "rejected", seed, len(q.Options)) {
		if label := q.Options[i].Label; label != q.Answer[0] {
			return Pair{q.Answer[0], label}, nil
		}
	}
	return Pair{}, errors.New("no option is wrong")
}
