package feed

import (
	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/qwen3"
)

// Settings are a trainer's settings, and what it makes of a row under them.
type Settings struct {
	Trainer string   // llamafactory, swift, trl, axolotl
	Version string   // the version the Feeder is held to
	Words   []string // the settings in the trainer's own words
	Feed    Feeder
	// Pair is of preference pairs, Rated of rows with a label (KTO); nil: each
	// answer is fed as Feed says.
	Pair  PairFeeder
	Rated Feeder
	// Of gives the settings for rows of a layout, where that decides, too; nil: it
	// does not. What it gives has no Of.
	Of func(l Layout) *Settings
}

// A Layout is what TRL reads off a row itself.
type Layout struct {
	Prompt     bool // prompt and completion, or a pair behind a prompt, and not messages
	NoThinking bool // "chat_template_kwargs": {"enable_thinking": false}
}

// FeedPair makes the two samples of a preference pair.
func (s *Settings) FeedPair(chosen, rejected *qwen3.Conversation) (won, lost Sample, err error) {
	if s.Pair == nil {
		return each(s.Feed)(chosen, rejected)
	}
	return s.Pair(chosen, rejected)
}

// FeedRated makes the sample of a row with a label.
func (s *Settings) FeedRated(c *qwen3.Conversation) (Sample, error) {
	if s.Rated == nil {
		return s.Feed(c)
	}
	return s.Rated(c)
}

// Trainers lists the trainers whose feed is known, the one drydock starts by
// itself first.
func Trainers() []string { return []string{"llamafactory", "swift", "trl", "axolotl"} }

// For returns the settings under which a trainer keeps a contract, for rows of
// one turn and of several. It refuses trainers it does not know, and contracts
// that the trainer has no settings for.
func For(trainer string, contract emit.Contract) (Settings, error) {
	var s Settings
	switch trainer {
	case "llamafactory":
		s = forLLaMAFactory(contract)
	case "swift":
		s = forSwift(contract)
	case "trl":
		s = forTRL(contract)
	case "axolotl":
		s = forAxolotl(contract)
	default:
		return s, fail.New(fail.Usage, msg.Text{"what %q makes of a row is not known", "不清楚 %q 会如何处理一行数据"}, trainer).
			Hint(msg.Text{"known: llamafactory, swift, trl, axolotl", "可用：llamafactory、swift、trl、axolotl"})
	}
	if s.Feed != nil {
		return s, nil
	}
	if contract != emit.Plain {
		return s, fail.New(fail.Usage, msg.Text{"there is no template contract %q", "不存在模板约定 %q"}, string(contract))
	}
	return s, fail.New(fail.Refused, msg.Text{
		"%s cannot keep the contract plain: it renders with the model's own template, which puts a think block before the last answer",
		"%s 无法遵守约定 plain：它使用模型自带的模板渲染，该模板会在最后一个回答前加入思考块",
	}, trainer).Hint(msg.Text{
		"llamafactory and swift can; or keep the block: --contract empty-think",
		"llamafactory 与 swift 可以；或保留思考块：--contract empty-think",
	})
}

// Only the last answer is trained, by all of them that can: the template leaves
// the think block out of earlier ones at inference, and these settings have the
// trainer do so, too.

func forLLaMAFactory(c emit.Contract) Settings {
	o := LLaMAFactory{Template: "qwen3", MaskHistory: true}
	s := Settings{Trainer: "llamafactory", Version: "0.9.5"}
	thinking := c != emit.EmptyThinkMasked
	switch c {
	case emit.EmptyThink, emit.CoT:
		s.Words = []string{"template: qwen3", "enable_thinking: true", "mask_history: true"}
	case emit.EmptyThinkMasked:
		s.Words = []string{"template: qwen3", "enable_thinking: false", "mask_history: true"}
	case emit.Plain:
		o.Template = "qwen3_nothink"
		s.Words = []string{"template: qwen3_nothink", "mask_history: true"}
	default:
		return s
	}
	o.EnableThinking = &thinking
	s.Feed, s.Pair, s.Rated = o.Feeder(), o.Pair(), o.Rated()
	return s
}

func forSwift(c emit.Contract) Settings {
	o := Swift{LastRound: true}
	s := Settings{Trainer: "swift", Version: "4.6.0", Words: []string{"--loss_scale last_round"}}
	switch c {
	case emit.EmptyThink, emit.CoT:
		o.DisableIgnoreEmptyThink = true
		s.Words = append(s.Words, "--disable_ignore_empty_think true")
	case emit.EmptyThinkMasked:
	case emit.Plain:
		o.NoNonThinkingPrefix = true
		s.Words = append(s.Words, "--add_non_thinking_prefix false")
	default:
		return s
	}
	s.Feed = o.Feeder()
	return s
}

func forTRL(c emit.Contract) Settings {
	open := TRL{PromptCompletion: true}
	closed := TRL{PromptCompletion: true, NoThinking: true}
	s := Settings{Trainer: "trl", Version: "1.16.0", Words: []string{"rows of prompt and completion"}}
	switch c {
	case emit.EmptyThink, emit.CoT:
		s.Feed, s.Pair = open.Feeder(), open.Pair()
	case emit.EmptyThinkMasked:
		s.Feed, s.Pair = closed.Feeder(), closed.Pair()
		s.Words = append(s.Words, `"chat_template_kwargs": {"enable_thinking": false} in each row`)
	default:
		return s
	}
	made := s // of messages, drydock train makes rows that say what the contract asks for
	s.Of = func(l Layout) *Settings {
		out := made
		if l.Prompt && l.NoThinking {
			out.Feed, out.Pair = closed.Feeder(), closed.Pair()
		} else if l.Prompt {
			out.Feed, out.Pair = open.Feeder(), open.Pair()
		}
		return &out
	}
	return s
}

func forAxolotl(c emit.Contract) Settings {
	var o Axolotl
	s := Settings{Trainer: "axolotl", Version: "0.21.0"}
	switch c {
	case emit.EmptyThink, emit.CoT:
		o.Segments = true // the block is trained in no other way
		s.Words = []string{"type: input_output", "rows of segments"}
	case emit.EmptyThinkMasked:
		s.Words = []string{"type: chat_template", "chat_template: tokenizer_default"}
	default:
		return s
	}
	s.Feed, s.Pair = o.Feeder(), o.Pair()
	return s
}
