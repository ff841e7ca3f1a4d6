package emit

import (
	"strconv"
	"strings"

	"github.com/drydock-ml/drydock"
)

// escapePointer writes a name as a part of a JSON Pointer (RFC 6901).
func escapePointer(name string) string { return drydock.EscapePointer(name) }

// pointerOf turns the way people name a place, messages[0].content, into a JSON
// Pointer.
func pointerOf(field string) string {
	if field == "row" {
		return ""
	}
	out := make([]byte, 1, len(field)+1)
	out[0] = '/'
	for i := 0; i < len(field); i++ {
		switch c := field[i]; {
		case c == ']' && i+1 < len(field) && (field[i+1] == '.' || field[i+1] == '['): // one step
			i++
			out = append(out, '/')
		case c == '[' || c == '.':
			out = append(out, '/')
		case c != ']':
			out = append(out, c)
		}
	}
	return string(out)
}

// Locate returns where the value that a JSON Pointer names begins in a row, in
// bytes; of a value that is not there, that of the value that would hold it.
func Locate(row []byte, pointer string) int {
	at := skipSpace(row, 0)
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		part = drydock.UnescapePointer(part)
		next := child(row, at, part)
		if pointer == "" || next < 0 {
			break
		}
		at = next
	}
	return at
}

// ValueEnd returns the length of the JSON value that a text begins with.
func ValueEnd(text []byte) int { return skipValue(text, skipSpace(text, 0)) }

// child returns where the member or element of the value at begins; -1: there is
// none. Names are compared as they are written when they hold no escapes.
func child(row []byte, at int, name string) int {
	if at >= len(row) || row[at] != '{' && row[at] != '[' {
		return -1
	}
	object := row[at] == '{'
	quoted := string(drydock.AppendJSONString(nil, name))
	for n, i := 0, skipSpace(row, at+1); i < len(row) && row[i] != '}' && row[i] != ']'; n++ {
		found := !object && strconv.Itoa(n) == name
		if object {
			end := skipValue(row, i)
			found = string(row[i:end]) == quoted
			i = skipSpace(row, end)
			if i >= len(row) || row[i] != ':' {
				return -1
			}
			i = skipSpace(row, i+1)
		}
		if found {
			return i
		}
		if i = skipSpace(row, skipValue(row, i)); i < len(row) && row[i] == ',' {
			i = skipSpace(row, i+1)
		}
	}
	return -1
}

func skipSpace(row []byte, i int) int {
	for i < len(row) && strings.IndexByte(" \t\r\n", row[i]) >= 0 {
		i++
	}
	return i
}

// skipValue returns the end of the value that begins at i; it always moves on.
func skipValue(row []byte, i int) int {
	depth := 0
	for start := i; i < len(row); i++ {
		switch row[i] {
		case '"':
			end := stringEnd(row, i+1)
			if end < 0 {
				return len(row)
			}
			i = end
		case '{', '[':
			depth++
			continue
		case '}', ']':
			if depth == 0 {
				return max(i, start+1)
			}
			depth--
		case ',', ':':
			if depth == 0 {
				return max(i, start+1)
			}
			continue
		default:
			if depth > 0 || i+1 < len(row) && strings.IndexByte(",:}] \t\r\n", row[i+1]) < 0 {
				continue
			}
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(row)
}
