package format

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/richardlehane/mscfb"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// docFormat reads the documents of Word 97 to 2003 ([MS-DOC]) as a reader sees
// them: the text by its piece table, so that a file saved fast gives it in
// order, numbers of lists restored, tracked deletions left out, fields by their
// result. A table row is a block of cells. Text boxes follow the paragraph or row
// they are anchored in, those of grouped shapes the text (At.Part), as footnotes and
// endnotes do. Page headers, footers and comments are not read.
func docFormat() Format {
	return Format{
		Name:    "doc",
		Exts:    []string{".doc", ".dot", ".wps"},
		Summary: msg.Text{"Word 97–2003 documents", "Word 97–2003 文档"},
		Sniff:   sniffDOC,
		Read:    readDOC,
	}
}

// wordMagic begins the main stream of a document.
const wordMagic = "\xEC\xA5"

// sniffDOC looks for the main stream, which programs write first, or for its
// name; where the directory stands beyond the head only the file's name tells.
func sniffDOC(head []byte, name string) bool {
	if !bytes.HasPrefix(head, []byte(oleSignature)) || holdsEncrypted(head) {
		return false
	}
	const sector = 512
	if bytes.HasPrefix(head[min(sector, len(head)):], []byte(wordMagic)) || bytes.Contains(head, wideName("WordDocument")) {
		return true
	}
	for _, other := range []string{"Workbook", "Book", "PowerPoint Document"} {
		if bytes.Contains(head, wideName(other)) {
			return false
		}
	}
	ext := strings.ToLower(filepath.Ext(name))
	return ext == ".doc" || ext == ".dot" || ext == ".wps"
}

// wideName is the name of a stream as the directory has it.
func wideName(s string) (b []byte) {
	for _, c := range []byte(s) {
		b = append(b, c, 0)
	}
	return b
}

// maxDOCStream is the largest stream read; Word holds 32 MiB of text, and
// pictures stand in another stream.
const maxDOCStream = 256 << 20

func readDOC(ctx context.Context, u Unit, note func(Note)) iter.Seq2[drydock.Block, error] {
	return func(yield func(drydock.Block, error) bool) {
		d, err := openDOC(u.File)
		if err != nil {
			yield(drydock.Block{}, err)
			return
		}
		d.docx = docx{ctx: ctx, pkg: &officePackage{file: u.File}, note: note, yield: yield}
		if err := d.read(); err != nil && err != errStop {
			yield(drydock.Block{}, err)
		}
	}
}

// doc reads one document. How it gives blocks is the same as for docx.
type doc struct {
	docx
	main, table docBytes
	pieces      []docPiece
	chars       []docRun // by where their bytes end
	paras       []docPara
	styles      []docStyle
	lists       docLists
	boxes       docBoxes

	flow flowState
	bad  int // characters without a place in the file
}

// docBytes reads numbers from a stream; outside of it they are 0.
type docBytes []byte

func (b docBytes) at(off, n int) []byte {
	if off < 0 || n < 0 || off > len(b) || n > len(b)-off {
		return nil
	}
	return b[off : off+n]
}

func (b docBytes) u8(off int) int {
	if p := b.at(off, 1); p != nil {
		return int(p[0])
	}
	return 0
}

func (b docBytes) u16(off int) int {
	if p := b.at(off, 2); p != nil {
		return int(binary.LittleEndian.Uint16(p))
	}
	return 0
}

func (b docBytes) u32(off int) int {
	if p := b.at(off, 4); p != nil {
		return int(int32(binary.LittleEndian.Uint32(p)))
	}
	return 0
}

// Offsets in the file information block ([MS-DOC] 2.5).
const (
	fibFlags    = 0x0A
	fibVersion  = 0x02
	fibText     = 0x4C // counts of characters: text, footnotes, headers, macros, comments, endnotes, boxes
	fibPairs    = 0x9A // offset and length in the table stream, 8 bytes each
	pairStyles  = 1
	pairChars   = 12
	pairParas   = 13
	pairPieces  = 33
	pairAnchors = 40 // of shapes
	pairBoxes   = 56
	pairLists   = 73
	pairUses    = 74
	flagLocked  = 0x0100
	flagTable1  = 0x0200
	oldestRead  = 0xC1 // Word 97
	wordBinary6 = "\xDC\xA5"
)

