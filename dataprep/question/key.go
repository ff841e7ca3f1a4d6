package question

import (
	"strings"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
)

// A keyRun is one stretch of a key row: "1-5、CCDDD", "（2）AACCA A", "16A".
type keyRun struct {
	paren    int      // the number in brackets, 0 for none
	from, to int      // the numbers covered, 0 when the row carries none
	groups   []string // the letters as grouped in print
	explain  []string // what stands behind one question's answer
	at       drydock.Locator
	open     bool   // an answer in words, which may run over lines
	words    []byte // that answer, once it runs over a line
	code     string // the id of the question, where the key prints ids
}

// A keyLabel says which part of the bank a stretch of keys is for.
type keyLabel struct {
	chapter, article int
	part             int    // 一、 over the questions and before the key
	title            string // as printed; empty for none
	form             drydock.QuestionKind
	isForm           bool
}

func (l keyLabel) empty() bool { return l == keyLabel{} }

// A keyRow is one line of a key table.
type keyRow struct {
	label keyLabel
	runs  []keyRun
	none  bool // the row says there are no answers: 第4条 无
}

// scanKeyRow reads a line that consists of keys and nothing else. open says
// that a row before it may go on, so that bare letters are accepted.
func scanKeyRow(s string, at drydock.Locator, open bool) (keyRow, bool) {
	p := keyScanner{s: s, at: at, open: open}
	p.label()
	for p.skip(); p.i < len(p.s); p.skip() {
		if !p.token() {
			return keyRow{}, false
		}
	}
	if p.row.none && len(p.row.runs) == 0 {
		return p.row, !p.row.label.empty() || open
	}
	if p.alone && len(p.row.runs) == 1 && p.row.runs[0].from == p.row.runs[0].to {
		p.row.label = keyLabel{}
	}
	answered := 0
	for _, r := range p.row.runs {
		if len(r.groups) > 0 {
			answered++
		}
	}
	// every number must have its letters, or it is a list of something else; a
	// table that is open may break a row before the letters of its last range
	missing := len(p.row.runs) - answered
	if open && missing == 1 && len(p.row.runs) > 0 {
		last := p.row.runs[len(p.row.runs)-1]
		if len(last.groups) == 0 && last.to > last.from {
			return p.row, true
		}
	}
	return p.row, answered > 0 && missing == 0
}

type keyScanner struct {
	s    string
	i    int
	at   drydock.Locator
	open bool
	// alone says that the label may as well be the word of a number: 单选题1、A
	// answers one question, 单选题1、A 2、B the part of that name.
	alone bool
	row   keyRow
}

func (p *keyScanner) skip() {
	for p.i < len(p.s) {
		r, w := utf8.DecodeRuneInString(p.s[p.i:])
		switch r {
		case ',', '，', ';', '；', '。', '|', '.', '、':
		default:
			if !isSpace(r) {
				return
			}
		}
		p.i += w
	}
}

// label reads what a row opens with: 第3条, 第一章, 单选题：, or any short title
// before the first number.
func (p *keyScanner) label() {
	s := p.s
	if h, end := labelPart(s); end > 0 {
		p.row.label = h
		p.i = end
		p.alone = h.isForm && scanNumber(s).style == numWord
		if strings.HasPrefix(s[end:], "：") || strings.HasPrefix(s[end:], ":") {
			_, w := utf8.DecodeRuneInString(s[end:])
			p.i += w
		}
		if p.row.label.article == 0 {
			// 第一章 第三条 1-5 …
			if more, e := labelPart(trim(s[p.i:])); e > 0 && more.article > 0 {
				p.row.label.article = more.article
				p.i = skipSpace(s, p.i) + e
			}
		}
		return
	}
	r, _ := utf8.DecodeRuneInString(s)
	if m := scanNumber(s); m.style == numWord || m.style == numCode {
		return
	}
	if isDigit(r) || r == '(' || r == '（' || r == '{' || r == '<' || r == '《' || openBracket(r) {
		return
	}
	// a title, as printed over the questions: 内河避碰 1-5 BDDAB
	n := 0
	for i, r := range s {
		if isDigit(r) || r == '（' || r == '(' {
			t := strings.TrimRightFunc(s[:i], func(r rune) bool { return isSpace(r) || r == ':' || r == '：' || r == '、' })
			if t == "" || readLetters(t) != nil || readJudge(t) != "" {
				return
			}
			if ok, _ := keyHeader(t); ok {
				p.i = i
				return // Answers: 1-B, 2-A
			}
			p.row.label.title = t
			if form, ok := formHeading(t); ok {
				p.row.label.form, p.row.label.isForm = form, true
			}
			p.i = i
			return
		}
		if n++; n > 20 || strings.ContainsRune("。？?！；", r) {
			return
		}
	}
}

