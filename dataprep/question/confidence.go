package question

import (
	"slices"
	"strings"
	"unicode"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/msg"
)

// DefaultBar is the confidence below which a question is dropped unless
// [Options].MinConfidence says otherwise: one grave doubt alone does not fall
// below it, a grave doubt and a middling one together do.
const DefaultBar = 0.4

// A doubt is something about a question that might have been read otherwise. The
// confidence of a question is the product of its doubts' weights, 1 without any.
type doubt string

// The doubts. They are stable: rows carry them.
const (
	doubtMixedLabels  doubt = "mixed_labels"       // option labels of several styles
	doubtGluedLabels  doubt = "glued_labels"       // a label right behind the text before it
	doubtColumns      doubt = "options_in_columns" // A C over B D
	doubtShared       doubt = "shared_stem"        // a text before several items was carried in
	doubtKeyOrder     doubt = "key_by_order"       // counts agree, printed numbers do not
	doubtKeyNumber    doubt = "key_by_number"      // counts differ; the printed number stands once on both sides
	doubtInStem       doubt = "answer_in_stem"     // a bracket inside the sentence may be a name
	doubtNumbered     doubt = "numbered_options"   // options ① ② ③ told by the answer alone
	doubtLooks        doubt = "marked_by_looks"    // colour, bold or underline is the only mark
	doubtSeveral      doubt = "several_answers"    // several letters where the heading says one
	doubtNoAnswer     doubt = "no_answer"          // nothing says which option is right
	doubtNoOptions    doubt = "no_options"         // the answer is the letter of an option that is not there
	doubtNumberJudge  doubt = "number_for_truth"   // 1, 0 or 2 for true and false
	doubtNotText      doubt = "option_not_text"    // an option that is true, a list or an object in JSON
	doubtSameOptions  doubt = "duplicate_options"  // two options with one text
	doubtMisplacedAll doubt = "misplaced_all"      // 以上都对 above other options
	doubtOCR          doubt = "recognised"         // read from a picture by OCR
	doubtDate         doubt = "option_is_a_date"   // a spreadsheet may have made a date of 1-2
)

// weight is what a doubt leaves of the confidence.
func (d doubt) weight() float64 {
	switch d {
	case doubtNoAnswer, doubtNoOptions:
		return 0.5
	case doubtKeyNumber, doubtSameOptions, doubtDate:
		return 0.7
	case doubtOCR, doubtLooks, doubtSeveral, doubtNumberJudge, doubtNotText:
		return 0.8
	case doubtInStem:
		return 0.85
	case doubtMixedLabels, doubtGluedLabels, doubtNumbered, doubtMisplacedAll:
		return 0.9
	case doubtKeyOrder:
		return 0.93
	}
	return 0.95
}

// DoubtMeaning says a doubt in words; false for one it does not know.
func DoubtMeaning(code string) (msg.Text, bool) {
	switch doubt(code) {
	case doubtMixedLabels:
		return msg.Text{"option labels of several styles", "选项标号样式不一"}, true
	case doubtGluedLabels:
		return msg.Text{"an option label right behind other text", "选项标号紧贴前文"}, true
	case doubtColumns:
		return msg.Text{"options printed in columns and read across", "选项分栏排印，按栏读取"}, true
	case doubtShared:
		return msg.Text{"a text shared by several items was put before the stem", "题干前并入了多题共用的材料"}, true
	case doubtKeyOrder:
		return msg.Text{"joined to the key by order: the printed numbers differ", "题号不一致，按顺序对应答案"}, true
	case doubtKeyNumber:
		return msg.Text{"joined to the key by number: the counts differ", "数量不一致，按题号对应答案"}, true
	case doubtInStem:
		return msg.Text{"the answer stands in brackets inside the stem", "答案取自题干中的括号"}, true
	case doubtNumbered:
		return msg.Text{"options numbered like statements", "选项以数字编号，与陈述列表相似"}, true
	case doubtLooks:
		return msg.Text{"only colour, bold or underline marks the answer", "答案仅由颜色、加粗或下划线标出"}, true
	case doubtSeveral:
		return msg.Text{"several answers under a single-choice heading", "单选题标题下有多个答案"}, true
	case doubtNoAnswer:
		return msg.Text{"no answer is given", "没有答案"}, true
	case doubtNoOptions:
		return msg.Text{"the answer is the letter of an option that is not there", "答案为选项字母，但没有选项"}, true
	case doubtNumberJudge:
		return msg.Text{"a number stands for true or false", "以数字表示对错"}, true
	case doubtNotText:
		return msg.Text{"an option is no text in the source", "选项在来源中不是文本"}, true
	case doubtDate:
		return msg.Text{"an option is a date among others like 1-2: a spreadsheet may have changed it", "其他选项形如 1-2，而此选项为日期：可能被电子表格改动"}, true
	case doubtSameOptions:
		return msg.Text{"two options say the same", "有重复的选项"}, true
	case doubtMisplacedAll:
		return msg.Text{"an option such as \"all of the above\" has others below it", "“以上都对”一类选项之后还有其他选项"}, true
	case doubtOCR:
		return msg.Text{"its text was recognised in a picture", "文字由图片识别而来"}, true
	}
	return msg.Text{}, false
}

// doubted notes a doubt, once.
func (d *draft) doubted(w doubt) {
	if !slices.Contains(d.doubts, string(w)) {
		d.doubts = append(d.doubts, string(w))
	}
}

// confidence is the product of the doubts' weights, to two places.
func confidence(doubts []string) float64 {
	sure := 1.0
	for _, w := range doubts {
		sure *= doubt(w).weight()
	}
	return float64(int(sure*100+0.5)) / 100
}

