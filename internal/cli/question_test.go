package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/drydock-ml/drydock/dataprep/overlay"
	"github.com/drydock-ml/drydock/internal/parallel"
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
		"false or letter": {"F\nA\nq\n", []string{"set A"}},
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

// ^C while an answer is awaited ends at once, with what was decided kept.
func TestQuestionReviewInterrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(file("bank.txt"), []byte("1. 锚泊船昼间应显示\nA. 一个球体\nB. 两个圆锥体\n2. 尾灯的水平光弧为\nA. 225°\nB. 135°\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	host, _, errs := testHost(t, nil)
	if code := Main([]string{"prep", file("bank.txt"), "-o", file("q.jsonl"), "-q"}, host); code != 0 && code != 3 {
		t.Fatalf("prep: %d %s", code, errs)
	}
	host, _, errs = testHost(t, nil)
	signals := make(chan os.Signal, 1)
	host.Signals = func() (<-chan os.Signal, func()) { return signals, func() {} }
	typed, keys := io.Pipe()
	t.Cleanup(func() { _ = keys.Close() })
	host.In, host.InTTY, host.OutTTY, host.Width = typed, true, true, 80
	hands := parallel.Go(func() error {
		_, err := io.WriteString(keys, "A\n")
		for err == nil { // the answer is kept before the next one is awaited
			if _, err := os.Stat(file("f.jsonl")); err == nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
		signals <- os.Interrupt
		return err
	})
	code := Main([]string{"question", "review", file("q.jsonl"), "--fixes", file("f.jsonl"), "--source", dir}, host)
	if err := hands.Wait(); err != nil {
		t.Fatal(err)
	}
	if code != 130 || !strings.Contains(errs.String(), "1 decision kept in") {
		t.Errorf("exit %d: %s", code, errs)
	}
	if b, err := os.ReadFile(file("f.jsonl")); err != nil || strings.Count(string(b), "\n") != 1 {
		t.Errorf("kept %q, %v", b, err)
	}
}
