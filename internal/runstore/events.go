package runstore

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// eventsName is the file of a run's events, one JSON object a line.
const eventsName = "events.jsonl"

// An EventReader reads the events of a run as they are appended, from the first
// on. A line that is being written is met when it is whole.
type EventReader struct {
	path string
	at   int64
}

// Events returns a reader of the events of the run in dir.
func Events(dir string) *EventReader { return &EventReader{path: filepath.Join(dir, eventsName)} }

// Read calls line with each whole line that is new. The bytes are valid until
// line returns.
func (r *EventReader) Read(line func([]byte) error) error {
	f, err := os.Open(r.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Seek(r.at, io.SeekStart); err != nil {
		return err
	}
	b, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	for {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			return nil
		}
		r.at += int64(i) + 1
		if err := line(b[:i]); err != nil {
			return err
		}
		b = b[i+1:]
	}
}
