package format

import (
	"context"
	"iter"
	"path"
	"strconv"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/msg"
)

// The largest sheet Excel knows.
const (
	maxSheetRows    = 1 << 20
	maxSheetColumns = 1 << 14
)

// xlsxFormat reads Excel workbooks. A row with anything in it is a block of
// cells (At.Sheet, At.Row as Excel numbers them), the first row included.
//
// Numbers come as typed, to the last digit: not as the column is formatted,
// except that dates, percentages, leading zeros and text around a number are
// shown. A cell merged over several rows stands in each of them; one merged
// over several columns in the first. Hidden sheets are named in a note and not
// read; hidden rows and columns are read, and counted in one.
//
// The looks of type (bold, underlined, coloured, or on a colour) are spans of
// their cell. A picture stands in the cell its corner lies in, or in the row
// above when its own is empty.
//
// The reader is our own since excelize ends a torn sheet without an error and
// gives long numbers rounded.
func xlsxFormat() Format {
	return Format{
		Name:    "xlsx",
		Exts:    []string{".xlsx", ".xlsm", ".xltx"},
		Summary: msg.Text{"Excel workbooks", "Excel 工作簿"},
		Sniff: func(head []byte, name string) bool {
			return sniffOffice(head, name, "xl/", ".xlsx")
		},
		Read: readXLSX,
	}
}

func readXLSX(ctx context.Context, u Unit, note func(Note)) iter.Seq2[drydock.Block, error] {
	return officeBlocks(u.File, func(p *officePackage, yield func(drydock.Block, error) bool) {
		readWorkbook(ctx, p, note, yield)
	})
}

// readWorkbook yields the rows of all sheets in order.
func readWorkbook(ctx context.Context, p *officePackage, note func(Note), yield func(drydock.Block, error) bool) {
	w := &workbook{ctx: ctx, pkg: p, note: note, yield: yield}
	if err := w.read(); err != nil && err != errStop {
		yield(drydock.Block{}, err)
	}
}

// A workbook is what all sheets share.
type workbook struct {
	ctx   context.Context
	pkg   *officePackage
	note  func(Note)
	yield func(drydock.Block, error) bool

	sheets   []sheetRef
	date1904 bool
	theme    []string // colours
	shared   []sheetText
	styles   []cellStyle
	pictures map[string]string // that stand inside cells, name by id
	rows     int               // given so far
}

// A sheetRef is one sheet as the workbook lists it.
type sheetRef struct{ name, id, state string }

func (w *workbook) read() error {
	root, err := w.pkg.relations(w.ctx, "")
	if err != nil {
		return err
	}
	main := w.pkg.related(root, "officeDocument", "xl/workbook.xml")
	switch {
	case strings.HasSuffix(main, ".bin") || main == "" && w.pkg.has("xl/workbook.bin"):
		return unreadable(w.pkg.file, msg.Text{"this is a binary workbook (.xlsb)", "这是二进制工作簿（.xlsb）"}).
			Hint(msg.Text{"save it as .xlsx and try again", "请另存为 .xlsx 后再试"})
	case main == "":
		return unreadable(w.pkg.file, msg.Text{"there is no workbook in the file: xl/workbook.xml is missing", "文件中没有工作簿：缺少 xl/workbook.xml"}).
			Hint(msg.Text{"open it in Excel and save it anew", "请用 Excel 打开后重新保存"})
	}
	if err := w.list(main); err != nil {
		return err
	}
	rels, err := w.pkg.relations(w.ctx, main)
	if err != nil {
		return err
	}
	dir := path.Dir(main)
	if w.theme, err = readTheme(w.ctx, w.pkg, w.pkg.related(rels, "theme", path.Join(dir, "theme/theme1.xml"))); err != nil {
		return err
	}
	if w.pictures, err = w.cellImages(main); err != nil {
		return err
	}
	if err := w.readShared(w.pkg.related(rels, "sharedStrings", path.Join(dir, "sharedStrings.xml"))); err != nil {
		return err
	}
	if w.styles, err = readCellStyles(w.ctx, w.pkg, w.pkg.related(rels, "styles", path.Join(dir, "styles.xml")), w.theme); err != nil {
		return err
	}
	for _, s := range w.sheets {
		if err := w.sheet(s, rels); err != nil {
			return err
		}
	}
	w.tellEmpty()
	return nil
}

// tellEmpty notes a workbook without anything in it.
func (w *workbook) tellEmpty() {
	if w.rows == 0 {
		w.note(Note{Code: "no_text", Damage: true, Text: msg.Text{
			"%s: no row of the workbook holds anything", "%s：工作簿中没有任何内容",
		}, Args: []any{w.pkg.file.name()}})
	}
}

