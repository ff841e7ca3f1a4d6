package format

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"iter"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/xuri/excelize/v2"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// Bounds on what a package may unfold to. Office XML seldom shrinks to less
// than a hundredth; a bomb shrinks to a thousandth.
const (
	maxParts     = 100_000
	freePart     = 64 << 20 // any part may unfold to this
	maxRatio     = 300      // beyond that, times its packed size
	maxXMLDepth  = 400
	oleSignature = "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"
	zipSignature = "PK\x03\x04"
)

// An officePackage is an opened DOCX or XLSX file: a ZIP archive of XML parts
// that name each other by relationships. EPUB and ODT files are such archives,
// too, without the relationships. A flat one is a single XML file, see [openFlat].
type officePackage struct {
	file   *File
	closer io.Closer
	parts  map[string]*officePart // by lower-case name with slashes
	mend   msg.Text               // what to do about a damaged one
}

// An officePart is one file of a package.
type officePart struct {
	name   string // as written
	locked bool   // encrypted within the archive
	packed uint64 // bytes it takes in the package
	open   func() (io.ReadCloser, error)
}

// officeBlocks opens the package of a file for as long as read takes.
func officeBlocks(f *File, read func(*officePackage, func(drydock.Block, error) bool)) iter.Seq2[drydock.Block, error] {
	return packageBlocks(f, msg.Text{"open the file in Word or Excel and save it anew", "请用 Word 或 Excel 打开后重新保存"}, read)
}

// packageBlocks is officeBlocks for any document that is a ZIP archive of
// parts; mend says what to do about a damaged one.
func packageBlocks(f *File, mend msg.Text, read func(*officePackage, func(drydock.Block, error) bool)) iter.Seq2[drydock.Block, error] {
	return func(yield func(drydock.Block, error) bool) {
		p, err := openPackage(f, mend)
		if err != nil {
			yield(drydock.Block{}, err)
			return
		}
		defer p.close()
		read(p, yield)
	}
}

// openPackage opens the archive, decrypting it first if need be.
func openPackage(file *File, mend msg.Text) (*officePackage, error) {
	f, err := os.Open(file.Path)
	if err != nil {
		return nil, cannotOpen(file, err)
	}
	p, err := openPackageAt(file, mend, f)
	if err != nil {
		f.Close()
		return nil, err
	}
	p.closer = f
	return p, nil
}

func openPackageAt(file *File, mend msg.Text, f io.ReaderAt) (*officePackage, error) {
	var r io.ReaderAt = io.NewSectionReader(f, 0, file.Size)
	size := file.Size
	head := make([]byte, len(oleSignature))
	if n, _ := r.ReadAt(head, 0); string(head[:n]) == oleSignature {
		plain, err := decryptPackage(file, r)
		if err != nil {
			return nil, err
		}
		r, size = bytes.NewReader(plain), int64(len(plain))
	} else if n >= 2 && string(head[:2]) != "PK" && holdsFlat(r) {
		return openFlat(file, mend, r)
	} else if n < 4 || string(head[:2]) != "PK" {
		return nil, unreadable(file, msg.Text{"this is no such document: it does not begin as a ZIP archive", "不是此类文档：开头不是 ZIP 压缩包"}).
			Hint(mend)
	}
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, unreadable(file, msg.Text{"the file is damaged or cut off: %v", "文件已损坏或不完整：%v"}, err).
			Hint(msg.Text{"it may be an interrupted download or copy; get it again", "可能是下载或复制中断所致；请重新获取"})
	}
	if len(z.File) > maxParts {
		return nil, unreadable(file, msg.Text{"the archive holds %d parts, more than a document has", "压缩包含 %d 个部件，超出文档的正常数量"}, len(z.File)).
			Hint(msg.Text{"do not open it unless you know who made it", "除非确知来源，否则不要打开"})
	}
	p := &officePackage{file: file, parts: map[string]*officePart{}, mend: mend}
	for _, part := range z.File {
		name := partKey(part.Name)
		if _, twice := p.parts[name]; !twice {
			p.parts[name] = &officePart{name: part.Name, locked: part.Flags&1 != 0, packed: part.CompressedSize64, open: part.Open}
		}
	}
	return p, nil
}

