package evalscope

import "github.com/drydock-ml/drydock/eval/benchmark"

// A Failure is how a request ended that got no reply.
type Failure struct {
	Status  int    // HTTP status; 0: there was no answer
	Code    string // error.code of the answer's body
	Message string // error.message of it
}

// Reply returns what EvalScope 1.4.2 takes for the model's answer when a request
// was refused: with status 400, 403 or 422 and one of four codes it is the
// server's own error text, which is then graded like any answer. ok is false for
// all other failures; with --ignore-errors these have no row and are not counted.
func (f Failure) Reply() (r benchmark.Reply, ok bool) {
	switch f.Status {
	case 400, 403, 422:
	default:
		return r, false
	}
	switch f.Code {
	case "context_length_exceeded":
		r.Finish = "model_length"
	case "invalid_prompt", "content_policy_violation", "content_filter":
		r.Finish = "content_filter"
	default:
		return r, false
	}
	r.Text = f.Message
	return r, true
}
