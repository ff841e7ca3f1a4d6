package question

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
)

// Reasons of blocks that never became a question. They are stable.
const (
	reasonNoOptions   = "no_options"             // answered by letters, or a choice item, but no options stand there
	reasonNoAnswer    = "no_answer"              // an item without options whose answer is not given
	reasonOutside     = "answer_outside_options" // the key names a letter that is not offered
	reasonGap         = "option_gap"             // the option labels make no list from A
	reasonEmptyOption = "empty_option"           // an option has no text
	reasonKeyCount    = "key_count_mismatch"     // the key has more or fewer answers than the part has questions
	reasonConflict    = "answer_conflict"        // two printed answers differ
	reasonNoStem      = "no_stem"                // options without a question
	reasonNotQuestion = "not_a_question"         // numbered, but nothing makes it a question
	reasonUnparsed    = "unparsed_text"          // text that belongs to nothing
	reasonKeyUnused   = "key_unused"             // keys of questions that are not there, or of a part whose counts differ
	reasonBadRow      = "bad_row"                // a row that is not of the table's shape
	reasonDoubtful    = "low_confidence"         // several doubts at once: below the bar
	reasonIndex       = "answer_index_ambiguous" // numbers as answers, and nothing says whether they count from 0 or 1
)

// A draft is an item taken apart, from lines, a table row or a JSON row, before
// it is judged.
type draft struct {
	at      drydock.Locator
	keyAt   drydock.Locator
	rowID   string
	lang    string
	text    func() string // the block as it stood, for the drop file
	form    drydock.QuestionKind
	stem    string
	options []drydock.Option
	gap     string
	ans     answer
	given   bool // the source gives an answer, readable or not
	explain string
	subject []string
	figures []string
	doubts  []string
	keep    bool // see Options.KeepLetters
	yesIsA  bool // the heading says that A stands for true
}

// finish makes the draft a record, or says why it cannot be one.
func (d *draft) finish(f *drydock.File, bar float64) (*drydock.Record, *drydock.Drop) {
	q := &drydock.Question{
		Stem: d.stem, Options: d.options, Explanation: d.explain,
		Subject: d.subject, Figures: d.figures,
	}
	reason, detail := d.judge(q)
	if reason == "" {
		reason, detail = d.settleDoubts(q, bar)
	}
	if reason != "" {
		return nil, d.reject(f, reason, detail)
	}
	q.Statements = statements(q.Stem)
	q.NeedsFigure = needsFigure(q)
	r := &drydock.Record{
		RowID: d.rowID, Lang: d.lang, Question: q,
		Origin: drydock.Origin{File: f, At: d.at, Key: d.keyAt},
	}
	if r.Lang == "" {
		r.Lang = language(f, q)
	}
	r.ID = drydock.NewRowID(f.Source, f.Name, d.at.String(), payload(q))
	return r, nil
}

// payload is what the question says, for its id.
func payload(q *drydock.Question) []byte {
	n := len(q.Stem)
	for _, o := range q.Options {
		n += len(o.Text) + 3
	}
	b := make([]byte, 0, n+16)
	b = append(b, q.Stem...)
	for _, o := range q.Options {
		b = append(append(append(append(b, 0), o.Label...), 0), o.Text...)
	}
	for _, a := range q.Answer {
		b = append(append(b, 1), a...)
	}
	return b
}

