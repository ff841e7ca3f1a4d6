package shuffle

import (
	"strings"
	"unicode"

	"github.com/drydock-ml/drydock/internal/textnorm"
)

// IsPositional reports an option that speaks of the other options by their
// place, so that shuffling would change what it says: 以上都对, 以上均不是, 都可以,
// A和C, AB, 同A, all of the above, none of these, both A and B. Combinations of
// the stem's own statements (①②, I and II) are not. n is the number of options.
//
// A false yes only keeps one question's order; a false no would falsify it. So
// the doubtful cases are yes.
func IsPositional(text string, n int) bool {
	if !mayBePositional(text) {
		return false
	}
	t := halfWidth(text)
	if hasHan(t) {
		return positionalZh(t, n)
	}
	return positionalEn(t, n)
}

// maxPositional is the longest option, in characters, that may speak of others.
const maxPositional = 100

// mayBePositional is the quick no for nearly all options: they have no letter
// and none of the characters that point at other options.
func mayBePositional(text string) bool {
	n, sign := 0, false
	for _, r := range text {
		n++
		switch r {
		case '以', '上', '述', '前', '后', '後', '列', '面', '都', '均', '皆', '全', '两', '兩', '二', '三', '四', '者':
			sign = true
		default:
			sign = sign || isLatin(r) || r > 0xff20 && r < 0xff5b
		}
	}
	return sign && n <= maxPositional && !saysHan(text)
}

// saysHan reports a text with a Chinese character that no reference to other
// options has, and without 上 and 前: what positionalZh turns away first, before
// the text is folded.
func saysHan(text string) bool {
	for _, r := range text {
		if r >= 0x4E00 && r < 0xA000 && !strings.ContainsRune(zhTail, r) {
			return !strings.Contains(text, "上") && !strings.Contains(text, "前")
		}
	}
	return false
}

// what an option may consist of besides the letters it names or the word that
// points at the others; simplified and traditional
const (
	zhTail = "选選项項答案和与與及或都均皆是为為对對错錯正确確误誤不可以仅只僅祇有两兩二三四者全同时時且而非既又也种種情况況个個等属" +
		"屬于於符合条條件的上述前后後面各所部任何一几幾些内內外除无無没沒会會能应應该該须須要需因素方法措施包括含组組成立之其中它"
	zhBack = "以上|上述|前述|上面|前面|上列"
	zhAll  = "都|均|皆|全|各|任|无|無|没|沒|不|非|两|兩|二|三|四|几|幾|答案|选项|選項|项|項|者|情况|情況"
	zhOnly = "都|均|皆|全部|全是|全对|全對|全错|全錯|全选|全選|两者|兩者|二者|三者|四者|前两|前兩|前二|前三|后两|後兩|后二|后三|後三|前者|后者|後者|前项|前項"
)

// maxBackwards is the length in characters up to which an option that begins
// with 以上 or the like is taken to speak of the options, not of the stem.
const maxBackwards = 24

func positionalZh(t string, n int) bool {
	if says(t) && !strings.ContainsAny(t, "上前") {
		return false
	}
	runes := []rune(strings.Map(dropSpaceAndMarks, t))
	s := string(runes)
	if len(runes) <= maxBackwards && anyOf(s, zhBack) && anyOf(s, zhAll) {
		// 五百米以上 and 三级以上船员 measure something: there the word ends a number
		for _, w := range strings.Split(zhBack, "|") {
			if i := strings.Index(s, w); i == 0 || i > 0 && !measures(s[:i]) {
				return true
			}
		}
	}
	letters, rest := splitLetters(runes, n)
	onlyTail := strings.Trim(rest, zhTail) == ""
	switch {
	case !onlyTail:
		return false
	case letters >= 2:
		return true
	case letters == 1: // 同A, A项, 只有A正确; a lone letter is no reference
		return rest != ""
	}
	return anyOf(s, zhOnly)
}

// says reports a text with a character that no reference to other options has.
// It may then refer by one of zhBack only, all of which have 上 or 前.
func says(t string) bool {
	return strings.ContainsFunc(t, func(r rune) bool {
		return !isLatin(r) && dropSpaceAndMarks(r) >= 0 && !strings.ContainsRune(zhTail, r)
	})
}

