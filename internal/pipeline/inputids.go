package pipeline

import (
	"bufio"
	"os"

	"github.com/zeebo/xxh3"

	"github.com/drydock-ml/drydock"
)

// InputIDs finds the ids that stand in several inputs. What it remembers of each
// row is on disk, so that its memory does not grow with the input.
type InputIDs struct {
	path  string
	file  *os.File
	out   *bufio.Writer
	seen  rowIDSketch
	used  map[string]bool
	twice map[uint64]bool
}

// NewInputIDs begins a sketch in the file path.
func NewInputIDs(path string) (*InputIDs, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	w := bufio.NewWriterSize(f, 64<<10)
	return &InputIDs{path: path, file: f, out: w, seen: rowIDSketch{w: w}, used: map[string]bool{}}, nil
}

// Source names an input after its file, with a number when that is taken.
func (s *InputIDs) Source(path string) string { return sourceName(path, s.used) }

// Add notes that a source has a row of an id.
func (s *InputIDs) Add(id string, source *drydock.File) error {
	return s.seen.add(&drydock.Record{RowID: id, Origin: drydock.Origin{File: source}})
}

// Settle ends the adding; [InputIDs.Shared] may be asked then.
func (s *InputIDs) Settle() error {
	err := s.out.Flush()
	if cerr := s.file.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	ids, err := newRowIDs([]string{s.path})
	if err != nil {
		return err
	}
	sources := map[uint64]int{}
	for k := range ids.inSource {
		sources[k[0]]++
	}
	s.twice = map[uint64]bool{}
	for id, n := range sources {
		if n > 1 {
			s.twice[id] = true
		}
	}
	return nil
}

// Any reports whether there is an id that several sources have.
func (s *InputIDs) Any() bool { return len(s.twice) > 0 }

// Shared reports whether several sources have the id.
func (s *InputIDs) Shared(id string) bool { return s.twice[xxh3.HashString(id)] }
