package ui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// jsonError is the shape of an error with --json. Kind and code are stable.
type jsonError struct {
	Type    string      `json:"type"`
	Kind    fail.Kind   `json:"kind"`
	Message string      `json:"message"`
	Hint    string      `json:"hint,omitempty"`
	Where   *fail.Where `json:"where,omitempty"`
	Code    int         `json:"code"`
}

// manyInputs is how many inputs that could not be read are shown one by one; a
// file with a thousand bad rows must not push everything else off the screen.
const manyInputs = 10

// name is what error lines begin with.
const name = "drydock"

// Error prints an error, or each of several, to stderr. It is the only place
// errors are shown. The log and --json have them all.
func (t *Terminal) Error(err error) {
	all := fail.All(err)
	inputs := 0
	for i, e := range all {
		t.log("error", msg.Text{"%s", "%s"}, []any{e.Error()})
		if t.c.JSON {
			j := jsonError{Type: "error", Kind: e.Kind, Message: e.Message(t.c.Lang), Hint: t.Commands(strings.Join(e.Hints(t.c.Lang), "\n")), Code: e.Kind.Code()}
			if e.Where.String() != "" {
				j.Where = &e.Where
			}
			t.encodeErr(j)
			continue
		}
		if e.Kind == fail.Partial {
			if inputs++; inputs > manyInputs {
				continue
			}
		}
		// the same advice for a row of errors is given once, after the last
		again := i+1 < len(all) && slices.Equal(e.Hints(t.c.Lang), all[i+1].Hints(t.c.Lang))
		t.errLine(t.errorText(e, !again || e.Kind == fail.Partial && inputs == manyInputs))
	}
	if inputs > manyInputs {
		t.errLine(t.Say(msg.Text{"and %d more like these; --json lists them all", "另有 %d 处同类问题；--json 会全部列出"}, inputs-manyInputs))
	}
}

func (t *Terminal) errorText(e *fail.Error, hints bool) string {
	colon := t.Say(msg.Text{": ", "："})
	var b strings.Builder
	said, itself := strings.CutPrefix(Clean(t.Commands(e.In(t.c.Lang))), name+" ")
	if itself { // the text begins with a command
		said = t.style(t.c.ErrTTY, red, name) + " " + said
	} else {
		said = t.style(t.c.ErrTTY, red, name+colon) + said
	}
	b.WriteString(t.fitErr(said))
	if e.Where.Excerpt != "" && e.Where.Line > 0 {
		b.WriteString("\n" + excerpt(e.Where, t.c.Width))
	}
	if !hints {
		return b.String()
	}
	for _, h := range e.Hints(t.c.Lang) {
		h = t.style(t.c.ErrTTY, bold, t.Say(msg.Text{"hint: ", "提示："})) + Clean(t.Commands(h))
		if e.Kind != fail.Internal { // a stack trace has lines of its own
			h = t.fitErr(h)
		}
		b.WriteString("\n" + h)
	}
	return b.String()
}

// fitErr cleans words for stderr and breaks them into lines that fit, if that is
// a terminal.
func (t *Terminal) fitErr(s string) string {
	if !t.c.ErrTTY {
		return s
	}
	return t.fit(Clean(s))
}

// excerpt shows the line with carets under what is meant. Where.Column counts
// characters; a Chinese one takes two columns. Of a long line only the part
// around the column is shown.
func excerpt(w fail.Where, width int) string {
	gutter := fmt.Sprintf("%5d | ", w.Line)
	runes := []rune(Clean(strings.NewReplacer("\t", " ", "\n", " ", "\r", " ").Replace(w.Excerpt)))
	at := min(max(w.Column-1, 0), len(runes))
	room := max(width-len(gutter)-2, 20)
	lead := ""
	if Width(string(runes)) > room {
		from := at
		for from > 0 && Width(string(runes[from-1:at])) < room/2 {
			from--
		}
		if from > 0 {
			lead = "…"
		}
		runes, at = runes[from:], at-from
	}
	line := gutter + Truncate(lead+string(runes), room)
	if w.Column < 1 {
		return line
	}
	end := min(max(at+w.Length, at+1), len(runes))
	carets := 1
	if end > at {
		carets = max(Width(string(runes[at:end])), 1)
	}
	before := len(gutter) + Width(lead) + Width(string(runes[:at]))
	carets = min(carets, max(len(gutter)+room-before, 1))
	return line + "\n" + strings.Repeat(" ", before) + strings.Repeat("^", carets)
}
