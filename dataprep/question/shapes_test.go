package question_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock"
)

// show writes a question on one line: kind|stem|A=…;B=…|answers.
func show(q *drydock.Question) string {
	var o []string
	for _, x := range q.Options {
		o = append(o, x.Label+"="+x.Text)
	}
	return fmt.Sprintf("%s|%s|%s|%s", q.Kind, q.Stem, strings.Join(o, ";"), strings.Join(q.Answer, ","))
}

// shown is what a parse gave: questions in order, then "drop reason" lines.
func shown(got result) []string {
	var out []string
	for _, r := range got.records {
		out = append(out, show(r.Question))
	}
	for _, d := range got.drops {
		out = append(out, "drop "+d.Reason)
	}
	return out
}

const fourKnots = "A=2节;B=3节;C=4节;D=5节"

// textShapes are the ways question banks are printed, by the numbers of the
// list in the specification.
var textShapes = []struct {
	name string
	in   string
	want []string
}{
	{
		"01 one option a line",
		"1. 拖带时的航速约为：\nA. 2节\nB. 3节\nC. 4节\nD. 5节\n答案：B\n2. 减速时的航速约为：\nA. 2节\nB. 3节\nC. 4节\nD. 5节\n答案：D",
		[]string{"single|拖带时的航速约为：|" + fourKnots + "|B", "single|减速时的航速约为：|" + fourKnots + "|D"},
	},
	{
		"02 options on one line",
		"12、下列属于系泊设备的是（  ）\nA、缆桩 B、救生圈 C、舵机 D、雷达\n答案：A\n13、下列属于救生设备的是（  ）\nA、缆桩 B、救生圈 C、舵机 D、雷达\n答案：B",
		[]string{"single|下列属于系泊设备的是（  ）|A=缆桩;B=救生圈;C=舵机;D=雷达|A", "single|下列属于救生设备的是（  ）|A=缆桩;B=救生圈;C=舵机;D=雷达|B"},
	},
	{
		"03 numbers and labels in brackets",
		"(1) 锚泊时应开启\n(A) 锚灯 (B) 桅灯 (C) 舷灯 (D) 尾灯\n答案：A\n(2) 在航时应开启\n（A）锚灯\n（B）桅灯\n（C）甲板灯\n（D）货灯\n答案：B",
		[]string{"single|锚泊时应开启|A=锚灯;B=桅灯;C=舷灯;D=尾灯|A", "single|在航时应开启|A=锚灯;B=桅灯;C=甲板灯;D=货灯|B"},
	},
	{
		"04 square brackets",
		"【5】右舷灯为\n【A】红【B】绿【C】白【D】黄\n答案：B\n[6] 左舷灯为\n[A] 红 [B] 绿 [C] 白 [D] 黄\n答案：A",
		[]string{"single|右舷灯为|A=红;B=绿;C=白;D=黄|B", "single|左舷灯为|A=红;B=绿;C=白;D=黄|A"},
	},
	{
		"05 第7题",
		"第7题 右舷灯为\nA. 红\nB. 绿\n答案：B\n第8题 左舷灯为\nA. 红\nB. 绿\n答案：A",
		[]string{"single|右舷灯为|A=红;B=绿|B", "single|左舷灯为|A=红;B=绿|A"},
	},
	{
		"05 七、",
		"七、右舷灯为\nA. 红\nB. 绿\n答案：B\n八、左舷灯为\nA. 红\nB. 绿\n答案：A",
		[]string{"single|右舷灯为|A=红;B=绿|B", "single|左舷灯为|A=红;B=绿|A"},
	},
	{
		"05 Q7：",
		"Q7：右舷灯为\nA. 红\nB. 绿\n答案：B\nQ8: 左舷灯为\nA. 红\nB. 绿\n答案：A",
		[]string{"single|右舷灯为|A=红;B=绿|B", "single|左舷灯为|A=红;B=绿|A"},
	},
	{
		"05 7）",
		"7）右舷灯为\nA. 红\nB. 绿\n答案：B\n8．左舷灯为\nA. 红\nB. 绿\n答案：A",
		[]string{"single|右舷灯为|A=红;B=绿|B", "single|左舷灯为|A=红;B=绿|A"},
	},
	{
		"06 full-width, lower-case and bare labels",
		"1. 航速为\nＡ．2节 Ｂ．3节 Ｃ．4节 Ｄ．5节\n答案：Ｂ\n2. 航速为\na) 2节 b) 3节 c) 4节 d) 5节\n答案：c\n3. 航速为\nA 2节\nB 3节\nC 4节\nD 5节\n答案：D",
		[]string{"single|航速为|" + fourKnots + "|B", "single|航速为|" + fourKnots + "|C", "single|航速为|" + fourKnots + "|D"},
	},
	{
		"07 no gap between options",
		"1. 航速为\nA.2节B.3节C.4节D.5节\n答案：C\n2. 航速为\nA、2节B、3节C、4节D、5节\n答案：A",
		[]string{"single|航速为|" + fourKnots + "|C", "single|航速为|" + fourKnots + "|A"},
	},
	{
		"08 two columns",
		"1. 航速为\nA. 2节\tB. 3节\nC. 4节\tD. 5节\n答案：C\n2. 航速为\nA. 2节          B. 3节\nC. 4节          D. 5节\n答案：D",
		[]string{"single|航速为|" + fourKnots + "|C", "single|航速为|" + fourKnots + "|D"},
	},
	{
		"09 glued to the stem",
		"1. 雾中航行应：A．减速 B．停车 C．加速 D．倒车\n答案：A\n2. 雾中航行应：A．减速\nB．停车\nC．加速\nD．倒车\n答案：B",
		[]string{"single|雾中航行应：|A=减速;B=停车;C=加速;D=倒车|A", "single|雾中航行应：|A=减速;B=停车;C=加速;D=倒车|B"},
	},
	{
		"10 answer inside the stem",
		"1. 雾航时应（ C ）航速\nA. 提高\nB. 保持\nC. 降低\nD. 不管\n2. 夜航时应（A）瞭望\nA. 加强\nB. 放松\nC. 停止\nD. 不管",
		[]string{"single|雾航时应（  ）航速|A=提高;B=保持;C=降低;D=不管|C", "single|夜航时应（  ）瞭望|A=加强;B=放松;C=停止;D=不管|A"},
	},
	{
		"11 answer after the stem",
		"1. 发现来船时首先应____。（B）\nA. 鸣笛\nB. 判断\nC. 抛锚\nD. 弃船",
		[]string{"single|发现来船时首先应____。|A=鸣笛;B=判断;C=抛锚;D=弃船|B"},
	},
	{
		"12 answer labels",
		"1. 灯色为\nA. 红\nB. 绿\n答案：B\n2. 灯色为\nA. 红\nB. 绿\n正确答案: B\n3. 灯色为\nA. 红\nB. 绿\n参考答案　B\n4. 灯色为\nA. 红\nB. 绿\n答：B\n5. 灯色为\nA. 红\nB. 绿\n【答案】B\n6. 灯色为\nA. 红\nB. 绿\n标准答案为B",
		[]string{"single|灯色为|A=红;B=绿|B", "single|灯色为|A=红;B=绿|B", "single|灯色为|A=红;B=绿|B", "single|灯色为|A=红;B=绿|B", "single|灯色为|A=红;B=绿|B", "single|灯色为|A=红;B=绿|B"},
	},
	{
		"13 explanations are no options",
		"1. 灯色为\nA. 红\nB. 绿\n答案：B\n解析：A项错误，\nA. 为左舷；\nB. 为右舷。\n1. 规则第二十一条\n2. 灯色为\nA. 红\nB. 绿\n【答案】A\n【解析】见上\n一题。",
		[]string{"single|灯色为|A=红;B=绿|B", "single|灯色为|A=红;B=绿|A"},
	},
	{
		"14 key table at the end",
		"1. 甲\nA. 红\nB. 绿\n2. 乙\nA. 红\nB. 绿\n3. 丙\nA. 红\nB. 绿\n4. 丁\nA. 红\nB. 绿\n5. 戊\nA. 红\nB. 绿\n6. 己\nA. 红\nB. 绿\n参考答案\n1-5 BAABA 6-6 B",
		[]string{"single|甲|A=红;B=绿|B", "single|乙|A=红;B=绿|A", "single|丙|A=红;B=绿|A", "single|丁|A=红;B=绿|B", "single|戊|A=红;B=绿|A", "single|己|A=红;B=绿|B"},
	},
	{
		"14 key 1.B 2.C",
		"1. 甲\nA. 红\nB. 绿\n2. 乙\nA. 红\nB. 绿\n答案：1.B 2.A",
		[]string{"single|甲|A=红;B=绿|B", "single|乙|A=红;B=绿|A"},
	},
	{
		"14 key 1B2A",
		"1. 甲\nA. 红\nB. 绿\n2. 乙\nA. 红\nB. 绿\n答案\n1B2A",
		[]string{"single|甲|A=红;B=绿|B", "single|乙|A=红;B=绿|A"},
	},
	{
		"14 two-row table",
		"1. 甲\nA. 红\nB. 绿\n2. 乙\nA. 红\nB. 绿\n答案\n题号\t1\t2\n答案\tB\tA",
		[]string{"single|甲|A=红;B=绿|B", "single|乙|A=红;B=绿|A"},
	},
	{
		"15 key per article, numbers restart",
		"第1章 习题\n第一条 范围\n1. 甲\nA. 红\nB. 绿\n2. 乙\nA. 红\nB. 绿\n第二条 定义\n本条无题。\n第三条 一般\n1、船\n1. 丙\nA. 红\nB. 绿\n2、艇\n1. 丁\nA. 红\nB. 绿\n2. 戊\nA. 红\nB. 绿\n习题答案\n第1条 1-2、BA\n第2条 无\n第3条 （1）B （2）A\n  B\n第2章 习题\n第四条 其他\n1. 己\nA. 红\nB. 绿\n习题集答案\n第4条 1、A",
		[]string{"single|甲|A=红;B=绿|B", "single|乙|A=红;B=绿|A", "single|丙|A=红;B=绿|B", "single|丁|A=红;B=绿|A", "single|戊|A=红;B=绿|B", "single|己|A=红;B=绿|A", "drop unparsed_text"},
	},
	{
		"17 multiple choice",
		"二、多项选择题（每题2分）\n1. 救生设备有\nA. 艇\nB. 筏\nC. 锚\nD. 衣\n答案：ABD\n2. 救生设备有\nA. 艇\nB. 筏\nC. 锚\nD. 衣\n答案：A,B,D\n3. 救生设备有\nA. 艇\nB. 筏\nC. 锚\nD. 衣\n答案：A、B、D",
		[]string{"multiple|救生设备有|A=艇;B=筏;C=锚;D=衣|A,B,D", "multiple|救生设备有|A=艇;B=筏;C=锚;D=衣|A,B,D", "multiple|救生设备有|A=艇;B=筏;C=锚;D=衣|A,B,D"},
	},
	{
		"17 multiple-choice key table",
		"多选题\n1. 有\nA. 艇\nB. 筏\nC. 锚\n2. 有\nA. 艇\nB. 筏\nC. 锚\n3. 有\nA. 艇\nB. 筏\nC. 锚\n答案\n1-3 AB BC ABC",
		[]string{"multiple|有|A=艇;B=筏;C=锚|A,B", "multiple|有|A=艇;B=筏;C=锚|B,C", "multiple|有|A=艇;B=筏;C=锚|A,B,C"},
	},
	{
		"18 true or false",
		"三、判断题\n1. 左舷灯为红。（√）\n2. 右舷灯为红。（×）\n3. 锚灯为白。 答案：对\n4. 尾灯为绿。\n答案：错误\n5. The stern light is white. (T)\n6. The stern light is green. (F)\n7. 桅灯为白。（ ✓ ）\n8. 桅灯为黄。（✗）\n9. 拖带灯为黄。\n答案：Y",
		[]string{"judge|左舷灯为红。||true", "judge|右舷灯为红。||false", "judge|锚灯为白。||true", "judge|尾灯为绿。||false", "judge|The stern light is white.||true", "judge|The stern light is green.||false", "judge|桅灯为白。||true", "judge|桅灯为黄。||false", "judge|拖带灯为黄。||true"},
	},
	{
		"18 letters for true and false",
		"二、判断题（正确的选A，错误的选B）\n1. 左舷灯为红。\n2. 右舷灯为红。\n参考答案\n1-2 AB",
		[]string{"judge|左舷灯为红。||true", "judge|右舷灯为红。||false"},
	},
	{
		"18 letters that nothing explains",
		"二、判断题\n1. 左舷灯为红。\n答案：A",
		[]string{"drop answer_outside_options"},
	},
	{
		"18 only the wrong ones are marked",
		"三、判断题\n1. 左舷灯为红。\n2. 右舷灯为红。（×）\n3. 锚灯为白。",
		[]string{"judge|右舷灯为红。||false", "drop no_answer", "drop no_answer"},
	},
	{
		"19 blanks",
		"四、填空题\n1. 左舷灯为______色。\n答案：红\n2. 锚灯为（　　）色，桅灯为（　　）色。\n答案：白；白\n3. 尾灯为[ ]色。\n答案：白",
		[]string{"blank|左舷灯为______色。||红", "blank|锚灯为（　　）色，桅灯为（　　）色。||白,白", "blank|尾灯为[ ]色。||白"},
	},
	{
		"21 positional options",
		"1. 灯色为\nA. 红\nB. 绿\nC. A和B\nD. 以上都对\n答案：D",
		[]string{"single|灯色为|A=红;B=绿;C=A和B;D=以上都对|D"},
	},
	{
		"22 three, five and six options",
		"1. 灯色为\nA. 红\nB. 绿\nC. 白\n答案：C\n2. 灯色为\nA. 红\nB. 绿\nC. 白\nD. 黄\nE. 蓝\n答案：E\n3. 灯色为\nA. 红 B. 绿 C. 白 D. 黄 E. 蓝 F. 紫\n答案：F",
		[]string{"single|灯色为|A=红;B=绿;C=白|C", "single|灯色为|A=红;B=绿;C=白;D=黄;E=蓝|E", "single|灯色为|A=红;B=绿;C=白;D=黄;E=蓝;F=紫|F"},
	},
	{
		"23 a stem shared by several items",
		"1. 甲\nA. 红\nB. 绿\n答案：A\n根据下图回答2-3题。\n两船交叉相遇。\n2. 乙船应\nA. 让路\nB. 直航\n答案：B\n3. 丙船应\nA. 让路\nB. 直航\n答案：A\n4. 丁\nA. 红\nB. 绿\n答案：A",
		[]string{"single|甲|A=红;B=绿|A", "single|根据下图回答2-3题。两船交叉相遇。\n乙船应|A=让路;B=直航|B", "single|根据下图回答2-3题。两船交叉相遇。\n丙船应|A=让路;B=直航|A", "single|丁|A=红;B=绿|A"},
	},
	{
		"37 the second half repeats the sections with answers only",
		"一、单选题\n1. 甲\nA. 红\nB. 绿\n2. 乙\nA. 红\nB. 绿\n二、判断题\n1. 丙。\n2. 丁。\n一、单选题\n1-2 BA\n二、判断题\n1. √ 2. ×",
		[]string{"single|甲|A=红;B=绿|B", "single|乙|A=红;B=绿|A", "judge|丙。||true", "judge|丁。||false"},
	},
	{
		"12 answer and explanation on one line",
		"1. 甲\nA. 红\nB. 绿\n答案:  B  解析: 见规则\n2. 乙\nA. 红\nB. 绿\n【答案】B【解析】见规则\n3. 丙（答案：A）\nA. 红\nB. 绿\n4. 丁\nA. 红\nB. 绿\n正确答案：B. 绿\n5. 戊 A. 红 B. 绿 答案：B",
		[]string{"single|甲|A=红;B=绿|B", "single|乙|A=红;B=绿|B", "single|丙|A=红;B=绿|A", "single|丁|A=红;B=绿|B", "single|戊|A=红;B=绿|B"},
	},
	{
		"12 an answer in words over several lines",
		"五、简答题\n1. 何为安全航速？\n答：能采取适当而有效的行动，\n并能在适当距离内停住的航速。\n2. 何为互见？\n答：能以视觉看到。",
		[]string{"short|何为安全航速？||能采取适当而有效的行动，并能在适当距离内停住的航速。", "short|何为互见？||能以视觉看到。"},
	},
	{
		"05 numbers without a mark",
		"1 左舷灯为\nA. 红\nB. 绿\n答案：A\n2 右舷灯为\nA. 红\nB. 绿\n答案：B",
		[]string{"single|左舷灯为|A=红;B=绿|A", "single|右舷灯为|A=红;B=绿|B"},
	},
	{
		"14 English key, numbers and letters in columns",
		"1. Which light is red?\nA. Port\nB. Starboard\n2. Which light is green?\nA. Port\nB. Starboard\nAnswer Key\n1 A   2 B",
		[]string{"single|Which light is red?|A=Port;B=Starboard|A", "single|Which light is green?|A=Port;B=Starboard|B"},
	},
	{
		"Markdown",
		"## 第一章 号灯\n\n**1. 左舷灯为**\n\n- A. 红\n- B. 绿\n\n**答案：A**\n\n**2. 右舷灯为**\n\n- A. 红\n- B. 绿\n\n**答案：B**",
		[]string{"single|左舷灯为|A=红;B=绿|A", "single|右舷灯为|A=红;B=绿|B"},
	},
	{
		"digits as options, wrapped decimals",
		"1. 吃水为\nA. 1\nB. 2\nC. 3\nD. 大约\n4.5米\n答案：D\n2. 吃水为\nA. 1.5\nB. 2.5\n答案：B",
		[]string{"single|吃水为|A=1;B=2;C=3;D=大约4.5米|D", "single|吃水为|A=1.5;B=2.5|B"},
	},
	{
		"08 two columns read across",
		"1. 航速为\nA. 2节          C. 4节\nB. 3节          D. 5节\n答案：C",
		[]string{"single|航速为|" + fourKnots + "|C"},
	},
	{
		"08 labels alone on their lines, blanks before the mark",
		"1. 航速为\nA.\n2节\nB.\n3节\nC.\n4节\nD.\n5节\n答案：C\n2. 航速为\nA 、2节 B 、3节 C 、4节 D 、5节\n答案：D",
		[]string{"single|航速为|" + fourKnots + "|C", "single|航速为|" + fourKnots + "|D"},
	},
	{
		"10 letters that name ships are no answers",
		"1. （A）船与（B）船对遇\nA. 红\nB. 绿\n答案：B\n2. 甲船遇（A）船与（B）船\nA. 红\nB. 绿",
		[]string{"single|（A）船与（B）船对遇|A=红;B=绿|B", "single|甲船遇（A）船与（B）船|A=红;B=绿|"},
	},
	{
		"14 dashes between number and letter",
		"1. 甲\nA. 红\nB. 绿\n2. 乙\nA. 红\nB. 绿\n1-A 2-B",
		[]string{"single|甲|A=红;B=绿|A", "single|乙|A=红;B=绿|B"},
	},
	{
		"14 table lines, two blocks",
		"1. 甲\nA. 红\nB. 绿\n2. 乙\nA. 红\nB. 绿\n3. 丙\nA. 红\nB. 绿\n参考答案\n题号 1 2\n答案 A B\n题号 3\n答案 B",
		[]string{"single|甲|A=红;B=绿|A", "single|乙|A=红;B=绿|B", "single|丙|A=红;B=绿|B"},
	},
	{
		"15 keys of all chapters at the end",
		"第一章 甲\n1. 甲\nA. 红\nB. 绿\n2. 乙\nA. 红\nB. 绿\n第二章 乙\n1. 丙\nA. 红\nB. 绿\n参考答案\n第一章\n1-2 AB\n第二章\n1. B",
		[]string{"single|甲|A=红;B=绿|A", "single|乙|A=红;B=绿|B", "single|丙|A=红;B=绿|B"},
	},
	{
		"15 a key header for each chapter at the end, out of order",
		"第一章 甲\n1. 甲\nA. 红\nB. 绿\n2. 乙\nA. 红\nB. 绿\n第二章 乙\n1. 丙\nA. 红\nB. 绿\n第二章参考答案\n1. B\n第一章参考答案\n1-2 AB",
		[]string{"single|甲|A=红;B=绿|A", "single|乙|A=红;B=绿|B", "single|丙|A=红;B=绿|B"},
	},
	{
		"17 a long instruction in the section header",
		"一、单项选择题（本大题共2小题，每小题1分，共2分。在每小题列出的四个备选项中只有一个是符合题目要求的，请将其代码填写在题后的括号内。）\n1. 甲\nA. 红\nB. 绿\n答案：A",
		[]string{"single|甲|A=红;B=绿|A"},
	},
	{
		"27 page furniture between question and options",
		"1. 灯色为\n- 12 -\nA. 红\n第12页 共30页\nB. 绿\nPage 3 of 9\nC. 白\nwww.example.com\nD. 黄\n答案：A",
		[]string{"single|灯色为|A=红;B=绿;C=白;D=黄|A"},
	},
	{
		"28 numbering typos and a letter outside",
		"1. 甲\nA. 红\nB. 绿\n答案：A\n1. 乙\nA. 红\nB. 绿\n答案：B\n5．丙\nA．红\nB.绿\n答案：A\n6. 丁\nA. 红\nB. 绿\n答案：D",
		[]string{"single|甲|A=红;B=绿|A", "single|乙|A=红;B=绿|B", "single|丙|A=红;B=绿|A", "drop answer_outside_options"},
	},
	{
		"29 English",
		"1. BOTH INTERNATIONAL & INLAND Which light is\nred?\nA) Port\nB) Starboard side\nlight\nC) Stern\nD) Masthead\nAns: A\n2. INLAND ONLY What is shown?\nA) One\nB) Two\nAnswer: B",
		[]string{"single|BOTH INTERNATIONAL & INLAND Which light is red?|A=Port;B=Starboard side light;C=Stern;D=Masthead|A", "single|INLAND ONLY What is shown?|A=One;B=Two|B"},
	},
	{
		"31 course-platform prints",
		"1. (单选题, 1.0 分) (1分) 左舷灯为\nA. 红\nB. 绿\n我的答案:正确答案:A\n展开解析\n2. (单选题, 1.0 分) 右舷灯为\nA. 红\nB. 绿\n正确答案是：B   你的答案是：A   此题得分：0\n3. (判断题, 1.0 分) 锚灯为白。\n正确 错误\nA. 对\nB. 错\n我的答案:对\n正确答案:对",
		[]string{"single|左舷灯为|A=红;B=绿|A", "single|右舷灯为|A=红;B=绿|B", "judge|锚灯为白。||true"},
	},
	{
		"32 no options at all",
		"一、单选题\n1. 左舷灯为\n答案：A\n2. 右舷灯为\n答案：B",
		[]string{"drop no_options", "drop no_options"},
	},
	{
		"33 several letters in brackets inside the stem",
		"1. 救生设备有（ABD）\nA. 艇\nB. 筏\nC. 锚\nD. 衣",
		[]string{"multiple|救生设备有（  ）|A=艇;B=筏;C=锚;D=衣|A,B,D"},
	},
	{
		"35 answer marks",
		"1. 救生设备有\nA. 艇\nB. 筏\nC. 锚\nD. 衣\n答案：A|B|D\n2. 灯色为\nA. 红\nB. 绿\n答案]B\n3. 救生设备有\nA. 艇\nB. 筏\nC. 锚\n[答案 A|B\n4. 灯色为\nA. 红\nB. 绿\n答案B\n5. 灯色为\nA. 红\nB. 绿\n答案： Ｂ",
		[]string{"multiple|救生设备有|A=艇;B=筏;C=锚;D=衣|A,B,D", "single|灯色为|A=红;B=绿|B", "multiple|救生设备有|A=艇;B=筏;C=锚|A,B", "single|灯色为|A=红;B=绿|B", "single|灯色为|A=红;B=绿|B"},
	},
	{
		"38 filler options",
		"1. 灯色为\na) 红\nb) 绿\nc) 白\nd) ----- -----\n答案：c",
		[]string{"single|灯色为|A=红;B=绿;C=白|C"},
	},
	{
		"39 labels misread",
		"1. 灯色为\nA. 红\n8. 绿\nC. 白\nD. 黄\n答案：C",
		[]string{"drop option_gap"},
	},
	{
		"40 look-alike radicals",
		"1. ⽤于⻓⻔的灯\nA. 红\nB. 绿\n答案：A",
		[]string{"single|用于长门的灯|A=红;B=绿|A"},
	},
}

