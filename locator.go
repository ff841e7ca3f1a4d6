package drydock

import (
	"fmt"
	"strconv"
	"strings"
)

// A Locator says where in a file something stands. All numbers count from 1;
// zero means not known. Only what the container has is set: a PDF has page and
// line, a workbook sheet and row, a text file lines.
type Locator struct {
	Part  string // a file inside the file, slashes; empty for the file itself
	Sheet string // name of a workbook's sheet
	Page  int
	Para  int  // paragraph of a word-processing document
	Line  int  // of the page, where there are pages
	Row   int  // of the sheet, or of an array
	OCR   bool // the text was recognised in a picture
}

// IsZero reports whether nothing is known.
func (l Locator) IsZero() bool { return l == Locator{} }

// String writes the locator in the form people and rows see, for example
// "p12 l7", "sheet:题库 r15", "part:a.txt l3". [ParseLocator] reads it.
func (l Locator) String() string {
	var b strings.Builder
	add := func(s string) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(s)
	}
	if l.Part != "" {
		add("part:" + escapeName(l.Part))
	}
	if l.Sheet != "" {
		add("sheet:" + escapeName(l.Sheet))
	}
	for _, n := range []struct {
		mark string
		v    int
	}{{"p", l.Page}, {"para", l.Para}, {"l", l.Line}, {"r", l.Row}} {
		if n.v > 0 {
			add(n.mark + strconv.Itoa(n.v))
		}
	}
	if l.OCR {
		add("ocr")
	}
	return b.String()
}

// ParseLocator reads what [Locator.String] wrote.
func ParseLocator(s string) (Locator, error) {
	var l Locator
	for _, f := range strings.Fields(s) {
		var to *int
		num := ""
		switch {
		case f == "ocr":
			l.OCR = true
			continue
		case strings.HasPrefix(f, "part:"):
			l.Part = unescapeName(f[len("part:"):])
			continue
		case strings.HasPrefix(f, "sheet:"):
			l.Sheet = unescapeName(f[len("sheet:"):])
			continue
		case strings.HasPrefix(f, "para"):
			to, num = &l.Para, f[len("para"):]
		case strings.HasPrefix(f, "p"):
			to, num = &l.Page, f[1:]
		case strings.HasPrefix(f, "l"):
			to, num = &l.Line, f[1:]
		case strings.HasPrefix(f, "r"):
			to, num = &l.Row, f[1:]
		default:
			return Locator{}, fmt.Errorf("locator %q: unknown part %q", s, f)
		}
		n, err := strconv.Atoi(num)
		if err != nil || n < 1 {
			return Locator{}, fmt.Errorf("locator %q: %q is not a number from 1", s, num)
		}
		*to = n
	}
	return l, nil
}

// Names are percent-escaped only where a space or a percent sign would break
// the locator apart, so that Chinese sheet names stay readable.
func escapeName(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch r {
		case ' ', '%', '\t', '\n', '\r', '\v', '\f', 0x85, 0xA0:
			for _, c := range []byte(string(r)) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		default:
			if r >= 0x1680 && strings.TrimSpace(string(r)) == "" {
				for _, c := range []byte(string(r)) {
					fmt.Fprintf(&b, "%%%02X", c)
				}
				continue
			}
			b.WriteRune(r)
		}
	}
	return b.String()
}

func unescapeName(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if v, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(v))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// MarshalText writes the locator as [Locator.String] does.
func (l Locator) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (l *Locator) UnmarshalText(b []byte) error {
	p, err := ParseLocator(string(b))
	if err != nil {
		return err
	}
	*l = p
	return nil
}
