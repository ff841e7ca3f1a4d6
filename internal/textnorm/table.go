package textnorm

import (
	_ "embed"
	"iter"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Class says what a code point is after folding.
type Class uint8

// The classes. Only Han, Letter, Digit and Symbol carry meaning of their own.
const (
	Ignored Class = iota // invisible or combining: as if it were not there
	Space                // white space and line ends
	Punct                // punctuation, brackets, blanks, bullets, controls
	Han                  // an ideograph, kana or hangul: a token by itself
	Letter               // a letter of an alphabet, lower-cased, without marks
	Digit                // 0–9 and the letters of other number systems
	Symbol               // mathematics, units, currency, arrows: x＞5 is not x＜5
	multi                // folds to several code points
)

const (
	pageBits = 8
	pageSize = 1 << pageBits
	valueMax = 1<<21 - 1
)

// table holds one entry for every code point: class<<21 | folded value. Pages
// that are equal are shared.
type table struct {
	page    [(unicode.MaxRune + 1) >> pageBits]uint16
	entries []uint32
	multi   [][]Piece // what a multi entry's value indexes
}

//go:embed han.txt
var hanPairs string

// extraHan are forms the dictionaries keep apart because each is also a word
// of its own; between scripts they stand for one another.
const extraHan = "著着" + "曡叠" + "愼慎" + "黃黄" + "內内" + "呂吕" + "戶户"

// radicals pairs the CJK radicals supplement, which Unicode leaves without a
// compatibility mapping but PDF fonts use for whole characters, with the
// ideographs they look like.
const radicals = "⺁厂⺄乙⺅亻⺆冂⺇几⺈刀⺉刂⺊卜⺌小⺍小⺎兀⺏尢⺐尢⺑尢⺒巳⺓幺⺔彑⺕彐⺖忄⺗心⺘扌⺙攵" +
	"⺛旡⺜日⺝月⺞歹⺟母⺠民⺡氵⺢水⺣灬⺤爪⺥爪⺦丬⺧牛⺨犭⺩王⺪疋⺫目⺬示⺭礻⺮竹⺯糸⺰纟⺱网⺲网⺳网⺴网" +
	"⺵羊⺶羊⺷羊⺸羊⺹耂⺺聿⺻聿⺼肉⺽臼⺾艹⺿艹⻀艹⻁虎⻂衤⻃西⻄西⻅见⻆角⻇角⻈讠⻉贝⻊足⻋车⻌辶⻍辶⻎辶" +
	"⻏阝⻐钅⻑长⻒长⻓长⻔门⻕阜⻖阝⻗雨⻘青⻙韦⻚页⻛风⻜飞⻝食⻞食⻟食⻠饣⻡首⻢马⻣骨⻤鬼⻥鱼⻦鸟⻧卤⻨麦⻩黄⻪黾" +
	"⻫齐⻬齐⻭齿⻮齿⻯龙⻰龙⻱龟⻲龟⻳龟"

// getTable builds the table on first use: about 5 ms, no change afterwards.
var getTable = sync.OnceValue(buildTable)

func buildTable() *table {
	b := &builder{han: map[rune]rune{}, latin: map[rune]rune{}}
	for from, to := range pairsOf(latinLooks) {
		b.latin[from] = to
	}
	for _, list := range []string{hanPairs, radicals, extraHan} {
		for from, to := range pairsOf(list) {
			if from != to {
				b.han[from] = to
			}
		}
	}
	t := &table{}
	uniform := map[uint32]uint16{} // pages of one entry
	addPage := func(p []uint32) uint16 {
		n := uint16(len(t.entries) >> pageBits)
		t.entries = append(t.entries, p...)
		return n
	}
	buf := make([]uint32, pageSize)
	for page := range t.page {
		first := rune(page) << pageBits
		if e, ok := b.plainPage(first); ok {
			if _, have := uniform[e]; !have {
				for i := range buf {
					buf[i] = e
				}
				uniform[e] = addPage(buf)
			}
			t.page[page] = uniform[e]
			continue
		}
		for i := range buf {
			buf[i] = b.entry(first+rune(i), t)
		}
		t.page[page] = addPage(buf)
	}
	return t
}

// pairsOf yields the pairs of a list: every first code point stands for the
// second. Line ends do not count.
func pairsOf(list string) iter.Seq2[rune, rune] {
	return func(yield func(from, to rune) bool) {
		var from rune
		for _, r := range list {
			switch {
			case r == '\n' || r == '\r':
			case from == 0:
				from = r
			default:
				if !yield(from, r) {
					return
				}
				from = 0
			}
		}
	}
}

// builder holds the pairs of Han forms and of look-alike letters while the table
// is made.
type builder struct{ han, latin map[rune]rune }

func pack(c Class, v rune) uint32 { return uint32(c)<<21 | uint32(v) }

// plainPage returns the entry of a page all of whose code points are alike:
// hangul, private use, and planes without letters. Value 0 stands for the code
// point itself, so that such pages can be shared.
func (b *builder) plainPage(first rune) (uint32, bool) {
	switch {
	case first >= 0xAC00 && first < 0xD700, first >= 0x17000 && first < 0x1B000,
		first >= 0x20000 && first < 0x32400 && first&^0xFFF != 0x2F000 && !b.hasPair(first):
		return pack(Han, 0), true
	case first >= 0x3400 && first < 0x9F00 && !b.hasPair(first):
		return pack(Han, 0), true
	case first >= 0xD800 && first < 0xF900, first >= 0xF0000,
		first >= 0x32400 && first < 0xE0000, first >= 0xE0200 && first < 0xF0000:
		return pack(Punct, 0), true
	}
	return 0, false
}

func (b *builder) hasPair(first rune) bool {
	for r := first; r < first+pageSize; r++ {
		if _, ok := b.han[r]; ok {
			return true
		}
	}
	return false
}

func (b *builder) entry(r rune, t *table) uint32 {
	if e, ok := basic(r); ok {
		return e
	}
	if to, ok := b.latin[r]; ok {
		return pack(Letter, to)
	}
	if unicode.Is(unicode.Han, r) && r >= 0x3400 && (r < 0xF900 || r >= 0x20000 && r < 0x2F800) {
		return b.hanEntry(r)
	}
	if !compatible(r) {
		return b.plain(r)
	}
	s := string(r)
	if r >= 0x2776 && r <= 0x2793 { // ❶ ➀ ➊: NFKC knows only ①
		s = strconv.Itoa(int(r-0x2776)%10 + 1)
	}
	s = norm.NFKC.String(strings.Map(unicode.ToLower, norm.NFKC.String(s)))
	s = norm.NFC.String(strings.Map(dropMark, norm.NFD.String(s)))
	var out []Piece
	onlyPunct := true
	for _, c := range s {
		e, ok := basic(c)
		if !ok {
			e = b.classify(c)
		}
		class := Class(e >> 21)
		if class == Ignored {
			continue
		}
		onlyPunct = onlyPunct && class == Punct
		v := rune(e & valueMax)
		if v == 0 {
			v = c
		}
		out = append(out, Piece{v, class})
	}
	switch {
	case len(out) == 0:
		return pack(Ignored, 0)
	case len(out) == 1 || onlyPunct:
		if out[0].Rune == r {
			return pack(out[0].Class, 0)
		}
		return pack(out[0].Class, out[0].Rune)
	}
	t.multi = append(t.multi, out)
	return pack(multi, rune(len(t.multi)-1))
}

// compatible reports whether Unicode has compatibility forms or accents near r:
// asking norm about all other code points would be most of the table's cost.
func compatible(r rune) bool {
	return r < 0x10000 || r >= 0x10700 && r < 0x11E00 || r >= 0x1E000 && r < 0x1E100 || r >= 0x1FB00 && r < 0x1FC00 || r >= 0x1D100 && r < 0x1D800 || r >= 0x1EE00 && r < 0x1F300 || r >= 0x2F800 && r < 0x2FA20
}

// plain is entry for a code point without compatibility form.
func (b *builder) plain(r rune) uint32 {
	low := unicode.ToLower(r)
	e := b.classify(low)
	if Class(e>>21) == Ignored || unicode.Is(unicode.Inherited, r) && unicode.Is(unicode.Mn, r) {
		return pack(Ignored, 0)
	}
	if rune(e&valueMax) == r {
		return pack(Class(e>>21), 0)
	}
	return e
}

// dropMark removes accents. Marks that belong to one script, and the two of
// kana, make another letter and stay.
func dropMark(c rune) rune {
	if unicode.In(c, unicode.Mn, unicode.Me) && unicode.Is(unicode.Inherited, c) && c != 0x3099 && c != 0x309A {
		return -1
	}
	return c
}

func (b *builder) hanEntry(r rune) uint32 {
	if to, ok := b.han[r]; ok {
		for range 4 {
			next, ok := b.han[to]
			if !ok {
				break
			}
			to = next
		}
		return pack(Han, to)
	}
	return pack(Han, 0)
}

// basic answers for the code points NFKC must not see: ASCII, which is most
// text, and the signs whose compatibility form would lose their meaning.
func basic(r rune) (uint32, bool) {
	switch {
	case r >= 'a' && r <= 'z':
		return pack(Letter, r), true
	case r >= 'A' && r <= 'Z':
		return pack(Letter, r+'a'-'A'), true
	case r >= '0' && r <= '9':
		return pack(Digit, r), true
	case r == ' ', r >= 9 && r <= 13, r == 0x85, r == 0xA0, r == 0x2028, r == 0x2029, r == 0x2800, r == 0x3000:
		return pack(Space, ' '), true
	case r == '~' || r == '^' || r == '`' || r == '|' || r == '$':
		return pack(Punct, r), true // printed as marks more often than as signs
	case r < 0x20, r == 0x7F:
		return pack(Punct, 0), true
	case r == '%' || r == '/':
		return pack(Symbol, r), true
	case r == 0x3007: // 〇 is written as a digit and as a Han zero
		return pack(Han, r), true
	case r == 0x2212 || r == 0xFF0D:
		return pack(Punct, '-'), true
	case r == 0x2236: // ∶ is typed for a colon
		return pack(Punct, ':'), true
	case r == 0x2206: // ∆ is typed for Δ
		return pack(Letter, 0x3B4), true
	case r == 0x2266 || r == 0x2267: // ≦ ≧
		return pack(Symbol, r-2), true
	case r == 0x2215 || r == 0x2044:
		return pack(Symbol, '/'), true
	case r == 0x30FC: // ー
		return pack(Han, r), true
	case r == 0x115F, r == 0x1160, r == 0x3164, r == 0xFFA0: // blank letters
		return pack(Ignored, 0), true
	case r == 0x120 || r == 0x10A: // Ġ and Ċ are the space and the line end of byte-level BPE
		return pack(Space, ' '), true
	case r == 0xBA || r == 0x2DA: // º and ˚ stand for the degree sign
		return pack(Symbol, 0xB0), true
	}
	return 0, false
}

// classify gives the class of a code point that NFKC left.
func (b *builder) classify(c rune) uint32 {
	if to, ok := b.han[c]; ok {
		return pack(Han, to)
	}
	if to, ok := b.latin[c]; ok {
		return pack(Letter, to)
	}
	switch {
	case unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo, unicode.Yi):
		return pack(Han, c)
	case unicode.IsDigit(c):
		return pack(Digit, digit(c))
	case unicode.In(c, unicode.Cf, unicode.Variation_Selector, unicode.Lm, unicode.Sk):
		return pack(Ignored, 0)
	case unicode.In(c, unicode.L, unicode.Nl, unicode.No, unicode.Mc, unicode.Mn):
		return pack(Letter, c)
	case unicode.IsSpace(c):
		return pack(Space, ' ')
	case unicode.In(c, unicode.Sm, unicode.Sc), c == 0xB0, c >= 0x2190 && c < 0x2300:
		return pack(Symbol, c)
	}
	return pack(Punct, c)
}

