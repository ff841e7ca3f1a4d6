package parity

import (
	"math/bits"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/qwen3"
)

// A Report is what a check of a file came to.
type Report struct {
	File     string   `json:"file"`
	Trainer  string   `json:"trainer"`
	Version  string   `json:"version"`  // of the trainer
	Contract string   `json:"contract"` // "": what the settings come to
	Settings []string `json:"settings"` // in the trainer's own words
	// Rows were read, Matching of them are fed as the endpoint asks and answers.
	Rows       int       `json:"rows"`
	Matching   int       `json:"matching"`
	Uncompared int       `json:"uncompared"` // hold tools, whose feed is not known
	Unreadable int       `json:"unreadable"`
	Tokens     Tokens    `json:"tokens"`
	Findings   []Finding `json:"findings"` // errors first
	// Prompts are the first rows without their answers, to ask a server for.
	Prompts []Prompt `json:"-"`
	// Unread are the first of the rows that were not read.
	Unread fail.List `json:"-"`
}

// A Prompt is a row up to its answer.
type Prompt struct {
	Line         int
	Conversation *qwen3.Conversation
}

// Tokens are the lengths of the rows as they are fed, before they are cut.
type Tokens struct {
	Total     int64    `json:"total"`
	Trained   int64    `json:"trained"` // the loss is taken on
	Longest   int      `json:"longest"`
	Line      int      `json:"longest_line,omitempty"`
	Max       int      `json:"max_length,omitempty"` // the limit that was asked for
	Histogram []Bucket `json:"histogram"`
	counts    [64]int  // by the bits of the length less one
}

// A Bucket counts rows of more than half of and up to so many tokens.
type Bucket struct {
	UpTo int `json:"up_to"`
	Rows int `json:"rows"`
}

// smallest is the first bucket of a histogram, as a power of two.
const smallest = 5

func (t *Tokens) count(n, trained, line int) {
	t.Total += int64(n)
	t.Trained += int64(trained)
	if n > t.Longest {
		t.Longest, t.Line = n, line
	}
	t.counts[max(bits.Len(uint(max(n-1, 0))), smallest)]++
}

// finish makes the histogram: from the shortest row's bucket to the longest's.
func (t *Tokens) finish() {
	t.Histogram = []Bucket{}
	last := len(t.counts) - 1
	for last >= 0 && t.counts[last] == 0 {
		last--
	}
	for i := 0; i <= last; i++ {
		if t.counts[i] > 0 || len(t.Histogram) > 0 {
			t.Histogram = append(t.Histogram, Bucket{1 << i, t.counts[i]})
		}
	}
}

// A Severity says how bad a finding is.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // what is trained is not what is asked
	Warning Severity = "warning" // it may be
	Note    Severity = "note"
)

// A Finding is one kind of thing that was found. ID is stable.
type Finding struct {
	ID       string   `json:"id"`
	Severity Severity `json:"severity"`
	Rows     int      `json:"rows"`
	Text     string   `json:"text"`          // English
	Fix      string   `json:"fix,omitempty"` // English
	Places   []Place  `json:"places"`        // the first of them
	kind     kind
}

// In says what was found in a language.
func (f Finding) In(l msg.Lang) string { return f.kind.text.Format(l, f.Rows) }

// FixIn says what mends it in a language; "" when nothing is to be done.
func (f Finding) FixIn(l msg.Lang) string { return f.kind.fix[l] }

// A Place is where something was found.
type Place struct {
	Line    int    `json:"line"` // from 1
	Row     string `json:"row,omitempty"`
	Pointer string `json:"pointer,omitempty"` // into the row, RFC 6901
	Detail  string `json:"detail,omitempty"`  // English
	Diff    *Diff  `json:"diff,omitempty"`
	said    msg.Phrase
}

// In says the detail in a language.
func (p Place) In(l msg.Lang) string {
	if p.said.Text == (msg.Text{}) {
		return ""
	}
	return p.said.In(l)
}

// A Diff is the first token in which two sequences differ.
type Diff struct {
	At     int    `json:"at"`     // tokens before it
	Before string `json:"before"` // the text before it, its end only
	Fed    Token  `json:"fed"`    // the trainer's; the id is -1 behind the end
	Wanted Token  `json:"wanted"` // the endpoint's, and of the answer
}

// A Token is an id and its text.
type Token struct {
	ID   int32  `json:"id"`
	Text string `json:"text"`
}

// Errors returns how many kinds of errors were found.
func (r *Report) Errors() int {
	n := 0
	for _, f := range r.Findings {
		if f.Severity == Error {
			n++
		}
	}
	return n
}
