package format

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	pq "github.com/parquet-go/parquet-go/format"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/msg"
)

const (
	parquetMagic     = "PAR1"
	parquetEncrypted = "PARE"
)

// parquetFormat reads Parquet files: each row as a JSON object, row group by
// row group, in the order of the file.
func parquetFormat() Format {
	return Format{
		Name:    "parquet",
		Exts:    []string{".parquet", ".pq"},
		Summary: msg.Text{"Parquet: typed columns, each row as a JSON object", "Parquet：带类型的列，每行为一个 JSON 对象"},
		Sniff: func(head []byte, _ string) bool {
			return bytes.HasPrefix(head, []byte(parquetMagic)) || bytes.HasPrefix(head, []byte(parquetEncrypted))
		},
		Cut:  cutParquet,
		Read: readParquet,
	}
}

// A pqFile is a Parquet file whose footer was read.
type pqFile struct {
	file *os.File
	meta pq.FileMetaData
	root *pqNode
	// starts is where each row group begins in the file, by its first column;
	// before says how many rows stand in front of it.
	starts []int64
	before []int64
}

// openParquet reads the footer. A panic of the library over a broken one comes
// back as an error.
func openParquet(file *File, note func(Note)) (f *pqFile, err error) {
	r, err := os.Open(file.Path)
	if err != nil {
		return nil, cannotOpen(file, err)
	}
	defer func() {
		if v := recover(); v != nil {
			err = badParquet(file, fmt.Errorf("%v", v))
		}
		if err != nil {
			r.Close()
		}
	}()
	f = &pqFile{file: r}
	if err := f.readFooter(file); err != nil {
		return nil, err
	}
	root, again, err := parquetTree(f.meta.Schema)
	if err != nil {
		return nil, badParquet(file, err)
	}
	if len(again) > 0 {
		note(repeatedNames(file, again))
	}
	f.root = root
	return f, f.layOut(file)
}

// repeatedNames says that fields were renamed.
func repeatedNames(file *File, names []string) Note {
	slices.Sort(names)
	return Note{Code: "repeated_field", Text: msg.Text{
		"%s: a field name stands more than once in a row; the later ones are read as NAME_2, NAME_3: %v",
		"%s：同一行中有重名字段；后出现的读作 NAME_2、NAME_3：%v",
	}, Args: []any{file.name(), slices.Compact(names)}}
}

// readFooter reads what the file says of itself, and says plainly what makes it
// unreadable as a whole.
func (f *pqFile) readFooter(file *File) error {
	var head, tail [8]byte
	if file.Size < 12 {
		return truncatedParquet(file)
	}
	if _, err := f.file.ReadAt(head[:4], 0); err != nil {
		return cannotOpen(file, err)
	}
	if _, err := f.file.ReadAt(tail[:], file.Size-8); err != nil {
		return cannotOpen(file, err)
	}
	switch first, last := string(head[:4]), string(tail[4:]); {
	case first == parquetEncrypted || last == parquetEncrypted:
		return encryptedParquet(file)
	case first == parquetMagic && last != parquetMagic:
		return truncatedParquet(file)
	case first != parquetMagic:
		return badParquet(file, errors.New("it does not begin with PAR1"))
	}
	size := int64(binary.LittleEndian.Uint32(tail[:4]))
	if size > file.Size-12 {
		return badParquet(file, fmt.Errorf("the footer claims %d bytes", size))
	}
	footer := make([]byte, size)
	if _, err := f.file.ReadAt(footer, file.Size-8-size); err != nil {
		return cannotOpen(file, err)
	}
	in := new(thrift.CompactProtocol).NewReaderFromBytes(footer)
	if err := thrift.NewDecoder(in).Decode(&f.meta); err != nil {
		return badParquet(file, fmt.Errorf("its footer: %w", err))
	}
	if f.meta.EncryptionAlgorithm.Value != nil {
		return encryptedParquet(file) // of some columns; the footer is only signed
	}
	return nil
}

