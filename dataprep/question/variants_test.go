package question_test

import (
	"strings"
	"testing"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/question"
)

// Ways to print a bank that differ from the usual ones in one small thing, each of
// which once cost an item, glued something to an option or moved a key.
var variants = []struct {
	name, in string
	want     []string
}{
	{
		"explanation behind the answer on its line, under its long name",
		"1、左舷灯为\nA、红  B、绿\n正确答案：A  答案解析：根据第1条，B项错。\n2、右舷灯为\nA、红  B、绿\n正确答案：B  试题分析：见上。",
		[]string{"single|左舷灯为|A=红;B=绿|A", "single|右舷灯为|A=红;B=绿|B"},
	},
	{
		"answers in brackets, with a verb, under other words",
		"1. 甲\nA. 红\nB. 绿\n参考答案为：（A）\n2. 乙\nA. 红\nB. 绿\n答案：选B\n3. 丙\nA. 红\nB. 绿\n正解：A\n4. 丁\nA. 红\nB. 绿\n答案【B】",
		[]string{"single|甲|A=红;B=绿|A", "single|乙|A=红;B=绿|B", "single|丙|A=红;B=绿|A", "single|丁|A=红;B=绿|B"},
	},
	{
		"an answer in no known form is not left in the last option",
		"1. 甲\nA. 红\nB. 绿\n<答案>B\n2. 乙\nA. 红\nB. 绿\n答案：A",
		[]string{"single|乙|A=红;B=绿|A", "drop no_answer"},
	},
	{
		"what a quiz site says of the user's choice, and its points",
		"1. (单选题, 2.0 分) 左舷灯为\nA. 红\nB. 绿\n您的答案：B\n回答错误\n参考答案：A\n2.0分\n2. (单选题, 2.0 分) 右舷灯为\nA. 红\nB. 绿\n我的答案: B\n正确答案: B\n2.0分",
		[]string{"single|左舷灯为|A=红;B=绿|A", "single|右舷灯为|A=红;B=绿|B"},
	},
	{
		"ranges with two dashes, letters apart",
		"1. 甲\nA. 红\nB. 绿\n2. 乙\nA. 红\nB. 绿\n3. 丙\nA. 红\nB. 绿\n答案：\n1--3 B A B",
		[]string{"single|甲|A=红;B=绿|B", "single|乙|A=红;B=绿|A", "single|丙|A=红;B=绿|B"},
	},
	{
		"sellers, addresses and rights between options and answers",
		"1. 甲\nA. 红\nB. 绿\nQQ群：123456789\n2. 乙\nA. 红\nB. 绿\n扫码下载APP，随时随地刷题\n3. 丙\nA. 红\nB. 绿\n版权所有 翻印必究\n4. 丁\nA. 红\nB. 绿\n考试网 http://www.example.com/exam 整理发布\n答案\n1-4 ABAB",
		[]string{"single|甲|A=红;B=绿|A", "single|乙|A=红;B=绿|B", "single|丙|A=红;B=绿|A", "single|丁|A=红;B=绿|B"},
	},
	{
		"a running title beside page numbers of a text that tells no pages apart",
		"1. 甲\nA. 红\n《避碰》内部资料\n1 / 30\nB. 绿\n答案：A\n2. 乙\nA. 红\n《避碰》内部资料\n2 / 30\nB. 绿\n答案：B\n3. 丙\nA. 红\n《避碰》内部资料\n3 / 30\nB. 绿\n答案：B",
		[]string{"single|甲|A=红;B=绿|A", "single|乙|A=红;B=绿|B", "single|丙|A=红;B=绿|B"},
	},
	{
		"answers at the edge of pages are no running titles",
		"1. 甲\nA. 红\nB. 绿\n答案：A\n- 1 -\n2. 乙\nA. 红\nB. 绿\n答案：A\n- 2 -\n3. 丙\nA. 红\nB. 绿\n答案：A\n- 3 -\n4. 丁\nA. 红\nB. 绿\n答案：A\n- 4 -",
		[]string{"single|甲|A=红;B=绿|A", "single|乙|A=红;B=绿|A", "single|丙|A=红;B=绿|A", "single|丁|A=红;B=绿|A"},
	},
	{
		"a title and its page behind a form feed",
		"1. 甲\nA. 红\n\f航海题库 第2页\nB. 绿\n答案：A",
		[]string{"single|甲|A=红;B=绿|A"},
	},
	{
		"bare numbers before long lines of Latin",
		"1 左舷灯为\nA) 红\nB) 绿\n2 GPS卫星导航系统中DOP值越小则定位精度越高这样的说法所指灯为\nA) 红\nB) 绿\n3 右舷灯为\nA) 红\nB) 绿\n4 AIS的A类设备在航速大于23节时动态信息的报告间隔所指的灯为\nA) 红\nB) 绿\n答案\n1-4 ABAB",
		[]string{"single|左舷灯为|A=红;B=绿|A", "single|GPS卫星导航系统中DOP值越小则定位精度越高这样的说法所指灯为|A=红;B=绿|B", "single|右舷灯为|A=红;B=绿|A", "single|AIS的A类设备在航速大于23节时动态信息的报告间隔所指的灯为|A=红;B=绿|B"},
	},
	{
		"an O for a nought, stars before numbers",
		"9. 甲\nA. 红\nB. 绿\n答案：A\n1O. 乙\nA. 红\nB. 绿\n答案：B\n*11. 丙\nA. 红\nB. 绿\n答案：A\n★12. 丁\nA. 红\nB. 绿\n答案：B",
		[]string{"single|甲|A=红;B=绿|A", "single|乙|A=红;B=绿|B", "single|丙|A=红;B=绿|A", "single|丁|A=红;B=绿|B"},
	},
	{
		"circles that number questions",
		"①左舷灯为\nA. 红\nB. 绿\n答案：A\n②右舷灯为\nA. 红\nB. 绿\n答案：B",
		[]string{"single|左舷灯为|A=红;B=绿|A", "single|右舷灯为|A=红;B=绿|B"},
	},
	{
		"units glued to the next label",
		"1. 锚链每节长\nA.20 mB.25 mC.27.5 mD.30 m\n答案：C\n2. 噪声为\nA. 90 dB. 平均\nB. 80 dB.\n答案：B",
		[]string{"single|锚链每节长|A=20 m;B=25 m;C=27.5 m;D=30 m|C", "single|噪声为|A=90 dB. 平均;B=80 dB.|B"},
	},
	{
		"another answer written into the stem",
		"1. 锚泊时显示（ A ）\nA. 锚灯\nB. 桅灯\n答案：B\n2. 在航时显示（ B ）\nA. 锚灯\nB. 桅灯\n答案：B",
		[]string{"single|在航时显示（  ）|A=锚灯;B=桅灯|B", "drop answer_conflict"},
	},
	{
		"numbered points of a preface are not what the key is for",
		"使用说明：\n1. 本书适用于二、三副考试。\n2. 答案附于每章之后。\n\n一、单选题\n1. 甲\nA. 红\nB. 绿\n2. 乙\nA. 红\nB. 绿\n答案：1.B 2.A",
		[]string{"single|甲|A=红;B=绿|B", "single|乙|A=红;B=绿|A", "drop unparsed_text", "drop not_a_question", "drop not_a_question"},
	},
}

