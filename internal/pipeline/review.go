package pipeline

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dataprep/overlay"
	"github.com/drydock-ml/drydock/dataprep/question"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/runstore"
)

// A ReviewItem is a question as it was read, or a piece of a bank that did not
// become one, beside its source.
type ReviewItem struct {
	ID       string            `json:"id"`
	File     string            `json:"file"`
	SHA256   string            `json:"sha256"`
	At       string            `json:"at"`
	Read     string            `json:"read"`
	Question *drydock.Question `json:"question,omitempty"` // nil for what was dropped
	Reason   string            `json:"reason,omitempty"`   // why it was dropped
	Detail   string            `json:"detail,omitempty"`
	Text     string            `json:"text,omitempty"`    // of what was dropped
	Draft    *drydock.Question `json:"draft,omitempty"`   // what a dropped text may be, without its answer
	Excerpt  []string          `json:"excerpt,omitempty"` // the source's own lines, from a little above
	Fix      *overlay.Fix      `json:"fix,omitempty"`     // what was decided about it
}

// Confidence is how sure the parser was: 0 of what it dropped.
func (it *ReviewItem) Confidence() float64 {
	if it.Question == nil {
		return 0
	}
	return it.Question.Confidence
}

// A Review is what a person is to look at.
type Review struct {
	Items  []ReviewItem               // the most doubtful first
	Rows   int                        // questions that were read
	Drops  int                        // pieces the question parser dropped
	Lacks  []string                   // source files that were not found; their items have no excerpt
	Unread fail.List                  // lines that are no row
	starts map[string]map[string]bool // by source: where any question or drop begins
}

// ReviewOptions say what is looked at.
type ReviewOptions struct {
	Files   []string // rows of questions, and drop files
	Below   float64  // questions of less confidence; above 1: all
	Sources []string // files and folders where the sources may lie
	Fixes   *overlay.Overlay
	Read    format.Options
}

// ReadReview gathers the doubtful questions of rows and drop files, with what
// stands in their sources.
func ReadReview(ctx context.Context, o ReviewOptions) (*Review, error) {
	rv := &Review{Items: []ReviewItem{}, starts: map[string]map[string]bool{}}
	for _, name := range o.Files {
		line := 0
		err := eachLine(name, func(b []byte) error {
			line++
			if b = bytes.TrimSpace(b); len(b) == 0 {
				return nil
			}
			switch err := rv.take(b, o.Below); {
			case errors.Is(err, errLedgerLine):
				return fail.New(fail.Usage, msg.Text{
					"a line of a ledger, which has neither text nor source", "这是台账中的一行，既无文本也无来源",
				}).At(fail.Where{File: name, Line: line}).Hint(msg.Text{
					"review reads what drydock prep --to question wrote, or %s of a project", "可读取 drydock prep --to question 的输出，或项目中的 %s",
				}, SourceDrops)
			case err != nil:
				rv.Unread = append(rv.Unread, fail.New(fail.Partial, msg.Text{"%v", "%v"}, err).At(fail.Where{File: name, Line: line}))
			}
			return ctx.Err()
		})
		if err != nil {
			return nil, err
		}
	}
	for i := range rv.Items {
		it := &rv.Items[i]
		if f, _ := o.Fixes.Find(it.SHA256, it.At, it.Read); f != nil {
			it.Fix = f
		}
	}
	slices.SortStableFunc(rv.Items, func(a, b ReviewItem) int { return cmp.Compare(a.Confidence(), b.Confidence()) })
	return rv, rv.excerpts(ctx, o)
}

// errLedgerLine says that a line is of build/provenance/dropped.jsonl.
var errLedgerLine = errors.New("a line of a ledger")

