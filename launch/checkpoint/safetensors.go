package checkpoint

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// maxHeader bounds the JSON that a safetensors file begins with, as the format
// does (100 MB in its reference implementation).
const maxHeader = 100_000_000

// A Tensor is one entry of a safetensors file.
type Tensor struct {
	Name  string
	DType string // as the format writes it: F32, BF16 …
	Shape []int64
	file  *os.File
	from  int64 // of its first byte in the file
	size  int64 // bytes
}

// Len is the number of values.
func (t *Tensor) Len() int64 {
	n := int64(1)
	for _, d := range t.Shape {
		n *= d
	}
	return n
}

// A tensorFile is an opened safetensors file.
type tensorFile struct {
	f       *os.File
	tensors []Tensor // in the order of their bytes
}

func (f *tensorFile) Close() error { return f.f.Close() }

// bits is the size of a value of a dtype; 0: not known.
func bits(dtype string) int64 {
	switch dtype {
	case "F64", "I64", "U64", "C64":
		return 64
	case "F32", "I32", "U32":
		return 32
	case "F16", "BF16", "I16", "U16":
		return 16
	case "I8", "U8", "BOOL", "F8_E4M3", "F8_E5M2", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ":
		return 8
	case "F6_E2M3", "F6_E3M2":
		return 6
	case "F4":
		return 4
	}
	return 0
}

// openTensors reads the header of a safetensors file and holds it to the file:
// 8 bytes of length, little-endian; a JSON object; then the values, without
// gaps and to the last byte. What a stopped download or a full disk leaves is an
// error that says so.
func openTensors(path string) (*tensorFile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	t := &tensorFile{f: f}
	if err := t.read(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return t, nil
}

func (t *tensorFile) read() error {
	info, err := t.f.Stat()
	if err != nil {
		return err
	}
	if info.IsDir() {
		return notTensors(msg.Text{"it is a folder", "这是目录"})
	}
	var head [8]byte
	if _, err := io.ReadFull(t.f, head[:]); err != nil {
		return notTensors(msg.Text{"it ends within its first 8 bytes: it was cut", "文件在前 8 个字节内结束：被截断"})
	}
	n := binary.LittleEndian.Uint64(head[:])
	switch {
	case n < 2 || n > maxHeader:
		return notTensors(msg.Text{"a header of %d bytes is none: this is no safetensors file", "头部长度 %d 字节无效：不是 safetensors 文件"}, n)
	case int64(n) > info.Size()-8:
		return notTensors(msg.Text{"its header of %d bytes goes beyond its end: it was cut", "长 %d 字节的头部超出文件末尾：被截断"}, n)
	}
	header := make([]byte, n)
	if _, err := io.ReadFull(t.f, header); err != nil {
		return err
	}
	if t.tensors, err = readHeader(header); err != nil {
		return err
	}
	return t.fit(int64(8+n), info.Size())
}

func notTensors(text msg.Text, args ...any) error { return fail.New(fail.Failed, text, args...) }

// readHeader reads the entries, in the order of their offsets, from relative to
// the end of the header.
func readHeader(header []byte) ([]Tensor, error) {
	dec := json.NewDecoder(bytes.NewReader(header))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return nil, notTensors(msg.Text{"its header is no JSON object: this is no safetensors file", "头部不是 JSON 对象：不是 safetensors 文件"})
	}
	var out []Tensor
	seen := map[string]bool{}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, badHeader(err)
		}
		name, _ := tok.(string)
		if seen[name] {
			return nil, notTensors(msg.Text{"its header names %q twice", "头部两次列出 %q"}, name)
		}
		seen[name] = true
		if name == "__metadata__" {
			var any json.RawMessage
			if err := dec.Decode(&any); err != nil {
				return nil, badHeader(err)
			}
			continue
		}
		t, err := readEntry(dec, name)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	if _, err := dec.Token(); err != nil {
		return nil, badHeader(err)
	}
	if rest := strings.TrimSpace(string(header[dec.InputOffset():])); rest != "" {
		return nil, notTensors(msg.Text{"its header goes on behind the JSON object", "头部 JSON 对象之后还有内容"})
	}
	slices.SortStableFunc(out, func(a, b Tensor) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.size, b.size)) })
	return out, nil
}

func badHeader(err error) error {
	return notTensors(msg.Text{"its header is no JSON: %v", "头部不是 JSON：%v"}, err)
}

