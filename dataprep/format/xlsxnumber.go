package format

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// A numberFormat is what of a cell's number format shows in text. The zero
// value is General.
type numberFormat struct {
	prefix, suffix string
	digits         int // least number of digits before the point
	percent        bool
	date           []datePart // nil: no date
}

// A datePart is a run of one letter of a date format ("yyyy"), or literal text.
type datePart struct {
	letter byte // y m d h s; M: minutes; a: AM/PM; e: elapsed; 0: literal
	text   string
}

// builtinFormat is the code of a format that files name by number only
// (ECMA-376 Part 1, 18.8.30, with the Chinese ones of 27–58). Dates that follow
// the reader's locale come as ISO 8601.
func builtinFormat(id int) string {
	switch id {
	case 9, 10:
		return "0%"
	case 14, 30:
		return "yyyy-mm-dd"
	case 15:
		return "d-mmm-yy"
	case 16:
		return "d-mmm"
	case 17:
		return "mmm-yy"
	case 18:
		return "h:mm AM/PM"
	case 19:
		return "h:mm:ss AM/PM"
	case 20:
		return "h:mm"
	case 21:
		return "h:mm:ss"
	case 22:
		return "yyyy-mm-dd h:mm"
	case 27, 36, 50, 52, 57:
		return `yyyy"年"m"月"`
	case 28, 29, 51, 53, 54, 58:
		return `m"月"d"日"`
	case 31:
		return `yyyy"年"m"月"d"日"`
	case 32:
		return `h"时"mm"分"`
	case 33:
		return `h"时"mm"分"ss"秒"`
	case 34, 55:
		return `AM/PMh"时"mm"分"`
	case 35, 56:
		return `AM/PMh"时"mm"分"ss"秒"`
	case 45:
		return "mm:ss"
	case 46:
		return "[h]:mm:ss"
	case 47:
		return "mm:ss"
	}
	return "General"
}

// parseNumberFormat reads the first section of a format code, which is the one
// for positive numbers.
func parseNumberFormat(code string) numberFormat {
	p := formatParser{code: code}
	for p.i < len(p.code) && p.code[p.i] != ';' {
		p.step()
	}
	f := numberFormat{percent: p.percent, digits: p.digits}
	switch {
	case p.isDate:
		return numberFormat{date: minutes(p.parts)}
	case p.number || p.percent:
		f.prefix, f.suffix = signs(p.before), signs(p.after)
	}
	return f
}

// A formatParser goes through a format code as a date and as a number at once,
// since only its letters tell which it is.
type formatParser struct {
	code          string
	i             int
	parts         []datePart
	before, after string // literals around the digits
	digits        int
	number, point bool
	isDate        bool
	percent       bool
}

// step reads one element of the code.
func (p *formatParser) step() {
	rest := p.code[p.i:]
	switch c := rest[0]; {
	case c == '"':
		text, _, _ := strings.Cut(rest[1:], `"`)
		p.literal(text)
		p.i += len(text) + 2
	case c == '\\':
		p.literal(p.skipSign())
	case c == '_' || c == '*': // a blank as wide as, or filled with, the next sign
		p.skipSign()
	case c == '[':
		in, _, _ := strings.Cut(rest[1:], "]")
		p.i += len(in) + 2
		if in = strings.ToLower(in); in != "" && strings.Trim(in, "hms") == "" {
			p.part('e', in)
		}
	case hasFold(rest, "General"):
		p.number = true
		p.i += len("General")
	case hasFold(rest, "AM/PM"):
		p.part('a', "AM/PM")
		p.i += len("AM/PM")
	case strings.HasPrefix(rest, "上午/下午"):
		p.part('a', "上午/下午")
		p.i += len("上午/下午")
	case (c == 'E' || c == 'e') && p.number:
		p.i += 2 // scientific: written out
	case strings.IndexByte("ymdhsYMDHS", c) >= 0:
		n := 1
		for n < len(rest) && rest[n]|0x20 == c|0x20 {
			n++
		}
		p.part(c|0x20, strings.ToLower(rest[:n]))
		p.i += n
	default:
		p.sign(c)
		p.i++
	}
}

// sign reads a placeholder or a literal byte.
func (p *formatParser) sign(c byte) {
	switch c {
	case '%':
		p.percent = true
	case '0', '#', '?':
		p.number = true
		if c == '0' && !p.point {
			p.digits++
		}
	case '.':
		p.point = true
		p.parts = append(p.parts, datePart{text: "."})
	case ',', '@':
	default:
		p.literal(string([]byte{c})) // a byte of a longer sign joins its others
	}
}

func (p *formatParser) part(letter byte, text string) {
	p.isDate = true
	p.parts = append(p.parts, datePart{letter: letter, text: text})
}

func (p *formatParser) literal(s string) {
	if p.number {
		p.after += s
	} else {
		p.before += s
	}
	p.parts = append(p.parts, datePart{text: s})
}

