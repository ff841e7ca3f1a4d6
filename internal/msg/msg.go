// Package msg holds a text in English and Chinese, written where it is used.
package msg

import (
	"fmt"
	"strings"
)

// Lang is a language drydock speaks.
type Lang uint8

// The languages, in the order of [Text].
const (
	En Lang = iota
	Zh
)

// String returns the BCP 47 tag.
func (l Lang) String() string {
	if l == Zh {
		return "zh"
	}
	return "en"
}

// ParseLang reads a tag or a POSIX locale: zh, zh-CN, zh_CN.UTF-8. ok is false
// for a language drydock does not speak; C and POSIX are English.
func ParseLang(s string) (l Lang, ok bool) {
	tag, _, _ := strings.Cut(strings.ToLower(strings.NewReplacer("_", ".", "-", ".", "@", ".").Replace(s)), ".")
	switch tag {
	case "zh", "cmn":
		return Zh, true
	case "en", "c", "posix":
		return En, true
	}
	return En, false
}

// A Text is one message: English, Chinese. Both use the same verbs in the same
// order (an archtest demands it). It is an array so that it is written without
// field names: msg.Text{"done", "完成"}.
type Text [2]string

// In returns the text in a language, English where the Chinese is missing.
func (t Text) In(l Lang) string {
	if l == Zh && t[Zh] != "" {
		return t[Zh]
	}
	return t[En]
}

// A Localizer knows how to say itself in a language; an argument that is one is
// said in the reader's.
type Localizer interface{ In(Lang) string }

// Format fills the verbs of the text. Arguments that are localizers are
// said in the same language. In English, {file is|files are} is the first form
// when the last whole number before it is 1, the second for any other; Chinese
// needs no plural.
func (t Text) Format(l Lang, args ...any) string {
	if len(args) == 0 {
		return t.In(l)
	}
	a := make([]any, len(args))
	for i, v := range args {
		if s, ok := v.(Localizer); ok {
			v = s.In(l)
		}
		a[i] = v
	}
	return fmt.Sprintf(plurals(t.In(l), args), a...)
}

// plurals settles the {one|many} of a format by the number before each.
func plurals(format string, args []any) string {
	if !strings.Contains(format, "|") {
		return format
	}
	var b strings.Builder
	used, number := 0, ""
	for i := 0; i < len(format); i++ {
		switch format[i] {
		case '%':
			verb := i + 1
			for verb < len(format) && strings.IndexByte("+-# 0123456789.", format[verb]) >= 0 {
				verb++
			}
			verb = min(verb, len(format)-1)
			b.WriteString(format[i : verb+1])
			if i = verb; format[verb] == '%' {
				continue
			}
			if used < len(args) && isWhole(args[used]) {
				number = fmt.Sprint(args[used])
			}
			used++
		case '{':
			inside, _, closed := strings.Cut(format[i+1:], "}")
			one, many, two := strings.Cut(inside, "|")
			if !closed || !two || number == "" {
				b.WriteByte('{')
				continue
			}
			if number != "1" {
				one = many
			}
			b.WriteString(one)
			i += len(inside) + 1
		default:
			b.WriteByte(format[i])
		}
	}
	return b.String()
}

func isWhole(v any) bool {
	switch v.(type) {
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		return true
	}
	return false
}
