// Package parity compares what a trainer is fed with what a server receives and
// is to answer, row by row and token by token, before either runs.
package parity

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/parallel"
	"github.com/drydock-ml/drydock/launch/feed"
	"github.com/drydock-ml/drydock/qwen3"

	"github.com/valyala/fastjson"
)

// Options say what is compared.
type Options struct {
	Settings feed.Settings
	// Contract is what rows and loss are to hold; empty: what the settings come
	// to, with reasoning or without.
	Contract emit.Contract
	// NoThinking: the server is told enable_thinking=false.
	NoThinking bool
	// Columns are the names of the rows' fields; zero: the usual shapes.
	Columns Columns
	// System is put before every row that has none, and behind the text of those
	// that have; LLaMA-Factory does so by itself under formatting: openai.
	System string
	// MaxLength is the trainer's limit in tokens; 0: none.
	MaxLength int
	Workers   int // below 1: one a CPU
	// Places is how many places of each finding are kept; 0: 10.
	Places int
	// Prompts is how many conversations are kept for [Report.Prompts].
	Prompts int
}

// chunkBytes is how much of a file is read before it is compared.
const chunkBytes = 4 << 20

// maxUnread is how many unreadable rows are told one by one.
const maxUnread = 20

// Check reads a file of training rows and compares each. The memory it takes
// does not grow with the file. The error is one of reading or ctx's; unreadable
// rows are in the report.
func Check(ctx context.Context, name string, in io.Reader, o Options) (*Report, error) {
	if o.Places == 0 {
		o.Places = 10
	}
	c := &collector{o: o, r: Report{
		File: name, Trainer: o.Settings.Trainer, Version: o.Settings.Version, Contract: string(o.Contract), Settings: o.Settings.Words,
	}}
	c.r.Tokens.Max = o.MaxLength
	for k := range c.findings {
		c.findings[k].kind = kindOf(k, o.Settings.Trainer)
	}
	c.checkers = make([]*checker, parallel.Workers(o.Workers))
	for i := range c.checkers {
		c.checkers[i] = newChecker(o)
	}
	rows := newRowReader(in)
	for done := false; !done; {
		var err error
		if done, err = c.read(rows); err != nil {
			return nil, err
		}
		if err := c.check(ctx); err != nil {
			return nil, err
		}
	}
	return c.finish(), nil
}

// A collector puts the results of rows together, in their order.
type collector struct {
	o        Options
	r        Report
	buf      []byte
	chunk    []pending
	findings [kindCount]Finding
	checkers []*checker
	bytes    int64 // of rows so far
}

// pending is a row that was read, and what came of it.
type pending struct {
	from, to int // in buf
	line     int
	late     bool // behind what types are inferred from
	err      error
	found    found
}

// read fills the chunk; done is set at the end of the file.
func (c *collector) read(rows *rowReader) (done bool, err error) {
	c.buf, c.chunk = c.buf[:0], c.chunk[:0]
	for len(c.buf) < chunkBytes {
		row, line, err := rows.next()
		var bad *fail.Error
		switch {
		case errors.Is(err, io.EOF):
			return true, nil
		case errors.As(err, &bad):
			c.chunk = append(c.chunk, pending{line: line, err: err})
			continue
		case err != nil:
			return false, err
		}
		from := len(c.buf)
		c.buf = append(c.buf, row...)
		c.chunk = append(c.chunk, pending{from: from, to: len(c.buf), line: line, late: c.bytes >= inferredBytes})
		c.bytes += int64(len(row)) + 1
	}
	return false, nil
}

