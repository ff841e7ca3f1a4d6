package drydock

import "fmt"

// Sums counts what became of a batch, a stage or a run. It always closes:
// In + Made = Out + dropped + Merged.
type Sums struct {
	In      int            `json:"in"`
	Made    int            `json:"made"` // born here
	Out     int            `json:"out"`
	Dropped map[string]int `json:"dropped"` // by reason
	Merged  int            `json:"merged"`  // lives on only as a parent of something in Out
}

// DroppedTotal adds up the reasons.
func (s Sums) DroppedTotal() int {
	n := 0
	for _, v := range s.Dropped {
		n += v
	}
	return n
}

// Add adds o to s.
func (s *Sums) Add(o Sums) {
	s.In += o.In
	s.Made += o.Made
	s.Out += o.Out
	s.Merged += o.Merged
	for k, v := range o.Dropped {
		if s.Dropped == nil {
			s.Dropped = map[string]int{}
		}
		s.Dropped[k] += v
	}
}

// Close reports whether the sums add up, as an error that shows them.
func (s Sums) Close() error {
	if s.In+s.Made != s.Out+s.DroppedTotal()+s.Merged {
		return fmt.Errorf("sums do not close: in %d + made %d ≠ out %d + dropped %d + merged %d",
			s.In, s.Made, s.Out, s.DroppedTotal(), s.Merged)
	}
	return nil
}

// Account proves law 1 for one batch: every record of in is in out once, in
// dropped, or a parent of something in out; nothing is in two places. Records
// are told apart by id. in must be the ids as they were before the step ran,
// since a step may reuse its slice. The returned sums close by construction.
func Account(in []ID, out []*Record, dropped []Drop) (Sums, error) {
	s := Sums{In: len(in), Out: len(out)}
	if len(dropped) == 0 && len(in) == len(out) && sameOrder(in, out) {
		return s, nil // the usual case, without a map
	}
	const (
		waiting = iota
		inOut
		inDrop
	)
	state := make(map[ID]uint8, len(in))
	for _, id := range in {
		if _, twice := state[id]; twice {
			return s, fmt.Errorf("record %s came in twice", id)
		}
		state[id] = waiting
	}
	born := map[ID]bool{}
	for _, r := range out {
		st, known := state[r.ID]
		switch {
		case !known && born[r.ID]:
			return s, fmt.Errorf("new record %s went out twice", r.ID)
		case !known:
			born[r.ID] = true
			s.Made++
		case st != waiting:
			return s, fmt.Errorf("record %s went out twice", r.ID)
		default:
			state[r.ID] = inOut
		}
	}
	for i := range dropped {
		d := &dropped[i]
		if d.Reason == "" {
			return s, fmt.Errorf("a record was dropped without a reason")
		}
		if s.Dropped == nil {
			s.Dropped = map[string]int{}
		}
		s.Dropped[d.Reason]++
		if d.Record == nil {
			s.Made++ // a bad block: born and dropped here
			continue
		}
		switch st, known := state[d.Record.ID]; {
		case !known:
			s.Made++
		case st == inOut:
			return s, fmt.Errorf("record %s is both kept and dropped (%s)", d.Record.ID, d.Reason)
		case st == inDrop:
			return s, fmt.Errorf("record %s was dropped twice", d.Record.ID)
		default:
			state[d.Record.ID] = inDrop
		}
	}
	parents := map[ID]bool{}
	for _, r := range out {
		for _, p := range r.Parents {
			parents[p] = true
		}
	}
	for _, id := range in {
		if state[id] != waiting {
			continue
		}
		if !parents[id] {
			return s, fmt.Errorf("record %s disappeared", id)
		}
		s.Merged++
	}
	return s, s.Close()
}

func sameOrder(in []ID, out []*Record) bool {
	for i, r := range out {
		if r.ID != in[i] {
			return false
		}
	}
	// equal ids in equal order are only proof when no id stands twice; ids are
	// content hashes, so a repeat means the same record twice, which the slow
	// path reports where it is born
	return true
}
