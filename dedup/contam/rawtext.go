package contam

import (
	"bytes"
	"unicode/utf8"
)

// minRun bytes make a run of text: two Chinese characters, four Latin letters.
const minRun = 4

// runs returns what reads as text in b, run by run, one list for each encoding
// there is. Runs with many %E8 in them are given again, unescaped.
func (r *Raw) runs(b []byte) [][]rawRun {
	plain := textRuns(b)
	out := append([][]rawRun{plain}, r.wide.runs(b)...)
	var escaped []rawRun
	for i := range plain {
		inside := unescapeBytes(plain[i].text)
		if inside == nil {
			continue
		}
		for _, list := range append([][]rawRun{textRuns(inside)}, r.wide.runs(inside)...) {
			for _, inner := range list {
				inner.at, inner.inner = plain[i].at, true
				escaped = append(escaped, inner)
			}
		}
	}
	if len(escaped) > 0 {
		out = append(out, escaped)
	}
	return out
}

// textRuns cuts bytes at line ends and at everything that stands in no text:
// control characters and what is not UTF-8.
func textRuns(b []byte) (runs []rawRun) {
	for i := 0; i < len(b); i++ {
		start := i
		for i < len(b) {
			c := b[i]
			if c < ' ' && c != '\t' || c == 0x7F {
				break
			}
			if c < utf8.RuneSelf {
				i++
				continue
			}
			_, n := utf8.DecodeRune(b[i:])
			if n == 1 {
				break
			}
			i += n
		}
		if start += opcode(b[start:i]); i-start >= minRun {
			runs = append(runs, rawRun{at: start, text: b[start:i:i]})
		}
	}
	return runs
}

// opcode returns how many bytes before a string in a pickle read as letters of
// it: its length, or the V of protocol 0, also behind an a or s.
func opcode(b []byte) int {
	switch {
	case len(b) < 2:
		return 0
	case (b[0] == 'a' || b[0] == 's') && b[1] == 'V':
		return 2
	case int(b[0]) == len(b)-1, b[0] == 'V' && b[1] == '\\':
		return 1
	}
	return 0
}

// byteEscapes are the signs that escape a byte by two digits, and how many of
// them are worth undoing: %E8 of an address, =E8 of a mail, \xe8 of a program.
var byteEscapes = [...]struct {
	mark string
	min  int
}{{"%", 3}, {"=", 6}, {`\x`, 6}}

// unescapeBytes undoes the escapes of single bytes. It returns nil when there
// are too few.
func unescapeBytes(b []byte) []byte {
	for _, e := range byteEscapes {
		mark := e.mark
		if bytes.Count(b, []byte(mark)) < e.min {
			continue
		}
		out := make([]byte, 0, len(b))
		n := 0
		for i := 0; i < len(b); i++ {
			if v, ok := escapedByte(b[i:], mark); ok {
				n++
				out = append(out, v)
				i += len(mark) + 1
				continue
			}
			if mark == "=" && (bytes.HasPrefix(b[i:], []byte("=\n")) || bytes.HasPrefix(b[i:], []byte("=\r\n"))) {
				i += bytes.IndexByte(b[i:], '\n') // a line broken by the mail
				continue
			}
			out = append(out, b[i])
		}
		if n >= e.min {
			return out
		}
	}
	return nil
}

func escapedByte(b []byte, mark string) (v byte, ok bool) {
	if len(b) < len(mark)+2 || string(b[:len(mark)]) != mark {
		return 0, false
	}
	hi, ok1 := hexByte(b[len(mark)])
	lo, ok2 := hexByte(b[len(mark)+1])
	return hi<<4 | lo, ok1 && ok2
}

func hexByte(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}