// take adds a line: a question row, or a drop of the question parser.
func (rv *Review) take(b []byte, below float64) error {
	var d dropRow
	if err := json.Unmarshal(b, &d); err == nil && d.Reason != "" && d.Step != "" {
		if d.Origin == nil {
			return errLedgerLine
		}
		rv.Drops++
		if d.Step == "parse_questions" && d.Origin != nil && d.Origin.SHA256 != "" {
			rv.begins(d.Origin.SHA256, d.Origin.Locator)
			rv.Items = append(rv.Items, ReviewItem{
				ID: d.ID, File: d.Origin.File, SHA256: d.Origin.SHA256, At: d.Origin.Locator,
				Read: overlay.ReadingOfText(d.Text), Reason: d.Reason, Detail: d.Detail, Text: d.Text, Draft: draftOf(d.Text),
			})
		}
		return nil
	}
	r, why := DecodeRow(b)
	if r == nil {
		return errors.New(why)
	}
	q := r.Question
	if q == nil {
		return fmt.Errorf("a %s, no question: review reads what drydock prep --to question writes", r.Kind())
	}
	rv.Rows++
	sha, at := placeOfRecord(r)
	if sha == "" {
		return nil // nothing to tie a decision to
	}
	rv.begins(sha, at)
	if q.Confidence >= below {
		return nil
	}
	rv.Items = append(rv.Items, ReviewItem{
		ID: cmp.Or(r.RowID, r.ID.String()), File: r.Origin.File.Name, SHA256: sha, At: at, Read: overlay.Reading(q), Question: q,
	})
	return nil
}

func (rv *Review) begins(sha, at string) {
	if rv.starts[sha] == nil {
		rv.starts[sha] = map[string]bool{}
	}
	rv.starts[sha][at] = true
}

// The lines shown of a source: some above the place, and behind it up to the
// next item.
const (
	linesAbove = 2
	linesBelow = 14
)

// excerpts reads the sources of the items once each.
func (rv *Review) excerpts(ctx context.Context, o ReviewOptions) error {
	byFile := map[string][]*ReviewItem{}
	var order []string
	for i := range rv.Items {
		it := &rv.Items[i]
		if byFile[it.SHA256] == nil {
			order = append(order, it.SHA256)
		}
		byFile[it.SHA256] = append(byFile[it.SHA256], it)
	}
	for _, sha := range order {
		items := byFile[sha]
		path := findSource(items[0].File, sha, o.Sources)
		if path == "" {
			rv.Lacks = append(rv.Lacks, items[0].File)
			continue
		}
		if err := excerpt(ctx, path, items, rv.starts[sha], o.Read); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			rv.Lacks = append(rv.Lacks, items[0].File)
		}
	}
	return nil
}

// findSource returns the path of the file with this hash: one that is named, or
// one of that name in or below a folder that is named.
func findSource(name, sha string, places []string) string {
	for _, place := range places {
		candidates := []string{place, filepath.Join(place, filepath.FromSlash(name))}
		if deeper, err := filepath.Glob(filepath.Join(place, "*", filepath.FromSlash(name))); err == nil {
			candidates = append(candidates, deeper...)
		}
		for _, c := range candidates {
			if info, err := os.Stat(c); err != nil || info.IsDir() {
				continue
			}
			if got, err := runstore.HashFile(c); err == nil && got == sha {
				return c
			}
		}
	}
	return ""
}

// excerpt fills in the lines around each item's place.
func excerpt(ctx context.Context, path string, items []*ReviewItem, starts map[string]bool, o format.Options) error {
	in, err := OpenInput(ctx, path, o, nil)
	if err != nil {
		return err
	}
	want := map[string][]*ReviewItem{}
	for _, it := range items {
		want[it.At] = append(want[it.At], it)
	}
	open := map[*ReviewItem]int{} // lines still to come
	var above []string
	for _, u := range in.Units {
		for b, err := range in.Kind.Document(u, nil).Blocks(ctx) {
			var d *drydock.Drop
			if errors.As(err, &d) {
				continue
			}
			if err != nil {
				return err
			}
			text, at := strings.TrimRight(blockText(b), " \t"), b.At.String()
			for it := range open {
				if starts[at] && at != it.At {
					delete(open, it)
					continue
				}
				it.Excerpt = append(it.Excerpt, text)
				if open[it]--; open[it] == 0 {
					delete(open, it)
				}
			}
			for _, it := range want[at] {
				if it.Excerpt == nil {
					it.Excerpt = append(slices.Clone(above), text)
					open[it] = linesBelow
				}
			}
			if above = append(above, text); len(above) > linesAbove {
				above = above[1:]
			}
		}
	}
	return nil
}

