package format

import (
	"bytes"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/msg"
)

// A jsonMender makes JSON of rows that only lenient readers take, and notes the
// first of each kind.
type jsonMender struct{ nan, surrogate bool } // noted

// row returns b, which c has just found valid, as every reader takes it.
func (m *jsonMender) row(b []byte, c *jsonChecker, at drydock.Locator, note func(Note)) []byte {
	if c.surrogate >= 0 {
		b = wholeSurrogates(b, c.surrogate) // first: it keeps the offsets
		if !m.surrogate {
			m.surrogate = true
			note(noteSurrogate(at))
		}
	}
	if len(c.nans) > 0 {
		b = withoutNaN(b, c.nans)
		if !m.nan {
			m.nan = true
			note(noteNaN(at))
		}
	}
	return b
}

func noteNaN(at drydock.Locator) Note {
	return Note{Code: "nan_as_null", Text: msg.Text{
		"%s: NaN or Infinity is no JSON; it is read as null, here and further down",
		"%s：NaN、Infinity 不是合法 JSON；此处及之后均按 null 读取",
	}, Args: []any{at.String()}}
}

func noteSurrogate(at drydock.Locator) Note {
	return Note{Code: "lone_surrogate", Text: msg.Text{
		`%s: half of a surrogate pair (\ud83d or the like) stands alone; it becomes U+FFFD`,
		`%s：出现单独的半个代理对（如 \ud83d）；读作 U+FFFD`,
	}, Args: []any{at.String()}}
}

// withoutNaN returns a copy of b in which the NaN, Infinity and -Infinity at
// the given offsets are null, as pandas and JavaScript write them.
func withoutNaN(b []byte, nans []int) []byte {
	out := make([]byte, 0, len(b)+len(nans))
	at := 0
	for _, i := range nans {
		out = append(append(out, b[at:i]...), "null"...)
		for at = i; at < len(b) && (b[at] == '-' || b[at]|0x20 >= 'a' && b[at]|0x20 <= 'z'); at++ {
		}
	}
	return append(out, b[at:]...)
}

// wholeSurrogates returns a copy of valid JSON in which every half of a surrogate
// pair that stands alone is \ufffd; from is the offset of the first. Left as they
// are, readers take them for six letters, for U+FFFD, or for an error.
func wholeSurrogates(b []byte, from int) []byte {
	out := bytes.Clone(b)
	for i := from; i < len(out); {
		if out[i] != '\\' {
			i++
			continue
		}
		n := escapeLength(out, i)
		if n < 0 {
			n = copy(out[i:], `\ufffd`)
		}
		i += n
	}
	return out
}