// measures reports a text that ends in a quantity, after which 以上 means or
// more.
func measures(before string) bool {
	return strings.ContainsFunc(before, func(r rune) bool {
		return unicode.IsDigit(r) || strings.ContainsRune("〇零一二三四五六七八九十百千万两半级級等", r)
	})
}

// splitLetters counts the distinct option letters that stand by themselves or as
// a rising run (ABD) and returns the text without them. A letter that belongs to
// a word or a code makes the count zero.
func splitLetters(runes []rune, n int) (letters int, rest string) {
	var seen [26]bool
	var b strings.Builder
	for i := 0; i < len(runes); {
		r := runes[i]
		if !isLatin(r) {
			if unicode.IsDigit(r) {
				return 0, string(runes)
			}
			b.WriteRune(r)
			i++
			continue
		}
		j := i
		for j < len(runes) && isLatin(runes[j]) {
			j++
		}
		run := strings.ToUpper(string(runes[i:j]))
		if !risingLabels(run, n) {
			return 0, string(runes)
		}
		for _, l := range run {
			if !seen[l-'A'] {
				seen[l-'A'] = true
				letters++
			}
		}
		i = j
	}
	return letters, b.String()
}

// risingLabels reports a run of option letters in rising order: A, BD, ABC.
func risingLabels(run string, n int) bool {
	for i := range len(run) {
		if run[i] < 'A' || int(run[i]-'A') >= n || i > 0 && run[i] <= run[i-1] {
			return false
		}
	}
	return run != ""
}

const (
	enQuantity = " all none any both neither either each every some one two three four more most not only "
	enFill     = " of the these those options option answers answer choices choice items alternatives responses statements "
	enBack     = " above foregoing preceding previous aforementioned "
	enTail     = " both and or neither nor either only are is be correct right true wrong incorrect false answers answer options option " +
		"choices choice the all of above not but "
)

func positionalEn(t string, n int) bool {
	words := strings.FieldsFunc(strings.ToLower(t), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' })
	if len(words) == 0 {
		return false
	}
	is := func(set, w string) bool { return strings.Contains(set, " "+w+" ") }
	for i, w := range words {
		switch {
		case is(enBack, w):
			// a quantity before it, with nothing but filling between
			j := i - 1
			for j >= 0 && is(enFill, words[j]) {
				j--
			}
			if j >= 0 && is(enQuantity, words[j]) || len(words) <= 2 {
				return true
			}
		case (w == "these" || w == "them" || w == "those" || w == "answers" || w == "options" || w == "choices" || w == "alternatives") &&
			i > 0 && len(words) <= 8:
			j := i - 1
			for j >= 0 && is(enFill, words[j]) {
				j--
			}
			if j == 0 && is(enQuantity, words[j]) {
				return true
			}
		case (w == "first" || w == "last") && len(words) <= 5 && i+1 < len(words) && is(" two three ", words[i+1]):
			return true
		}
	}
	return lettersEn(words, n, func(w string) bool { return is(enTail, w) })
}

// lettersEn reports an option that only joins option letters, or only counts
// them: both A and B, A or C, AB, neither, none are correct.
func lettersEn(words []string, n int, filling func(string) bool) bool {
	var seen [26]bool
	letters := 0
	// Both, Neither, None are correct
	cue := strings.Contains(" both neither either all none any ", " "+words[0]+" ")
	whole := cue
	for i, w := range words {
		if filling(w) || i == 0 && cue {
			cue = cue || w == "option" || w == "answer" || w == "choice"
			continue
		}
		up := strings.ToUpper(w)
		if !risingLabels(up, n) {
			return w == "same" && len(words) <= 4 && risingLabels(strings.ToUpper(words[len(words)-1]), n)
		}
		for _, l := range up {
			if !seen[l-'A'] {
				seen[l-'A'] = true
				letters++
			}
		}
	}
	return letters >= 2 || letters == 1 && cue || letters == 0 && whole
}

func anyOf(s, words string) bool {
	for w := range strings.SplitSeq(words, "|") {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

func hasHan(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}

func isLatin(r rune) bool { return r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' }

func dropSpaceAndMarks(r rune) rune {
	if unicode.IsSpace(r) || unicode.IsPunct(r) || unicode.IsSymbol(r) && r < 0x2460 {
		return -1
	}
	return r
}

func halfWidth(s string) string { return strings.Map(textnorm.HalfWidth, s) }
