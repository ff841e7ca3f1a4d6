package textnorm

import (
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

func TestTraditional(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"船舶主机启动前应检查润滑油的压力", "船舶主機啟動前應檢查潤滑油的壓力"},
		{"后里干", "后里干"}, // common as they stand
		{"①GM 12°", "①GM 12°"},
		{"", ""},
	} {
		if got := Traditional(c.in); got != c.want {
			t.Errorf("Traditional(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

// TestTraditionalFoldsBack: a text and its traditional form are the same text.
func TestTraditionalFoldsBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.RuneFrom(nil, unicode.Han)).Draw(t, "s"))
		if a, b := Key(s), Key(Traditional(s)); a != b {
			t.Fatalf("%q folds to %q, in traditional characters to %q", s, a, b)
		}
	})
}