// check looks for what a list of options should not hold.
func (d *draft) check() {
	var keys [maxOptions]uint64
	for i, o := range d.options {
		if i < maxOptions {
			if keys[i] = foldKey(o.Text); slices.Contains(keys[:i], keys[i]) {
				d.doubted(doubtSameOptions)
			}
		}
		if isDate(o.Text) && slices.ContainsFunc(d.options, func(p drydock.Option) bool { return isRange(p.Text) }) {
			d.doubted(doubtDate)
		}
		if i+1 < len(d.options) && saysAbove(o.Text) && !saysAbove(d.options[i+1].Text) && !namesOptions(d.options[i+1].Text) {
			d.doubted(doubtMisplacedAll)
		}
	}
}

// foldKey hashes a text as foldText folds it.
func foldKey(s string) uint64 {
	h := uint64(fnvBasis)
	for _, r := range trimPoint(s) {
		if !isSpace(r) {
			h = (h ^ uint64(lowerRune(r))) * fnvPrime
		}
	}
	return h
}

// lowerRune is unicode.ToLower, at once for Chinese characters: between U+2E80 and
// U+A640 no character has a case.
func lowerRune(r rune) rune {
	if r >= 0x2E80 && r < 0xA640 {
		return r
	}
	return unicode.ToLower(r)
}

// isDate recognises 5月6日, 6-May, 2025-05-06, 2025/5/6: what a spreadsheet makes of
// 5-6.
func isDate(s string) bool {
	if len(s) > 24 {
		return false
	}
	if i := strings.Index(s, "月"); i > 0 && strings.HasSuffix(s, "日") {
		return onlyDigits(s[:i]) && onlyDigits(s[i+len("月"):len(s)-len("日")])
	}
	if strings.IndexByte(s, '-') < 0 && strings.IndexByte(s, '/') < 0 {
		return false
	}
	f := strings.FieldsFunc(s, func(r rune) bool { return r == '-' || r == '/' })
	if len(f) == 3 {
		return len(f[0]) == 4 && onlyDigits(f[0]+f[1]+f[2])
	}
	if len(f) != 2 || !onlyDigits(f[0]) || len(f[1]) != 3 {
		return false
	}
	return strings.Contains("janfebmaraprmayjunjulaugsepoctnovdec", strings.ToLower(f[1]))
}

// isRange recognises 1-2, 3～5.
func isRange(s string) bool {
	f := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune("-—–~～至", r) })
	return len(f) == 2 && onlyDigits(f[0]) && onlyDigits(f[1])
}

// saysAbove recognises an option that speaks of those above it: 以上都对, none of
// the above.
func saysAbove(s string) bool {
	for _, w := range [...]string{"以上", "上述"} {
		if t, ok := strings.CutPrefix(s, w); ok {
			for _, tail := range [...]string{"都对", "都正确", "均对", "均正确", "都是", "均是", "都不对", "都不正确", "均不对", "均不正确", "皆是", "皆对", "全部", "全对", "都不是", "均不是", "皆非", "皆可", "均可", "都可", "都错", "均错", "全是", "三者", "三项", "选项"} {
				if _, ok := strings.CutPrefix(t, tail); ok {
					return true
				}
			}
		}
	}
	if s == "" || !strings.ContainsRune("aAnNbB", rune(s[0])) {
		return false
	}
	switch foldText(s) {
	case "alloftheabove", "noneoftheabove", "anyoftheabove", "allofabove", "noneofabove", "alltheabove", "bothoftheabove":
		return true
	}
	return false
}

// namesOptions recognises an option that is made of others' letters: A和C, Both A
// and B.
func namesOptions(s string) bool {
	t := trimPoint(s)
	for _, w := range [...]string{"Both ", "both ", "Either ", "either ", "Neither ", "neither "} {
		if rest, ok := strings.CutPrefix(t, w); ok {
			t = rest
			break
		}
	}
	n := 0
	for _, f := range fieldsOfLetters(t) {
		if v, lower := letterValue(f); v < 0 || lower || v >= maxOptions {
			return false
		}
		n++
	}
	return n >= 2
}

// fieldsOfLetters returns the letters of "A、B、C", "A和C都对", "A and C"; nil when
// anything else stands between them.
func fieldsOfLetters(s string) []rune {
	for _, w := range [...]string{"都对", "都正确", "均对", "均正确", "都是", "均是", "都不对", "均不对", "都不正确", "均不正确", "都不是", "均不是", "都错", "均错", "两项", "同时具备"} {
		s, _ = strings.CutSuffix(s, w)
	}
	var out []rune
	for _, f := range strings.FieldsFunc(strings.ReplaceAll(strings.ReplaceAll(s, " and ", "、"), " or ", "、"), func(r rune) bool {
		return isSpace(r) || strings.ContainsRune("、，,和与及或&", r)
	}) {
		rs := []rune(f)
		if len(rs) != 1 {
			return nil
		}
		out = append(out, rs[0])
	}
	return out
}

// settleDoubts adds the doubts that only the finished question shows, and returns
// why it is not to be trusted.
func (d *draft) settleDoubts(q *drydock.Question, bar float64) (reason, detail string) {
	d.check()
	if d.at.OCR || d.keyAt.OCR {
		d.doubted(doubtOCR)
	}
	q.Doubts, q.Confidence = d.doubts, confidence(d.doubts)
	if q.Confidence < bar {
		return reasonDoubtful, "too much about it is doubtful: " + strings.Join(q.Doubts, ", ")
	}
	return "", ""
}