// leastStem is how many letters the cell of a stem has at least; what stands
// before it in a row is a number, a chapter or a kind.
const leastStem = 8

// draftOfRow reads a row of a table as the question it may be: the stem is its
// first long cell, and options go from there to the letters of the answer. nil
// for what is no such row.
func draftOfRow(text string) *drydock.Question {
	cells := strings.Split(text, " | ")
	stem := slices.IndexFunc(cells, func(c string) bool { return utf8.RuneCountInString(c) >= leastStem })
	if stem < 0 || strings.Contains(text, "\n") {
		return nil
	}
	q := &drydock.Question{Stem: cells[stem]}
	end := len(cells)
	for i := end - 1; i > stem; i-- {
		if c := cells[i]; c != "" && len(c) <= 6 && strings.Trim(c, "ABCDEFGHabcdefgh") == "" {
			end = i
			break
		}
	}
	for _, c := range cells[stem+1 : end] {
		if c != "" && len(q.Options) < 8 {
			q.Options = append(q.Options, drydock.Option{Label: string(rune('A' + len(q.Options))), Text: c})
		}
	}
	if len(q.Options) < 2 {
		return nil
	}
	return q
}

// Base is what a correction starts from: the question as it was read, or what a
// dropped text may be; nil where there is neither.
func (it *ReviewItem) Base() *drydock.Question {
	if it.Question != nil {
		return it.Question
	}
	return it.Draft
}

// NewFix makes a decision about an item. One about a dropped text says all of the
// question, since nothing of it was read.
func (it *ReviewItem) NewFix(a overlay.Action, set *overlay.Fields) overlay.Fix {
	if q := it.Draft; a == overlay.Set && q != nil {
		if set.Stem == nil {
			set.Stem = &q.Stem
		}
		if set.Options == nil {
			set.Options = q.Options
		}
		if set.Statements == nil {
			set.Statements = q.Statements
		}
	}
	return overlay.Fix{ID: it.ID, SHA256: it.SHA256, At: it.At, Read: it.Read, Action: a, Set: set}
}

// draftOf reads a dropped text as the question it may be. What made it unfit is
// mostly its answer, so another stands in for it while it is read, and is taken
// away again. nil when it is no question in any case.
func draftOf(text string) *drydock.Question {
	if q := draftOfRow(text); q != nil {
		return q
	}
	lines := strings.Split(text, "\n")
	for cut := 0; cut <= min(2, len(lines)-1); cut++ {
		tried := append(slices.Clone(lines[:len(lines)-cut]), "答案：A")
		doc := &drydock.Document{File: &drydock.File{}, Blocks: func(context.Context) iter.Seq2[drydock.Block, error] {
			return func(yield func(drydock.Block, error) bool) {
				for i, l := range tried {
					if !yield(drydock.Block{Text: l, At: drydock.Locator{Line: i + 1}}, nil) {
						return
					}
				}
			}
		}}
		for rec, err := range question.New(question.Options{MinConfidence: -1}).Parse(context.Background(), doc) {
			if err == nil && len(rec.Question.Options) > 0 {
				q := *rec.Question
				q.Answer, q.Confidence, q.Doubts, q.Kind = nil, 0, nil, ""
				return &q
			}
		}
	}
	return nil
}

// Try says what the item becomes by a fix; the error says why it becomes nothing.
func (it *ReviewItem) Try(f *overlay.Fix) (*drydock.Question, error) {
	if f.Action == overlay.Drop {
		return nil, nil
	}
	q := &drydock.Question{}
	if base := it.Base(); base != nil {
		c := *base
		q = &c
	}
	if err := f.Apply(q); err != nil {
		return nil, err
	}
	return q, nil
}

// SourceFolders lists the files and folders of the project's sources.
func (c *Config) SourceFolders() []string {
	var out []string
	for _, s := range c.Sources {
		for _, p := range s.Path {
			root, _, err := expand(inside(c.Dir, filepath.FromSlash(p)))
			if err == nil && !slices.Contains(out, root) {
				out = append(out, root)
			}
		}
	}
	return append(out, c.Dir)
}