// labelPart reads 第N章, 第N条 or a form word at the start of s.
func labelPart(s string) (keyLabel, int) {
	if rest, ok := strings.CutPrefix(s, "第"); ok {
		i := skipSpace(rest, 0)
		n, w := anyNumber(rest[i:])
		i = skipSpace(rest, i+w)
		r, rw := utf8.DecodeRuneInString(rest[i:])
		if w == 0 || n == 0 {
			return keyLabel{}, 0
		}
		end := len("第") + i + rw
		switch r {
		case '章', '篇', '编', '編', '讲':
			return keyLabel{chapter: n, title: s[:end]}, end
		case '条', '條', '节', '節', '课':
			return keyLabel{article: n, title: s[:end]}, end
		case '部':
			if strings.HasPrefix(s[end:], "分") {
				return keyLabel{part: n, title: s[:end+len("分")]}, end + len("分")
			}
		}
		return keyLabel{}, 0
	}
	from, part := 0, 0
	if m := scanNumber(s); m.style == numHan {
		from, part = m.end, m.n
	}
	if form, rest, ok := formOf(s[from:]); ok {
		end := len(s) - len(rest)
		// （每题1分）
		if t := trim(rest); strings.HasPrefix(t, "（每") || strings.HasPrefix(t, "(每") {
			if c := strings.IndexAny(rest, "）)"); c >= 0 {
				_, cw := utf8.DecodeRuneInString(rest[c:])
				end += c + cw
			}
		}
		return keyLabel{form: form, isForm: true, title: s[:end]}, end
	}
	if part > 0 {
		return keyLabel{part: part, title: trim(s[:from])}, from // 一、1.A 2.B
	}
	return keyLabel{}, 0
}

// token reads the next number or group of letters.
func (p *keyScanner) token() bool {
	s := p.s[p.i:]
	r, w := utf8.DecodeRuneInString(s)
	switch {
	case r == '无' || r == '無' || hasPrefixFold(s, "none"):
		p.row.none = true
		if r < 0x80 {
			w = len("none")
		}
		p.i += w
		return true
	case r == '(' || r == '（' || r == '{' || r == '<' || r == '《' || openBracket(r):
		n, end, ok := enclosedNumber(s, w, ')', '）', '】', ']', '〕', '］', '}', '>', '》')
		if !ok {
			return p.tagged(s)
		}
		p.row.runs = append(p.row.runs, keyRun{paren: n, at: p.at})
		p.i += end
		return true
	case isDigit(r):
		return p.numbers(s)
	}
	m := numberMark{}
	if startsWord(r) || r >= 'A' && r <= 'Z' {
		m = scanNumber(s)
	}
	if m.style == numWord {
		// 第1题：A, Question 1: A
		p.row.runs = append(p.row.runs, keyRun{from: m.n, to: m.n, at: p.at})
		p.i += m.end
		return true
	}
	if m.style == numCode {
		_, end := codeNumber(s)
		p.row.runs = append(p.row.runs, keyRun{from: m.n, to: m.n, code: s[:end], at: p.at})
		for p.i += m.end; p.i < len(p.s) && (p.s[p.i] == ':' || p.s[p.i] == '=' || p.s[p.i] == ' '); {
			p.i++
		}
		return true
	}
	return p.group(s)
}

// tagged passes over a tag in brackets, （单选题） or （2分）, and reads a number in
// brackets that has a word, 【第1题】.
func (p *keyScanner) tagged(s string) bool {
	if end := skipTag(s, 0); end > 0 {
		p.i += end
		return true
	}
	m := scanNumber(s)
	if m.style != numWord {
		return false
	}
	p.row.runs = append(p.row.runs, keyRun{from: m.n, to: m.n, at: p.at})
	p.i += m.end
	return true
}

