package ui

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// fake is a terminal whose streams are buffers and whose clock stands still
// until told.
type fake struct {
	out, err bytes.Buffer
	now      time.Time
}

func (f *fake) terminal(change func(*Config)) *Terminal {
	c := Config{Out: &f.out, Err: &f.err, Now: func() time.Time { return f.now }, Encode: json.Marshal, Progress: "auto"}
	change(&c)
	return New(c)
}

func TestTable(t *testing.T) {
	t.Parallel()
	fill := func(term *Terminal) {
		tb := term.Table(Column{Title: msg.Text{"source", "来源"}}, Column{Title: msg.Text{"rows", "行数"}, Right: true}, Column{Title: msg.Text{"note", "备注"}})
		tb.Row("题库.pdf", "701", "a\tb\nc")
		tb.Row("bank.xlsx", "8500", "")
		tb.Print()
	}
	for _, c := range []struct {
		name   string
		change func(*Config)
		want   string
	}{
		{"terminal", func(c *Config) { c.OutTTY = true }, "source     rows  note\n题库.pdf    701  a b c\nbank.xlsx  8500\n"},
		{"terminal zh", func(c *Config) { c.OutTTY, c.Lang = true, msg.Zh }, "来源       行数  备注\n题库.pdf    701  a b c\nbank.xlsx  8500\n"},
		{"pipe", func(*Config) {}, "题库.pdf\t701\ta b c\nbank.xlsx\t8500\t\n"},
		{"coloured pipe", func(c *Config) { c.ForceColor = true }, "题库.pdf\t701\ta b c\nbank.xlsx\t8500\t\n"},
		{"coloured terminal", func(c *Config) { c.OutTTY, c.Color = true, true }, "\x1b[1msource     rows  note\x1b[0m\n题库.pdf    701  a b c\nbank.xlsx  8500\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var f fake
			fill(f.terminal(c.change))
			if d := cmp.Diff(c.want, f.out.String()); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
			if f.err.Len() > 0 {
				t.Errorf("stderr: %q", f.err.String())
			}
		})
	}
}

