package textnorm

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// firstInvalid is InvalidUTF8 written plainly.
func firstInvalid(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

func TestInvalidUTF8Leads(t *testing.T) {
	t.Parallel()
	for lead := range 256 {
		for _, trail := range []string{"\x80\x80", "\x9f\xbf", "\xa0\x80", "\xbf\xbf", "\xc0\x80", "\x80", "\x80\x80\x80", "a"} {
			for pad := range 9 {
				for _, fill := range []string{"a", "号"} {
					b := []byte(strings.Repeat(fill, pad) + string([]byte{byte(lead)}) + trail + "号型abcdefgh")
					if got, want := InvalidUTF8(b), firstInvalid(b); got != want {
						t.Fatalf("InvalidUTF8(%q) = %d, want %d", b, got, want)
					}
				}
			}
		}
	}
}

func FuzzInvalidUTF8(f *testing.F) {
	for _, s := range []string{"", "缆桩漆成灰色", "a\xe0\x80\x80", "\xed\xa0\x80 and more text", "中文 mixed 文字 \xff"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, want := InvalidUTF8(b), firstInvalid(b); got != want {
			t.Fatalf("InvalidUTF8(%q) = %d, want %d", b, got, want)
		}
	})
}

func BenchmarkInvalidUTF8(b *testing.B) {
	for name, text := range map[string]string{
		"zh":    strings.Repeat("号灯、缆桩漆成灰色（ ）。", 100),
		"en":    strings.Repeat("every vessel shall at all times ", 100),
		"mixed": strings.Repeat("使用 apt-get 安装 GPS 3 号", 100),
	} {
		data := []byte(text)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				InvalidUTF8(data)
			}
		})
		b.Run(name+"/valid", func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				utf8.Valid(data)
			}
		})
	}
}
