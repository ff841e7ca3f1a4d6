package selftest

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/drydock-ml/drydock/internal/msg"
)

// partKinds are copies of a part of the item, or of the item as another form of
// question.
func partKinds() []Kind {
	return []Kind{
		kind("with_answer", Leak, mechanical, msg.Text{"with its answer", "附答案"}, text(func(d *draft) string {
			return d.full(plain) + "\n" + d.say("Answer: ", "答案：") + letter(d.key)
		})),
		kind("stem_only", Leak, fewWords, msg.Text{"the stem alone", "仅题干"}, text(func(d *draft) string { return d.stem })),
		kind("stem_answer", Leak, mechanical, msg.Text{"the stem, answered in words", "题干与答案文字"}, turns(func(d *draft) record {
			return d.answered(d.key)
		})),
		kind("stem_wrong_answer", Leak, mechanical, msg.Text{"the stem, answered wrongly", "题干与错误答案"}, turns(func(d *draft) record {
			return d.answered(d.wrong())
		})),
		kind("blank_filled", Shown, filledBar, msg.Text{"the answer in the blank", "填入空白"}, text(func(d *draft) string { return d.filled(d.key) })),
		kind("true_false", Shown, filledBar, msg.Text{"as a true/false question", "改为判断题"}, turns(trueFalse)),
		kind("option_replaced", Shown, most, msg.Text{"one wrong option replaced", "替换一个错误选项"}, text(replaced)),
		kind("option_dropped", Shown, most, msg.Text{"one wrong option left out", "删去一个错误选项"}, text(dropped)),
	}
}

func (d *draft) answered(option int) record {
	if option < 0 {
		return nil
	}
	return record{d.stem, d.options[option]}
}

func trueFalse(d *draft) record {
	s := d.filled(d.key)
	if s == "" {
		return nil
	}
	return record{d.say("True or false: ", "判断正误：") + s, d.say("True", "正确")}
}

func replaced(d *draft) string {
	i := d.wrong()
	if i < 0 || len(d.options) < 3 || d.other == nil || len(d.other.options) == 0 {
		return ""
	}
	options := append([]string(nil), d.options...)
	options[i] = d.other.options[d.rng.IntN(len(d.other.options))]
	return d.with(options, d.key).full(plain)
}

func dropped(d *draft) string {
	i := d.wrong()
	if i < 0 || len(d.options) < 3 {
		return ""
	}
	options := append(append([]string(nil), d.options[:i]...), d.options[i+1:]...)
	return d.with(options, d.key).full(plain)
}

// placeKinds are copies that stand inside other text or lie apart.
func placeKinds() []Kind {
	return []Kind{
		kind("embedded", Leak, mechanical, msg.Text{"inside 2,000 characters of your text", "嵌入您的 2000 字文本"}, text(func(d *draft) string {
			before := 600 + d.rng.IntN(800)
			return d.prose(before) + "\n" + d.full(plain) + "\n" + d.prose(2000-before)
		})),
		kind("split_turns", Leak, mechanical, msg.Text{"over several turns", "分散在多轮对话"}, turns(func(d *draft) record {
			if len(d.options) == 0 {
				return nil
			}
			return record{d.stem, d.say("Please give the options.", "请给出选项。"), d.list(plain), d.reply()}
		})),
		kind("split_records", Leak, fewWords, msg.Text{"over two neighbouring records", "分散在相邻两条记录"}, splitRecords),
		kind("asked_of_assistant", Leak, mechanical, msg.Text{"written by the assistant", "由助手给出"}, turns(func(d *draft) record {
			return record{d.say("Give me an exam question.", "请出一道考题。"), d.full(plain)}
		})),
	}
}

// splitRecords cuts a question in its middle, as a chunker does, with the
// user's own text before and after.
func splitRecords(d *draft) []record {
	whole := []rune(d.full(plain))
	at := len(whole)/2 + d.rng.IntN(len(whole)/4+1) - len(whole)/8
	return []record{{d.prose(200) + "\n" + string(whole[:at])}, {string(whole[at:]) + "\n" + d.prose(200)}}
}

// variantKinds are other questions of the same make.
func variantKinds() []Kind {
	return []Kind{
		kind("number_changed", Variant, filledBar, msg.Text{"other numbers", "改动数字"}, text(otherNumbers)),
		kind("polarity_flipped", Variant, filledBar, msg.Text{"asked the other way round", "反向提问"}, text(flipped)),
	}
}

var digits = regexp.MustCompile(`\d+(?:\.\d+)?`)

// otherNumbers changes every number that is a word of its own in stem and
// options: the 1 of COLREG1972 is part of a name.
func otherNumbers(d *draft) string {
	changed := false
	e := d.each(func(s string) string {
		var b strings.Builder
		last := 0
		for _, p := range digits.FindAllStringIndex(s, -1) {
			if inWord(s, p[0], p[1]) {
				continue
			}
			b.WriteString(s[last:p[0]])
			for _, c := range []byte(s[p[0]:p[1]]) {
				if c != '.' {
					c = '1' + (c-'0'+byte(d.rng.IntN(8)))%9
				}
				b.WriteByte(c)
			}
			last, changed = p[1], true
		}
		return b.String() + s[last:]
	})
	if !changed {
		return ""
	}
	return e.full(plain)
}

func inWord(s string, from, to int) bool {
	latin := func(r rune) bool {
		return r < utf8.RuneSelf && (r|0x20 >= 'a' && r|0x20 <= 'z' || r >= '0' && r <= '9')
	}
	before, _ := utf8.DecodeLastRuneInString(s[:from])
	after, _ := utf8.DecodeRuneInString(s[to:])
	return latin(before) || latin(after)
}

// opposites are words that turn a question round, the longer of two that
// contain one another first.
var opposites = []struct{ from, to string }{
	{"不正确", "正确"},
	{"不属于", "属于"},
	{"不包括", "包括"},
	{"不应", "应"},
	{"不得", "可以"},
	{"错误的", "正确的"},
	{"正确的", "错误的"},
	{"包括", "不包括"},
	{"属于", "不属于"},
	{"最大", "最小"},
	{"最小", "最大"},
	{"最高", "最低"},
	{"增大", "减小"},
	{"减小", "增大"},
	{"升高", "降低"},
	{"降低", "升高"},
	{" is not ", " is "},
	{" NOT ", " "},
	{" not ", " "},
	{" except", " including"},
	{"TRUE", "FALSE"},
	{" true", " false"},
	{"largest", "smallest"},
	{"increase", "decrease"},
	{" shall ", " shall not "},
	{" should ", " should not "},
	{" may ", " may not "},
}

func flipped(d *draft) string {
	for _, o := range opposites {
		if strings.Contains(d.stem, o.from) {
			e := *d
			e.stem = strings.Replace(d.stem, o.from, o.to, 1)
			return e.full(plain)
		}
	}
	return ""
}
