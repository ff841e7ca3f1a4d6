// Package pipeline is drydock.yaml: load it, find everything wrong with it, say
// what would run and why, and run it.
//
// A run reads its sources twice at most. Pass 1 cuts every file into units; a
// worker takes a unit and does everything by direct call: read, parse, steps,
// the sketches of what must see the whole corpus, and its own part file, put in
// place when it is whole. No record crosses a channel and no worker waits for
// another; a finished part survives a crash. Then the corpus steps decide, and
// pass 2 reads the parts in small units again: duplicates and leaks go, the
// rest is written in source order. So the bytes written do not depend on the
// number of workers, nor on where a run was cut.
//
// Each stage leaves its sums under .drydock/stages; in + made always equals
// out + dropped + merged.
package pipeline
