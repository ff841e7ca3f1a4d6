package question_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/question"
)

// An exam is a list of random questions and the way they are printed.
type exam struct {
	items  []exItem
	number func(n int) string
	label  func(v int) string
	layout string
	key    string
	noise  []string // lines of no question, put between questions that have their answer
}

type exItem struct {
	stem    string
	options []string
	answer  int
}

// genExam draws questions whose texts hold no marks of their own.
func genExam(t *rapid.T) exam {
	english := rapid.Bool().Draw(t, "english")
	words := strings.Fields("船舶 机动船 帆船 左舷 右舷 雾中 航行 锚泊 应当 显示 号灯 号型 让路 保向 保速 避让 追越 规定 距离 3海里 12米 VHF GPS 《规则》 “互见”")
	sep := ""
	if english {
		words = strings.Fields("vessel shall the stern light of sailing under power in fog two prolonged blasts 50 meters VHF COLREGs stand-on give-way when towing")
		sep = " "
	}
	phrase := func(name string, least, most int) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), least, most).Draw(t, name), sep)
	}
	e := exam{
		layout: rapid.SampledFrom([]string{"lines", "one line", "columns", "behind the stem", "wrapped"}).Draw(t, "layout"),
		key:    rapid.SampledFrom([]string{"label", "bracket label", "after", "inside", "ranges", "numbers", "glued numbers", "explained", "table", "own file", "first", "columns"}).Draw(t, "key"),
	}
	if rapid.Bool().Draw(t, "noisy") {
		e.noise = []string{"- 12 -", "第12页 共30页", "更多题库请关注微信公众号：航海之家", "________________", "航海题库（内部资料）      第 3 页", "Page 3 of 9", "", "展开解析"}
	}
	numbers := map[string]func(int) string{}
	for _, f := range []string{"%d. ", "%d、", "%d．", "(%d) ", "（%d）", "【%d】", "第%d题 ", "%d) ", "%d）"} {
		numbers[f] = func(n int) string { return fmt.Sprintf(f, n) }
	}
	e.number = numbers[rapid.SampledFrom([]string{"%d. ", "%d、", "%d．", "(%d) ", "（%d）", "【%d】", "第%d题 ", "%d) ", "%d）"}).Draw(t, "number")]
	style := rapid.SampledFrom([]string{"%s. ", "%s.", "%s、", "%s．", "(%s) ", "（%s）", "%s) ", "%s：", "【%s】"}).Draw(t, "label")
	e.label = func(v int) string { return fmt.Sprintf(style, string(rune('A'+v))) }
	n := rapid.IntRange(2, 12).Draw(t, "items")
	k := rapid.IntRange(2, 5).Draw(t, "options")
	for range n {
		it := exItem{stem: phrase("stem", 3, 12), answer: rapid.IntRange(0, k-1).Draw(t, "answer")}
		for range k {
			it.options = append(it.options, phrase("option", 1, 5))
		}
		e.items = append(e.items, it)
	}
	return e
}

// print writes the exam as text and what should be read back from it.
func (e exam) print() (string, []string) {
	var b strings.Builder
	var want []string
	inside := e.key == "inside" || e.key == "after"
	if e.key == "first" {
		e.keys(&b)
	}
	for i, it := range e.items {
		letter := string(rune('A' + it.answer))
		stem, read := it.stem+"：", it.stem+"："
		switch e.key {
		case "after":
			stem, read = it.stem+"____。（"+letter+"）", it.stem+"____。"
		case "inside":
			stem, read = it.stem+"（ "+letter+" ）", it.stem+"（  ）"
		}
		b.WriteString(e.number(i + 1))
		e.body(&b, stem, it)
		switch e.key {
		case "label":
			b.WriteString("答案：" + letter + "\n")
		case "bracket label":
			b.WriteString("【答案】" + letter + "\n【解析】" + it.stem + "\n")
		}
		if len(e.noise) > 0 {
			b.WriteString(e.noise[i%len(e.noise)] + "\n")
		}
		var o []string
		for v, s := range it.options {
			o = append(o, string(rune('A'+v))+"="+s)
		}
		want = append(want, "single|"+read+"|"+strings.Join(o, ";")+"|"+letter)
	}
	if !inside && e.key != "first" && e.key != "own file" {
		e.keys(&b)
	}
	return b.String(), want
}

func (e exam) body(b *strings.Builder, stem string, it exItem) {
	switch e.layout {
	case "wrapped":
		rs := []rune(stem)
		if !strings.Contains(stem, " ") { // Chinese breaks anywhere
			cut := len(rs) / 2
			for cut < len(rs) && rs[cut-1] < 0x2E80 {
				cut++
			}
			if cut < len(rs)-3 && rs[cut] >= 0x4E00 && rs[cut-1] >= 0x4E00 {
				stem = string(rs[:cut]) + "\n" + string(rs[cut:])
			}
		}
		b.WriteString(stem + "\n")
	case "behind the stem":
		b.WriteString(stem + " ")
	default:
		b.WriteString(stem + "\n")
	}
	for v, s := range it.options {
		b.WriteString(e.label(v) + s)
		last := v == len(it.options)-1
		switch {
		case last, e.layout == "lines", e.layout == "wrapped":
			b.WriteString("\n")
		case e.layout == "columns" && v%2 == 1:
			b.WriteString("\n")
		case e.layout == "columns":
			b.WriteString("\t")
		default:
			b.WriteString("  ")
		}
	}
}