func readEntry(dec *json.Decoder, name string) (Tensor, error) {
	var e struct {
		DType   string  `json:"dtype"`
		Shape   []int64 `json:"shape"`
		Offsets []int64 `json:"data_offsets"`
	}
	if err := dec.Decode(&e); err != nil {
		return Tensor{}, notTensors(msg.Text{"tensor %q: %v", "张量 %q：%v"}, name, err)
	}
	bad := func(text msg.Text, args ...any) (Tensor, error) {
		return Tensor{}, notTensors(msg.Text{"tensor %q: %s", "张量 %q：%s"}, name, msg.Phrase{Text: text, Args: args})
	}
	if len(e.Offsets) != 2 || e.Offsets[0] < 0 || e.Offsets[1] < e.Offsets[0] {
		return bad(msg.Text{"its data_offsets are none", "data_offsets 无效"})
	}
	b := bits(e.DType)
	if b == 0 {
		return bad(msg.Text{"dtype %q is not known", "未知的 dtype %q"}, e.DType)
	}
	size := b
	for _, d := range e.Shape {
		if d < 0 || d > 0 && size > math.MaxInt64/d {
			return bad(msg.Text{"shape %v is none", "形状 %v 无效"}, e.Shape)
		}
		size *= d
	}
	if size%8 != 0 || size/8 != e.Offsets[1]-e.Offsets[0] {
		return bad(msg.Text{"shape %v of %s does not fill %d {byte|bytes}", "形状 %v（%s）与 %d 字节不符"}, e.Shape, e.DType, e.Offsets[1]-e.Offsets[0])
	}
	return Tensor{Name: name, DType: e.DType, Shape: e.Shape, from: e.Offsets[0], size: e.Offsets[1] - e.Offsets[0]}, nil
}

// fit holds the entries to the bytes that are there and makes their places
// absolute.
func (t *tensorFile) fit(data, size int64) error {
	at := int64(0)
	for i := range t.tensors {
		x := &t.tensors[i]
		switch {
		case x.from != at:
			return notTensors(msg.Text{"tensor %q begins at byte %d of the data, not at %d", "张量 %q 起始于数据第 %d 字节，应为 %d"}, x.Name, x.from, at)
		case x.from > size-data-x.size:
			return notTensors(msg.Text{"tensor %q lies outside the file: it was cut", "张量 %q 超出文件：被截断"}, x.Name)
		}
		at += x.size
		x.from, x.file = data+x.from, t.f
	}
	if data+at != size {
		return notTensors(msg.Text{"%d {byte|bytes} behind the last tensor belong to none", "最后一个张量之后有 %d 字节不属于任何张量"}, size-data-at)
	}
	return nil
}

// readable reports whether values of a dtype can be read as float32.
func readable(dtype string) bool { return dtype == "F32" || dtype == "F16" || dtype == "BF16" }

// floats reads len(dst) values from the i-th on; buf is what it may use and
// comes back grown.
func (t *Tensor) floats(dst []float32, i int64, buf []byte) ([]byte, error) {
	width := bits(t.DType) / 8
	if !readable(t.DType) {
		return buf, fmt.Errorf("tensor %s: %s is not read", t.Name, t.DType)
	}
	need := int(width) * len(dst)
	if cap(buf) < need {
		buf = make([]byte, need)
	}
	raw := buf[:need]
	if _, err := t.file.ReadAt(raw, t.from+i*width); err != nil {
		return buf, fmt.Errorf("tensor %s: %w", t.Name, err)
	}
	decode(dst, raw, t.DType)
	return buf, nil
}

// decode turns little-endian values into float32: exactly, since float32 holds
// every value of float16 and bfloat16.
func decode(dst []float32, raw []byte, dtype string) {
	switch dtype {
	case "BF16":
		for i := range dst {
			dst[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(raw[2*i:])) << 16)
		}
	case "F16":
		for i := range dst {
			dst[i] = halfToFloat(binary.LittleEndian.Uint16(raw[2*i:]))
		}
	default:
		for i := range dst {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		}
	}
}

// halfToFloat converts an IEEE 754 binary16.
func halfToFloat(h uint16) float32 {
	sign, exp, frac := uint32(h&0x8000)<<16, uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch exp {
	case 0: // zero and subnormals: frac · 2⁻²⁴
		f := float32(frac) * (1.0 / (1 << 24))
		return math.Float32frombits(math.Float32bits(f) | sign)
	case 0x1f: // infinity and NaN
		return math.Float32frombits(sign | 0xff<<23 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}
