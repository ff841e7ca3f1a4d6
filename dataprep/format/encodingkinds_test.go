package format

import (
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"

	"github.com/drydock-ml/drydock/internal/msg"
)

// TestEncodingKinds reads texts of several kinds in every usual encoding without
// a mark, and names the choice; a name the user gives wins.
func TestEncodingKinds(t *testing.T) {
	t.Parallel()
	simple := map[string]string{
		"title":     "船舶避碰规则\n",
		"questions": "1. 右舷灯的颜色是\r\nA. 红 B. 绿\r\n答案：B\r\n",
		"English":   strings.Repeat("Keep a proper look-out at all times.\n", 20) + "瞭望应当持续不断\n",
		"table":     "号灯\t弧度\n舷灯\t112.5°\n尾灯\t135°\n",
	}
	for kind, text := range simple {
		for _, c := range []struct {
			name string
			enc  encoding.Encoding
		}{
			{"GB18030", simplifiedchinese.GB18030},
			{"UTF-16LE", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)},
			{"UTF-16BE", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)},
		} {
			checkEncoding(t, kind, text, c.name, c.enc)
		}
	}
	checkEncoding(t, "traditional", "1. 右舷燈的顏色是什麼\r\nA. 紅 B. 綠\r\n答案：B\r\n", "BIG5", traditionalchinese.Big5)
}

func checkEncoding(t *testing.T, kind, text, name string, enc encoding.Encoding) {
	t.Helper()
	data := encode(t, enc, text)
	want := strings.ReplaceAll(strings.TrimRight(text, "\r\n"), "\r\n", "\n")
	blocks, _, notes, err := readBytes(t, "a.txt", data, Options{})
	if got := strings.Join(texts(blocks), "\n"); err != nil || got != want {
		t.Errorf("%s in %s: %q, %v", kind, name, got, err)
	}
	if len(notes) == 0 || !strings.Contains(notes[0].In(msg.En), name) {
		t.Errorf("%s in %s: the choice is not said: %v", kind, name, notes)
	}
	blocks, _, notes, err = readBytes(t, "a.txt", data, Options{Encoding: name})
	if got := strings.Join(texts(blocks), "\n"); err != nil || got != want || len(notes) != 0 {
		t.Errorf("%s in %s as named: %q, %v, %v", kind, name, got, notes, err)
	}
}
