// Package overlay holds what people decided about questions that were read: a
// file of fixes that later readings of the same sources apply.
//
// A fix is tied to what was read, not to a name: to the bytes of the source, the
// place in it, and the reading itself. Where any of these changes, the fix is
// stale; it changes nothing and is reported, so that no correction of one text
// lands on another.
package overlay

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// Action is what a fix does.
type Action string

// The actions.
const (
	Accept Action = "accept" // it is right as it was read: no doubt is left
	Set    Action = "set"    // parts of it are to be read otherwise
	Drop   Action = "drop"   // it is no question to be used
)

// A Fix is one decision, one line of the file.
type Fix struct {
	ID     string  `json:"id"`     // of the row or drop, for people and programs
	SHA256 string  `json:"sha256"` // of the source file
	At     string  `json:"at"`     // locator in it
	Read   string  `json:"read"`   // hash of what was read there, see [Reading]
	Action Action  `json:"action"`
	Set    *Fields `json:"set,omitempty"`
	By     string  `json:"by,omitempty"`   // who decided
	Date   string  `json:"date,omitempty"` // 2026-11-30
	Note   string  `json:"note,omitempty"`
}

// Fields are the parts of a question that a fix sets; nil ones stay as they are.
type Fields struct {
	Kind        *drydock.QuestionKind `json:"kind,omitempty"`
	Stem        *string               `json:"stem,omitempty"`
	Statements  []string              `json:"statements,omitempty"`
	Options     []drydock.Option      `json:"options,omitempty"`
	Answer      []string              `json:"answer,omitempty"`
	Explanation *string               `json:"explanation,omitempty"`
	NeedsFigure *bool                 `json:"needs_figure,omitempty"`
}

// Reading is the hash of a question as it was read: its kind, stem, options and
// answer.
func Reading(q *drydock.Question) string {
	parts := []string{string(q.Kind), q.Stem, strconv.Itoa(len(q.Options))}
	for _, o := range q.Options {
		parts = append(parts, o.Label, o.Text)
	}
	return hashOf(append(parts, q.Answer...))
}

// ReadingOfText is the hash of a text that did not become a question.
func ReadingOfText(text string) string { return hashOf([]string{text}) }

