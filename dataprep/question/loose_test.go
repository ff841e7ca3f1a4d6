package question_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock"
)

// Ways to print a bank that do without numbers, labels or a line for the answer.
func TestLooseShapes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{
			"no numbers, blank lines between",
			"左舷灯为\nA. 红\nB. 绿\n答案：A\n\n右舷灯为\nA. 红\nB. 绿\n答案：B",
			[]string{"single|左舷灯为|A=红;B=绿|A", "single|右舷灯为|A=红;B=绿|B"},
		},
		{
			"no numbers, nothing between, explanations",
			"左舷灯为\nA. 红\nB. 绿\n答案：A\n解析：见规则。\n右舷灯为\nA. 红\nB. 绿\n答案：B",
			[]string{"single|左舷灯为|A=红;B=绿|A", "single|右舷灯为|A=红;B=绿|B"},
		},
		{
			"no numbers, stems that begin like a bare label",
			"A vessel shows a red light on her\nA. port side\nB. starboard side\nANSWER: A\n\nA vessel shows a green light on her\nA. port side\nB. starboard side\nANSWER: B",
			[]string{"single|A vessel shows a red light on her|A=port side;B=starboard side|A", "single|A vessel shows a green light on her|A=port side;B=starboard side|B"},
		},
		{
			"a word before the stem",
			"题目：左舷灯为\nA. 红\nB. 绿\n答案：A\n解析：无\n题目：右舷灯为\n哪一种\nA. 红\nB. 绿\n答案：B",
			[]string{"single|左舷灯为|A=红;B=绿|A", "single|右舷灯为哪一种|A=红;B=绿|B"},
		},
		{
			"a list from A without an answer is no question",
			"The following shall be carried:\nA. an anchor\nB. a compass\n\nOther matters.",
			[]string{"drop unparsed_text", "drop unparsed_text"},
		},
		{
			"numbers and labels alone on their lines",
			"1\n左舷灯为\nA\n红\nB\n绿\nC\n白\n答案：A\n2\n右舷灯为\nA\n红\nB\n绿\nC\n白\n答案：B",
			[]string{"single|左舷灯为|A=红;B=绿;C=白|A", "single|右舷灯为|A=红;B=绿;C=白|B"},
		},
		{
			"Question 1 alone, answers as texts",
			"Question 1\nNot answered\nMarked out of 1.00\nWhich flag means a pilot is on board?\na. G\nb. H\nThe correct answer is: H\nQuestion 2\nWhich light is red?\na. port\nb. starboard\nThe correct answer is: port",
			[]string{"single|Which flag means a pilot is on board?|A=G;B=H|B", "single|Which light is red?|A=port;B=starboard|A"},
		},
		{
			"signs beside the right option",
			"1. 左舷灯为\n*A. 红\nB. 绿\n2. 右舷灯为\nA. 红\nB. 绿 √\n3. 锚灯为\nA. 红  B. 绿  C. 白（√）\n4. 救生设备有\n√A. 艇\n√B. 筏\nC. 锚\n5. 尾灯为\n[ ] A. 红\n[x] B. 白\n6. 桅灯为\n- [x] 白\n- [ ] 红",
			[]string{"single|左舷灯为|A=红;B=绿|A", "single|右舷灯为|A=红;B=绿|B", "single|锚灯为|A=红;B=绿;C=白|C", "multiple|救生设备有|A=艇;B=筏;C=锚|A,B", "single|尾灯为|A=红;B=白|B", "single|桅灯为|A=白;B=红|A"},
		},
		{
			"a sign and an answer that differ",
			"1. 左舷灯为\nA. 红\nB. 绿 √\n答案：A",
			[]string{"drop answer_conflict"},
		},
		{
			"every option ticked says nothing",
			"1. 左舷灯为\nA. 红 √\nB. 绿 √",
			[]string{"single|左舷灯为|A=红;B=绿|"},
		},
		{
			"答案 in brackets, in lower case with room around",
			"1. Which light is red?\n(A) port\n(B) starboard\nAns. (A)\n2. 左舷灯为( a )\nA. 红\nB. 绿\n3. Which is green? (a) port (b) starboard\nAnswer: (b)",
			[]string{"single|Which light is red?|A=port;B=starboard|A", "single|左舷灯为（  ）|A=红;B=绿|A", "single|Which is green?|A=port;B=starboard|B"},
		},
		{
			"a word before the label, buttons of a site",
			"题目1：左舷灯为\n选项：\n选项A：红\n选项B：绿\n收藏 纠错\n答案：A\n题目2：右舷灯为\nOption A: 红\nOption B: 绿\nCorrect Option: B",
			[]string{"single|左舷灯为|A=红;B=绿|A", "single|右舷灯为|A=红;B=绿|B"},
		},
		{
			"the number of an option whose list is not read is no answer in words",
			"1. Which light is red?\n   1) port\n   2) starboard\nAnswer: 1",
			[]string{"drop no_answer", "drop not_a_question", "drop no_options"},
		},
		{
			"the answer before the number",
			"（A）1. 左舷灯为\n(A)红 (B)绿\n（ B ）2. 右舷灯为\n(A)红 (B)绿",
			[]string{"single|左舷灯为|A=红;B=绿|A", "single|右舷灯为|A=红;B=绿|B"},
		},
		{
			"the answer behind the number",
			"1. (A) 左舷灯为\n(A)红 (B)绿\n2. (B) 右舷灯为\n(A)红 (B)绿",
			[]string{"single|左舷灯为|A=红;B=绿|A", "single|右舷灯为|A=红;B=绿|B"},
		},
		{
			"a place for the answer before the number",
			"一、单选题\n（    ）1、左舷灯为\nA.红 B.绿\n（    ）2、右舷灯为\nA.红 B.绿\n二、判断题\n（√）1、左舷灯为红。\n（×）2、右舷灯为红。\n答案\n一、单选题 1-2 AB",
			[]string{"single|左舷灯为|A=红;B=绿|A", "single|右舷灯为|A=红;B=绿|B", "judge|左舷灯为红。||true", "judge|右舷灯为红。||false"},
		},
		{
			"答案 alone, the letter below",
			"1. 左舷灯为\nA. 红\nB. 绿\n\n答案\n\nA\n\n2. 右舷灯为\nA. 红\nB. 绿\n收藏纠错\n<details><summary>答案</summary>\nB\n</details>\n3. 号灯有\nA. 锚灯\nB. 尾灯\nC. 台灯\n\n答案\n\nAB",
			[]string{"single|左舷灯为|A=红;B=绿|A", "single|右舷灯为|A=红;B=绿|B", "multiple|号灯有|A=锚灯;B=尾灯;C=台灯|A,B"},
		},
		{
			"a label after a unit whose blank was lost",
			"1. 深度为\nA．10～12 mB．0.5 m C．4 mD．20 m以下\n答案：C",
			[]string{"single|深度为|A=10～12 m;B=0.5 m;C=4 m;D=20 m以下|C"},
		},
		{
			"keys: 第1题：A",
			"1. 甲\nA. 红\nB. 绿\n2. 乙\nA. 红\nB. 绿\n附：答案\n第1题：A\n第2题：B",
			[]string{"single|甲|A=红;B=绿|A", "single|乙|A=红;B=绿|B"},
		},
		{
			"keys: Question 1: A, 2. B - text",
			"1. 甲\nA. 红\nB. 绿\n2. 乙\nA. 红\nB. 绿\n3. 丙\nA. 红\nB. 绿\nAnswer Key\nQuestion 1: A\n2. B - 绿\n3. A（见第3页）",
			[]string{"single|甲|A=红;B=绿|A", "single|乙|A=红;B=绿|B", "single|丙|A=红;B=绿|A"},
		},
		{
			"keys: 单选题答案 over a bank without headings",
			"1. 甲\nA. 红\nB. 绿\n2. 乙\nA. 红\nB. 绿\n单选题答案\n1: a\n2: b",
			[]string{"single|甲|A=红;B=绿|A", "single|乙|A=红;B=绿|B"},
		},
		{
			"keys: Answers: 1-B, 2-A",
			"1. 甲\nA. 红\nB. 绿\n2. 乙\nA. 红\nB. 绿\nAnswers: 1-B, 2-A",
			[]string{"single|甲|A=红;B=绿|B", "single|乙|A=红;B=绿|A"},
		},
		{
			"keys in columns read across",
			"1. 甲\nA. 红\nB. 绿\n2. 乙\nA. 红\nB. 绿\n3. 丙\nA. 红\nB. 绿\n4. 丁\nA. 红\nB. 绿\n答案\n题号 答案 题号 答案\n1 A 3 B\n2 A 4 B",
			[]string{"single|甲|A=红;B=绿|A", "single|乙|A=红;B=绿|A", "single|丙|A=红;B=绿|B", "single|丁|A=红;B=绿|B"},
		},
		{
			"keys in columns under English heads",
			"1. 甲\nA. 红\nB. 绿\n2. 乙\nA. 红\nB. 绿\nANSWER KEY\nNo. Ans No. Ans\n1 B 2 A",
			[]string{"single|甲|A=红;B=绿|B", "single|乙|A=红;B=绿|A"},
		},
		{
			"keys as two lines without heads",
			"1. 甲\nA. 红\nB. 绿\n2. 乙\nA. 红\nB. 绿\n3. 丙\nA. 红\nB. 绿\n参考答案\n1 2 3\nB A B",
			[]string{"single|甲|A=红;B=绿|B", "single|乙|A=红;B=绿|A", "single|丙|A=红;B=绿|B"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			wantShown(t, text(c.in), c.want)
		})
	}
}

