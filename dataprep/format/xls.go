package format

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// xlsFormat reads the workbooks of Excel 97 to 2003 ([MS-XLS], BIFF8), which WPS
// writes as .et, and gives them as [xlsxFormat] does. Pictures are not read.
func xlsFormat() Format {
	return Format{
		Name:    "xls",
		Exts:    []string{".xls", ".xlt", ".et"},
		Summary: msg.Text{"Excel 97–2003 workbooks", "Excel 97–2003 工作簿"},
		Sniff:   sniffXLS,
		Read:    readXLS,
	}
}

// sniffXLS looks for the main stream, or for its name; where the directory
// stands beyond the head only the file's name tells.
func sniffXLS(head []byte, name string) bool {
	if !bytes.HasPrefix(head, []byte(oleSignature)) || holdsEncrypted(head) || bytes.Contains(head, wideName("WordDocument")) {
		return false
	}
	const sector = 512
	if bytes.HasPrefix(head[min(sector, len(head)):], []byte("\x09\x08\x10\x00\x00\x06")) || bytes.Contains(head, wideName("Workbook\x00")) {
		return true
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".xls", ".xlt", ".et":
		return !bytes.Contains(head, wideName("PowerPoint Document"))
	}
	return false
}

// Records of a workbook ([MS-XLS] 2.3).
const (
	xlsBOF         = 0x0809
	xlsEOF         = 0x000A
	xlsContinue    = 0x003C
	xlsBoundSheet  = 0x0085
	xlsStrings     = 0x00FC
	xlsFormatCode  = 0x041E
	xlsXF          = 0x00E0
	xlsFont        = 0x0031
	xlsPalette     = 0x0092
	xlsDateMode    = 0x0022
	xlsFilePass    = 0x002F
	xlsRow         = 0x0208
	xlsColumns     = 0x007D
	xlsLabelShared = 0x00FD
	xlsLabel       = 0x0204
	xlsRString     = 0x00D6
	xlsNumber      = 0x0203
	xlsRK          = 0x027E
	xlsMulRK       = 0x00BD
	xlsFormula     = 0x0006
	xlsString      = 0x0207
	xlsBoolErr     = 0x0205
	xlsMerged      = 0x00E5
)

// An xlsBook is a workbook being read; rows go out as those of newer ones.
type xlsBook struct {
	workbook
	data    docBytes
	fonts   []sheetLooks
	palette []string // colours from 8, where the file has its own
	codes   map[int]string
	starts  []int // of the sheets' records, by sheet
}

func readXLS(ctx context.Context, u Unit, note func(Note)) iter.Seq2[drydock.Block, error] {
	return func(yield func(drydock.Block, error) bool) {
		b, err := openXLS(u.File)
		if err != nil {
			yield(drydock.Block{}, err)
			return
		}
		b.workbook = workbook{ctx: ctx, pkg: &officePackage{file: u.File}, note: note, yield: yield}
		if err := b.read(); err != nil && err != errStop {
			yield(drydock.Block{}, err)
		}
	}
}

func openXLS(file *File) (*xlsBook, error) {
	f, err := os.Open(file.Path)
	if err != nil {
		return nil, cannotOpen(file, err)
	}
	defer f.Close()
	streams, err := oleStreams(file, f, "Workbook", "Book", "EncryptedPackage")
	if err != nil {
		return nil, err
	}
	again := msg.Text{"open it in Excel or LibreOffice and save it as XLSX", "请用 Excel 或 LibreOffice 打开后另存为 XLSX"}
	b := &xlsBook{data: streams["Workbook"], codes: map[int]string{}}
	switch {
	case len(b.data) == 0 && len(streams["Book"]) > 0, len(b.data) > 0 && b.data.u16(4) < 0x0600:
		return nil, unreadable(file, msg.Text{"this is a workbook of Excel 5 or 95", "这是 Excel 5 或 95 的工作簿"}).Hint(again)
	case len(b.data) == 0 || b.data.u16(0) != xlsBOF:
		return nil, unreadable(file, msg.Text{"this old Office file holds no workbook", "这个旧版 Office 文件中没有工作簿"}).
			Hint(msg.Text{"save it as DOCX, XLSX or PDF and try again", "请另存为 DOCX、XLSX 或 PDF 后再试"})
	}
	return b, nil
}

// damagedAt is the error of a record that cannot be read.
func (b *xlsBook) damagedAt(offset int) *fail.Error {
	return unreadable(b.pkg.file, msg.Text{"the workbook is damaged or cut off at byte %d of its stream", "工作簿在数据流第 %d 字节处损坏或不完整"}, offset).
		Hint(msg.Text{"open it in Excel or LibreOffice and save it anew", "请用 Excel 或 LibreOffice 打开后重新保存"})
}

// records calls each for every record from an offset to the EOF that belongs to
// the BOF there; a record's continuations come with it as further segments.
func (b *xlsBook) records(at int, each func(kind int, parts []docBytes) error) error {
	depth := 0
	for steps := 0; ; steps++ {
		if steps&1023 == 0 && b.ctx.Err() != nil {
			return context.Cause(b.ctx)
		}
		kind, part := b.data.u16(at), b.data.at(at+4, b.data.u16(at+2))
		if at+4 > len(b.data) || part == nil {
			return b.damagedAt(at)
		}
		at += 4 + len(part)
		parts := []docBytes{part}
		for b.data.u16(at) == xlsContinue && at+4 <= len(b.data) {
			more := b.data.at(at+4, b.data.u16(at+2))
			if more == nil {
				return b.damagedAt(at)
			}
			parts = append(parts, more)
			at += 4 + len(more)
		}
		switch kind {
		case xlsBOF: // charts lie inside sheets
			depth++
			continue
		case xlsEOF:
			if depth--; depth <= 0 {
				return nil
			}
			continue
		}
		if depth == 1 {
			if err := each(kind, parts); err != nil {
				return err
			}
		}
	}
}