func (e exam) keys(b *strings.Builder) {
	switch e.key {
	case "ranges":
		b.WriteString("参考答案\n")
		for i := 0; i < len(e.items); i += 5 {
			end := min(i+5, len(e.items))
			fmt.Fprintf(b, "%d-%d、", i+1, end)
			for _, it := range e.items[i:end] {
				b.WriteByte(byte('A' + it.answer))
			}
			b.WriteString(map[bool]string{true: "\n", false: "  "}[i%10 == 5])
		}
	case "numbers", "glued numbers":
		b.WriteString("习题集答案\n")
		for i, it := range e.items {
			if e.key == "numbers" {
				fmt.Fprintf(b, "%d.%c ", i+1, 'A'+it.answer)
			} else {
				fmt.Fprintf(b, "%d%c", i+1, 'A'+it.answer)
			}
		}
	case "table", "first":
		numbers, letters := "题号", "答案"
		for i, it := range e.items {
			numbers += fmt.Sprintf("\t%d", i+1)
			letters += fmt.Sprintf("\t%c", 'A'+it.answer)
		}
		b.WriteString("参考答案\n" + numbers + "\n" + letters + "\n")
	case "columns":
		b.WriteString("参考答案\n题号  答案  题号  答案\n")
		half := (len(e.items) + 1) / 2
		for i, it := range e.items[:half] {
			fmt.Fprintf(b, "%d  %c", i+1, 'A'+it.answer)
			if j := i + half; j < len(e.items) {
				fmt.Fprintf(b, "    %d  %c", j+1, 'A'+e.items[j].answer)
			}
			b.WriteString("\n")
		}
	case "own file":
		for i, it := range e.items {
			fmt.Fprintf(b, "%d. %c\n", i+1, 'A'+it.answer)
		}
	case "explained":
		b.WriteString("答案与解析\n")
		for i, it := range e.items {
			fmt.Fprintf(b, "%d.【答案】%c\n【解析】%s\n", i+1, 'A'+it.answer, it.stem)
		}
	}
}

// What is printed in a known shape is read back as it was.
func TestPrintedExamsComeBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := genExam(t)
		s, want := e.print()
		doc := text(s)
		if e.key == "own file" {
			var b strings.Builder
			e.keys(&b)
			doc.Key = text(b.String())
		}
		var got result
		p := question.New(question.Options{Part: func(p question.Part) {
			if !p.Closed || p.Questions != len(e.items) {
				t.Errorf("%d questions, %d keys, %d matched of %d", p.Questions, p.Keys, p.Matched, len(e.items))
			}
		}})
		for r, err := range p.Parse(t.Context(), doc) {
			if err != nil {
				t.Fatalf("layout %s key %s: %v\n%s", e.layout, e.key, err, s)
			}
			got.records = append(got.records, r)
		}
		if d := cmp.Diff(want, shown(got)); d != "" {
			t.Fatalf("layout %s key %s (-want +got)\n%s\n%s", e.layout, e.key, d, s)
		}
	})
}

// Every character of a numbered line is in a question or a drop.
func TestNothingDisappears(t *testing.T) {
	t.Parallel()
	pieces := []string{"1. 甲灯", "2、乙灯", "（3）丙灯", "4. 丁灯", "A. 红色", "B. 绿色", "C、白色", "A．一 B．二", "答案：A", "1-2 AB", "习题答案", "第一章 总则", "第二条 定义", "单选题", "判断题", "散落的文字。", "解析：因为如此", "", "（√）", "5", "E. 紫色", "1、船舶"}
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 25).Draw(t, "lines")
		var all strings.Builder
		ids := map[drydock.ID]bool{}
		p := question.New(question.Options{})
		for r, err := range p.Parse(t.Context(), text(strings.Join(lines, "\n"))) {
			if d, ok := err.(*drydock.Drop); ok {
				r = d.Record
				all.WriteString(strings.Join(r.Passage.Heading, "\n") + "\n" + r.Passage.Text + "\n")
			} else {
				q := r.Question
				all.WriteString(strings.Join(q.Subject, "\n") + "\n" + q.Stem + "\n" + q.Explanation + "\n")
				for _, o := range q.Options {
					all.WriteString(o.Text + "\n")
				}
				for _, a := range q.Answer {
					if q.Kind != drydock.Judge && len(q.Options) == 0 && q.Kind != drydock.Blank && q.Kind != drydock.Short {
						t.Fatalf("answer without options: %+v", q)
					}
					found := len(q.Options) == 0
					for _, o := range q.Options {
						found = found || o.Label == a
					}
					if !found {
						t.Fatalf("answer outside the options: %+v", q)
					}
				}
			}
			if ids[r.ID] {
				t.Fatalf("id twice: %v", r)
			}
			ids[r.ID] = true
		}
		for _, l := range lines {
			for _, w := range []string{"甲灯", "乙灯", "丙灯", "丁灯", "散落的文字", "因为如此", "紫色", "红色", "绿色"} {
				if strings.Contains(l, w) && !strings.Contains(all.String(), w) {
					t.Fatalf("%q is lost in\n%s\ngot\n%s", w, strings.Join(lines, "\n"), all.String())
				}
			}
		}
	})
}
