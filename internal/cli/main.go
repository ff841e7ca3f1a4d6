// Package cli is the drydock command: one file per command, and what they
// share: flags, languages, streams, exit codes.
package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/parallel"
	"github.com/drydock-ml/drydock/internal/ui"
)

// Main runs drydock with the arguments after the program's name and returns
// its exit code. A panic anywhere below becomes code 70.
func Main(args []string, host Host) int {
	a := newApp(args, host)
	defer a.close()
	ctx, stop := a.interruptible(context.Background())
	defer stop()
	err := parallel.Call(func() error {
		root := newRoot(a)
		root.SetArgs(args)
		return root.ExecuteContext(ctx)
	})
	if err == nil {
		return 0
	}
	var said *fail.Error
	if ctx.Err() != nil && (!errors.As(err, &said) || said.Kind != fail.Interrupted) {
		err = context.Cause(ctx) // what else failed, failed because of it
	}
	var s shown
	if !errors.As(err, &s) {
		a.term.Error(err)
	}
	return fail.Code(err)
}

// shown is an error the user has been told already, as part of the result.
type shown struct{ err error }

func (s shown) Error() string { return s.err.Error() }

// Unwrap returns the error, for its exit code.
func (s shown) Unwrap() []error { return []error{s.err} }

// interruptible returns a context that the first ^C cancels; the second one
// ends the process at once.
func (a *app) interruptible(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	if a.host.Signals == nil {
		return ctx, func() { cancel(nil) }
	}
	signals, stop := a.host.Signals()
	over := make(chan struct{})
	parallel.Go(func() error {
		select {
		case <-signals:
		case <-over:
			return nil
		}
		cancel(fail.New(fail.Interrupted, msg.Text{"interrupted", "已中断"}))
		a.term.Note(msg.Text{"stopping; press ^C again to quit at once", "正在停止；再按一次 ^C 立即退出"})
		select {
		case <-signals:
			a.host.Exit(fail.Interrupted.Code())
		case <-over:
		}
		return nil
	})
	return ctx, func() {
		stop()
		close(over)
		cancel(nil)
	}
}

// prescan finds the language and --json before flags are parsed, so that even
// a wrong flag is explained in the reader's language and form. What is wrong
// with the values is said later.
func prescan(args []string, host Host) (lang msg.Lang, json bool) {
	lang = envLang(host)
	json = isTrue(host.Getenv("DRYDOCK_JSON"))
	for i, arg := range args {
		name, value, given := strings.Cut(arg, "=")
		switch {
		case arg == "--":
			return lang, json
		case name == "--json":
			json = !given || isTrue(value)
		case name == "--lang":
			if !given && i+1 < len(args) {
				value = args[i+1]
			}
			if l, ok := msg.ParseLang(value); ok {
				lang = l
			}
		}
	}
	return lang, json
}

// envLang resolves the language as far as the environment settles it.
// The system's own language comes last: on Windows nothing else says one.
func envLang(host Host) msg.Lang {
	for _, name := range []string{"DRYDOCK_LANG", "LC_ALL", "LC_MESSAGES", "LANG"} {
		if v := host.Getenv(name); v != "" {
			l, _ := msg.ParseLang(v) // a locale drydock does not speak: English
			return l
		}
	}
	l, _ := msg.ParseLang(host.Locale)
	return l
}

func isTrue(s string) bool {
	switch strings.ToLower(s) {
	case "1", "t", "true", "yes", "on":
		return true
	}
	return false
}

// terminalFor says what a Terminal on the streams of a host is like.
func terminalFor(h Host, lang msg.Lang, json bool) ui.Config {
	return ui.Config{
		Out: h.Out, Err: h.Err, OutTTY: h.OutTTY, ErrTTY: h.ErrTTY, Width: h.Width,
		Lang: lang, JSON: json, Now: h.Now,
		Encode: func(v any) ([]byte, error) { return drydock.MarshalJSON(v) },
	}
}
