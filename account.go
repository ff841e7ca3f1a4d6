package drydock

import (
	"errors"
	"fmt"
)

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

// Account proves for one batch that nothing disappeared: every record of in is in
// out once, in dropped, or a parent of something in out; nothing is in two places.
// Records are told apart by id. in must be the ids as they were before the step
// ran, since a step may reuse its slice. The returned sums close by construction.
func Account(in []ID, out []*Record, dropped []Drop) (Sums, error) {
	s := Sums{In: len(in), Out: len(out)}
	if len(dropped) == 0 && len(in) == len(out) && sameOrder(in, out) {
		return s, nil // the usual case, without a map
	}
	a := account{sums: s, fate: make(map[ID]fate, len(in))}
	for _, id := range in {
		if _, twice := a.fate[id]; twice {
			return s, fmt.Errorf("record %s came in twice", id)
		}
		a.fate[id] = waiting
	}
	if err := a.kept(out); err != nil {
		return a.sums, err
	}
	if err := a.dropped(dropped); err != nil {
		return a.sums, err
	}
	if err := a.merged(in, out); err != nil {
		return a.sums, err
	}
	return a.sums, a.sums.Close()
}

// fate is where a record that came in was met again.
type fate uint8

const (
	waiting fate = iota // nowhere yet
	inOut
	inDrop
)

// account is one batch being added up.
type account struct {
	sums Sums
	fate map[ID]fate // of what came in
}

func (a *account) kept(out []*Record) error {
	born := map[ID]bool{}
	for _, r := range out {
		f, known := a.fate[r.ID]
		switch {
		case !known && born[r.ID]:
			return fmt.Errorf("new record %s went out twice", r.ID)
		case !known:
			born[r.ID] = true
			a.sums.Made++
		case f != waiting:
			return fmt.Errorf("record %s went out twice", r.ID)
		default:
			a.fate[r.ID] = inOut
		}
	}
	return nil
}

func (a *account) dropped(dropped []Drop) error {
	for i := range dropped {
		d := &dropped[i]
		if d.Reason == "" {
			return errors.New("a record was dropped without a reason")
		}
		if a.sums.Dropped == nil {
			a.sums.Dropped = map[string]int{}
		}
		a.sums.Dropped[d.Reason]++
		if d.Record == nil {
			a.sums.Made++ // a bad block: born and dropped here
			continue
		}
		switch f, known := a.fate[d.Record.ID]; {
		case !known:
			a.sums.Made++
		case f == inOut:
			return fmt.Errorf("record %s is both kept and dropped (%s)", d.Record.ID, d.Reason)
		case f == inDrop:
			return fmt.Errorf("record %s was dropped twice", d.Record.ID)
		default:
			a.fate[d.Record.ID] = inDrop
		}
	}
	return nil
}

// merged counts what was met nowhere: it must be a parent of something kept.
func (a *account) merged(in []ID, out []*Record) error {
	parents := map[ID]bool{}
	for _, r := range out {
		for _, p := range r.Parents {
			parents[p] = true
		}
	}
	for _, id := range in {
		if a.fate[id] != waiting {
			continue
		}
		if !parents[id] {
			return fmt.Errorf("record %s disappeared", id)
		}
		a.sums.Merged++
	}
	return nil
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
