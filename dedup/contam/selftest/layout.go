package selftest

import (
	"fmt"
	"html"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/textnorm"
)

// layoutKinds are copies with every word in place, set another way.
func layoutKinds() []Kind {
	return []Kind{
		kind("verbatim", Leak, mechanical, msg.Text{"as it stands", "原样"}, text(func(d *draft) string { return d.full(plain) })),
		kind("shuffled", Leak, mechanical, msg.Text{"options in another order", "选项乱序"}, turns(func(d *draft) record {
			if len(d.options) < 2 {
				return nil
			}
			s := d.shuffled()
			return record{s.full(plain), s.reply()}
		})),
		kind("relabelled", Leak, mechanical, msg.Text{"options numbered another way", "选项换用其他编号"}, text(relabelled)),
		kind("inline", Leak, mechanical, msg.Text{"options on the stem's line", "选项与题干同行"}, text(inline)),
		kind("options_first", Leak, mechanical, msg.Text{"options before the stem", "选项在题干之前"}, text(func(d *draft) string {
			return d.list(plain) + "\n" + d.stem
		})),
		kind("markup", Leak, mechanical, msg.Text{"as HTML", "转为 HTML"}, text(markup)),
		kind("html_entities", Leak, mechanical, msg.Text{"as character references", "转为字符引用"}, text(entities)),
		kind("markdown", Leak, mechanical, msg.Text{"as Markdown", "转为 Markdown"}, text(markdown)),
		kind("table", Leak, mechanical, msg.Text{"as a row of a table", "转为表格行"}, text(func(d *draft) string {
			return "| " + strings.Join(append([]string{d.stem}, d.options...), " | ") + " | " + letter(d.key) + " |"
		})),
		kind("json_in_json", Leak, mechanical, msg.Text{"as escaped JSON in a string", "作为字符串内的转义 JSON"}, text(nested)),
		kind("width", Leak, mechanical, msg.Text{"half and full width exchanged", "全角半角互换"}, whole(exchangeWidth)),
		kind("spaced", Leak, mechanical, msg.Text{"spaces between characters", "字间加空格"}, whole(spaced)),
		kind("wrapped", Leak, mechanical, msg.Text{"broken every few characters", "每隔数字换行"}, text(wrapped)),
		kind("traditional", Leak, mechanical, msg.Text{"in traditional characters", "转为繁体"}, text(func(d *draft) string {
			if !d.chinese {
				return ""
			}
			return textnorm.Traditional(d.full(plain))
		})),
		kind("upper", Leak, mechanical, msg.Text{"in capitals", "转为大写"}, text(func(d *draft) string {
			if d.chinese {
				return ""
			}
			return strings.ToUpper(d.full(plain))
		})),
		kind("no_punctuation", Leak, mechanical, msg.Text{"without punctuation", "去除标点"}, whole(noPunctuation)),
		kind("invisible", Leak, mechanical, msg.Text{"with invisible characters inside", "夹入不可见字符"}, whole(invisible)),
		kind("look_alike", Leak, mechanical, msg.Text{"some letters from another alphabet", "部分字母换成形近的他种字母"}, text(lookAlike)),
		kind("enumerators", Leak, mechanical, msg.Text{"statements numbered another way", "陈述换用其他编号"}, text(enumerators)),
		kind("statements_reordered", Leak, mechanical, msg.Text{"statements in another order", "陈述乱序"}, text(reordered)),
	}
}

// whole is a copy of the full question with f applied to all of it.
func whole(f func(*draft, string) string) func(*draft) []record {
	return text(func(d *draft) string { return f(d, d.full(plain)) })
}

func relabelled(d *draft) string {
	styles := []style{
		{labels: []string{"①", "②", "③", "④", "⑤", "⑥"}, sep: "\n"},
		{labels: []string{"1", "2", "3", "4", "5", "6"}, after: ") ", sep: "\n"},
		{labels: []string{"a", "b", "c", "d", "e", "f"}, before: "(", after: ") ", sep: "\n"},
		{labels: []string{"Ａ", "Ｂ", "Ｃ", "Ｄ", "Ｅ", "Ｆ"}, after: "．", sep: "\n"},
		{labels: []string{"甲", "乙", "丙", "丁", "戊", "己"}, after: "、", sep: "\n"},
		{before: "（", after: "）", sep: "\n"},
	}
	return d.full(styles[d.rng.IntN(len(styles))])
}

func inline(d *draft) string {
	seps := []string{"  ", "；", " | ", "\t"}
	s := style{after: []string{".", "、", ": "}[d.rng.IntN(3)], sep: seps[d.rng.IntN(len(seps))]}
	return d.stem + " " + d.list(s)
}

func markup(d *draft) string {
	var b strings.Builder
	b.WriteString("<p><b>" + html.EscapeString(d.stem) + "</b></p><ol>")
	for _, o := range d.options {
		b.WriteString("<li>&nbsp;" + html.EscapeString(o) + "</li>")
	}
	return b.String() + "</ol>"
}

func markdown(d *draft) string {
	var b strings.Builder
	b.WriteString("### " + d.say("Question", "题目") + "\n\n**" + d.stem + "**\n\n")
	for i, o := range d.options {
		b.WriteString("- [ ] `" + letter(i) + "` *" + o + "*\n")
	}
	return b.String()
}

// entities writes a third of the characters as numeric references.
func entities(d *draft) string {
	var b strings.Builder
	for _, r := range d.full(plain) {
		switch {
		case r == ' ':
			b.WriteString("&nbsp;")
		case unicode.IsLetter(r) && d.rng.IntN(3) == 0:
			b.WriteString("&#x" + strconv.FormatInt(int64(r), 16) + ";")
		default:
			b.WriteString(html.EscapeString(string(r)))
		}
	}
	return b.String()
}

