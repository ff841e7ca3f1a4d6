package provenance

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// Opener opens a file that a step wrote. A nil file without an error says that
// it is not to be compared.
type Opener func(Artifact) (io.ReadCloser, error)

// FromFS opens the files of a file system by the very path the ledgers name.
func FromFS(fsys fs.FS) Opener {
	return func(a Artifact) (io.ReadCloser, error) { return fsys.Open(a.Path) }
}

// Options says what Check compares the ledgers with.
type Options struct {
	// Data opens the files that steps wrote: their hashes, sizes and line
	// counts are compared, and every line's hash with its lineage row. nil:
	// only the ledgers are checked.
	Data Opener
	// Sources opens the input files by the path within their source, to compare
	// their hashes. nil: not compared.
	Sources func(Source) (io.ReadCloser, error)
}

// Summary is what a folder of ledgers says, without its rows.
type Summary struct {
	Root    Root
	Sources []Source // in the order of the ledger
	Steps   []Step   // in the order they ran
	Profile Profile  // counts over all lineage rows
}

// maxFindings bounds the list of findings of one check; what is beyond is
// counted in a last line.
const maxFindings = 100

// Load reads a folder of ledgers and returns its first finding as an error.
func Load(ctx context.Context, ledgers fs.FS) (Summary, error) {
	s, list, err := Check(ctx, ledgers, Options{})
	if err == nil && len(list) > 0 {
		err = list.OrNil()
	}
	return s, err
}

// Check proves a folder of ledgers: hashes and the root hash, ids that follow
// from content, sums that close, rows that name known sources and steps, one
// lineage row for each line of each data file, with that line's hash. It
// streams; the findings name file and line. The error is for what could not be
// read at all.
func Check(ctx context.Context, ledgers fs.FS, o Options) (Summary, fail.List, error) {
	c := &checker{ctx: ctx, fsys: ledgers, o: o, book: newBook(), rows: newRows(), profile: newProfile()}
	if err := c.root(); err != nil {
		return c.sum, nil, err
	}
	for _, f := range []func() error{c.sources, c.steps, c.lineage, c.dropped} {
		if err := f(); err != nil {
			return c.sum, nil, err
		}
	}
	c.list = append(c.list, c.book.close()...)
	c.roots()
	c.sum.Profile = c.profile
	if c.more > 0 {
		c.list = append(c.list, fail.New(fail.Failed, msg.Text{"%d more findings", "另有 %d 处问题"}, c.more))
	}
	return c.sum, c.list, nil
}

type checker struct {
	ctx     context.Context
	fsys    fs.FS
	o       Options
	sum     Summary
	book    book
	rows    *rows
	profile Profile
	found   []LedgerFile // as read now
	list    fail.List
	more    int
	data    map[string]*cursor
}

func (c *checker) bad(file string, line int, t msg.Text, args ...any) {
	if len(c.list) >= maxFindings {
		c.more++
		return
	}
	c.list = append(c.list, fail.New(fail.Failed, t, args...).At(fail.Where{File: file, Line: line}))
}

func (c *checker) root() error {
	b, err := fs.ReadFile(c.fsys, RootFile)
	if err != nil {
		return err
	}
	if c.sum.Root, err = decodeRoot(b); err != nil {
		c.bad(RootFile, 0, msg.Text{"%v", "%v"}, err)
	}
	return nil
}

// roots compares root.json with what the files were when read.
func (c *checker) roots() {
	said := map[string]LedgerFile{}
	for _, f := range c.sum.Root.Files {
		said[f.Name] = f
	}
	for _, f := range c.found {
		switch s, ok := said[f.Name]; {
		case !ok:
			c.bad(RootFile, 0, msg.Text{"%s is not listed", "未列出 %s"}, f.Name)
		case s != f:
			c.bad(f.Name, 0, msg.Text{"differs from %s: %d {row|rows}, %d {byte|bytes}, sha256 %s; listed are %d {row|rows}, %d {byte|bytes}, sha256 %s", "与 %s 不符：%d 行，%d 字节，sha256 %s；所列为 %d 行，%d 字节，sha256 %s"},
				RootFile, f.Rows, f.Bytes, f.SHA256, s.Rows, s.Bytes, s.SHA256)
		}
	}
	if got := rootHash(c.found); got != c.sum.Root.Hash {
		c.bad(RootFile, 0, msg.Text{"root hash is %s, the files give %s", "根哈希为 %s，由文件算得 %s"}, c.sum.Root.Hash, got)
	}
}

