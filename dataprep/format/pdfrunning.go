package format

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// lookAround is how many pages before and after a page are searched for the
// same header, footer or page number. It bounds the pages held at once.
const lookAround = 8

// An edgeLine is a line that may be a running header, a footer, a page number
// or a stamp.
type edgeLine struct {
	index   int    // in the page's lines
	text    string // without spaces
	key     string // the same with # for each number
	numbers []int
	base    float64
	angle   int
	apart   bool // set off from the text by room or by its size
	stamp   bool // across the page, over its text, or in faint ink
	free    bool // the same text in another place is the same stamp
	site    bool // an advertisement, see isSite
	paged   bool // it has the form of a page number, or of a header with one
}

// findEdges picks the outermost lines of a page, what is printed across it or
// over its text, and advertisements.
func (p *pdfPage) findEdges() {
	const outermost, stamps = 3, 100
	var main []int
	for i := range p.lines {
		l := &p.lines[i]
		stamp := l.angle != p.lines[0].angle || l.over || l.faint
		if !l.over && l.angle == p.lines[0].angle {
			main = append(main, i)
		}
		if site := isSite(l.Text); (stamp || site) && len(p.edges) < stamps {
			e := p.edge(i, true)
			e.stamp, e.site = stamp, site
			e.free = l.over || l.angle%90 != 0
			p.edges = append(p.edges, e)
		}
	}
	slices.SortStableFunc(main, func(a, b int) int { return cmp.Compare(p.lines[a].base, p.lines[b].base) })
	pitch, size := p.usual(main)
	for k, i := range main {
		if k >= outermost && k < len(main)-outermost {
			continue
		}
		l := p.lines[i]
		step := 1
		if k >= len(main)/2 {
			step = -1
		}
		inward := k + step
		for inward >= 0 && inward < len(main) && abs(p.lines[main[inward]].base-l.base) <= rowBase*l.size {
			inward += step // beside it: a footer that a gutter cuts in two
		}
		alone := inward < 0 || inward >= len(main)
		// a table's rows are apart from each other, too
		apart := alone || l.cells == nil && p.lines[main[inward]].cells != nil || abs(l.size-size) > 0.05*size || abs(p.lines[main[inward]].base-l.base) > 1.3*pitch
		p.edges = append(p.edges, p.edge(i, apart))
	}
}

// usual returns the usual distance of baselines, the smaller ones being those
// within a paragraph, and the middle size of type.
func (p *pdfPage) usual(main []int) (pitch, size float64) {
	var pitches, sizes []float64
	for k, i := range main {
		sizes = append(sizes, p.lines[i].size)
		if k > 0 {
			if d := p.lines[i].base - p.lines[main[k-1]].base; d > rowBase*p.lines[i].size {
				pitches = append(pitches, d)
			}
		}
	}
	at := func(v []float64, part int) float64 {
		if len(v) == 0 {
			return 0
		}
		slices.Sort(v)
		return v[len(v)/part]
	}
	return at(pitches, 3), at(sizes, 2)
}

func (p *pdfPage) edge(i int, apart bool) edgeLine {
	l := &p.lines[i]
	e := edgeLine{index: i, base: l.base, angle: l.angle, apart: apart}
	e.text = strings.Join(strings.Fields(l.Text), "")
	e.key, e.numbers = mask(l.Text)
	e.paged = len(e.numbers) > 0 && pageForm(l.Text, e.key)
	return e
}

// mask takes the spaces out of a line and puts # for each number, and for a
// Roman numeral that stands first or last.
func mask(s string) (key string, numbers []int) {
	var b strings.Builder
	const dashes = "-–—·"
	words := strings.Fields(s)
	alone := !strings.ContainsFunc(strings.Trim(s, dashes+" "), unicode.IsSpace)
	for i, w := range words {
		if n := romanValue(strings.Trim(w, dashes)); n > 0 && (i == 0 || i == len(words)-1 || alone) {
			numbers = append(numbers, n)
			b.WriteByte('#')
			continue
		}
		for j := 0; j < len(w); {
			if digits := len(w[j:]) - len(strings.TrimLeft(w[j:], "0123456789")); digits > 0 {
				n, _ := strconv.Atoi(w[j : j+digits])
				numbers = append(numbers, n)
				b.WriteByte('#')
				j += digits
				continue
			}
			_, size := utf8.DecodeRuneInString(w[j:])
			b.WriteString(w[j : j+size])
			j += size
		}
	}
	return b.String(), numbers
}

// pageForm reports whether a line with a number in it looks like one with a
// page number: the number stands alone, is called a page, is one of so many, or
// is set apart at an end of the line.
func pageForm(s, key string) bool {
	letters := strings.ContainsFunc(key, unicode.IsLetter)
	lower := strings.ToLower(s)
	if !letters || strings.Contains(s, "页") || strings.Contains(s, "頁") || strings.Contains(lower, "page") || strings.Contains(key, "#/#") {
		return true
	}
	first, _, _ := strings.Cut(s, "  ")
	last := s[strings.LastIndex(s, "  ")+1:]
	for _, end := range []string{first, last} {
		if k, n := mask(end); len(n) == 1 && strings.Trim(k, "-–—·") == "#" {
			return true
		}
	}
	return false
}

