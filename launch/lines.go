package launch

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
)

// A splitter cuts a stream into lines. A carriage return that no line feed
// follows ends a progress bar; lines without end are cut at maxLine.
type splitter struct {
	buf []byte
	cr  bool // the last byte was a carriage return
}

func (s *splitter) write(b []byte, line func(text []byte, bar bool) error) error {
	for _, c := range b {
		if s.cr {
			s.cr = false
			if err := s.cut(c != '\n', line); err != nil {
				return err
			}
			if c == '\n' {
				continue
			}
		}
		var err error
		switch {
		case c == '\r':
			s.cr = true
		case c == '\n':
			err = s.cut(false, line)
		default:
			if s.buf = append(s.buf, c); len(s.buf) == maxLine {
				err = s.cut(false, line)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *splitter) cut(bar bool, line func([]byte, bool) error) error {
	text := bytes.TrimRight(s.buf, " \t")
	s.buf = s.buf[:0]
	if bar && len(text) == 0 {
		return nil
	}
	return line(text, bar)
}

// end hands on what stands after the last line end.
func (s *splitter) end(line func([]byte, bool) error) error {
	if len(s.buf) == 0 {
		return nil
	}
	return s.cut(false, line)
}

// maxTail is how much of a followed file is read at a time.
const maxTail = 8 << 20

// A tail reads what is appended to a file, from where it ended when the tail was
// made.
type tail struct {
	name, path string
	at         int64
}

func newTail(name, path string) *tail {
	t := &tail{name: name, path: path}
	if info, err := os.Stat(path); err == nil {
		t.at = info.Size()
	}
	return t
}

// read hands on the whole lines that are new. A file that is not there yet has
// none; one that got shorter was written anew.
func (t *tail) read(line func([]byte) error) error {
	f, err := os.Open(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() < t.at {
		t.at = 0
	}
	b, err := io.ReadAll(io.NewSectionReader(f, t.at, min(info.Size()-t.at, maxTail)))
	if err != nil {
		return err
	}
	if len(b) == maxTail && bytes.IndexByte(b, '\n') < 0 {
		t.at += maxTail // no line of figures is that long
		return nil
	}
	for {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			return nil
		}
		if text := bytes.TrimRight(b[:i], "\r"); len(text) > 0 {
			if err := line(text); err != nil {
				return err
			}
		}
		t.at += int64(i) + 1
		b = b[i+1:]
	}
}