// pair is a part of the table stream by its number in the block; nil when it is
// empty or not there.
func (d *doc) pair(n int) docBytes {
	return d.table.at(d.main.u32(fibPairs+8*n), d.main.u32(fibPairs+8*n+4))
}

// openDOC reads the streams of a document.
func openDOC(file *File) (*doc, error) {
	f, err := os.Open(file.Path)
	if err != nil {
		return nil, cannotOpen(file, err)
	}
	defer f.Close()
	streams, err := oleStreams(file, f, "WordDocument", "0Table", "1Table", "EncryptedPackage")
	if err != nil {
		return nil, err
	}
	d := &doc{main: streams["WordDocument"]}
	again := msg.Text{"open it in Word or LibreOffice and save it as DOCX", "请用 Word 或 LibreOffice 打开后另存为 DOCX"}
	switch {
	case len(streams["WordDocument"]) == 0 && streams["EncryptedPackage"] != nil:
		return nil, unreadable(file, msg.Text{"the file is encrypted with a password", "文件已用密码加密"}).Hint(again)
	case len(d.main) < fibPairs+8 || !bytes.HasPrefix(d.main, []byte(wordMagic)) && !bytes.HasPrefix(d.main, []byte(wordBinary6)):
		return nil, unreadable(file, msg.Text{"this old Office file holds no Word text", "这个旧版 Office 文件中没有 Word 正文"}).
			Hint(msg.Text{"if it is a workbook or slides, save it as XLSX or PDF", "若是工作簿或幻灯片，请另存为 XLSX 或 PDF"})
	case d.main.u16(fibVersion) < oldestRead || bytes.HasPrefix(d.main, []byte(wordBinary6)):
		return nil, unreadable(file, msg.Text{"this is a document of Word 6 or 95", "这是 Word 6 或 95 的文档"}).Hint(again)
	case d.main.u16(fibFlags)&flagLocked != 0:
		return nil, unreadable(file, msg.Text{"the file is encrypted with a password", "文件已用密码加密"}).
			Hint(msg.Text{"open it in Word and save it without a password", "请用 Word 打开后另存为无密码的文件"})
	}
	name := "0Table"
	if d.main.u16(fibFlags)&flagTable1 != 0 {
		name = "1Table"
	}
	if d.table = streams[name]; d.table == nil {
		return nil, unreadable(file, msg.Text{"the stream %s is missing", "缺少数据流 %s"}, name).Hint(again)
	}
	if d.pieces = d.readPieces(); len(d.pieces) == 0 {
		return nil, unreadable(file, msg.Text{"the table of the text's pieces is damaged", "正文的分段表已损坏"}).Hint(again)
	}
	return d, nil
}

// oleStreams reads the streams of these names from a compound file.
func oleStreams(file *File, f io.ReaderAt, names ...string) (streams map[string]docBytes, err error) {
	torn := func(why error) *fail.Error {
		return unreadable(file, msg.Text{"the file is damaged or cut off: %v", "文件已损坏或不完整：%v"}, why).
			Hint(msg.Text{"it may be an interrupted download or copy; get it again", "可能是下载或复制中断所致；请重新获取"})
	}
	defer func() { // the file is foreign data, and its reader is not ours
		if v := recover(); v != nil {
			streams, err = nil, torn(fmt.Errorf("%v", v))
		}
	}()
	r, err := mscfb.New(f)
	if err != nil {
		return nil, torn(err)
	}
	streams = map[string]docBytes{}
	for _, s := range r.File {
		if !slices.Contains(names, s.Name) {
			continue
		}
		if _, twice := streams[s.Name]; twice || len(s.Path) > 0 {
			continue // of a document inside this one
		}
		if s.Size > min(maxDOCStream, file.Size) {
			return nil, torn(fmt.Errorf("the stream %s would be larger than the file", s.Name))
		}
		b, err := io.ReadAll(io.LimitReader(s, s.Size))
		if err != nil {
			return nil, torn(err)
		}
		if int64(len(b)) < s.Size {
			return nil, torn(io.ErrUnexpectedEOF)
		}
		streams[s.Name] = b
	}
	return streams, nil
}
