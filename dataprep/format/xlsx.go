package format

import (
	"context"
	"fmt"
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
// read.
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
	shared   []string
	formats  []numberFormat // by cell style
	rows     int            // given so far
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
	if err := w.readShared(w.pkg.related(rels, "sharedStrings", path.Join(dir, "sharedStrings.xml"))); err != nil {
		return err
	}
	if w.formats, err = readFormats(w.ctx, w.pkg, w.pkg.related(rels, "styles", path.Join(dir, "styles.xml"))); err != nil {
		return err
	}
	for _, s := range w.sheets {
		if err := w.sheet(s, rels); err != nil {
			return err
		}
	}
	if w.rows == 0 {
		w.note(Note{Code: "no_text", Damage: true, Text: msg.Text{
			"%s: no row of the workbook holds anything", "%s：工作簿中没有任何内容",
		}, Args: []any{w.pkg.file.name()}})
	}
	return nil
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
			s := sheetRef{name: x.attr("name"), state: x.attr("state")}
			for _, a := range x.attrs {
				if a.Name.Local == "id" && a.Name.Space != "" {
					s.id = a.Value
				}
			}
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
			w.shared = append(w.shared, richText(x))
		}
	}
	return x.err
}

// richText reads the text of a string item: its runs without their looks,
// except that raised and lowered signs stay so; reading aids (rPh) left out.
func richText(x *xmlTokens) string {
	var b strings.Builder
	vertical := ""
	for in := x.depth; x.next() && x.depth >= in; {
		switch {
		case x.start && (x.name == "rPh" || x.name == "phoneticPr"):
			x.skip()
		case x.start && x.name == "r":
			vertical = ""
		case x.start && x.name == "vertAlign":
			vertical = x.attr("val")
		case x.start && x.name == "t":
			var t strings.Builder
			for in := x.depth; x.next() && x.depth >= in; {
				t.Write(x.text)
			}
			switch vertical {
			case "superscript":
				b.WriteString(raised(t.String()))
			case "subscript":
				b.WriteString(lowered(t.String()))
			default:
				b.WriteString(t.String())
			}
		}
	}
	return cellText(b.String())
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
		w.note(Note{Code: "hidden_sheet", Text: msg.Text{
			"%s: the hidden sheet %q was not read; unhide it in Excel if its rows are wanted",
			"%s：隐藏的工作表 %q 未读取；若需要其内容，请在 Excel 中取消隐藏",
		}, Args: []any{w.pkg.file.name(), s.name}})
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
	r := &sheetReader{w: w, x: x, name: s.name, merges: merges}
	for x.next() {
		if x.start && x.name == "row" {
			if err := r.row(); err != nil {
				return err
			}
		}
	}
	if x.err != nil {
		return x.err
	}
	r.tell()
	return nil
}

// A sheetReader reads the rows of a sheet.
type sheetReader struct {
	w      *workbook
	x      *xmlTokens
	name   string
	merges []merge // not begun yet, by first row
	open   []merge // begun above
	number int     // of the row, from 1
	given  int
	cells  []string
	fault  string // what is wrong with the row

	dates, errors, empties, lost oddCells
}

// oddCells counts cells that need a word.
type oddCells struct {
	n     int
	first string
}

func (o *oddCells) add(column, row int) {
	if o.n++; o.n == 1 {
		o.first = cellName(column, row)
	}
}

// row reads and yields one row; its start was just read.
func (r *sheetReader) row() error {
	x := r.x
	r.number++
	if n, err := strconv.Atoi(x.attr("r")); err == nil {
		if n < r.number || n > maxSheetRows {
			return r.w.pkg.damaged(x.part, fmt.Errorf("row %d stands after row %d", n, r.number-1))
		}
		r.number = n
	}
	r.cells, r.fault = nil, ""
	column := 0
	for in := x.depth; x.next() && x.depth >= in; {
		if !x.start || x.name != "c" {
			continue
		}
		column++
		if ref := x.attr("r"); ref != "" {
			c, ok := columnOf(ref)
			if !ok || c < column {
				return r.w.pkg.damaged(x.part, fmt.Errorf("a cell of row %d is called %q", r.number, ref))
			}
			column = c
		}
		if column > maxSheetColumns {
			return r.w.pkg.damaged(x.part, fmt.Errorf("row %d has more than %d columns", r.number, maxSheetColumns))
		}
		if v := r.cell(column); v != "" {
			for len(r.cells) < column {
				r.cells = append(r.cells, "")
			}
			r.cells[column-1] = v
		}
	}
	if x.err != nil {
		return x.err
	}
	return r.give()
}

