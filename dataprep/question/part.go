package question

import (
	"maps"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/msg"
)

// A Part is one stretch of a bank, between two headings or one table or list of
// rows, and the proof that none of it was lost: as many questions as answers, and
// every answer joined to its question.
type Part struct {
	Title     []string        `json:"title"`     // headings, outermost first; empty where none is printed
	At        string          `json:"at"`        // locator of its first question, or of the key that has none
	Questions int             `json:"questions"` // numbered items and rows that ask something, dropped ones included
	Keys      int             `json:"keys"`      // answers the source gives them: beside them, in a key, or by looks
	Matched   int             `json:"matched"`   // questions that got one
	Records   int             `json:"records"`   // questions that were read whole
	Closed    bool            `json:"closed"`    // the three counts are equal
	Dropped   map[string]int  `json:"dropped"`   // questions left out, by reason
	Missing   []int           `json:"missing,omitempty"`
	Repeated  []int           `json:"repeated,omitempty"` // printed numbers that stand twice
	Figures   int             `json:"figures"`            // records that need a figure
	Doubts    map[string]int  `json:"doubts"`             // records by what lowers their confidence
	Left      []Left          `json:"left,omitempty"`     // the first questions left out, with place and reason
	Layouts   []Layout        `json:"layouts"`            // ways to read it, the chosen one first
	Letters   map[string]int  `json:"letters,omitempty"`  // right letters of single-choice records, by number of options: 4:A
	Stems     int             `json:"stems"`              // different stems, numbers in them aside
	First     drydock.Locator `json:"-"`
	// Rows says that its questions are rows of a table or of JSON: such stretches
	// of one table are added up.
	Rows bool `json:"rows,omitempty"`
}

// A Left is a question that was left out.
type Left struct {
	At     string `json:"at"`
	Reason string `json:"reason"`
	Detail string `json:"detail"` // English, for people
}

// maxLeft is how many a part lists; the drop file has them all.
const maxLeft = 20

// close settles whether the counts agree.
func (p *Part) close() { p.Closed = p.Questions == p.Keys && p.Keys == p.Matched }

// Add takes the counts of another stretch of the same table or list of rows.
func (p *Part) Add(q Part) {
	p.Questions, p.Keys, p.Matched, p.Records = p.Questions+q.Questions, p.Keys+q.Keys, p.Matched+q.Matched, p.Records+q.Records
	p.Figures, p.Stems = p.Figures+q.Figures, p.Stems+q.Stems
	p.Dropped, p.Letters, p.Doubts = sum(p.Dropped, q.Dropped), sum(p.Letters, q.Letters), sum(p.Doubts, q.Doubts)
	p.Left = append(p.Left, q.Left[:max(0, min(len(q.Left), maxLeft-len(p.Left)))]...)
	p.close()
}

func sum(a, b map[string]int) map[string]int {
	if a == nil && len(b) > 0 {
		a = map[string]int{}
	}
	for k, v := range b {
		a[k] += v
	}
	return a
}

// Unclosed returns the parts whose counts differ. A bank that gives no answer
// anywhere has no proof to fail, and none is returned.
func Unclosed(parts []Part) []Part {
	keys := 0
	for _, p := range parts {
		keys += p.Keys
	}
	if keys == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(parts), func(p Part) bool { return p.Closed })
}

// What rouses suspicion of a bank: this many single-choice items of one number of
// options, this share of one letter among them; this many items, and fewer
// different stems than one in so many.
const (
	biasItems, biasShare = 30, 0.75
	alikeItems, alikeOf  = 20, 4
)

// Suspicions says what the counts of a file give away about how it was made:
// nearly all keys one letter, or few stems with the numbers in them changed. Such
// banks are often written by a machine; the letters must at least be shuffled.
func Suspicions(parts []Part) []Note {
	var out []Note
	letters, records, stems := map[string]int{}, 0, 0
	for _, p := range parts {
		letters = sum(letters, p.Letters)
		records, stems = records+p.Records, stems+p.Stems
	}
	total := map[string]int{}
	top := map[string]string{}
	for k, n := range letters {
		options, _, _ := strings.Cut(k, ":")
		total[options] += n
		if best := top[options]; best == "" || n > letters[best] || n == letters[best] && k < best {
			top[options] = k
		}
	}
	for _, options := range slices.Sorted(maps.Keys(total)) {
		k := top[options]
		if n := letters[k]; total[options] >= biasItems && float64(n) >= biasShare*float64(total[options]) {
			_, l, _ := strings.Cut(k, ":")
			out = append(out, Note{Code: "key_bias", Text: msg.Text{
				"the answer is %s in %d of %d items with %s options: shuffle them before training",
				"答案为 %s 的占 %d/%d 题（%s 个选项）：训练前应打乱选项",
			}, Args: []any{l, n, total[options], options}})
		}
	}
	if n := without(parts); n > 0 {
		out = append(out, Note{Code: "bank_without_options", Text: msg.Text{
			"%d questions are answered by letters, but no options stand there: no choice question can be made of them; --no-options short keeps them as short-answer questions",
			"%d 道题以字母作答，但没有选项：无法构成选择题；可用 --no-options short 保留为简答题",
		}, Args: []any{n}})
	}
	if records >= alikeItems && stems*alikeOf <= records {
		out = append(out, Note{Code: "stems_alike", Text: msg.Text{
			"%d items are made of %d stems, with other numbers in them: the bank may be machine-made",
			"%d 道题仅由 %d 种题干改动数字而成：题库可能由机器生成",
		}, Args: []any{records, stems}})
	}
	return out
}