func TestTableCutsTheLastColumn(t *testing.T) {
	t.Parallel()
	var f fake
	tb := f.terminal(func(c *Config) { c.OutTTY, c.Width = true, 24 }).Table(Column{}, Column{}).Bare()
	tb.Row("12345678", "航行规则第十六条让路船的行动")
	tb.Print()
	if got, want := f.out.String(), "12345678  航行规则第十…\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTableWrapsTheLastColumn(t *testing.T) {
	t.Parallel()
	var f fake
	tb := f.terminal(func(c *Config) { c.OutTTY, c.Width = true, 24 }).Table(Column{}, Column{}).Bare().Wrapped()
	tb.Row("rule 16", "action by give-way vessel")
	tb.Row("rule 17", "航行规则直航船的行动")
	tb.Print()
	want := "rule 16  action by\n         give-way vessel\nrule 17  航行规则直航船\n         的行动\n"
	if d := cmp.Diff(want, f.out.String()); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestError(t *testing.T) {
	t.Parallel()
	at := func(col, length int, line string) error {
		return fail.New(fail.Config, msg.Text{`step drop_short has no option "min_runs"`, `步骤 drop_short 没有选项 "min_runs"`}).
			Hint(msg.Text{`did you mean "min_runes"?`, `是否想写 "min_runes"？`}).
			At(fail.Where{File: "drydock.yaml", Line: 12, Column: col, Excerpt: line, Length: length})
	}
	for _, c := range []struct {
		name   string
		err    error
		change func(*Config)
		want   string
	}{
		{"en", at(7, 8, "      min_runs: 10"), func(*Config) {}, `drydock: drydock.yaml:12:7: step drop_short has no option "min_runs"
   12 |       min_runs: 10
              ^^^^^^^^
hint: did you mean "min_runes"?
`},
		{"zh", at(7, 0, "      min_runs: 10"), func(c *Config) { c.Lang = msg.Zh }, `drydock：drydock.yaml:12:7：步骤 drop_short 没有选项 "min_runs"
   12 |       min_runs: 10
              ^
提示：是否想写 "min_runes"？
`},
		{"wide characters before the caret", at(5, 2, "题库: 错误"), func(*Config) {}, `drydock: drydock.yaml:12:5: step drop_short has no option "min_runs"
   12 | 题库: 错误
              ^^^^
hint: did you mean "min_runes"?
`},
		{"control characters are shown as such", at(3, 1, "a\x1bb"), func(*Config) {}, "drydock: drydock.yaml:12:3: step drop_short has no option \"min_runs\"\n   12 | a\ufffdb\n          ^\nhint: did you mean \"min_runes\"?\n"},
		{"column beyond the line", at(99, 1, "ab"), func(*Config) {}, `drydock: drydock.yaml:12:99: step drop_short has no option "min_runs"
   12 | ab
          ^
hint: did you mean "min_runes"?
`},
		{"not ours", errors.New("disk on fire"), func(*Config) {}, "drydock: disk on fire\n"},
		{"colour", fail.New(fail.Failed, msg.Text{"no", "不"}), func(c *Config) { c.ErrTTY, c.Color = true, true }, "\x1b[31mdrydock: \x1b[0mno\n"},
		{"json", at(7, 8, "      min_runs: 10"), func(c *Config) { c.JSON = true }, `{"type":"error","kind":"config","message":"step drop_short has no option \"min_runs\"","hint":"did you mean \"min_runes\"?","where":{"file":"drydock.yaml","line":12,"column":7},"code":2}
`},
		{"json without place", fail.New(fail.Trainer, msg.Text{"x", "不"}), func(c *Config) { c.JSON, c.Lang = true, msg.Zh }, `{"type":"error","kind":"trainer","message":"不","code":21}
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var f fake
			f.terminal(c.change).Error(c.err)
			if d := cmp.Diff(c.want, f.err.String()); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
			if f.out.Len() > 0 {
				t.Errorf("stdout: %q", f.out.String())
			}
		})
	}
}

// A JSONL row may be megabytes long: only the part around the caret is shown.
func TestExcerptOfALongLine(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("航", 4000) + `"坏"` + strings.Repeat("行", 4000)
	got := excerpt(fail.Where{Line: 7, Column: 4002, Excerpt: line, Length: 1}, 80)
	text, caret, _ := strings.Cut(got, "\n")
	if w := Width(text); w > 80 {
		t.Errorf("line takes %d columns: %q", w, text)
	}
	before, _, ok := strings.Cut(text, "坏")
	if !ok {
		t.Fatalf("the place is not shown: %q", text)
	}
	if want := strings.Repeat(" ", Width(before)) + "^^"; caret != want {
		t.Errorf("caret %q, want %q", caret, want)
	}
}

func TestQuietVerboseAndLog(t *testing.T) {
	t.Parallel()
	speak := func(term *Terminal) {
		term.Note(msg.Text{"note", "提示"})
		term.Detail(msg.Text{"detail", "细节"})
		term.Warn(msg.Text{"%d odd", "%d 个异常"}, 2)
		term.Next("drydock run")
		term.Print(msg.Text{"result", "结果"})
	}
	for _, c := range []struct {
		name     string
		change   func(*Config)
		out, err string
	}{
		{"plain", func(*Config) {}, "result\n", "note\nwarning: 2 odd\nnext: drydock run\n"},
		{"zh", func(c *Config) { c.Lang = msg.Zh }, "结果\n", "提示\n警告：2 个异常\n下一步：drydock run\n"},
		{"quiet", func(c *Config) { c.Quiet = true }, "result\n", "warning: 2 odd\n"},
		{"verbose", func(c *Config) { c.Verbose = 1 }, "result\n", "note\ndetail\nwarning: 2 odd\nnext: drydock run\n"},
		{"json", func(c *Config) { c.JSON = true }, "result\n", `{"type":"warning","message":"2 odd"}` + "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var f fake
			var log bytes.Buffer
			f.now = time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)
			speak(f.terminal(func(k *Config) { c.change(k); k.Log = &log }))
			if d := cmp.Diff([]string{c.out, c.err}, []string{f.out.String(), f.err.String()}); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
			want := `{"time":"2026-11-30T08:00:00Z","level":"info","message":"note"}
{"time":"2026-11-30T08:00:00Z","level":"debug","message":"detail"}
{"time":"2026-11-30T08:00:00Z","level":"warn","message":"2 odd"}
`
			if d := cmp.Diff(want, log.String()); d != "" {
				t.Errorf("the log is English and whole whatever is shown, -want +got:\n%s", d)
			}
		})
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	work := func(f *fake, term *Terminal) {
		p := term.Progress("scan", 400, false)
		for range 4 {
			f.now = f.now.Add(20 * time.Second)
			p.Add(100)
		}
		p.End()
		term.Note(msg.Text{"done", "完成"})
	}
	for _, c := range []struct {
		name   string
		change func(*Config)
		want   string
	}{
		{"terminal", func(c *Config) { c.ErrTTY = true }, "\r\x1b[Kscan  25 %  100 of 400  5.0/s  1 min 00 s left" +
			"\r\x1b[Kscan  50 %  200 of 400  5.0/s  40 s left\r\x1b[Kscan  75 %  300 of 400  5.0/s  20 s left" +
			"\r\x1b[Kscan  100 %  400 of 400  5.0/s\r\x1b[Kdone\n"},
		{"pipe: a line in 30 s", func(*Config) {}, "scan  50 %  200 of 400  5.0/s  40 s left\nscan  100 %  400 of 400  5.0/s\ndone\n"},
		{"pipe zh", func(c *Config) { c.Lang = msg.Zh }, "scan  50 %  200 / 400  5.0/s  剩余 40 秒\nscan  100 %  400 / 400  5.0/s\n完成\n"},
		{"plain on a terminal", func(c *Config) { c.ErrTTY, c.Progress = true, "plain" }, "scan  50 %  200 of 400  5.0/s  40 s left\nscan  100 %  400 of 400  5.0/s\ndone\n"},
		{"none", func(c *Config) { c.ErrTTY, c.Progress = true, "none" }, "done\n"},
		{"quiet", func(c *Config) { c.ErrTTY, c.Quiet = true, true }, ""},
		{"json", func(c *Config) { c.JSON = true }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := &fake{now: time.Unix(0, 0)}
			work(f, f.terminal(c.change))
			if d := cmp.Diff(c.want, f.err.String()); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

func TestProgressDrawsAtMostTenTimesASecond(t *testing.T) {
	t.Parallel()
	f := &fake{now: time.Unix(0, 0)}
	p := f.terminal(func(c *Config) { c.ErrTTY = true }).Progress("read", 1e6, true)
	for range 1000 {
		f.now = f.now.Add(time.Millisecond)
		p.Add(1000)
	}
	if n := strings.Count(f.err.String(), "\r"); n < 9 || n > 10 {
		t.Errorf("%d drawings in one second, want 10", n)
	}
	if !strings.Contains(f.err.String(), "kB of 1.0 MB") {
		t.Errorf("no sizes: %q", f.err.String())
	}
}

func TestSizeAndDuration(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 9949: "9.9 kB", 9950: "10 kB", 999_400: "999 kB", 999_500: "1.0 MB", 1_300_000_000: "1.3 GB"} {
		if got := Size(n); got != want {
			t.Errorf("Size(%d) = %s, want %s", n, got, want)
		}
	}
	var f fake
	term := f.terminal(func(*Config) {})
	for d, want := range map[time.Duration]string{0: "0.0 s", 9949 * time.Millisecond: "9.9 s", 9950 * time.Millisecond: "10 s", 59600 * time.Millisecond: "1 min 00 s", 61 * time.Second: "1 min 01 s", 2*time.Hour + 90*time.Second: "2 h 01 min"} {
		if got := term.Duration(d); got != want {
			t.Errorf("Duration(%v) = %s, want %s", d, got, want)
		}
	}
}

func TestColorWanted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name           string
		flag           bool
		env            map[string]string
		wanted, forced bool
	}{
		{"nothing said", false, nil, true, false},
		{"flag", true, map[string]string{"CLICOLOR_FORCE": "1"}, false, false},
		{"NO_COLOR", false, map[string]string{"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, false, false},
		{"forced", false, map[string]string{"CLICOLOR_FORCE": "1"}, true, true},
		{"forced 0", false, map[string]string{"CLICOLOR_FORCE": "0"}, true, false},
		{"dumb", false, map[string]string{"TERM": "dumb"}, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w, f := ColorWanted(c.flag, func(k string) string { return c.env[k] })
			if w != c.wanted || f != c.forced {
				t.Errorf("wanted %v forced %v", w, f)
			}
		})
	}
}

func TestManyBadInputsAreCounted(t *testing.T) {
	t.Parallel()
	var list fail.List
	for i := range 25 {
		list = append(list, fail.New(fail.Partial, msg.Text{"row %d", "第 %d 行"}, i).Hint(msg.Text{"mend it", "请修正"}))
	}
	var errs strings.Builder
	New(Config{Out: io.Discard, Err: &errs, Width: 80}).Error(list)
	got := errs.String()
	if n := strings.Count(got, "drydock: row"); n != manyInputs || !strings.Contains(got, "and 15 more") || strings.Count(got, "mend it") != 1 {
		t.Errorf("%d shown:\n%s", n, got)
	}
}

// Words are broken to fit a terminal; what is copied or read by a program is
// not.
func TestProseFitsTheTerminal(t *testing.T) {
	t.Parallel()
	long := msg.Text{"the quick brown fox jumps over %s and then goes on", "敏捷的棕色狐狸跳过了%s然后继续向前走去"}
	for _, tty := range []bool{true, false} {
		for _, lang := range []msg.Lang{msg.En, msg.Zh} {
			var f fake
			term := f.terminal(func(c *Config) {
				c.OutTTY, c.ErrTTY, c.Lang, c.Width, c.Verbose, c.Color = tty, tty, lang, 30, 1, true
			})
			term.Print(long, "x")
			term.Prose("  " + term.Say(long, "y"))
			term.Note(long, "z")
			term.Detail(long, "z")
			term.Warn(long, "z")
			term.Error(fail.New(fail.Failed, long, "e").Hint(long, "h"))
			for line := range strings.Lines(f.out.String() + f.err.String()) {
				if w := Width(strings.TrimRight(line, "\n")); (w > 30) == tty {
					t.Errorf("terminal %v: %d columns in %q", tty, w, line)
				}
			}
		}
	}
	var f fake
	term := f.terminal(func(c *Config) { c.OutTTY, c.ErrTTY, c.Width = true, true, 30 })
	term.Prose("  a hanging indent is kept for all")
	term.Next("drydock run -C a-folder --only contam")
	if d := cmp.Diff("  a hanging indent is kept\n    for all\n", f.out.String()); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if d := cmp.Diff("next: drydock run -C a-folder --only contam\n", f.err.String()); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestCommandsAndTheNameOfErrors(t *testing.T) {
	t.Parallel()
	var f fake
	term := f.terminal(func(c *Config) {
		c.Commands = func(s string) string { return strings.ReplaceAll(s, "drydock run", "drydock run -C x") }
	})
	term.Next("drydock run")
	term.Note(msg.Text{"drydock run goes on", ""})
	term.Error(fail.New(fail.Usage, msg.Text{"drydock run: missing FILE", ""}).Hint(msg.Text{"drydock run", ""}))
	term.Error(fail.New(fail.Usage, msg.Text{"no such file", ""}))
	want := "next: drydock run -C x\ndrydock run -C x goes on\ndrydock run -C x: missing FILE\nhint: drydock run -C x\ndrydock: no such file\n"
	if d := cmp.Diff(want, f.err.String()); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}
