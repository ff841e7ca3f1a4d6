package format

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"
)

// lineSafe reports whether the byte 0x0A can only be a line end, so that a file
// may be cut by bytes: true for all but UTF-16 and UTF-32.
func (e textEncoding) lineSafe() bool {
	return !strings.HasPrefix(e.name, "UTF-16") && !strings.HasPrefix(e.name, "UTF-32")
}

// rowsEncoding finds how a file of rows is encoded, and notes a choice other
// than UTF-8. Every unit asks anew and must be told the same, so that a start
// that is UTF-8 beyond doubt settles it without reading on.
func rowsEncoding(r io.ReaderAt, file *File, note func(Note)) (textEncoding, error) {
	if file.Options.Encoding == "" {
		head := make([]byte, sniffBlock)
		n, _ := r.ReadAt(head, 0)
		head = head[:n]
		if mark, ok := byMark(head); ok && mark.plain() {
			return mark, nil
		}
		const many = 200 // characters beyond ASCII; a handful might be chance
		if whole := wholeRunes(head); bytes.IndexByte(head, 0) < 0 && utf8.Valid(whole) && utf8.RuneCount(whole) < len(whole)-2*many {
			return textEncoding{name: "UTF-8"}, nil
		}
	}
	text, err := openText(Unit{File: file, End: file.Size}, note)
	if err != nil {
		return textEncoding{}, err
	}
	text.Close() // only its encoding was wanted
	return text.encoding, nil
}

// decode returns one line as UTF-8; bytes that are no text become U+FFFD.
func (e textEncoding) decode(line []byte) []byte {
	if e.enc == nil {
		return line
	}
	out, err := e.enc.NewDecoder().Bytes(line)
	if err != nil {
		return bytes.ToValidUTF8(line, []byte(replacement))
	}
	return out
}

// decodeHead returns the first bytes of a file as UTF-8 without a byte order
// mark, as well as that can be told.
func decodeHead(head []byte) []byte {
	e, err := findEncoding(bytes.NewReader(head))
	if err != nil {
		return head
	}
	return e.decode(head[e.bom:])
}
