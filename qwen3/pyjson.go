package qwen3

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/drydock-ml/drydock"
)

// appendPythonJSON appends a JSON value as Python's json.dumps writes what
// json.loads read: ", " and ": " between, the keys in their order, a key that
// comes twice once, with the last value; numbers as Python's int and float print
// them.
func appendPythonJSON(dst []byte, raw []byte) ([]byte, error) {
	if len(raw) == 0 {
		return dst, errors.New("no value")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	dst, err := pythonValue(dst, d)
	if err != nil {
		return dst, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return dst, errors.New("more than one value")
	}
	return dst, nil
}

func pythonValue(dst []byte, d *json.Decoder) ([]byte, error) {
	t, err := d.Token()
	if err != nil {
		return dst, err
	}
	switch v := t.(type) {
	case json.Delim:
		if v == '{' {
			return pythonObject(dst, d)
		}
		dst = append(dst, '[')
		for i := 0; d.More(); i++ {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			if dst, err = pythonValue(dst, d); err != nil {
				return dst, err
			}
		}
		_, err := d.Token()
		return append(dst, ']'), err
	case string:
		return drydock.AppendJSONString(dst, v), nil
	case json.Number:
		return pythonNumber(dst, v.String()), nil
	case bool:
		return strconv.AppendBool(dst, v), nil
	}
	return append(dst, "null"...), nil
}

func pythonObject(dst []byte, d *json.Decoder) ([]byte, error) {
	type field struct{ key, value []byte }
	var fields []field
	at := map[string]int{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return dst, err
		}
		key, _ := t.(string) // the decoder has seen to it
		value, err := pythonValue(nil, d)
		if err != nil {
			return dst, err
		}
		if i, twice := at[key]; twice {
			fields[i].value = value
			continue
		}
		at[key] = len(fields)
		fields = append(fields, field{drydock.AppendJSONString(nil, key), value})
	}
	if _, err := d.Token(); err != nil {
		return dst, err
	}
	dst = append(dst, '{')
	for i, f := range fields {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(append(append(dst, f.key...), ": "...), f.value...)
	}
	return append(dst, '}'), nil
}

func pythonNumber(dst []byte, s string) []byte {
	if !strings.ContainsAny(s, ".eE") {
		if s == "-0" {
			s = "0"
		}
		return append(dst, s...)
	}
	x, _ := strconv.ParseFloat(s, 64) // out of range is an infinity, in Python, too
	switch {
	case math.IsInf(x, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(x, -1):
		return append(dst, "-Infinity"...)
	}
	return drydock.AppendJSONFloat(dst, x)
}
