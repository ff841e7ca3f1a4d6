package format

import (
	"context"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/drydock-ml/drydock/internal/textnorm"
)

// Numbers and option letters of a Word list stand nowhere in the text: they are
// counted while reading, as Word does (ECMA-376 Part 1, 17.9).

const maxLevels = 9

// A numLevel is one level of a list definition.
type numLevel struct {
	set     bool
	start   int
	format  string
	text    string // "%1.", "(%2)", "第%1章"
	style   string // paragraph style linked to the level
	suffix  string // tab, space or nothing
	restart int    // level (from 1) whose use restarts this one; -1: any higher; 0: never
	legal   bool   // show all numbers as decimal
}

// An abstractList is a list definition (w:abstractNum).
type abstractList struct {
	levels    [maxLevels]numLevel
	styleLink string // numbering style that holds the definition instead
}

// A numList is one use of a definition (w:num).
type numList struct {
	abstract string
	starts   map[int]int      // levels that begin anew with this list
	levels   map[int]numLevel // levels defined anew
}

// A listCount is where the counters of a definition stand.
type listCount struct {
	value [maxLevels]int
	used  [maxLevels]bool
}

// A numbering resolves the lists of a document and counts.
type numbering struct {
	abstracts map[string]*abstractList
	lists     map[string]*numList
	counts    map[string]*listCount // by abstract
	begun     map[string]bool       // lists whose starts were applied
	styles    map[string]*wordStyle
}

func readNumbering(ctx context.Context, p *officePackage, part string, styles map[string]*wordStyle) (*numbering, error) {
	n := &numbering{
		abstracts: map[string]*abstractList{}, lists: map[string]*numList{},
		counts: map[string]*listCount{}, begun: map[string]bool{}, styles: styles,
	}
	if part == "" {
		return n, nil
	}
	x, err := p.tokens(ctx, part)
	if err != nil {
		return nil, err
	}
	defer x.close()
	for x.next() {
		switch {
		case !x.start:
		case x.name == "w:abstractNum":
			n.abstracts[x.attr("abstractNumId")] = readAbstract(x)
		case x.name == "w:num":
			n.lists[x.attr("numId")] = readList(x)
		case x.name == "w:listDef": // of Word 2003, as the next
			n.abstracts[x.attr("listDefId")] = readAbstract(x)
		case x.name == "w:list":
			n.lists[x.attr("ilfo")] = readList(x)
		}
	}
	return n, x.err
}

func readAbstract(x *xmlTokens) *abstractList {
	a := &abstractList{}
	for in := x.depth; x.next() && x.depth >= in; {
		switch {
		case !x.start:
		case x.name == "w:lvl":
			i, _ := strconv.Atoi(x.attr("ilvl"))
			if l := readLevel(x); i >= 0 && i < maxLevels {
				a.levels[i] = l
			}
		case x.name == "w:numStyleLink":
			a.styleLink = x.attr("val")
		}
	}
	return a
}

func readLevel(x *xmlTokens) numLevel {
	l := numLevel{set: true, start: 0, format: "decimal", suffix: "tab", restart: -1}
	for in := x.depth; x.next() && x.depth >= in; {
		if !x.start {
			continue
		}
		switch x.name {
		case "w:start":
			l.start, _ = strconv.Atoi(x.attr("val"))
		case "w:numFmt":
			// Word 2010 writes new kinds inside AlternateContent, the fallback last
			if l.format = x.attr("val"); l.format == "custom" {
				l.format = customFormat(x.attr("format"))
			}
		case "w:nfc": // of Word 2003
			l.format = docNumber(atoiOr(x.attr("val"), 0))
		case "w:lvlText":
			l.text = x.attr("val")
		case "w:pStyle":
			l.style = x.attr("val")
		case "w:suff":
			l.suffix = strings.ToLower(x.attr("val"))
		case "w:lvlRestart":
			l.restart, _ = strconv.Atoi(x.attr("val"))
		case "w:isLgl":
			l.legal = x.on()
		case "w:pPr", "w:rPr":
			x.skip()
		}
	}
	return l
}

// customFormat reads w:format ("001, 002, 003, ..."), of which only the leading
// zeros matter.
func customFormat(s string) string {
	if strings.HasPrefix(s, "0") {
		return "decimalZero"
	}
	return "decimal"
}

func readList(x *xmlTokens) *numList {
	l := &numList{starts: map[int]int{}, levels: map[int]numLevel{}}
	level := -1
	for in := x.depth; x.next() && x.depth >= in; {
		if !x.start {
			continue
		}
		switch x.name {
		case "w:abstractNumId", "w:ilst":
			l.abstract = x.attr("val")
		case "w:lvlOverride":
			level, _ = strconv.Atoi(x.attr("ilvl"))
		case "w:startOverride":
			l.starts[level], _ = strconv.Atoi(x.attr("val"))
		case "w:lvl":
			l.levels[level] = readLevel(x)
		}
	}
	return l
}

