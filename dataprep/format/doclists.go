package format

import (
	"strconv"
	"strings"
	"unicode/utf16"
)

// docLists are the lists of a document, counted as those of a newer one are.
type docLists struct{ *numbering }

// readLists reads the list definitions, which stand behind their table, and the
// uses of them that paragraphs name ([MS-DOC] 2.9.131, 2.9.132, 2.9.150).
func (d *doc) readLists() {
	n := &numbering{
		abstracts: map[string]*abstractList{}, lists: map[string]*numList{},
		counts: map[string]*listCount{}, begun: map[string]bool{}, styles: map[string]*wordStyle{},
	}
	d.lists.numbering = n
	const definition, use, most = 28, 16, 10_000
	plc := d.pair(pairLists)
	at := d.main.u32(fibPairs+8*pairLists) + len(plc)
	for i := range min(plc.u16(0), most) {
		b := docBytes(plc.at(2+i*definition, definition))
		if b == nil {
			break
		}
		a, levels := &abstractList{}, maxLevels
		if b.u8(26)&1 != 0 {
			levels = 1
		}
		for l := range levels {
			a.levels[l], at = d.readListLevel(at)
		}
		n.abstracts[strconv.Itoa(b.u32(0))] = a
	}
	uses := d.pair(pairUses)
	count := min(max(uses.u32(0), 0), most, len(uses)/use)
	at = d.main.u32(fibPairs+8*pairUses) + 4 + count*use
	for i := range count {
		b := docBytes(uses.at(4+i*use, use))
		l := &numList{abstract: strconv.Itoa(b.u32(0)), starts: map[int]int{}, levels: map[int]numLevel{}}
		at += 4
		for range b.u8(12) {
			start, flags := d.table.u32(at), d.table.u32(at+4)
			at += 8
			level := flags & 15
			if flags&32 != 0 {
				l.levels[level], at = d.readListLevel(at)
			} else if flags&16 != 0 {
				l.starts[level] = start
			}
		}
		n.lists[strconv.Itoa(i+1)] = l
	}
}

// readListLevel reads a level of a list ([MS-DOC] 2.9.130) and says where the
// next one begins.
func (d *doc) readListLevel(at int) (numLevel, int) {
	const fixed = 28
	b := docBytes(d.table.at(at, fixed))
	if b == nil {
		return numLevel{}, at
	}
	l := numLevel{set: true, start: b.u32(0), format: docNumber(b.u8(4)), suffix: "tab", restart: -1, legal: b.u8(5)&4 != 0}
	if b.u8(15) == 2 {
		l.suffix = "nothing"
	}
	if b.u8(5)&8 != 0 {
		l.restart = b.u8(26)
	}
	at += fixed + b.u8(24) + b.u8(25)
	n := d.table.u16(at)
	var units []uint16
	for i := range n {
		if d.table.at(at+2+2*i, 2) == nil {
			break
		}
		units = append(units, uint16(d.table.u16(at+2+2*i)))
	}
	var text strings.Builder
	for _, r := range utf16.Decode(units) {
		if r < maxLevels {
			text.WriteString("%" + string('1'+r)) // the number of that level
		} else {
			text.WriteRune(r)
		}
	}
	l.text = text.String()
	return l, at + 2 + 2*n
}

// docNumber is a number format ([MS-OSHARED] 2.2.1.3) by the name that newer
// documents have for it.
func docNumber(nfc int) string {
	switch nfc {
	case 1:
		return "upperRoman"
	case 2:
		return "lowerRoman"
	case 3:
		return "upperLetter"
	case 4:
		return "lowerLetter"
	case 5:
		return "ordinal"
	case 10, 36:
		return "ideographDigital"
	case 11, 33, 35, 37, 39:
		return "chineseCounting"
	case 14:
		return "decimalFullWidth"
	case 16, 34:
		return "ideographLegalTraditional"
	case 18, 28, 29:
		return "decimalEnclosedCircle"
	case 22:
		return "decimalZero"
	case 23:
		return "bullet"
	case 26:
		return "decimalEnclosedFullstop"
	case 27:
		return "decimalEnclosedParen"
	case 30:
		return "ideographTraditional"
	case 31:
		return "ideographZodiac"
	case 38:
		return "chineseLegalSimplified"
	case 57:
		return "numberInDash"
	case 255:
		return "none"
	}
	return "decimal"
}
