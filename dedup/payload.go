package dedup

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/zeebo/xxh3"
)

// A payload is a draft as it waits for Decide: 8 bytes that are equal for equal
// frames, the answer's hash (4 bytes), then role, text and signs of each part,
// the last two with their lengths before them.
const payloadHead = 8 + 4

// appendPayload writes the draft down.
func (d *draft) appendPayload(dst []byte, answer uint32) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, xxh3.Hash(d.frame))
	dst = binary.LittleEndian.AppendUint32(dst, answer)
	for _, p := range d.parts {
		dst = append(dst, byte(p.role))
		dst = binary.AppendUvarint(dst, uint64(p.text-p.from))
		dst = append(dst, d.buf[p.from:p.text]...)
		dst = binary.AppendUvarint(dst, uint64(p.sign-p.text))
		dst = append(dst, d.buf[p.text:p.sign]...)
	}
	return dst
}

// A saved record is a payload taken apart; the parts point into it.
type saved struct {
	frame  uint64
	answer uint32
	parts  []part
}

func (s *saved) read(b []byte) {
	s.frame, s.answer, s.parts = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint32(b[8:]), s.parts[:0]
	for b = b[payloadHead:]; len(b) > 0; {
		p := part{role: role(b[0])}
		p.text, b = cutText(b[1:])
		p.signs, b = cutText(b)
		s.parts = append(s.parts, p)
	}
}

func cutText(b []byte) (text, rest []byte) {
	n, size := binary.Uvarint(b)
	b = b[size:]
	return b[:n], b[n:]
}

// A spool bounds the memory that waiting payloads take: what is beyond the limit
// goes to one temporary file.
type spool struct {
	dir   string
	limit int64
	held  atomic.Int64 // bytes in memory

	mu   sync.Mutex
	file *os.File
	size int64
}

// payloads are those of one unit, in order. The last ones are in memory, those
// before in the spool's file.
type payloads struct {
	starts []int64 // of each record, counted from the unit's first byte
	tail   []byte
	base   int64 // where tail starts
	runs   []spoolRun
}

// A spoolRun is a stretch of a unit's payloads in the file.
type spoolRun struct{ start, offset int64 }

// add appends the payload of one record.
func (p *payloads) add(d *draft, answer uint32) {
	p.starts = append(p.starts, p.base+int64(len(p.tail)))
	p.tail = d.appendPayload(p.tail, answer)
}

// settle moves the tail to the file when more is held than should be. grown is
// how many bytes came since the last call.
func (s *spool) settle(p *payloads, grown int) error {
	if s.held.Add(int64(grown)) <= s.limit || len(p.tail) == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		f, err := os.CreateTemp(s.dir, ".tmp-dedup-*")
		if err != nil {
			return err
		}
		// where the system lets an open file lose its name nothing can be left behind
		_ = os.Remove(f.Name())
		s.file = f
	}
	if _, err := s.file.WriteAt(p.tail, s.size); err != nil {
		return fmt.Errorf("waiting texts: %w", err)
	}
	p.runs = append(p.runs, spoolRun{p.base, s.size})
	s.size += int64(len(p.tail))
	s.held.Add(-int64(len(p.tail)))
	p.base += int64(len(p.tail))
	p.tail = p.tail[:0]
	return nil
}

// payload returns record i of a unit; buf is used when it has to be read.
func (s *spool) payload(p *payloads, i int, buf []byte) (data, next []byte, err error) {
	from, to := p.starts[i], p.base+int64(len(p.tail))
	if i+1 < len(p.starts) {
		to = p.starts[i+1]
	}
	if from >= p.base {
		return p.tail[from-p.base : to-p.base], buf, nil
	}
	k, found := slices.BinarySearchFunc(p.runs, from, func(r spoolRun, at int64) int { return cmp.Compare(r.start, at) })
	if !found {
		k--
	}
	buf = slices.Grow(buf[:0], int(to-from))[:to-from]
	if _, err := s.file.ReadAt(buf, p.runs[k].offset+from-p.runs[k].start); err != nil {
		return nil, buf, fmt.Errorf("waiting texts: %w", err)
	}
	return buf, buf, nil
}

// close removes the file.
func (s *spool) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	_ = os.Remove(s.file.Name()) // gone already where open files can lose their names
	s.file = nil
	return err
}
