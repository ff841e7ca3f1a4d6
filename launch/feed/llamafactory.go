package feed

import (
	"slices"
	"strings"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/qwen3"
)

// LLaMAFactory are the settings of LLaMA-Factory 0.9.5 that change what a row of
// its sharegpt or alpaca layout becomes.
type LLaMAFactory struct {
	// Template is one of [LLaMAFactoryTemplates]; empty: taken from the
	// tokenizer, which comes to qwen3.
	Template         string
	EnableThinking   *bool // its default is true; nil is null
	MaskHistory      bool
	PreserveThinking bool
	// DefaultSystem is default_system: of rows without system text. Empty: the
	// template's own, which only qwen has.
	DefaultSystem string
}

// Feeder returns what these settings make of a row.
func (o LLaMAFactory) Feeder() Feeder { return o.feeder(false) }

// Rated returns what these settings make of a row with a label, under stage: kto.
// mask_history says nothing there: only the last answer is trained, and the block
// is written on it alone.
func (o LLaMAFactory) Rated() Feeder { return o.feeder(true) }

// Pair returns what these settings make of a preference pair, under stage: dpo.
// Only the last answer is trained, as in a row with a label; the prompt of both is
// the chosen one's, with its think block where that is not trained.
func (o LLaMAFactory) Pair() PairFeeder {
	rated := o.Rated()
	return func(chosen, rejected *qwen3.Conversation) (won, lost Sample, err error) {
		if won, err = rated(chosen); err != nil {
			return won, lost, err
		}
		if lost, err = rated(rejected); err != nil {
			return won, lost, err
		}
		prompt, answer := slices.Index(won.Loss, true), slices.Index(lost.Loss, true)
		return won, joinedAt(won.IDs[:prompt], lost.IDs[answer:]), nil
	}
}

func (o LLaMAFactory) feeder(lastOnly bool) Feeder {
	return func(c *qwen3.Conversation) (Sample, error) {
		system, turns, ok := pairs(c)
		if !ok {
			return Sample{}, fail.New(fail.Partial, msg.Text{
				"LLaMA-Factory drops rows whose turns do not go user, assistant, user, assistant",
				"LLaMA-Factory 会丢弃轮次不是 user、assistant 交替的行",
			})
		}
		return o.feed(system, turns, lastOnly), nil
	}
}

// LLaMAFactoryTemplates are the templates whose text is known here, as
// llamafactory/data/template.py of 0.9.5 writes them.
func LLaMAFactoryTemplates() []string {
	return []string{"qwen3", "qwen3_nothink", "qwen", "chatml", "default"}
}

// qwenSystem is what the template qwen says when the row has no system text.
const qwenSystem = "You are Qwen, created by Alibaba Cloud. You are a helpful assistant."

// plainText is the template "default", which knows no control tokens but the
// one of the end, and joins ids, not texts.
func plainText(system string, turns []qwen3.Message, maskHistory bool) Sample {
	const end = "<|im_end|>"
	var s Sample
	if system != "" {
		s.add("System: "+system, false)
		s.add(end, false)
		s.add("\n", false)
	}
	for i := 0; i < len(turns); i += 2 {
		s.add("Human: "+turns[i].Content, false)
		s.add(end, false)
		s.add("\nAssistant:", false)
		loss := i+2 == len(turns) || !maskHistory
		s.add(turns[i+1].Content, loss)
		s.add(end, loss)
		s.add("\n", loss)
	}
	return s
}

// feed makes a sample of a row. lastOnly is what stages dpo and kto do
// (encode_oneturn in data/template.py), else the row is encoded turn by turn
// (encode_multiturn).
func (o LLaMAFactory) feed(system string, turns []qwen3.Message, lastOnly bool) Sample {
	if system == "" {
		system = o.DefaultSystem
	}
	if o.Template == "default" {
		return plainText(system, turns, o.MaskHistory || lastOnly)
	}
	if o.Template == "qwen" && system == "" {
		system = qwenSystem
	}
	var s Sample
	if system != "" { // an empty one is not written
		s.add("<|im_start|>system\n"+system+"<|im_end|>\n", false)
	}
	reasons := o.Template == "" || o.Template == "qwen3"
	removeAll := o.EnableThinking != nil && !*o.EnableThinking
	trainBlock := o.EnableThinking != nil && *o.EnableThinking
	for i := 0; i < len(turns); i += 2 {
		last := i+2 == len(turns)
		past := !last && (lastOnly || o.MaskHistory && !o.PreserveThinking) // without a block
		answer := turns[i+1].Content
		if reasons && (removeAll && (last || !lastOnly) || past && !o.PreserveThinking) {
			answer = removeThought(answer)
		}
		s.add("<|im_start|>user\n"+turns[i].Content+"<|im_end|>\n<|im_start|>assistant\n", false)
		loss := last || !o.MaskHistory && !lastOnly
		if reasons && !past && !strings.Contains(answer, "<think>") && !strings.Contains(answer, "</think>") {
			s.add(qwen3.EmptyThink, loss && trainBlock)
		}
		s.add(answer+"<|im_end|>\n", loss)
	}
	return s
}

// removeThought cuts every <think>\n…\n</think>\n\n, written with exactly these
// line ends, and the line ends the rest begins with.
func removeThought(s string) string {
	const open, shut = "<think>\n", "\n</think>\n\n"
	var b strings.Builder
	for {
		i := strings.Index(s, open)
		if i < 0 {
			break
		}
		j := strings.Index(s[i+len(open):], shut)
		if j < 0 {
			break
		}
		b.WriteString(s[:i])
		s = s[i+len(open)+j+len(shut):]
	}
	b.WriteString(s)
	return strings.TrimLeft(b.String(), "\n")
}
