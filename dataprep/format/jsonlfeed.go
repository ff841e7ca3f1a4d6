package format

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"os"
	"sync"
)

const (
	// feedUnit is about how much of a file one unit of a feed holds: little enough
	// that many wait in memory, and that the last ones end at about the same time.
	feedUnit = 1 << 20
	// feedSlack is how much more is read at once to find the end of the line.
	feedSlack = 64 << 10
	// feedMost is the largest unit that is handed out with its bytes.
	feedMost = 4 << 20
)

// A Feed reads a file of JSON Lines once, from its begin to its end, and hands out
// its units with their bytes: cutting, hashing and reading it by itself would be
// three passes over it, two of them before the first row. It serves several
// goroutines.
type Feed struct {
	file *File
	enc  textEncoding

	mu     sync.Mutex
	turn   sync.Cond
	src    *os.File // open from the first unit to the last
	hash   hash.Hash
	next   Unit // the one that is due
	free   [][]byte
	failed error
}

// Feed returns a feed of a file that the format cuts by its bytes alone, and nil for
// any other, which is read by its units. Close it at the end.
func (f *Format) Feed(file *File) (*Feed, error) {
	if f.Name != jsonlName {
		return nil, nil
	}
	src, err := os.Open(file.Path)
	if err != nil {
		return nil, cannotOpen(file, err)
	}
	defer src.Close()
	enc, err := rowsEncoding(src, file, func(Note) {})
	if err != nil || !enc.plain() {
		return nil, nil // its units say what is wrong, and what was chosen
	}
	d := &Feed{file: file, enc: enc, hash: sha256.New()}
	d.next = Unit{File: file, Line: 1, End: file.Size, enc: &d.enc}
	d.turn.L = &d.mu
	return d, nil
}

// Close ends the feed, wherever it is.
func (d *Feed) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closeFile()
}

func (d *Feed) closeFile() {
	if d.src != nil {
		d.src.Close()
		d.src = nil
	}
}

// Most is how many units there are at most.
func (d *Feed) Most() int { return int(d.file.Size/feedUnit) + 1 }

// Unit reads the unit of number i, from 0, as soon as all before it have been read;
// others then wait for theirs. behind is the one that follows, without its bytes and
// as if it went on to the end of the file; its End is 0 when there is none. Behind
// the last unit the error is io.EOF; one that the file gives is of kind
// [fail.Partial] and comes once.
func (d *Feed) Unit(ctx context.Context, i int) (u, behind Unit, err error) {
	stop := context.AfterFunc(ctx, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.turn.Broadcast()
	})
	defer stop()
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.next.Index != i && ctx.Err() == nil {
		d.turn.Wait()
	}
	if ctx.Err() != nil {
		return u, behind, context.Cause(ctx)
	}
	defer d.turn.Broadcast()
	u = d.next
	d.next.Index++
	if u.Start >= u.End || d.failed != nil {
		return u, behind, io.EOF
	}
	lines, err := d.read(&u)
	if err != nil || u.End == d.file.Size {
		d.closeFile()
	}
	if err != nil {
		d.failed = cannotOpen(d.file, err)
		return u, behind, d.failed
	}
	d.next.Start, d.next.Line = u.End, u.Line+lines
	if behind = d.next; behind.Start == behind.End {
		behind = Unit{}
	}
	return u, behind, nil
}

// Done takes back the bytes of a unit, which nobody reads any more.
func (d *Feed) Done(u Unit) {
	if u.bytes == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.free = append(d.free, u.bytes[:0])
}

// SHA256 is the hash, in hex, of what was read: of the whole file when Unit has
// returned io.EOF and never another error, and else empty.
func (d *Feed) SHA256() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failed != nil || d.next.Start < d.next.End {
		return ""
	}
	return hex.EncodeToString(d.hash.Sum(nil))
}

// read reads a unit, which begins where the last one ended, and finds its end: the
// first line end at or behind feedUnit bytes. It returns how many lines those are.
func (d *Feed) read(u *Unit) (lines int, err error) {
	if d.src == nil {
		if d.src, err = os.Open(d.file.Path); err != nil {
			return 0, err
		}
	}
	b := d.buffer()
	for size := int64(feedUnit + feedSlack); ; size *= 2 {
		if b, err = d.more(b, u.Start, min(size, u.End-u.Start)); err != nil {
			return 0, err
		}
		if u.Start+int64(len(b)) == u.End {
			break
		}
		if n := bytes.IndexByte(b[feedUnit:], '\n'); n >= 0 {
			b = b[:feedUnit+n+1]
			break
		}
		if size > feedMost {
			return d.long(u, b)
		}
	}
	u.End, u.bytes = u.Start+int64(len(b)), b
	d.hash.Write(b)
	return bytes.Count(b, []byte{'\n'}), nil
}

// buffer returns an empty one, of a unit that is done if there is any.
func (d *Feed) buffer() []byte {
	if n := len(d.free); n > 0 {
		b := d.free[n-1]
		d.free = d.free[:n-1]
		return b
	}
	return make([]byte, 0, min(d.file.Size, feedUnit+feedSlack))
}

// more reads on until b holds the size bytes of the file at offset at.
func (d *Feed) more(b []byte, at, size int64) ([]byte, error) {
	n := len(b)
	if int64(cap(b)) < size {
		b = append(make([]byte, 0, size), b...)
	}
	b = b[:size]
	_, err := io.ReadFull(io.NewSectionReader(d.src, at+int64(n), size-int64(n)), b[n:])
	return b, err
}

// long passes a unit that is too long to be held, from its first bytes b on.
func (d *Feed) long(u *Unit, b []byte) (lines int, err error) {
	end := u.Start
	for {
		i := -1
		if end > u.Start {
			i = bytes.IndexByte(b, '\n')
		}
		if i >= 0 {
			b = b[:i+1]
		}
		d.hash.Write(b)
		lines += bytes.Count(b, []byte{'\n'})
		if end += int64(len(b)); i >= 0 || end == u.End {
			u.End = end
			d.free = append(d.free, b[:0])
			return lines, nil
		}
		if b, err = d.more(b[:0], end, min(int64(cap(b)), u.End-end)); err != nil {
			return lines, err
		}
	}
}