func (b *xlsBook) read() error {
	type style struct{ font, format, fill int }
	var styles []style
	locked := false
	err := b.records(0, func(kind int, parts []docBytes) error {
		p := parts[0]
		switch kind {
		case xlsFilePass:
			locked = true
			return errStop
		case xlsDateMode:
			b.date1904 = p.u16(0) == 1
		case xlsBoundSheet:
			s := sheetRef{name: xlsShortString(p[min(6, len(p)):]), state: [...]string{"", "hidden", "veryHidden", ""}[p.u8(4)&3]}
			if p.u8(5) == 0 { // else a chart or a macro
				b.sheets, b.starts = append(b.sheets, s), append(b.starts, p.u32(0))
			}
		case xlsStrings:
			return b.sharedStrings(parts)
		case xlsFormatCode:
			r := xlsReader{parts: []docBytes{p[min(2, len(p)):]}}
			b.codes[p.u16(0)] = r.text(r.u16()).text
		case xlsFont:
			b.addFont(p)
		case xlsPalette:
			for i := range min(p.u16(0), 56) {
				c := p.u32(2 + 4*i)
				b.palette = append(b.palette, fmt.Sprintf("%02X%02X%02X", c&0xFF, c>>8&0xFF, c>>16&0xFF))
			}
		case xlsXF:
			s := style{font: p.u16(0), format: p.u16(2)}
			if p.u32(14)>>26&0x3F == 1 { // solid
				s.fill = p.u16(18) & 0x7F
			}
			styles = append(styles, s)
		}
		return nil
	})
	if locked {
		return unreadable(b.pkg.file, msg.Text{"the file is encrypted with a password", "文件已用密码加密"}).
			Hint(msg.Text{"open it in Excel and save it without a password", "请用 Excel 打开后另存为无密码的文件"})
	}
	if err != nil {
		return err
	}
	for _, s := range styles {
		code, own := b.codes[s.format]
		if !own {
			code = builtinFormat(s.format)
		}
		c := cellStyle{number: parseNumberFormat(code)}
		if f := xlsFontIndex(s.font); f < len(b.fonts) {
			c.looks = b.fonts[f]
		}
		if fill := b.color(s.fill); c.looks.color == "" && s.fill != 0 && fill != "FFFFFF" {
			c.looks.color = fill
		}
		b.styles = append(b.styles, c)
	}
	for i, s := range b.sheets {
		if s.state != "" {
			b.tellHidden(s)
			continue
		}
		if err := b.sheetAt(s, b.starts[i]); err != nil {
			return err
		}
	}
	b.tellEmpty()
	return nil
}

// xlsFontIndex undoes that files count no font 4.
func xlsFontIndex(i int) int {
	if i > 4 {
		return i - 1
	}
	return i
}

func (b *xlsBook) addFont(p docBytes) {
	l := sheetLooks{bold: p.u16(6) >= 600, underline: p.u8(10) != 0}
	if c := b.color(p.u16(4)); c != "000000" {
		l.color = c
	}
	switch p.u16(8) {
	case 1:
		l.vertical = "superscript"
	case 2:
		l.vertical = "subscript"
	}
	b.fonts = append(b.fonts, l)
}

// color is the colour with this number; empty for what follows the system.
func (b *xlsBook) color(i int) string {
	const each = len("RRGGBB")
	switch {
	case i >= 8 && i-8 < len(b.palette):
		return b.palette[i-8]
	case i >= 0 && i < 8:
		return indexedColors[i*each : (i+1)*each]
	case i >= 8 && i < 64:
		return indexedColors[(i-8)*each : (i-7)*each]
	}
	return ""
}

// sharedStrings reads the table of texts.
func (b *xlsBook) sharedStrings(parts []docBytes) error {
	r := xlsReader{parts: parts}
	r.take(4)
	n := r.u32()
	for range n {
		if r.left() == 0 {
			return nil // cells that name a missing text are drops
		}
		b.shared = append(b.shared, b.rich(r.text(r.u16())))
	}
	return nil
}

// rich gives a text the looks of its runs.
func (b *xlsBook) rich(t xlsText) (s sheetText) {
	var out strings.Builder
	looks := sheetLooks{}
	at := 0
	piece := func(end int) {
		text := cellText(t.text[at:end])
		switch looks.vertical {
		case "superscript":
			text = raised(text)
		case "subscript":
			text = lowered(text)
		}
		start := out.Len()
		out.WriteString(text)
		s.spans = looks.mark(s.spans, start, out.Len(), 0)
		at = end
	}
	for _, run := range t.runs {
		if run.at < at || run.at > len(t.text) {
			break // out of order: the looks are lost, the text is not
		}
		piece(run.at)
		looks = sheetLooks{}
		if f := xlsFontIndex(run.font); f < len(b.fonts) {
			looks = b.fonts[f]
		}
	}
	piece(len(t.text))
	s.text = out.String()
	return s
}
