package eval

import (
	"fmt"

	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/eval/evalscope"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// SummarySchema names the shape of a [Summary] as JSON.
const SummarySchema = "drydock.eval.summary/1"

// A Summary is what came of a run or a score. Field names are stable.
type Summary struct {
	Type      string     `json:"type"` // summary
	Schema    string     `json:"schema"`
	Benchmark string     `json:"benchmark"` // name@revision
	Model     string     `json:"model,omitempty"`
	Endpoint  string     `json:"endpoint,omitempty"` // http, builtin; empty when nothing was asked
	Baseline  bool       `json:"baseline"`           // no model answered
	N         int        `json:"n"`                  // rows counted
	Correct   int        `json:"correct"`
	Accuracy  float64    `json:"accuracy"`
	Wilson95  [2]float64 `json:"wilson95"`

	Source *Source `json:"source,omitempty"` // what was scored; absent for a run

	Asked  int `json:"asked"`  // items to answer, or rows given
	Rows   int `json:"rows"`   // rows in the files
	Reused int `json:"reused"` // answers taken over from an earlier run

	// Queries counts the runs of this project that asked a model these items; 0:
	// not counted, or nothing was asked.
	Queries   int              `json:"queries,omitempty"`
	Repeats   int              `json:"repeats,omitempty"` // answers asked of each item
	Traffic   *Traffic         `json:"traffic,omitempty"` // nil: nothing was sent
	Preflight *PreflightReport `json:"preflight,omitempty"`
	// Logprobs is the score by the most probable letter; nil: not asked for.
	Logprobs *LogprobScore `json:"logprobs,omitempty"`
	// Permutations is what other orders of the options gave; nil: not asked.
	Permutations *Permutations `json:"permutations,omitempty"`

	// OnError is evalscope when the figures above are EvalScope's: then not all
	// that was asked is counted. Empty: everything is.
	OnError    OnError  `json:"on_error,omitempty"`
	AllCounted *Figures `json:"all_counted,omitempty"` // then: with every item counted
	// EvalScope is what EvalScope 1.4.2 with --ignore-errors would count, where
	// that is something else.
	EvalScope *Figures `json:"evalscope,omitempty"`

	NoExtraction   int            `json:"no_extraction"` // rows without a letter, failures included
	Rule           string         `json:"rule"`
	OtherRule      string         `json:"other_rule"`
	OtherCorrect   int            `json:"other_rule_correct"`
	OtherDiffers   int            `json:"other_rule_differs"` // rows whose letter differs
	OutsideOptions int            `json:"outside_options"`    // rows whose letter was not offered
	Letters        map[string]int `json:"letters"`            // extracted letters; "" is none

	NoExtractionIndexes []int         `json:"no_extraction_indexes"`
	OtherDiffersIndexes []int         `json:"other_rule_differs_indexes"`
	OutsideIndexes      []int         `json:"outside_options_indexes"`
	Failures            []Failure     `json:"failures"` // items without an answer of the model
	Problems            []FileProblem `json:"problems"` // of the file that was scored
	Flaws               []ItemFlaw    `json:"flaws"`    // items whose key cannot be reached

	Truncated  int         `json:"truncated"` // replies cut by the token limit
	LeakSignal *LeakSignal `json:"leak_signal,omitempty"`
	Notes      []Note      `json:"notes"`
	Files      Files       `json:"files"`
	// DependsOn is all that the figures rest on, by name: change one, and they may
	// change. Secrets and addresses are not among them.
	DependsOn []Condition `json:"depends_on"`

	outcomes []Outcome // see [Summary.Outcomes]
}

// A Source is the file that was scored.
type Source struct {
	Kind   string           `json:"kind"`             // reviews, predictions, outputs, lm_eval, opencompass, swift
	Schema evalscope.Schema `json:"schema,omitempty"` // of EvalScope's files
	File   string           `json:"file,omitempty"`
}

// Figures are a count made another way.
type Figures struct {
	Asked    int     `json:"asked"`
	Rows     int     `json:"rows"` // in the files
	N        int     `json:"n"`    // counted
	Correct  int     `json:"correct"`
	Accuracy float64 `json:"accuracy"`
}

func (f *Figures) setAccuracy() {
	if f.N > 0 {
		f.Accuracy = float64(f.Correct) / float64(f.N)
	}
}

// Files are the paths of what was written, with slashes; empty: not written.
type Files struct {
	Reviews     string `json:"reviews,omitempty"`
	Predictions string `json:"predictions,omitempty"`
	Report      string `json:"report,omitempty"`
	Config      string `json:"config,omitempty"`
}

// A Failure is an item that got no answer of the model. It counts as wrong.
type Failure struct {
	Index    int         `json:"index"`
	Kind     FailureKind `json:"kind"`
	Cause    string      `json:"cause"` // as the server put it
	Attempts int         `json:"attempts,omitempty"`
}

// A FailureKind is why there is no answer.
type FailureKind string

// The kinds of failures.
const (
	FailureRequest  FailureKind = "failed"   // no reply came
	FailureRefused  FailureKind = "refused"  // the server answered for the model
	FailureFiltered FailureKind = "filtered" // finish_reason content_filter, and no letter
	FailureEmpty    FailureKind = "empty"    // a reply without text
)

// FailedRequests counts the items whose request failed; asking again may help.
func (s *Summary) FailedRequests() int {
	n := 0
	for _, f := range s.Failures {
		if f.Kind == FailureRequest {
			n++
		}
	}
	return n
}

// A FileProblem names a line of the scored file, or an item it lacks.
type FileProblem struct {
	Code  string `json:"code"`  // torn, bad_json, duplicate, missing, …
	Line  int    `json:"line"`  // from 1; 0: no line
	Index int    `json:"index"` // -1: not known
	Text  string `json:"text"`  // English
	said  msg.Phrase
}

// Lost reports whether a row of the file could not be counted for it.
func (p FileProblem) Lost() bool {
	switch p.Code {
	case evalscope.CodeNoNewline, evalscope.CodeOtherFilter, evalscope.CodeMoreReplies, "missing":
		return false
	}
	return true
}

// In says the problem in a language.
func (p FileProblem) In(l msg.Lang) string { return p.said.In(l) }

// An ItemFlaw is an item that cannot be answered as its key says.
type ItemFlaw struct {
	Index int            `json:"index"`
	Flaw  benchmark.Flaw `json:"flaw"`
}

// A Note is something to know about the numbers. Code is stable.
type Note struct {
	Code string `json:"code"`
	Text string `json:"text"` // English
	said msg.Phrase
}

// In says the note in a language.
func (n Note) In(l msg.Lang) string { return n.said.In(l) }

func (s *Summary) note(code string, text msg.Text, args ...any) {
	said := msg.Phrase{Text: text, Args: args}
	s.Notes = append(s.Notes, Note{Code: code, Text: said.In(msg.En), said: said})
}

func (s *Summary) problem(code string, line, index int, text msg.Text, args ...any) {
	said := msg.Phrase{Text: text, Args: args}
	s.Problems = append(s.Problems, FileProblem{Code: code, Line: line, Index: index, Text: said.In(msg.En), said: said})
}

// LeakSignal says that a baseline which only looks things up did better than
// looking things up can do.
type LeakSignal struct {
	Against  string  `json:"against"`  // what it is compared with: builtin:majority or chance
	Expected float64 `json:"expected"` // the accuracy of that
	PValue   float64 `json:"p_value"`  // one-sided binomial
	// NearIdentical counts items for which a training question reads almost the
	// same, option texts included.
	NearIdentical int    `json:"near_identical"`
	Text          string `json:"text"` // English
	said          msg.Phrase
}

// In says the signal in a language.
func (l *LeakSignal) In(lang msg.Lang) string { return l.said.In(lang) }

// Err returns what makes the result incomplete: items without an answer, or rows
// of the scored file that could not be counted (kind partial), or a count that
// does not agree (a bug). nil when everything was counted once.
func (s *Summary) Err() error {
	switch {
	case s.OnError == OnErrorEvalScope:
		return nil // as the real tool ends; the note says what is missing
	case s.N != s.Rows || s.N != s.Asked:
		return fail.Bug(fmt.Sprintf("asked %d, rows %d, counted %d", s.Asked, s.Rows, s.N))
	case s.FailedRequests() > 0:
		return fail.New(fail.Partial, msg.Text{"no answer to %d of %d {item|items}; counted as wrong", "%d 道题未得到回答（共 %d 道），按错误计"}, s.FailedRequests(), s.Asked).
			Hint(msg.Text{"run the same command again to ask only these", "再次运行同一命令即可只重试这些题"})
	case s.badLines() > 0:
		return fail.New(fail.Partial, msg.Text{"%d {line|lines} could not be counted", "有 %d 行无法计入"}, s.badLines())
	}
	return nil
}

// badLines counts the lines that hold something which is not counted.
func (s *Summary) badLines() int {
	n := 0
	for _, p := range s.Problems {
		if p.Lost() {
			n++
		}
	}
	return n
}

// AtLeast returns a below_min_acc error when the accuracy is under floor.
func (s *Summary) AtLeast(floor float64) error {
	if s.Accuracy >= floor {
		return nil
	}
	return fail.New(fail.BelowMinAcc, msg.Text{"accuracy %.4f is below %.4f", "准确率 %.4f 低于 %.4f"}, s.Accuracy, floor)
}
