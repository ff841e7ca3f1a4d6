package parity

import (
	"bytes"
	"math"
	"strconv"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/msg"

	"github.com/valyala/fastjson"
)

// unloadable finds what is JSON but makes the reader of Hugging Face's datasets
// (Arrow's) give the file up: a key that stands twice, half of a surrogate pair, a
// number beyond a float. datasets 5 then reads the file in another way without a
// word, and makes other columns and another number of rows of it.
func unloadable(data []byte, v *fastjson.Value, out *found) {
	if at := loneSurrogate(data); at >= 0 {
		out.add(notLoaded, "", msg.Text{"%s at byte %d is half of a surrogate pair", "%s（第 %d 字节）是半个代理对"}, string(data[at:at+6]), at)
	}
	unloadableValue(v, "", out)
}

func unloadableValue(v *fastjson.Value, at string, out *found) {
	switch v.Type() {
	case fastjson.TypeObject:
		o := v.GetObject()
		var names [8][]byte // the usual number without an allocation
		seen := names[:0]
		o.Visit(func(key []byte, f *fastjson.Value) {
			for _, k := range seen {
				if bytes.Equal(k, key) {
					out.add(notLoaded, at+"/"+drydock.EscapePointer(string(key)), msg.Text{"the key stands twice", "该键出现两次"})
				}
			}
			if len(seen) < maxKeys {
				seen = append(seen, key)
			}
			if t := f.Type(); t == fastjson.TypeObject || t == fastjson.TypeArray || t == fastjson.TypeNumber {
				unloadableValue(f, at+"/"+drydock.EscapePointer(string(key)), out)
			}
		})
	case fastjson.TypeArray:
		for i, e := range v.GetArray() {
			if t := e.Type(); t == fastjson.TypeObject || t == fastjson.TypeArray {
				unloadableValue(e, at+"/"+strconv.Itoa(i), out)
			}
		}
	case fastjson.TypeNumber:
		if math.IsInf(v.GetFloat64(), 0) {
			out.add(notLoaded, at, msg.Text{"the number is beyond a 64-bit float", "该数超出 64 位浮点数的范围"})
		}
	}
}

// maxKeys bounds how many keys of one object are compared with each other; rows
// have a few.
const maxKeys = 100

// loneSurrogate returns where the first half of a surrogate pair that stands alone
// is escaped in valid JSON; -1: there is none.
func loneSurrogate(b []byte) int {
	for i := 0; ; {
		n := bytes.IndexByte(b[i:], '\\')
		if n < 0 {
			return -1
		}
		i += n
		switch {
		case b[i+1] != 'u':
			i += 2
		case b[i+2]|0x20 != 'd' || b[i+3] < '8':
			i += 6
		case b[i+3]|0x20 <= 'b' && isLow(b[i+6:]):
			i += 12
		default:
			return i
		}
	}
}

// isLow reports whether a text begins with the second half of a pair.
func isLow(b []byte) bool {
	return len(b) > 5 && b[0] == '\\' && b[1] == 'u' && b[2]|0x20 == 'd' && b[3]|0x20 >= 'c' && b[3]|0x20 <= 'f'
}