// digit folds the decimal digits of every script to ASCII.
func digit(c rune) rune {
	if c < 0x80 {
		return c
	}
	// decimal digits stand in runs of ten that start at their zero
	z := c
	for unicode.IsDigit(z-1) && c-z < 9 {
		z--
	}
	return '0' + (c - z)
}

func (t *table) entry(r rune) uint32 {
	if uint32(r) > unicode.MaxRune {
		return pack(Punct, 0)
	}
	return t.entries[int(t.page[r>>pageBits])<<pageBits|int(r&(pageSize-1))]
}

// A Folder answers for single code points. It is read-only and safe for
// concurrent use; get it once, outside the loop.
type Folder struct{ t *table }

// NewFolder returns the one folder there is.
func NewFolder() Folder { return Folder{getTable()} }

// A Piece is one folded code point and its class.
type Piece struct {
	Rune  rune
	Class Class
}

// Rune returns the folded form of c. A code point that folds to several (㎡, ﬁ,
// ⒈) has the others in rest, which must not be changed.
func (f Folder) Rune(c rune) (p Piece, rest []Piece) {
	e := f.t.entry(c)
	class := Class(e >> 21)
	v := rune(e & valueMax)
	if class == multi {
		m := f.t.multi[v]
		return m[0], m[1:]
	}
	if v == 0 {
		v = c
	}
	return Piece{v, class}, nil
}