// find returns a list and its definition, following links to numbering styles.
func (n *numbering) find(numID string) (*numList, *abstractList) {
	list := n.lists[numID]
	for range 8 { // a link may point in a circle
		if list == nil {
			return nil, nil
		}
		a := n.abstracts[list.abstract]
		if a == nil || a.styleLink == "" {
			return list, a
		}
		s := n.styles[a.styleLink]
		if s == nil {
			return list, a
		}
		list = n.lists[s.numID]
	}
	return nil, nil
}

// levelOf finds the level of a style that names its list but not the level.
func (n *numbering) levelOf(numID, style string) int {
	if _, a := n.find(numID); a != nil {
		for i := range a.levels {
			if a.levels[i].style == style {
				return i
			}
		}
	}
	return 0
}

// label counts one paragraph of a list and returns its number as printed,
// followed by what parts it from the text; empty when the list has none.
func (n *numbering) label(numID string, level int) string {
	list, a := n.find(numID)
	if list == nil || a == nil || level < 0 || level >= maxLevels {
		return ""
	}
	levels := a.levels
	for i, l := range list.levels {
		if i >= 0 && i < maxLevels {
			levels[i] = l
		}
	}
	c := n.counts[list.abstract]
	if c == nil {
		c = &listCount{}
		n.counts[list.abstract] = c
	}
	for i, start := range list.starts {
		if i < 0 || i >= maxLevels {
			continue
		}
		levels[i].start = start
		if !n.begun[numID] {
			c.used[i] = false
		}
	}
	n.begun[numID] = true
	c.count(&levels, level)
	text := levelText(&levels, c, level)
	if text == "" {
		return ""
	}
	return text + gap(text, levels[level].suffix)
}

// count moves the counters: this level on, deeper ones back, higher ones that
// were skipped to their start.
func (c *listCount) count(levels *[maxLevels]numLevel, level int) {
	for i := range level {
		if !c.used[i] {
			c.used[i], c.value[i] = true, levels[i].start
		}
	}
	if c.used[level] {
		c.value[level]++
	} else {
		c.used[level], c.value[level] = true, levels[level].start
	}
	for i := level + 1; i < maxLevels; i++ {
		if r := levels[i].restart; r < 0 || r > level {
			c.used[i] = false
		}
	}
}

// levelText fills the numbers into the text of a level.
func levelText(levels *[maxLevels]numLevel, c *listCount, level int) string {
	l := &levels[level]
	if l.format == "bullet" {
		if l.text == "" {
			return ""
		}
		return "•" // whatever sign of a symbol font it is
	}
	if l.format == "none" && !strings.Contains(l.text, "%") {
		return l.text
	}
	var b strings.Builder
	for i := 0; i < len(l.text); i++ {
		if l.text[i] != '%' || i+1 >= len(l.text) || l.text[i+1] < '1' || l.text[i+1] > '9' {
			b.WriteByte(l.text[i])
			continue
		}
		i++
		k := int(l.text[i] - '1')
		format := levels[k].format
		if l.legal {
			format = "decimal"
		}
		b.WriteString(formatNumber(c.value[k], format))
	}
	return b.String()
}

// gap is what stands between a label and its text. Word puts a tab; a space
// says the same, and nothing is needed behind a full-width sign.
func gap(label, suffix string) string {
	r, _ := utf8.DecodeLastRuneInString(label)
	if suffix == "nothing" || unicode.IsPunct(r) && r >= 0x2E80 || unicode.IsSpace(r) {
		return ""
	}
	return " "
}

// hasLabel reports whether text begins with the number or letter of label as
// typed by hand, so that a number in both places is shown once. "2.5 米" does
// not begin with the label "2.".
func hasLabel(text, label string) bool {
	core := strings.TrimFunc(halfWidth(label), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	if rest, ok := strings.CutPrefix(core, "第"); ok {
		end := strings.IndexFunc(rest, func(r rune) bool {
			return !unicode.IsNumber(r) && !strings.ContainsRune("〇零一二三四五六七八九十百千万", r)
		})
		if end > 0 {
			core = rest[:end]
		}
	}
	if core == "" {
		l := strings.TrimSpace(label)
		return l != "" && strings.HasPrefix(strings.TrimSpace(text), l)
	}
	t := strings.TrimLeft(halfWidth(strings.TrimSpace(text)), "([【〔〈第")
	rest, ok := strings.CutPrefix(t, core)
	if !ok {
		return false
	}
	r, size := utf8.DecodeRuneInString(rest)
	switch r {
	case '.':
		next, _ := utf8.DecodeRuneInString(rest[size:])
		return !unicode.IsDigit(next)
	case '、', ')', ':', ']', '】', '〕', '〉', '。':
		return true
	case ' ', '\t':
		return strings.Contains(core, ".")
	}
	// "第3章", "①": the label's own sign behind the number, or none needed
	l := halfWidth(strings.TrimSpace(label))
	i := strings.Index(l, core)
	behind := l[i+len(core):]
	if behind == "" {
		c, _ := utf8.DecodeRuneInString(core)
		return !unicode.IsLetter(c) && !unicode.IsDigit(c)
	}
	return !strings.HasPrefix(behind, ".") && strings.HasPrefix(rest, behind)
}

func halfWidth(s string) string { return strings.Map(textnorm.HalfWidth, s) }