func TestVariants(t *testing.T) {
	t.Parallel()
	for _, c := range variants {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			wantShown(t, text(c.in), c.want)
		})
	}
}

func TestRowVariants(t *testing.T) {
	t.Parallel()
	red := func(cell int, s string) drydock.Span {
		return drydock.Span{End: len(s), Kind: drydock.Color, Value: "FF0000", Cell: cell}
	}
	head := drydock.Block{Cells: []string{"题目", "A", "B"}}
	for _, c := range []struct {
		name string
		doc  *drydock.Document
		want []string
	}{
		{"answers by the numbers that the columns bear", rowsDocument([][]string{
			{"题目", "选项1", "选项2", "选项3", "答案"}, {"左舷灯为", "红", "绿", "白", "1"}, {"右舷灯为", "红", "绿", "白", "2"},
		}), []string{"single|左舷灯为|A=红;B=绿;C=白|A", "single|右舷灯为|A=红;B=绿;C=白|B"}},
		{"cells marked by colour", document([]drydock.Block{
			head,
			{Cells: []string{"左舷灯为", "红", "绿"}, Spans: []drydock.Span{red(1, "红")}},
			{Cells: []string{"右舷灯为", "红", "绿"}, Spans: []drydock.Span{red(2, "绿")}},
			{Cells: []string{"锚灯为", "白", "黄"}, Spans: []drydock.Span{red(1, "白"), red(2, "黄")}},
		}), []string{"single|左舷灯为|A=红;B=绿|A", "single|右舷灯为|A=红;B=绿|B", "single|锚灯为|A=白;B=黄|"}},
		{"answers that say of themselves whether they are right", document([]drydock.Block{
			{Raw: []byte(`{"question":"左舷灯为","answers":[["红",true],["绿",false]]}`)},
			{Raw: []byte(`{"question":"右舷灯为","answers":[{"text":"红","correct":false},{"text":"绿","correct":true}]}`)},
		}), []string{"single|左舷灯为|A=红;B=绿|A", "single|右舷灯为|A=红;B=绿|B"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			wantShown(t, c.doc, c.want)
		})
	}
}

func TestDiagramInAnyCase(t *testing.T) {
	t.Parallel()
	p := question.New(question.Options{})
	for r, err := range p.Parse(t.Context(), text("1. See Diagram 12. What is shown?\nA) A buoy\nB) A beacon\nAns: A")) {
		if err != nil || !r.Question.NeedsFigure {
			t.Fatal(r, err)
		}
	}
}

// What runs on for thousands of lines behind a question is no part of it, and is
// not lost.
func TestQuestionsHaveAnEnd(t *testing.T) {
	t.Parallel()
	in := "1. 左舷灯为\nA. 红\nB. 绿\n答案：A\n解析：见下。\n" + strings.Repeat("航行中应保持正规瞭望\n", 12000) + "2. 右舷灯为\nA. 红\nB. 绿\n答案：B"
	got := parse(t, text(in))
	lines := 0
	for _, r := range got.records {
		lines += strings.Count(r.Question.Explanation, "正规")
	}
	for _, d := range got.drops {
		lines += strings.Count(d.Record.Passage.Text, "正规")
	}
	if len(got.records) != 2 || len(got.records[0].Question.Explanation) > 200_000 || lines != 12000 {
		t.Errorf("%d questions, %d lines", len(got.records), lines)
	}
}