// without is how many questions lack their options, where nearly all of a file do.
func without(parts []Part) int {
	n, all := 0, 0
	for _, p := range parts {
		n, all = n+p.Dropped[reasonNoOptions], all+p.Questions
	}
	if n < 3 || n*10 < all*9 {
		return 0
	}
	return n
}

// A tally counts what becomes of one part while it is read.
type tally struct {
	Part
	keyed int             // answers of key tables dealt to it
	stems map[uint64]bool // of stems with the numbers masked
	asked numbers         // printed, in order
}

// maxStems bounds the stems a part remembers.
const maxStems = 1 << 16

// took counts an item that became a record or a drop. inline says that its answer
// did not come from a key table.
func (t *tally) took(at drydock.Locator, r *drydock.Record, d *drydock.Drop, answered, fromKey bool) {
	if d != nil && (d.Reason == reasonNotQuestion || d.Reason == reasonUnparsed) {
		return // no question: it is in the drop file, but not in the proof
	}
	if t.Questions == 0 {
		t.First, t.At = at, at.String()
	}
	t.Questions++
	if answered {
		t.Matched++
		if !fromKey {
			t.Keys++
		}
	}
	if d != nil {
		if t.Dropped == nil {
			t.Dropped = map[string]int{}
		}
		t.Dropped[d.Reason]++
		if len(t.Left) < maxLeft {
			t.Left = append(t.Left, Left{at.String(), d.Reason, d.Detail})
		}
		return
	}
	t.Records++
	q := r.Question
	if q.NeedsFigure {
		t.Figures++
	}
	for _, w := range q.Doubts {
		if t.Doubts == nil {
			t.Doubts = map[string]int{}
		}
		t.Doubts[w]++
	}
	if q.Kind == drydock.Single && len(q.Answer) == 1 {
		if t.Letters == nil {
			t.Letters = map[string]int{}
		}
		t.Letters[itoa(len(q.Options))+":"+q.Answer[0]]++
	}
	if t.stems == nil {
		t.stems = map[uint64]bool{}
	}
	if h := maskedHash(q.Stem); !t.stems[h] && len(t.stems) < maxStems {
		t.stems[h] = true
	} else if len(t.stems) >= maxStems {
		t.Stems++ // past the bound each counts as different: no false alarm
	}
}

// done is the part as it stands at its end.
func (t *tally) done() Part {
	p := t.Part
	p.Keys += t.keyed
	p.Stems += len(t.stems)
	if p.Dropped == nil {
		p.Dropped = map[string]int{}
	}
	if p.Doubts == nil {
		p.Doubts = map[string]int{}
	}
	if p.Title == nil {
		p.Title = []string{}
	}
	if p.Layouts == nil {
		p.Layouts = []Layout{}
	}
	p.Missing, p.Repeated = t.asked.jumps()
	p.close()
	return p
}

// numbers remembers what a count left out and what it printed twice, in memory that
// does not grow with the count.
type numbers struct {
	last     int // 0 before the first
	skipped  []int
	repeated []int
	stands   []uint64     // a bit for each number below maxBits
	far      map[int]bool // the others
}

// What is remembered of a count: so many numbers it left out or printed twice; which
// numbers stand, below maxBits and so many above.
const (
	mostJumps   = 20
	mostSkipped = 4096
	maxBits     = 1 << 20
	mostFar     = 1 << 12
)

// add takes the next printed number. A jump of more than mostJumps is no gap.
func (c *numbers) add(n int) {
	switch a := c.last; {
	case a == 0:
	case n == a && len(c.repeated) < mostJumps:
		c.repeated = append(c.repeated, n)
	case n > a+1 && n-a <= mostJumps:
		for v := a + 1; v < n && len(c.skipped) < mostSkipped; v++ {
			if !c.has(v) {
				c.skipped = append(c.skipped, v)
			}
		}
	}
	c.last = n
	if n < maxBits {
		for len(c.stands) <= n/64 {
			c.stands = append(c.stands, 0)
		}
		c.stands[n/64] |= 1 << (n % 64)
		return
	}
	if c.far == nil {
		c.far = map[int]bool{}
	}
	if len(c.far) < mostFar {
		c.far[n] = true
	}
}

func (c *numbers) has(n int) bool {
	if n < maxBits {
		return n/64 < len(c.stands) && c.stands[n/64]&(1<<(n%64)) != 0
	}
	return c.far[n]
}

// jumps lists the numbers a count leaves out and those it prints twice, the first of
// them.
func (c *numbers) jumps() (missing, repeated []int) {
	for _, v := range c.skipped {
		if len(missing) < mostJumps && !c.has(v) {
			missing = append(missing, v)
		}
	}
	return missing, c.repeated
}

// maskedHash hashes a stem without its digits and blanks, so that stems which
// differ in a running number or a value alone are one (FNV-1a).
func maskedHash(s string) uint64 {
	h := uint64(fnvBasis)
	for _, r := range s {
		if isDigit(r) || isSpace(r) {
			continue
		}
		h = (h ^ uint64(r)) * fnvPrime
	}
	return h
}
