package contam

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
)

// units groups what is measured in the same dimension. Names in one string mean
// the same unit, others another one. A name of several words has marks between
// them.
var units = [...][]string{
	{"m 米 metre metres meter meters", "km 公里 千米 kilometre kilometres kilometer kilometers", "cm 厘米", "mm 毫米", "nmile n_mile 海里 nm nautical_mile nautical_miles", "ft 英尺 feet foot", "链 cables", "in 英寸 inch inches", "mile miles 英里"},
	{"s 秒 second seconds sec", "min 分钟 分 minute minutes", "h 小时 时 hour hours hr hrs", "d 天 日 day days", "周 星期 week weeks", "月 个月 month months", "年 year years"},
	{"kg 千克 公斤", "t 吨 ton tons tonne tonnes", "g 克", "lb 磅 lbs"},
	{"kn 节 knot knots", "m/s", "km/h", "ft/s", "mph"},
	{"mpa 兆帕", "kpa 千帕", "pa 帕", "bar 巴"},
	{"kw 千瓦", "w 瓦", "kva", "mw 兆瓦"},
	{"v 伏", "kv 千伏", "mv 毫伏"},
	{"a 安", "ma 毫安", "ka"},
	{"hz 赫兹", "khz 千赫", "mhz 兆赫", "ghz"},
	{"c 摄氏度", "f 华氏度", "k"},
	{"l 升", "ml 毫升"},
}

// temperature is the place of its dimension in units.
const temperature = 9

// A unitName is one name of a unit.
type unitName struct {
	name, first []letter // first is the unit's first name
	dimension   int
	words       bool // it is several words
}

