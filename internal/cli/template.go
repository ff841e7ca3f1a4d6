package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/ui"
	"github.com/drydock-ml/drydock/qwen3"
)

func newTemplateCommand(a *app) *cobra.Command {
	return a.group("template", msg.Text{"See what the chat template makes of a conversation, and hold training to it.", "查看聊天模板如何渲染对话，并据此检查训练数据。"}, newTemplateRenderCommand(a), newTemplateCheckCommand(a))
}

// TemplateRenderOptions are the flags of template render.
type TemplateRenderOptions struct {
	File             string
	IDs              bool
	GenerationPrompt bool
	EnableThinking   string
	Limit            int
}

func newTemplateRenderCommand(a *app) *cobra.Command {
	var o TemplateRenderOptions
	c := a.command("render", about{
		use: "FILE|-", args: oneArg("FILE"),
		short: msg.Text{"Render conversations as Qwen3-8B's template does.", "按 Qwen3-8B 的模板渲染对话。"},
		long: msg.Text{
			"FILE holds conversations: JSON lines with \"messages\" (and \"tools\"), one such object, or an array of messages. The text is byte for byte what the official template gives, the ids are those of Hugging Face's tokenizer and of vLLM. Special tokens that a user's text spells out are control tokens to every trainer and server: they are named.",
			"FILE 为对话：含 \"messages\"（及 \"tools\"）的 JSONL、单个此类对象，或消息数组。文本与官方模板逐字节相同，id 与 Hugging Face 分词器和 vLLM 相同。用户文本中写出的特殊 token 会被所有训练器与服务端当作控制 token：此处会指出。",
		},
		examples: []example{
			{msg.Text{"what a training row becomes", "训练行渲染后的样子"}, "drydock template render build/train.jsonl --limit 1"},
			{msg.Text{"the ids a server receives for a question", "服务端收到的提问 id"}, "drydock template render ask.json --ids --add-generation-prompt"},
		},
		exits: []int{3},
	}, nil)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		o.File = args[0]
		return runTemplateRender(cmd.Context(), a, o)
	}
	f := a.flags(c.Flags())
	f.bool(&o.IDs, "ids", "", msg.Text{"print token ids, one conversation a line", "输出 token id，每行一个对话"})
	f.bool(&o.GenerationPrompt, "add-generation-prompt", "", msg.Text{"open the assistant's next turn, as a server does", "打开助手的下一轮，与服务端一致"})
	f.str(&o.EnableThinking, "enable-thinking", "", "", msg.Text{"`true|false`, as chat_template_kwargs; false ends that turn's think block", "`true|false`，同 chat_template_kwargs；false 会结束该轮的思考块"})
	f.int(&o.Limit, "limit", "", 0, msg.Text{"render the first `N` conversations only (0: all)", "只渲染前 `N` 个对话（0：全部）"})
	a.complete(c, "enable-thinking", "true", "false")
	return c
}

// rendered is one conversation. Its fields are stable.
type rendered struct {
	Schema   string         `json:"schema"`
	Line     int            `json:"line"` // from 1
	Text     string         `json:"text"`
	IDs      []int32        `json:"ids,omitempty"`
	Tokens   int            `json:"tokens"`
	Specials []specialFound `json:"special_tokens"` // spelled out inside a message
	ids      bool
}

type specialFound struct {
	Pointer string `json:"pointer"` // /messages/0/content
	Token   string `json:"token"`
	At      int    `json:"at"` // byte of the content
}

func (r rendered) text(t *ui.Terminal) {
	if !r.ids {
		_, _ = t.Write([]byte(r.Text)) // ends with a line end, or where a server goes on
		return
	}
	parts := make([]string, len(r.IDs))
	for i, id := range r.IDs {
		parts[i] = fmt.Sprint(id)
	}
	t.Println(strings.Join(parts, " "))
}

func runTemplateRender(ctx context.Context, a *app, o TemplateRenderOptions) error {
	opts := qwen3.RenderOptions{GenerationPrompt: o.GenerationPrompt, NoThinking: o.EnableThinking == "false"}
	if o.EnableThinking != "" && o.EnableThinking != "true" && o.EnableThinking != "false" {
		return oneOf("--enable-thinking", o.EnableThinking, "true", "false")
	}
	in, err := a.open(o.File)
	if err != nil {
		return a.cannotRead(o.File, err)
	}
	defer in.Close()
	var bad fail.List
	n := 0
	for line, row := range conversationRows(in) {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if n++; o.Limit > 0 && n > o.Limit {
			break
		}
		r, err := render(row, line, opts)
		if err != nil {
			for _, e := range fail.All(err) {
				bad = append(bad, fail.New(fail.Partial, msg.Text{"%v", "%v"}, e).At(fail.Where{File: filepath.ToSlash(o.File), Line: line}))
			}
			continue
		}
		for _, s := range r.Specials {
			a.term.Warn(msg.Text{"%s:%d: %s holds %s, which becomes a control token", "%s:%d：%s 含有 %s，会成为控制 token"}, filepath.ToSlash(o.File), line, s.Pointer, s.Token)
		}
		if r.ids = o.IDs; !o.IDs {
			r.IDs = nil
		}
		if err := a.answer(*r); err != nil {
			return err
		}
	}
	if n == 0 {
		return fail.New(fail.Config, msg.Text{"%s: no conversation in it", "%s：其中没有对话"}, filepath.ToSlash(o.File))
	}
	return bad.OrNil()
}

func render(row []byte, line int, o qwen3.RenderOptions) (*rendered, error) {
	var c qwen3.Conversation
	var err error
	if row[0] == '[' {
		err = json.Unmarshal(row, &c.Messages)
	} else {
		err = json.Unmarshal(row, &c)
	}
	if err != nil {
		return nil, fail.New(fail.Config, msg.Text{"not a conversation: %v", "不是对话：%v"}, err)
	}
	text, err := qwen3.Render(nil, &c, o)
	if err != nil {
		return nil, err
	}
	r := &rendered{Schema: "drydock.template.render/1", Line: line, Text: string(text), IDs: qwen3.Encode(nil, string(text)), Specials: []specialFound{}}
	r.Tokens = len(r.IDs)
	for i, m := range c.Messages {
		for at, s := range qwen3.Specials(m.Content) {
			if m.Role == "assistant" && (s == "<think>" || s == "</think>") {
				continue // where an answer's thinking is written
			}
			r.Specials = append(r.Specials, specialFound{fmt.Sprintf("/messages/%d/content", i), s, at})
		}
	}
	return r, nil
}

// conversationRows yields the conversations of a file with their lines: each line
// of JSONL, or, when the first line is no whole value, the one value of the file.
func conversationRows(in io.Reader) func(yield func(int, []byte) bool) {
	return func(yield func(int, []byte) bool) {
		br := bufio.NewReaderSize(in, 1<<16)
		first := true
		for line := 1; ; line++ {
			row, err := br.ReadBytes('\n')
			row = bytes.TrimSpace(bytes.TrimPrefix(row, []byte("\ufeff")))
			if first && len(row) > 0 && !json.Valid(row) {
				rest, _ := io.ReadAll(br)
				yield(line, append(append(row, '\n'), rest...))
				return
			}
			if len(row) > 0 {
				first = false
				if !yield(line, row) {
					return
				}
			}
			if err != nil {
				return
			}
		}
	}
}
