package format

import (
	"cmp"
	"math"
	"slices"
	"strconv"
)

// An xlsCell is a cell before its row is whole.
type xlsCell struct {
	row, column int // from 0
	sheetCell
	fault string
}

// sheetAt yields the rows of one sheet.
func (b *xlsBook) sheetAt(s sheetRef, at int) error {
	if at < 0 || b.data.u16(at) != xlsBOF {
		return b.damagedAt(at)
	}
	sheet := &xlsSheet{b: b, r: &sheetReader{w: &b.workbook, name: s.name}, hidden: map[int]bool{}}
	if err := b.records(at, sheet.record); err != nil {
		return err
	}
	slices.SortStableFunc(sheet.cells, func(x, y xlsCell) int {
		return cmp.Or(cmp.Compare(x.row, y.row), cmp.Compare(x.column, y.column))
	})
	r := sheet.r
	slices.SortFunc(r.merges, func(x, y merge) int { return cmp.Or(cmp.Compare(x.first, y.first), cmp.Compare(x.column, y.column)) })
	for i := 0; i < len(sheet.cells); {
		row := sheet.cells[i].row
		r.number, r.hidden = row+1, sheet.hidden[row]
		r.cells, r.spans, r.figure, r.fault = nil, nil, "", ""
		for ; i < len(sheet.cells) && sheet.cells[i].row == row; i++ {
			c := sheet.cells[i]
			if c.fault != "" {
				r.fault = c.fault
			}
			r.put(c.column+1, c.sheetCell)
		}
		if err := r.give(); err != nil {
			return err
		}
	}
	r.tell()
	return nil
}

// An xlsSheet gathers the cells of a sheet: their records need not be in order.
type xlsSheet struct {
	b       *xlsBook
	r       *sheetReader
	cells   []xlsCell
	hidden  map[int]bool // rows
	pending bool         // the last cell is a formula whose text comes next
}

func (s *xlsSheet) record(kind int, parts []docBytes) error {
	p := parts[0]
	row, column, style := p.u16(0), p.u16(2), p.u16(4)
	if s.pending && kind == xlsString {
		r := xlsReader{parts: parts}
		s.cells[len(s.cells)-1].text = cellText(r.text(r.u16()).text)
		s.pending = false
		return nil
	}
	switch kind {
	case xlsRow:
		if p.u16(12)&0x20 != 0 {
			s.hidden[row] = true
		}
	case xlsColumns:
		if p.u16(8)&1 != 0 {
			s.r.hiddenColumns += max(0, p.u16(2)-p.u16(0)+1)
		}
	case xlsMerged:
		for i := range min(p.u16(0), (len(p)-2)/8) {
			if first, last := p.u16(2+8*i), p.u16(4+8*i); last > first && len(s.r.merges) < maxMerges {
				s.r.merges = append(s.r.merges, merge{column: p.u16(6+8*i) + 1, first: first + 1, last: last + 1})
			}
		}
	case xlsLabelShared:
		i := p.u32(6)
		if i < 0 || i >= len(s.b.shared) {
			s.add(row, column, style, sheetText{})
			s.cells[len(s.cells)-1].fault = "cell " + cellName(column+1, row+1) + " refers to a text that is not in the file"
			return nil
		}
		s.add(row, column, style, s.b.shared[i])
	case xlsLabel, xlsRString:
		r := xlsReader{parts: parts}
		r.take(6)
		s.add(row, column, style, sheetText{text: cellText(r.text(r.u16()).text)})
	case xlsNumber:
		s.number(row, column, style, math.Float64frombits(p.u64(6)))
	case xlsRK:
		s.number(row, column, style, rkNumber(uint32(p.u32(6))))
	case xlsMulRK:
		for i := range (len(p) - 6) / 6 {
			s.number(row, column+i, p.u16(4+6*i), rkNumber(uint32(p.u32(6+6*i))))
		}
	case xlsBoolErr:
		s.boolean(row, column, style, p.u8(6), p.u8(7) != 0)
	case xlsFormula:
		s.formula(row, column, style, p)
	}
	return nil
}

func (s *xlsSheet) formula(row, column, style int, p docBytes) {
	if p.u16(12) != 0xFFFF {
		s.number(row, column, style, math.Float64frombits(p.u64(6)))
		return
	}
	switch p.u8(6) {
	case 0:
		s.add(row, column, style, sheetText{})
		s.pending = true
	case 1, 2:
		s.boolean(row, column, style, p.u8(8), p.u8(6) == 2)
	}
}

func (s *xlsSheet) add(row, column, style int, t sheetText) {
	c := xlsCell{row: row, column: column, sheetCell: sheetCell{sheetText: t}}
	if style < len(s.b.styles) && !s.b.styles[style].looks.plain() {
		c.looks = &s.b.styles[style].looks
	}
	s.cells = append(s.cells, c)
}

func (s *xlsSheet) number(row, column, style int, v float64) {
	s.r.number = row + 1 // numeric names the cell in what it counts
	s.add(row, column, style, sheetText{text: s.r.numeric(strconv.FormatFloat(v, 'G', -1, 64), style, column+1)})
}

func (s *xlsSheet) boolean(row, column, style, v int, isError bool) {
	text := "FALSE"
	switch {
	case isError:
		s.r.errors.add(column+1, row+1)
		text = xlsError(v)
	case v != 0:
		text = "TRUE"
	}
	s.add(row, column, style, sheetText{text: text})
}
