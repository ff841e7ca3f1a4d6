// Package fail is the one error type users see: a kind that decides the exit
// code, a text in two languages, a place, and a hint that mends it.
package fail

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"syscall"

	"github.com/drydock-ml/drydock/internal/msg"
)

// Kind is the closed set of ways to fail. Its text is stable: scripts see it as
// "kind" in JSON errors.
type Kind string

// The kinds, each with the exit code of docs/reference.
const (
	Failed        Kind = "failed"        // 1: anything without a code of its own
	Refused       Kind = "refused"       // 1: a check said no before anything started
	Usage         Kind = "usage"         // 2: wrong flags or arguments
	Config        Kind = "config"        // 2: invalid drydock.yaml or other configuration
	Partial       Kind = "partial"       // 3: finished, but some inputs or requests failed
	Credentials   Kind = "credentials"   // 4: the server refused the key
	Contamination Kind = "contamination" // 10: benchmark items found in the data
	Submission    Kind = "submission"    // 11: the package breaks a rule
	BelowMinAcc   Kind = "below_min_acc" // 12: under --min-acc
	Unreachable   Kind = "unreachable"   // 20: the endpoint does not answer
	Trainer       Kind = "trainer"       // 21: the trainer failed
	Internal      Kind = "bug"           // 70: a bug in drydock
	Interrupted   Kind = "interrupted"   // 130: ^C
)

// Code returns the exit code of a kind.
func (k Kind) Code() int {
	switch k {
	case Usage, Config:
		return 2
	case Partial:
		return 3
	case Credentials:
		return 4
	case Contamination:
		return 10
	case Submission:
		return 11
	case BelowMinAcc:
		return 12
	case Unreachable:
		return 20
	case Trainer:
		return 21
	case Internal:
		return 70
	case Interrupted:
		return 130
	}
	return 1
}

// Where is the place an error is about. Line and Column count from 1; zero is
// unknown. Excerpt is the line itself, and Length how much of it is meant.
type Where struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Excerpt string `json:"-"`
	Length  int    `json:"-"`
}

// String writes file:line:column as far as they are known.
func (w Where) String() string {
	s := w.File
	if w.Line > 0 {
		s += fmt.Sprintf(":%d", w.Line)
		if w.Column > 0 {
			s += fmt.Sprintf(":%d", w.Column)
		}
	}
	return s
}

// An Error is what a user is told. Error() is English; [Error.In] speaks the
// reader's language.
type Error struct {
	Kind  Kind
	Where Where
	text  msg.Text
	args  []any
	hints []hint
	cause error
}

type hint struct {
	text msg.Text
	args []any
}

// New makes an error. An argument that is an error is kept as the cause, so
// that errors.Is and errors.As see it.
func New(k Kind, text msg.Text, args ...any) *Error {
	e := &Error{Kind: k, text: text, args: args}
	for _, a := range args {
		if err, ok := a.(error); ok {
			e.cause = err
		}
	}
	return e
}

// Hint adds what the user can do about it.
func (e *Error) Hint(text msg.Text, args ...any) *Error {
	e.hints = append(e.hints, hint{text, args})
	return e
}

// At sets the place.
func (e *Error) At(w Where) *Error {
	e.Where = w
	return e
}

// Because sets the cause without showing it in the text.
func (e *Error) Because(err error) *Error {
	e.cause = err
	return e
}

// Error returns the English text, led by the place.
func (e *Error) Error() string { return e.In(msg.En) }

// In returns the text in a language, led by the place.
func (e *Error) In(l msg.Lang) string {
	s := e.Message(l)
	if w := e.Where.String(); w != "" {
		sep := ": "
		if l == msg.Zh {
			sep = "："
		}
		s = w + sep + s
	}
	return s
}

// Message returns the text in a language, without the place.
func (e *Error) Message(l msg.Lang) string { return format(e.text, l, e.args) }

// Hints returns the hints in a language.
func (e *Error) Hints(l msg.Lang) []string {
	var out []string
	for _, h := range e.hints {
		out = append(out, format(h.text, l, h.args))
	}
	return out
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.cause }

