package format

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sort"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	pq "github.com/parquet-go/parquet-go/format"
)

const (
	// maxPage is the largest page opened, unpacked. Writers make pages of about a
	// megabyte; a few kilobytes can claim gigabytes.
	maxPage = 128 << 20
	// maxOpenPages bounds the largest pages of all columns of a row group taken
	// together: one page of each is held at a time.
	maxOpenPages = 256 << 20
	// headerRoom is more than a page header with its statistics needs.
	headerRoom = 16 << 20
)

// A plainParquet is a Parquet file as the library reads it: one row group of a
// file with its pages unpacked, each when it is asked for. Pages are unpacked here and not by the library, which (v0.32.0) does not bound what a
// page unpacks to, keeps a stale buffer when a codec had to grow it (seen with
// LZ4_RAW: every value empty), and knows no LZ4 of the older kind.
type plainParquet struct {
	file     io.ReaderAt
	chunks   []*pqChunk // in the order of their places
	footer   []byte
	footerAt int64
}

// A pqChunk is one column of a row group.
type pqChunk struct {
	start, end int64 // in the plain file
	codec      pq.CompressionCodec
	pages      []pqPage
	open       int // page held in data; -1: none
	data       []byte
	err        error
}

// A pqPage is a page of a chunk.
type pqPage struct {
	start  int64  // of its header in the plain file
	head   []byte // its header there
	from   int64  // of what it holds in the file
	packed int
	size   int
	levels int // bytes in front that are never packed (version 2)
	crc    uint32
}

// A columnError says which column is at fault.
type columnError struct {
	column int
	err    error
}

func (e *columnError) Error() string { return e.err.Error() }

func (e *columnError) Unwrap() error { return e.err }

// newPlainParquet lays out one row group of a file of size bytes.
func newPlainParquet(r io.ReaderAt, size int64, meta *pq.FileMetaData, group int) (*plainParquet, error) {
	f := &plainParquet{file: r}
	at, open := int64(len(parquetMagic)), int64(0)
	out := *meta
	g := meta.RowGroups[group]
	g.Ordinal, out.NumRows = 0, g.NumRows
	g.Columns = nil
	for c, column := range meta.RowGroups[group].Columns {
		m := column.MetaData
		chunk, largest, err := scanPages(r, size, &m, at)
		if open += int64(largest); err == nil && open > maxOpenPages {
			err = fmt.Errorf("the pages of the columns up to this one need %d MiB at a time; more than %d MiB is not opened", open>>20, maxOpenPages>>20)
		}
		if err != nil {
			return nil, &columnError{c, err}
		}
		f.chunks = append(f.chunks, chunk)
		at = chunk.end
		m.Codec, m.DictionaryPageOffset, m.DataPageOffset = pq.Uncompressed, 0, chunk.start
		m.TotalCompressedSize, m.TotalUncompressedSize = chunk.end-chunk.start, chunk.end-chunk.start
		m.BloomFilterOffset, m.IndexPageOffset = 0, 0
		g.Columns = append(g.Columns, pq.ColumnChunk{MetaData: m})
	}
	out.RowGroups = []pq.RowGroup{g}
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), &out)
	if err != nil {
		return nil, err
	}
	f.footerAt = at
	f.footer = binary.LittleEndian.AppendUint32(footer, uint32(len(footer)))
	f.footer = append(f.footer, parquetMagic...)
	return f, nil
}

func (f *plainParquet) size() int64 { return f.footerAt + int64(len(f.footer)) }

// scanPages reads the page headers of a column and gives its pages places from
// at on.
func scanPages(r io.ReaderAt, size int64, m *pq.ColumnMetaData, at int64) (c *pqChunk, largest int, err error) {
	from := chunkStart(m)
	end := from + m.TotalCompressedSize
	if from < 0 || m.TotalCompressedSize < 0 || end > size {
		return nil, 0, fmt.Errorf("its pages are said to stand at bytes %d to %d of %d", from, end, size)
	}
	c = &pqChunk{start: at, codec: m.Codec, open: -1}
	buf := bufio.NewReader(nil)
	values := int64(0)
	// some writers leave bytes behind the last page
	for from < end && values < m.NumValues {
		p, h, err := pageAt(r, buf, from, end)
		if err != nil {
			return nil, 0, err
		}
		switch {
		case h.DataPageHeader.Valid:
			values += int64(h.DataPageHeader.V.NumValues)
		case h.DataPageHeaderV2.Valid:
			values += int64(h.DataPageHeaderV2.V.NumValues)
		}
		p.start = at
		from = p.from + int64(p.packed)
		at += int64(len(p.head) + p.size)
		largest = max(largest, p.size)
		c.pages = append(c.pages, p)
	}
	c.end = at
	return c, largest, nil
}