// check compares the rows of the chunk, a share of them on each worker.
func (c *collector) check(ctx context.Context) error {
	const share = 64
	n := (len(c.chunk) + share - 1) / share
	free := make(chan *checker, len(c.checkers))
	for _, k := range c.checkers {
		free <- k
	}
	err := parallel.Each(ctx, len(c.checkers), n, func(_ context.Context, i int) error {
		k := <-free
		defer func() { free <- k }()
		for j := i * share; j < min((i+1)*share, len(c.chunk)); j++ {
			if p := &c.chunk[j]; p.err == nil {
				p.err = k.row(c.buf[p.from:p.to], p)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i := range c.chunk {
		c.add(&c.chunk[i])
	}
	return nil
}

func (c *collector) add(p *pending) {
	if p.err != nil {
		c.r.Unreadable++
		if len(c.r.Unread) < maxUnread {
			for _, e := range fail.All(p.err) {
				c.r.Unread = append(c.r.Unread, e.At(fail.Where{File: c.r.File, Line: p.line, Column: e.Where.Column}))
			}
		}
		return
	}
	f := &p.found
	c.r.Rows++
	if f.matches {
		c.r.Matching++
	}
	if f.uncompared {
		c.r.Uncompared++
	}
	if f.fed {
		c.r.Tokens.count(f.tokens, f.trained, p.line)
	}
	if f.prompt != nil && len(c.r.Prompts) < c.o.Prompts {
		c.r.Prompts = append(c.r.Prompts, Prompt{p.line, f.prompt})
	}
	last := -1
	for _, x := range f.places {
		g := &c.findings[x.kind]
		if x.kind != last {
			g.Rows++
		}
		last = x.kind
		if len(g.Places) < c.o.Places {
			x.Line, x.Row = p.line, f.id
			x.Detail = x.In(msg.En)
			g.Places = append(g.Places, x.Place)
		}
	}
}

func (c *collector) finish() *Report {
	c.r.Tokens.finish()
	c.drift()
	c.r.Findings = []Finding{}
	for _, f := range c.findings {
		if f.Rows > 0 {
			f.ID, f.Severity, f.Text, f.Fix = f.kind.id, f.kind.severity, f.In(msg.En), f.FixIn(msg.En)
			c.r.Findings = append(c.r.Findings, f)
		}
	}
	return &c.r
}

// drift finds the columns whose types do not fit together.
func (c *collector) drift() {
	all := &c.checkers[0].types.root
	for _, k := range c.checkers[1:] {
		all.join(&k.types.root)
	}
	g := &c.findings[typeDrift]
	for _, d := range all.drifts("") {
		g.Rows++
		if len(g.Places) < c.o.Places {
			g.Places = append(g.Places, Place{Line: d.line, Pointer: d.pointer, Detail: d.said.In(msg.En), said: d.said})
		}
	}
}

// found is what one row came to.
type found struct {
	id                       string
	places                   []placed
	fed, matches, uncompared bool
	tokens, trained          int
	prompt                   *qwen3.Conversation
}

type placed struct {
	Place
	kind int
}

func (f *found) add(kind int, pointer string, text msg.Text, args ...any) {
	f.places = append(f.places, placed{Place{Pointer: pointer, said: msg.Phrase{Text: text, Args: args}}, kind})
}

func (f *found) addDiff(kind int, pointer string, d *Diff) {
	f.places = append(f.places, placed{Place{Pointer: pointer, Diff: d}, kind})
}

// A checker compares single rows; it is not safe for concurrent use.
type checker struct {
	o      Options
	parser rowParser
	types  columns
	text   []byte  // of the last prompt, for reuse
	ids    []int32 // of the last row as wanted, for reuse
}

func newChecker(o Options) *checker {
	return &checker{o: o, parser: rowParser{columns: o.Columns, reserved: emit.ReservedColumns(o.Settings.Trainer)}}
}

// row compares one row. The error is of kind partial: the row cannot be read.
func (k *checker) row(data []byte, p *pending) error {
	r, err := k.parser.parse(data)
	if err != nil {
		return err
	}
	if v := k.parser.value; v.Type() == fastjson.TypeObject { // else an array of turns
		k.types.row(v, p.line, p.late)
	}
	out := &p.found
	out.id = r.id
	unloadable(data, k.parser.value, out)
	if r.running == nil {
		r.running = k.pretraining(r)
	}
	if r.running != nil {
		k.run(r.running, out)
	} else if err := k.conversation(r, out); err != nil {
		return err
	}
	slices.SortStableFunc(out.places, func(a, b placed) int { return a.kind - b.kind })
	out.matches = !out.uncompared && (len(out.places) == 0 || out.places[0].kind > sameAnswers)
	return nil
}

// conversation looks at questions and answers.
func (k *checker) conversation(r *row, out *found) error {
	k.lint(r, out)
	if r.foreign || r.tooled {
		lintTools(k.parser.value, out)
	}
	if r.foreign || r.tooled && !rendersTools(k.o.Settings.Trainer) {
		out.uncompared = true
		out.add(toolsInRow, "", msg.Text{})
		return nil
	}
	samples, err := k.samples(r)
	if err != nil {
		for _, e := range fail.All(err) {
			out.add(dropped, "", msg.Text{"%s", "%s"}, e)
		}
		samples = nil
	}
	if samples != nil {
		if err := k.feed(r, &samples[0], out); err != nil {
			return err
		}
	}
	return k.lintPair(r, samples, out)
}

// samples are what the trainer makes of questions and answers: of a preference
// pair the chosen one and the rejected one. The error is why the row is left out.
func (k *checker) samples(r *row) ([]feed.Sample, error) {
	s := &k.o.Settings
	if s.Of != nil {
		s = s.Of(r.layout)
	}
	switch {
	case r.rejected != nil:
		won, lost, err := s.FeedPair(k.fedRow(&r.conv), k.fedRow(&r.rejected.conv))
		return []feed.Sample{won, lost}, err
	case r.rated:
		one, err := s.FeedRated(k.fedRow(&r.conv))
		return []feed.Sample{one}, err
	}
	one, err := s.Feed(k.fedRow(&r.conv))
	return []feed.Sample{one}, err
}

// pretraining takes a row of ms-swift's pretraining for the running text it is: one
// turn of the assistant; nil: it is none.
func (k *checker) pretraining(r *row) *running {
	if m := r.conv.Messages; len(m) == 1 && m[0].Role == "assistant" && k.o.Settings.Trainer == "swift" && !r.foreign && !r.tooled {
		return &running{text: m[0].Content, pointer: r.pointers[0]}
	}
	return nil
}

// feed compares what the trainer makes of a row with what inference does.
func (k *checker) feed(r *row, s *feed.Sample, out *found) error {
	out.fed, out.tokens, out.trained = true, len(s.IDs), s.Trained()
	if k.o.MaxLength > 0 && len(s.IDs) > k.o.MaxLength {
		out.add(tooLong, "", msg.Text{"%d {token|tokens}, the limit is %d", "%d 个 token，上限为 %d"}, len(s.IDs), k.o.MaxLength)
	}
	if k.o.Settings.Trainer == "trl" && k.o.MaxLength > 0 && len(s.IDs) > k.o.MaxLength && !slices.Contains(s.Loss[:k.o.MaxLength], true) {
		out.add(answerCut, "", msg.Text{}) // truncation_mode keep_start
	}
	last := len(r.conv.Messages) - 1
	if r.conv.Messages[last].Role != "assistant" {
		out.add(noAnswer, r.pointers[last], msg.Text{})
		return nil
	}
	w, err := k.wants(&r.conv)
	if err != nil {
		return err
	}
	compare(r, s, w, out)
	if k.o.Prompts > 0 && !r.tooled { // the server is asked with turns alone
		out.prompt = &qwen3.Conversation{Messages: r.conv.Messages[:last]}
	}
	return nil
}

// fedRow is the conversation as the trainer sees it.
func (k *checker) fedRow(c *qwen3.Conversation) *qwen3.Conversation {
	if k.o.System == "" {
		return c
	}
	turns := slices.Clone(c.Messages)
	if len(turns) > 0 && turns[0].Role == "system" && turns[0].Content != "" {
		turns[0].Content += "\n" + k.o.System
		return &qwen3.Conversation{Messages: turns}
	}
	if len(turns) > 0 && turns[0].Role == "system" {
		turns = turns[1:]
	}
	return &qwen3.Conversation{Messages: append([]qwen3.Message{{Role: "system", Content: k.o.System, Text: true}}, turns...)}
}
