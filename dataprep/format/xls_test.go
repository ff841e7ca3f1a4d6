package format_test

import (
	"encoding/binary"
	"math"
	"testing"
	"unicode/utf16"

	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dataprep/format/formattest"
)

// rec is a record of a workbook; numbers are of two bytes, []byte stands as it is.
func rec(kind int, parts ...any) []byte {
	var data []byte
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			data = binary.LittleEndian.AppendUint16(data, uint16(p))
		case uint32:
			data = binary.LittleEndian.AppendUint32(data, p)
		case float64:
			data = binary.LittleEndian.AppendUint64(data, math.Float64bits(p))
		case []byte:
			data = append(data, p...)
		}
	}
	out := binary.LittleEndian.AppendUint16(nil, uint16(kind))
	return append(binary.LittleEndian.AppendUint16(out, uint16(len(data))), data...)
}

// xlsString is a text with its length: of two bytes a character, or of one.
func xlsString(s string, wide bool) []byte {
	units := utf16.Encode([]rune(s))
	b := binary.LittleEndian.AppendUint16(nil, uint16(len(units)))
	if !wide {
		return append(append(b, 0), s...)
	}
	b = append(b, 1)
	for _, u := range units {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return b
}

// xlsOf is a workbook of one sheet with these records, and these after the
// globals' first.
func xlsOf(globals, sheet []byte) []byte {
	bof := func(kind int) []byte { return rec(0x809, 0x600, kind, 0, 0, uint32(0), uint32(0)) }
	end := rec(0x0A)
	sst := rec(0xFC, uint32(2), uint32(3), xlsString("题干", true), xlsString("ab", false), xlsString("跨段", true)[:5])
	sst = append(sst, rec(0x3C, []byte{1}, xlsString("段", true)[3:])...)
	font := func(color, weight int) []byte { return rec(0x31, 200, 0, color, weight, 0, []byte{0, 0, 0, 0}) }
	styles := append(font(0x7FFF, 400), font(10, 700)...)
	xf := func(font, format, fill, color int) []byte {
		return rec(0xE0, font, format, 0, []byte{0, 0, 0, 0}, uint32(0), uint32(fill)<<26, color)
	}
	for _, x := range [][]byte{xf(0, 0, 0, 64), xf(1, 14, 0, 64), xf(0, 0, 1, 13)} {
		styles = append(styles, x...)
	}
	name := []byte{1, 0, 'S'}
	head := append(append(bof(5), globals...), styles...)
	start := len(head) + len(rec(0x85, uint32(0), 0, name)) + len(sst) + len(end)
	book := append(head, rec(0x85, uint32(start), 0, name)...)
	book = append(append(append(book, sst...), end...), bof(0x10)...)
	return compound(streamOf{"Workbook", append(append(book, sheet...), end...)})
}

// xlsCells has a cell of every kind.
func xlsCells() []byte {
	var b []byte
	for _, r := range [][]byte{
		rec(0xFD, 1, 0, 0, uint32(2)), // before the first row
		rec(0xFD, 0, 0, 1, uint32(0)), rec(0xFD, 0, 1, 0, uint32(1)), rec(0x204, 0, 2, 2, xlsString("直接", true)),
		rec(0x27E, 1, 1, 0, uint32(25<<2|2)), rec(0x27E, 1, 2, 0, uint32(2750<<2|3)),
		rec(0xBD, 2, 0, 0, uint32(1<<2|2), 0, uint32(2<<2|2), 1), rec(0x203, 2, 3, 1, 46024.0),
		rec(0x06, 3, 0, 0, 1.5, 0, uint32(0), 0), rec(0x06, 3, 1, 0, []byte{0, 0, 0, 0, 0, 0, 0xFF, 0xFF}, 0, uint32(0), 0), rec(0x207, xlsString("公式", true)),
		rec(0x205, 3, 2, 0, []byte{1, 0}), rec(0x205, 3, 3, 0, []byte{0x2A, 1}),
		rec(0x208, 2, 0, 0, 0, 0, 0, 0x20, 0), rec(0xE5, 1, 0, 1, 0, 0),
		bofOf(), rec(0xFD, 9, 9, 0, uint32(0)), rec(0x0A), // a chart
	} {
		b = append(b, r...)
	}
	return b
}

func bofOf() []byte { return rec(0x809, 0x600, 0x20, 0, 0, uint32(0), uint32(0)) }

func TestXLS(t *testing.T) {
	t.Parallel()
	r := readAll(t, fileOf(t, "b.xls", xlsOf(nil, xlsCells())))
	compare(t, []string{
		"sheet:S r1|[题干|ab|直接]", "sheet:S r2|[跨段|25|27.5]", "sheet:S r3|[1|2||2026-01-02]", "sheet:S r4|[1.5|公式|TRUE|#N/A]",
	}, shown(r))
	compare(t, []string{"bold  0:题干", "color FF0000 0:题干", "color FFFF00 2:直接", "bold  3:2026-01-02", "color FF0000 3:2026-01-02"}, marked(r))
	compare(t, []string{"date_cells", "error_cells", "hidden_rows"}, codes(r))
	formattest.Run(t, named(t, "xls"), fileOf(t, "c.xls", xlsOf(nil, xlsCells())))
}

func TestXLSBroken(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		b    []byte
		want string
	}{
		{"password", xlsOf(rec(0x2F, 0), nil), "encrypted with a password"},
		{"Excel 95", compound(streamOf{"Book", rec(0x809, 0x500, 5)}), "Excel 5 or 95"},
		{"no workbook", compound(streamOf{"Other", []byte("x")}), "holds no workbook"},
		{"torn sheet", xlsOf(nil, append(rec(0xFD, 0, 0, 0, uint32(0)), 0x03, 0x02, 0xFF, 0xFF)), "damaged or cut off"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			failsWith(t, fileOf(t, "b.xls", c.b), format.Options{}, c.want)
		})
	}
	r, _ := formattest.Read(t.Context(), fileOf(t, "m.xls", xlsOf(nil, rec(0xFD, 0, 0, 0, uint32(7)))), format.Options{})
	if len(r.Drops) != 1 || r.Drops[0].Reason != "bad_cell" {
		t.Errorf("drops %v, error %v", r.Drops, r.Err)
	}
}

func FuzzXLS(f *testing.F) {
	f.Add(xlsCells(), []byte{})
	f.Add(rec(0xBD, 1, 2, 3), rec(0xFC, uint32(9), uint32(1<<31-1)))
	f.Fuzz(func(t *testing.T, sheet, globals []byte) {
		r, _ := formattest.Read(t.Context(), fileOf(t, "f.xls", xlsOf(globals, sheet)), format.Options{})
		checkFuzzed(t, r)
	})
}
