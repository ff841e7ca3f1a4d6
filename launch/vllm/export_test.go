package vllm

// Explain returns the first fatal line of a log; nil: it has none.
func Explain(lines []string) *Fatal {
	r := newReader()
	for _, l := range lines {
		if f := r.read(l); f != nil {
			return f
		}
	}
	return nil
}
