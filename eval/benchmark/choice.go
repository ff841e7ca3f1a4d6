package benchmark

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"iter"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// maxOptions is how many options can be lettered.
const maxOptions = 26

// A Choice is a benchmark of single-choice questions, declared by a [Pack]. It
// implements [Benchmark], and renders questions of any source as it asks its own
// ([Choice.PromptText]).
type Choice struct {
	ref      Ref
	info     Info
	template string
	rule     Rule
	other    Rule
	filters  Filters
	// the template cut at its two places, so that rendering is one append and
	// braces inside questions mean nothing
	before, between, after string
	choicesFirst           bool
}

// NewChoice builds the benchmark a checked pack declares.
func NewChoice(p *Pack) (*Choice, error) {
	c := &Choice{
		ref:      Ref{Name: p.Name, Revision: p.Revision},
		template: p.Prompt,
		info: Info{
			Title: p.Title, Dataset: p.Dataset, Description: p.Description, LongDescription: p.LongDescription, Tags: p.Tags,
			Items: p.Items, ItemsSHA256: p.ItemsSHA256, Rule: p.Rule, OtherRule: p.OtherRule,
		},
	}
	if !validName(p.Name) {
		return nil, fail.New(fail.Config, msg.Text{"%q cannot be a benchmark's name", "%q 不能作为评测集名称"}, p.Name).
			Hint(msg.Text{"letters, digits, _, - and . make a name", "名称由字母、数字、_、- 和 . 组成"})
	}
	var ok bool
	if c.rule, ok = LookupRule(p.Rule); !ok {
		return nil, unknownRule(p.Rule)
	}
	if c.other, ok = LookupRule(p.OtherRule); !ok {
		return nil, unknownRule(p.OtherRule)
	}
	c.info.Rule, c.info.OtherRule = c.rule.String(), c.other.String()
	if err := c.cut(); err != nil {
		return nil, err
	}
	return c, nil
}

func unknownRule(name string) error {
	var names []string
	for _, r := range Rules() {
		names = append(names, r.String())
	}
	return fail.New(fail.Config, msg.Text{"no extraction rule %q", "没有抽取规则 %q"}, name).
		Hint(msg.Text{"there are: %s", "可用规则：%s"}, strings.Join(names, ", "))
}

func (c *Choice) cut() error {
	const q, o = "{question}", "{choices}"
	if strings.Count(c.template, q) != 1 || strings.Count(c.template, o) != 1 {
		return fail.New(fail.Config, msg.Text{"the prompt of %s must hold %s and %s exactly once", "%s 的提示模板必须各含一个 %s 和 %s"}, c.ref.Name, q, o)
	}
	i, j := strings.Index(c.template, q), strings.Index(c.template, o)
	c.choicesFirst = j < i
	if c.choicesFirst {
		c.before, c.between, c.after = c.template[:j], c.template[j+len(o):i], c.template[i+len(q):]
		return nil
	}
	c.before, c.between, c.after = c.template[:i], c.template[i+len(q):j], c.template[j+len(o):]
	return nil
}

// Ref implements [Benchmark].
func (c *Choice) Ref() Ref { return c.ref }

// Info implements [Benchmark].
func (c *Choice) Info() Info { return c.info }

// Template returns the prompt with its two places, {question} and {choices}.
func (c *Choice) Template() string { return c.template }

// TemplateOf returns the prompt of a benchmark with its two places; "" when it has
// no such prompt.
func TemplateOf(b Benchmark) string {
	if c, ok := b.(*Choice); ok {
		return c.Template()
	}
	return ""
}

// Rule returns the rule replies are graded by.
func (c *Choice) Rule() Rule { return c.rule }

// WithRule returns the same benchmark graded by another rule; the rule it had
// becomes the other one.
func (c *Choice) WithRule(name string) (*Choice, error) {
	r, ok := LookupRule(name)
	if !ok {
		return nil, unknownRule(name)
	}
	d := *c
	if r.String() != c.rule.String() {
		d.rule, d.other = r, c.rule
		d.info.Rule, d.info.OtherRule = d.rule.String(), d.other.String()
	}
	return &d, nil
}

// WithFilters returns the same benchmark with filters before its rule.
func (c *Choice) WithFilters(f Filters) *Choice {
	d := *c
	d.filters = f
	return &d
}

// FiltersOf returns the filters a benchmark applies before its rule.
func FiltersOf(b Benchmark) Filters {
	if c, ok := b.(*Choice); ok {
		return c.filters
	}
	return nil
}

// Items implements [Benchmark].
func (c *Choice) Items(ctx context.Context, pack fs.FS) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		name, data, err := readItemFile(pack)
		if err != nil {
			yield(Item{}, err)
			return
		}
		items, err := ReadItems(name, data)
		if err != nil {
			yield(Item{}, err)
			return
		}
		for _, it := range items {
			if err := ctx.Err(); err != nil {
				yield(Item{}, context.Cause(ctx))
				return
			}
			if !yield(it, nil) {
				return
			}
		}
	}
}

