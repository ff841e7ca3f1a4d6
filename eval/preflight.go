package eval

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/llm"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/parallel"
)

// probeLimit bounds a question about the server itself.
const probeLimit = 10 * time.Second

// canaries is how many answers must show the same fault before it is taken for
// the server's: one reply may be odd by itself.
const canaries = 4

// Preflight says what is looked at before the first request. Only a server is;
// a run that has nothing left to ask looks at nothing.
type Preflight struct {
	Skip bool // look at nothing
	// Contract is what the checkpoint was trained with: empty-think,
	// empty-think-masked, cot or plain. Empty: not known, so the prompt is only
	// described. It is part of what answers depend on.
	Contract string
	// BaseModel is the name under which the server serves the model the adapter
	// sits on; the adapter must then answer differently. Empty: not compared.
	BaseModel string
}

// CheckStatus is what a check came to.
type CheckStatus string

// The values of [CheckStatus].
const (
	CheckPassed  CheckStatus = "pass"
	CheckWarned  CheckStatus = "warn"
	CheckFailed  CheckStatus = "fail" // the run does not begin
	CheckSkipped CheckStatus = "skip" // the server does not tell
)

// A Check is one thing that was looked at. ID and Traps are stable.
type Check struct {
	ID     string      `json:"id"`
	Traps  []string    `json:"traps,omitempty"` // the silent failures it stands for, as docs/design/043-preflight.md numbers them
	Status CheckStatus `json:"status"`
	Text   string      `json:"text"`          // English
	Fix    string      `json:"fix,omitempty"` // English
	said   msg.Phrase
	fix    msg.Phrase
}

// In says what was found in a language.
func (c Check) In(l msg.Lang) string { return c.said.In(l) }

// FixIn says what to do in a language; empty: nothing is to be done.
func (c Check) FixIn(l msg.Lang) string { return c.fix.In(l) }

// A PreflightReport is all that was looked at.
type PreflightReport struct {
	Status CheckStatus `json:"status"` // the worst of the checks; skip: nothing was looked at
	Checks []Check     `json:"checks"`
	Server Server      `json:"server"`
}

// Server is what a server tells of itself.
type Server struct {
	Version     string   `json:"version,omitempty"`
	Fingerprint string   `json:"fingerprint,omitempty"`
	Root        string   `json:"root,omitempty"`   // where the model was loaded from
	Parent      string   `json:"parent,omitempty"` // the model an adapter sits on
	MaxLen      int      `json:"max_model_len,omitempty"`
	Serves      []string `json:"serves,omitempty"`
	// PromptTokens are the first item's prompt as the server reads it.
	PromptTokens []int  `json:"prompt_tokens,omitempty"`
	PromptEnd    string `json:"prompt_end,omitempty"` // the last of it, as text
}

// A probe is a preflight under way.
type probe struct {
	run    *run
	h      *HTTP
	models []llm.ServedModel
	longN  int // the place of the longest prompt
	tokens llm.Tokens
	long   llm.Tokens
	trials []canary
	report PreflightReport
}

// A canary is one of the first items, asked for real: its answer counts.
type canary struct {
	i   int
	t   trial
	err error
}

func (p *probe) add(id string, s CheckStatus, traps []string, text msg.Text, args ...any) *Check {
	said := msg.Phrase{Text: text, Args: args}
	p.report.Checks = append(p.report.Checks, Check{ID: id, Status: s, Traps: traps, Text: said.In(msg.En), said: said})
	return &p.report.Checks[len(p.report.Checks)-1]
}

func (c *Check) repair(text msg.Text, args ...any) {
	c.fix = msg.Phrase{Text: text, Args: args}
	c.Fix = c.fix.In(msg.En)
}

