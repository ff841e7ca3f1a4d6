package format

import (
	"encoding/base64"
	"math"
	"math/big"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/msg"
)

// columnValues writes the values of typed columns as JSON, the same for Parquet
// and Arrow, and counts what JSON cannot say.
type columnValues struct {
	notNumbers int // NaN and infinities, written as null
	binary     int // byte strings that are no text, written as base64
}

// tell notes what was counted.
func (c *columnValues) tell(f *File, note func(Note)) {
	if c.notNumbers > 0 {
		note(Note{Code: "not_a_number", Text: msg.Text{
			"%s: {value is|values are} NaN or infinite, which JSON cannot say; read as null: %d",
			"%s：有 NaN 或无穷大的值，JSON 无法表示，读作 null：%d 个",
		}, Args: []any{f.name(), c.notNumbers}})
	}
	if c.binary > 0 {
		note(Note{Code: "binary_values", Text: msg.Text{
			"%s: binary values that are no text, read as base64: %d", "%s：非文本的二进制值，读作 base64：%d 个",
		}, Args: []any{f.name(), c.binary}})
	}
}

// float appends x as short as it reads back at that size.
func (c *columnValues) float(dst []byte, x float64, bits int) []byte {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		c.notNumbers++
		return append(dst, "null"...)
	}
	if bits == 64 {
		return drydock.AppendJSONFloat(dst, x)
	}
	// the shortest digits of the smaller type, so that 0.1 stays 0.1
	short, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', -1, bits), 64)
	if err != nil {
		short = x
	}
	return drydock.AppendJSONFloat(dst, short)
}

// bytes appends a byte string: text where it is text, else base64.
func (c *columnValues) bytes(dst, b []byte) []byte {
	if isPlainText(b) {
		return drydock.AppendJSONString(dst, string(b))
	}
	c.binary++
	dst = append(dst, '"')
	dst = base64.StdEncoding.AppendEncode(dst, b)
	return append(dst, '"')
}

func isPlainText(b []byte) bool {
	for _, x := range b {
		if x < 0x20 && x != '\t' && x != '\n' && x != '\r' {
			return false
		}
	}
	return utf8.Valid(b)
}

// appendDecimal appends unscaled·10^-scale with all its digits: "-0.050" for -50
// and 3.
func appendDecimal(dst []byte, unscaled *big.Int, scale int) []byte {
	return appendScaled(dst, unscaled.String(), scale)
}

// maxScale bounds the zeros a broken schema can ask for.
const maxScale = 1000

// appendScaled puts the decimal point into the digits of an integer.
func appendScaled(dst []byte, digits string, scale int) []byte {
	scale = max(-maxScale, min(scale, maxScale))
	if len(digits) > 0 && digits[0] == '-' {
		dst, digits = append(dst, '-'), digits[1:]
	}
	if scale <= 0 {
		dst = append(dst, digits...)
		for ; scale < 0 && digits != "0"; scale++ {
			dst = append(dst, '0')
		}
		return dst
	}
	if len(digits) <= scale {
		dst = append(dst, '0', '.')
		for range scale - len(digits) {
			dst = append(dst, '0')
		}
		return append(dst, digits...)
	}
	at := len(digits) - scale
	dst = append(dst, digits[:at]...)
	dst = append(dst, '.')
	return append(dst, digits[at:]...)
}

const secondsOfDay = 24 * 60 * 60

// appendDate appends a date counted in days from 1970-01-01.
func appendDate(dst []byte, days int64) []byte {
	return time.Unix(days*secondsOfDay, 0).UTC().AppendFormat(append(dst, '"'), `2006-01-02"`)
}

// appendTimestamp appends a point in time: seconds and nanoseconds since 1970, a
// fraction of that many digits where there is one, Z where the time is UTC and
// nothing where it is that of no zone.
func appendTimestamp(dst []byte, seconds, nanos int64, digits int, utc bool) []byte {
	t := time.Unix(seconds, nanos).UTC()
	dst = t.AppendFormat(append(dst, '"'), "2006-01-02T15:04:05")
	dst = appendFraction(dst, int64(t.Nanosecond()), digits)
	if utc {
		dst = append(dst, 'Z')
	}
	return append(dst, '"')
}

// appendClock appends a time of day in nanoseconds since midnight.
func appendClock(dst []byte, nanos int64, digits int) []byte {
	seconds, rest := floorDiv(nanos, int64(time.Second))
	dst = time.Unix(seconds, 0).UTC().AppendFormat(append(dst, '"'), "15:04:05")
	return append(appendFraction(dst, rest, digits), '"')
}

func appendFraction(dst []byte, nanos int64, digits int) []byte {
	if nanos == 0 || digits == 0 {
		return dst
	}
	s := strconv.FormatInt(nanos+int64(time.Second), 10) // ten digits, the first a one
	dst = append(dst, '.')
	return append(dst, s[1:1+digits]...)
}

// floorDiv divides so that the rest is never negative.
func floorDiv(a, b int64) (quotient, rest int64) {
	quotient, rest = a/b, a%b
	if rest < 0 {
		quotient--
		rest += b
	}
	return quotient, rest
}

// appendUUID appends 16 bytes in the usual groups; other lengths as base64.
func (c *columnValues) uuid(dst, b []byte) []byte {
	if len(b) != 16 {
		return c.bytes(dst, b)
	}
	const hexDigits = "0123456789abcdef"
	dst = append(dst, '"')
	for i, x := range b {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst = append(dst, '-')
		}
		dst = append(dst, hexDigits[x>>4], hexDigits[x&15])
	}
	return append(dst, '"')
}

// bigEndian reads a two's complement integer of any length.
func bigEndian(b []byte) *big.Int {
	n := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(len(b)*8)))
	}
	return n
}

// uniqueNames gives the fields of an object names that differ: a JSON object
// cannot hold two fields of one name. again lists the names that came more than
// once; their later fields end in _2, _3 …
func uniqueNames(names []string) (out, again []string) {
	taken := make(map[string]bool, len(names))
	for _, n := range names {
		taken[n] = false
	}
	for _, n := range names {
		name := n
		if taken[n] {
			again = append(again, n)
			for i := 2; ; i++ {
				name = n + "_" + strconv.Itoa(i)
				if _, is := taken[name]; !is {
					break
				}
			}
		}
		taken[name] = true
		out = append(out, name)
	}
	return out, again
}

// jsonKey is a field's name with its colon.
func jsonKey(name string) []byte {
	return append(drydock.AppendJSONString(nil, name), ':')
}

// quoteJSON makes a JSON string of a text.
func quoteJSON(b []byte) []byte { return drydock.AppendJSONString(nil, string(b)) }
