package pipeline

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/drydock-ml/drydock"

	"github.com/zeebo/xxh3"
)

// rowIDSuffix names the sketch beside a part's other chunks.
const rowIDSuffix = ".rowids"

// A rowIDSketch writes down the hashes of one part's own row ids, 16 bytes a
// row: the id, and the source it came from. They are kept on disk, since nothing
// that a run holds may grow with its input.
type rowIDSketch struct {
	w    io.Writer
	pair [16]byte
}

func (s *rowIDSketch) add(r *drydock.Record) error {
	if r.RowID == "" {
		return nil
	}
	binary.LittleEndian.PutUint64(s.pair[:8], xxh3.HashString(r.RowID))
	binary.LittleEndian.PutUint64(s.pair[8:], sourceHash(r))
	_, err := s.w.Write(s.pair[:])
	return err
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

// rowIDPasses is how often the sketches are read, a share of the ids each time:
// sorting needs them side by side.
const rowIDPasses = 16

// newRowIDs reads the sketches and removes them.
func newRowIDs(sketches []string) (*rowIDs, error) {
	ids := &rowIDs{map[uint64]bool{}, map[[2]uint64]uint8{}}
	var some []uint64
	for top := range uint64(rowIDPasses) {
		some = some[:0]
		err := eachRowID(sketches, func(id, _ uint64) {
			if id%rowIDPasses == top {
				some = append(some, id)
			}
		})
		if err != nil {
			return nil, err
		}
		slices.Sort(some)
		for i := 1; i < len(some); i++ {
			if some[i] == some[i-1] {
				ids.shared[some[i]] = true
			}
		}
	}
	err := eachRowID(sketches, func(id, source uint64) {
		if ids.shared[id] {
			k := [2]uint64{id, source}
			ids.inSource[k] = min(ids.inSource[k]+1, 2)
		}
	})
	if err != nil {
		return nil, err
	}
	for _, path := range sketches {
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

func eachRowID(sketches []string, visit func(id, source uint64)) error {
	in := bufio.NewReaderSize(nil, 64<<10)
	for _, path := range sketches {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		in.Reset(f)
		var pair [16]byte
		for err == nil {
			if _, err = io.ReadFull(in, pair[:]); err == nil {
				visit(binary.LittleEndian.Uint64(pair[:8]), binary.LittleEndian.Uint64(pair[8:]))
			}
		}
		f.Close()
		if !errors.Is(err, io.EOF) {
			return err
		}
	}
	return nil
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
