package format

import (
	"testing"
	"unicode/utf8"
)

func TestNumberFormats(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ code, value, want string }{
		{"General", "412345678901234567", "412345678901234567"},
		{"General", "0.30000000000000004", "0.3"},
		{"General", "1E-3", "0.001"},
		{"General", "-0", "-0"},
		{"#,##0.00", "1234567.891", "1234567.891"},
		{"0000", "7", "0007"},
		{"0000", "12345", "12345"},
		{`"第"0"题"`, "3", "第3题"},
		{`0"分"`, "2", "2分"},
		{`\A0`, "5", "A5"},
		{"0%", "0.5", "50%"},
		{"0.00%", "0.1234", "12.34%"},
		{"yyyy-mm-dd", "46025", "2026-01-03"},
		{"yyyy年m月d日", "46025", "2026年1月3日"},
		{`m"月"d"日"`, "46025", "1月3日"},
		{"d-mmm-yy", "1", "1-Jan-00"},
		{"yyyy/m/d h:mm:ss", "46025.75", "2026/1/3 18:00:00"},
		{"h:mm AM/PM", "0.75", "6:00 PM"},
		{"[h]:mm", "1.5", "36:00"},
		{"mm:ss", "0.0007", "01:00"},
		{"[$-804]yyyy-m-d;@", "46025", "2026-1-3"},
		{"[Red]0.0", "2.5", "2.5"},
		{"_(* #,##0_);_(* (#,##0)", "9", "9"},
		{"@", "4", "4"},
		{"0.00E+00", "1500", "1500"},
		{"yyyy", "-1", "-1"},
		{`"open`, "1", "1"},
	} {
		f := parseNumberFormat(c.code)
		if got, _ := f.write(c.value, false); got != c.want {
			t.Errorf("%s of %s = %q, want %q", c.code, c.value, got, c.want)
		}
	}
	f := parseNumberFormat("yyyy-mm-dd")
	if got, _ := f.write("0", true); got != "1904-01-01" {
		t.Errorf("day 0 of the Macintosh calendar is %q", got)
	}
}

func FuzzNumberFormat(f *testing.F) {
	f.Add(`yyyy"年"[h]AM/PM_é\`, "46025.5")
	f.Add(`[$-804]0.0%"`, "1e300")
	f.Fuzz(func(t *testing.T, code, value string) {
		n := parseNumberFormat(code)
		if got, _ := n.write(value, true); utf8.ValidString(code) && utf8.ValidString(value) && !utf8.ValidString(got) {
			t.Errorf("%q of %q = %q", code, value, got)
		}
	})
}
