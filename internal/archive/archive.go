// Package archive opens archives and compressed files, member by member and
// within bounds, so that what lies in them can be looked at as any file is.
//
// It opens zip (and what is a zip: docx, xlsx, epub, npz, jar), tar, gzip,
// Zstandard and bzip2. The caller decides what to do with a member, also to open
// it in turn; one [Budget] counts for the whole tree.
package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding/simplifiedchinese"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// Kind is a kind of archive.
type Kind string

// The kinds that are opened. Gzip, Zstd and Bzip2 hold one member without a
// name.
const (
	Zip   Kind = "zip"
	Tar   Kind = "tar"
	Gzip  Kind = "gzip"
	Zstd  Kind = "zstd"
	Bzip2 Kind = "bzip2"
)

// Compressor reports whether the kind only compresses one file.
func (k Kind) Compressor() bool { return k == Gzip || k == Zstd || k == Bzip2 }

// HeadSize bytes of a file tell its kind.
const HeadSize = 512

// Detect tells the kind of archive by the first [HeadSize] bytes; it is empty
// when the file is none that is opened.
func Detect(head []byte) Kind {
	has := func(magic string) bool { return bytes.HasPrefix(head, []byte(magic)) }
	switch {
	case has("PK\x03\x04"), has("PK\x05\x06"), has("PK\x07\x08PK\x03\x04"):
		return Zip
	case has("\x1f\x8b\x08"):
		return Gzip
	case has("\x28\xb5\x2f\xfd"):
		return Zstd
	case has("BZh") && len(head) >= 10 && (string(head[4:10]) == "1AY&SY" || string(head[4:10]) == "\x17rE8P\x90"):
		return Bzip2
	case isTar(head):
		return Tar
	}
	return ""
}

// isTar checks the sum of a tar header, which tells old archives, too.
func isTar(head []byte) bool {
	if len(head) < 512 || head[0] == 0 {
		return false
	}
	want, err := strconv.ParseInt(strings.Trim(string(head[148:156]), " \x00"), 8, 64)
	if err != nil {
		return false
	}
	sum := int64(8 * ' ')
	for i, c := range head[:512] {
		if i < 148 || i >= 156 {
			sum += int64(c)
		}
	}
	return sum == want
}

// Packed names the format of a file that holds others, or its own content, in a
// way that is not opened here: what is in it stays unseen. It is empty for all
// other files.
func Packed(head []byte) string {
	for _, f := range [...]struct{ magic, name string }{
		{"7z\xbc\xaf\x27\x1c", "7-Zip"},
		{"Rar!\x1a\x07", "RAR"},
		{"\xfd7zXZ\x00", "xz"},
		{"\x04\x22\x4d\x18", "LZ4"},
		{"\x02\x21\x4c\x18", "LZ4"},
		{"\xff\x06\x00\x00sNaPpY", "Snappy"},
		{"\x1f\x9d", "compress (.Z)"},
		{"LZIP", "lzip"},
		{"MSCF", "Cabinet"},
	} {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return f.name
		}
	}
	return ""
}

// Limits bound what is unpacked.
type Limits struct {
	Entries int   // members, all archives in archives together
	Bytes   int64 // unpacked bytes of all members together
	Ratio   int64 // unpacked bytes for one packed byte of a member, and of the whole input
	Depth   int   // archives in archives
}

// ratioFrom bytes of a member may be unpacked before its ratio counts: an empty
// array packs a thousand times.
const ratioFrom = 64 << 20

// wholeFrom is the same for all that archives in archives unpack to together.
const wholeFrom = 256 << 20

// DefaultLimits leave room for any data set that fits a disk and stop what was
// made to fill one.
func DefaultLimits() Limits {
	return Limits{Entries: 200_000, Bytes: 64 << 30, Ratio: 1000, Depth: 8}
}

// A Budget counts what is unpacked of one input. It belongs to one goroutine.
type Budget struct {
	limits  Limits
	entries int
	bytes   int64
	packed  int64 // size of the outermost archive; 0: unknown
}

// NewBudget returns a fresh count.
func NewBudget(l Limits) *Budget { return &Budget{limits: l} }

// ErrBound is the cause of every error that a bound of [Limits] made; its text
// names the bound.
var ErrBound = errors.New("bound of an archive")

func bound(text msg.Text, args ...any) error {
	return fail.New(fail.Partial, text, args...).Because(ErrBound)
}

// A Source is an archive to be walked.
type Source struct {
	Reader io.Reader   // for all kinds but zip
	At     io.ReaderAt // for zip
	Size   int64       // bytes; 0: unknown, then no ratio is held
}

// A Member is one file of an archive.
type Member struct {
	Name string // with slashes, in UTF-8; empty in a compressed file
	// Reader is valid until visit returns. Its errors are of kind [fail.Partial].
	Reader io.Reader
}

// Walk calls visit for every file of the archive, in its order; depth is 1 for
// one that lies in no other. A member that cannot be opened is told to skip and
// the rest is walked; an error of the archive itself, or of visit, ends it.
func (b *Budget) Walk(k Kind, src Source, depth int, visit func(Member) error, skip func(name string, err error)) error {
	if depth > b.limits.Depth {
		return bound(msg.Text{"archives lie in each other more than %d deep; this one was not opened", "压缩包嵌套超过 %d 层；未打开此压缩包"}, b.limits.Depth)
	}
	if depth == 1 {
		b.packed = src.Size
	}
	switch k {
	case Zip:
		return b.zip(src, visit, skip)
	case Tar:
		return b.tar(src, visit)
	}
	r, err := decompress(k, src.Reader)
	if err != nil {
		return broken(k, err)
	}
	if c, ok := r.(io.Closer); ok {
		defer c.Close()
	}
	if err := b.entry(); err != nil {
		return err
	}
	return visit(Member{Reader: &meter{r: r, b: b, kind: k, packed: src.Size}})
}