// judge settles the kind and the answer, or returns why there is no question.
func (d *draft) judge(q *drydock.Question) (reason, detail string) {
	switch {
	case d.stem == "":
		return reasonNoStem, "options without a question"
	case d.gap != "":
		return reasonGap, d.gap
	case len(d.options) == 0:
		return d.judgeOpen(q)
	}
	for _, o := range d.options {
		if o.Text == "" {
			return reasonEmptyOption, "option " + o.Label + " has no text"
		}
	}
	if len(d.options) < 2 {
		return reasonNoOptions, "only option " + d.options[0].Label + " stands there"
	}
	if yes, no, ok := judgeOptions(d.options); ok && (d.form == drydock.Judge || d.form == "") {
		return d.judgeTrueFalse(q, yes, no)
	}
	if pairs := d.pairs(); pairs != nil {
		q.Kind, q.Answer = drydock.Matching, pairs
		return "", ""
	}
	letters, ok := d.letters()
	if !ok {
		return reasonOutside, fmt.Sprintf("the answer %q is none of the options", clip(d.ans.text+d.ans.judge, 40))
	}
	for _, v := range letters {
		if v >= len(d.options) {
			return reasonOutside, fmt.Sprintf("the answer is %s, the options end at %s", letter(v), d.options[len(d.options)-1].Label)
		}
		q.Answer = append(q.Answer, d.options[v].Label)
	}
	q.Kind = drydock.Single
	if d.form == drydock.Multiple || len(letters) > 1 {
		q.Kind = drydock.Multiple
	}
	if d.form == drydock.Matching {
		q.Kind = drydock.Matching
	}
	if d.form == drydock.Single && len(letters) > 1 {
		d.doubted(doubtSeveral)
	}
	if len(letters) == 0 {
		d.doubted(doubtNoAnswer)
	}
	return "", ""
}

// letters returns the option positions the answer names; an answer given as
// text must be the text of exactly one option.
func (d *draft) letters() ([]int, bool) {
	if d.ans.none() {
		return nil, true
	}
	if l := d.ans.letters; l != nil {
		if slices.Max(l) < len(d.options) {
			return l, true
		}
		// H or V may be the text of an option, not its label
		want := foldText(lettersText(l))
		if !slices.ContainsFunc(d.options, func(o drydock.Option) bool { return foldText(o.Text) == want }) {
			return l, true
		}
		return (&draft{options: d.options, ans: answer{text: want}}).letters()
	}
	if d.ans.judge != "" {
		// T, F, Y, N or 对 as the text of an option
		for i, o := range d.options {
			if readJudge(o.Text) == d.ans.judge {
				return []int{i}, true
			}
		}
		return nil, false
	}
	if l, ok := d.oneText(); ok {
		return []int{l}, true
	}
	if l := ascending(d.ans.text); l != nil && slices.Max(l) < len(d.options) {
		return l, true
	}
	return d.manyTexts()
}

// pairs reads the answer of an item that pairs two lists, (1)-C (2)-B, as
// "1-C", "2-B"; nil for any other. The numbers run from 1, the letters are among
// the options.
func (d *draft) pairs() []string {
	var out []string
	s := d.ans.text
	for i := 0; i < len(s); {
		r, w := utf8.DecodeRuneInString(s[i:])
		switch {
		case isSpace(r) || strings.ContainsRune(",，;；、()（）.。", r):
			i += w
			continue
		case r >= '①' && r <= '⑳':
			if int(r-'①') != len(out) {
				return nil
			}
			i += w
		default:
			n, nw := number(s[i:])
			if nw == 0 || n != len(out)+1 {
				return nil
			}
			i += nw
		}
		for i < len(s) {
			r, w = utf8.DecodeRuneInString(s[i:])
			if !isSpace(r) && !strings.ContainsRune(")）-—–:：.→=", r) {
				break
			}
			i += w
		}
		v, _ := letterValue(r)
		if i >= len(s) || v < 0 || v >= len(d.options) {
			return nil
		}
		if next, _ := utf8.DecodeRuneInString(s[i+w:]); isLatin(byte(min(next, 0x7F))) {
			return nil
		}
		out = append(out, itoa(len(out)+1)+"-"+letter(v))
		i += w
	}
	if len(out) < 2 {
		return nil
	}
	return out
}

// ascending reads small letters in their order, abd, which as an answer to
// options are labels and no word; nil for anything else.
func ascending(s string) []int {
	var out []int
	for _, r := range s {
		v, lower := letterValue(r)
		if v < 0 || !lower || len(out) > 0 && v <= out[len(out)-1] {
			return nil
		}
		out = append(out, v)
	}
	return out
}

