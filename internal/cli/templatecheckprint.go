package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/llm"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/ui"
	"github.com/drydock-ml/drydock/launch/parity"
	"github.com/drydock-ml/drydock/qwen3"
)

// templateCheckAnswer is what template check found. Its fields are stable.
type templateCheckAnswer struct {
	Schema         string            `json:"schema"`
	Template       *templateMismatch `json:"template_mismatch,omitempty"`
	EnableThinking bool              `json:"enable_thinking"` // false: what the server is told
	Files          []*parity.Report  `json:"files"`
	Unread         []unreadRow       `json:"unread"`
	Server         *serverCheck      `json:"server,omitempty"`
	unread         fail.List
}

// unreadRow is a row that was not read.
type unreadRow struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Message string `json:"message"`
}

// templateMismatch says that the trainer's template has another name than the
// server's.
type templateMismatch struct {
	Trainer string       `json:"trainer"`
	Server  string       `json:"server"`
	Known   bool         `json:"known"` // the trainer's text is known here, so that tokens are compared
	Diff    *parity.Diff `json:"diff,omitempty"`
	at      fail.Where
}

// add takes a file's report in.
func (c *templateCheckAnswer) add(r *parity.Report, l msg.Lang) {
	c.Files = append(c.Files, r)
	c.unread = append(c.unread, r.Unread...)
	for _, e := range r.Unread {
		c.Unread = append(c.Unread, unreadRow{r.File, e.Where.Line, e.Message(l)})
	}
	for _, f := range r.Findings {
		if c.Template != nil && c.Template.Diff == nil && len(f.Places) > 0 {
			c.Template.Diff = f.Places[0].Diff
		}
	}
}

// verdict is the error the command ends with.
func (c *templateCheckAnswer) verdict() error {
	out := slices.Clone(c.unread)
	rows, matching, wrong, unreadable := 0, 0, 0, 0
	for _, r := range c.Files {
		rows, matching, wrong, unreadable = rows+r.Rows, matching+r.Matching, wrong+r.Errors(), unreadable+r.Unreadable
	}
	if n := unreadable - len(c.unread); n > 0 {
		out = append(out, fail.New(fail.Partial, msg.Text{"%d more {row was|rows were} not read", "另有 %d 行无法读取"}, n))
	}
	if m := c.Template; m != nil {
		e := fail.New(fail.Refused, msg.Text{"the trainer's template is %s, the server's %s", "训练器的模板是 %s，服务端的是 %s"}, m.Trainer, m.Server).At(m.at)
		out = append(out, e.Hint(msg.Text{"write template: qwen3, and serve with the model's own template", "请写 template: qwen3，并以模型自带的模板部署"}))
	}
	if s := c.Server; s != nil && s.Diff != nil {
		out = append(out, fail.New(fail.Refused, msg.Text{"the server makes other tokens of line %d than the template does", "服务端对第 %d 行生成的 token 与模板不同"}, s.Line))
	}
	if wrong > 0 {
		out = append(out, fail.New(fail.Refused, msg.Text{"%d of %d {row|rows} would be trained as they will be asked", "%d / %d 行的训练内容与提问一致"}, matching, rows))
	} else if rows == 0 && unreadable == 0 && c.Template == nil {
		out = append(out, fail.New(fail.Config, msg.Text{"there is no row in it", "其中没有数据"}))
	}
	return out.OrNil()
}

func (c *templateCheckAnswer) text(t *ui.Terminal) {
	if c.Template != nil {
		t.Print(msg.Text{"template    the trainer's %s ≠ the server's %s", "模板    训练器 %s ≠ 服务端 %s"}, c.Template.Trainer, c.Template.Server)
		switch {
		case c.Template.Diff != nil:
			t.Println("  " + diffText(t, c.Template.Diff))
		case !c.Template.Known:
			t.Print(msg.Text{"  its text is not known here: no tokens are compared", "  其文本未知：不比较 token"})
		}
	}
	for _, r := range c.Files {
		c.file(t, r)
	}
	if s := c.Server; s != nil {
		if s.Diff == nil {
			t.Print(msg.Text{"server      %d {prompt has|prompts have} exactly the template's tokens", "服务端    %d 条提示的 token 与模板完全一致"}, s.Asked)
		} else {
			t.Print(msg.Text{"server      other tokens than the template's, line %d", "服务端    第 %d 行的 token 与模板不同"}, s.Line)
			t.Println("  " + diffWords(t, s.Diff, msg.Text{"the server", "服务端"}, msg.Text{"the template", "模板"}))
		}
	}
}