// give yields the row unless it is empty.
func (r *sheetReader) give() error {
	blank := true
	for _, c := range r.cells {
		if strings.TrimSpace(c) != "" {
			blank = false
			break
		}
	}
	r.remember()
	if blank && r.fault == "" {
		return nil
	}
	at := drydock.Locator{Sheet: r.name, Row: r.number}
	r.given++
	r.w.rows++
	ok := true
	if r.fault != "" {
		ok = r.w.yield(drydock.Block{}, badBlock(r.w.pkg.file, at, "bad_cell", r.fault, strings.Join(r.cells, "\t")))
	} else {
		r.repeat()
		ok = r.w.yield(drydock.Block{Cells: r.cells, At: at}, nil)
	}
	if !ok {
		return errStop
	}
	return nil
}

// cell reads one cell; its start was just read.
func (r *sheetReader) cell(column int) string {
	x := r.x
	kind, style := x.attr("t"), atoiOr(x.attr("s"), 0)
	value, inline := "", ""
	formula, valued := false, false
	for in := x.depth; x.next() && x.depth >= in; {
		switch {
		case !x.start:
		case x.name == "v":
			valued = true
			var b strings.Builder
			for in := x.depth; x.next() && x.depth >= in; {
				b.Write(x.text)
			}
			value = b.String()
		case x.name == "is":
			valued = true
			inline = richText(x)
		case x.name == "f":
			formula = true
			x.skip()
		}
	}
	if formula && (!valued || value == "" && kind != "str") { // some programs write an empty value
		r.empties.add(column, r.number)
		return ""
	}
	switch kind {
	case "s":
		i, err := strconv.Atoi(strings.TrimSpace(value))
		if value == "" {
			return ""
		}
		if err != nil || i < 0 || i >= len(r.w.shared) {
			r.fault = fmt.Sprintf("cell %s refers to text %q of %d", cellName(column, r.number), value, len(r.w.shared))
			return ""
		}
		return r.w.shared[i]
	case "inlineStr":
		return inline
	case "str", "d":
		return cellText(value)
	case "b":
		switch strings.TrimSpace(value) {
		case "1", "true":
			return "TRUE"
		case "":
			return ""
		}
		return "FALSE"
	case "e":
		r.errors.add(column, r.number)
		return value
	}
	return r.numeric(strings.TrimSpace(value), style, column)
}

// numeric writes a number as its style shows it, see [xlsxFormat].
func (r *sheetReader) numeric(v string, style, column int) string {
	if v == "" {
		return ""
	}
	f := numberFormat{}
	if style >= 0 && style < len(r.w.formats) {
		f = r.w.formats[style]
	}
	text, lost := f.write(v, r.w.date1904)
	if f.date != nil {
		r.dates.add(column, r.number)
	}
	if lost {
		r.lost.add(column, r.number)
	}
	return text
}

// tell notes what was odd about the sheet.
func (r *sheetReader) tell() {
	note, file := r.w.note, r.w.pkg.file.name()
	if r.given == 0 && len(r.w.sheets) > 1 {
		note(Note{Code: "empty_sheet", Text: msg.Text{"%s: the sheet %q is empty", "%s：工作表 %q 是空的"}, Args: []any{file, r.name}})
	}
	for _, o := range []struct {
		cells  oddCells
		code   string
		damage bool
		text   msg.Text
	}{
		{r.dates, "date_cells", false, msg.Text{
			"%s: sheet %q has %d cells that are dates, the first %s; what was typed as 1-2 may have become one",
			"%s：工作表 %q 有 %d 个日期单元格，首个为 %s；输入的 1-2 之类可能已被 Excel 改成日期",
		}},
		{r.errors, "error_cells", false, msg.Text{
			"%s: sheet %q has %d cells with an error value such as #N/A, the first %s",
			"%s：工作表 %q 有 %d 个错误值单元格（如 #N/A），首个为 %s",
		}},
		{r.empties, "formula_without_value", true, msg.Text{
			"%s: sheet %q has %d formulas whose result is not in the file, the first %s; open and save it in Excel once",
			"%s：工作表 %q 有 %d 个公式没有保存结果，首个为 %s；请用 Excel 打开并保存一次",
		}},
		{r.lost, "digits_lost", true, msg.Text{
			"%s: sheet %q has %d numbers of more than 15 digits whose last digits Excel did not keep, the first %s; such ids must be typed as text",
			"%s：工作表 %q 有 %d 个超过 15 位的数，Excel 未保留其末位，首个为 %s；此类编号应以文本输入",
		}},
	} {
		if o.cells.n > 0 {
			note(Note{Code: o.code, Damage: o.damage, Text: o.text, Args: []any{file, r.name, o.cells.n, o.cells.first}})
		}
	}
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