func (p *officePackage) close() {
	if p.closer != nil {
		p.closer.Close()
	}
}

// decryptPackage opens the encrypted container Office puts around a file with a
// password.
func decryptPackage(file *File, r io.ReaderAt) (plain []byte, err error) {
	b := make([]byte, file.Size)
	if n, err := r.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, cannotOpen(file, err)
	} else if b = b[:n]; !holdsEncrypted(b) {
		return nil, unreadable(file, msg.Text{"this is an old Office file (.doc, .xls, .ppt)", "这是旧版 Office 文件（.doc、.xls、.ppt）"}).
			Hint(msg.Text{"save it as DOCX, XLSX or PDF and try again", "请另存为 DOCX、XLSX 或 PDF 后再试"})
	}
	wrong := func() error {
		return unreadable(file, msg.Text{"the password does not open the file", "密码不正确，无法打开文件"}).
			Hint(msg.Text{"check it by opening the file in Word or Excel", "请先用 Word 或 Excel 打开文件以核对密码"})
	}
	if file.Options.Password == "" {
		return nil, unreadable(file, msg.Text{"the file is encrypted with a password", "文件已用密码加密"}).
			Hint(msg.Text{"give the password with --password-file (password_file: in drydock.yaml), or save the file without one", "请用 --password-file（drydock.yaml 中为 password_file:）提供密码，或另存为无密码的文件"})
	}
	// the container is foreign data, and decrypting is not written for that
	defer func() {
		if recover() != nil {
			plain, err = nil, wrong()
		}
	}()
	plain, err = excelize.Decrypt(b, &excelize.Options{Password: file.Options.Password})
	if err != nil || !bytes.HasPrefix(plain, []byte("PK")) {
		return nil, wrong()
	}
	return plain, nil
}

// holdsEncrypted reports whether an OLE container has the stream of an
// encrypted package. Its name stands in UTF-16 in the directory.
func holdsEncrypted(b []byte) bool {
	var name []byte
	for _, c := range []byte("EncryptedPackage") {
		name = append(name, c, 0)
	}
	return bytes.Contains(b, name)
}

// sniffOffice reports whether a head belongs to an Office file whose parts lie
// in folder ("word/", "xl/"). Of an encrypted one only the name tells which.
func sniffOffice(head []byte, name, folder, ext string) bool {
	named := strings.EqualFold(filepath.Ext(name), ext)
	switch {
	case bytes.HasPrefix(head, []byte(oleSignature)):
		return named || holdsEncrypted(head) && folder == "word/"
	case !bytes.HasPrefix(head, []byte(zipSignature)):
		return folder == "word/" && flatKind(head) != ""
	}
	names := zipNames(head)
	other := map[string]string{"word/": "xl/", "xl/": "word/"}[folder]
	switch {
	case holdsParts(names, folder):
		return true
	case holdsParts(names, other):
		return false
	}
	return named
}

// holdsParts reports whether entries at the root of an archive are the parts of
// an Office file: a folder of that name alone may be anyone's.
func holdsParts(names []string, folder string) bool {
	typed, found, xml := false, false, false
	for _, n := range names {
		typed = typed || n == "[content_types].xml"
		if strings.HasPrefix(n, folder) {
			found = true
			xml = xml || strings.HasSuffix(n, ".xml") || strings.HasSuffix(n, ".rels")
		}
	}
	return found && (typed || xml)
}

// zipNames lists the names of the entries an archive begins with, as part keys.
// It steps over what the entries hold: an Office file packed into an archive
// does not make the archive one.
func zipNames(head []byte) (names []string) {
	const fixed = 30 // bytes of a local header before the name
	le := binary.LittleEndian
	for len(head) >= fixed && bytes.HasPrefix(head, []byte(zipSignature)) {
		flags, size := le.Uint16(head[6:]), int(le.Uint32(head[18:]))
		name, extra := int(le.Uint16(head[26:])), int(le.Uint16(head[28:]))
		if len(head) < fixed+name+extra {
			break
		}
		names = append(names, partKey(string(head[fixed:fixed+name])))
		head = head[fixed+name+extra:]
		if flags&8 != 0 && size == 0 {
			head = afterStreamed(head)
			continue
		}
		head = head[min(size, len(head)):]
	}
	return names
}