// probe looks at the server before the items are asked. The first request is
// one of the items, sent as all others are but without the deadline: it warms
// the server up, shows what its answers look like, and counts.
func (r *run) probe(ctx context.Context, todo []int) error {
	h, ok := r.Endpoint.(*HTTP)
	if !ok {
		return nil
	}
	p := &probe{run: r, h: h}
	r.checks = &p.report
	p.report.Status, p.report.Checks = CheckSkipped, []Check{}
	if r.Preflight.Skip {
		return r.log.note(&p.report)
	}
	if err := p.look(ctx); err != nil {
		return err
	}
	if err := p.ask(ctx, todo); err != nil {
		return err
	}
	p.judge()
	if err := p.baseline(ctx); err != nil {
		return err
	}
	p.report.Status = CheckPassed
	var failed *Check
	for i := range p.report.Checks {
		c := &p.report.Checks[i]
		switch {
		case c.Status == CheckFailed:
			p.report.Status = CheckFailed
			if failed == nil {
				failed = c
			}
		case c.Status == CheckWarned && p.report.Status == CheckPassed:
			p.report.Status = CheckWarned
		}
		if c.Status == CheckWarned {
			r.warned(c)
		}
	}
	if err := r.log.note(&p.report); err != nil {
		return err
	}
	if failed != nil {
		return failed.refuse()
	}
	for _, c := range p.trials {
		if err := r.record(c.i, c.t, c.err); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) warned(c *Check) {
	if c.Fix == "" {
		r.warn("preflight_"+c.ID, msg.Text{"preflight, %s: %s", "预检 %s：%s"}, c.ID, c)
		return
	}
	r.warn("preflight_"+c.ID, msg.Text{"preflight, %s: %s; %s", "预检 %s：%s；%s"}, c.ID, c, c.fix)
}

// refuse is the error of a check that failed.
func (c *Check) refuse() error {
	e := fail.New(fail.Refused, msg.Text{"preflight, %s: %s", "预检 %s：%s"}, c.ID, *c)
	if c.Fix != "" {
		e = e.Hint(msg.Text{"%s", "%s"}, c.fix)
	}
	return askAnyway(e)
}

// askAnyway says how to go on all the same: some servers take names they do not
// list.
func askAnyway(e *fail.Error) *fail.Error {
	return e.Hint(msg.Text{"--no-preflight asks all the same", "--no-preflight 可强制提问"})
}

// look asks the server about itself.
func (p *probe) look(ctx context.Context) error {
	r := p.run
	var models, version, tokens error
	for i := range r.results {
		if len(r.results[i].input) > len(r.results[p.longN].input) {
			p.longN = i
		}
	}
	questions := []func(context.Context) error{
		func(ctx context.Context) error {
			p.models, models = p.h.client.Models(ctx, probeLimit)
			return nil
		},
		func(ctx context.Context) error {
			p.report.Server.Version, version = p.h.client.Version(ctx, probeLimit)
			return nil
		},
	}
	if err := parallel.Each(ctx, len(questions), len(questions), func(ctx context.Context, i int) error { return questions[i](ctx) }); err != nil {
		return err
	}
	if version == nil { // vLLM, or something that does as it does
		p.tokens, tokens = p.h.client.Tokenize(ctx, probeLimit, p.h.request(r.results[0].messages))
		if tokens == nil {
			p.long, tokens = p.h.client.Tokenize(ctx, probeLimit, p.h.request(r.results[p.longN].messages))
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := p.lists(models); err != nil {
		return err
	}
	p.versions(version)
	p.prompt(tokens)
	p.exact()
	p.lengths()
	p.effective(ctx)
	return nil
}

// lists reads /v1/models: the server is there, takes the key, and serves the
// model.
func (p *probe) lists(err error) error {
	var fatal *fail.Error
	var e *llm.Error
	switch {
	case errors.As(err, &fatal):
		return err // no server, or no entry
	case errors.As(err, &e) && (e.Status == 404 || e.Status == 405):
		p.add("alive", CheckSkipped, nil, msg.Text{"the server does not list its models", "服务端不提供模型列表"})
		return nil
	case err != nil:
		p.add("alive", CheckWarned, nil, msg.Text{"the server does not list its models: %v", "服务端未列出模型：%v"}, err)
		return nil
	}
	p.add("alive", CheckPassed, nil, msg.Text{"the server answers", "服务端有响应"})
	for _, m := range p.models {
		p.report.Server.Serves = append(p.report.Server.Serves, m.ID)
		if m.ID == p.run.Model {
			p.report.Server.Root, p.report.Server.Parent, p.report.Server.MaxLen = m.Root, m.Parent, m.MaxLen
		}
	}
	if len(p.models) == 0 {
		p.add("model", CheckSkipped, nil, msg.Text{"the server's list of models is empty", "服务端的模型列表为空"})
		return nil
	}
	if !listed(p.models, p.run.Model) {
		return askAnyway(notListed(p.h, p.run.Model, p.models))
	}
	if p.report.Server.Parent != "" {
		p.add("model", CheckPassed, nil, msg.Text{"%s is served, an adapter on %s", "已部署 %s，是 %s 上的适配器"}, p.run.Model, p.report.Server.Parent)
	} else {
		p.add("model", CheckPassed, nil, msg.Text{"%s is served", "已部署 %s"}, p.run.Model)
	}
	return nil
}

// ask sends the first items: one, and, when its answer looks wrong, as many more
// as it takes to tell the server from the item.
func (p *probe) ask(ctx context.Context, todo []int) error {
	r := p.run
	warm := *p.h
	warm.client = p.h.client.Patient()
	for _, i := range todo[:min(canaries, len(todo))] {
		start := r.now()
		c := canary{i: i}
		r.mu.Lock()
		r.traffic.Requests++
		r.mu.Unlock()
		c.t.Answer, c.err = warm.Ask(ctx, r.results[i].messages)
		c.t.took = r.now().Sub(start)
		if c.err != nil && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var fatal *fail.Error
		if errors.As(c.err, &fatal) && !r.goesOn(c.err) {
			return r.why(fatal)
		}
		p.trials = append(p.trials, c)
		if c.err == nil && !c.t.NoContent && strings.TrimSpace(c.t.Reply.Text) != "" && p.constrained(c.t.Reply.Text) {
			return nil
		}
	}
	return nil
}
