package pipeline

import (
	"slices"

	"github.com/drydock-ml/drydock"

	"github.com/zeebo/xxh3"
)

// rowIDSketch is what one part says about its rows' own ids: 8 bytes for each,
// and one more for the source it came from.
type rowIDSketch struct {
	ids     []uint64
	source  []uint8  // of each id, index in sources
	sources []uint64 // hashed; rows of one part name a few at most
}

func (s *rowIDSketch) add(r *drydock.Record) {
	if r.RowID == "" {
		return
	}
	src := sourceHash(r)
	i := slices.Index(s.sources, src)
	if i < 0 {
		// beyond 255 sources in one part the last stands for the rest: two rows of
		// different sources may then fall back to their content ids
		if i = len(s.sources); i < 255 {
			s.sources = append(s.sources, src)
		} else {
			i = 254
		}
	}
	s.ids = append(s.ids, xxh3.HashString(r.RowID))
	s.source = append(s.source, uint8(i))
}

func sourceHash(r *drydock.Record) uint64 {
	if r.Origin.File == nil {
		return 0
	}
	return xxh3.HashString(r.Origin.File.Source)
}

// rowIDs decides what a record is called in rows and reports (see
// docs/design/002-row-ids.md). It holds the ids that stand more than once.
type rowIDs struct {
	shared   map[uint64]bool     // ids that two kept records have
	inSource map[[2]uint64]uint8 // id and source of those: how often, up to 2
}

func newRowIDs(states []*partState) *rowIDs {
	n := 0
	for _, s := range states {
		n += len(s.ids.ids)
	}
	all := make([]uint64, 0, n)
	for _, s := range states {
		all = append(all, s.ids.ids...)
	}
	slices.Sort(all)
	ids := &rowIDs{map[uint64]bool{}, map[[2]uint64]uint8{}}
	for i := 1; i < len(all); i++ {
		if all[i] == all[i-1] {
			ids.shared[all[i]] = true
		}
	}
	for _, s := range states {
		for i, h := range s.ids.ids {
			if ids.shared[h] {
				k := [2]uint64{h, s.ids.sources[s.ids.source[i]]}
				ids.inSource[k] = min(ids.inSource[k]+1, 2)
			}
		}
		s.ids = rowIDSketch{}
	}
	return ids
}

func (ids *rowIDs) name(r *drydock.Record) string {
	if r.RowID == "" {
		return r.ID.String()
	}
	h := xxh3.HashString(r.RowID)
	switch {
	case !ids.shared[h]:
		return r.RowID
	case r.Origin.File != nil && ids.inSource[[2]uint64{h, sourceHash(r)}] < 2:
		return r.Origin.File.Source + "/" + r.RowID
	}
	return r.ID.String()
}