// A # parts an answer from its stem, but stands in other places as well.
func TestAnswerBehindSign(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"船长对船舶安全负责#船长":                                    "船长",
		"航速的单位为km/h#千米每小时":                                "千米每小时",
		"The master is responsible#the master":            "the master",
		"锚链一节长____#27.5米":                                 "27.5米",
		"I intend to leave you on my port side&#x201D;":   "",
		"Read [the guide](#the-guide)":                    "",
		"See https://example.org/guide.html#parts":        "",
		"见https://example.org/导则#四":                       "",
		"See guide.html#parts":                            "",
		"Examples (https://example.org/a#L3-L4":           "",
		"Added a function (thanks) #224: Added a filter":  "",
		"It was told in issue #12 of last year":           "",
		"Lights #161 and shapes #157 were added #152 too": "",
		"Add fuzzing for NewVersion() (thanks a friend)":  "",
		"cat bank/drydock.yaml # shows the file":          "",
	} {
		got := parse(t, text("1. "+in))
		answer := ""
		if len(got.records) > 0 {
			answer = strings.Join(got.records[0].Question.Answer, ";")
		}
		if answer != want {
			t.Errorf("%s: answer %q, want %q", in, answer, want)
		}
	}
}

// An option that looks different from its first character to its last is the
// answer where nothing else is.
func TestLooks(t *testing.T) {
	t.Parallel()
	all := func(s string, k drydock.SpanKind, v string) drydock.Block {
		return drydock.Block{Text: s, Spans: []drydock.Span{{Start: 0, End: len(s), Kind: k, Value: v}}}
	}
	plain := func(s string) drydock.Block { return drydock.Block{Text: s} }
	part := "A. 红色  B. 绿色"
	got := parse(t, document([]drydock.Block{
		plain("1. 左舷灯为"), plain("A. 红"), all("B. 绿", drydock.Color, "FF0000"),
		plain("2. 右舷灯为"), all("A. 红", drydock.Color, "000000"), all("B. 绿", drydock.Bold, ""),
		plain("3. 锚灯为"),
		{Text: part, Spans: []drydock.Span{{Start: 0, End: len("A. 红色"), Kind: drydock.Color, Value: "00B050"}}},
		plain("4. 尾灯为"),
		{Text: part, Spans: []drydock.Span{{Start: 3, End: 6, Kind: drydock.Color, Value: "00B050"}}},
		plain("5. 桅灯为"), all("A. 红", drydock.Bold, ""), all("B. 绿", drydock.Bold, ""), plain("答案：A"),
		plain("7. 失控灯为"), plain("A. 红"),
		{Text: "B. 绿", Spans: []drydock.Span{{Start: 0, End: 1, Kind: drydock.Color, Value: "FF0000"}}},
		plain("9. 驳船灯为"), // a list item of two paragraphs: every label is bold
		{Text: "• A. 红", Spans: []drydock.Span{{Start: 4, End: 6, Kind: drydock.Bold}}},
		{Text: "B. 绿", Spans: []drydock.Span{{Start: 0, End: 2, Kind: drydock.Bold}}},
		plain("8. 拖带灯为"), all("A. 红", drydock.Bold, ""), all("B. 绿", drydock.Bold, ""),
	}))
	want := []string{
		"single|左舷灯为|A=红;B=绿|B", "single|右舷灯为|A=红;B=绿|B", "single|锚灯为|A=红色;B=绿色|A",
		"single|尾灯为|A=红色;B=绿色|", "single|桅灯为|A=红;B=绿|A", "single|失控灯为|A=红;B=绿|B", "single|驳船灯为|A=红;B=绿|", "single|拖带灯为|A=红;B=绿|",
	}
	if d := cmp.Diff(want, shown(got)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if len(got.notes) != 3 || got.notes[0].Code != "unanswered" {
		t.Errorf("notes %v", got.notes)
	}
}
