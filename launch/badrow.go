package launch

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/drydock-ml/drydock/internal/msg"
)

// atRow names the row of the data that cannot be read, which trainers do not:
// their reader takes blocks and counts rows from the block's begin.
func atRow(c Cause, data string) Cause {
	if filepath.Ext(data) != ".jsonl" {
		return c
	}
	line, why, err := badRow(data)
	switch {
	case err != nil:
		c.What = msg.Phrase{Text: msg.Text{"%s: %v", "%s：%v"}, Args: []any{c.What, err}}
	case why != nil:
		for _, s := range fileSigns() {
			if s.id == "data" {
				c = Cause{ID: s.id, What: s.what, Fix: s.fix}
			}
		}
		c.What = msg.Phrase{Text: msg.Text{"%s: %s:%d: %s", "%s：%s:%d：%s"}, Args: []any{c.What, data, line, why}}
	}
	return c
}

// badRow returns the first line of a JSONL file that is no JSON object; why is
// nil when all are.
func badRow(path string) (line int, why msg.Localizer, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, nil, err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<20)
	for {
		b, err := r.ReadBytes('\n')
		if len(b) > 0 {
			line++
		}
		if len(bytes.TrimSpace(b)) > 0 {
			var row map[string]json.RawMessage
			jerr := json.Unmarshal(b, &row)
			switch {
			case !utf8.Valid(b):
				return line, msg.Text{"the bytes are no UTF-8", "不是 UTF-8 编码"}, nil
			case jerr != nil:
				return line, msg.Phrase{Text: msg.Text{"%v", "%v"}, Args: []any{jerr}}, nil
			}
		}
		if errors.Is(err, io.EOF) {
			return 0, nil, nil
		}
		if err != nil {
			return line, nil, err
		}
	}
}
