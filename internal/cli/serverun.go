package cli

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/llm"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/ui"
	"github.com/drydock-ml/drydock/launch"
	"github.com/drydock-ml/drydock/launch/checkpoint"
	"github.com/drydock-ml/drydock/launch/vllm"
)

// servePlan says what would be started.
type servePlan struct {
	Type   string `json:"type"`
	Schema string `json:"schema"`
	DryRun bool   `json:"dry_run"`
	*vllm.Plan
	Contract string   `json:"contract"`
	Notes    []string `json:"notes"`
}

func newServePlan(o ServeOptions, p *vllm.Plan, l msg.Lang) servePlan {
	s := servePlan{Type: "summary", Schema: "drydock.serve.plan/1", DryRun: true, Plan: p, Contract: o.Contract, Notes: []string{}}
	for _, n := range p.Notes {
		s.Notes = append(s.Notes, n.In(l))
	}
	return s
}

func (s servePlan) text(t *ui.Terminal) {
	tb := t.Table(ui.Column{}, ui.Column{}).Bare().Wrapped()
	row := func(name msg.Text, value string) {
		if value != "" {
			tb.Row(t.Say(name), value)
		}
	}
	row(msg.Text{"vLLM", "vLLM"}, s.Version)
	row(msg.Text{"contract", "约定"}, s.Contract)
	row(msg.Text{"command", "命令"}, launch.Shell(s.Argv))
	row(msg.Text{"reads env", "读取变量"}, strings.Join(s.Env, " "))
	row(msg.Text{"sets env", "设置变量"}, strings.Join(s.Set, " "))
	row(msg.Text{"answers at", "服务地址"}, s.BaseURL)
	for _, d := range s.Adapters {
		row(msg.Text{"loads", "载入"}, d.Name+" = "+d.Dir)
	}
	for _, n := range s.Notes {
		row(msg.Text{"note", "注意"}, n)
	}
	tb.Print()
	for _, f := range s.Files {
		t.Print(msg.Text{"writes %s", "写入 %s"}, f.Name)
		for line := range strings.Lines(f.Content) {
			t.Println("    " + strings.TrimRight(line, "\n"))
		}
	}
}

// serveEvent is one thing that happened to a server, for programs.
type serveEvent struct {
	Type   string    `json:"type"`
	Schema string    `json:"schema"`
	Event  string    `json:"event"` // start, phase, fatal, check, adapter or ready
	Text   string    `json:"text,omitempty"`
	ID     string    `json:"id,omitempty"`
	Fix    string    `json:"fix,omitempty"`
	Line   string    `json:"line,omitempty"`
	Check  *checkRow `json:"check,omitempty"`
	URL    string    `json:"base_url,omitempty"`
	Name   string    `json:"name,omitempty"`
}

// checkRow is a check of a running server in the reader's language.
type checkRow struct {
	ID     string   `json:"id"`
	Status string   `json:"status"`
	Traps  []string `json:"traps,omitempty"`
	Text   string   `json:"text"`
	Fix    string   `json:"fix,omitempty"`
}

func newCheckRow(c vllm.Check, l msg.Lang) checkRow {
	return checkRow{c.ID, string(c.Status), c.Traps, c.In(l), c.FixIn(l)}
}

// serveSummary is the last line of serve.
type serveSummary struct {
	Type     string         `json:"type"`
	Schema   string         `json:"schema"`
	Ready    bool           `json:"ready"`
	PID      int            `json:"pid"`
	Version  string         `json:"version"`
	Name     string         `json:"name"`
	BaseURL  string         `json:"base_url"`
	Adapters []vllm.Adapter `json:"adapters"` // that were loaded
	Checks   []checkRow     `json:"checks"`
	ExitCode int            `json:"exit_code"`
	Fatal    string         `json:"fatal,omitempty"`
	Log      string         `json:"log"`
}

// A serving is a server being started, looked at and followed.
type serving struct {
	a       *app
	o       ServeOptions
	plan    *vllm.Plan
	client  *llm.Client
	summary serveSummary
	start   time.Time
}

// serve carries a plan out and follows the server until it is stopped.
func (a *app) serve(ctx context.Context, o ServeOptions, plan *vllm.Plan, wait time.Duration) error {
	client, err := a.serveClient(plan.BaseURL, "")
	if err != nil {
		return err
	}
	name := filepath.Join(".drydock", "serve", "vllm-"+strconv.Itoa(o.Port)+".log")
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	log, err := os.Create(name)
	if err != nil {
		return err
	}
	defer log.Close()
	s := &serving{a: a, o: o, plan: plan, client: client, start: a.host.Now(), summary: serveSummary{
		Type: "summary", Schema: "drydock.serve/1", Version: plan.Version, Name: plan.Name, BaseURL: plan.BaseURL,
		Adapters: []vllm.Adapter{}, Checks: []checkRow{}, Log: filepath.ToSlash(name),
	}}
	for _, n := range plan.Notes {
		a.term.Note(msg.Text{"%s", "%s"}, n)
	}
	s.tell(serveEvent{Event: "start", Name: plan.Name, URL: plan.BaseURL, Text: launch.Shell(plan.Argv)})
	a.term.Note(msg.Text{"starting vLLM %s, which may take minutes; its log: %s", "正在启动 vLLM %s，可能需要数分钟；日志：%s"}, plan.Version, name)
	r, err := vllm.Run(ctx, plan, vllm.RunOptions{
		Environ: a.environ(), Client: client, Log: log, Wait: wait, OnPhase: s.phase, OnFatal: s.fatal, Ready: s.ready, OnLine: s.line,
		Memory: func(ctx context.Context) []int { return vllm.GPUMemory(ctx, a.host.Trainers) },
	})
	return s.end(r, err)
}