// nested writes the item as a JSON object whose text is escaped to ASCII.
func nested(d *draft) string {
	field := func(b []byte, key, value string) []byte {
		b = drydock.AppendJSONString(b, key)
		return append(ascii(append(b, ':'), value), ',')
	}
	b := field([]byte("{"), "question", d.stem)
	for i, o := range d.options {
		b = field(b, letter(i), o)
	}
	return string(append(b[:len(b)-1], '}'))
}

// ascii appends s as a JSON string without any character beyond ASCII.
func ascii(b []byte, s string) []byte {
	for _, r := range string(drydock.AppendJSONString(nil, s)) {
		if r < utf8.RuneSelf {
			b = append(b, byte(r))
			continue
		}
		if r > 0xFFFF {
			r -= 0x10000
			b = append(append(b, escape(0xD800+r>>10)...), escape(0xDC00+r&0x3FF)...)
			continue
		}
		b = append(b, escape(r)...)
	}
	return b
}

func escape(r rune) string { return fmt.Sprintf(`\u%04x`, r) }

// exchangeWidth turns full-width signs into half-width ones and the other way.
func exchangeWidth(_ *draft, s string) string {
	const full, half = "，。；：？（）！", ",.;:?()!"
	return strings.Map(func(r rune) rune {
		if i := strings.IndexRune(full, r); i >= 0 {
			return rune(half[utf8.RuneCountInString(full[:i])])
		}
		switch {
		case r == ' ':
			return '　'
		case r > ' ' && r <= '~':
			return r + 0xFEE0
		}
		return r
	}, s)
}

func spaced(d *draft, s string) string {
	if !d.chinese {
		return ""
	}
	var b strings.Builder
	for _, r := range s {
		b.WriteRune(r)
		if unicode.Is(unicode.Han, r) || r == '，' || r == '。' {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// wrapped breaks the text as a narrow column does, inside words as well where
// the script has no spaces.
func wrapped(d *draft) string {
	if d.chinese {
		var b strings.Builder
		for i, r := range []rune(d.stem + " " + d.list(style{after: ". ", sep: " "})) {
			if i > 0 && i%12 == 0 {
				b.WriteByte('\n')
			}
			b.WriteRune(r)
		}
		return b.String()
	}
	var b strings.Builder
	column := 0
	for _, w := range strings.Fields(d.stem + " " + d.list(style{after: ". ", sep: " "})) {
		if column > 0 && column+len(w) > 34 {
			b.WriteString("\n    ")
			column = 0
		}
		b.WriteString(w + " ")
		column += len(w) + 1
	}
	return b.String()
}

func noPunctuation(d *draft, s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsSpace(r) || unicode.Is(unicode.No, r):
			return r
		case d.chinese:
			return -1
		}
		return ' '
	}, s)
}

// invisible puts zero-width characters between others.
func invisible(d *draft, s string) string {
	signs := []rune{0x200B, 0x200C, 0x2060, 0xFEFF, 0x00AD}
	var b strings.Builder
	for _, r := range s {
		b.WriteRune(r)
		if d.rng.IntN(4) == 0 {
			b.WriteRune(signs[d.rng.IntN(len(signs))])
		}
	}
	return b.String()
}

// lookAlike writes some Latin letters as the Cyrillic ones that look the same.
func lookAlike(d *draft) string {
	if d.chinese {
		return ""
	}
	same := map[rune]rune{'a': 'а', 'c': 'с', 'e': 'е', 'o': 'о', 'p': 'р', 'x': 'х', 'y': 'у', 'i': 'і'}
	return strings.Map(func(r rune) rune {
		if t, ok := same[r]; ok && d.rng.IntN(3) == 0 {
			return t
		}
		return r
	}, d.full(plain))
}

func enumerators(d *draft) string {
	if _, parts := d.statements(); parts == nil {
		return ""
	}
	styles := [][]string{
		{"Ⅰ", "Ⅱ", "Ⅲ", "Ⅳ", "Ⅴ", "Ⅵ", "Ⅶ", "Ⅷ", "Ⅸ", "Ⅹ"},
		{"(1)", "(2)", "(3)", "(4)", "(5)", "(6)", "(7)", "(8)", "(9)", "(10)"},
		{"1、", "2、", "3、", "4、", "5、", "6、", "7、", "8、", "9、", "10、"},
	}
	to := styles[d.rng.IntN(len(styles))]
	return d.each(func(s string) string {
		return circles.ReplaceAllStringFunc(s, func(c string) string { return to[place(c)] })
	}).full(plain)
}

// place returns the number from 0 that a circled sign stands for.
func place(c string) int { return utf8.RuneCountInString(circled[:strings.Index(circled, c)]) }

// reordered moves the statements and renames them in the options, so that the
// same option stays right.
func reordered(d *draft) string {
	head, parts := d.statements()
	if parts == nil {
		return ""
	}
	order := d.order(len(parts))
	now := make([]int, len(parts)) // where each statement went
	var b strings.Builder
	b.WriteString(head)
	for at, from := range order {
		now[from] = at
		b.WriteString(nth(circled, at) + parts[from])
	}
	e := d.each(func(s string) string {
		return circles.ReplaceAllStringFunc(s, func(c string) string {
			if p := place(c); p < len(now) {
				return nth(circled, now[p])
			}
			return c
		})
	})
	e.stem = b.String()
	return e.full(plain)
}
