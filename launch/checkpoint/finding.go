package checkpoint

import (
	"strconv"
	"strings"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// Severity is how bad a finding is.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // a server refuses it, or answers wrongly without a word
	Warning Severity = "warning" // it may be meant
	Note    Severity = "note"    // good to know
)

// A Finding is something a check saw. ID and Traps are stable.
type Finding struct {
	ID       string
	Severity Severity
	Traps    []string // the silent failures it stands for, as docs/design/043-preflight.md numbers them
	File     string   // in the folder that was looked at; "" when it is about the folder
	Fixable  bool     // [PlanFix] mends it
	// Before is the first release of transformers that reads the file as it is
	// meant; "" when none is misled, or all are.
	Before string
	text   msg.Phrase
	fix    msg.Phrase
}

// In says what was found in a language.
func (f Finding) In(l msg.Lang) string {
	if f.File == "" {
		return f.text.In(l)
	}
	return msg.Text{"%s: %s", "%s：%s"}.Format(l, f.File, f.text.In(l))
}

// FixIn says what to do in a language; empty: nothing is to be done.
func (f Finding) FixIn(l msg.Lang) string { return f.fix.In(l) }

// Err is the finding as an error of kind Refused, with its fix as the hint.
func (f Finding) Err() *fail.Error {
	e := fail.New(fail.Refused, msg.Text{"%s", "%s"}, f)
	if f.fix.Text != (msg.Text{}) {
		e = e.Hint(msg.Text{"%s", "%s"}, f.fix)
	}
	return e
}

// findings collects what checks see.
type findings []Finding

func (l *findings) add(id string, s Severity, file string, text msg.Text, args ...any) *Finding {
	*l = append(*l, Finding{ID: id, Severity: s, File: file, text: msg.Phrase{Text: text, Args: args}})
	return &(*l)[len(*l)-1]
}

func (f *Finding) trap(ids ...string) *Finding {
	f.Traps = ids
	return f
}

func (f *Finding) before(release string) *Finding {
	f.Before = release
	return f
}

// Concerns reports whether a finding matters to a reader that has this release
// of transformers; "" is one that is not known.
func (f Finding) Concerns(transformers string) bool {
	return f.Before == "" || transformers == "" || older(transformers, f.Before)
}

// older compares two releases by their first two numbers.
func older(a, b string) bool {
	var x, y [2]int
	for i, v := range []string{a, b} {
		n := [...]*[2]int{&x, &y}[i]
		for j, part := range strings.SplitN(v, ".", 3) {
			if j < len(n) {
				n[j], _ = strconv.Atoi(part)
			}
		}
	}
	return x[0] < y[0] || x[0] == y[0] && x[1] < y[1]
}

func (f *Finding) repair(text msg.Text, args ...any) *Finding {
	f.fix = msg.Phrase{Text: text, Args: args}
	return f
}

func (f *Finding) fixable() *Finding {
	f.Fixable = true
	if f.fix.Text == (msg.Text{}) {
		f.repair(msg.Text{"drydock checkpoint fix mends it", "drydock checkpoint fix 可修复"})
	}
	return f
}

// Worst returns the first error among findings, else nil.
func Worst(list []Finding) *Finding {
	for i := range list {
		if list[i].Severity == Error {
			return &list[i]
		}
	}
	return nil
}
