package contam

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/drydock-ml/drydock/eval/benchmark"
)

// maxPiece is the longest pattern one machine word can search.
const maxPiece = 64

// A partKind says what of an item a piece belongs to.
type partKind uint8

const (
	stemPart partKind = iota
	statementPart
	optionPart
)

// A piece is a run of an item's letters that is searched as one: a part of the
// stem between two blanks, a statement, an option, or an equal share of one
// that is longer than maxPiece.
type piece struct {
	letters []letter
	kind    partKind
	part    int  // which statement or option, from 0; for stems 0
	from    int  // its first letter in the stem's letters, or in the option's
	more    bool // goes on the piece before it
	digits  bool
}

// An option as it is compared.
type option struct {
	letters []letter
	pieces  []piece
	first   int     // where these begin in the item's all
	trivial bool    // too short or too plain to tell items apart
	combo   bool    // says which statements hold: ②③
	seeds   int     // how many it has
	mass    float32 // nats of them
}

// An item is a benchmark question prepared for comparing.
type item struct {
	set    int // which benchmark
	number int // which of its items, from 0
	index  int // the item's own number
	limits *Thresholds
	answer []string
	labels []string // of the options

	segments   [][]letter // of the stem, as cut at blanks and enumerators
	texts      []segment  // what these are the letters of
	stem       []piece    // the segments' pieces, statements included, in order
	stemLen    int
	statements int
	clauses    []piece // of the stem, where it has several
	options    []option
	optionLen  int
	length     int     // letters of stem and options
	all        []piece // the stem's, then those of the options in turn

	stemMass   float32 // nats of the seeds of the stem, without its joints
	joints     int     // seeds over the numbers of statements
	optionMass float32
	latin      bool // mostly Latin letters
}

// parse cuts a question into pieces. The alphabet grows.
func (a *alphabet) parse(q *benchmark.Item, set, number int) item {
	it := item{set: set, number: number, index: q.Index, answer: q.Question.Answer}
	own, latin := 0, 0 // letters that are no digits
	for _, seg := range segments(q.Question.Stem) {
		ls := a.learn(seg.text)
		if len(ls) == 0 {
			continue
		}
		kind := stemPart
		if seg.statement > 0 {
			kind = statementPart
			it.statements = max(it.statements, seg.statement)
		}
		it.segments, it.texts = append(it.segments, ls), append(it.texts, seg)
		it.clauses = append(it.clauses, a.clausesOf(seg.text, len(ls), kind, it.stemLen)...)
		it.stem = append(it.stem, cut(ls, kind, max(0, seg.statement-1), it.stemLen)...)
		it.stemLen += len(ls)
		own += len(ls) - countDigits(ls)
		latin += countLatin(ls)
	}
	for i, o := range q.Question.Options {
		ls := a.learn(o.Text)
		it.labels = append(it.labels, o.Label)
		it.options = append(it.options, option{
			letters: ls,
			pieces:  cut(ls, optionPart, i, 0),
			trivial: trivial(ls),
			combo:   combo(o.Text),
		})
		it.optionLen += len(ls)
		own += len(ls) - countDigits(ls)
		latin += countLatin(ls)
	}
	it.all = slices.Clone(it.stem)
	for i := range it.options {
		it.options[i].first = len(it.all)
		it.all = append(it.all, it.options[i].pieces...)
	}
	if len(it.clauses) < 2 {
		it.clauses = nil
	}
	it.length = it.stemLen + it.optionLen
	it.latin = 2*latin > own
	return it
}

// clausesOf cuts a segment of n letters at its punctuation; a clause that is too
// short to be searched by itself goes with the next.
func (a *alphabet) clausesOf(text string, n int, kind partKind, from int) []piece {
	var out []piece
	at := 0
	add := func(ls []letter) {
		out = append(out, cut(ls, kind, 0, from+at)...)
		at += len(ls)
	}
	for start, i := 0, 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		if i < len(text) && !strings.ContainsRune("，,；;：。", r) {
			continue
		}
		ls := a.learn(text[start:i])
		if i < len(text) && (len(ls) < shortestClause || n-at-len(ls) < shortestClause) {
			continue
		}
		if len(ls) > 0 {
			add(ls)
		}
		start = i
	}
	return out
}

// shortStatements reports whether the stem has a statement too short for a seed.
func (it *item) shortStatements() bool {
	return slices.ContainsFunc(it.stem, func(p piece) bool { return p.kind == statementPart && len(p.letters) < seedLen })
}

// right reports whether option i is the answer.
func (it *item) right(i int) bool { return slices.Contains(it.answer, it.labels[i]) }

// telling returns how many options say something by themselves.
func (it *item) telling() int {
	n := 0
	for i := range it.options {
		if o := &it.options[i]; len(o.letters) > 0 && !o.trivial {
			n++
		}
	}
	return n
}

// trivial options say nothing by themselves: 右舷, 3, ②③, Yes.
func trivial(ls []letter) bool {
	own := 0
	digits := 0
	for _, l := range ls {
		switch {
		case isDigit(l):
			digits++
		case l >= firstOwn:
			own += 2
		default:
			own++
		}
	}
	return own < 6 || digits == len(ls)
}

