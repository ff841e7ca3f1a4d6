package parity

import (
	"bytes"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/launch/feed"
	"github.com/drydock-ml/drydock/qwen3"
)

const (
	imEnd     = 151645 // <|im_end|>
	thinkOpen = 151667 // <think>
	lineEnd   = 198    // "\n"
)

// wanted is a row as inference has it: the endpoint's prompt, and the answer
// behind it with the token that ends it.
type wanted struct {
	ids []int32
	// opened is where the assistant's turn begins, asked where the prompt of
	// the endpoint ends: an empty think block may stand between. To train the
	// block as well harms nothing when the endpoint closes it.
	opened, asked int
}

// wants renders what the endpoint receives and what it is to answer. The last
// message is the answer.
func (k *checker) wants(c *qwen3.Conversation) (wanted, error) {
	last := len(c.Messages) - 1
	prompt, err := qwen3.Render(k.text[:0], &qwen3.Conversation{Messages: c.Messages[:last], Tools: c.Tools}, qwen3.RenderOptions{GenerationPrompt: true})
	if err != nil {
		return wanted{}, err
	}
	var w wanted
	w.ids = qwen3.Encode(k.ids[:0], string(prompt))
	w.opened, w.asked = len(w.ids), len(w.ids)
	k.text = prompt
	answer, err := k.answer(c)
	if err != nil {
		return wanted{}, err
	}
	if k.o.NoThinking {
		w.ids = qwen3.Encode(w.ids, qwen3.EmptyThink)
		w.asked = len(w.ids)
		answer = strings.TrimPrefix(answer, qwen3.EmptyThink)
	}
	w.ids = qwen3.Encode(w.ids, answer+"<|im_end|>")
	k.ids = w.ids
	return w, nil
}

// answer is what the model is to write after "assistant\n".
func (k *checker) answer(c *qwen3.Conversation) (string, error) {
	m := &c.Messages[len(c.Messages)-1]
	if len(m.ToolCalls) > 0 { // behind the text, as the template writes them
		text, err := qwen3.Render(nil, c, qwen3.RenderOptions{})
		if err != nil {
			return "", err
		}
		const opened = "<|im_start|>assistant\n"
		answer := string(text[bytes.LastIndex(text, []byte(opened))+len(opened):])
		return strings.TrimSuffix(answer, "<|im_end|>\n"), nil
	}
	if k.o.Contract == emit.Plain {
		return m.Content, nil
	}
	reasoning, answer := m.Thinking()
	return "<think>\n" + strings.Trim(reasoning, "\n") + "\n</think>\n\n" + strings.TrimLeft(answer, "\n"), nil
}

// compare finds how a sample differs from what is wanted of it: the tokens
// first, and where they agree, the loss.
func compare(r *row, s *feed.Sample, w wanted, out *found) {
	last := len(r.conv.Messages) - 1
	at := sameStart(s.IDs, w.ids)
	rest := s.IDs[min(at, len(s.IDs)):]
	if at < len(w.ids) || len(rest) > 1 || len(rest) == 1 && rest[0] != lineEnd {
		kind, pointer := tokensDiffer, r.pointers[min(messageAt(w.ids, at), last)]
		if at < w.opened && at < len(s.IDs) && s.IDs[at] == thinkOpen {
			kind = historyBlock
		}
		d := diffOf(s.IDs, w.ids, at)
		out.addDiff(kind, pointer, &d)
		return
	}
	compareLoss(r, s, w, out)
}

// messageAt returns which message token at lies in: a turn begins with
// <|im_start|>.
func messageAt(ids []int32, at int) int {
	n := -1
	for _, id := range ids[:min(at+1, len(ids))] {
		if id == imEnd-1 {
			n++
		}
	}
	return max(n, 0)
}

// compareLoss compares where the loss is taken with where the answer is.
func compareLoss(r *row, s *feed.Sample, w wanted, out *found) {
	pointer := r.pointers[len(r.pointers)-1]
	end := len(w.ids)
	if !s.Loss[end-1] {
		out.add(lossPlace, pointer, msg.Text{"the loss is not taken on <|im_end|>: the model would not learn to stop", "损失不包括 <|im_end|>：模型学不会停止"})
		return
	}
	begins := end - 1
	for begins > 0 && s.Loss[begins-1] {
		begins--
	}
	switch {
	case begins > w.asked:
		out.add(lossPlace, pointer, msg.Text{"the loss begins at token %d, the answer at token %d: %q is not trained", "损失从第 %d 个 token 开始，回答从第 %d 个开始：%q 未训练"}, begins, w.asked, qwen3.Decode(w.ids[w.asked:begins]))
		return
	case begins < w.opened:
		out.add(lossPlace, pointer, msg.Text{"the loss begins at token %d, the answer at token %d: the question is trained as well", "损失从第 %d 个 token 开始，回答从第 %d 个开始：问题也会被训练"}, begins, w.opened)
		return
	}
	if at := slices.Index(s.Loss[:begins], true); at >= 0 {
		out.add(historyTrained, r.pointers[min(messageAt(w.ids, at), len(r.pointers)-1)], msg.Text{})
	}
}

// Compare returns where two sequences first differ, nil where they do not.
func Compare(fed, wanted []int32) *Diff {
	at := sameStart(fed, wanted)
	if at == len(fed) && at == len(wanted) {
		return nil
	}
	d := diffOf(fed, wanted, at)
	return &d
}

func sameStart(a, b []int32) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// shownBefore is how much text before a difference is shown, characters.
const shownBefore = 40

func diffOf(fed, want []int32, at int) Diff {
	before := []rune(qwen3.Decode(fed[max(0, at-shownBefore):at]))
	return Diff{At: at, Before: string(before[max(0, len(before)-shownBefore):]), Fed: tokenAt(fed, at), Wanted: tokenAt(want, at)}
}

func tokenAt(ids []int32, at int) Token {
	if at >= len(ids) {
		return Token{ID: -1}
	}
	return Token{ids[at], strings.ToValidUTF8(qwen3.Decode(ids[at:at+1]), "\ufffd")}
}
