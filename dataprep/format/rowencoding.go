package format

import (
	"bytes"
	"strings"
)

// lineSafe reports whether the byte 0x0A can only be a line end, so that a file
// may be cut by bytes: true for all but UTF-16 and UTF-32.
func (e textEncoding) lineSafe() bool {
	return !strings.HasPrefix(e.name, "UTF-16") && !strings.HasPrefix(e.name, "UTF-32")
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