// pageAt reads the header of the page at from and makes that of its plain twin.
func pageAt(r io.ReaderAt, buf *bufio.Reader, from, end int64) (p pqPage, h pq.PageHeader, err error) {
	part := io.NewSectionReader(r, from, min(end-from, headerRoom))
	buf.Reset(part)
	protocol := new(thrift.CompactProtocol)
	if err := thrift.NewDecoder(protocol.NewReader(buf)).Decode(&h); err != nil {
		return p, h, fmt.Errorf("page header at byte %d: %s", from, plainFault(err))
	}
	read, _ := part.Seek(0, io.SeekCurrent)
	p = pqPage{
		from: from + read - int64(buf.Buffered()), packed: int(h.CompressedPageSize), size: int(h.UncompressedPageSize),
		crc: uint32(h.CRC),
	}
	v2 := &h.DataPageHeaderV2
	if v2.Valid {
		p.levels = int(v2.V.RepetitionLevelsByteLength) + int(v2.V.DefinitionLevelsByteLength)
	}
	switch {
	case p.packed < 0 || p.size < 0 || p.levels < 0:
		return p, h, fmt.Errorf("page header at byte %d: a size below zero", from)
	case p.from+int64(p.packed) > end || p.levels > p.packed || p.levels > p.size:
		return p, h, fmt.Errorf("page header at byte %d: the page is longer than its column", from)
	case p.size > maxPage:
		return p, h, fmt.Errorf("a page of %d MiB; pages above %d MiB are not opened", p.size>>20, maxPage>>20)
	case v2.Valid && !isPacked(&h):
		p.levels = p.packed // nothing in it is packed
	}
	twin := h
	twin.CompressedPageSize, twin.CRC = h.UncompressedPageSize, 0
	p.head, err = thrift.Marshal(protocol, &twin)
	return p, h, err
}

// isPacked reports whether a page of version 2 uses its column's codec.
func isPacked(h *pq.PageHeader) bool {
	c := h.DataPageHeaderV2.V.IsCompressed
	return !c.Valid || c.V
}

// chunkStart is the offset of a column's first page.
func chunkStart(m *pq.ColumnMetaData) int64 {
	if d := m.DictionaryPageOffset; d > 0 && d < m.DataPageOffset {
		return d
	}
	return m.DataPageOffset
}

// ReadAt gives bytes of the plain file.
func (f *plainParquet) ReadAt(b []byte, off int64) (n int, err error) {
	for n < len(b) {
		var from []byte
		switch {
		case off < int64(len(parquetMagic)):
			from = []byte(parquetMagic)[off:]
		case off < f.footerAt:
			if from, err = f.chunkBytes(off); err != nil {
				return n, err
			}
		case off < f.size():
			from = f.footer[off-f.footerAt:]
		default:
			return n, io.EOF
		}
		m := copy(b[n:], from)
		n, off = n+m, off+int64(m)
	}
	return n, nil
}

// chunkBytes returns what stands at off to the end of a header or page.
func (f *plainParquet) chunkBytes(off int64) ([]byte, error) {
	c := f.chunks[sort.Search(len(f.chunks), func(i int) bool { return f.chunks[i].end > off })]
	i := sort.Search(len(c.pages), func(i int) bool { return c.pages[i].start > off }) - 1
	p := &c.pages[i]
	off -= p.start
	if off < int64(len(p.head)) {
		return p.head[off:], nil
	}
	if c.open != i {
		c.open = i
		c.data, c.err = p.unpack(f.file, c.codec)
	}
	if c.err != nil {
		return nil, c.err
	}
	return c.data[off-int64(len(p.head)):], nil
}

// unpack reads a page and checks that it holds what its header says.
func (p *pqPage) unpack(r io.ReaderAt, codec pq.CompressionCodec) ([]byte, error) {
	raw := make([]byte, p.packed)
	if n, err := r.ReadAt(raw, p.from); n < len(raw) {
		return nil, err
	}
	if p.crc != 0 && crc32.ChecksumIEEE(raw) != p.crc {
		return nil, fmt.Errorf("the page at byte %d is damaged: its checksum differs", p.from)
	}
	out := raw
	if rest := p.size - p.levels; codec != pq.Uncompressed && p.levels < p.packed {
		out = append(make([]byte, 0, p.size), raw[:p.levels]...)
		data, err := unpackBytes(codec, out[p.levels:], raw[p.levels:], rest)
		if err != nil {
			return nil, fmt.Errorf("the page at byte %d: %w", p.from, err)
		}
		out = append(out, data...)
	}
	if len(out) != p.size {
		return nil, fmt.Errorf("the page at byte %d holds %d bytes, where its header promises %d", p.from, len(out), p.size)
	}
	return out, nil
}

// unpackBytes unpacks src, which must give size bytes, into the room behind dst
// where the codec can; it never makes more than size bytes and one.
func unpackBytes(codec pq.CompressionCodec, dst, src []byte, size int) ([]byte, error) {
	var r io.Reader
	switch codec {
	case pq.Snappy:
		if n, err := snappy.DecodedLen(src); err != nil || n != size {
			return nil, fmt.Errorf("packed by snappy to another length (%d, not %d)", n, size)
		}
		return snappy.Decode(dst[:cap(dst)], src)
	case pq.Lz4Raw:
		return unpackLZ4(src, size)
	case pq.Lz4:
		return unpackOldLZ4(src, size)
	case pq.Gzip:
		z, err := gzip.NewReader(bytes.NewReader(src))
		if err != nil {
			return nil, err
		}
		r = z
	case pq.Brotli:
		r = brotli.NewReader(bytes.NewReader(src))
	case pq.Zstd:
		z, err := zstd.NewReader(bytes.NewReader(src), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(2*maxPage))
		if err != nil {
			return nil, err
		}
		defer z.Close()
		r = z
	default:
		return nil, fmt.Errorf("the codec %s is not supported", codec)
	}
	out := make([]byte, size+1)
	n, err := io.ReadFull(r, out)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	return out[:n], nil
}
