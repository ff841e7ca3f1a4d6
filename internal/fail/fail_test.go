package fail

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/internal/msg"
)

var text = msg.Text{"broken: %s", "损坏：%s"}

func TestCode(t *testing.T) {
	t.Parallel()
	e := func(k Kind) error { return New(k, text, "x") }
	for name, c := range map[string]struct {
		err  error
		want int
	}{
		"nil":                            {nil, 0},
		"plain":                          {errors.New("x"), 1},
		"wrapped":                        {fmt.Errorf("read: %w", e(Usage)), 2},
		"finding before partial":         {List{New(Partial, text, "a"), New(Contamination, text, "b")}, 10},
		"partial alone":                  {List{New(Partial, text, "a")}, 3},
		"everything else before finding": {errors.Join(e(Submission), e(Unreachable)), 20},
		"bug before all":                 {errors.Join(e(Interrupted), e(Internal), e(Trainer)), 70},
		"interrupt before the rest":      {errors.Join(e(Trainer), e(Interrupted)), 130},
		"cancelled context":              {fmt.Errorf("read: %w", context.Canceled), 130},
		"refused":                        {e(Refused), 1},
		"min acc":                        {errors.Join(e(BelowMinAcc), e(Partial)), 12},
		"credentials":                    {e(Credentials), 4},
	} {
		if got := Code(c.err); got != c.want {
			t.Errorf("%s: code %d, want %d", name, got, c.want)
		}
	}
}

func TestSpeaksTheReadersLanguage(t *testing.T) {
	t.Parallel()
	_, notThere := os.Open("no/such/file")
	inner := New(Partial, msg.Text{"no pages", "没有页面"})
	e := New(Config, msg.Text{"source %s: %v", "来源 %s：%v"}, "bank", inner).
		At(Where{File: "drydock.yaml", Line: 3, Column: 7}).
		Hint(msg.Text{"look at %s", "请查看 %s"}, "line 3")
	if got := e.In(msg.Zh); got != "drydock.yaml:3:7：来源 bank：没有页面" {
		t.Errorf("zh: %q", got)
	}
	if got := e.Error(); got != "drydock.yaml:3:7: source bank: no pages" {
		t.Errorf("en: %q", got)
	}
	if got := e.Hints(msg.Zh); len(got) != 1 || got[0] != "请查看 line 3" {
		t.Errorf("hints: %q", got)
	}
	if !errors.Is(New(Failed, msg.Text{"%v", "%v"}, notThere), fs.ErrNotExist) {
		t.Error("the cause is lost")
	}
	if got := Describe(&fs.PathError{Op: "stat", Path: "gone", Err: fs.ErrNotExist}, msg.En); got != "gone: file does not exist" {
		t.Errorf("a missing file in English: %q", got)
	}
	if got := Describe(notThere, msg.Zh); !strings.Contains(got, "文件不存在") {
		t.Errorf("an operating system error in Chinese: %q", got)
	}
}

func TestAllKeepsOuterWordsAndInnerHints(t *testing.T) {
	t.Parallel()
	inner := New(Unreachable, msg.Text{"no answer", "无响应"}).Hint(msg.Text{"is it up?", "服务是否已启动？"})
	all := All(fmt.Errorf("eval: %w", inner))
	if len(all) != 1 || all[0].Error() != "eval: no answer" || all[0].Kind != Unreachable {
		t.Fatalf("got %v", all)
	}
	if h := all[0].Hints(msg.En); len(h) != 1 || h[0] != "is it up?" {
		t.Errorf("hints %q", h)
	}
}
