package evalscope

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"

	"github.com/drydock-ml/drydock/internal/msg"
)

// plain makes of a file what JSON can be read from, without moving a line: UTF-16
// with a byte order mark becomes UTF-8, the mark goes, and the numbers JSON has no
// word for become texts. A file that is no text at all is a problem.
func plain(data []byte) ([]byte, *Problem) {
	for _, magic := range []string{"\x1f\x8b", "PK\x03\x04", "BZh", "\x28\xb5\x2f\xfd", "\xfd7zXZ"} {
		if bytes.HasPrefix(data, []byte(magic)) {
			return nil, problem(CodeNotUTF8, 1, -1, msg.Text{"the file is compressed; unpack it first", "文件已压缩；请先解压"})
		}
	}
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		data = fromUTF16(data[2:], binary.LittleEndian)
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		data = fromUTF16(data[2:], binary.BigEndian)
	case len(data) > 3 && (data[0] == 0) != (data[1] == 0) && (data[2] == 0) != (data[3] == 0):
		return nil, problem(CodeNotUTF8, 1, -1, msg.Text{"the file is UTF-16 without a byte order mark; save it as UTF-8", "文件为不带 BOM 的 UTF-16；请另存为 UTF-8"})
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	return quoteNonFinite(data), nil
}

func fromUTF16(data []byte, order binary.ByteOrder) []byte {
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = order.Uint16(data[2*i:])
	}
	return []byte(string(utf16.Decode(units)))
}

// quoteNonFinite puts quotes around NaN, Infinity and -Infinity where they stand as
// values, as Python's json writes them unless told otherwise.
func quoteNonFinite(data []byte) []byte {
	if !bytes.Contains(data, []byte("NaN")) && !bytes.Contains(data, []byte("Infinity")) {
		return data
	}
	out := make([]byte, 0, len(data)+64)
	inText := false
	for i := 0; i < len(data); i++ {
		c := data[i]
		switch {
		case c == '\n': // no text goes over a line: one that is torn ends here
			inText = false
		case inText && c == '\\' && i+1 < len(data) && data[i+1] != '\n':
			out = append(out, c)
			i++
			c = data[i]
		case c == '"':
			inText = !inText
		case !inText && (c == 'N' || c == 'I' || c == '-'):
			if word := nonFinite(data[i:]); word != "" {
				out = append(append(append(out, '"'), word...), '"')
				i += len(word) - 1
				continue
			}
		}
		out = append(out, c)
	}
	return out
}

// nonFinite returns the number that JSON has no word for and data begins with.
func nonFinite(data []byte) string {
	for _, word := range [...]string{"NaN", "Infinity", "-Infinity"} {
		if bytes.HasPrefix(data, []byte(word)) {
			return word
		}
	}
	return ""
}
