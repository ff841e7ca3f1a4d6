package format

import (
	"io"
	"strings"
)

// An odtStyle is what of a style matters for text.
type odtStyle struct {
	family, parent string
	list           string // list style of a paragraph style
	name           string // as people see it
	marks          wordMarks
}

// style reads a style:style whose start was just read.
func (o *odt) style(x *xmlTokens) {
	s := &odtStyle{family: x.attr("family"), parent: x.attr("parent-style-name"), list: x.attr("list-style-name"), name: x.attr("name")}
	o.styles[s.family+"/"+s.name] = s
	for in := x.depth; x.next() && x.depth >= in; {
		if x.start && x.name == "style:text-properties" {
			s.marks = odtMarks(x)
		}
	}
}

// odtMarks reads the looks of text from style:text-properties.
func odtMarks(x *xmlTokens) (m wordMarks) {
	flag := func(on bool) *bool { return &on }
	for _, a := range x.s.attrs {
		v := x.value(a)
		switch string(a.local()) {
		case "font-weight":
			m.bold = flag(v == "bold" || atoiOr(v, 0) >= 600)
		case "text-underline-style":
			m.underline = flag(v != "none")
		case "display":
			m.hidden = flag(v == "none")
		case "color":
			m.color = strings.ToUpper(strings.TrimPrefix(v, "#"))
		case "background-color":
			if m.highlight = "auto"; v != "transparent" {
				m.highlight = strings.ToUpper(strings.TrimPrefix(v, "#"))
			}
		case "text-position":
			m.vertical = odtPosition(v)
		}
	}
	return m
}

// odtPosition reads style:text-position: "super 58%", "-33% 58%".
func odtPosition(v string) string {
	at, _, _ := strings.Cut(v, " ")
	switch {
	case at == "super":
		return "superscript"
	case at == "sub" || strings.HasPrefix(at, "-"):
		return "subscript"
	case strings.Trim(at, "0%") == "":
		return "baseline"
	}
	return "superscript"
}

// maxParents bounds how far styles inherit: they may do so in a circle.
const maxParents = 32

// marksOf are the looks of a style with what it inherits.
func (o *odt) marksOf(s *odtStyle) (m wordMarks) {
	for range maxParents {
		if s == nil {
			break
		}
		m = m.over(s.marks)
		s = o.styles[s.family+"/"+s.parent]
	}
	return m
}

// listOf is the list style a paragraph style names.
func (o *odt) listOf(s *odtStyle) string {
	for range maxParents {
		if s == nil || s.list != "" {
			break
		}
		s = o.styles[s.family+"/"+s.parent]
	}
	if s == nil {
		return ""
	}
	return s.list
}

// heading is the level a paragraph has by its style, or one it inherits from: a
// title or a heading; 0 for any other.
func (s *odtStyle) heading(styles map[string]*odtStyle) int {
	for range maxParents {
		if s == nil {
			return 0
		}
		// names are written with _20_ for a blank
		name := strings.ReplaceAll(s.name, "_20_", " ")
		if n := (&wordStyle{name: name, outline: -1}).heading(); n > 0 {
			return n
		}
		s = styles[s.family+"/"+s.parent]
	}
	return 0
}

// odtLists are the list styles of a document and the lists being counted.
type odtLists struct {
	styles map[string]*[maxLevels]numLevel
	heads  [maxLevels]numLevel // of headings
	top    listCount           // of headings
	last   map[string]*listCount
	byID   map[string]*listCount
	stack  []odtList
}

// An odtList is an open list; those inside it share its count.
type odtList struct {
	style  string
	count  *listCount
	number bool // the item being read has a number that was not printed yet
	start  int  // of the item; -1: goes on
}

func newODTLists() *odtLists {
	return &odtLists{styles: map[string]*[maxLevels]numLevel{}, last: map[string]*listCount{}, byID: map[string]*listCount{}}
}