// skipSign passes a one-byte mark and the sign behind it, and returns that.
func (p *formatParser) skipSign() string {
	_, n := utf8.DecodeRuneInString(p.code[p.i+1:])
	s := p.code[p.i+1 : p.i+1+n]
	p.i += 1 + n
	return s
}

func hasFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// signs keeps literal text that says something: letters and words, not the
// spaces, dashes and brackets of layout.
func signs(s string) string {
	if strings.Trim(s, " -+()/:.?") == "" {
		return ""
	}
	return s
}

// minutes tells m for minutes from m for months: it stands behind hours or
// before seconds.
func minutes(parts []datePart) []datePart {
	last := byte(0)
	for i := range parts {
		p := &parts[i]
		if p.letter == 0 {
			continue
		}
		if p.letter == 'm' {
			next := byte(0)
			for _, q := range parts[i+1:] {
				if q.letter != 0 {
					next = q.letter
					break
				}
			}
			if last == 'h' || last == 'e' || next == 's' {
				p.letter = 'M'
			}
		}
		last = p.letter
	}
	return parts
}

// write shows a number as stored in the file. lost says that the file itself
// no longer has all digits.
func (f *numberFormat) write(v string, date1904 bool) (text string, lost bool) {
	n, err := strconv.ParseFloat(v, 64)
	if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
		return v, false
	}
	if f.date != nil {
		if s, ok := f.writeDate(n, date1904); ok {
			return s, false
		}
	}
	if f.percent {
		v = strconv.FormatFloat(n*100, 'G', 15, 64)
		n, _ = strconv.ParseFloat(v, 64)
	}
	text, lost = plainNumber(v, n)
	if point := strings.IndexByte(text, '.'); f.digits > 1 && n >= 0 {
		whole := len(text)
		if point >= 0 {
			whole = point
		}
		if whole < f.digits {
			text = strings.Repeat("0", f.digits-whole) + text
		}
	}
	if f.percent {
		text += "%"
	}
	return f.prefix + text + f.suffix, lost
}

// plainNumber writes a number without an exponent and without the noise behind
// its 15th digit (0.1+0.2 is stored as 0.30000000000000004). Whole numbers keep
// all their digits.
func plainNumber(v string, n float64) (text string, lost bool) {
	if strings.Trim(v, "0123456789") == "" || v[0] == '-' && len(v) > 1 && strings.Trim(v[1:], "0123456789") == "" {
		return v, false
	}
	short, err := strconv.ParseFloat(strconv.FormatFloat(n, 'G', 15, 64), 64)
	if err != nil || math.Abs(n) > 1e30 || n != 0 && math.Abs(n) < 1e-15 {
		return v, false
	}
	text = strconv.FormatFloat(short, 'f', -1, 64)
	return text, math.Abs(n) >= 1e15 && n == math.Trunc(n)
}

// writeDate shows a serial day number. Excel counts 29 February 1900, which
// never was, so that days before March 1900 are one off.
func (f *numberFormat) writeDate(n float64, date1904 bool) (string, bool) {
	if n < 0 || n >= 2958466 { // 10000-01-01
		return "", false
	}
	seconds := int64(math.Round(n * 86400))
	day := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	switch {
	case date1904:
		day = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	case n < 60:
		day = day.AddDate(0, 0, 1)
	}
	t := day.Add(time.Duration(seconds/86400) * 24 * time.Hour).Add(time.Duration(seconds%86400) * time.Second)
	half := false
	for _, p := range f.date {
		half = half || p.letter == 'a'
	}
	var b strings.Builder
	for _, p := range f.date {
		b.WriteString(p.write(t, seconds, half))
	}
	return strings.TrimSpace(b.String()), true
}

func (p datePart) write(t time.Time, seconds int64, half bool) string {
	switch p.letter {
	case 'y':
		if len(p.text) <= 2 {
			return t.Format("06")
		}
		return t.Format("2006")
	case 'm':
		switch len(p.text) {
		case 1:
			return t.Format("1")
		case 2:
			return t.Format("01")
		case 3:
			return t.Format("Jan")
		}
		return t.Format("January")
	case 'd':
		switch len(p.text) {
		case 1:
			return t.Format("2")
		case 2:
			return t.Format("02")
		case 3:
			return t.Format("Mon")
		}
		return t.Format("Monday")
	case 'h':
		h := t.Hour()
		if half {
			h = (h+11)%12 + 1
		}
		return pad(int64(h), len(p.text))
	case 'M':
		return pad(int64(t.Minute()), len(p.text))
	case 's':
		return pad(int64(t.Second()), len(p.text))
	case 'a':
		am, pm, _ := strings.Cut(p.text, "/")
		if t.Hour() < 12 {
			return am
		}
		return pm
	case 'e':
		per := map[byte]int64{'h': 3600, 'm': 60, 's': 1}[p.text[0]]
		return pad(seconds/per, len(p.text))
	}
	return p.text
}

func pad(n int64, width int) string {
	s := strconv.FormatInt(n, 10)
	if len(s) < min(width, 2) {
		s = "0" + s
	}
	return s
}