// comboWords is how many letters may stand beside the statements that an option
// names: 仅②③, ③或④, ①②皆可.
const comboWords = 4

// combo reports whether an option only names statements of the stem.
func combo(s string) bool {
	n, words := 0, 0
	for _, r := range s {
		switch {
		case enumerator(r) > 0:
			n++
		case unicode.IsDigit(r):
			return false
		case unicode.IsLetter(r):
			words++
		}
	}
	return n > 0 && words <= comboWords
}

// countLatin returns how many of ls are Latin letters. Digits stand in text of
// any script.
func countLatin(ls []letter) int {
	n := 0
	for _, l := range ls {
		if l < latinEnd && !isDigit(l) {
			n++
		}
	}
	return n
}

func countDigits(ls []letter) int {
	n := 0
	for _, l := range ls {
		if isDigit(l) {
			n++
		}
	}
	return n
}

// cut makes pieces of at most maxPiece letters, equally long. The first letter
// of ls is letter from of the stem or option.
func cut(ls []letter, kind partKind, part, from int) []piece {
	n := (len(ls) + maxPiece - 1) / maxPiece
	var out []piece
	for i := range n {
		at := i * len(ls) / n
		p := piece{letters: ls[at : (i+1)*len(ls)/n], kind: kind, part: part, from: from + at, more: i > 0}
		for _, l := range p.letters {
			p.digits = p.digits || isDigit(l)
		}
		out = append(out, p)
	}
	return out
}

// A segment is a stretch of a stem that a leak may move or fill as a whole.
type segment struct {
	text      string
	at        int // its first byte in the stem
	statement int // from 1; 0: not a statement
}

// segments cuts a stem at its blanks and at the enumerators of its statements.
func segments(stem string) []segment {
	var out []segment
	style := statementStyle(stem)
	start, statement := 0, 0
	add := func(end int) {
		if strings.TrimSpace(stem[start:end]) != "" {
			out = append(out, segment{stem[start:end], start, statement})
		}
	}
	for i := 0; i < len(stem); {
		if n := blank(stem[i:]); n > 0 {
			add(i)
			i += n
			start = i
			continue
		}
		r, n := utf8.DecodeRuneInString(stem[i:])
		// statements count up from one
		if k, number := enumerated(r); k == style && number == statement+1 {
			add(i)
			statement++
			start = i + n
		}
		i += n
	}
	add(len(stem))
	return out
}

// blank returns the length of the gap to fill in that s begins with: two or
// more underscores, or empty brackets.
func blank(s string) int {
	if s == "" || strings.IndexByte("_([\xEF\xE3", s[0]) < 0 { // what the signs below begin with
		return 0
	}
	n := 0
	for n < len(s) && (s[n] == '_' || n > 1 && s[n] == ' ') {
		n++
	}
	if n >= 2 && s[1] == '_' {
		return n
	}
	for _, b := range [...][2]string{{"（", "）"}, {"(", ")"}, {"【", "】"}, {"[", "]"}} {
		if !strings.HasPrefix(s, b[0]) {
			continue
		}
		rest := s[len(b[0]):]
		inside := strings.TrimLeft(rest, " 　\u00a0_")
		if strings.HasPrefix(inside, b[1]) {
			return len(s) - len(inside) + len(b[1])
		}
	}
	return 0
}

// statementStyle returns the kind of sign that numbers the statements of a stem:
// the first kind of enumerators that counts up to two at least. The Ⅰ of 附则Ⅰ and a
// lone ① number nothing, nor do chapters Ⅰ to Ⅴ beside ① ②. -1: no statements.
func statementStyle(stem string) int {
	var last [len(enumerators)]int
	for _, r := range stem {
		if k, number := enumerated(r); number > 0 && number == last[k]+1 {
			last[k] = number
		}
	}
	return slices.IndexFunc(last[:], func(n int) bool { return n >= 2 })
}

// enumerators are the signs that number statements, by kind: runs of code points
// that count up from one (① Ⅱ ⑶ ❹ ㈤).
var enumerators = [...]struct{ first, last rune }{
	{0x2460, 0x2473},
	{0x2474, 0x2487},
	{0x2488, 0x249B},
	{0x2160, 0x216B},
	{0x2170, 0x217B},
	{0x2776, 0x277F},
	{0x2780, 0x2789},
	{0x278A, 0x2793},
	{0x3220, 0x3229},
	{0x24EB, 0x24F4},
	{0x24F5, 0x24FE},
}

// enumerated returns the kind of an enumerator and its number; 0: r is none.
func enumerated(r rune) (kind, number int) {
	if r < 0x2160 || r > 0x3229 { // nearly all
		return -1, 0
	}
	for k, run := range enumerators {
		if r >= run.first && r <= run.last {
			return k, int(r-run.first) + 1
		}
	}
	return -1, 0
}

// enumerator returns the number that r alone stands for in a list of
// statements, 0 when it is no such sign.
func enumerator(r rune) int {
	_, number := enumerated(r)
	return number
}
