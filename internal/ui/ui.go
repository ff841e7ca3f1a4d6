// Package ui is how drydock speaks: results to stdout, everything else to
// stderr, each for a person on a terminal or for a program on a pipe.
package ui

import (
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/drydock-ml/drydock/internal/msg"
)

// Config says where a [Terminal] writes and how.
type Config struct {
	Out, Err       io.Writer
	OutTTY, ErrTTY bool // tested apart: one may be piped while the other is seen
	Width          int  // columns of the terminal; 0: 80

	Lang       msg.Lang
	JSON       bool
	Quiet      bool   // no notes and no progress; warnings and errors stay
	Verbose    int    // how often -v was given
	Color      bool   // where a stream is a terminal, as decided by [ColorWanted]
	ForceColor bool   // on pipes, too
	Progress   string // auto, plain or none

	// Commands makes the commands that a hint or note names work where the user
	// stands; nil: they do as they are.
	Commands func(text string) string

	Now    func() time.Time          // the clock of progress lines
	Encode func(any) ([]byte, error) // writes a JSON value without a line end
	Log    io.Writer                 // a JSON line for every note, warning and error; nil: none
}

// A Terminal writes to the two streams. Its methods may be called from several
// goroutines.
type Terminal struct {
	c    Config
	mu   sync.Mutex
	live *Progress // the progress line that stands on stderr now
}

// New returns a Terminal. Out, Err, Now and Encode must be set.
func New(c Config) *Terminal {
	if c.Width < 20 {
		c.Width = 80
	}
	return &Terminal{c: c}
}

// Lang returns the reader's language.
func (t *Terminal) Lang() msg.Lang { return t.c.Lang }

// JSON reports whether the reader is a program that wants JSON.
func (t *Terminal) JSON() bool { return t.c.JSON }

// OutTTY reports whether stdout is a terminal.
func (t *Terminal) OutTTY() bool { return t.c.OutTTY }

// Width returns the columns of the terminal.
func (t *Terminal) Width() int { return t.c.Width }

// Verbose reports whether -v was given at least n times.
func (t *Terminal) Verbose(n int) bool { return t.c.Verbose >= n }

// Say returns a text in the reader's language.
func (t *Terminal) Say(text msg.Text, args ...any) string { return text.Format(t.c.Lang, args...) }

// Count writes a number of things: "1 file", "3 files"; Chinese needs no plural.
func (t *Terminal) Count(n int, one, many, zh string) string {
	switch {
	case t.c.Lang == msg.Zh:
		return strconv.Itoa(n) + " " + zh
	case n == 1:
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// Print writes a sentence of the result to stdout, on a terminal broken into
// lines that fit.
func (t *Terminal) Print(text msg.Text, args ...any) { t.Prose(t.Say(text, args...)) }

// Prose writes words of the result to stdout, on a terminal broken into lines
// that fit.
func (t *Terminal) Prose(s string) {
	if t.c.OutTTY {
		s = t.fit(Clean(s))
	}
	t.Println(s)
}

// fit breaks the lines of a text that are wider than the terminal. What goes on
// is set in by two more columns than the line it belongs to.
func (t *Terminal) fit(s string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(s, "\n") {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		if Width(line) <= t.c.Width {
			b.WriteString(line)
			continue
		}
		rest := strings.TrimLeft(line, " ")
		indent := line[:len(line)-len(rest)]
		for i, l := range Wrap(rest, max(t.c.Width-len(indent)-2, 16)) {
			if i > 0 {
				b.WriteString("\n  ")
			}
			b.WriteString(indent + l)
		}
	}
	return b.String()
}

// Commands makes the commands that a text names work where the user stands.
func (t *Terminal) Commands(s string) string {
	if t.c.Commands == nil {
		return s
	}
	return t.c.Commands(s)
}

// Println writes a line of the result, as it is, to stdout.
func (t *Terminal) Println(s string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clear()
	if t.c.OutTTY {
		s = Clean(s)
	}
	_, _ = io.WriteString(t.c.Out, s+"\n")
}

// Write writes result bytes to stdout unchanged.
func (t *Terminal) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clear()
	return t.c.Out.Write(b)
}

// Value writes one JSON document, or one line of NDJSON, to stdout.
func (t *Terminal) Value(v any) error {
	b, err := t.c.Encode(v)
	if err != nil {
		return err
	}
	_, err = t.Write(append(b, '\n'))
	return err
}

// Note tells the user something on stderr that is neither result nor fault. It
// is not shown with -q or --json.
func (t *Terminal) Note(text msg.Text, args ...any) {
	t.log("info", text, args)
	if t.c.Quiet || t.c.JSON {
		return
	}
	t.errProse(t.Commands(t.Say(text, args...)))
}

// Detail is a note shown only with -v.
func (t *Terminal) Detail(text msg.Text, args ...any) {
	t.log("debug", text, args)
	if t.c.Verbose < 1 || t.c.Quiet {
		return
	}
	t.errProse(t.style(t.c.ErrTTY, faint, t.Say(text, args...)))
}

// Next names the command to run next. It is a note, and stays on one line so
// that it can be copied.
func (t *Terminal) Next(command string) {
	if t.c.Quiet || t.c.JSON {
		return
	}
	t.errLine(t.style(t.c.ErrTTY, bold, t.Say(msg.Text{"next: ", "下一步："})) + t.Commands(command))
}

// Warn tells the user on stderr of something that may be wrong although the
// work goes on; with --json as one object of type "warning".
func (t *Terminal) Warn(text msg.Text, args ...any) {
	t.log("warn", text, args)
	if t.c.JSON {
		t.encodeErr(struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		}{"warning", t.Commands(t.Say(text, args...))})
		return
	}
	t.errProse(t.style(t.c.ErrTTY, yellow, t.Say(msg.Text{"warning: ", "警告："})) + t.Commands(t.Say(text, args...)))
}

// errProse writes words to stderr, on a terminal broken into lines that fit.
func (t *Terminal) errProse(s string) {
	t.errLine(t.fitErr(s))
}

// errLine writes one line to stderr, above a progress line if there is one.
func (t *Terminal) errLine(s string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clear()
	_, _ = io.WriteString(t.c.Err, s+"\n")
}

func (t *Terminal) encodeErr(v any) {
	b, err := t.c.Encode(v)
	if err != nil {
		b = []byte(`{"type":"error","kind":"bug","message":"` + strings.ToValidUTF8(err.Error(), "?") + `","code":70}`)
	}
	t.errLine(string(b))
}

// log writes an event in English: logs are for search, not for reading.
func (t *Terminal) log(level string, text msg.Text, args []any) {
	if t.c.Log == nil {
		return
	}
	b, err := t.c.Encode(struct {
		Time    string `json:"time"`
		Level   string `json:"level"`
		Message string `json:"message"`
	}{t.c.Now().UTC().Format(time.RFC3339Nano), level, text.Format(msg.En, args...)})
	if err != nil {
		return // a log that cannot be written must not stop the work
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = t.c.Log.Write(append(b, '\n'))
}