func truncatedParquet(file *File) error {
	return unreadable(file, msg.Text{"the Parquet file is cut off: its footer is missing", "Parquet 文件不完整：缺少文件尾"}).
		Hint(msg.Text{
			"nothing in it can be found without the footer; it may be an interrupted download or copy; get it again",
			"没有文件尾就无法定位其中的内容；可能是下载或复制中断所致，请重新获取",
		})
}

func encryptedParquet(file *File) error {
	return unreadable(file, msg.Text{"the Parquet file is encrypted", "Parquet 文件已加密"}).
		Hint(msg.Text{"write it without encryption and try again", "请另存为不加密的文件后再试"})
}

func badParquet(file *File, err error) error {
	return unreadable(file, msg.Text{"not a Parquet file that can be read: %s", "无法读取此 Parquet 文件：%s"}, plainFault(err)).
		Hint(msg.Text{"write it again, or export the rows as JSONL", "请重新写出，或将数据导出为 JSONL"})
}

// plainFault is what a library says of a file, without its own name in front.
func plainFault(err error) string {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "it ends too early"
	}
	return err.Error()
}

// layOut finds where the row groups stand and checks what they claim.
func (f *pqFile) layOut(file *File) error {
	leafs := f.root.end
	rows := int64(0)
	for i, g := range f.meta.RowGroups {
		if len(g.Columns) != leafs {
			return badParquet(file, fmt.Errorf("row group %d has %d columns, the schema %d", i+1, len(g.Columns), leafs))
		}
		for _, c := range g.Columns {
			if c.CryptoMetadata.Value != nil {
				return encryptedParquet(file)
			}
		}
		if g.NumRows < 0 {
			return badParquet(file, fmt.Errorf("row group %d claims %d rows", i+1, g.NumRows))
		}
		f.starts = append(f.starts, chunkStart(&g.Columns[0].MetaData))
		f.before = append(f.before, rows)
		rows += g.NumRows
	}
	return nil
}

// cutParquet gives units of about 4 MB of whole row groups, where these stand in
// the order of the file.
func cutParquet(_ context.Context, file *File) iter.Seq2[Unit, error] {
	return func(yield func(Unit, error) bool) {
		f, err := openParquet(file, func(Note) {})
		if err != nil {
			yield(Unit{}, err)
			return
		}
		defer f.file.Close()
		u := Unit{File: file, Line: 1, End: file.Size}
		if !slices.IsSorted(f.starts) {
			yield(u, nil)
			return
		}
		for i, at := range f.starts {
			if i == 0 || at-u.Start < unitSize || at >= file.Size {
				continue
			}
			u.End = at
			if !yield(u, nil) {
				return
			}
			u = Unit{File: file, Index: u.Index + 1, Start: at, End: file.Size, Line: int(f.before[i]) + 1}
		}
		yield(u, nil)
	}
}

// readParquet gives the rows of the row groups that begin in the unit.
func readParquet(_ context.Context, u Unit, note func(Note)) iter.Seq2[drydock.Block, error] {
	return func(yield func(drydock.Block, error) bool) {
		f, err := openParquet(u.File, note)
		if err != nil {
			yield(drydock.Block{}, err)
			return
		}
		defer f.file.Close()
		w := &rowWalk{file: u.File, yield: yield}
		for i, at := range f.starts {
			whole := u.Start == 0 && u.End == u.File.Size
			if !whole && (at < u.Start || at >= u.End) {
				continue
			}
			if !f.group(w, i) {
				break
			}
		}
		w.values.tell(u.File, note)
	}
}

// A rowWalk passes rows of typed columns on as JSON.
type rowWalk struct {
	file   *File
	yield  func(drydock.Block, error) bool
	values columnValues
	buf    []byte
	keys   mapKeys
}

// row passes on what stands in buf. A map that names a key twice makes it a
// drop: an object would lose one of the values.
func (w *rowWalk) row(n int) bool {
	at := drydock.Locator{Row: n}
	if key, twice := w.keys.repeated(); twice {
		d := badBlock(w.file, at, "duplicate_key", fmt.Sprintf("row %d: a map holds the key %s twice", n, key), string(w.buf))
		return w.yield(drydock.Block{}, d)
	}
	return w.yield(drydock.Block{Raw: w.buf, At: at}, nil)
}