func (a *alphabet) unitNames() []unitName {
	var out []unitName
	for dimension, all := range units {
		for _, names := range all {
			var first []letter
			for _, name := range strings.Fields(names) {
				ls := a.learn(name)
				if first == nil {
					first = ls
				}
				out = append(out, unitName{ls, first, dimension, strings.ContainsAny(name, "_/")})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b unitName) int { return len(b.name) - len(a.name) })
	return out
}

// A unitSign is a sign that is written behind a number.
type unitSign uint8

const (
	noSign unitSign = iota
	degrees
	arcMinutes
	arcSeconds
	percent
	perMille
)

func signOf(r rune) unitSign {
	switch r {
	case '°', 'º', '˚', '∘':
		return degrees
	case '\'', '′', '’', '´', '＇':
		return arcMinutes
	case '"', '″', '”', '＂':
		return arcSeconds
	case '%', '％':
		return percent
	case '‰':
		return perMille
	}
	return noSign
}

// A measure is a number of a text and what is measured.
type measure struct {
	number []letter // in digits
	sign   unitSign
	unit   int   // of numbering.names: what stands behind it as a word; -1: no unit
	like   []int // all names that could be read there
}

// measured is a text by its numbers and what else it says.
type measured struct {
	all  []measure
	rest []letter // without the units
}

// measure reads the numbers of a text, in order.
func (n *numbering) measure(a *alphabet, text []byte) measured {
	s := stream{want: true}
	a.feed(&s, text)
	var out measured
	for i := 0; i < len(s.letters); {
		if !n.numeral(s.letters[i]) {
			out.rest = append(out.rest, s.letters[i])
			i++
			continue
		}
		end := i + 1
		sign := signBehind(text, &s, end)
		for end < len(s.letters) && n.numeral(s.letters[end]) && sign == noSign {
			end++
			sign = signBehind(text, &s, end)
		}
		m := measure{number: n.plain(s.letters[i:end]), sign: sign, unit: -1}
		n.findUnit(&m, &s, end)
		if sign != noSign && m.unit >= 0 {
			if sign == degrees && n.names[m.unit].dimension == temperature {
				m.sign = noSign // °C
			} else {
				m.unit = -1 // 时 behind 180°
			}
		}
		out.rest = append(out.rest, s.letters[i:end]...)
		if i = end; m.unit >= 0 {
			i += len(n.names[m.unit].name)
		}
		out.all = append(out.all, m)
	}
	return out
}

// signBehind returns the sign in the text between letter end-1 of the stream and
// the next.
func signBehind(text []byte, s *stream, end int) unitSign {
	i, to := int(s.offs[end-1]), len(text)
	size, _ := signLen(text, i)
	i += size
	if end < len(s.offs) {
		to = int(s.offs[end])
	}
	found := noSign
	for i < to {
		r, n := sign(text, i)
		if n == 0 {
			r, n = utf8.DecodeRune(text[i:])
		}
		i += n
		switch k := signOf(r); {
		case found == arcMinutes && k == arcMinutes:
			return arcSeconds // ''
		case found != noSign || k == noSign && !unicode.IsSpace(r):
			return found
		default:
			found = k
		}
	}
	return found
}

// findUnit fills in the unit that stands at letter at.
func (n *numbering) findUnit(m *measure, s *stream, at int) {
	begins := func(k int) bool {
		_, ok := slices.BinarySearch(s.starts, int32(k))
		return ok
	}
	for k := range n.names {
		u := &n.names[k]
		end := at + len(u.name)
		if end > len(s.letters) || !slices.Equal(s.letters[at:end], u.name) {
			continue
		}
		m.like = append(m.like, k)
		if m.unit >= 0 {
			continue
		}
		whole := end == len(s.letters) || u.name[0] >= firstOwn || begins(end) || isDigit(s.letters[end]) || s.letters[end] >= latinEnd
		for i := at + 1; i < end && whole; i++ {
			whole = u.words || u.name[0] >= firstOwn || !begins(i)
		}
		if whole {
			m.unit = k
		}
	}
}

// otherUnit reports whether d measures something else than m does, of the same
// dimension.
func (n *numbering) otherUnit(m, d *measure) bool {
	if m.sign != noSign && d.sign != noSign {
		return m.sign != d.sign
	}
	if m.unit < 0 || d.unit < 0 || n.names[m.unit].dimension != n.names[d.unit].dimension {
		return false
	}
	same := func(k int) bool { return slices.Equal(n.names[k].first, n.names[m.unit].first) }
	return !slices.ContainsFunc(d.like, same)
}

// unitsDiffer reports whether data has the numbers of the item, and perhaps more
// behind them, of which one is in another unit; edits are those between the names
// of the units.
func (n *numbering) unitsDiffer(item, data *measured) (edits int, differ bool) {
	if len(item.all) > len(data.all) {
		return 0, false
	}
	for i := range item.all {
		m, d := &item.all[i], &data.all[i]
		if !slices.Equal(m.number, d.number) {
			return 0, false
		}
		if n.otherUnit(m, d) {
			differ = true
			if m.unit >= 0 && d.unit >= 0 {
				edits += distance(n.names[m.unit].name, n.names[d.unit].name)
			}
		}
	}
	return edits, differ
}

// unitChanged reports whether a number of the stem has another unit, and hardly
// anything else is changed: damaged text has 9 mHz for 9 GHz, too.
func (s *Scanner) unitChanged(e *evidence) bool {
	n, a := s.ix.numbers, s.ix.alpha
	for _, p := range e.spots() {
		if !n.in(p.item) || e.fieldOf(p.lo) != e.fieldOf(p.hi-1) {
			continue
		}
		k := slices.IndexFunc(e.it.segments, func(ls []letter) bool { return slices.Equal(ls, p.item) })
		item := n.measure(a, []byte(e.it.texts[k].text))
		if !slices.ContainsFunc(item.all, measure.counts) {
			continue
		}
		data := n.measure(a, e.textOf(p))
		if edits, differ := n.unitsDiffer(&item, &data); differ && distance(p.item, e.window[p.lo:p.hi]) <= edits {
			return true
		}
	}
	return false
}

// longestUnit is the most letters of a unit behind a spot that has another one.
const longestUnit = 8

// textOf returns the text of a spot with the unit and signs behind it.
func (e *evidence) textOf(p spot) []byte {
	f := e.fieldOf(p.lo)
	from, to := int(e.origins[p.lo].byte), len(e.fields[f].text)
	if behind := p.hi + longestUnit; behind < len(e.origins) && e.fieldOf(behind) == f {
		to = int(e.origins[behind].byte)
	}
	return e.fields[f].text[from:max(to, e.after(p.hi-1))]
}

// optionUnitsChanged reports whether options are offered that are the item's but
// for the units of their numbers.
func (s *Scanner) optionUnitsChanged(e *evidence) bool {
	if len(e.options) < 2 {
		return false
	}
	n, a := s.ix.numbers, s.ix.alpha
	with, changed := 0, 0
	for i, o := range s.question(e.it).Options {
		if e.it.options[i].combo || !n.in(e.it.options[i].letters) {
			continue
		}
		item := n.measure(a, []byte(o.Text))
		if !slices.ContainsFunc(item.all, measure.counts) {
			continue
		}
		with++
		same, other := false, false
		for k, r := range e.options {
			if n.in(r.text) && s.inOtherUnits(e, &item, r) {
				other = true
			} else if e.sameOffer(i, k) {
				same = true
			}
		}
		if other && !same {
			changed++
		}
	}
	return changed > 0 && 2*changed >= with
}

// counts reports whether the number is of something that can be told.
func (m measure) counts() bool { return m.unit >= 0 || m.sign != noSign }

// inOtherUnits reports whether what is offered is the item's option but for its
// units.
func (s *Scanner) inOtherUnits(e *evidence, item *measured, r offer) bool {
	line, _, _ := bytes.Cut(bytes.TrimSpace(r.raw), []byte("\n"))
	for _, raw := range [][]byte{r.raw, line} {
		data := s.ix.numbers.measure(s.ix.alpha, raw)
		if len(data.all) != len(item.all) || distance(item.rest, data.rest) > tolerance(len(item.rest), e.it.latin) {
			continue
		}
		if _, differ := s.ix.numbers.unitsDiffer(item, &data); differ {
			return true
		}
	}
	return false
}

// question returns what the item was made of.
func (s *Scanner) question(it *item) *drydock.Question {
	return &s.ix.sets[it.set].Items[it.number].Question
}