// tellHidden notes a hidden sheet.
func (w *workbook) tellHidden(s sheetRef) {
	w.note(Note{Code: "hidden_sheet", Text: msg.Text{
		"%s: the hidden sheet %q was not read; unhide it in Excel if its rows are wanted",
		"%s：隐藏的工作表 %q 未读取；若需要其内容，请在 Excel 中取消隐藏",
	}, Args: []any{w.pkg.file.name(), s.name}})
}

// list reads the sheets' names.
func (w *workbook) list(part string) error {
	x, err := w.pkg.tokens(w.ctx, part)
	if err != nil {
		return err
	}
	defer x.close()
	for x.next() {
		if !x.start {
			continue
		}
		switch x.name {
		case "workbookPr":
			v := x.attr("date1904")
			w.date1904 = v == "1" || v == "true"
		case "sheet":
			s := sheetRef{name: x.attr("name"), id: x.prefixed("id"), state: x.attr("state")}
			w.sheets = append(w.sheets, s)
		}
	}
	return x.err
}

func (w *workbook) readShared(part string) error {
	if part == "" {
		return nil
	}
	x, err := w.pkg.tokens(w.ctx, part)
	if err != nil {
		return err
	}
	defer x.close()
	for x.next() {
		if x.start && x.name == "si" {
			w.shared = append(w.shared, richText(x, w.theme))
		}
	}
	return x.err
}

// cellText undoes the escapes of Excel (_x000D_) and makes line ends LF.
func cellText(s string) string {
	if strings.Contains(s, "_x") {
		s = unescapeX(s)
	}
	if strings.IndexByte(s, '\r') >= 0 {
		s = strings.ReplaceAll(s, "\r\n", "\n")
		s = strings.ReplaceAll(s, "\r", "\n")
	}
	return s
}

func unescapeX(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '_' && i+6 < len(s) && s[i+1] == 'x' && s[i+6] == '_' {
			if v, ok := hex4([]byte(s), i+2); ok && (v < 0xD800 || v > 0xDFFF) && v > 0 {
				b.WriteRune(rune(v))
				i += 6
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// sheet yields the rows of one sheet.
func (w *workbook) sheet(s sheetRef, rels map[string]relation) error {
	rel, ok := rels[s.id]
	if ok && rel.kind != "worksheet" {
		return nil // a chart or a dialogue
	}
	if s.state == "hidden" || s.state == "veryHidden" {
		w.tellHidden(s)
		return nil
	}
	if !ok || !w.pkg.has(rel.target) {
		return unreadable(w.pkg.file, msg.Text{"the sheet %q is missing from the file", "文件中缺少工作表 %q"}, s.name).
			Hint(msg.Text{"open it in Excel and save it anew", "请用 Excel 打开后重新保存"})
	}
	merges, err := w.merges(rel.target)
	if err != nil {
		return err
	}
	x, err := w.pkg.tokens(w.ctx, rel.target)
	if err != nil {
		return err
	}
	defer x.close()
	images, err := w.images(rel.target)
	if err != nil {
		return err
	}
	r := &sheetReader{w: w, x: x, name: s.name, merges: merges, images: images}
	for x.next() {
		switch {
		case !x.start:
		case x.name == "col":
			if v := x.attr("hidden"); v == "1" || v == "true" {
				r.hiddenColumns += max(1, atoiOr(x.attr("max"), 1)-atoiOr(x.attr("min"), 1)+1)
			}
		case x.name == "row":
			if err := r.row(); err != nil {
				return err
			}
		}
	}
	if x.err != nil {
		return x.err
	}
	if err := r.flush(maxSheetRows + 1); err != nil {
		return err
	}
	r.tell()
	return nil
}

// columnOf reads the column of a cell's name: C of "C12" is 3.
func columnOf(ref string) (int, bool) {
	n, i := 0, 0
	for ; i < len(ref) && ref[i]|0x20 >= 'a' && ref[i]|0x20 <= 'z'; i++ {
		if n = n*26 + int(ref[i]|0x20-'a') + 1; n > maxSheetColumns {
			return 0, false
		}
	}
	return n, i > 0
}

// cellName is the name of a cell: column 3 of row 12 is "C12".
func cellName(column, row int) string {
	name := ""
	for ; column > 0; column = (column - 1) / 26 {
		name = string(rune('A'+(column-1)%26)) + name
	}
	return name + strconv.Itoa(row)
}
