package pipeline

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/dedup/contam/report"
	"github.com/drydock-ml/drydock/internal/archive"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// A contamWalk looks at a file, and if it is an archive at all that lies in it:
// by its reader where there is one, else as bytes.
type contamWalk struct {
	check   *ContamCheck
	out     *contamUnit
	budget  *archive.Budget
	workers int
	deep    bool                    // as bytes only
	known   map[contam.ItemRef]bool // items that need no mention
}

// path looks at a file on disk as an archive or as bytes.
func (w *contamWalk) path(ctx context.Context, name, file string, depth int) error {
	f, err := os.Open(file)
	if err != nil {
		w.bad(name, err)
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		w.bad(name, err)
		return nil
	}
	r := bufio.NewReaderSize(f, format.HeadSize)
	head, _ := r.Peek(format.HeadSize)
	if k := archive.Detect(head); k != "" {
		return w.archive(ctx, k, name, archive.Source{Reader: r, At: f, Size: info.Size()}, depth+1)
	}
	if archive.IsParquet(head) {
		return w.parquet(ctx, name, f, info.Size())
	}
	return w.raw(ctx, name, r)
}

// parquet looks at the pages of a Parquet file as bytes.
func (w *contamWalk) parquet(ctx context.Context, name string, f *os.File, size int64) error {
	var stop error
	known := w.known
	w.known = maps.Clone(known)
	if w.known == nil {
		w.known = map[contam.ItemRef]bool{}
	}
	err := w.budget.Parquet(f, size, func(p archive.Page) error {
		from := len(w.out.hits)
		stop = w.raw(ctx, name, bufio.NewReaderSize(bytes.NewReader(p.Data), format.HeadSize))
		for i := range w.out.hits[from:] {
			h := &w.out.hits[from+i]
			h.Record.Locator = fmt.Sprintf("%s group %d page %d %s", p.Column, p.Group, p.Number, h.Record.Locator)
			h.Record.ID = h.Record.Locator
			if h.Fail { // a page repeats what others have
				w.known[h.Item] = true
			}
		}
		return stop
	}, func(column string, err error) { w.bad(name, err) })
	w.known = known
	if stop != nil {
		return stop
	}
	if err != nil { // without its footer it is bytes
		w.bad(name, err)
		return w.raw(ctx, name, bufio.NewReaderSize(io.NewSectionReader(f, 0, size), format.HeadSize))
	}
	return nil
}

// archive looks at every member.
func (w *contamWalk) archive(ctx context.Context, k archive.Kind, name string, src archive.Source, depth int) error {
	var stop error // ends more than this archive
	err := w.budget.Walk(k, src, depth, func(m archive.Member) error {
		inner, base := name, m.Name
		if k.Compressor() {
			base = strings.TrimSuffix(path.Base(name), path.Ext(name))
		} else {
			inner += "!" + m.Name
		}
		stop = w.member(ctx, inner, base, k, m.Reader, depth)
		return stop
	}, func(member string, err error) { w.bad(name+"!"+member, err) })
	if stop != nil {
		return stop
	}
	if err != nil {
		w.bad(name, err)
	}
	if err != nil && k == archive.Zip && !errors.Is(err, archive.ErrBound) { // without its directory it is bytes
		return w.raw(ctx, name, bufio.NewReaderSize(io.NewSectionReader(src.At, 0, src.Size), format.HeadSize))
	}
	return nil
}

// member looks at one file of an archive of kind in; base is the name it would
// have on disk.
func (w *contamWalk) member(ctx context.Context, name, base string, in archive.Kind, r io.Reader, depth int) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	br := bufio.NewReaderSize(r, format.HeadSize)
	head, _ := br.Peek(format.HeadSize)
	k := archive.Detect(head)
	if !w.deep && len(head) > 0 {
		if f := detected(head, base); f != nil {
			return w.onDisk(ctx, name, base, br, func(file string) error { return w.read(ctx, name, file, f) })
		}
	}
	if k != "" && !k.Compressor() && !in.Compressor() { // kb.tar.gz is one archive
		w.count(ReadArchive)
	}
	switch k {
	case "":
		w.count(ReadRaw)
		if archive.IsParquet(head) {
			return w.onDisk(ctx, name, base, br, func(file string) error { return w.path(ctx, name, file, depth) })
		}
		return w.raw(ctx, name, br)
	case archive.Zip:
		return w.onDisk(ctx, name, base, br, func(file string) error { return w.path(ctx, name, file, depth) })
	}
	return w.archive(ctx, k, name, archive.Source{Reader: br}, depth+1)
}

