package pipeline

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/internal/archive"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/runstore"
)

// A contamFile is an input, opened.
type contamFile struct {
	name, path string
	sha256     string
	size       int64
	in         *InputFile   // of a format that is read; else nil
	feed       *format.Feed // where one pass over it is enough: it has no units yet
	pack       archive.Kind // of an archive; else empty
	bad        fail.List    // what is wrong with it
	gone       bool         // it cannot even be looked at
}

// open looks at a file. What is no regular file is gone; what no reader takes
// is an archive or bytes.
func (c *ContamCheck) open(ctx context.Context, path string) contamFile {
	f := contamFile{name: filepath.ToSlash(path), path: path}
	head, err := headOf(path)
	if err != nil || len(head) == 0 || detected(head, path) != nil {
		err := c.openRead(ctx, &f)
		if err == nil {
			return f
		}
		f.in, f.bad = nil, fail.All(err)
		if len(head) == 0 {
			f.gone = true
			return f
		}
	}
	f.pack = archive.Detect(head)
	if info, err := os.Stat(path); err == nil {
		f.size = info.Size()
	}
	f.gone = !f.hash()
	return f
}

// openRead opens a file that has a reader. A shard is dealt out by the units of the
// whole, so that these must be known.
func (c *ContamCheck) openRead(ctx context.Context, f *contamFile) error {
	meta, kind, err := format.Open(&drydock.File{Name: f.name}, f.path, c.Read, c.Note)
	if err != nil {
		return err
	}
	f.in, f.size = &InputFile{File: meta, Kind: kind}, meta.Size
	if c.Shard.Of == 0 {
		if f.feed, err = kind.Feed(meta); f.feed != nil || err != nil {
			return err
		}
	}
	return f.in.cut(ctx)
}

func (f *contamFile) close() {
	if f.feed != nil {
		f.feed.Close()
	}
}

// sum returns the file's hash once it has been looked at; empty when it could not be
// read to its end.
func (f *contamFile) sum() string {
	if f.feed != nil {
		return f.feed.SHA256()
	}
	return f.sha256
}

// hash takes the file's hash, unless that is done or its feed does it; false when it
// cannot be read.
func (f *contamFile) hash() bool {
	if f.gone || f.feed != nil || f.sha256 != "" {
		return true
	}
	var err error
	if f.sha256, err = runstore.HashFile(f.path); err != nil {
		f.bad = append(f.bad, fail.New(fail.Partial, msg.Text{"%v", "%v"}, err))
	}
	return err == nil
}

// detected returns the format that reads the file, nil when none does. A pickle of
// protocol 0, whose strings stand on lines, is no text.
func detected(head []byte, name string) *format.Format {
	f, _, err := format.Detect(head, name)
	if err != nil || f.Name == "text" && slices.Contains([]string{".pkl", ".pickle"}, strings.ToLower(path.Ext(name))) {
		return nil
	}
	return f
}

// headOf returns the first bytes of a regular file.
func headOf(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.ErrUnsupported
	}
	r, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, format.HeadSize))
}

// units is how many there are, or may be.
func (f *contamFile) units() int {
	switch {
	case f.feed != nil:
		return f.feed.Most()
	case f.in != nil:
		return len(f.in.Units)
	}
	return 1
}

// unitSize is how many bytes of the file a unit holds; as long as a feed has not cut
// it, the first stands for all.
func (f *contamFile) unitSize(unit int) int64 {
	switch {
	case f.feed != nil && unit > 0:
		return 0
	case f.feed != nil || f.in == nil:
		return f.size
	}
	return f.in.Units[unit].End - f.in.Units[unit].Start
}

// onlyRows reports whether the file is rows of JSON.
func (f *contamFile) onlyRows() bool {
	return f.in != nil && (f.in.Kind.Name == "jsonl" || f.in.Kind.Name == "json")
}

func (f *contamFile) kind() string {
	switch {
	case f.in != nil:
		return f.in.Kind.Name
	case f.pack != "":
		return string(f.pack)
	}
	return string(ReadRaw)
}

func (f *contamFile) readAs() ReadAs {
	switch {
	case f.in != nil:
		return readsAs(f.in.Kind)
	case f.pack != "":
		return ReadArchive
	}
	return ReadRaw
}

// readsAs says what a format's blocks are, for the most part.
func readsAs(k *format.Format) ReadAs {
	if k.HoldsRows() || k.Name == "csv" || k.Name == "xlsx" {
		return ReadRows
	}
	return ReadText
}

// readsAll reports whether a reader gives every text of a file. The others leave
// out what is no part of the text: scripts, comments, properties, embedded files.
func readsAll(k *format.Format) bool {
	return k.HoldsRows() || slices.Contains([]string{"csv", "markdown", "text"}, k.Name)
}

// work checks one unit of a file on up to inner goroutines.
func (c *ContamCheck) work(ctx context.Context, f *contamFile, unit, inner int, out *contamUnit) error {
	w := &contamWalk{check: c, out: out, budget: archive.NewBudget(archive.DefaultLimits()), workers: inner}
	if f.feed != nil {
		return w.fed(ctx, f, unit)
	}
	out.size = f.unitSize(unit)
	if f.in != nil {
		u := f.in.Units[unit]
		return w.unit(ctx, f.in, u, f.in.behind(u))
	}
	return w.path(ctx, f.name, f.path, 0)
}

// fed reads one unit of a file that is read once.
func (w *contamWalk) fed(ctx context.Context, f *contamFile, unit int) error {
	u, next, err := f.feed.Unit(ctx, unit)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		w.out.bad = fail.All(err)
		return nil
	}
	defer f.feed.Done(u)
	w.out.size = u.End - u.Start
	var behind *drydock.Document
	if next.End > 0 {
		behind = f.in.Kind.Document(next, nil)
	}
	return w.unit(ctx, f.in, u, behind)
}

// unit reads one unit of a file that has a format; behind is the one that follows,
// if any.
func (w *contamWalk) unit(ctx context.Context, in *InputFile, u format.Unit, behind *drydock.Document) error {
	before := len(w.out.hits)
	scanner := w.check.pool.take()
	defer w.check.pool.give(scanner)
	r := &contamReader{check: w.check, out: w.out, scanner: scanner, behind: behind}
	w.out.broken = false
	if err := r.read(ctx, in.Kind.Document(u, w.check.Note)); err != nil {
		return err
	}
	switch {
	case w.out.broken:
		w.out.bad = append(w.out.bad, fail.New(fail.Partial, msg.Text{"the reader gave up; the rest was checked as bytes", "读取中止；其余内容已按字节检查"}).
			At(fail.Where{File: in.Name()}))
	case readsAll(in.Kind):
		return nil
	}
	// what the reader has found needs no second mention
	known := map[contam.ItemRef]bool{}
	for i := range w.out.hits[before:] {
		known[w.out.hits[before+i].Item] = true
	}
	deep := &contamWalk{check: w.check, out: w.out, budget: w.budget, workers: w.workers, deep: true, known: known}
	if readsAll(in.Kind) { // one unit of rows
		file, err := os.Open(in.File.Path)
		if err != nil {
			return err
		}
		defer file.Close()
		return deep.raw(ctx, in.Name(), bufio.NewReaderSize(io.NewSectionReader(file, u.Start, u.End-u.Start), format.HeadSize))
	}
	return deep.path(ctx, in.Name(), in.File.Path, 0)
}
