package archive

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// A Page is a page of a Parquet column, unpacked but not decoded: what stands in
// it as text can be found in its bytes, be they plain values or a dictionary.
type Page struct {
	Column string // path in the schema, with dots
	Group  int    // number of the row group, from 0
	Number int    // of the page in its column chunk, from 0
	Data   []byte // valid until visit returns
}

// IsParquet reports whether a file begins as Parquet does.
func IsParquet(head []byte) bool { return bytes.HasPrefix(head, []byte("PAR1")) }

// maxPage bounds one page, maxFooter the description of a file.
const (
	maxPage   = 1 << 30
	maxFooter = 256 << 20
)

// Parquet calls visit with every page of a Parquet file, as the format's
// specification of 2024 lays it out (parquet.thrift). Columns packed in a way
// that is not opened are told to skip by name. An error is of kind partial.
func (b *Budget) Parquet(r io.ReaderAt, size int64, visit func(Page) error, skip func(column string, err error)) error {
	meta, err := parquetMeta(r, size)
	if err != nil {
		return broken("parquet", err)
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPage))
	if err != nil {
		return err
	}
	defer dec.Close()
	for g, group := range meta.list(4) {
		for _, chunk := range group.list(1) {
			c := chunk.child(3)
			p := pageReader{b: b, r: r, zstd: dec, codec: c.int(4), page: Page{Column: columnName(c), Group: g}}
			p.at = c.int(9)
			if d := c.int(11); d > 0 && d < p.at { // the dictionary comes first
				p.at = d
			}
			p.end = min(size, p.at+c.int(7))
			if err := p.each(visit); err != nil {
				var stop *visitError
				if errors.As(err, &stop) {
					return stop.err
				}
				skip(p.page.Column, err)
			}
		}
	}
	return nil
}

// visitError marks an error of visit, which ends the walk.
type visitError struct{ err error }

func (e *visitError) Error() string { return e.err.Error() }

func columnName(c thriftStruct) string {
	var parts []string
	if l, ok := c[3].([]any); ok {
		for _, v := range l {
			if s, ok := v.([]byte); ok {
				parts = append(parts, strings.ToValidUTF8(string(s), "�"))
			}
		}
	}
	return strings.Join(parts, ".")
}

func parquetMeta(r io.ReaderAt, size int64) (thriftStruct, error) {
	var tail [8]byte
	if size < 12 {
		return nil, io.ErrUnexpectedEOF
	}
	if _, err := r.ReadAt(tail[:], size-8); err != nil {
		return nil, err
	}
	if string(tail[4:]) != "PAR1" {
		return nil, errors.New("it does not end as a Parquet file does")
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if n > min(size-12, maxFooter) {
		return nil, errors.New("its footer is longer than the file")
	}
	footer := make([]byte, n)
	if _, err := r.ReadAt(footer, size-8-n); err != nil {
		return nil, err
	}
	t := thrift{b: footer}
	meta := t.structure(0)
	return meta, t.err
}

// pageReader reads the pages of one column chunk.
type pageReader struct {
	b       *Budget
	r       io.ReaderAt
	zstd    *zstd.Decoder
	codec   int64
	at, end int64
	page    Page
	packed  []byte
	out     []byte
}

// headRoom bytes hold any page header but for its statistics, which may be long.
const headRoom = 64 << 10

func (p *pageReader) each(visit func(Page) error) error {
	for p.at < p.end {
		head := make([]byte, min(headRoom, p.end-p.at))
		if _, err := p.r.ReadAt(head, p.at); err != nil && err != io.EOF {
			return broken("parquet", err)
		}
		t := thrift{b: head}
		h := t.structure(0)
		n := h.int(3)
		if t.err != nil || n < 0 || n > maxPage || h.int(2) < 0 || h.int(2) > maxPage || p.at+int64(t.i)+n > p.end {
			return broken("parquet", errors.New("a page header makes no sense"))
		}
		if err := p.b.room(); err != nil {
			return err
		}
		p.packed = append(p.packed[:0], make([]byte, n)...)
		if _, err := p.r.ReadAt(p.packed, p.at+int64(t.i)); err != nil && err != io.EOF {
			return broken("parquet", err)
		}
		p.at += int64(t.i) + n
		if err := p.unpack(h); err != nil {
			return err
		}
		p.b.bytes += int64(len(p.page.Data))
		if err := visit(p.page); err != nil {
			return &visitError{err}
		}
		p.page.Number++
	}
	return nil
}

// unpack fills the page's data. The levels of a page of version 2 stand before
// what is packed; they hold no text.
func (p *pageReader) unpack(h thriftStruct) error {
	packed, codec := p.packed, p.codec
	if v2 := h.child(8); v2 != nil {
		levels := v2.int(5) + v2.int(6)
		if levels < 0 || levels > int64(len(packed)) {
			return broken("parquet", errors.New("a page header makes no sense"))
		}
		packed = packed[levels:]
		if yes, given := v2[7].(bool); given && !yes {
			codec = 0
		}
	}
	if len(packed) == 0 {
		p.page.Data = nil
		return nil
	}
	var err error
	switch codec {
	case 0:
		p.page.Data = packed
	case 1:
		if n, e := snappy.DecodedLen(packed); e != nil || n > maxPage {
			return broken("parquet", cmp.Or(e, errors.New("a page is too large")))
		}
		p.out, err = snappy.Decode(p.out[:cap(p.out)], packed)
		p.page.Data = p.out
	case 2:
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(packed)); err == nil {
			b := bytes.NewBuffer(p.out[:0])
			_, err = io.Copy(b, io.LimitReader(z, maxPage))
			p.out = b.Bytes()
			p.page.Data = p.out
		}
	case 6:
		p.out, err = p.zstd.DecodeAll(packed, p.out[:0])
		p.page.Data = p.out
	default:
		names := map[int64]string{3: "LZO", 4: "Brotli", 5: "LZ4", 7: "LZ4"}
		return fail.New(fail.Partial, msg.Text{"column %s is packed by %s and was not looked into", "列 %s 以 %s 压缩，未检查"}, p.page.Column, names[codec])
	}
	if err != nil {
		return broken("parquet", err)
	}
	return nil
}
