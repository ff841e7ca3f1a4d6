package format

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/drydock-ml/drydock/internal/msg"
)

// lookAround is how many pages before and after a page are searched for the
// same header, footer or page number. It bounds the pages held at once.
const lookAround = 8

// An edgeLine is a line that may be a running header, a footer, a page number
// or a stamp.
type edgeLine struct {
	index  int    // in the page's lines
	key    string // its text without spaces, numbers masked
	base   float64
	angle  int
	apart  bool // set off from the text by room or by its size
	number int  // the page number it may be; 0: none
	bare   bool // nothing else stands in it
}

// findEdges picks the outermost lines of a page and what is printed across it.
func (p *pdfPage) findEdges() {
	const outermost = 3
	var main []int
	for i := range p.lines {
		if p.lines[i].angle == p.lines[0].angle {
			main = append(main, i)
		} else {
			p.edges = append(p.edges, p.edge(i, true))
		}
	}
	slices.SortStableFunc(main, func(a, b int) int { return cmp.Compare(p.lines[a].base, p.lines[b].base) })
	pitch, size := p.usual(main)
	for k, i := range main {
		if k >= outermost && k < len(main)-outermost {
			continue
		}
		l := p.lines[i]
		inward := k + 1
		if k >= len(main)/2 {
			inward = k - 1
		}
		apart := abs(l.size-size) > 0.05*size
		if inward >= 0 && inward < len(main) {
			apart = apart || abs(p.lines[main[inward]].base-l.base) > 1.3*pitch
		}
		p.edges = append(p.edges, p.edge(i, apart))
	}
}

// usual returns the middle distance of baselines and the middle size of type.
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
	middle := func(v []float64) float64 {
		if len(v) == 0 {
			return 0
		}
		slices.Sort(v)
		return v[len(v)/2]
	}
	return middle(pitches), middle(sizes)
}

func (p *pdfPage) edge(i int, apart bool) edgeLine {
	l := &p.lines[i]
	e := edgeLine{index: i, base: l.base, angle: l.angle, apart: apart}
	e.key, e.number, e.bare = mask(l.Text)
	return e
}

// mask takes the spaces out of a line and puts # for each number. number is the
// first, or the value of a Roman numeral that stands alone; bare says that only
// signs stand beside it.
func mask(s string) (key string, number int, bare bool) {
	var b strings.Builder
	signs := true
	runes := []rune(s)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case r >= '0' && r <= '9':
			j := i
			for j < len(runes) && runes[j] >= '0' && runes[j] <= '9' {
				j++
			}
			if number == 0 {
				number, _ = strconv.Atoi(string(runes[i:j]))
			}
			b.WriteByte('#')
			i = j - 1
		case unicode.IsSpace(r):
		default:
			signs = signs && !unicode.IsLetter(r)
			b.WriteRune(r)
		}
	}
	key = b.String()
	if n := roman(strings.Trim(key, "-–—· ")); number == 0 && n > 0 {
		return "i", n, true
	}
	return key, number, signs && number > 0
}

// roman reads a small Roman numeral of one case; 0: it is none.
func roman(s string) int {
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

// alike reports whether two edge lines are the same header or footer.
func (e edgeLine) alike(o edgeLine) bool {
	const still = 4 // points
	return e.key == o.key && e.angle == o.angle && abs(e.base-o.base) <= still
}

// repeated marks the running lines of the page at index next by the pages
// around it.
func (s *pdfSums) repeated(window []*pdfPage, next int) {
	page := window[next]
	from, to := max(0, next-lookAround), min(len(window), next+lookAround+1)
	for _, e := range page.edges {
		l := &page.lines[e.index]
		same, counted, pages := 0, 0, 0
		for _, other := range window[from:to] {
			if other == page || len(other.edges) == 0 {
				continue
			}
			pages++
			like, inStep := false, false
			for _, o := range other.edges {
				if e.alike(o) {
					like = true
					inStep = inStep || o.number-e.number == other.number-page.number
				}
			}
			if like {
				same++
			}
			if inStep {
				counted++
			}
		}
		// two others, or every other page of a document of two
		enough := func(n int) bool { return n >= 2 || n == 1 && pages == 1 }
		const share = 0.35 // headers that alternate, and a chapter's first pages
		switch {
		case e.number > 0 && enough(counted) && (!e.bare || counted >= 2 || strings.ContainsAny(l.Text, "-–—/·")):
		case looksLikeItem(l.Text):
			continue
		case e.apart && same >= 2 && float64(same) >= share*float64(pages):
		default:
			continue
		}
		l.running = true
		s.running++
		if s.example == "" {
			s.example = l.Text
		}
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

// pdfSums is what is told about a file once it was read.
type pdfSums struct {
	file     *File
	running  int
	example  string
	scans    []int
	unmapped int
}

func (s *pdfSums) tell(note func(Note)) {
	name := s.file.name()
	if s.running > 0 {
		note(Note{Code: "running_lines", Text: msg.Text{
			"%s: %d headers, footers and page numbers were left out, for example %q",
			"%s：略去页眉、页脚和页码 %d 行，例如 %q",
		}, Args: []any{name, s.running, s.example}})
	}
	if len(s.scans) > 0 {
		note(Note{Code: "image_only_page", Damage: true, Text: msg.Text{
			"%s: %d pages are pictures without text (%s); run OCR first, for example: ocrmypdf -l chi_sim+eng in.pdf out.pdf",
			"%s：有 %d 页是没有文字的图片（%s）；请先做 OCR，例如：ocrmypdf -l chi_sim+eng in.pdf out.pdf",
		}, Args: []any{name, len(s.scans), ranges(s.scans)}})
	}
	if s.unmapped > 0 {
		note(Note{Code: "unmapped_glyphs", Damage: true, Text: msg.Text{
			"%s: %d characters have no meaning in the file's fonts and read as U+FFFD; OCR may help",
			"%s：有 %d 个字符在字体中没有对应文字，读作 U+FFFD；可尝试 OCR",
		}, Args: []any{name, s.unmapped}})
	}
}

// ranges writes 1, 2, 3, 7 as "1–3, 7".
func ranges(n []int) string {
	var parts []string
	for i := 0; i < len(n); {
		j := i
		for j+1 < len(n) && n[j+1] == n[j]+1 {
			j++
		}
		if j > i {
			parts = append(parts, fmt.Sprintf("%d–%d", n[i], n[j]))
		} else {
			parts = append(parts, strconv.Itoa(n[i]))
		}
		i = j + 1
	}
	return strings.Join(parts, ", ")
}