func (c *templateCheckAnswer) file(t *ui.Terminal, r *parity.Report) {
	t.Print(msg.Text{"%s: %d {row|rows}, %d as the endpoint is asked and is to answer", "%s：%d 行，其中 %d 行与端点的提问和应答一致"}, r.File, r.Rows, r.Matching)
	tb := t.Table(ui.Column{}, ui.Column{}).Bare().Wrapped()
	tb.Row(t.Say(msg.Text{"trainer", "训练器"}), r.Trainer+" "+r.Version+": "+msg.List(r.Settings).In(t.Lang()))
	if r.Contract != "" {
		tb.Row(t.Say(msg.Text{"contract", "约定"}), r.Contract)
	}
	tb.Row(t.Say(msg.Text{"server", "服务端"}), "enable_thinking="+strconv.FormatBool(c.EnableThinking))
	tb.Row(t.Say(msg.Text{"tokens", "token"}), t.Say(msg.Text{"%s, %s of them trained; longest %d (line %d)", "%s，其中训练 %s；最长 %d（第 %d 行）"}, grouped(r.Tokens.Total), grouped(r.Tokens.Trained), r.Tokens.Longest, r.Tokens.Line))
	var buckets []string
	for _, b := range r.Tokens.Histogram {
		buckets = append(buckets, fmt.Sprintf("≤%d: %d", b.UpTo, b.Rows))
	}
	tb.Row(t.Say(msg.Text{"lengths", "长度"}), strings.Join(buckets, "  "))
	tb.Print()
	for _, f := range r.Findings {
		printFinding(t, r.File, f)
	}
}

// printFinding shows a finding and its first places.
func printFinding(t *ui.Terminal, file string, f parity.Finding) {
	word := map[parity.Severity]msg.Text{parity.Error: {"error", "错误"}, parity.Warning: {"warning", "警告"}, parity.Note: {"note", "提示"}}[f.Severity]
	t.Println(t.Bold(t.Say(word)+": ") + f.In(t.Lang()))
	for _, p := range f.Places {
		where := fmt.Sprintf("  %s:%d", file, p.Line)
		if p.Row != "" {
			where += " " + ui.Clean(p.Row)
		}
		if p.Pointer != "" {
			where += " " + p.Pointer
		}
		if d := p.In(t.Lang()); d != "" {
			where += ": " + ui.Clean(d)
		}
		t.Prose(where)
		if p.Diff != nil {
			t.Println("    " + diffText(t, p.Diff))
		}
	}
	if fix := f.FixIn(t.Lang()); fix != "" {
		t.Prose(t.Say(msg.Text{"  mend: %s", "  修正：%s"}, fix))
	}
}

// diffText shows the first token that differs between trainer and endpoint.
func diffText(t *ui.Terminal, d *parity.Diff) string {
	return diffWords(t, d, msg.Text{"the trainer", "训练器"}, msg.Text{"the endpoint", "端点"})
}

func diffWords(t *ui.Terminal, d *parity.Diff, fed, wanted msg.Text) string {
	tok := func(k parity.Token) string {
		if k.ID < 0 {
			return t.Say(msg.Text{"the end", "结尾"})
		}
		return fmt.Sprintf("%q (%d)", k.Text, k.ID)
	}
	return t.Say(msg.Text{"token %d: %s has %s, %s %s; before it %q", "第 %d 个 token：%s为 %s，%s为 %s；其前为 %q"}, d.At, fed, tok(d.Fed), wanted, tok(d.Wanted), d.Before)
}

// askedPrompts is how many prompts a live server is asked for.
const askedPrompts = 4

// serverCheck is what a live server made of the first prompts.
type serverCheck struct {
	URL   string       `json:"url"`
	Asked int          `json:"asked"`
	Line  int          `json:"line,omitempty"` // of the first prompt that differs
	Diff  *parity.Diff `json:"diff,omitempty"` // fed: the server's; wanted: the template's
}

// askServer compares vLLM's tokens of the first prompts with the template's.
func (a *app) askServer(ctx context.Context, o TemplateCheckOptions, files []*parity.Report, noThinking bool) (*serverCheck, error) {
	key, err := a.apiKey(o.APIKeyFile)
	if err != nil {
		return nil, err
	}
	client, err := llm.New(llm.Options{BaseURL: o.BaseURL, APIKey: key, HTTP: a.host.HTTP, Clock: a.host.Now})
	if err != nil {
		return nil, err
	}
	s := &serverCheck{URL: client.URL()}
	for _, r := range files {
		for _, p := range r.Prompts {
			q := llm.Request{Model: o.Model}
			for _, m := range p.Conversation.Messages {
				q.Messages = append(q.Messages, drydock.Message{Role: m.Role, Content: m.Content})
			}
			if noThinking {
				q.Extra = []drydock.RawField{{Name: "chat_template_kwargs", Value: []byte(`{"enable_thinking":false}`)}}
			}
			got, err := client.Tokenize(ctx, 30*time.Second, q)
			var refused *llm.Error
			var fatal *fail.Error
			if errors.As(err, &refused) && !errors.As(err, &fatal) {
				return nil, fail.New(fail.Failed, msg.Text{"%s does not tell its tokens: %v", "%s 不提供其 token：%v"}, client.URL(), err).
					Hint(msg.Text{"vLLM does, under /tokenize; or leave --base-url out", "vLLM 在 /tokenize 提供；或去掉 --base-url"})
			}
			if err != nil {
				return nil, err
			}
			s.Asked++
			text, err := qwen3.Render(nil, p.Conversation, qwen3.RenderOptions{GenerationPrompt: true, NoThinking: noThinking})
			if err != nil {
				return nil, err
			}
			if d := parity.Compare(got.Narrow(), qwen3.Encode(nil, string(text))); d != nil {
				s.Line, s.Diff = p.Line, d
				return s, nil
			}
		}
	}
	return s, nil
}

// grouped writes a count as 21,304.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
