package parity

import "github.com/drydock-ml/drydock/launch/feed"

// A RowFed is what is predicted of one row, for the tests that hold it to what the
// trainer did.
type RowFed struct {
	Samples         []feed.Sample // nil: only counted
	Tokens, Trained int
	Errors          []string // findings
}

// Predict says what the trainer makes of one row.
func Predict(o Options, data []byte) (RowFed, error) {
	k := newChecker(o)
	p := pending{line: 1}
	if err := k.row(data, &p); err != nil {
		return RowFed{}, err
	}
	f := RowFed{Tokens: p.found.tokens, Trained: p.found.trained}
	for _, x := range p.found.places {
		if kd := kindOf(x.kind, o.Settings.Trainer); kd.severity == Error {
			f.Errors = append(f.Errors, kd.id)
		}
	}
	r, err := k.parser.parse(data)
	if err != nil || p.found.uncompared {
		return f, err
	}
	f.Samples, err = k.samples(r)
	return f, err
}
