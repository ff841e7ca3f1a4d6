package drydock

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// AppendJSONString appends s as a JSON string the way Python's json.dumps with
// ensure_ascii=False writes it: only quotes, backslashes and control characters
// below 0x20 are escaped, so that HTML signs, U+2028 and Chinese stay
// readable. Bytes that are no UTF-8 become U+FFFD.
func AppendJSONString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start, valid := 0, utf8.ValidString(s)
	for i := 0; i < len(s); {
		if valid && i+8 <= len(s) && !anyEscaped(s[i:i+8]) {
			i += 8
			continue
		}
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && (c < utf8.RuneSelf || valid) {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(dst, s[start:i]...)
				dst = append(dst, "\ufffd"...)
				start = i + 1
			}
			i += n
			continue
		}
		dst = append(dst, s[start:i]...)
		dst = appendEscape(dst, c)
		i++
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// anyEscaped reports whether one of the eight bytes of s must be escaped, all of
// them at once: x-0x20 borrows in a byte below 0x20, and x^c is zero in a byte c,
// from which 1 borrows.
func anyEscaped(s string) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	_ = s[7]
	x := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	quote, slash := x^ones*'"', x^ones*'\\'
	return ((x-ones*0x20)&^x|(quote-ones)&^quote|(slash-ones)&^slash)&tops != 0
}

// appendEscape appends a character that no JSON string may hold as it is.
func appendEscape(dst []byte, c byte) []byte {
	const hexDigits = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// AppendJSONFloat appends x as Python's json.dumps writes a float: as short as it
// reads back, always with a point or an exponent. Readers that take a column's
// type from its first rows would take 1 for an integer, and fail at 0.8. NaN and
// infinities, which JSON lacks, become 0.0.
func AppendJSONFloat(dst []byte, x float64) []byte {
	if x-x != 0 {
		x = 0
	}
	format := byte('f')
	if a := math.Abs(x); a != 0 && (a < 1e-4 || a >= 1e16) {
		format = 'e'
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, x, format, -1, 64)
	if !bytes.ContainsAny(dst[start:], ".e") {
		dst = append(dst, ".0"...)
	}
	return dst
}

// MarshalJSON is json.Marshal without HTML escaping and without a last line
// end: the one way drydock writes JSON that is not written by hand.
func MarshalJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}

// recordJSON is a record as part files hold it. The file is named by its index
// in a table the caller keeps, so that a million records do not repeat it.
type recordJSON struct {
	ID       ID        `json:"id"`
	RowID    string    `json:"row_id,omitempty"`
	Lang     string    `json:"lang,omitempty"`
	Passage  *Passage  `json:"passage,omitempty"`
	Question *Question `json:"question,omitempty"`
	Chat     *Chat     `json:"chat,omitempty"`
	File     int       `json:"file"`
	At       string    `json:"at,omitempty"`
	Key      string    `json:"key,omitempty"`
	Parents  []ID      `json:"parents,omitempty"`
}

// A FileTable numbers the files of a run so that records can name theirs.
type FileTable struct {
	files []*File
	index map[*File]int
}

// Add returns the file's number, giving it the next one when it is new.
func (t *FileTable) Add(f *File) int {
	if t.index == nil {
		t.index = map[*File]int{}
	}
	if i, ok := t.index[f]; ok {
		return i
	}
	t.index[f] = len(t.files)
	t.files = append(t.files, f)
	return len(t.files) - 1
}

// Files returns the files in the order of their numbers.
func (t *FileTable) Files() []*File { return t.files }

// Append writes r as one line of JSON, line end included.
func (t *FileTable) Append(dst []byte, r *Record) ([]byte, error) {
	j := recordJSON{
		ID: r.ID, RowID: r.RowID, Lang: r.Lang,
		Passage: r.Passage, Question: r.Question, Chat: r.Chat,
		File: -1, At: r.Origin.At.String(), Key: r.Origin.Key.String(), Parents: r.Parents,
	}
	if r.Origin.File != nil {
		i, ok := t.index[r.Origin.File]
		if !ok {
			return dst, fmt.Errorf("record %s: its file %q is not in the table", r.ID, r.Origin.File.Name)
		}
		j.File = i
	}
	b, err := MarshalJSON(j)
	if err != nil {
		return dst, err
	}
	dst = append(dst, b...)
	return append(dst, '\n'), nil
}

// Decode reads one line that Append wrote.
func (t *FileTable) Decode(line []byte) (*Record, error) {
	var j recordJSON
	if err := json.Unmarshal(line, &j); err != nil {
		return nil, err
	}
	r := &Record{
		ID: j.ID, RowID: j.RowID, Lang: j.Lang,
		Passage: j.Passage, Question: j.Question, Chat: j.Chat, Parents: j.Parents,
	}
	if j.File >= len(t.files) {
		return nil, fmt.Errorf("record %s: file %d of %d", j.ID, j.File, len(t.files))
	}
	if j.File >= 0 {
		r.Origin.File = t.files[j.File]
	}
	var err error
	if r.Origin.At, err = ParseLocator(j.At); err != nil {
		return nil, err
	}
	r.Origin.Key, err = ParseLocator(j.Key)
	return r, err
}

// EscapePointer writes a name as a part of a JSON Pointer (RFC 6901, section 4).
func EscapePointer(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

// UnescapePointer gives the name back that a part of a JSON Pointer stands for.
func UnescapePointer(part string) string {
	return strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
}
