package question

import (
	"strconv"
	"strings"

	"github.com/valyala/fastjson"

	"github.com/drydock-ml/drydock"
)

// A jsonItem collects the fields of a row.
type jsonItem struct {
	draft
	labels    []string // the options' own labels, where they carry some
	single    map[int]string
	numbered  map[int]string
	wrong     []string
	right     []int // from is_correct flags
	hasRight  bool
	answerVal *fastjson.Value
	bad       string
	badDetail string
	notes     []Note
	hasOpts   bool
	spare     string    // a text under a name that may or may not be the stem's
	asked     [3]string // instruction, input and output of a training row
}

// read takes the fields; false when nothing is a question.
func (j *jsonItem) read(v *fastjson.Value) bool {
	o, err := v.Object()
	if err != nil {
		return false
	}
	o.Visit(func(key []byte, v *fastjson.Value) { j.field(string(key), v) })
	if j.stem == "" && len(j.subject) == 1 && (j.hasOpts || j.answerVal != nil) {
		// some banks call the stem the subject
		j.stem, j.subject = trim(repair(j.subject[0])), nil
	}
	if j.stem == "" && (j.hasOpts || len(j.single) >= 2 || len(j.numbered) >= 2) {
		j.stem = j.spare
	}
	if j.stem == "" {
		j.fromInstruction()
	}
	if j.stem == "" {
		return false
	}
	j.settleOptions()
	j.settleAnswer()
	return true
}

func (j *jsonItem) field(name string, v *fastjson.Value) {
	what, option := roleOf(name)
	switch what {
	case roleNone:
		j.otherField(name, v)
	case roleID:
		if v.Type() != fastjson.TypeNull && (j.rowID == "" || foldName(name) == "id") {
			j.rowID = scalarText(v)
		}
	case roleQuestion:
		j.questionField(v)
	case roleAnswer:
		switch {
		case !j.hasOpts && flagged(v):
			j.setOptions(v)
		case j.answerVal == nil || j.answerVal.Type() == fastjson.TypeNull:
			j.answerVal = v
		}
	case roleOption:
		if j.single == nil {
			j.single = map[int]string{}
		}
		if v.Type() != fastjson.TypeNull {
			j.single[option] = j.optionText(v, option)
		}
	case roleOptions:
		j.setOptions(v)
	case roleWrong:
		for _, x := range v.GetArray() {
			j.wrong = append(j.wrong, scalarText(x))
		}
	case roleExplain:
		j.explain = trim(scalarText(v))
	case roleForm:
		j.form = formValue(scalarText(v))
	case roleSubject:
		j.subject = append(j.subject, texts(v)...)
	case roleFigure:
		j.figures = append(j.figures, texts(v)...)
	case roleLang:
		j.lang = scalarText(v)
	}
}

// questionField reads a stem: a text, a chat whose last user turn it is, or an
// object with the options beside it.
func (j *jsonItem) questionField(v *fastjson.Value) {
	switch v.Type() {
	case fastjson.TypeArray:
		j.setStem(lastUser(v))
	case fastjson.TypeObject:
		j.setStem(scalarText(v.Get("stem")))
		if c := v.Get("choices"); c != nil {
			j.setOptions(c)
		}
	default:
		j.setStem(scalarText(v))
	}
}

// otherField reads fields whose names count: option1, distractor2; and chats.
func (j *jsonItem) otherField(name string, v *fastjson.Value) {
	if n, ok := optionNumber(name); ok && scalar(v) {
		if j.numbered == nil {
			j.numbered = map[int]string{}
		}
		j.numbered[n] = j.optionText(v, n)
		return
	}
	if isWrong(name) && scalar(v) {
		j.wrong = append(j.wrong, trim(scalarText(v)))
		return
	}
	switch n := foldName(name); n {
	case "messages", "conversations":
		j.setStem(lastUser(v))
	case "instruction":
		j.asked[0] = scalarText(v)
	case "input":
		j.asked[1] = scalarText(v)
	case "output", "response":
		j.asked[2] = scalarText(v)
	case "title", "content", "text", "name", "body", "标题", "内容":
		if s := trim(repair(untag(scalarText(v)))); scalar(v) && len(s) > len(j.spare) {
			j.spare = s
		}
	}
}

// fromInstruction reads a training row whose instruction or input is a question
// with its options and whose output is the letter.
func (j *jsonItem) fromInstruction() {
	for _, s := range [...]string{j.asked[1], j.asked[0]} {
		if s = trim(repair(s)); s == "" || !readable(j.asked[2]) {
			continue
		}
		if b := splitBody(s); len(b.options) >= 2 && b.stem != "" {
			j.stem = s
			j.ans, j.given = readAnswer(j.asked[2]), true
			return
		}
	}
}

