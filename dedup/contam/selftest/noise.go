package selftest

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/textnorm"
)

// noiseKinds are copies with characters or words changed.
func noiseKinds() []Kind {
	return []Kind{
		kind("noise_2", Leak, mechanical, msg.Text{"2 in 100 characters misread", "每百字误识 2 字"}, whole(noise(.02))),
		kind("noise_5", Leak, most, msg.Text{"5 in 100 characters misread", "每百字误识 5 字"}, whole(noise(.05))),
		kind("noise_10", Shown, filledBar, msg.Text{"10 in 100 characters misread", "每百字误识 10 字"}, whole(noise(.10))),
		kind("swapped", Leak, most, msg.Text{"neighbouring characters exchanged", "相邻字符互换"}, whole(swapped)),
		kind("reworded", Shown, rewordBar, msg.Text{"some words replaced by others of the same meaning", "部分词语换成同义词"}, text(reworded)),
		kind("combined", Leak, fewWords, msg.Text{"script, spaces, order, letters and misreading at once", "繁体、空格、乱序、编号与误识同时"}, text(combined)),
	}
}

// misread are pairs of ideographs and of letters that scanners take for one
// another.
const (
	misreadHan   = "未末己已日曰土士人入大太千干王玉木本目自问间拔拨析折辨辩燥躁船般锚描温湿阀阔左在右石上土下卞水木不木高亮低抵小少时吋流硫"
	misreadLatin = "l1o0ecaoilS5tfrnmnuv"
)

// noise replaces a share of the letters: seven in ten by one that looks alike,
// the rest by any other of the benchmark or by nothing.
func noise(share float64) func(*draft, string) string {
	return func(d *draft, s string) string {
		runes := []rune(s)
		var at []int
		for i, r := range runes {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				at = append(at, i)
			}
		}
		n := max(1, int(math.Round(share*float64(len(at)))))
		if len(at) == 0 {
			return s
		}
		gone := map[int]bool{}
		for _, k := range d.rng.Perm(len(at))[:min(n, len(at))] {
			i := at[k]
			if d.rng.IntN(7) == 0 {
				gone[i] = true
				continue
			}
			runes[i] = d.misread(runes[i])
		}
		var b strings.Builder
		for i, r := range runes {
			if !gone[i] {
				b.WriteRune(r)
			}
		}
		return b.String()
	}
}

func (d *draft) misread(r rune) rune {
	pairs := []rune(misreadLatin)
	if unicode.Is(unicode.Han, r) {
		pairs = []rune(misreadHan)
	}
	if d.rng.IntN(10) < 7 {
		for i, p := range pairs {
			if p == r {
				return pairs[i^1]
			}
		}
	}
	if unicode.Is(unicode.Han, r) && len(d.letters) > 0 {
		return d.letters[d.rng.IntN(len(d.letters))]
	}
	return rune('a' + d.rng.IntN(26))
}

// swapped exchanges one pair of neighbours in 25.
func swapped(d *draft, s string) string {
	runes := []rune(s)
	var at []int
	for i := range len(runes) - 1 {
		if unicode.IsLetter(runes[i]) && unicode.IsLetter(runes[i+1]) && runes[i] != runes[i+1] {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return ""
	}
	last := -2
	n := max(1, len(runes)/25)
	for _, i := range at {
		if n > 0 && i > last+1 && d.rng.IntN(len(at)) < 2*n {
			runes[i], runes[i+1] = runes[i+1], runes[i]
			last = i
			n--
		}
	}
	if last < 0 {
		i := at[d.rng.IntN(len(at))]
		runes[i], runes[i+1] = runes[i+1], runes[i]
	}
	return string(runes)
}

// synonyms are everyday words of exam questions and others for them.
var synonyms = []string{
	"下列", "以下", "哪项", "哪一项", "不正确的是", "错误的是", "说法", "表述", "应当", "应该", "如果", "倘若", "通常", "一般",
	"必须", "务必", "由于", "因为", "以及", "和", "方法", "方式", "需要", "须", "造成", "引起", "防止", "避免", "立即", "马上",
	"全部", "所有", "保证", "确保", "按照", "依照", "主要", "首要", "原因", "缘由", "作用", "功用", "进行", "开展",
	"which of the following", "which one of these", "in order to", "so as to", "because of", "owing to", "vessel", "ship",
	"usually", "generally", "must not", "is not to", "must", "has to", "prevent", "avoid", "required", "needed", "equipment", "gear", "begin", "start",
	"located", "placed", "large", "big", "statement", "assertion",
}

func reworded(d *draft) string {
	pairs := slices.Clone(synonyms)
	for _, w := range synonyms { // at the head of a sentence, too
		if r, n := utf8.DecodeRuneInString(w); unicode.IsLower(r) {
			w = string(unicode.ToUpper(r)) + w[n:]
		}
		pairs = append(pairs, w)
	}
	r := strings.NewReplacer(pairs...)
	changed := false
	e := d.each(func(s string) string {
		t := r.Replace(s)
		changed = changed || t != s
		return t
	})
	if !changed {
		return ""
	}
	return e.full(plain)
}

// combined is what a copy looks like after several hands.
func combined(d *draft) string {
	e := d.shuffled()
	s := e.full(style{before: "（", after: "）", sep: "\n"})
	if d.chinese {
		s = spaced(d, textnorm.Traditional(s))
	} else {
		s = strings.ToUpper(s)
	}
	return noise(.02)(d, s)
}
