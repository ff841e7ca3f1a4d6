package benchmark

import (
	"maps"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// examples are the answered items that stand before a question.
type examples struct {
	n      int
	format template // of one
	around template // of all
	// bySubject holds the items by their subject; "" those for every other one.
	bySubject map[string][]Item
}

func newExamples(p *Pack) (examples, error) {
	e := examples{n: p.Examples}
	var err error
	switch {
	case p.Examples < 0:
		return e, fail.New(fail.Config, msg.Text{"%s: examples cannot be %d", "%s：examples 不能为 %d"}, p.Name, p.Examples)
	case p.Examples == 0:
		return e, nil
	case p.ExampleFormat == "":
		return e, fail.New(fail.Config, msg.Text{"%s: examples need an example_format", "%s：使用示例需要 example_format"}, p.Name).
			Hint(msg.Text{"for example {question}\\n{choices}\\nANSWER: {answer}", "例如 {question}\\n{choices}\\nANSWER: {answer}"})
	}
	if e.format, err = parseTemplate(p.Name, "example_format", p.ExampleFormat, placeQuestion+placeAnswer, placeChoices); err != nil {
		return e, err
	}
	around := p.ExamplesPrompt
	if around == "" {
		around = "{examples}\n\n"
	}
	e.around, err = parseTemplate(p.Name, "examples_prompt", around, placeExamples, "")
	return e, err
}

// Examples returns how many answered examples the prompt shows.
func (c *Choice) Examples() int { return c.examples.n }

// WithExamples returns the same benchmark with the items its prompt takes its
// examples from. An item is shown the first ones of its own subject, or those
// without a subject where there are none. There must be as many as are shown.
func (c *Choice) WithExamples(items []Item) (*Choice, error) {
	d := *c
	d.examples.bySubject = map[string][]Item{}
	for _, it := range items {
		s := it.Tags["subject"]
		if len(d.examples.bySubject[s]) < d.examples.n {
			d.examples.bySubject[s] = append(d.examples.bySubject[s], it)
		}
	}
	for s, got := range d.examples.bySubject {
		if len(got) < d.examples.n {
			return nil, fail.New(fail.Config, msg.Text{"%s: %d {example|examples} wanted, %d there %s", "%s：需要 %d 个示例，只有 %d 个 %s"}, c.ref.Name, d.examples.n, len(got), s)
		}
	}
	return &d, nil
}

// appendExamples writes the examples an item is shown; nothing when it is none.
func (c *Choice) appendExamples(dst []byte, it *Item) []byte {
	e := &c.examples
	shown, ok := e.bySubject[it.Tags["subject"]]
	if !ok {
		shown = e.bySubject[""]
	}
	if e.n == 0 || len(shown) == 0 {
		return dst
	}
	texts := make([]string, len(shown))
	for i := range shown {
		texts[i] = c.example(&shown[i])
	}
	return e.around.render(dst, func(dst []byte, _ byte) []byte { return append(dst, strings.Join(texts, "\n\n")...) })
}

// example renders one answered item.
func (c *Choice) example(it *Item) string {
	return string(c.examples.format.render(nil, func(dst []byte, place byte) []byte {
		switch place {
		case placeQuestion[0]:
			return append(dst, it.Question.Stem...)
		case placeChoices[0]:
			return c.appendOptions(dst, &it.Question)
		}
		return append(dst, strings.ToUpper(strings.Join(it.Question.Answer, ""))...)
	}))
}

// fingerprint covers what the examples add to prompts; "" when they add nothing.
func (e *examples) fingerprint(c *Choice) string {
	if e.n == 0 {
		return ""
	}
	out := e.around.source + e.format.source
	for _, s := range slices.Sorted(maps.Keys(e.bySubject)) {
		out += "\x00" + s
		for i := range e.bySubject[s] {
			out += "\x00" + c.example(&e.bySubject[s][i])
		}
	}
	return out
}