func (j *jsonItem) setStem(s string) {
	if j.stem == "" {
		j.stem = trim(repair(untag(s)))
	}
}

// optionText is an option's text; a number is kept as written, a value that is
// no text is said so.
func (j *jsonItem) optionText(v *fastjson.Value, at int) string {
	switch v.Type() {
	case fastjson.TypeTrue, fastjson.TypeFalse, fastjson.TypeObject, fastjson.TypeArray:
		j.notes = append(j.notes, Note{Code: "option_not_text", At: j.at, Text: optionNote, Args: []any{letter(min(at, 25)), v.String()}})
		j.doubted(doubtNotText)
	}
	return trim(repair(untag(scalarText(v))))
}

// settleOptions makes one list of whatever the row gave.
func (j *jsonItem) settleOptions() {
	switch {
	case j.hasOpts:
	case len(j.single) >= 2:
		j.options, j.gap = fromMap(j.single, 0)
	case len(j.numbered) >= 2:
		base := 1
		if _, zero := j.numbered[0]; zero {
			base = 0
		}
		j.options, j.gap = fromMap(j.numbered, base)
	case len(j.wrong) > 0:
		j.options = labelOptions(j.wrong)
		if a := j.answerVal; a != nil && a.Type() == fastjson.TypeString {
			j.options = withRight(j.wrong, scalarText(a))
			j.right, j.hasRight = []int{len(j.wrong)}, true
		}
	default:
		b := splitBody(j.stem)
		j.stem, j.options, j.gap = b.stem, b.options, b.gap
		j.doubts = append(j.doubts, b.doubts...)
	}
	var form drydock.QuestionKind
	j.stem, form = cleanStem(unwrap(j.stem), rowNumber(j.rowID))
	if j.form == "" {
		j.form = form
	}
}

// fromMap lists options kept by position.
func fromMap(m map[int]string, base int) ([]drydock.Option, string) {
	top := 0
	for k := range m {
		top = max(top, k-base)
	}
	cells := make([]string, top+1)
	for k, v := range m {
		if k >= base {
			cells[k-base] = v
		}
	}
	return optionCells(cells)
}

// settleAnswer reads the answer in all its forms.
func (j *jsonItem) settleAnswer() {
	if j.hasRight {
		j.ans, j.given = answer{letters: j.right}, true
		return
	}
	a := j.answerVal
	if a == nil {
		if in, ok := findInline(j.stem); ok && in.strong {
			j.ans, j.given = in.ans, true
			j.stem = blankOut(j.stem, in)
		}
		return
	}
	switch a.Type() {
	case fastjson.TypeNull:
	case fastjson.TypeTrue, fastjson.TypeFalse:
		j.ans, j.given = answer{judge: a.String()}, true
	case fastjson.TypeArray:
		j.listAnswer(a.GetArray())
	case fastjson.TypeObject:
		for _, k := range [...]string{"label", "value", "text", "answer"} {
			if x := a.Get(k); x != nil && scalar(x) {
				j.ans, j.given = j.oneAnswer(scalarText(x)), true
				return
			}
		}
		j.bad, j.badDetail = reasonBadRow, "the answer is an object without a known field"
	default:
		j.ans, j.given = j.oneAnswer(scalarText(a)), scalarText(a) != ""
	}
}

// oneAnswer reads an answer value; the options' own labels go first.
func (j *jsonItem) oneAnswer(s string) answer {
	for i, l := range j.labels {
		if l != "" && l == trim(s) {
			return answer{letters: []int{i}}
		}
	}
	return readAnswer(s)
}

func (j *jsonItem) listAnswer(list []*fastjson.Value) {
	if len(list) == 0 {
		return
	}
	j.given = true
	if len(list) == 1 {
		j.ans = j.oneAnswer(scalarText(list[0]))
		return
	}
	all := make([]string, len(list))
	for i, v := range list {
		all[i] = trim(scalarText(v))
	}
	if s := strings.Join(all, ","); numbersOf(s) != nil && len(j.options) > 0 {
		j.ans = answer{text: s} // places in the list, or texts that are numbers
		return
	}
	for i := range list {
		one := draft{options: j.options, ans: j.oneAnswer(all[i])}
		l, ok := one.letters()
		if !ok || len(l) != 1 {
			if len(j.options) > 0 {
				j.bad, j.badDetail = reasonOutside, "answer "+strconv.Quote(clip(all[i], 40))+" is none of the options"
				return
			}
			j.ans.letters = nil
			j.ans.text = strings.Join(all, "；")
			continue
		}
		j.ans.letters = append(j.ans.letters, l[0])
	}
	if j.ans.text != "" {
		j.ans = answer{text: strings.Join(all, "；")}
	}
}
