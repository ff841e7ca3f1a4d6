package submission

import (
	"context"
	"fmt"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/parallel"
)

// Severity says what a failed gate means.
type Severity string

// The severities. Rule breaks the package; Risk is what an auditor would ask
// about, and only ever warns.
const (
	Rule Severity = "E"
	Risk Severity = "W"
)

// Status is what a gate came to.
type Status string

// The statuses. Error is a gate that could not do its work; it never counts as
// a pass.
const (
	Pass  Status = "pass"
	Fail  Status = "fail"
	Warn  Status = "warn"
	Skip  Status = "skip"
	Error Status = "error"
)

// message says an error without its place, which stands beside it.
type message struct{ e *fail.Error }

// In implements [msg.Localizer].
func (m message) In(l msg.Lang) string { return m.e.Message(l) }

// said is a text with what fills it, to be said in the reader's language.
func said(text msg.Text, args ...any) msg.Localizer {
	return message{fail.New(fail.Submission, text, args...)}
}

// A Finding is one thing a gate found wrong.
type Finding struct {
	Text     msg.Localizer
	File     string        // path in the package; empty: the package
	Line     int           // from 1; 0: no line
	Pointer  string        // JSON pointer within the line
	Expected string        // what should stand there; empty: the text says it
	Actual   string        // what stands there
	Fix      msg.Localizer // nil: the text says it
	warning  bool
}

// A Verdict is what one gate says. Reason, place and fix are those of its first
// finding; the others are in Evidence, at most [maxEvidence] of them.
type Verdict struct {
	ID       string // P01, G04 …
	Severity Severity
	Title    msg.Text // the rule, as it is when kept
	Status   Status
	Reason   msg.Localizer
	First    Finding
	Evidence []Finding
	Findings int // how many there are, listed or not
}

const maxEvidence = 20

// a gate is one rule that can be checked.
type gate struct {
	id    string
	sev   Severity
	role  role // what part of the package it looks at
	title msg.Text
	run   func(*check) error
}

// role is a part of a package that gates look at.
type role string

const (
	rolePackage role = "package"
	roleReport  role = "report"
	roleResults role = "results"
	roleTrain   role = "train"
)

// a check is one gate at work: where it says what it finds.
type check struct {
	*state
	ctx  context.Context
	gate gate
	v    Verdict
	note msg.Localizer
}

// fails records what breaks the gate; a risk gate only warns.
func (c *check) fails(f Finding, text msg.Text, args ...any) { c.found(f, false, text, args) }

// warns records what is worth a look.
func (c *check) warns(f Finding, text msg.Text, args ...any) { c.found(f, true, text, args) }

func (c *check) found(f Finding, warning bool, text msg.Text, args []any) {
	f.Text, f.warning = said(text, args...), warning
	c.add(f)
}

// add records a finding that is already worded.
func (c *check) add(f Finding) {
	status := Fail
	if f.warning || c.gate.sev == Risk {
		status = Warn
	}
	c.v.Findings++
	switch {
	case c.v.Findings == 1:
		c.v.First, c.v.Status, c.v.Reason = f, status, f.Text
		return
	case status == Fail && c.v.Status == Warn: // the first failure leads
		c.v.Evidence = append([]Finding{c.v.First}, c.v.Evidence...)
		c.v.First, c.v.Status, c.v.Reason = f, status, f.Text
	default:
		c.v.Evidence = append(c.v.Evidence, f)
	}
	if len(c.v.Evidence) > maxEvidence {
		c.v.Evidence = c.v.Evidence[:maxEvidence]
	}
}

// skips says why the gate cannot be applied. It has no effect once something
// was found.
func (c *check) skips(fix msg.Localizer, text msg.Text, args ...any) {
	if c.v.Findings == 0 {
		c.v.Status, c.v.Reason, c.v.First.Fix = Skip, said(text, args...), fix
	}
}

// passes says what was checked; it stands only when nothing was found.
func (c *check) passes(text msg.Text, args ...any) { c.note = said(text, args...) }

// runGate runs one gate. A panic or an error is the verdict error; only a
// cancelled context goes up.
func runGate(ctx context.Context, g gate, s *state) (Verdict, error) {
	c := &check{state: s, ctx: ctx, gate: g, v: Verdict{ID: g.id, Severity: g.sev, Title: g.title}}
	err := parallel.Call(func() error { return g.run(c) })
	if ctx.Err() != nil {
		return c.v, context.Cause(ctx)
	}
	if err != nil {
		c.v.Status, c.v.Reason = Error, said(msg.Text{"the gate could not finish: %v", "该项检查未能完成：%v"}, err)
		return c.v, nil
	}
	if c.v.Status == "" {
		c.v.Status, c.v.Reason = Pass, c.note
		if c.note == nil {
			c.v.Reason = msg.Text{"as it should be", "符合要求"}
		}
	}
	return c.v, nil
}

// place names file and line for text.
func (f Finding) place() string {
	s := f.File
	if f.Line > 0 {
		s += fmt.Sprintf(":%d", f.Line)
	}
	return s
}

func at(file string, line int) Finding { return Finding{File: file, Line: line} }

func (f Finding) pointer(p string) Finding {
	f.Pointer = p
	return f
}

func (f Finding) want(expected, actual any) Finding {
	f.Expected, f.Actual = fmt.Sprint(expected), fmt.Sprint(actual)
	return f
}

func (f Finding) fix(text msg.Text, args ...any) Finding {
	f.Fix = said(text, args...)
	return f
}