// environ is the environment of started programs.
func (a *app) environ() []string {
	if a.host.Environ == nil {
		return nil
	}
	return a.host.Environ()
}

// serveClient asks a server that is started or runs. vLLM's own key is used
// where drydock has none.
func (a *app) serveClient(baseURL, keyFile string) (*llm.Client, error) {
	key, err := a.apiKey(keyFile)
	if err != nil {
		return nil, err
	}
	return llm.New(llm.Options{
		BaseURL: baseURL, APIKey: cmp.Or(key, a.host.Getenv("VLLM_API_KEY")), HTTP: a.host.HTTP, Clock: a.host.Now,
	})
}

// tell writes an event for programs.
func (s *serving) tell(e serveEvent) {
	if s.a.term.JSON() {
		e.Type, e.Schema = "item", "drydock.serve.event/1"
		_ = s.a.term.Value(e) // a reader that went away does not stop the server
	}
}

func (s *serving) line(text string) { s.a.term.Detail(msg.Text{"%s", "%s"}, text) }

func (s *serving) phase(says msg.Localizer) {
	s.a.term.Note(msg.Text{"%s: %s", "%s：%s"}, s.a.term.Duration(s.a.host.Now().Sub(s.start)), says)
	s.tell(serveEvent{Event: "phase", Text: says.In(s.a.lang)})
}

func (s *serving) fatal(f vllm.Fatal) {
	s.summary.Fatal = f.ID
	e := serveEvent{Event: "fatal", ID: f.ID, Text: f.What.In(s.a.lang), Line: f.Line}
	if f.Fix != nil {
		e.Fix = f.Fix.In(s.a.lang)
	}
	s.tell(e)
	s.a.term.Warn(msg.Text{"the server is ending: %s", "服务即将退出：%s"}, f.What)
}

// ready looks at the server, loads the adapters and compares them with the base.
func (s *serving) ready(ctx context.Context) error {
	t := s.a.term
	t.Note(msg.Text{"ready after %s; looking at what it is", "%s 后就绪；正在检查"}, t.Duration(s.a.host.Now().Sub(s.start)))
	checks, err := s.plan.Look(ctx, s.client)
	for _, c := range checks {
		if err := s.took(c); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	for _, d := range s.plan.Adapters {
		if err := checkpoint.Load(ctx, s.client, d.Name, d.Dir); err != nil {
			return err
		}
		s.summary.Adapters = append(s.summary.Adapters, d)
		s.tell(serveEvent{Event: "adapter", Name: d.Name})
		c, err := s.plan.Canary(ctx, s.client, d.Name)
		if err != nil {
			return err
		}
		if err := s.took(c); err != nil {
			return err
		}
	}
	s.summary.Ready = true
	s.tell(serveEvent{Event: "ready", Name: s.plan.Name, URL: s.plan.BaseURL})
	if !t.JSON() {
		s.announce()
	}
	return nil
}

// announce says where the server is and how it is asked.
func (s *serving) announce() {
	t, names := s.a.term, []string{s.plan.Name}
	for _, d := range s.plan.Adapters {
		names = append(names, d.Name)
	}
	t.Print(msg.Text{"%s serves %s", "%s 已部署 %s"}, s.plan.BaseURL, msg.List(names))
	t.Next("drydock eval --model " + names[len(names)-1] + " --base-url " + s.plan.BaseURL + " --contract " + s.o.Contract)
	if !s.o.NoLoRA {
		t.Next("drydock serve load DIR --base-url " + s.plan.BaseURL)
	}
	t.Note(msg.Text{"^C stops it", "按 ^C 停止"})
}

// took keeps a check, and refuses what fails unless it is allowed.
func (s *serving) took(c vllm.Check) error {
	row := newCheckRow(c, s.a.lang)
	s.summary.Checks = append(s.summary.Checks, row)
	s.tell(serveEvent{Event: "check", Check: &row})
	switch c.Status {
	case vllm.Failed:
		if !s.o.AllowMismatch {
			return c.Err().Hint(msg.Text{"--allow-template-mismatch keeps the server all the same", "--allow-template-mismatch 可强制保留服务"})
		}
		s.a.term.Warn(msg.Text{"%s: %s", "%s：%s"}, c.ID, c)
	case vllm.Warned:
		s.a.term.Warn(msg.Text{"%s: %s", "%s：%s"}, c.ID, c)
	case vllm.Passed, vllm.Skipped:
		s.a.term.Note(msg.Text{"%s: %s", "%s：%s"}, c.ID, c)
	}
	return nil
}

// end says how the server ended.
func (s *serving) end(r *vllm.Result, err error) error {
	t := s.a.term
	s.summary.PID = r.PID
	if r.PID != 0 {
		s.summary.ExitCode = r.Ended.Code
		if t.JSON() {
			if verr := t.Value(s.summary); err == nil {
				err = verr
			}
		}
	}
	if r.Held > 0 {
		t.Warn(msg.Text{"%d MiB more GPU memory are used than before the start, though all processes of the server are gone", "服务的进程均已退出，但显存占用仍比启动前多 %d MiB"}, r.Held)
	}
	if err == nil {
		t.Note(msg.Text{"the server and everything it started have ended", "服务及其启动的一切均已结束"})
	}
	var e *fail.Error
	if errors.As(err, &e) && e.Kind == fail.Trainer {
		return e.Hint(msg.Text{"the whole log: %s", "完整日志：%s"}, s.summary.Log)
	}
	return err
}
