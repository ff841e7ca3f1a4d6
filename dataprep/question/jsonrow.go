package question

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/valyala/fastjson"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/msg"
)

var indexNote = msg.Text{"answer %d read as %s, counting from %d", "答案 %d 读作 %s（从 %d 开始计数）"}

var optionNote = msg.Text{"option %s is the JSON value %s, not a text", "选项 %s 是 JSON 值 %s，不是文本"}

func itoa(n int) string { return strconv.Itoa(n) }

// jsonRows holds what is kept between JSON rows.
type jsonRows struct {
	parser  fastjson.Parser
	counted stemCount
}

func (r *reader) tell(n Note) {
	if r.note != nil {
		r.note(n)
	}
}

// jsonRow makes an item of a JSON row.
func (r *reader) jsonRow(b drydock.Block) error {
	v, err := r.rows.parser.ParseBytes(b.Raw)
	if err != nil {
		r.give(nil, rejected(r.doc.File, b.At, nil, string(b.Raw), reasonBadRow, "the row is not JSON: "+err.Error()))
		return nil
	}
	found := false
	eachItem(v, b.At, nil, func(j *jsonItem, x *fastjson.Value, under []string) {
		found = true
		j.text = func() string { return string(b.Raw) }
		if under != nil {
			j.text = x.String
		}
		r.jsonItem(j, x, under)
	})
	if !found {
		d := draft{at: b.At, text: func() string { return string(b.Raw) }}
		r.give(nil, d.reject(r.doc.File, reasonNotQuestion, "the row has no field that holds a question"))
	}
	return nil
}

// jsonItem makes a record of one question, which stands under the titles.
func (r *reader) jsonItem(j *jsonItem, x *fastjson.Value, under []string) {
	if len(under) > 0 {
		j.subject = append(slices.DeleteFunc(slices.Clone(under), func(s string) bool { return s == "" }), j.subject...)
	}
	for _, n := range j.notes {
		r.tell(n)
	}
	if g := r.gridOf(j.at); len(g.Layouts) == 0 {
		g.Layouts = []Layout{{Kind: "fields", Columns: fieldNames(x), Order: 1, Used: 1}}
	}
	d := &j.draft
	if n := r.rows.counted.next(d.stem); n > 0 && d.rowID == "" {
		d.stem, _ = cleanStem(d.stem, n)
	}
	if j.bad == "" && len(d.options) > 0 && d.ans.letters == nil && d.ans.text != "" {
		if reason, detail := r.indexAnswer(d, j.first(), jsonIndex()); reason != "" {
			r.refuse(d, reason, detail)
			return
		}
	}
	if j.bad != "" {
		r.refuse(d, j.bad, j.badDetail)
		return
	}
	r.settle(d)
}

// first is what the names of the options count from, option1, option2, …; -1
// where they do not.
func (j *jsonItem) first() int {
	if j.hasOpts || len(j.single) >= 2 || len(j.numbered) < 2 {
		return -1
	}
	if _, zero := j.numbered[0]; zero {
		return 0
	}
	return 1
}

// fieldNames says which field of a row has which role.
func fieldNames(x *fastjson.Value) []string {
	var out []string
	o, err := x.Object()
	if err != nil {
		return nil
	}
	names := [...]string{
		roleID: "id", roleQuestion: "question", roleAnswer: "answer", roleOptions: "options", roleWrong: "wrong",
		roleExplain: "explanation", roleForm: "kind", roleSubject: "subject", roleFigure: "figure", roleLang: "lang",
	}
	o.Visit(func(key []byte, _ *fastjson.Value) {
		what, option := roleOf(string(key))
		name := ""
		if int(what) < len(names) {
			name = names[what]
		}
		if what == roleOption {
			name = letter(option)
		}
		if name != "" {
			out = append(out, name+"="+clip(string(key), 20))
		}
	})
	return out
}

// jsonIndex reads a row's answer and option count for indexBase.
func jsonIndex() func(drydock.Block) (v []int, n int) {
	var p fastjson.Parser
	return func(b drydock.Block) ([]int, int) {
		if b.Raw == nil {
			return nil, 0
		}
		v, err := p.ParseBytes(b.Raw)
		if err != nil {
			return nil, 0
		}
		var out []int
		n := 0
		eachItem(v, b.At, nil, func(j *jsonItem, _ *fastjson.Value, _ []string) {
			if all := positions(numbersOf(j.ans.text), len(j.options)); all != nil {
				if n != len(j.options) && n > 0 {
					all = slices.DeleteFunc(all, func(v int) bool { return v > 0 }) // lists of two lengths: only 0 tells
				} else {
					n = len(j.options)
				}
				out = append(out, all...)
			}
		})
		return out, n
	}
}

// maxNesting is how deep the questions of a row may stand: volume, chapter,
// section, group.
const maxNesting = 6

// eachItem calls f for a value that is a question, else for the questions in the
// lists it holds, under the titles of what holds them.
func eachItem(v *fastjson.Value, at drydock.Locator, under []string, f func(j *jsonItem, v *fastjson.Value, under []string)) {
	o, err := v.Object()
	if err != nil || len(under) > maxNesting {
		return
	}
	j := &jsonItem{draft: draft{at: at}}
	if j.read(v) {
		f(j, v, under)
		return
	}
	title := ""
	for _, k := range [...]string{"title", "name", "chapter", "section", "标题", "名称", "章节", "章", "节"} {
		if t := v.Get(k); t != nil && title == "" && scalar(t) {
			title = trim(scalarText(t))
		}
	}
	path := append(under[:len(under):len(under)], title)
	o.Visit(func(_ []byte, x *fastjson.Value) {
		switch x.Type() {
		case fastjson.TypeArray:
			for _, e := range x.GetArray() {
				eachItem(e, at, path, f)
			}
		case fastjson.TypeObject:
			eachItem(x, at, path, f)
		}
	})
}

// looksLikeItem reports a row for Accepts: a question with options, or with
// an answer under a name that only exam items use.
func looksLikeItem(raw []byte) bool {
	var p fastjson.Parser
	v, err := p.ParseBytes(bytes.TrimSpace(raw))
	if err != nil {
		return false
	}
	j := jsonItem{}
	if !j.read(v) {
		return false
	}
	if len(j.options) >= 2 {
		return true
	}
	o, err := v.Object()
	if err != nil {
		return false
	}
	q, a := false, false
	o.Visit(func(key []byte, _ *fastjson.Value) {
		switch what, _ := roleOf(string(key)); what {
		case roleQuestion:
			n := foldName(string(key))
			q = q || n != "query" && n != "prompt"
		case roleAnswer:
			a = true
		}
	})
	return q && a
}