// end passes on the error that ends the file.
func (w *rowWalk) end(err error) bool {
	w.yield(drydock.Block{}, err)
	return false
}

// group gives the rows of a row group; false ends the reading.
func (f *pqFile) group(w *rowWalk, i int) bool {
	plain, err := newPlainParquet(f.file, w.file.Size, &f.meta, i)
	if err != nil {
		return w.end(f.badGroup(w.file, i, nil, err))
	}
	p, err := openPlain(plain)
	if err != nil {
		return w.end(f.badGroup(w.file, i, nil, err))
	}
	group := p.RowGroups()[0]
	rows := group.Rows()
	defer rows.Close()
	bad := func(err error) bool { return w.end(f.badGroup(w.file, i, group.ColumnChunks(), err)) }
	want := f.meta.RowGroups[i].NumRows
	a := newAssembly(f.root, w)
	batch := make([]parquet.Row, 64)
	for done := int64(0); ; {
		n, err := readRows(rows, batch)
		for _, row := range batch[:n] {
			done++
			w.buf = w.buf[:0]
			if err := a.row(row); err != nil {
				return bad(fmt.Errorf("row %d: %w", f.before[i]+done, err))
			}
			if !w.row(int(f.before[i] + done)) {
				return false
			}
		}
		switch {
		case errors.Is(err, io.EOF) && done == want:
			return true
		case errors.Is(err, io.EOF) || err == nil && n == 0 || done > want:
			return bad(fmt.Errorf("the pages hold %d rows, where the footer promises %d", done, want))
		case err != nil:
			return bad(err)
		}
	}
}

// openPlain hands a plain file to the library, with a panic as error.
func openPlain(plain *plainParquet) (f *parquet.File, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%v", v)
		}
	}()
	return parquet.OpenFile(plain, plain.size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
}

// readRows is rows.ReadRows with a panic as error: broken pages make the
// library index out of range.
func readRows(rows parquet.Rows, batch []parquet.Row) (n int, err error) {
	defer func() {
		if v := recover(); v != nil {
			n, err = 0, fmt.Errorf("%v", v)
		}
	}()
	return rows.ReadRows(batch)
}

// badGroup names the column that is at fault, where one alone fails, too.
func (f *pqFile) badGroup(file *File, i int, columns []parquet.ColumnChunk, err error) error {
	if e := (*columnError)(nil); errors.As(err, &e) {
		return f.badColumn(file, i, e.column, err)
	}
	for c, chunk := range columns {
		if cerr := readColumn(chunk); cerr != nil {
			return f.badColumn(file, i, c, cerr)
		}
	}
	return unreadable(file, msg.Text{"row group %d: %s", "行组 %d：%s"}, i+1, plainFault(err)).
		Hint(rowsBeforeCame())
}

func (f *pqFile) badColumn(file *File, i, column int, err error) error {
	return unreadable(file, msg.Text{"row group %d, column %s: %s", "行组 %d，列 %s：%s"}, i+1, f.columnName(i, column), plainFault(err)).
		Hint(rowsBeforeCame())
}

func rowsBeforeCame() msg.Text {
	return msg.Text{
		"the rows before this place were read; write the file again, or export the rows as JSONL",
		"此处之前的行已读取；请重新写出该文件，或将数据导出为 JSONL",
	}
}

// columnName is the path of a column as schemas write it.
func (f *pqFile) columnName(group, column int) string {
	return strings.Join(f.meta.RowGroups[group].Columns[column].MetaData.PathInSchema, ".")
}

// readColumn reads a column's pages and says what fails.
func readColumn(c parquet.ColumnChunk) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%v", v)
		}
	}()
	pages := c.Pages()
	defer pages.Close()
	values := make([]parquet.Value, 1024)
	for {
		p, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for r := p.Values(); ; {
			if _, err := r.ReadValues(values); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return err
			}
		}
		parquet.Release(p)
	}
}
