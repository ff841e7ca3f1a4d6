package question

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
)

// A shared stem is a text that several items have in common: 根据下图回答 15-17 题.
// Without it they cannot be answered, so each gets it before its own stem.
type shared struct {
	from, to int
	lines    []line
	size     int // bytes of the lines
	used     bool
	said     bool // the first line says which items it is for

	cut     bool             // options and before are known
	options []drydock.Option // see choices
	before  string
}

func (s *shared) text() string {
	var b []byte
	for _, l := range s.lines {
		b = join(b, l.text)
	}
	return string(b)
}

// choices returns the options that several items choose from, where the shared
// text is a list of them, and what stands before it besides the words that
// announce it.
func (s *shared) choices() ([]drydock.Option, string) {
	if !s.cut {
		s.cut = true
		s.options, s.before = s.cutChoices()
	}
	return slices.Clone(s.options), s.before
}

func (s *shared) cutChoices() ([]drydock.Option, string) {
	text := make([]string, 0, len(s.lines))
	for i, l := range s.lines {
		if i == 0 && s.said {
			continue
		}
		text = append(text, l.text)
	}
	b := splitBody(strings.Join(text, "\n"))
	if len(b.options) < 2 || b.gap != "" {
		return nil, ""
	}
	return b.options, b.stem
}

// maxShared is how many bytes a text may have that is put before the stems of items
// it names; maxChoices, a list of options that all items below it choose from.
const maxShared, maxChoices = 16 << 10, 4 << 10

// shareLine takes a line that announces a shared stem, or one of its lines.
func (c *chapter) shareLine(l line) bool {
	if m, ok := optionAt(l.text); ok && m.v == 0 && len(l.text) <= maxChoices && c.path.form == drydock.Matching && c.shared == nil && (c.cur == nil || c.cur.solved && c.cur.num.n > 0) {
		// a 配伍题 whose options stand above its items
		c.closeItem(numberMark{})
		c.dropOrphans()
		c.shared = &shared{from: 1, to: 9999, lines: []line{l}}
		return true
	}
	if from, to, ok := sharedRange(l.text); ok && (c.cur == nil || c.cur.closed()) {
		c.closeItem(numberMark{})
		c.dropOrphans()
		c.endShared()
		c.shared = &shared{from: from, to: to, lines: []line{l}, said: true}
		return true
	}
	s := c.shared
	if s == nil || s.used || c.cur != nil || scanNumber(l.text).n == s.from {
		return false
	}
	most := maxChoices
	if s.said {
		most = maxShared
	}
	if s.size += len(l.text); s.size > most {
		c.endShared()
		return false
	}
	s.lines = append(s.lines, l)
	return true
}

// sharedBy returns the open shared stem when it is for item n.
func (c *chapter) sharedBy(n int) *shared {
	s := c.shared
	if s == nil || n < s.from || n > s.to {
		c.endShared()
		return nil
	}
	s.used = true
	return s
}

// endShared closes the shared stem; one that no item took is foreign text.
func (c *chapter) endShared() {
	s := c.shared
	c.shared = nil
	if s == nil || s.used {
		return
	}
	c.orphans = append(s.lines, c.orphans...)
}

// sharedRange reads the numbers a shared stem is for: 回答 15-17 题, （15～17题
// 共用题干）, Questions 15-17 refer to ….
func sharedRange(s string) (from, to int, ok bool) {
	if len(s) > 300 {
		return 0, 0, false
	}
	english := strings.Contains(s, "uestions ")
	if !english && !(strings.Contains(s, "题") && (strings.Contains(s, "共用") || strings.Contains(s, "回答") || strings.Contains(s, "完成"))) {
		return 0, 0, false
	}
	for i := 0; i < len(s); {
		r, w := utf8.DecodeRuneInString(s[i:])
		if !isDigit(r) {
			i += w
			continue
		}
		n, end := number(s[i:])
		j := skipSpace(s, i+end)
		sep, sw := utf8.DecodeRuneInString(s[j:])
		switch sep {
		case '-', '—', '–', '~', '～', '至', '到', '－':
		default:
			if !strings.HasPrefix(s[j:], "to ") {
				i += end
				continue
			}
			sw = len("to ")
		}
		k := skipSpace(s, j+sw)
		m, mw := number(s[k:])
		after := skipSpace(s, k+mw)
		if mw > 0 && m > n && m-n < 50 && (strings.HasPrefix(s[after:], "题") || strings.HasPrefix(s[after:], "小题") || english) {
			return n, m, true
		}
		i += end
	}
	return 0, 0, false
}
