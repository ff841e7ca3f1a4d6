package question_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/dataprep/question"
)

// numberings are ways to print the number of a question. A mark or a blank ends each.
var numberings = []string{
	"%d. ", "%d、", "%d．", "%d) ", "%d: ", "%d.) ", "%d.、", "%d】", "%d> ", "%d - ", "%d·", "%02d. ", "%d\t", `%d\. `,
	"(%d) ", "（%d）", "[%d] ", "【%d】", "〔%d〕", "［%d］", "<%d> ", "《%d》", "{%d} ",
	"#%d ", "#%d. ", "# %d ", "# %d. ", "#%d：", "＃%d ", "## %d. ", "№%d ", "№ %d. ", "No.%d ", "No. %d ", "NO.%d、", "No %d: ", "Nr. %d ", "N°%d ",
	"Q%d. ", "Q%d) ", "Q%d ", "Q.%d ", "Q-%d ", "Q#%d ", "Qn. %d) ", "Ques. %d ", "[Q%d] ", "(Q%d) ",
	"Question %d\n", "Question %d: ", "Question #%d: ", "Question No. %d: ", "Question %d of 50\n", "### Question %d\n", "Item %d. ", "Exercise %d. ", "Problem %d: ", "Task %d: ",
	"问题%d ", "问题%d：", "问题 %d. ", "### 问题%d\n", "第%d题 ", "第 %d 题：", "第%d道题 ", "第%d小题、", "第%d/50题 ", "题%d、", "题目%d：", "试题%d、", "习题%d：", "例%d ", "题号：%d ",
	"%d题、", "%d/50 ", "%d/50. ", "%d / 50 ", "%d of 50. ",
	"【第%d题】", "【题%d】", "（第%d题）", "[题%d]", "单选题%d. ", "单选%d、", "判断题%d、", "单选题 %d/50 ", "%d.【单选题】", "%d.（单选）", "%d(2分) ", "（单选题）%d. ", "[单选题] %d. ",
}

// However its questions are numbered, a bank is read whole, with the answers beside
// the questions or at the end, a line or all on one, in the same style or as a range.
func TestNumberings(t *testing.T) {
	t.Parallel()
	const letters = "BCDABCD"
	for _, style := range numberings {
		for _, key := range []string{"beside", "lines", "one line", "range"} {
			var bank, end strings.Builder
			for i, l := range letters {
				number := fmt.Sprintf(style, i+1)
				fmt.Fprintf(&bank, "%s船舶在第%c种情况下应显示的号灯是\nA. 桅灯\nB. 舷灯\nC. 尾灯\nD. 锚灯%d\n", number, []rune("甲乙丙丁戊己庚")[i], i+1)
				switch key {
				case "beside":
					fmt.Fprintf(&bank, "答案：%c\n", l)
				case "lines":
					fmt.Fprintf(&end, "%s %c\n", strings.TrimSpace(number), l)
				case "one line":
					fmt.Fprintf(&end, "%s %c  ", strings.TrimSpace(number), l)
				}
			}
			if key == "range" {
				end.WriteString("1-7 " + letters)
			}
			if end.Len() > 0 {
				bank.WriteString("参考答案\n" + end.String() + "\n")
			}
			n := 0
			for r, err := range question.New(question.Options{}).Parse(context.Background(), text(bank.String())) {
				if err != nil {
					t.Errorf("%q, %s: %v", style, key, err)
					break
				}
				q := r.Question
				if !strings.HasPrefix(q.Stem, "船舶在第") || len(q.Options) != 4 || len(q.Answer) != 1 || q.Answer[0] != letters[n:n+1] {
					t.Errorf("%q, %s: %+v", style, key, q)
					break
				}
				n++
			}
			if n != len(letters) {
				t.Errorf("%q, %s: %d questions", style, key, n)
			}
		}
	}
}

// Words that also name things number nothing inside a question.
func TestNumbersThatNameThings(t *testing.T) {
	t.Parallel()
	s := "1. 下列舱室中应首先检查的是\nA. 机舱\nB. 货舱\nC. 泵舱\nD. 货舱中的\nNo. 2 舱\n答案：B\n" +
		"2. 按\nNo. 3 hold 的要求\nA. x\nB. y\n答案：A\n解析：例1、2 已说明。\n例3 同上\n#1 发电机除外\n1/2 的情况\n3. 右舷灯为\nA. 绿\nB. 红\n答案：A\n"
	want := []string{"下列舱室中应首先检查的是", "按No. 3 hold 的要求", "右舷灯为"}
	n := 0
	for r, err := range question.New(question.Options{}).Parse(context.Background(), text(s)) {
		if err != nil {
			t.Fatal(err)
		}
		if n >= len(want) || r.Question.Stem != want[n] {
			t.Fatalf("%+v", r.Question)
		}
		n++
	}
	if n != len(want) {
		t.Errorf("%d questions", n)
	}
}

// A word or a sign that numbers questions elsewhere heads a part when the count
// begins below it.
func TestNumberedTitles(t *testing.T) {
	t.Parallel()
	for _, title := range []string{"# %d 航海学", "练习%d", "习题 %d", "Exercise %d", "### %d. 航海学", "Task %d: lights"} {
		var s strings.Builder
		for part := 1; part <= 2; part++ {
			fmt.Fprintf(&s, title+"\n", part)
			for n := 1; n <= 3; n++ {
				fmt.Fprintf(&s, "%d. 第%d部的右舷灯为\nA. 绿%d\nB. 红\n答案：A\n", n, part, n)
			}
		}
		n := 0
		for r, err := range question.New(question.Options{}).Parse(context.Background(), text(s.String())) {
			if err != nil {
				t.Errorf("%q: %v", title, err)
				continue
			}
			n++
			if want := fmt.Sprintf(title, (n+2)/3); len(r.Question.Subject) == 0 || !strings.Contains(want, strings.Trim(r.Question.Subject[0], "# ")) {
				t.Errorf("%q: %+v", title, r.Question)
			}
		}
		if n != 6 {
			t.Errorf("%q: %d questions", title, n)
		}
	}
}