// each reads one ledger line by line and hashes it on the way. do gets the line
// without its end; its error becomes a finding at that line.
func (c *checker) each(name string, do func(line []byte, n int) error) error {
	f, err := c.fsys.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	r := bufio.NewReaderSize(f, 256<<10)
	lf := LedgerFile{Name: name}
	var long []byte
	for {
		line, err := readLine(r, &long)
		if len(line) > 0 {
			h.Write(line)
			lf.Bytes += int64(len(line))
			lf.Rows++
			c.row(name, lf.Rows, do(bytes.TrimSuffix(line, []byte{'\n'}), lf.Rows))
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if lf.Rows&1023 == 0 && c.ctx.Err() != nil {
			return context.Cause(c.ctx)
		}
	}
	lf.SHA256 = hex.EncodeToString(h.Sum(nil))
	c.found = append(c.found, lf)
	return nil
}

// row makes a finding of what is wrong with a row; one that names its own place
// keeps it.
func (c *checker) row(name string, line int, err error) {
	var e *fail.Error
	switch {
	case err == nil:
	case errors.As(err, &e) && e.Where.File != "" && len(c.list) < maxFindings:
		c.list = append(c.list, e)
	default:
		c.bad(name, line, msg.Text{"%v", "%v"}, err)
	}
}

// maxRow bounds one line, so that a file without line ends cannot take all
// memory.
const maxRow = 64 << 20

// readLine returns the next line with its end. It is valid until the next call;
// long is the buffer for lines that the reader cannot hold.
func readLine(r *bufio.Reader, long *[]byte) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if err != bufio.ErrBufferFull {
		return line, err
	}
	b := append((*long)[:0], line...)
	for err == bufio.ErrBufferFull {
		line, err = r.ReadSlice('\n')
		b = append(b, line...)
		if len(b) > maxRow {
			return nil, fmt.Errorf("a line of more than %d MB", maxRow>>20)
		}
	}
	*long = b
	return b, err
}

func (c *checker) sources() error {
	return c.each(SourcesFile, func(line []byte, n int) error {
		s, err := decodeSource(line)
		if err != nil {
			return err
		}
		c.sum.Sources = append(c.sum.Sources, s)
		if err := c.book.source(&s); err != nil {
			return err
		}
		if c.o.Sources == nil {
			return nil
		}
		f, err := c.o.Sources(s)
		if errors.Is(err, fs.ErrNotExist) {
			return fail.New(fail.Failed, msg.Text{"source file %s is not there", "源文件 %s 不存在"}, s.File)
		}
		if err != nil {
			return err
		}
		defer f.Close()
		h := sha256.New()
		if _, err := io.Copy(h, f); err != nil {
			return err
		}
		if got := hex.EncodeToString(h.Sum(nil)); got != s.SHA256 {
			return fail.New(fail.Failed, msg.Text{"source file %s has sha256 %s, the ledger says %s", "源文件 %s 的 sha256 为 %s，账本记为 %s"}, s.File, got, s.SHA256)
		}
		return nil
	})
}

func (c *checker) steps() error {
	return c.each(StepsFile, func(line []byte, n int) error {
		s, err := decodeStep(line)
		if err != nil {
			return err
		}
		c.sum.Steps = append(c.sum.Steps, s)
		return c.book.step(&s)
	})
}