// broken says that an archive is not as its kind should be.
func broken(k Kind, err error) error {
	return fail.New(fail.Partial, msg.Text{"the %s archive is damaged: %v", "%s 压缩包已损坏：%v"}, string(k), err).Because(err)
}

func decompress(k Kind, r io.Reader) (io.Reader, error) {
	switch k {
	case Gzip:
		return gzip.NewReader(r)
	case Zstd:
		d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(256<<20))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	case Bzip2:
		return bzip2.NewReader(r), nil
	}
	return nil, fmt.Errorf("unknown kind %q", k)
}

// entry counts one member; the walk ends where a bound is met.
func (b *Budget) entry() error {
	if b.entries++; b.entries > b.limits.Entries {
		return bound(msg.Text{"there are more than %d files in the archive; the rest was not looked into", "压缩包中的文件超过 %d 个；其余未检查"}, b.limits.Entries)
	}
	return b.room()
}

func (b *Budget) room() error {
	if b.packed > 0 && b.bytes > wholeFrom && b.bytes/b.packed > b.limits.Ratio {
		return bound(msg.Text{"with the archives in it, it unpacks to more than %d times its size; the rest was not looked into", "连同其中的压缩包，解压后超过原大小的 %d 倍；其余未检查"}, b.limits.Ratio)
	}
	if b.bytes < b.limits.Bytes {
		return nil
	}
	return bound(msg.Text{"the archive unpacks to more than %d MiB; the rest was not looked into", "压缩包解压后超过 %d MiB；其余未检查"}, b.limits.Bytes>>20)
}

func (b *Budget) zip(src Source, visit func(Member) error, skip func(string, error)) error {
	z, err := zip.NewReader(src.At, src.Size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // nothing is written under its name
		return broken(Zip, err)
	}
	z.RegisterDecompressor(zip.Deflate, flate.NewReader)
	z.RegisterDecompressor(zstd.ZipMethodWinZip, zstd.ZipDecompressor(zstd.WithDecoderConcurrency(1)))
	z.RegisterDecompressor(12, func(r io.Reader) io.ReadCloser { return io.NopCloser(bzip2.NewReader(r)) })
	for _, f := range z.File {
		name := memberName(f.Name)
		if strings.HasSuffix(name, "/") && f.UncompressedSize64 == 0 {
			continue
		}
		if err := b.entry(); err != nil {
			return err
		}
		if f.Flags&1 != 0 {
			skip(name, fail.New(fail.Partial, msg.Text{"it is encrypted, so it was not looked into", "已加密，未检查其内容"}))
			continue
		}
		r, err := f.Open()
		if err != nil {
			skip(name, broken(Zip, err))
			continue
		}
		err = visit(Member{name, &meter{r: r, b: b, kind: Zip, packed: int64(f.CompressedSize64)}})
		r.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *Budget) tar(src Source, visit func(Member) error) error {
	t := tar.NewReader(src.Reader)
	for {
		h, err := t.Next()
		switch {
		case err == io.EOF:
			return nil
		case errors.Is(err, ErrBound):
			return err
		case err != nil && !errors.Is(err, tar.ErrInsecurePath):
			return broken(Tar, err)
		case h.Typeflag != tar.TypeReg && h.Typeflag != tar.TypeGNUSparse:
			continue
		}
		if err := b.entry(); err != nil {
			return err
		}
		// a hole costs no packed bytes, so a sparse member has no ratio to hold
		if err := visit(Member{memberName(h.Name), &meter{r: t, b: b, kind: Tar}}); err != nil {
			return err
		}
	}
}

// memberName is the name in UTF-8; older programs write it in GBK.
func memberName(name string) string {
	if !utf8.ValidString(name) {
		if s, err := simplifiedchinese.GB18030.NewDecoder().String(name); err == nil {
			name = s
		}
	}
	return strings.ToValidUTF8(strings.ReplaceAll(name, `\`, "/"), "�")
}

// A meter counts what is unpacked of a member.
type meter struct {
	r      io.Reader
	b      *Budget
	kind   Kind
	packed int64
	got    int64
}

// Read implements io.Reader.
func (m *meter) Read(p []byte) (int, error) {
	l := &m.b.limits
	if err := m.b.room(); err != nil {
		return 0, err
	}
	if m.packed > 0 && m.got > ratioFrom && m.got/m.packed > l.Ratio {
		return 0, bound(msg.Text{"it unpacks to more than %d times its size; the rest of it was not looked into", "解压后超过原大小的 %d 倍；其余未检查"}, l.Ratio)
	}
	n, err := m.r.Read(p[:min(int64(len(p)), l.Bytes-m.b.bytes)])
	m.got += int64(n)
	m.b.bytes += int64(n)
	var known *fail.Error
	if err != nil && err != io.EOF && !errors.As(err, &known) {
		err = broken(m.kind, err)
	}
	return n, err
}