// oneText returns the option whose text, with its label or without, the answer
// gives.
func (d *draft) oneText() (int, bool) {
	want := foldText(d.ans.text)
	found := -1
	for i, o := range d.options {
		t := foldText(o.Text)
		if t == want || want == strings.ToLower(o.Label)+t {
			if found >= 0 {
				return 0, false
			}
			found = i
		}
	}
	if found >= 0 {
		return found, true
	}
	// "B. full text"
	var buf [8]mark
	if m := scanMarks(d.ans.text, buf[:0]); len(m) > 0 && m[0].start == 0 && m[0].v < len(d.options) && m[0].style != labelGlued {
		rest := foldText(d.ans.text[m[0].end:])
		if rest == "" || rest == foldText(d.options[m[0].v].Text) {
			return m[0].v, true
		}
	}
	return 0, false
}

// manyTexts reads an answer that gives the texts of several options, with their
// labels or without: 艇、筏, "A. 艇；B. 筏".
func (d *draft) manyTexts() ([]int, bool) {
	for _, sep := range [...]string{"\n", "；", ";", "|", "、", "，", ",", "/"} {
		parts := strings.Split(d.ans.text, sep)
		if len(parts) < 2 || len(parts) > len(d.options) {
			continue
		}
		var out []int
		for _, p := range parts {
			one := draft{options: d.options, ans: answer{text: trim(p)}}
			l, ok := one.oneText()
			if !ok || slices.Contains(out, l) {
				out = nil
				break
			}
			out = append(out, l)
		}
		if out != nil {
			return out, true
		}
	}
	return nil, false
}

// judgeOptions recognises an option list that only says true and false.
func judgeOptions(o []drydock.Option) (yes, no int, ok bool) {
	if len(o) != 2 {
		return 0, 0, false
	}
	a, b := readJudge(trimPoint(o[0].Text)), readJudge(trimPoint(o[1].Text))
	switch {
	case a == "true" && b == "false":
		return 0, 1, true
	case a == "false" && b == "true":
		return 1, 0, true
	}
	return 0, 0, false
}

func (d *draft) judgeTrueFalse(q *drydock.Question, yes, no int) (reason, detail string) {
	q.Kind, q.Options = drydock.Judge, nil
	q.Stem = cutButtons(q.Stem)
	switch {
	case d.ans.judge != "":
		q.Answer = []string{d.ans.judge}
	case d.ans.none():
		d.doubted(doubtNoAnswer)
	case len(d.ans.letters) == 1 && d.ans.letters[0] == yes:
		q.Answer = []string{"true"}
	case len(d.ans.letters) == 1 && d.ans.letters[0] == no:
		q.Answer = []string{"false"}
	default:
		return reasonOutside, "the answer is neither true nor false"
	}
	return "", ""
}

// cutButtons takes off the two buttons of a form behind the stem of a true/false
// item.
func cutButtons(s string) string {
	for _, pair := range [...]string{"正确 错误", "对 错", "正确错误", "True False", "。对错", "）对错", ")对错", "？对错", "√ ×", "√×"} {
		if t, ok := strings.CutSuffix(s, pair); ok && trim(t) != "" {
			return trim(s[:len(s)-len(strings.TrimLeft(pair, "。）)？"))])
		}
	}
	return s
}

