package pipeline

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/internal/archive"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/runstore"
)

// Members are the files that lie in archives among the inputs, copied to disk
// so that they are read as any file is. Close removes them. The zero value keeps
// them where the system keeps temporary files.
type Members struct {
	Dir string // existing folder that holds the copies while they are needed

	mu  sync.Mutex
	tmp string // made for the first archive
}

// A member is one file of an archive.
type member struct {
	name string // outer.zip!inner/a.docx, as messages and ledgers show it
	path string // of the copy
	err  error  // it could not be unpacked; others could
}

// Close removes the copies.
func (m *Members) Close() error {
	if m.tmp == "" {
		return nil
	}
	return os.RemoveAll(m.tmp)
}

func (m *Members) folder() (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var err error
	if m.tmp == "" {
		m.tmp, err = os.MkdirTemp(m.Dir, ".tmp-members-*") // the name runstore.Sweep knows
	}
	return m.tmp, err
}

// packedAs is the kind of archive a file is read as; empty for a file that has
// a reader of its own, as many that are ZIP archives do, and for any other.
func packedAs(head []byte, name string) archive.Kind {
	k := archive.Detect(head)
	if k != archive.Zip {
		return k
	}
	if _, _, err := format.Detect(head, name); err == nil || format.IsOtherDocument(head) {
		return ""
	}
	return k
}

// unpack copies out what lies in the archive at file, which goes by name, and in
// archives inside it, in order. It is false when file is no archive. What is
// wrong with a member stands in it; an error is of the disk or the context.
func (m *Members) unpack(ctx context.Context, name, file string) (_ []member, archived bool, err error) {
	head, err := headOf(file)
	if err != nil {
		return nil, false, nil // opening it says why
	}
	k := packedAs(head, file)
	if k == "" {
		return nil, false, nil
	}
	dir, err := m.folder()
	if err != nil {
		return nil, true, err
	}
	u := &unpacker{ctx: ctx, dir: dir, budget: archive.NewBudget(archive.DefaultLimits()), seen: map[string]int{}}
	if err := u.file(k, name, path.Base(name), file, 1); err != nil {
		return nil, true, err
	}
	if len(u.out) == 0 {
		u.bad(name, fail.New(fail.Partial, msg.Text{"the archive holds no files", "压缩包中没有文件"}))
	}
	return u.out, true, nil
}

// An unpacker works through one input.
type unpacker struct {
	ctx    context.Context
	dir    string
	budget *archive.Budget
	out    []member
	seen   map[string]int // how often a name came: an archive may repeat one
}

func (u *unpacker) bad(name string, err error) {
	for _, e := range fail.All(err) {
		if e.Where.File == "" {
			e.At(fail.Where{File: name})
		}
		u.out = append(u.out, member{name: name, err: e})
	}
}

// file walks an archive on disk.
func (u *unpacker) file(k archive.Kind, name, base, file string, depth int) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return u.archive(k, name, base, archive.Source{Reader: bufio.NewReader(f), At: f, Size: info.Size()}, depth)
}

func (u *unpacker) archive(k archive.Kind, name, base string, src archive.Source, depth int) error {
	var stop error // ends more than this archive
	err := u.budget.Walk(k, src, depth, func(m archive.Member) error {
		inner, innerBase := name+"!"+m.Name, path.Base(m.Name)
		if k.Compressor() {
			inner, innerBase = name, strings.TrimSuffix(base, path.Ext(base))
		} else if isHidden(m.Name) {
			return nil
		}
		stop = u.member(inner, innerBase, m.Reader, depth)
		return stop
	}, func(member string, err error) { u.bad(name+"!"+member, err) })
	if stop == nil && err != nil {
		u.bad(name, err)
	}
	return stop
}

// isHidden reports the names a walk of a folder passes over, and the shadows
// macOS packs beside files.
func isHidden(name string) bool {
	for _, elem := range strings.Split(name, "/") {
		if strings.HasPrefix(elem, ".") && elem != "." && elem != ".." || strings.HasPrefix(elem, "~$") || elem == "__MACOSX" {
			return true
		}
	}
	return false
}

// member copies one file out, or walks it where it is an archive.
func (u *unpacker) member(name, base string, r io.Reader, depth int) error {
	if u.ctx.Err() != nil {
		return context.Cause(u.ctx)
	}
	br := bufio.NewReaderSize(r, format.HeadSize)
	head, _ := br.Peek(format.HeadSize)
	k := packedAs(head, base)
	if k != "" && k != archive.Zip {
		return u.archive(k, name, base, archive.Source{Reader: br}, depth+1)
	}
	file, err := spool(u.ctx, u.dir, base, br)
	var known *fail.Error
	switch {
	case errors.As(err, &known): // of the archive, not of the disk
		u.bad(name, err)
		return os.Remove(file)
	case err != nil:
		return err
	case k == archive.Zip:
		if err := u.file(k, name, base, file, depth+1); err != nil {
			return err
		}
		return os.Remove(file)
	}
	if u.seen[name]++; u.seen[name] > 1 {
		name = fmt.Sprintf("%s#%d", name, u.seen[name])
	}
	u.out = append(u.out, member{name: name, path: file})
	return nil
}

// spool copies r to a new file in dir that has the extension of base, by which
// some formats are told. An error may come with the file.
func spool(ctx context.Context, dir, base string, r io.Reader) (file string, err error) {
	ext := path.Ext(base)
	if len(ext) > 12 || strings.ContainsAny(ext, `/\:*?"<>|`) {
		ext = ""
	}
	f, err := os.CreateTemp(dir, "*"+ext)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(f, contextReader{ctx, r})
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return f.Name(), err
}

// A contextReader ends with the context.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (c contextReader) Read(p []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.r.Read(p)
}

// OpenInputs is [OpenInput] for a file that may be an archive: it gives one file
// for each that lies in it, by the name outer.zip!inner.jsonl and with the hash
// of the archive. What could not be opened is in bad; an error is of the disk or
// the context.
func (m *Members) OpenInputs(ctx context.Context, name string, o format.Options, note func(format.Note)) (files []*InputFile, bad fail.List, err error) {
	members, archived, err := m.unpack(ctx, filepath.ToSlash(name), name)
	if err != nil {
		return nil, nil, err
	}
	if !archived {
		in, err := OpenInput(ctx, name, o, note)
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		if err != nil {
			return nil, fail.All(err), nil
		}
		return []*InputFile{in}, nil, nil
	}
	sum, err := runstore.HashFile(name)
	if err != nil {
		return nil, nil, err
	}
	for _, mem := range members {
		if mem.err != nil {
			bad = append(bad, fail.All(mem.err)...)
			continue
		}
		in, err := openAs(ctx, mem.name, mem.path, o, note)
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		if err != nil {
			bad = append(bad, fail.All(err)...)
			continue
		}
		in.File.SHA256 = sum
		files = append(files, in)
	}
	return files, bad, nil
}