// numbers reads "6-10、" or "16".
func (p *keyScanner) numbers(s string) bool {
	n, end := number(s)
	if n == 0 || n > 99999 {
		return false
	}
	run := keyRun{from: n, to: n, at: p.at}
	j := skipSpace(s, end)
	if r, w := utf8.DecodeRuneInString(s[j:]); strings.ContainsRune("-—–~～至到－−", r) && w > 0 && r != utf8.RuneError {
		k := skipSpace(s, j+w)
		for strings.HasPrefix(s[k:], string(r)) { // 1——5, 1--5
			k += w
		}
		m, mw := number(s[k:])
		switch {
		case mw == 0 && r != '至' && r != '到':
			end = k // 1-A: the dash parts number and letter
		case mw == 0 || m < n || m-n > 999:
			return false
		default:
			run.to, end = m, k+mw
		}
	}
	j = skipSpace(s, end)
	if m := scanMarkedNumber(s, n, end, j); run.from == run.to && m.style != noNumber {
		j = m.end // 1/50 A, 1】A
	} else if strings.HasPrefix(s[j:], "题") {
		j += len("题")
	}
	j = skipMarks(s, j)
	if r, w := utf8.DecodeRuneInString(s[j:]); r == ')' || r == '）' {
		j += w // 1.) A
	}
	p.i += j
	if p.skip(); len(p.row.runs) == 0 && p.i < len(p.s) && !startsToken(p.s[p.i:]) {
		return false // the commonest: 1. and a stem
	}
	p.row.runs = append(p.row.runs, run)
	return true
}

// startsToken reports a text that may begin with a token. It is only a quick look
// at the first character.
func startsToken(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	if v, _ := letterValue(r); v >= 0 || isDigit(r) {
		return true
	}
	return strings.ContainsRune("(（无無", r) || openBracket(r) || startsWord(r) || judgeMark(s) > 0
}

// group reads one group of letters or one true/false mark.
func (p *keyScanner) group(s string) bool {
	end := judgeMark(s)
	for word := end > 0; !word && end < len(s); {
		r, w := utf8.DecodeRuneInString(s[end:])
		v, lower := letterValue(r)
		if v < 0 || lower && end+w < len(s) && !isSpace(rune(s[end+w])) && !isDigit(rune(s[end+w])) {
			break
		}
		if v >= maxOptions && r != 'T' && r != 'Y' && r != 'N' {
			return false
		}
		end += w
	}
	if end == 0 {
		return false
	}
	g := s[:end]
	if len(p.row.runs) == 0 {
		if !p.open && p.row.label.empty() {
			return false
		}
		p.row.runs = append(p.row.runs, keyRun{at: p.at})
	}
	run := &p.row.runs[len(p.row.runs)-1]
	run.groups = append(run.groups, g)
	p.i += end
	return true
}

// judgeMark returns the length of a true/false word or sign at the start of s.
func judgeMark(s string) int {
	for _, w := range [...]string{"正确", "正確", "错误", "錯誤", "不对", "√", "✓", "✔", "×", "✗", "✘", "✕", "❌", "✅", "对", "對", "错", "錯"} {
		if strings.HasPrefix(s, w) {
			return len(w)
		}
	}
	for _, w := range [...]string{"true", "false"} {
		if hasPrefixFold(s, w) && (len(s) == len(w) || !isLatin(s[len(w)])) {
			return len(w)
		}
	}
	return 0
}

// A keyPart is what a key table says about one part of the bank.
type keyPart struct {
	label keyLabel
	runs  []keyRun
	none  bool
	at    drydock.Locator
	text  []string // the rows as printed, for the drop file
	used  bool
	why   string   // why some of it could not be used
	whole *keyPart // the part as it stood, when this is a piece of it
}

// A keyEntry is one question's answer in a key.
type keyEntry struct {
	n       int
	code    string
	value   string
	explain []string
	at      drydock.Locator
}

// entries spells a run out, one entry a question. It returns false when the
// letters are not as many as the numbers: then none of them can be trusted.
func (r keyRun) entries() ([]keyEntry, bool) {
	want := r.to - r.from + 1
	if r.from == 0 {
		want = 0
	}
	if r.words != nil {
		r.groups = []string{string(r.words)}
	}
	return spread(r.groups, want, r.from, r)
}

// spread deals groups of letters out to want questions; want 0 takes one
// letter each, however many there are.
func spread(groups []string, want, first int, r keyRun) ([]keyEntry, bool) {
	mk := func(i int, v string) keyEntry {
		return keyEntry{n: first + i, code: r.code, value: v, explain: r.explain, at: r.at}
	}
	if want == 1 {
		return []keyEntry{mk(0, strings.Join(groups, ""))}, len(groups) > 0
	}
	var single []string
	for _, g := range groups {
		if judgeMark(g) > 0 {
			single = append(single, g)
			continue
		}
		for _, l := range g {
			single = append(single, string(l))
		}
	}
	list := single
	if len(single) != want && len(groups) == want {
		list = groups // multiple choice: AB BCD AC
	}
	if want > 0 && len(list) != want {
		return nil, false
	}
	out := make([]keyEntry, len(list))
	for i, v := range list {
		out[i] = mk(i, v)
	}
	return out, true
}
