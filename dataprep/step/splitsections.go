package step

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/spec"
	"github.com/drydock-ml/drydock/internal/textnorm"
)

type splitSectionsOptions struct {
	MaxRunes int `yaml:"max_runes" help:"Longest passage, in characters; longer sections are cut between paragraphs, then between sentences." zh:"段落的最大长度（字符数）；更长的章节先按自然段、再按句子切分。"`
}

var splitSections = spec.Of("split_sections",
	msg.Text{"Turn any document into passages under their headings.", "把任意文档切分为带标题路径的段落。"},
	splitSectionsOptions{MaxRunes: 1800}, newSplitSections)

func newSplitSections(o splitSectionsOptions) (drydock.Parser, error) {
	if o.MaxRunes < 50 {
		return nil, spec.Bad("max_runes", msg.Text{"must be at least 50", "至少为 50"})
	}
	return sectionParser{o.MaxRunes}, nil
}

type sectionParser struct{ maxRunes int }

// Parse implements [drydock.Parser].
func (p sectionParser) Parse(ctx context.Context, doc *drydock.Document) iter.Seq2[*drydock.Record, error] {
	return func(yield func(*drydock.Record, error) bool) {
		s := &sections{doc: doc, maxRunes: p.maxRunes, yield: yield}
		for b, err := range doc.Blocks(ctx) {
			var d *drydock.Drop
			if errors.As(err, &d) {
				s.give(nil, err)
			} else if err != nil {
				s.give(nil, err)
				return
			} else {
				s.block(b)
			}
			if s.stopped {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			s.give(nil, err)
			return
		}
		s.end()
	}
}

// sections collects the paragraphs under the open headings.
type sections struct {
	doc      *drydock.Document
	maxRunes int
	yield    func(*drydock.Record, error) bool
	stopped  bool

	path    []title
	body    []paragraph // of the open section
	para    paragraph   // the open paragraph
	open    bool
	join    lineJoiner
	numbers decimals
	page    pageFilter

	loose      []paragraph // headings with nothing under them
	looseUnder []string    // the headings around those

	given, sameAt int // passages given, and how many of them in a row at lastAt
	lastAt        drydock.Locator
}

type title struct {
	text  string
	level int
	used  bool // something stands under it
	at    drydock.Locator
}

type paragraph struct {
	text string
	at   drydock.Locator
}

func (s *sections) give(r *drydock.Record, err error) {
	if !s.stopped && !s.yield(r, err) {
		s.stopped = true
	}
}

func (s *sections) block(b drydock.Block) {
	for _, b := range s.page.next(b) {
		s.line(b)
	}
}

func (s *sections) line(b drydock.Block) {
	switch {
	case b.Raw != nil:
		s.closeParagraph()
		s.row(b)
		return
	case b.Cells != nil:
		s.closeParagraph()
		if row := joinCells(b.Cells); row != "" {
			s.body = append(s.body, paragraph{row, b.At})
		}
		return
	}
	text := strings.TrimFunc(b.Text, unicode.IsSpace)
	if text == "" {
		s.closeParagraph()
		return
	}
	level, name, more := headingOf(text, b.Level)
	if level == 0 {
		level, name = s.numbers.heading(text), text
	}
	if level > 0 {
		s.closeParagraph()
		s.openHeading(title{text: name, level: level, at: b.At})
		if !more {
			return
		}
		// 第三条 with its text in the same line: the line is body, too
	}
	if s.open && s.join.breaks(s.para.text, b) {
		s.closeParagraph()
	}
	if !s.open {
		s.para, s.open = paragraph{text, b.At}, true
	} else {
		s.para.text = joinLines(s.para.text, text)
	}
	s.join.saw(b)
}

func joinCells(cells []string) string {
	var parts []string
	for _, c := range cells {
		if c = strings.TrimSpace(c); c != "" {
			parts = append(parts, c)
		}
	}
	return strings.Join(parts, " | ")
}

func (s *sections) closeParagraph() {
	if s.open {
		s.body = append(s.body, s.para)
		s.open = false
	}
}

// openHeading closes the section and the headings of the same or a deeper level.
func (s *sections) openHeading(t title) {
	s.flush()
	s.popTo(t.level)
	if n := len(s.path); n > 0 {
		s.path[n-1].used = true
	}
	s.path = append(s.path, t)
}

// popTo leaves the headings from level on. One under which nothing stood (a
// table of contents, a list taken for headings) is text of the section around
// it, so that nothing of a document disappears.
func (s *sections) popTo(level int) {
	for n := len(s.path); n > 0 && s.path[n-1].level >= level; n = len(s.path) {
		last := s.path[n-1]
		s.path = s.path[:n-1]
		if last.used {
			continue
		}
		if names := headings(s.path); !slices.Equal(names, s.looseUnder) {
			s.flushLoose()
			s.looseUnder = names
		}
		s.loose = append(s.loose, paragraph{last.text, last.at})
	}
}

func (s *sections) end() {
	for _, b := range s.page.rest() {
		s.line(b)
	}
	s.closeParagraph()
	s.flush()
	s.popTo(0)
	s.flushLoose()
}

// flush gives what stands under the open headings.
func (s *sections) flush() {
	s.closeParagraph()
	if len(s.body) == 0 {
		return
	}
	s.flushLoose() // it stood before
	if n := len(s.path); n > 0 {
		s.path[n-1].used = true
	}
	s.passages(headings(s.path), s.body)
	s.body = s.body[:0]
}

func (s *sections) flushLoose() {
	s.passages(s.looseUnder, s.loose)
	s.loose = s.loose[:0]
}

func headings(path []title) []string {
	var out []string
	for _, t := range path {
		out = append(out, t.text)
	}
	return out
}

// passages gives paragraphs as passages of at most maxRunes characters.
func (s *sections) passages(heading []string, body []paragraph) {
	var b strings.Builder
	var at drydock.Locator
	size := 0
	send := func() {
		if size > 0 {
			s.passage(heading, b.String(), at)
			b.Reset()
			size = 0
		}
	}
	for _, p := range body {
		for piece := range pieces(p.text, s.maxRunes) {
			n := utf8.RuneCountInString(piece)
			if size > 0 && size+1+n > s.maxRunes {
				send()
			}
			if size == 0 {
				at = p.at
			} else {
				b.WriteByte('\n')
				size++
			}
			b.WriteString(piece)
			size += n
		}
	}
	send()
}

func (s *sections) passage(heading []string, text string, at drydock.Locator) {
	f := s.doc.File
	if f == nil {
		f = &drydock.File{}
	}
	// pieces of one paragraph share its place, and may even share their text
	if at == s.lastAt && s.given > 0 {
		s.sameAt++
	} else {
		s.lastAt, s.sameAt = at, 0
	}
	s.given++
	lang := f.Lang
	if lang == "" {
		lang = textnorm.ScriptLang(text)
	}
	payload := append(slices.Clone(heading), text)
	if s.sameAt > 0 {
		payload = append(payload, strconv.Itoa(s.sameAt))
	}
	s.give(&drydock.Record{
		ID:      drydock.NewID(f.Source, f.Name, at.String(), payload...),
		Lang:    lang,
		Passage: &drydock.Passage{Heading: slices.Clone(heading), Text: text},
		Origin:  drydock.Origin{File: s.doc.File, At: at},
	}, nil)
}

// row reads a JSON row: a string, or an object with a text of a usual name.
func (s *sections) row(b drydock.Block) {
	text, heading := rowText(b.Raw)
	if text == "" {
		s.give(nil, &drydock.Drop{
			Record: &drydock.Record{Passage: &drydock.Passage{Text: string(b.Raw)}, Origin: drydock.Origin{File: s.doc.File, At: b.At}},
			Reason: "no_text", Detail: "the row has no field text, content, body or 正文",
		})
		return
	}
	s.flush()
	var under []string
	if heading != "" {
		under = []string{heading}
	}
	s.passages(under, []paragraph{{text, b.At}})
}