// rowShapes are the table and JSON shapes of the same list.
var rowShapes = []struct {
	name string
	rows [][]string // of a table
	json string     // or lines of JSON
	want []string
}{
	{
		name: "25 spreadsheet columns",
		rows: [][]string{
			{"题型", "题目", "选项A", "选项B", "选项C", "选项D", "答案", "解析", "难度", "章节", "知识点"},
			{"单选题", "左舷灯为", "红", "绿", "白", "黄", "A", "见规则", "易", "第一章", "号灯"},
			{"多选题", "救生设备有", "艇", "筏", "锚", "", "AB", "", "易", "第一章", "救生"},
			{"判断题", "锚灯为白。", "", "", "", "", "对", "", "易", "第一章", "号灯"},
			{"填空题", "尾灯为____色。", "", "", "", "", "白", "", "易", "第一章", "号灯"},
		},
		want: []string{"single|左舷灯为|A=红;B=绿;C=白;D=黄|A", "multiple|救生设备有|A=艇;B=筏;C=锚|A,B", "judge|锚灯为白。||true", "blank|尾灯为____色。||白"},
	},
	{
		name: "25 one options cell, answers as numbers",
		rows: [][]string{{"题目", "选项", "答案"}, {"左舷灯为", "红|绿|白", "1"}, {"右舷灯为", "红\n绿\n白", "2"}, {"锚灯为", "A.红 B.绿 C.白", "3"}},
		want: []string{"single|左舷灯为|A=红;B=绿;C=白|A", "single|右舷灯为|A=红;B=绿;C=白|B", "single|锚灯为|A=红;B=绿;C=白|C"},
	},
	{
		name: "25 answers as the option's text",
		rows: [][]string{{"题干", "A", "B", "C", "正确答案"}, {"左舷灯为", "红", "绿", "白", "红"}, {"右舷灯为", "A、红", "B、绿", "C、白", "B、绿"}},
		want: []string{"single|左舷灯为|A=红;B=绿;C=白|A", "single|右舷灯为|A=红;B=绿;C=白|B"},
	},
	{
		name: "26 traditional Chinese",
		rows: [][]string{{"題號", "題目", "選項A", "選項B", "答案"}, {"1", "左舷燈為", "紅", "綠", "A"}},
		want: []string{"single|左舷燈為|A=紅;B=綠|A"},
	},
	{
		name: "36 no header row",
		rows: [][]string{
			{"1", "左舷灯为什么颜色", "红", "绿", "白", "黄", "A"},
			{"2", "右舷灯为什么颜色", "红", "绿", "白", "黄", "B"},
			{"3", "锚灯为什么颜色的", "红", "绿", "白", "黄", "C"},
		},
		want: []string{"single|左舷灯为什么颜色|A=红;B=绿;C=白;D=黄|A", "single|右舷灯为什么颜色|A=红;B=绿;C=白;D=黄|B", "single|锚灯为什么颜色的|A=红;B=绿;C=白;D=黄|C"},
	},
	{
		name: "36 options as a JSON list in one cell, empty rows, labels in some cells",
		rows: [][]string{{"", ""}, {"question", "options", "answer"}, {"Port light?", `["red", "green"]`, "A"}, {"", "", ""}, {"Starboard light?", `["A. red", "B. green"]`, "B"}},
		want: []string{"single|Port light?|A=red;B=green|A", "single|Starboard light?|A=red;B=green|B"},
	},
	{
		name: "32 rows without options",
		rows: [][]string{{"题干", "答案"}, {"左舷灯为", "A"}, {"救生设备有", "ABD"}},
		want: []string{"drop no_options", "drop no_options"},
	},
	{
		name: "22 a row with a gap between its options",
		rows: [][]string{{"题干", "A", "B", "C", "答案"}, {"左舷灯为", "红", "", "白", "A"}},
		want: []string{"drop option_gap"},
	},
	{
		name: "30 options as a map",
		json: `{"question":"Port light?","options":{"A":"red","B":"green"},"answer":"A"}`,
		want: []string{"single|Port light?|A=red;B=green|A"},
	},
	{
		name: "30 options as a list, answer as a list",
		json: `{"question":"Port light?","options":["red","green","white"],"answer":["A","C"]}`,
		want: []string{"multiple|Port light?|A=red;B=green;C=white|A,C"},
	},
	{
		name: "30 options as objects, answer as text",
		json: `{"stem":"Port light?","options":[{"label":"A","value":"red"},{"label":"B","value":"green"}],"answer":"green"}`,
		want: []string{"single|Port light?|A=red;B=green|B"},
	},
	{
		name: "30 choices with is_correct",
		json: `{"question":"Port light?","choices":[{"text":"red","is_correct":true},{"text":"green","is_correct":false}]}` + "\n" +
			`{"question":"Port light?","choices":[["green",false],["red",true]]}`,
		want: []string{"single|Port light?|A=red;B=green|A", "single|Port light?|A=green;B=red|B"},
	},
	{
		name: "30 wrong options only",
		json: `{"question":"Port light?","correct_answer":"red","incorrect_answers":["green","white"]}`,
		want: []string{"single|Port light?|A=green;B=white;C=red|C"},
	},
	{
		name: "30 parallel lists of labels and texts",
		json: `{"id":"x","question":{"stem":"Port light?","choices":[{"label":"1","text":"red"},{"label":"2","text":"green"}]},"answerKey":"2"}` + "\n" +
			`{"id":"y","question":"Port light?","choices":{"text":["red","green"],"label":["A","B"]},"answerKey":"A"}`,
		want: []string{"single|Port light?|A=red;B=green|B", "single|Port light?|A=red;B=green|A"},
	},
	{
		name: "30 index from 0",
		json: `{"question":"Port light?","choices":["red","green"],"answer":0}` + "\n" + `{"question":"Starboard light?","choices":["red","green"],"answer":1}`,
		want: []string{"single|Port light?|A=red;B=green|A", "single|Starboard light?|A=red;B=green|B"},
	},
	{
		name: "30 index with nothing to say from where it counts",
		json: `{"question":"Port light?","choices":["red","green","white"],"answer":1}`,
		want: []string{"drop answer_index_ambiguous"},
	},
	{
		name: "30 distractors by number, labels in brackets",
		json: `{"question":"Port light?","distractor1":"green","distractor2":"white","correct_answer":"red"}` + "\n" +
			`{"passage":null,"question":"Port light?","options":["(A)red","(B)green"],"label":"A","answer":null}`,
		want: []string{"single|Port light?|A=green;B=white;C=red|C", "single|Port light?|A=red;B=green|A"},
	},
	{
		name: "30 true and false",
		json: `{"question":"The port light is red.","answer":true}`,
		want: []string{"judge|The port light is red.||true"},
	},
}

func TestRowShapes(t *testing.T) {
	t.Parallel()
	for _, c := range rowShapes {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			doc := rowsDocument(c.rows)
			if c.json != "" {
				doc = jsonDocument(t, []byte(c.json))
			}
			wantShown(t, doc, c.want)
		})
	}
}

// wantShown parses a document and compares what it gave, records and drops in
// order, with what is wanted (see shown).
func wantShown(t *testing.T, doc *drydock.Document, want []string) result {
	t.Helper()
	got := parse(t, doc)
	if d := cmp.Diff(want, shown(got)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
		for _, x := range got.drops {
			t.Logf("%s | %s", x, x.Record.Passage.Text)
		}
	}
	return got
}

func TestTextShapes(t *testing.T) {
	t.Parallel()
	for _, c := range textShapes {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			wantShown(t, text(c.in), c.want)
		})
	}
}
