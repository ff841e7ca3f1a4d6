package pipeline

import (
	"github.com/drydock-ml/drydock"
	"github.com/zeebo/xxh3"
)

// rowIDHash lets every record's own id be counted without holding it.
type rowIDHash struct{ id, sourceID uint64 }

func hashRowID(r *drydock.Record) rowIDHash {
	if r.RowID == "" {
		return rowIDHash{}
	}
	src := ""
	if r.Origin.File != nil {
		src = r.Origin.File.Source
	}
	return rowIDHash{xxh3.HashString(r.RowID), xxh3.HashString(src + "\x00" + r.RowID)}
}

// rowIDs decides what a record is called in rows and reports: its source row's
// own id where no other kept record has it, source/id where two sources share
// it, else the content id.
type rowIDs struct{ id, sourceID map[uint64]bool } // true: more than once

func newRowIDs(states []*partState) *rowIDs {
	ids := &rowIDs{map[uint64]bool{}, map[uint64]bool{}}
	add := func(m map[uint64]bool, h uint64) {
		_, twice := m[h]
		m[h] = twice
	}
	for _, s := range states {
		for _, h := range s.ids {
			if h != (rowIDHash{}) {
				add(ids.id, h.id)
				add(ids.sourceID, h.sourceID)
			}
		}
		s.ids = nil
	}
	return ids
}

func (ids *rowIDs) name(r *drydock.Record) string {
	if r.RowID == "" {
		return r.ID.String()
	}
	h := hashRowID(r)
	switch {
	case !ids.id[h.id]:
		return r.RowID
	case !ids.sourceID[h.sourceID] && r.Origin.File != nil:
		return r.Origin.File.Source + "/" + r.RowID
	}
	return r.ID.String()
}
