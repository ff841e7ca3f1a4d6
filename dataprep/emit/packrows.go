package emit

import (
	"fmt"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/spec"

	"github.com/valyala/fastjson"
)

// A Joiner is a Builder of running text whose rows can be joined when all have
// been written.
type Joiner interface {
	Packing() Packing
	// TextOf returns the text of a row that its emitter wrote.
	TextOf(row []byte) (string, error)
	// AppendText appends a row of the same shape, with a line end.
	AppendText(dst []byte, id, text string) []byte
}

// leastPack is the shortest row that documents are joined to, tokens.
const leastPack = 16

func (o *textOptions) check() error {
	switch {
	case o.Pack != 0 && o.Pack < leastPack:
		return spec.Bad("pack", msg.Text{"is 0, or %d tokens and more", "应为 0，或不少于 %d 个 token"}, leastPack)
	case o.Overlap < 0 || o.Overlap > o.Pack/2:
		return spec.Bad("overlap", msg.Text{"lies between 0 and half of pack", "应介于 0 与 pack 的一半之间"})
	}
	return nil
}

// Packing implements [Joiner].
func (b *textBuilder) Packing() Packing { return Packing{b.o.Pack, b.o.Overlap} }

// AppendText implements [Joiner].
func (b *textBuilder) AppendText(dst []byte, id, text string) []byte {
	return b.target.appendText(dst, id, text)
}

func (t *rowTarget) appendText(dst []byte, id, text string) []byte {
	dst = append(dst, `{"id":`...)
	dst = drydock.AppendJSONString(dst, id)
	return append(t.text(dst, text), '}', '\n')
}

// TextOf implements [Joiner].
func (b *textBuilder) TextOf(row []byte) (string, error) {
	v, err := fastjson.ParseBytes(row)
	if err != nil {
		return "", fmt.Errorf("a row of %s: %w", b.target.Name, err)
	}
	text := v.Get("text")
	if text == nil {
		text = v.Get("messages", "0", "content")
	}
	s, err := text.StringBytes()
	return string(s), err
}
