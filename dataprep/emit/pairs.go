package emit

import (
	"bytes"
	"errors"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/shuffle"
	"github.com/drydock-ml/drydock/internal/textnorm"
)

// A Pair names the two answers of a preference pair by the labels of a
// question's options.
type Pair struct{ Chosen, Rejected string }

// PairOf makes the pair of a single-choice question as it is printed: the key,
// and one of the options that are wrong, drawn from the record's id and the seed.
//
// Every wrong option, and so every place, is equally likely; where the options
// were shuffled the key is, too. So neither the chosen nor the rejected letter
// says anything. Options that speak of others by their place (以上都对) keep the
// order of their source and are drawn as any other: as an answer, A is wrong where
// D, all of the above, is right. An option that says what the key says is no wrong
// one; where no other is left there is no pair.
func PairOf(q *drydock.Question, id drydock.ID, seed uint64) (Pair, error) {
	key := q.Answer[0]
	var right []byte
	for _, o := range q.Options {
		if o.Label == key {
			right = textnorm.Fold(nil, o.Text)
		}
	}
	for _, i := range shuffle.Order(id, "rejected", seed, len(q.Options)) {
		o := q.Options[i]
		if o.Label != key && (len(right) == 0 || !bytes.Equal(textnorm.Fold(nil, o.Text), right)) {
			return Pair{key, o.Label}, nil
		}
	}
	return Pair{}, errors.New("no option is wrong: all say what the key says")
}