// afterStreamed returns what follows an entry whose size stands behind it.
func afterStreamed(b []byte) []byte {
	const sign, length = "PK\x07\x08", 16
	for at := 0; ; at++ {
		i := bytes.Index(b[at:], []byte(sign))
		if i < 0 {
			break
		}
		// one inside an entry has another size
		if at += i; len(b) >= at+length && binary.LittleEndian.Uint32(b[at+8:]) == uint32(at) {
			return b[at+length:]
		}
	}
	// the signature may be left out
	return b[max(bytes.Index(b, []byte(zipSignature)), 0):]
}

func partKey(name string) string {
	return strings.ToLower(strings.TrimPrefix(strings.ReplaceAll(name, `\`, "/"), "/"))
}

func (p *officePackage) has(name string) bool { return p.parts[partKey(name)] != nil }

// open returns the unpacked bytes of a part, bounded.
func (p *officePackage) open(name string) (io.ReadCloser, error) {
	part := p.parts[partKey(name)]
	if part == nil {
		return nil, unreadable(p.file, msg.Text{"the part %s is missing", "缺少部件 %s"}, name).
			Hint(p.mend)
	}
	if part.locked {
		return nil, unreadable(p.file, msg.Text{"the part %s is encrypted within the archive", "压缩包内的部件 %s 已加密"}, name).
			Hint(msg.Text{"unpack the archive with its password, pack it without, and try again", "请用密码解包后，不加密重新打包再试"})
	}
	r, err := part.open()
	if err != nil {
		return nil, p.damaged(name, err)
	}
	limit := max(freePart, maxRatio*int64(min(part.packed, 1<<40)))
	return &boundedPart{ReadCloser: r, left: limit, of: p, name: name, limit: limit}, nil
}

// damaged is the error of a part that cannot be unpacked or parsed.
func (p *officePackage) damaged(name string, err error) error {
	var e *fail.Error
	if errors.As(err, &e) {
		return e
	}
	return unreadable(p.file, msg.Text{"the part %s is damaged: %v", "部件 %s 已损坏：%v"}, name, err).
		Hint(p.mend)
}

// A boundedPart ends a part that unfolds beyond its limit with an error.
type boundedPart struct {
	io.ReadCloser
	of          *officePackage
	name        string
	left, limit int64
}

func (b *boundedPart) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, unreadable(b.of.file, msg.Text{
			"the part %s unfolds to more than %d MiB, which no honest file does", "部件 %s 解压后超过 %d MiB，不是正常文件",
		}, b.name, b.limit>>20).Hint(msg.Text{"do not open it unless you know who made it", "除非确知来源，否则不要打开"})
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// A relation is one entry of a part's relationships.
type relation struct {
	kind     string // last element of the type's URI: image, styles, worksheet …
	target   string // name of the part; an address when external
	external bool
}

// relations reads the relationships of a part; none is no error.
func (p *officePackage) relations(ctx context.Context, part string) (map[string]relation, error) {
	name := path.Join(path.Dir(part), "_rels", path.Base(part)+".rels")
	if part == "" {
		name = "_rels/.rels"
	}
	out := map[string]relation{}
	if !p.has(name) {
		return out, nil
	}
	x, err := p.tokens(ctx, name)
	if err != nil {
		return nil, err
	}
	defer x.close()
	for x.next() {
		if !x.start || !strings.HasSuffix(x.name, "Relationship") {
			continue
		}
		r := relation{kind: path.Base(x.attr("Type")), target: x.attr("Target"), external: x.attr("TargetMode") == "External"}
		if !r.external {
			if strings.HasPrefix(r.target, "/") {
				r.target = strings.TrimPrefix(r.target, "/")
			} else {
				r.target = path.Join(path.Dir(part), r.target)
			}
		}
		out[x.attr("Id")] = r
	}
	return out, x.err
}

// related finds the part another one names by kind, or a usual name.
func (p *officePackage) related(rels map[string]relation, kind, usual string) string {
	found := ""
	for _, r := range rels {
		if r.kind == kind && !r.external && p.has(r.target) && (found == "" || r.target < found) {
			found = r.target
		}
	}
	if found != "" {
		return found
	}
	if p.has(usual) {
		return usual
	}
	return ""
}