func (w *contamWalk) count(as ReadAs) {
	if w.deep {
		return
	}
	if w.out.members == nil {
		w.out.members = map[ReadAs]int{}
	}
	w.out.members[as]++
}

// read reads a member that lies on disk by its format.
func (w *contamWalk) read(ctx context.Context, name, file string, f *format.Format) error {
	in, err := openAs(ctx, name, file, w.check.Read, w.check.Note)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		w.count(ReadRaw)
		w.out.bad = append(w.out.bad, fail.All(err)...)
		return w.path(ctx, name, file, 0)
	}
	w.count(readsAs(f))
	for _, u := range in.Units {
		if err := w.unit(ctx, in, u, in.behind(u)); err != nil {
			return err
		}
	}
	return nil
}

// onDisk calls do with a file that holds what r gives and is gone afterwards.
func (w *contamWalk) onDisk(ctx context.Context, name, base string, r io.Reader, do func(file string) error) error {
	file, err := spool(ctx, w.check.tmp, base, r)
	if file != "" {
		defer os.Remove(file)
	}
	if err != nil {
		var known *fail.Error
		if !errors.As(err, &known) { // of the disk, not of the archive
			return err
		}
		w.bad(name, err)
	}
	return do(file)
}

// raw looks at bytes.
func (w *contamWalk) raw(ctx context.Context, name string, r *bufio.Reader) error {
	head, _ := r.Peek(archive.HeadSize)
	if packed := archive.Packed(head); packed != "" {
		w.bad(name, fail.New(fail.Partial, msg.Text{"what is packed in it (%s) was not looked into", "其中的压缩内容（%s）未检查"}, packed).
			Hint(msg.Text{"unpack it and give the files inside", "请解压后给出其中的文件"}))
	}
	if w.check.raw == nil && w.deep {
		return nil // the text has been read
	}
	if w.check.raw == nil {
		w.bad(name, fail.New(fail.Partial, msg.Text{"not looked into: this rule reads text only", "未检查：该规则仅读取文本"}))
		return nil
	}
	watch := packedBuffers{r: r, seen: !bytes.HasPrefix(head, []byte("ARROW1"))}
	hits, _, err := w.check.raw.Scan(ctx, &watch, w.workers)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		w.bad(name, err)
	}
	if watch.seen && bytes.HasPrefix(head, []byte("ARROW1")) {
		w.bad(name, fail.New(fail.Partial, msg.Text{"the compressed columns of this Arrow file were not looked into", "该 Arrow 文件的压缩列未检查"}).
			Hint(msg.Text{"write it without compression, or as Parquet", "请以不压缩的方式或 Parquet 格式重新写出"}))
	}
	if !w.deep {
		w.out.records++
	}
	u := &contamReader{check: w.check, out: w.out, file: name}
	for i := range hits {
		h := &hits[i]
		if w.known[h.Item] {
			continue
		}
		for _, b := range u.hits([]contam.Finding{h.Finding}, []byte(h.Text)) {
			b.Record.ID = b.Record.Locator
			b.Fields = []report.Field{{Pointer: h.Record.Pointer, Offset: h.From, Text: h.Text}}
			if b.Fail {
				w.out.failed++
			}
			w.out.hits = append(w.out.hits, b)
		}
	}
	return nil
}

// packedBuffers watches a stream for the marks of LZ4 and Zstandard frames.
type packedBuffers struct {
	r    io.Reader
	last [3]byte // of the bytes before
	seen bool    // it need not look any further
}

// Read implements io.Reader.
func (p *packedBuffers) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	if p.seen || n == 0 {
		return n, err
	}
	seam := append(p.last[:len(p.last):len(p.last)], b[:min(n, 3)]...)
	for _, mark := range []string{"\x28\xb5\x2f\xfd", "\x04\x22\x4d\x18"} {
		p.seen = p.seen || bytes.Contains(b[:n], []byte(mark)) || bytes.Contains(seam, []byte(mark))
	}
	if n >= 3 {
		copy(p.last[:], b[n-3:n])
	} else {
		copy(p.last[:], seam[len(seam)-3:])
	}
	return n, err
}

// bad notes what was not looked at, with the file it belongs to.
func (w *contamWalk) bad(name string, err error) {
	for _, e := range fail.All(err) {
		if e.Where.File == "" {
			e.At(fail.Where{File: name})
		}
		if !slices.ContainsFunc(w.out.bad, func(o *fail.Error) bool { return o.Where == e.Where && o.Error() == e.Error() }) {
			w.out.bad = append(w.out.bad, e)
		}
	}
}
