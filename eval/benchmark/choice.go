package benchmark

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"iter"
	"strconv"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// maxOptions is how many options can be lettered.
const maxOptions = 26

// A Choice is a benchmark of choice questions, declared by a [Pack]. It
// implements [Benchmark], and renders questions of any source as it asks its own
// ([Choice.PromptText]).
type Choice struct {
	ref        Ref
	info       Info
	template   template
	option     template
	rule       Rule
	other      Rule
	filters    Filters
	maxOptions int
	several    bool
	examples   examples
}

// NewChoice builds the benchmark a checked pack declares.
func NewChoice(p *Pack) (*Choice, error) {
	c := &Choice{
		ref: Ref{Name: p.Name, Revision: p.Revision},
		info: Info{
			Title: p.Title, Dataset: p.Dataset, Description: p.Description, LongDescription: p.LongDescription, Tags: p.Tags,
			Items: p.Items, ItemsSHA256: p.ItemsSHA256, Rule: p.Rule, OtherRule: p.OtherRule,
		},
		maxOptions: cmp.Or(p.MaxOptions, 4), several: p.Answers == "several",
	}
	if !validName(p.Name) {
		return nil, badName(p.Name)
	}
	if c.maxOptions < 2 || c.maxOptions > maxOptions {
		return nil, fail.New(fail.Config, msg.Text{"%s: max_options is %d; it can be 2 to %d", "%s：max_options 为 %d；应为 2 至 %d"}, p.Name, c.maxOptions, maxOptions)
	}
	var err error
	if c.rule, err = c.takeRule(p.Rule); err != nil {
		return nil, err
	}
	if c.other, err = c.takeRule(p.OtherRule); err != nil {
		return nil, err
	}
	c.info.Rule, c.info.OtherRule = c.rule.String(), c.other.String()
	if c.template, err = parseTemplate(p.Name, "prompt", p.Prompt, placeQuestion+placeChoices, placeLetters+placeSubject); err != nil {
		return nil, err
	}
	if c.option, err = parseTemplate(p.Name, "option_format", cmp.Or(p.OptionFormat, "{letter}. {text}"), placeLetter+placeText, ""); err != nil {
		return nil, err
	}
	c.examples, err = newExamples(p)
	return c, err
}

// takeRule finds a rule that fits the benchmark.
func (c *Choice) takeRule(name string) (Rule, error) {
	r, ok := LookupRule(name)
	switch {
	case !ok:
		return r, unknownRule(name)
	case c.several && !r.Several:
		return r, fail.New(fail.Config, msg.Text{"%s: rule %s reads one letter; several answers need one of the answer rules", "%s：规则 %s 只抽取一个字母；多选需使用 answer 类规则"}, c.ref.Name, r)
	}
	return r, nil
}

func unknownRule(name string) error {
	var names []string
	for _, r := range Rules() {
		names = append(names, r.String())
	}
	return fail.New(fail.Config, msg.Text{"no extraction rule %q", "没有抽取规则 %q"}, name).
		Hint(msg.Text{"there are: %s", "可用规则：%s"}, msg.List(names))
}

// Ref implements [Benchmark].
func (c *Choice) Ref() Ref { return c.ref }

// Info implements [Benchmark].
func (c *Choice) Info() Info { return c.info }

// Template returns the prompt with its two places, {question} and {choices}.
func (c *Choice) Template() string { return c.template.source }

// OptionFormat returns how one option is shown, with {letter} and {text}.
func (c *Choice) OptionFormat() string { return c.option.source }

// MaxOptions returns the most options an item can have.
func (c *Choice) MaxOptions() int { return c.maxOptions }

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
	r, err := c.takeRule(name)
	if err != nil {
		return nil, err
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
	return itemsOf(ctx, pack, c.ReadItems)
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
	subject := ""
	if len(q.Subject) > 0 {
		subject = q.Subject[0]
	}
	return string(c.appendPrompt(nil, q, subject)), nil
}

func (c *Choice) appendPrompt(dst []byte, q *drydock.Question, subject string) []byte {
	return c.template.render(dst, func(dst []byte, place byte) []byte {
		switch place {
		case placeQuestion[0]:
			return append(dst, q.Stem...)
		case placeChoices[0]:
			return c.appendOptions(dst, q)
		case placeLetters[0]:
			return appendLetters(dst, len(q.Options))
		}
		return append(dst, subject...)
	})
}