// judgeOpen settles an item without options.
func (d *draft) judgeOpen(q *drydock.Question) (reason, detail string) {
	a := d.ans
	if d.form == drydock.Judge || a.judge != "" && d.form == "" {
		q.Stem = cutButtons(q.Stem)
	}
	if v, w := number(a.text); d.form == drydock.Judge && w > 0 && w == len(a.text) && v <= 2 {
		// 1 says true wherever numbers do; what is not 1 is 0 or 2
		a = answer{judge: [3]string{"false", "true", "false"}[v]}
		d.doubted(doubtNumberJudge)
	}
	if d.form == drydock.Judge && len(a.letters) == 1 {
		switch v := a.letters[0]; {
		case v == 'F'-'A':
			a = answer{judge: "false"}
		case v <= 1 && d.yesIsA: // the section's instruction says what A and B stand for
			a = answer{judge: [2]string{"true", "false"}[v]}
		}
	}
	switch {
	case a.judge != "" && d.form != drydock.Single && d.form != drydock.Multiple:
		q.Kind, q.Answer = drydock.Judge, []string{a.judge}
	case d.form == drydock.Judge && a.none():
		return reasonNoAnswer, "a true/false item without a mark"
	case d.form == drydock.Judge:
		return reasonOutside, fmt.Sprintf("the answer %q is neither true nor false", clip(a.text+lettersText(a.letters), 40))
	case d.keep && a.letters != nil:
		q.Kind, q.Answer = drydock.Short, []string{lettersText(a.letters)}
		d.doubted(doubtNoOptions)
	case d.form == drydock.Single || d.form == drydock.Multiple || a.letters != nil && d.form != drydock.Blank && d.form != drydock.Short:
		return reasonNoOptions, "a choice item, but no options stand there"
	case a.letters != nil && d.form != "":
		q.Kind, q.Answer = d.form, []string{lettersText(a.letters)}
	case a.text != "" && d.form == "" && onlyDigits(a.text) && !hasBlank(d.stem) && !endsAsQuestion(d.stem):
		return reasonNoOptions, "the answer is the number of an option, but no options stand there"
	case a.text != "":
		q.Kind = d.form
		if q.Kind == "" {
			q.Kind = drydock.Short
			if hasBlank(d.stem) {
				q.Kind = drydock.Blank
			}
		}
		q.Answer = []string{a.text}
		if q.Kind == drydock.Blank {
			q.Answer = splitBlanks(a.text, countBlanks(d.stem))
		}
	case d.form != "" || hasBlank(d.stem) || endsAsQuestion(d.stem):
		return reasonNoAnswer, "neither options nor an answer stand there"
	default:
		return reasonNotQuestion, "numbered text without options or answer"
	}
	return "", ""
}

func lettersText(v []int) string {
	s := ""
	for _, x := range v {
		s += letter(x)
	}
	return s
}

func endsAsQuestion(s string) bool {
	s = strings.TrimRight(s, " 　")
	return strings.HasSuffix(s, "？") || strings.HasSuffix(s, "?") || strings.HasSuffix(s, "：") || strings.HasSuffix(s, ":")
}

// reject is the drop of the draft's block.
func (d *draft) reject(f *drydock.File, reason, detail string) *drydock.Drop {
	return rejected(f, d.at, d.subject, d.text(), reason, detail)
}

// rejected is the drop of a block that never became a record.
func rejected(f *drydock.File, at drydock.Locator, subject []string, text, reason, detail string) *drydock.Drop {
	return &drydock.Drop{
		Record: &drydock.Record{
			ID:      drydock.NewID(f.Source, f.Name, at.String(), reason, text),
			Lang:    f.Lang,
			Passage: &drydock.Passage{Heading: subject, Text: text},
			Origin:  drydock.Origin{File: f, At: at},
		},
		Reason: reason, Detail: detail,
	}
}

// language is the declared one, else what the script says.
func language(f *drydock.File, q *drydock.Question) string {
	if f.Lang != "" {
		return f.Lang
	}
	han, latin := 0, 0
	count := func(s string) {
		for _, r := range s {
			switch {
			case r < 0x80:
				if r|0x20 >= 'a' && r|0x20 <= 'z' {
					latin++
				}
			case r >= 0x3400 && r < 0xA000 || r >= 0x20000 && r < 0x32000:
				han++
			}
		}
	}
	count(q.Stem)
	for _, o := range q.Options {
		count(o.Text)
	}
	switch {
	case han == 0 && latin == 0:
		return "und"
	case han*3 >= latin: // a Chinese character says about as much as three letters
		return "zh"
	}
	return "en"
}

func trimPoint(s string) string { return trim(strings.TrimRight(s, "。.;； ")) }

// foldText makes texts comparable: case, blanks and closing points aside.
func foldText(s string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if isSpace(r) {
			return -1
		}
		return r
	}, trimPoint(s)))
}

func clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n]) + "…"
}