func hashOf(parts []string) string {
	h := sha256.New()
	var n []byte
	for _, s := range parts {
		n = append(strconv.AppendInt(n[:0], int64(len(s)), 10), ':')
		h.Write(n)
		io.WriteString(h, s)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// An Overlay is a file of fixes. It may be used by many goroutines.
type Overlay struct {
	Name   string // as messages call it
	SHA256 string // of its bytes
	fixes  []Fix
	byKey  map[key]int
}

// key ties a fix to what was read.
type key struct{ sha, at, read string }

func (f *Fix) key() key { return key{f.SHA256, f.At, f.Read} }

// Parse reads a file of fixes. name is what findings call it. A later line about
// the same reading takes the place of an earlier one. All findings are returned at
// once.
func Parse(name string, data []byte) (*Overlay, fail.List) {
	sum := sha256.Sum256(data)
	o := &Overlay{Name: name, SHA256: hex.EncodeToString(sum[:]), byKey: map[key]int{}}
	var bad fail.List
	in := bufio.NewReader(bytes.NewReader(data))
	for line := 1; ; line++ {
		b, err := in.ReadBytes('\n')
		if text := bytes.TrimSpace(b); len(text) > 0 {
			f, e := parseFix(text)
			if e != nil {
				bad = append(bad, e.At(fail.Where{File: name, Line: line}))
			} else if i, again := o.byKey[f.key()]; again {
				o.fixes[i] = f
			} else {
				o.byKey[f.key()] = len(o.fixes)
				o.fixes = append(o.fixes, f)
			}
		}
		if err != nil {
			return o, bad
		}
	}
}

func parseFix(line []byte) (Fix, *fail.Error) {
	var f Fix
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return f, fail.New(fail.Config, msg.Text{"not a fix: %v", "不是修正记录：%v"}, err)
	}
	if err := f.check(); err != nil {
		return f, err
	}
	return f, nil
}

func (f *Fix) check() *fail.Error {
	bad := func(text msg.Text, args ...any) *fail.Error { return fail.New(fail.Config, text, args...) }
	switch {
	case len(f.SHA256) != 64 || f.Read == "":
		return bad(msg.Text{"a fix needs sha256, at and read, which say what it is about", "修正记录需要 sha256、at 与 read，以说明所指内容"}).
			Hint(msg.Text{"drydock question review writes them", "drydock question review 会写出这些字段"})
	case f.Action != Accept && f.Action != Set && f.Action != Drop:
		return bad(msg.Text{"action is %q: one of accept, set, drop is wanted", "action 为 %q：应为 accept、set 或 drop"}, f.Action)
	case (f.Set != nil) != (f.Action == Set):
		return bad(msg.Text{"set goes with the action set, and only with it", "set 字段须与动作 set 同时出现，且仅限于此"})
	}
	if f.Date != "" {
		if _, err := time.Parse(time.DateOnly, f.Date); err != nil {
			return bad(msg.Text{"date is %q: want 2026-11-30", "date 为 %q：应形如 2026-11-30"}, f.Date)
		}
	}
	return nil
}

// Fixes returns the fixes in the order of the file.
func (o *Overlay) Fixes() []Fix { return slices.Clone(o.fixes) }

// Find returns the fix for a reading and its number in [Overlay.Fixes]; nil when
// there is none.
func (o *Overlay) Find(sha, at, read string) (*Fix, int) {
	if o == nil {
		return nil, 0
	}
	i, ok := o.byKey[key{sha, at, read}]
	if !ok {
		return nil, 0
	}
	return &o.fixes[i], i
}

// An IncompleteError says what a question still lacks after a fix.
type IncompleteError struct {
	text msg.Text
	args []any
}

func lacks(text msg.Text, args ...any) *IncompleteError { return &IncompleteError{text, args} }

// Error implements error, in English.
func (e *IncompleteError) Error() string { return e.In(msg.En) }

// In implements [msg.Localizer].
func (e *IncompleteError) In(l msg.Lang) string { return e.text.Format(l, e.args...) }

// Apply changes a question as the fix says; q is the empty question where none was
// read. What a person decided has no doubt left. The error is an
// [IncompleteError] when that makes no whole question.
func (f *Fix) Apply(q *drydock.Question) error {
	if s := f.Set; s != nil {
		if s.Kind != nil {
			q.Kind = *s.Kind
		}
		if s.Stem != nil {
			q.Stem = *s.Stem
		}
		if s.Statements != nil {
			q.Statements = slices.Clone(s.Statements)
		}
		if s.Options != nil {
			q.Options = slices.Clone(s.Options)
		}
		if s.Answer != nil {
			q.Answer = slices.Clone(s.Answer)
		}
		if s.Explanation != nil {
			q.Explanation = *s.Explanation
		}
		if s.NeedsFigure != nil {
			q.NeedsFigure = *s.NeedsFigure
		}
	}
	if q.Kind == "" {
		q.Kind = kindOf(q)
	}
	if err := lackOf(q); err != nil {
		return err
	}
	q.Confidence, q.Doubts = 1, nil
	return nil
}

// kindOf is the form of a question of which nobody said it.
func kindOf(q *drydock.Question) drydock.QuestionKind {
	switch {
	case len(q.Options) > 0 && len(q.Answer) > 1:
		return drydock.Multiple
	case len(q.Options) > 0:
		return drydock.Single
	case len(q.Answer) == 1 && (q.Answer[0] == "true" || q.Answer[0] == "false"):
		return drydock.Judge
	}
	return drydock.Short
}

// lackOf says what keeps q from being a whole question; nil when nothing does.
func lackOf(q *drydock.Question) error {
	choice := q.Kind == drydock.Single || q.Kind == drydock.Multiple
	labels := make([]string, 0, len(q.Options))
	for _, o := range q.Options {
		labels = append(labels, o.Label)
	}
	switch {
	case q.Stem == "":
		return lacks(msg.Text{"it has no stem", "缺少题干"})
	case choice && len(q.Options) < 2:
		return lacks(msg.Text{"it has fewer than two options", "选项不足两个"})
	case len(q.Answer) == 0:
		return lacks(msg.Text{"it has no answer", "缺少答案"})
	case q.Kind == drydock.Single && len(q.Answer) != 1:
		return lacks(msg.Text{"a single choice has one answer, not %s", "单选题只有一个答案，不是 %s"}, msg.List(q.Answer))
	case q.Kind == drydock.Judge && q.Answer[0] != "true" && q.Answer[0] != "false", q.Kind == drydock.Judge && len(q.Answer) != 1:
		return lacks(msg.Text{"its answer is true or false, not %s", "答案应为“对”或“错”，不是 %s"}, msg.List(q.Answer))
	}
	if !choice {
		return nil
	}
	for _, a := range q.Answer {
		if !slices.Contains(labels, a) {
			return lacks(msg.Text{"%s is none of its options (%s)", "%s 不在选项之中（%s）"}, a, strings.Join(labels, " "))
		}
	}
	return nil
}

// Append writes a fix as one line.
func Append(dst []byte, f Fix) ([]byte, error) {
	b, err := drydock.MarshalJSON(f)
	if err != nil {
		return dst, err
	}
	return append(append(dst, b...), '\n'), nil
}