// appendOptions writes one option a line, lettered by position.
func (c *Choice) appendOptions(dst []byte, q *drydock.Question) []byte {
	for i, o := range q.Options {
		if i > 0 {
			dst = append(dst, '\n')
		}
		dst = c.option.render(dst, func(dst []byte, place byte) []byte {
			if place == placeText[0] {
				return append(dst, o.Text...)
			}
			return append(dst, 'A'+byte(i%maxOptions))
		})
	}
	return dst
}

// appendLetters writes "A,B,C".
func appendLetters(dst []byte, n int) []byte {
	for i := range n {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, 'A'+byte(i%maxOptions))
	}
	return dst
}

// Prompt implements [Benchmark].
func (c *Choice) Prompt(it Item) []drydock.Message {
	text := c.appendExamples(nil, &it)
	text = c.appendPrompt(text, &it.Question, it.Tags["subject"])
	return []drydock.Message{{Role: "user", Content: string(text)}}
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
	n := len(it.Question.Options)
	g.Extracted, g.Start, g.End = c.rule.extract(text, n, c.several)
	g.Other, _, _ = c.other.extract(text, n, c.several)
	if g.Other != "" && c.matches(it, g.Other) {
		g.OtherVerdict = Correct
	}
	if g.Extracted == "" {
		return g
	}
	g.Outside = int(g.Extracted[len(g.Extracted)-1]-'A') >= n
	if c.matches(it, g.Extracted) {
		g.Verdict, g.Score = Correct, 1
	}
	return g
}

// matches compares with the key, a letter, or letters in any order.
func (c *Choice) matches(it Item, letters string) bool {
	if len(it.Gold) == 1 {
		return strings.EqualFold(trimPython(it.Gold[0]), letters)
	}
	var key []byte
	for _, g := range it.Gold {
		key = append(key, strings.ToUpper(trimPython(g))...)
	}
	return c.several && len(key) > 0 && inOrder(key) == letters
}

// Fingerprint implements [Benchmark].
func (c *Choice) Fingerprint() string {
	h := sha256.New()
	parts := []string{"choice", c.template.source, c.rule.String()}
	for _, more := range []struct{ name, value, usual string }{
		{"filters", c.filters.String(), ""},
		{"option_format", c.option.source, "{letter}. {text}"},
		{"several", strconv.FormatBool(c.several), "false"},
		{"examples", c.examples.fingerprint(c), ""},
	} {
		if more.value != more.usual {
			parts = append(parts, more.name, more.value)
		}
	}
	for _, s := range parts {
		fmt.Fprintf(h, "%d:%s", len(s), s)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Unprompt reads a question back from the prompt it was rendered to. ok is
// false for a text that is not this benchmark's prompt, and for benchmarks whose
// prompt shows more than question and choices.
func (c *Choice) Unprompt(text string) (q drydock.Question, ok bool) {
	first, second, ok := c.template.unrender(text)
	if !ok {
		return q, false
	}
	stem, options := first, second
	if c.template.places[0] == placeChoices[0] {
		stem, options = second, first
	}
	q = drydock.Question{Kind: drydock.Single, Stem: stem}
	q.Options, ok = c.splitOptions(options)
	return q, ok
}

// splitOptions undoes appendOptions: an option ends where the next letter
// begins a line, so that an option of several lines stays whole.
func (c *Choice) splitOptions(s string) ([]drydock.Option, bool) {
	if c.option.places[0] != placeLetter[0] {
		return nil, false // the text stands before its letter
	}
	tail := c.option.fixed[2]
	begin := func(i int) string {
		return c.option.fixed[0] + string(rune('A'+i)) + c.option.fixed[1]
	}
	var out []drydock.Option
	for i := range maxOptions {
		rest, ok := strings.CutPrefix(s, begin(i))
		if !ok {
			return nil, false
		}
		text, after, more := strings.Cut(rest, tail+"\n"+begin(i+1))
		if !more {
			if text, ok = strings.CutSuffix(text, tail); !ok {
				return nil, false
			}
		}
		out = append(out, drydock.Option{Label: string(rune('A' + i)), Text: text})
		if !more {
			return out, len(out) >= 2
		}
		s = begin(i+1) + after
	}
	return nil, false
}
