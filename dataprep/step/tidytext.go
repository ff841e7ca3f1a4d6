package step

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/spec"
	"github.com/drydock-ml/drydock/internal/textnorm"
)

type tidyTextOptions struct{}

var tidyText = spec.Of("tidy_text",
	msg.Text{"Tidy white space, control and invisible characters, ligatures and look-alike radicals.", "整理空白、控制字符、不可见字符、连字和形近部首。"},
	tidyTextOptions{},
	func(tidyTextOptions) (drydock.Step, error) { return perRecord(tidyRecord), nil })

// tidyRecord cleans every text of a record. Conversations keep their spaces:
// they may hold code.
func tidyRecord(r *drydock.Record) (reason, detail string) {
	switch {
	case r.Question != nil:
		q := *r.Question
		for _, s := range []*string{&q.Stem, &q.Explanation, &q.Reasoning} {
			*s = tidy(*s)
		}
		q.Statements = tidyAll(q.Statements)
		q.Subject = tidyAll(q.Subject)
		if q.Kind != drydock.Single && q.Kind != drydock.Multiple {
			q.Answer = tidyAll(q.Answer) // texts there, labels here
		}
		options := make([]drydock.Option, len(q.Options))
		for i, o := range q.Options {
			options[i] = drydock.Option{Label: o.Label, Text: tidy(o.Text)}
		}
		if q.Options != nil {
			q.Options = options
		}
		r.Question = &q
	case r.Passage != nil:
		r.Passage = &drydock.Passage{Heading: tidyAll(r.Passage.Heading), Text: tidy(r.Passage.Text)}
	case r.Chat != nil:
		c := *r.Chat
		c.Messages = cleanMessages(c.Messages)
		c.Rejected = cleanMessages(c.Rejected)
		r.Chat = &c
	}
	return "", ""
}

func tidyAll(in []string) []string {
	if in == nil {
		return nil
	}
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = tidy(s)
	}
	return out
}

func cleanMessages(in []drydock.Message) []drydock.Message {
	if in == nil {
		return nil
	}
	out := make([]drydock.Message, len(in))
	for i, m := range in {
		m.Content, m.Reasoning = clean(m.Content), clean(m.Reasoning)
		out[i] = m
	}
	return out
}

// tidy is clean, and white space made plain: runs of spaces become one, lines
// are trimmed, at most one blank line stands between two. What it returns it
// leaves alone.
func tidy(s string) string {
	if isTidy(s) {
		return s
	}
	s = clean(s)
	var b strings.Builder
	b.Grow(len(s))
	lines, blank := 0, 0
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.TrimFunc(line, unicode.IsSpace)
		if line == "" {
			blank++
			continue
		}
		if lines > 0 {
			b.WriteString("\n\n"[:min(blank, 1)+1])
		}
		lines, blank = lines+1, 0
		space := false
		for _, r := range line {
			if unicode.IsSpace(r) {
				space = true
				continue
			}
			if space {
				b.WriteByte(' ')
				space = false
			}
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isTidy is the quick yes for text that needs nothing: printable ASCII, common
// ideographs and full-width punctuation, single spaces, no line ends.
func isTidy(s string) bool {
	prev := ' '
	for _, r := range s {
		switch {
		case r == ' ' && prev == ' ':
			return false
		case r >= 0x20 && r < 0x7f, r >= 0x4e00 && r <= 0x9fff, r >= 0x3001 && r <= 0x303f, r >= 0xff01 && r <= 0xff5e:
		default:
			return false
		}
		prev = r
	}
	return s == "" || prev != ' '
}

// clean takes out what no reader sees and no tokenizer should: control and
// invisible characters, and spells out what only looks different: ligatures,
// look-alike radicals, odd line ends. Words, signs and spacing stay.
func clean(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && !plainRune(r) }) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	prev := rune(0)
	for i, r := range s {
		switch {
		case r == '\r':
			if strings.HasPrefix(s[i+1:], "\n") {
				continue
			}
			r = '\n'
		case r == '\v' || r == '\f' || r == 0x85 || r == 0x2028 || r == 0x2029:
			r = '\n'
		case r == '\n' || r == '\t':
		case unicode.Is(unicode.Cc, r) || invisible(r):
			continue
		case r == 0x200c || r == 0x200d: // joiners: part of emoji and of some scripts, noise in ours
			if prev < 0x300 || unicode.Is(unicode.Han, prev) || unicode.IsSpace(prev) {
				continue
			}
		case r >= 0xfb00 && r <= 0xfb06:
			b.WriteString(ligatures[r-0xfb00])
			prev = 'i' // Latin, as all of them are now
			continue
		case r == utf8.RuneError:
		default:
			r = unifyRadical(r)
		}
		b.WriteRune(r)
		prev = r
	}
	return b.String()
}

func plainRune(r rune) bool {
	return r >= 0x4e00 && r <= 0x9fff || r >= 0x3001 && r <= 0x303f || r >= 0xff01 && r <= 0xff5e || r >= 0xa1 && r <= 0x2ff && r != 0xad
}

var ligatures = [...]string{"ff", "fi", "fl", "ffi", "ffl", "st", "st"} // U+FB00 … U+FB06

// invisible reports characters without a picture that change nothing in Chinese
// or English text: zero-width spaces, marks of direction, soft hyphens.
func invisible(r rune) bool {
	switch {
	case r == 0xad, r == 0x61c, r == 0x180e, r == 0xfeff,
		r == 0x200b, r == 0x200e, r == 0x200f,
		r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x2064, r >= 0x2066 && r <= 0x206f,
		r >= 0xfff9 && r <= 0xfffb:
		return true
	}
	return false
}

// unifyRadical returns the ideograph that a radical sign from a PDF copy stands
// for (⽤ is 用, ⻔ is 门); other characters are returned as they are.
func unifyRadical(r rune) rune {
	if r < 0x2e80 || r > 0x2fd5 {
		return r
	}
	if p, rest := textnorm.NewFolder().Rune(r); p.Class == textnorm.Han && rest == nil {
		return p.Rune
	}
	return r
}
