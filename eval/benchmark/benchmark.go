// Package benchmark says what a benchmark is: its items, the prompt it asks,
// the rule that reads an answer, and how a reply is graded. It is pure: no
// network, no clock, and the items are the user's own files.
package benchmark

import (
	"context"
	"io/fs"
	"iter"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// A Ref names a benchmark and the revision of its prompt and rules, written
// name@revision: maritime_bench@evalscope-1.4.2.
type Ref struct {
	Name     string // ASCII letters, digits, _ - and .
	Revision string // empty: whichever is shipped
}

// String writes name@revision, or the name alone.
func (r Ref) String() string {
	if r.Revision == "" {
		return r.Name
	}
	return r.Name + "@" + r.Revision
}

// ParseRef reads what [Ref.String] writes.
func ParseRef(s string) (Ref, error) {
	name, rev, at := strings.Cut(s, "@")
	if !validName(name) || (at && !validName(rev)) {
		return Ref{}, fail.New(fail.Usage, msg.Text{"%q is no benchmark reference", "%q 不是评测集引用"}, s).
			Hint(msg.Text{"write name or name@revision, for example maritime_bench", "写法为“名称”或“名称@版本”，例如 maritime_bench"})
	}
	return Ref{Name: name, Revision: rev}, nil
}

// validName accepts what can stand in file names everywhere.
func validName(s string) bool {
	if s == "" || len(s) > 100 || s[0] == '.' || s[0] == '-' {
		return false
	}
	for _, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-', c == '.':
		default:
			return false
		}
	}
	return true
}

// An Item is one question of a benchmark.
type Item struct {
	ID    string // the row's own id or index as text, else its position
	Index int    // the row's own index, else its position from 0
	// Question holds what is shown: options re-lettered by position, and in
	// Answer the label of the option the key means; empty when that option is
	// not there.
	Question drydock.Question
	Gold     []string          // the key as it stood in the row: graders compare with this
	Tags     map[string]string // category, subject and the like, where the row has them
	Raw      []byte            // the row as it stood; shares memory with the file
}

// Key returns the key as one text: the letter, or the letters one after another.
func (it *Item) Key() string { return strings.Join(it.Gold, "") }

// Printed writes the item as an exam prints it: the stem, then each option on a
// line behind its letter.
func (it *Item) Printed() string {
	var b strings.Builder
	b.WriteString(it.Question.Stem)
	for _, o := range it.Question.Options {
		b.WriteString("\n" + o.Label + ". " + o.Text)
	}
	return b.String()
}

// A Flaw is why an item cannot be answered as its key says.
type Flaw string

// The flaws of an item.
const (
	FlawNone       Flaw = ""
	FlawNotOffered Flaw = "answer_not_offered" // the key names an option that is empty or absent
	FlawRelettered Flaw = "answer_relettered"  // an empty option before it moved the right one to another letter
)

// Flaw tells whether the key can be reached by the letters shown. Such items
// stay in the count, as EvalScope leaves them, and are reported.
func (it *Item) Flaw() Flaw {
	if len(it.Gold) == 0 || it.Question.Kind != drydock.Single && it.Question.Kind != drydock.Multiple {
		return FlawNone
	}
	if len(it.Question.Answer) < len(it.Gold) {
		return FlawNotOffered
	}
	for _, g := range it.Gold {
		if !slices.ContainsFunc(it.Question.Answer, func(a string) bool { return strings.EqualFold(strings.TrimSpace(g), a) }) {
			return FlawRelettered
		}
	}
	return FlawNone
}

// A Reply is what a model said, after EvalScope's treatment of think blocks
// ([AssistantText]).
type Reply struct {
	Text      string // what the extraction rule reads
	Reasoning string // the thinking, apart
	Think     *Think // not nil when there was a reasoning part, even an empty one
	Refused   bool   // Text is the server's refusal
	Finish    string // stop, max_tokens, tool_calls, content_filter, model_length, unknown
	// FinishAs is what the server said, where Finish is unknown and it said
	// something.
	FinishAs string
	// Choice is the letter a model preferred by log probability, where that and
	// not its text is graded: of files that hold nothing else, and for the figures
	// beside those of the text ([ChooseByLogprob]). Empty: the rule reads Text.
	Choice string
}

// Think holds the attributes of a reasoning part.
type Think struct {
	Signature *string // nil: the tag has none
	Redacted  bool    // the server shows that it thought, not what
}

// A Verdict is what a grade comes to.
type Verdict string

// The verdicts. A reply from which nothing can be extracted is wrong.
const (
	Correct Verdict = "correct"
	Wrong   Verdict = "wrong"
)

// A Grade is the judgement of one reply.
type Grade struct {
	Verdict   Verdict
	Extracted string  // the letter; empty when the rule found none
	Score     float64 // 1 or 0
	Rule      string  // bracket_first@1
	Start     int     // byte range the rule matched in Reply.Text as the filters
	End       int     // leave it, bracket to bracket, End not included; both 0: none
	Outside   bool    // the letter names no option of the item
	OtherRule string  // the rule other versions use
	Other     string  // what that rule extracts; it differs when not equal to Extracted
	// OtherVerdict is what the item would come to under the other rule.
	OtherVerdict Verdict
}

// Usage counts tokens as the server reported them.
type Usage struct {
	Input     int  `json:"input_tokens"`
	Output    int  `json:"output_tokens"`
	Total     int  `json:"total_tokens"`
	CacheRead *int `json:"cache_read,omitempty"`
	Reasoning *int `json:"reasoning_tokens,omitempty"`
}

// Info is what a benchmark says about itself.
type Info struct {
	Title       string // as reports name it: MaritimeBench
	Dataset     string // the id on the hub it comes from
	Description string // one paragraph, as the reports of EvalScope 1.4.2 carry it
	// LongDescription is what the reports of EvalScope 1.14 carry; empty: Description.
	LongDescription string
	Tags            []string
	Items           int    // how many there are; 0: not fixed
	ItemsSHA256     string // [CanonicalHash] of them; empty: not fixed
	Rule            string // that grades, name@version
	OtherRule       string // that is compared with it
}

// A Benchmark is safe for concurrent use.
type Benchmark interface {
	Ref() Ref
	Info() Info
	// Items reads the items from a folder the user has: items.jsonl, or one of
	// the layouts EvalScope takes (see [ItemFiles]).
	Items(ctx context.Context, pack fs.FS) iter.Seq2[Item, error]
	// Prompt is what the model is asked, byte for byte.
	Prompt(Item) []drydock.Message
	// Grade is pure and never panics, whatever the reply holds.
	Grade(Item, Reply) Grade
	// Fingerprint is a sha256 over template and rules; 64 hex digits.
	Fingerprint() string
}