func (c *checker) lineage() error {
	if err := c.openData(); err != nil {
		return err
	}
	defer func() {
		for _, cur := range c.data {
			cur.close()
		}
	}()
	err := c.each(LineageFile, func(line []byte, n int) error {
		l, err := c.rows.lineage(line)
		if err != nil {
			return err
		}
		if err := c.book.lineage(&l); err != nil {
			return err
		}
		c.profile.add(&l)
		if cur := c.data[l.File]; cur != nil {
			return cur.compare(&l)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, path := range sortedKeys(c.data) {
		if err := c.finish(path, c.data[path]); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) dropped() error {
	return c.each(DroppedFile, func(line []byte, n int) error {
		d, err := c.rows.dropped(line)
		if err != nil {
			return err
		}
		return c.book.dropped(&d)
	})
}

// openData opens every file that a step wrote.
func (c *checker) openData() error {
	c.data = map[string]*cursor{}
	if c.o.Data == nil {
		return nil
	}
	for _, s := range c.sum.Steps {
		for _, a := range s.Outputs {
			f, err := c.o.Data(a)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				c.bad(StepsFile, s.Order, msg.Text{"step %s wrote %s, which is not there", "步骤 %s 写出的 %s 不存在"}, s.title(), a.Path)
				continue
			case err != nil:
				return err
			case f == nil:
				continue
			}
			if old := c.data[a.Path]; old != nil {
				old.close()
			}
			c.data[a.Path] = newCursor(f, a, s.title())
		}
	}
	return nil
}

// finish reads what no lineage row asked for and compares the whole file.
func (c *checker) finish(path string, cur *cursor) error {
	extra, err := cur.rest()
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if extra > 0 && cur.want.Role == RoleData {
		c.bad(path, cur.line-extra+1, msg.Text{"step %s: %d {line|lines} without a lineage row", "步骤 %s：有 %d 行没有血缘记录"}, cur.step, extra)
	}
	got := Artifact{Path: path, SHA256: hex.EncodeToString(cur.h.Sum(nil)), Bytes: cur.n, Records: cur.line, Role: cur.want.Role}
	if cur.want.Role == RoleReport || cur.want.Role == RoleTable {
		got.Records = cur.want.Records // its rows are no lines
	}
	if got != cur.want {
		c.bad(path, 0, msg.Text{"step %s wrote %d {record|records}, %d {byte|bytes}, sha256 %s; the file has %d, %d, %s", "步骤 %s 写出 %d 条记录，%d 字节，sha256 %s；文件为 %d，%d，%s"},
			cur.step, cur.want.Records, cur.want.Bytes, cur.want.SHA256, got.Records, got.Bytes, got.SHA256)
	}
	return nil
}

// a cursor walks one data file beside its lineage rows.
type cursor struct {
	f    io.ReadCloser
	r    *bufio.Reader
	h    hash.Hash
	n    int64
	line int
	want Artifact
	step string
	// rows whose hash differs
	wrong int
	long  []byte
	err   error
}

func newCursor(f io.ReadCloser, a Artifact, step string) *cursor {
	return &cursor{f: f, r: bufio.NewReaderSize(f, 256<<10), h: sha256.New(), want: a, step: step}
}

func (c *cursor) close() { c.f.Close() }

func (c *cursor) next() ([]byte, error) {
	if c.err != nil {
		return nil, c.err
	}
	b, err := readLine(c.r, &c.long)
	c.err = err
	if len(b) == 0 {
		return nil, err
	}
	c.line++
	c.n += int64(len(b))
	c.h.Write(b)
	return b, nil
}

func (c *cursor) compare(l *Lineage) error {
	place := fail.Where{File: l.File, Line: l.Line}
	b, err := c.next()
	if err == io.EOF {
		return fail.New(fail.Failed, msg.Text{"step %s: the line is missing", "步骤 %s：缺少该行"}, c.step).At(place)
	}
	if err != nil {
		return err
	}
	if got := RowHash(b); got != l.Row {
		// one line too many or too few shifts all that follow: the first tell
		// where, the sums tell how many
		if c.wrong++; c.wrong > 3 {
			return nil
		}
		return fail.New(fail.Failed, msg.Text{"step %s: the line has hash %s, its lineage row says %s", "步骤 %s：该行哈希为 %s，血缘记录为 %s"}, c.step, got, l.Row).At(place)
	}
	return nil
}

func (c *cursor) rest() (int, error) {
	n := 0
	for {
		_, err := c.next()
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		n++
	}
}
