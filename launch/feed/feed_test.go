package feed_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/golden"
	"github.com/drydock-ml/drydock/launch/feed"
	"github.com/drydock-ml/drydock/qwen3"
)

// vector is one row as a real trainer fed it.
type vector struct {
	Case     string
	Messages json.RawMessage
	Settings map[string]any
	InputIDs []int32 `json:"input_ids"`
	Mask     []int
	Dropped  any
	Error    any
}

// holdTo checks a trainer's vectors; settings gives the feeder of a vector, nil
// for settings that drydock never writes. It returns how many were compared.
func holdTo(t *testing.T, file string, settings func(v *vector) feed.Feeder) int {
	t.Helper()
	n := 0
	for line := range bytes.Lines(golden.ReadFile(t, file)) {
		var v vector
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		f := settings(&v)
		if f == nil {
			continue
		}
		n++
		var c qwen3.Conversation
		if err := json.Unmarshal(v.Messages, &c.Messages); err != nil {
			t.Fatal(err)
		}
		s, err := f(&c)
		if v.InputIDs == nil {
			if err == nil {
				t.Errorf("%s %v: the trainer leaves it out (%v), fed %q", v.Case, v.Settings, v.Dropped, s.Text())
			}
			continue
		}
		if err != nil {
			t.Errorf("%s %v: %v", v.Case, v.Settings, err)
			continue
		}
		same := len(s.IDs) == len(v.InputIDs) && len(s.Loss) == len(v.Mask)
		for i := 0; same && i < len(s.IDs); i++ {
			same = s.IDs[i] == v.InputIDs[i] && s.Loss[i] == (v.Mask[i] == 1)
		}
		if !same {
			t.Errorf("%s %v:\n got %s\nwant %s", v.Case, v.Settings, shown(s.IDs, s.Loss), shown(v.InputIDs, boolsOf(v.Mask)))
		}
	}
	return n
}

func boolsOf(mask []int) []bool {
	out := make([]bool, len(mask))
	for i, m := range mask {
		out[i] = m == 1
	}
	return out
}

// shown is the text with what the loss is taken on in ⟦⟧.
func shown(ids []int32, loss []bool) string {
	out, in := "", false
	for i, id := range ids {
		if i < len(loss) && loss[i] != in {
			in = loss[i]
			out += map[bool]string{true: "⟦", false: "⟧"}[in]
		}
		out += qwen3.Decode([]int32{id})
	}
	return out
}

func flag(v any) *bool {
	if b, ok := v.(bool); ok {
		return &b
	}
	return nil
}

func TestLLaMAFactory(t *testing.T) {
	t.Parallel()
	n := holdTo(t, golden.RealData(t, "trainers-real", "template_vectors_llamafactory.jsonl"), func(v *vector) feed.Feeder {
		if v.Settings["formatting"] != "sharegpt" {
			return nil
		}
		o := feed.LLaMAFactory{EnableThinking: flag(v.Settings["enable_thinking"])}
		o.Template, _ = v.Settings["template"].(string)
		o.MaskHistory, _ = v.Settings["mask_history"].(bool)
		o.PreserveThinking, _ = v.Settings["preserve_thinking"].(bool)
		return o.Feeder()
	})
	if n != 248 {
		t.Errorf("%d vectors", n)
	}
}

func TestSwift(t *testing.T) {
	t.Parallel()
	n := holdTo(t, golden.RealData(t, "trainers-real", "template_vectors_ms-swift.jsonl"), func(v *vector) feed.Feeder {
		switch v.Settings["args"] {
		case "defaults", "--enable_thinking false":
			return feed.Swift{}.Feeder()
		case "--disable_ignore_empty_think true":
			return feed.Swift{DisableIgnoreEmptyThink: true}.Feeder()
		case "--add_non_thinking_prefix false":
			return feed.Swift{NoNonThinkingPrefix: true}.Feeder()
		case "--loss_scale last_round":
			return feed.Swift{LastRound: true}.Feeder()
		case "--template qwen3_nothinking":
			return feed.Swift{Template: "qwen3_nothinking"}.Feeder()
		case "--template qwen3_thinking":
			return feed.Swift{Template: "qwen3_thinking"}.Feeder()
		}
		return nil
	})
	if n != 217 {
		t.Errorf("%d vectors", n)
	}
}

func TestTRL(t *testing.T) {
	t.Parallel()
	n := holdTo(t, golden.RealData(t, "trainers-real", "template_vectors_trl.jsonl"), func(v *vector) feed.Feeder {
		if v.Settings["template"] != "hub" {
			return nil
		}
		only, _ := v.Settings["assistant_only_loss"].(bool)
		switch v.Settings["layout"] {
		case "prompt_completion":
			return feed.TRL{PromptCompletion: true}.Feeder()
		case "prompt_completion+chat_template_kwargs":
			return feed.TRL{PromptCompletion: true, NoThinking: true}.Feeder()
		}
		return feed.TRL{AssistantOnlyLoss: only}.Feeder()
	})
	if n != 153 {
		t.Errorf("%d vectors", n)
	}
}

func TestAxolotl(t *testing.T) {
	t.Parallel()
	n := holdTo(t, golden.RealData(t, "trainers-real", "template_vectors_axolotl.jsonl"), func(v *vector) feed.Feeder {
		if _, null := v.Settings["roles_to_train"]; null {
			return nil // made behind the back of axolotl's reader, which leaves null out
		}
		return feed.Axolotl{}.Feeder()
	})
	if n != 124 {
		t.Errorf("%d vectors", n)
	}
}

// The settings that drydock writes for ms-swift, as scripts/interop/feed_swift.py
// recorded them: with the last round only in the loss the block is in the loss of
// no other turn.
func TestSwiftAsItIsStarted(t *testing.T) {
	t.Parallel()
	written := map[string]feed.Feeder{}
	for contract, args := range map[emit.Contract]string{
		emit.EmptyThinkMasked: "--loss_scale last_round",
		emit.EmptyThink:       "--loss_scale last_round --disable_ignore_empty_think true",
		emit.Plain:            "--loss_scale last_round --add_non_thinking_prefix false",
	} {
		s, err := feed.For("swift", contract)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(s.Words, " "); got != args {
			t.Errorf("%s: drydock writes %q, recorded is %q", contract, got, args)
		}
		written[args] = s.Feed
	}
	n := holdTo(t, filepath.Join("testdata", "swift.jsonl"), func(v *vector) feed.Feeder {
		args, _ := v.Settings["args"].(string)
		return written[args]
	})
	if n != 51 {
		t.Errorf("%d vectors", n)
	}
}
