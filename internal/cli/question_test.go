package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/dataprep/overlay"
)

// At a terminal each doubtful question is asked about; what is typed is kept at
// once, and only when it makes a whole question.
func TestQuestionReviewAsks(t *testing.T) {
	t.Parallel()
	const bank = "1. 锚泊船昼间应显示\nA. 一个球体\nB. 两个圆锥体\n2. 尾灯的水平光弧为\nA. 225°\nB. 135°\n3. 桅灯的颜色为\nA. 黑\nB. 白\n"
	for name, c := range map[string]struct {
		typed string
		want  []string // action and what is set, in order
	}{
		"answers":         {"a\nB\nb\n", []string{"set A", "set B", "set B"}},
		"nothing typed":   {"", nil},
		"ends":            {"q\n", nil},
		"next":            {"\n\nB\n", []string{"set B"}},
		"back":            {"\n<\nA\nq\n", []string{"set A"}},
		"not an option":   {"Z\nA\nq\n", []string{"set A"}},
		"accept nothing":  {"=\n-\nq\n", []string{"drop"}},
		"stem and option": {"s 锚泊船白天应显示\no B 两个球体\nB\nq\n", []string{"set B 锚泊船白天应显示 两个球体"}},
		"help":            {"?\nwhat\nA\nq\n", []string{"set A"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := func(name string) string { return filepath.Join(dir, name) }
			if err := os.WriteFile(file("bank.txt"), []byte(bank), 0o644); err != nil {
				t.Fatal(err)
			}
			host, _, errs := testHost(t, nil)
			if code := Main([]string{"prep", file("bank.txt"), "-o", file("q.jsonl"), "-q"}, host); code != 0 && code != 3 {
				t.Fatalf("prep: %d %s", code, errs)
			}
			host, out, errs := testHost(t, nil)
			host.In, host.InTTY, host.OutTTY, host.Width = strings.NewReader(c.typed), true, true, 80
			if code := Main([]string{"question", "review", file("q.jsonl"), "--fixes", file("f.jsonl"), "--source", dir}, host); code != 0 {
				t.Fatalf("exit %d: %s%s", code, out, errs)
			}
			var got []string
			if b, err := os.ReadFile(file("f.jsonl")); err == nil {
				for line := range strings.Lines(string(b)) {
					o, bad := overlay.Parse("f", []byte(line))
					if len(bad) > 0 {
						t.Fatal(bad)
					}
					f := o.Fixes()[0]
					s := string(f.Action)
					if f.Set != nil {
						s += " " + strings.Join(f.Set.Answer, "")
						if f.Set.Stem != nil {
							s += " " + *f.Set.Stem
						}
						if f.Set.Options != nil {
							s += " " + f.Set.Options[1].Text
						}
					}
					got = append(got, s)
				}
			}
			if strings.Join(got, "; ") != strings.Join(c.want, "; ") {
				t.Errorf("decided %q, want %q\n%s", got, c.want, out)
			}
		})
	}
}
