package emit

import (
	"unicode"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/qwen3"
)

// render returns the text of a dialogue as the model's template renders it, in
// two parts: the loss is taken on the second only.
//
// Under empty-think-masked the server closes the think block, so it belongs to
// the first part. Earlier answers are never trained: what they look like there is
// not what the model wrote (no block). The line end after <|im_end|> is trained,
// as LLaMA-Factory, ms-swift and TRL do.
func (d *dialogue) render(c Contract) (given, trained string) {
	conv := qwen3.Conversation{Messages: make([]qwen3.Message, len(d.turns))}
	for i, m := range d.turns {
		conv.Messages[i] = qwen3.Message{Role: m.Role, Content: m.Content, Text: true}
	}
	// turns that are text, beginning with system or user, always render
	prompt, _ := qwen3.Render(nil, &conv, qwen3.RenderOptions{GenerationPrompt: true, NoThinking: c == EmptyThinkMasked})
	think := d.chosen.think
	if c == EmptyThinkMasked {
		think = ""
	}
	return string(prompt), think + d.chosen.text + "<|im_end|>\n"
}

// unlabelled marks a token the loss is not taken on, as PyTorch's cross entropy
// ignores it.
const unlabelled = -100

// writeTokens writes input_ids, labels and attention_mask.
func writeTokens(dst []byte, d *dialogue, c Contract) []byte {
	given, trained := d.render(c)
	ids := qwen3.Encode(nil, given)
	n := len(ids)
	if first, _ := utf8.DecodeRuneInString(trained); unicode.IsSpace(first) {
		// white space may join what stands before it into one token
		whole := qwen3.Encode(nil, given+trained)
		for n = 0; n < len(ids) && ids[n] == whole[n]; n++ {
		}
		ids = whole
	} else {
		ids = qwen3.Encode(ids, trained)
	}
	dst = appendIDs(dst, "input_ids", ids)
	labels := make([]int32, len(ids))
	for i := range labels {
		labels[i] = unlabelled
		if i >= n {
			labels[i] = ids[i]
		}
	}
	dst = appendIDs(dst, "labels", labels)
	for i := range ids {
		ids[i] = 1
	}
	return appendIDs(dst, "attention_mask", ids)
}

// writeSegments writes axolotl's input_output: it encodes each segment by itself
// and adds nothing between them.
func writeSegments(dst []byte, d *dialogue, c Contract) []byte {
	given, trained := d.render(c)
	dst = append(dst, `,"segments":[{"label":false,"text":`...)
	dst = drydock.AppendJSONString(dst, given)
	dst = append(dst, `},{"label":true,"text":`...)
	dst = drydock.AppendJSONString(dst, trained)
	return append(dst, `}]`...)
}
