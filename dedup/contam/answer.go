package contam

import (
	"bytes"
	"strings"
)

// answer returns the letters the record gives as the answer, as far as it shows
// them: a field named so, 答案：B behind the question, or a reply that is nothing
// but [C].
func (e *evidence) answer() string {
	for _, f := range e.fields {
		if answerField(f.pointer) {
			if a := letters(f.text); a != "" {
				return a
			}
		}
	}
	if a := statedAnswer(e.tail(4000)); a != "" {
		return a
	}
	if len(e.fields) > 1 && e.region[1] > 0 && e.fieldOf(e.region[0]) < len(e.fields)-1 {
		return letters(e.fields[len(e.fields)-1].text)
	}
	return ""
}

func answerField(p string) bool {
	low := strings.ToLower(p)
	for _, name := range [...]string{"/answer", "/correct_answer", "/target", "/gold", "/答案", "/key", "/output"} {
		if i := strings.Index(low, name); i >= 0 && !strings.ContainsAny(low[i+len(name):], "_abcdefghijklmnopqrstuvwxyz") {
			return true
		}
	}
	return false
}

// letters returns text if it is option letters and nothing else: C, [C], (A)、B.
func letters(text []byte) string {
	var out []byte
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c >= 'A' && c <= 'H':
			out = append(out, c)
		case c >= 'a' && c <= 'z', c >= 'I' && c <= 'Z', c >= '0' && c <= '9':
			return ""
		case c >= 0x80 && !bytes.HasPrefix(text[i:], []byte("、")) && !bytes.HasPrefix(text[i:], []byte("。")) &&
			!bytes.HasPrefix(text[i:], []byte("（")) && !bytes.HasPrefix(text[i:], []byte("）")) &&
			!bytes.HasPrefix(text[i:], []byte("，")):
			return ""
		case c >= 0x80:
			i += 2
		}
	}
	if len(out) > 8 {
		return ""
	}
	return string(out)
}

// behindAnswers returns where the last of each word for an answer ends in text: 答案,
// Answer, ANSWER, answer; 0: there is none. It looks for the rarest byte of each.
func behindAnswers(text []byte) (ends [4]int) {
	look := func(mark byte, at int, words ...string) {
		for i := 0; ; i++ {
			n := bytes.IndexByte(text[i:], mark)
			if n < 0 {
				return
			}
			i += n
			for k, w := range words {
				if from := i - at; w != "" && from >= 0 && bytes.HasPrefix(text[from:], []byte(w)) {
					ends[k] = from + len(w)
				}
			}
		}
	}
	look("答"[1], 1, "答案")
	look('W', 3, "", "", "ANSWER")
	look('w', 3, "", "Answer", "", "answer")
	return ends
}

// statedAnswer finds what 答案 or Answer says, or a reply in brackets that ends
// the text.
func statedAnswer(tail []byte) string {
	for _, end := range behindAnswers(tail) {
		if end == 0 {
			continue
		}
		rest := tail[end:]
		rest = bytes.TrimLeft(bytes.TrimLeft(rest, " :\t([*="), "：】（ 是为")
		rest = bytes.TrimLeft(rest, " ([*")
		n := 0
		for n < len(rest) && n < 8 && rest[n] >= 'A' && rest[n] <= 'H' {
			n++
		}
		if n > 0 && (n == len(rest) || rest[n]|0x20 < 'a' || rest[n]|0x20 > 'z') {
			return string(rest[:n])
		}
	}
	end := bytes.TrimSpace(tail)
	if n := len(end); n >= 3 && end[n-1] == ']' && end[n-3] == '[' && end[n-2] >= 'A' && end[n-2] <= 'H' {
		return string(end[n-2 : n-1])
	}
	return ""
}