// PromptText renders a question as the benchmark's prompt, so that training rows
// carry the text the model will be asked with. It letters the options by
// position, and fails when there are fewer than two or more than letters.
func (c *Choice) PromptText(q *drydock.Question) (string, error) {
	switch n := len(q.Options); {
	case n < 2:
		return "", fmt.Errorf("a choice prompt needs two options or more, the question has %d", n)
	case n > maxOptions:
		return "", fmt.Errorf("a choice prompt letters up to %d options, the question has %d", maxOptions, n)
	}
	return string(c.appendPrompt(nil, q)), nil
}

func (c *Choice) appendPrompt(dst []byte, q *drydock.Question) []byte {
	dst = append(dst, c.before...)
	if c.choicesFirst {
		dst = appendOptions(dst, q)
		dst = append(dst, c.between...)
		dst = append(dst, q.Stem...)
	} else {
		dst = append(dst, q.Stem...)
		dst = append(dst, c.between...)
		dst = appendOptions(dst, q)
	}
	return append(dst, c.after...)
}

// appendOptions writes "A. text" lines, lettered by position.
func appendOptions(dst []byte, q *drydock.Question) []byte {
	for i, o := range q.Options {
		if i > 0 {
			dst = append(dst, '\n')
		}
		dst = append(dst, 'A'+byte(i%maxOptions), '.', ' ')
		dst = append(dst, o.Text...)
	}
	return dst
}

// Prompt implements [Benchmark].
func (c *Choice) Prompt(it Item) []drydock.Message {
	return []drydock.Message{{Role: "user", Content: string(c.appendPrompt(nil, &it.Question))}}
}

// Grade implements [Benchmark]. The letter is compared with the key as
// EvalScope does: white space and case aside.
func (c *Choice) Grade(it Item, r Reply) Grade {
	g := Grade{Verdict: Wrong, OtherVerdict: Wrong, Rule: c.info.Rule, OtherRule: c.info.OtherRule}
	if r.Choice != "" {
		g.Rule, g.OtherRule = RuleLogprob, RuleLogprob
		g.Extracted, g.Other = r.Choice, r.Choice
		g.Outside = int(r.Choice[0]-'A') >= len(it.Question.Options)
		if c.matches(it, r.Choice) {
			g.Verdict, g.OtherVerdict, g.Score = Correct, Correct, 1
		}
		return g
	}
	text := c.filters.Apply(r.Text)
	g.Extracted, g.Start, g.End = c.rule.Extract(text)
	g.Other, _, _ = c.other.Extract(text)
	if g.Other != "" && c.matches(it, g.Other) {
		g.OtherVerdict = Correct
	}
	if g.Extracted == "" {
		return g
	}
	g.Outside = int(g.Extracted[0]-'A') >= len(it.Question.Options)
	if c.matches(it, g.Extracted) {
		g.Verdict, g.Score = Correct, 1
	}
	return g
}

func (c *Choice) matches(it Item, letter string) bool {
	return len(it.Gold) == 1 && strings.EqualFold(trimPython(it.Gold[0]), letter)
}

// Fingerprint implements [Benchmark].
func (c *Choice) Fingerprint() string {
	h := sha256.New()
	parts := []string{"choice", c.template, c.rule.String()}
	if len(c.filters) > 0 {
		parts = append(parts, c.filters.String())
	}
	for _, s := range parts {
		fmt.Fprintf(h, "%d:%s", len(s), s)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Unprompt reads a question back from the prompt it was rendered to. ok is
// false for a text that is not this benchmark's prompt.
func (c *Choice) Unprompt(text string) (q drydock.Question, ok bool) {
	text, ok = strings.CutPrefix(text, c.before)
	if !ok {
		return q, false
	}
	if text, ok = strings.CutSuffix(text, c.after); !ok {
		return q, false
	}
	i := strings.LastIndex(text, c.between)
	if i < 0 {
		return q, false
	}
	stem, options := text[:i], text[i+len(c.between):]
	if c.choicesFirst {
		stem, options = options, stem
	}
	q = drydock.Question{Kind: drydock.Single, Stem: stem}
	q.Options, ok = splitOptions(options)
	return q, ok
}

// splitOptions undoes appendOptions: an option ends where the next letter
// begins a line, so that an option of several lines stays whole.
func splitOptions(s string) ([]drydock.Option, bool) {
	var out []drydock.Option
	for i := range maxOptions {
		label := string(rune('A' + i))
		rest, ok := strings.CutPrefix(s, label+". ")
		if !ok {
			return nil, false
		}
		text, after, more := strings.Cut(rest, "\n"+string(rune('A'+i+1))+". ")
		out = append(out, drydock.Option{Label: label, Text: text})
		if !more {
			return out, len(out) >= 2
		}
		s = string(rune('A'+i+1)) + ". " + after
	}
	return nil, false
}