func format(t msg.Text, l msg.Lang, args []any) string {
	a := make([]any, len(args))
	for i, v := range args {
		if err, ok := v.(error); ok {
			v = Describe(err, l)
		}
		a[i] = v
	}
	return t.Format(l, a...)
}

// Describe says any error in a language: those that speak it themselves, the
// common ones of the operating system in words, all others as they are.
func Describe(err error, l msg.Lang) string {
	if own, ok := err.(msg.Localizer); ok {
		return own.In(l)
	}
	var pe *fs.PathError
	if errors.As(err, &pe) && l == msg.Zh {
		if words := systemWords(pe.Err); words != "" {
			return pe.Path + "：" + words
		}
	}
	if bare, ok := err.(*fs.PathError); ok { // without the system call that found out
		return bare.Path + ": " + bare.Err.Error()
	}
	return err.Error()
}

// systemWords says the usual failures of the operating system in Chinese; it
// says English itself.
func systemWords(err error) string {
	for _, w := range []struct {
		is error
		zh string
	}{
		{fs.ErrNotExist, "文件不存在"},
		{fs.ErrPermission, "没有权限"},
		{fs.ErrExist, "已存在"},
		{syscall.ENOTDIR, "路径中有一段不是目录"},
		{syscall.EISDIR, "这是目录，不是文件"},
		{syscall.ENOSPC, "磁盘空间不足"},
		{syscall.EROFS, "文件系统为只读"},
		{syscall.ENAMETOOLONG, "文件名过长"},
		{syscall.EMFILE, "打开的文件过多"},
	} {
		if errors.Is(err, w.is) {
			return w.zh
		}
	}
	return ""
}

// A List is several errors found at once, in the order of their places.
type List []*Error

// Error joins the English texts.
func (l List) Error() string {
	s := ""
	for i, e := range l {
		if i > 0 {
			s += "\n"
		}
		s += e.Error()
	}
	return s
}

// Unwrap lets errors.As see each of them.
func (l List) Unwrap() []error {
	out := make([]error, len(l))
	for i, e := range l {
		out[i] = e
	}
	return out
}

// OrNil returns the list as an error, nil when it is empty.
func (l List) OrNil() error {
	if len(l) == 0 {
		return nil
	}
	return l
}

// Bug wraps a recovered panic value with the stack it came from.
func Bug(v any) *Error {
	return New(Internal, msg.Text{"bug in drydock: %v", "drydock 内部错误：%v"}, v).
		Hint(msg.Text{"please report this with the text below:\n%s", "请附上以下内容报告此问题：\n%s"}, debug.Stack())
}

// All returns every *Error in err, whether single, joined or wrapped; an error
// of another kind comes back as one Failed error that shows it.
func All(err error) []*Error {
	if err == nil {
		return nil
	}
	if e, ok := err.(*Error); ok {
		return []*Error{e}
	}
	if m, ok := err.(interface{ Unwrap() []error }); ok {
		var out []*Error
		for _, e := range m.Unwrap() {
			out = append(out, All(e)...)
		}
		return out
	}
	if errors.Is(err, context.Canceled) {
		return []*Error{New(Interrupted, msg.Text{"interrupted", "已中断"}).Because(err)}
	}
	var e *Error
	if errors.As(err, &e) {
		// keep the outer words, take the inner kind and hints
		out := New(e.Kind, msg.Text{"%v", "%v"}, err)
		out.hints = e.hints
		return []*Error{out}
	}
	return []*Error{New(Failed, msg.Text{"%v", "%v"}, err)}
}

// Code returns the exit code of err; 0 for nil. Of several errors, a finding
// (10–12) goes before 3, and everything else before a finding; an interrupt
// and a bug go before all.
func Code(err error) int {
	best, rank := 0, -1
	for _, e := range All(err) {
		c := e.Kind.Code()
		r := 2
		switch {
		case c == 3:
			r = 0
		case c >= 10 && c <= 12:
			r = 1
		case c == 130:
			r = 3
		case c == 70:
			r = 4
		}
		if r > rank {
			best, rank = c, r
		}
	}
	return best
}
