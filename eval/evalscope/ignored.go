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

// LoneSurrogate reports whether a JSON text writes half of a surrogate pair.
// Python keeps such a character, fails to write the row that holds it, and counts
// the row all the same; Go reads it as U+FFFD.
func LoneSurrogate(raw []byte) bool {
	open := false // a first half stands just before
	for i := 0; i < len(raw); {
		if raw[i] != '\\' {
			if open {
				return true
			}
			i++
			continue
		}
		half, n := escapeAt(raw[i:])
		switch {
		case half == firstHalf && !open:
			open = true
		case half == secondHalf && open:
			open = false
		case half != noHalf || open:
			return true
		}
		i += n
	}
	return open
}

// The halves of a surrogate pair.
const (
	noHalf = iota
	firstHalf
	secondHalf
)

// escapeAt tells what the escape at the beginning of s writes, and its length.
func escapeAt(s []byte) (half, length int) {
	if len(s) < 6 || s[1] != 'u' {
		return noHalf, min(2, len(s))
	}
	if s[2]|0x20 != 'd' {
		return noHalf, 6
	}
	switch c := s[3] | 0x20; {
	case c == '8' || c == '9' || c == 'a' || c == 'b':
		return firstHalf, 6
	case c >= 'c' && c <= 'f':
		return secondHalf, 6
	}
	return noHalf, 6
}
