package launch

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/launch/feed"
	"github.com/drydock-ml/drydock/launch/parity"
)

// Derived is a file that is made of the training file before the program starts,
// row by row and in order, for a trainer that takes the rows in another layout.
type Derived struct {
	Name string `json:"name"` // from the plan's folder
	From string `json:"from"` // the training file, from the plan's folder
	// Layout is prompt_completion: {"prompt": [...], "completion": [the last turn]},
	// or segments: {"segments": [{"label": false, "text": ...}, {"label": true, ...}]},
	// the rendered text, parted in front of the last answer.
	Layout string `json:"layout"`
	// NoThinking has every row say "chat_template_kwargs": {"enable_thinking": false}.
	NoThinking bool `json:"no_thinking"`
}

// In says what is made of what.
func (d Derived) In(l msg.Lang) string {
	text := msg.Text{"%s of %s: prompt and completion", "%s（取自 %s）：prompt 与 completion"}
	switch {
	case d.Layout == layoutSegments:
		text = msg.Text{
			"%s of %s: segments of rendered text, the loss on the last answer with its think block",
			"%s（取自 %s）：渲染后的文本分段，损失计在最后一个回答及其思考块上",
		}
	case d.NoThinking:
		text = msg.Text{
			`%s of %s: prompt and completion, "chat_template_kwargs": {"enable_thinking": false} in each row`,
			`%s（取自 %s）：prompt 与 completion，每行带 "chat_template_kwargs": {"enable_thinking": false}`,
		}
	}
	return text.Format(l, d.Name, d.From)
}

// derive makes the derived files of a plan in its folder.
func derive(dir string, p Plan) error {
	for _, d := range p.Derived {
		from := filepath.FromSlash(d.From)
		if !filepath.IsAbs(from) {
			from = filepath.Join(dir, from)
		}
		if loader(from) != "json" {
			return fail.New(fail.Refused, msg.Text{"%s takes rows in a layout of its own, which are made of JSONL only, not of %s", "%s 需要自己格式的数据行，只能由 JSONL 生成，不能由 %s 生成"}, p.Trainer, d.From)
		}
		in, err := os.Open(from)
		if err != nil {
			return err
		}
		err = atomicfile.Write(filepath.Join(dir, filepath.FromSlash(d.Name)), func(w io.Writer) error { return d.Write(w, in) })
		if err = errors.Join(err, in.Close()); err != nil {
			return err
		}
	}
	return nil
}

// Write reads rows of chat from r and writes the derived ones to w. The error
// names the row that has no answer at its end.
func (d Derived) Write(w io.Writer, r io.Reader) error {
	in, out := bufio.NewReaderSize(r, 1<<20), bufio.NewWriterSize(w, 1<<20)
	for line := 1; ; line++ {
		row, err := in.ReadBytes('\n')
		if len(bytes.TrimSpace(row)) > 0 {
			b, bad := d.row(bytes.TrimSpace(bytes.TrimPrefix(row, []byte("\ufeff"))))
			if bad != nil {
				return fail.New(fail.Refused, msg.Text{"row %d: %v", "第 %d 行：%v"}, line, bad).At(fail.Where{File: d.From, Line: line})
			}
			if _, err := out.Write(b); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return out.Flush()
		}
		if err != nil {
			return err
		}
	}
}

func (d Derived) row(row []byte) ([]byte, error) {
	if d.Layout == layoutSegments {
		return segmented(row)
	}
	return d.promptCompletion(row)
}

// segmented renders a row; one of segments is what is wanted already.
func segmented(row []byte) ([]byte, error) {
	var in struct{ Segments json.RawMessage }
	if err := json.Unmarshal(row, &in); err != nil {
		return nil, err
	}
	if in.Segments != nil {
		return append(row, '\n'), nil
	}
	c, err := parity.Conversation(row)
	if err != nil {
		return nil, err
	}
	given, trained, err := feed.Segments(c)
	if err != nil {
		return nil, err
	}
	b := drydock.AppendJSONString([]byte(`{"segments":[{"label":false,"text":`), given)
	b = drydock.AppendJSONString(append(b, `},{"label":true,"text":`...), trained)
	return append(b, "}]}\n"...), nil
}

// promptCompletion splits the last turn off. Turns are copied as they are written;
// a row of prompt and completion is what is wanted already.
func (d Derived) promptCompletion(row []byte) ([]byte, error) {
	var in struct {
		Messages   []json.RawMessage `json:"messages"`
		Tools      json.RawMessage   `json:"tools"`
		Prompt     json.RawMessage   `json:"prompt"`
		Completion json.RawMessage   `json:"completion"`
	}
	if err := json.Unmarshal(row, &in); err != nil {
		return nil, err
	}
	if in.Messages == nil && in.Prompt != nil && in.Completion != nil {
		return append(row, '\n'), nil
	}
	last := len(in.Messages) - 1
	var turn struct {
		Role string `json:"role"`
	}
	if last >= 1 {
		if err := json.Unmarshal(in.Messages[last], &turn); err != nil {
			return nil, err
		}
	}
	if turn.Role != "assistant" {
		return nil, fail.New(fail.Refused, msg.Text{"messages does not end with an answer to a question", "messages 未以对问题的回答结尾"})
	}
	b := []byte(`{"prompt":[`)
	for i, m := range in.Messages[:last] {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, m...)
	}
	b = append(append(append(b, `],"completion":[`...), in.Messages[last]...), ']')
	if in.Tools != nil {
		b = append(append(b, `,"tools":`...), in.Tools...)
	}
	if d.NoThinking {
		b = append(b, `,"chat_template_kwargs":{"enable_thinking":false}`...)
	}
	return append(b, '}', '\n'), nil
}

// Layouts of derived files.
const (
	layoutPromptCompletion = "prompt_completion"
	layoutSegments         = "segments"
)

// derivedRows is the name of a derived file.
const derivedRows = "rows.jsonl"

// loader is the builder of the datasets library that reads a file, by its ending.
func loader(file string) string {
	switch strings.ToLower(path.Ext(file)) {
	case ".parquet":
		return "parquet"
	case ".arrow":
		return "arrow"
	}
	return "json"
}
