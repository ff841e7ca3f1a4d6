package format

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// plainly is plain written plainly.
func plainly(b []byte) bool {
	return utf8.Valid(b) && strings.IndexFunc(string(b), func(r rune) bool { return r < ' ' }) < 0
}

// Every begin of a character, right and wrong ones, at every place of the words that
// are looked at together.
func TestPlain(t *testing.T) {
	t.Parallel()
	for lead := range 256 {
		for _, trail := range []string{"", "\x80", "\x80\x80", "\x9f\xbf", "\xa0\x80", "\xbf\xbf", "\x8f\xbf\xbf", "\x90\x80\x80", "\xc0\x80", "\x80\x80\x80", "\x80\x80\x80\x80", "a"} {
			for pad := range 40 {
				for _, fill := range []string{"a", "号", "é"} {
					for _, behind := range []string{"", "号型abcdefgh"} {
						b := []byte(strings.Repeat(fill, pad) + string([]byte{byte(lead)}) + trail + behind)
						if got, want := plain(b), plainly(b); got != want {
							t.Fatalf("plain(%q) = %t, want %t", b, got, want)
						}
					}
				}
			}
		}
	}
}

func FuzzPlain(f *testing.F) {
	for _, s := range []string{"", "缆桩漆成灰色", "a\xe0\x80\x80", "\xed\xa0\x80 and more text", "中文 mixed 文字 \xff", "한국어 😀 ไทย", "tab\there"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, want := plain(b), plainly(b); got != want {
			t.Fatalf("plain(%q) = %t, want %t", b, got, want)
		}
	})
}

func BenchmarkJSONChecker(b *testing.B) {
	for name, text := range map[string]string{
		"zh":    strings.Repeat("号灯、缆桩漆成灰色（ ）。", 100),
		"en":    strings.Repeat("every vessel shall at all times ", 100),
		"mixed": strings.Repeat("使用 apt-get 安装 GPS 3 号", 100),
		"emoji": strings.Repeat("好的👍，马上到", 100),
	} {
		row := []byte(`{"id":"bank/123","text":"` + text + `"}`)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(row)))
			b.ReportAllocs()
			var c jsonChecker
			for b.Loop() {
				if f := c.check(row); f != nil {
					b.Fatal(f)
				}
			}
		})
	}
}
