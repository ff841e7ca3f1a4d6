package selftest

import (
	"strings"
	"unicode"

	"github.com/drydock-ml/drydock/internal/msg"
)

// negativeKinds look like the item and are none: what they are found as would
// be a false alarm. Options under another stem may be shown as options_only,
// which fails nothing.
func negativeKinds() []Kind {
	return []Kind{
		kind("plain_stem", Clean, fewWords, msg.Text{"its options under a stem any exam has", "套话题干配其选项"}, text(plainStem)),
		kind("own_stem", Clean, fewWords, msg.Text{"its options under a sentence of yours", "您的句子配其选项"}, text(ownStem)),
		kind("plain_question", Clean, most, msg.Text{"such a stem over phrases of yours", "套话题干配您的短语"}, text(plainQuestion)),
		kind("words_shuffled", Clean, most, msg.Text{"its own words in any order", "打乱其自身词序"}, text(wordsShuffled)),
		kind("own_text", Clean, most, msg.Text{"2,000 characters of yours", "您的 2000 字文本"}, text(func(d *draft) string { return d.prose(2000) })),
	}
}

// plainStems say nothing about what is asked.
var (
	plainStemsZh = []string{
		"下列说法正确的是______。", "以下哪项不正确？", "下列叙述中错误的是______。", "关于上述内容，正确的是______。",
		"以下属于主要原因的是______。", "正确的做法是______。", "下列选项中，不包括______。",
	}
	plainStemsEn = []string{
		"Which of the following is correct?", "Which statement is TRUE?", "Which of these is NOT correct?",
		"All of the following are true except:", "The correct answer is:",
	}
)

func (d *draft) plainStem() string {
	list := plainStemsEn
	if d.chinese {
		list = plainStemsZh
	}
	return list[d.rng.IntN(len(list))]
}

func plainStem(d *draft) string {
	if len(d.options) == 0 {
		return ""
	}
	e := *d
	e.stem = d.plainStem()
	return e.full(plain)
}

func ownStem(d *draft) string {
	if len(d.options) == 0 {
		return ""
	}
	e := *d
	e.stem = strings.TrimSpace(d.prose(40))
	return e.full(plain)
}

func plainQuestion(d *draft) string {
	var options []string
	for range 4 {
		options = append(options, strings.TrimSpace(d.prose(8+d.rng.IntN(12))))
	}
	e := d.with(options, 0)
	e.stem = d.plainStem()
	return e.full(plain)
}

// wordsShuffled puts the stem's words in any order: pairs of ideographs in
// Chinese, so that no four letters stay together.
func wordsShuffled(d *draft) string {
	var words []string
	if !d.chinese {
		words = strings.Fields(d.stem)
	} else {
		letters := []rune(strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return r
			}
			return -1
		}, d.stem))
		for ; len(letters) > 2; letters = letters[2:] {
			words = append(words, string(letters[:2]))
		}
		words = append(words, string(letters))
	}
	if len(words) < 8 { // a few words in any order may well say the same
		return ""
	}
	d.rng.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	return strings.Join(words, d.say(" ", ""))
}