// define reads a list style.
func (l *odtLists) define(x *xmlTokens) {
	levels := &l.heads
	if x.name == "text:list-style" {
		levels = &[maxLevels]numLevel{}
		l.styles[x.attr("name")] = levels
	}
	for in := x.depth; x.next() && x.depth >= in; {
		if !x.start {
			continue
		}
		at := atoiOr(x.attr("level"), 0) - 1
		if at < 0 || at >= maxLevels {
			continue
		}
		n := numLevel{set: true, start: atoiOr(x.attr("start-value"), 1), restart: -1}
		switch localName(x.name) {
		case "list-level-style-bullet", "list-level-style-image":
			n.format, n.text = "bullet", "•"
		case "list-level-style-number", "outline-level-style":
			n.format = odtNumber(x.attr("num-format"))
			if n.format != "" {
				shown := min(max(atoiOr(x.attr("display-levels"), 1), 1), at+1)
				var parts []string
				for i := at + 1 - shown; i <= at; i++ {
					parts = append(parts, "%"+string(rune('1'+i)))
				}
				n.text = x.attr("num-prefix") + strings.Join(parts, ".") + x.attr("num-suffix")
			}
		default:
			continue
		}
		levels[at] = n
	}
}

// odtNumber is a number format by the name Word has for it; empty: no number.
func odtNumber(f string) string {
	first, _, _ := strings.Cut(f, ",")
	switch strings.TrimSpace(first) {
	case "":
		return ""
	case "a":
		return "lowerLetter"
	case "A":
		return "upperLetter"
	case "i":
		return "lowerRoman"
	case "I":
		return "upperRoman"
	case "一":
		return "chineseCounting"
	case "壹":
		return "chineseLegalSimplified"
	case "①":
		return "decimalEnclosedCircle"
	case "甲":
		return "ideographTraditional"
	case "子":
		return "ideographZodiac"
	case "１":
		return "decimalFullWidth"
	}
	return "decimal"
}

// open begins a list; its start was just read.
func (l *odtLists) open(x *xmlTokens) {
	n := odtList{style: x.attr("style-name"), start: -1}
	if len(l.stack) > 0 {
		outer := &l.stack[len(l.stack)-1]
		n.count = outer.count
		if n.style == "" {
			n.style = outer.style
		}
	} else {
		n.count = l.byID[x.attr("continue-list")]
		if n.count == nil && x.attr("continue-numbering") == "true" {
			n.count = l.last[n.style]
		}
		if n.count == nil {
			n.count = &listCount{}
		}
		l.last[n.style] = n.count
		if id := x.attr("id"); id != "" {
			l.byID[id] = n.count
		}
	}
	l.stack = append(l.stack, n)
}

func (l *odtLists) close() { l.stack = l.stack[:len(l.stack)-1] }

func (l *odtLists) inList() bool { return len(l.stack) > 0 }

// item begins an item, or the header of a list, which has no number.
func (l *odtLists) item(numbered bool, start string) {
	top := &l.stack[len(l.stack)-1]
	top.number, top.start = numbered, atoiOr(start, -1)
}

// label is the number of the first paragraph of an item; paragraphStyle is the
// list style its paragraph names.
func (l *odtLists) label(paragraphStyle string) string {
	level := min(len(l.stack), maxLevels) - 1
	top := &l.stack[len(l.stack)-1]
	if !top.number {
		return ""
	}
	top.number = false
	style := top.style
	if style == "" {
		style = paragraphStyle
	}
	levels := l.styles[style]
	if levels == nil || levels[level].text == "" {
		return ""
	}
	return counted(levels, top.count, level, top.start)
}

// outline is the number of a heading that stands in no list.
func (l *odtLists) outline(level int, start string, restart bool) string {
	if level--; level < 0 || level >= maxLevels {
		return ""
	}
	from := -1
	if restart {
		from = atoiOr(start, 1)
	}
	label := counted(&l.heads, &l.top, level, from)
	if l.heads[level].text == "" {
		return ""
	}
	return label
}

// counted counts a level on, or to start, and writes it.
func counted(levels *[maxLevels]numLevel, c *listCount, level, start int) string {
	c.count(levels, level)
	if start >= 0 {
		c.value[level] = start
	}
	text := levelText(levels, c, level)
	if text == "" {
		return ""
	}
	return text + gap(text, "tab")
}

// boundedText reads at most as much as a formula can be.
func boundedText(r io.Reader) io.Reader { return io.LimitReader(r, 1<<20) }
