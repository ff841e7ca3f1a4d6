package parity

import (
	"slices"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/qwen3"

	"github.com/valyala/fastjson"
)

// running is a row without questions and answers: the endpoint is asked nothing of
// the kind, so there is nothing to compare, only to count.
type running struct {
	text            string // of running text; special tokens in it are looked for
	pointer         string
	tokens, trained int  // of rows that are tokens or segments already
	counted         bool // they are
}

// runningOf reads the rows of pretraining, of token ids and of axolotl's segments;
// nil: the row is none of them.
func (p *rowParser) runningOf(v *fastjson.Value) (*running, error) {
	switch name := p.columns.Text; {
	case name != "":
		s, _, err := text(v, "", name)
		return &running{text: s, pointer: "/" + name}, err
	case v.Exists("input_ids"):
		return tokensOf(v)
	case v.Exists("segments"):
		return segmentsOf(v)
	case v.Exists("text") && !v.Exists("messages") && !v.Exists("conversations") && !v.Exists("prompt") && !v.Exists("instruction"):
		s, there, err := text(v, "", "text")
		if err == nil && !there {
			err = bad("/text", msg.Text{"is null", "为 null"})
		}
		return &running{text: s, pointer: "/text"}, err
	}
	return nil, nil
}

// tokensOf counts ids, and holds that labels and attention_mask have as many.
func tokensOf(v *fastjson.Value) (*running, error) {
	ids := v.GetArray("input_ids")
	r := &running{counted: true, tokens: len(ids), trained: len(ids)}
	for _, name := range []string{"labels", "attention_mask"} {
		if f := v.Get(name); f != nil && len(f.GetArray()) != len(ids) {
			return nil, bad("/"+name, msg.Text{"has %d {value|values}, and input_ids %d", "有 %d 个值，而 input_ids 有 %d 个"}, len(f.GetArray()), len(ids))
		}
	}
	for _, l := range v.GetArray("labels") {
		if l.GetInt() < 0 {
			r.trained--
		}
	}
	return r, nil
}

// segmentsOf counts the tokens of segments, each encoded by itself as axolotl does.
func segmentsOf(v *fastjson.Value) (*running, error) {
	r := &running{counted: true}
	for _, s := range v.GetArray("segments") {
		n := qwen3.Count(string(s.GetStringBytes("text")))
		if r.tokens += n; s.GetBool("label") {
			r.trained += n
		}
	}
	return r, nil
}

// run counts a row that is not compared.
func (k *checker) run(r *running, out *found) {
	out.uncompared, out.fed = true, true
	out.add(runningText, "", msg.Text{})
	out.tokens, out.trained = r.tokens, r.trained
	if !r.counted {
		out.tokens = qwen3.Count(r.text) + 1 // the trainer's end token
		out.trained = out.tokens
		for at, token := range qwen3.Specials(r.text) {
			if token != emit.EndOfText { // that one parts documents
				out.add(specialToken, r.pointer, msg.Text{"%s at byte %d", "%s，位于第 %d 字节"}, token, at)
				break
			}
		}
	}
	// LLaMA-Factory and axolotl part long texts; the other two lose what is too much
	keeps := !r.counted && slices.Contains([]string{"llamafactory", "axolotl"}, k.o.Settings.Trainer)
	if k.o.MaxLength > 0 && out.tokens > k.o.MaxLength && !keeps {
		out.add(tooLong, r.pointer, msg.Text{"%d {token|tokens}, the limit is %d", "%d 个 token，上限为 %d"}, out.tokens, k.o.MaxLength)
	}
}