// romanValue reads a small Roman numeral of one case; 0: it is none.
func romanValue(s string) int {
	if s == "" || len(s) > 8 || s != strings.ToLower(s) && s != strings.ToUpper(s) {
		return 0
	}
	value := map[byte]int{'i': 1, 'v': 5, 'x': 10, 'l': 50, 'c': 100}
	n := 0
	lower := strings.ToLower(s)
	for i := range len(lower) {
		v := value[lower[i]]
		if v == 0 {
			return 0
		}
		if i+1 < len(lower) && v < value[lower[i+1]] {
			v = -v
		}
		n += v
	}
	return n
}

// at reports whether two edge lines stand in the same place.
func (e edgeLine) at(o edgeLine) bool {
	const still = 4 // points
	return e.angle == o.angle && abs(e.base-o.base) <= still
}

// same reports whether o is e on another page.
func (e edgeLine) same(o edgeLine) bool {
	return e.text == o.text && (e.at(o) || e.free && e.angle == o.angle) || e.site && o.site && e.key == o.key
}

// counts reports whether a number of e goes on in o as page numbers do, pages
// further.
func (e edgeLine) counts(o edgeLine, pages int) bool {
	if e.key != o.key || len(e.numbers) != len(o.numbers) {
		return false
	}
	for i, n := range e.numbers {
		if o.numbers[i]-n == pages {
			return true
		}
	}
	return false
}

// repeated marks the running lines of the page at index next by the pages
// around it.
func (s *pdfSums) repeated(window []*pdfPage, next int) {
	page := window[next]
	var marked []*pdfLine // without the page numbers
	around := window[max(0, next-lookAround):min(len(window), next+lookAround+1)]
	for _, e := range page.edges {
		l := &page.lines[e.index]
		if l.cells != nil || l.running {
			continue // a table's header, once more
		}
		c := page.count(e, around)
		numbered := e.paged && (c.counted >= 2 || c.counted == 1 && c.pages == 1 && strings.ContainsFunc(e.key, func(r rune) bool { return r != '#' }))
		if !numbered && (!c.repeats(e) || looksLikeItem(l.Text)) {
			continue
		}
		l.running, l.stamp = true, (e.stamp || e.site) && !numbered
		if !numbered {
			marked = append(marked, l)
		}
	}
	s.repeatedFigures(page, around)
	s.settle(page, marked)
}

// edgeCount is on how many of the pages around a line's page it stands, too.
type edgeCount struct{ pages, same, counted, tiles int }

func (p *pdfPage) count(e edgeLine, around []*pdfPage) (c edgeCount) {
	for _, o := range p.edges {
		if e.free && o.free && e.angle == o.angle && e.text == o.text {
			c.tiles++ // e itself is one
		}
	}
	for _, other := range around {
		if other == p || len(other.edges) == 0 {
			continue
		}
		c.pages++
		if slices.ContainsFunc(other.edges, e.same) {
			c.same++
		}
		if slices.ContainsFunc(other.edges, func(o edgeLine) bool { return e.at(o) && e.counts(o, other.number-p.number) }) {
			c.counted++
		}
	}
	return c
}

// repeats reports whether a line without a page number stands on enough pages,
// or often enough on its own, to be no text of them.
func (c edgeCount) repeats(e edgeLine) bool {
	const (
		share     = 0.35 // headers may alternate, or change with the chapter
		siteShare = 0.2  // an advertisement stands anywhere on the page
		tiles     = 3
	)
	letters := utf8.RuneCountInString(e.text)
	if e.free && c.tiles >= tiles && letters >= 2 {
		return true
	}
	// in a file of two pages one other page is all there can be
	twice := c.same >= 2 || c.same == 1 && c.pages == 1 && (letters >= 6 || e.paged || e.stamp || e.site)
	part := share
	if e.site {
		part = siteShare
	}
	return e.apart && twice && float64(c.same) >= part*float64(c.pages)
}

// settle counts a page's running lines. A page that would lose all its text to
// them is a picture, or its text only looks like a header: then it stays.
func (s *pdfSums) settle(page *pdfPage, marked []*pdfLine) {
	if len(page.lines) > 0 {
		s.text++
	}
	if !slices.ContainsFunc(page.lines, func(l pdfLine) bool { return !l.running }) {
		if page.pictures > 0 {
			page.scan = true
		} else {
			for _, l := range marked {
				l.running = false
			}
		}
	}
	stamped := false
	for i := range page.lines {
		if !page.lines[i].running {
			continue
		}
		n, example := &s.running, &s.example
		if page.lines[i].stamp {
			n, example = &s.stamps, &s.stampExample
			stamped = true
		}
		*n++
		if *example == "" {
			*example = page.lines[i].Text
		}
	}
	if stamped {
		s.stamped++
	}
}

// looksLikeItem reports whether a line begins as a question or an option does.
// Such a line is never a header, however often it stands in the same place.
func looksLikeItem(s string) bool {
	runes := []rune(strings.TrimLeft(s, " (（[【"))
	i := 0
	for i < len(runes) && runes[i] >= '0' && runes[i] <= '9' {
		i++
	}
	if i == 0 && len(runes) > 0 && (runes[0] >= 'A' && runes[0] <= 'H' || runes[0] >= 'Ａ' && runes[0] <= 'Ｈ') {
		i = 1
	}
	return i > 0 && i < len(runes) && strings.ContainsRune(".．、)）]】", runes[i])
}
