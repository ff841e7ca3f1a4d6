package question_test

import (
	"testing"
)

// What banks print before, behind and between the parts of a question.
func TestTails(t *testing.T) {
	t.Parallel()
	const want = "single|左舷灯为|A=红;B=绿|A"
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"a key behind a tab", "1．左舷灯为\tA\nA．红\nB．绿\n2．右舷灯为    B\nA．红\nB．绿", []string{want, "single|右舷灯为|A=红;B=绿|B"}},
		{"more words for the answer", "1. 左舷灯为\nA. 红\nB. 绿\n正确选项：A\n2. 左舷灯为\nA. 红\nB. 绿\n应选：A\n3. 左舷灯为\nA. 红\nB. 绿\n本题答案：A\n4. 左舷灯为\nA. 红\nB. 绿\n本题正确答案为：A\n5. 左舷灯为\nA. 红\nB. 绿\n正确答案应选A\n6. 左舷灯为\nA. 红\nB. 绿\n答 案 ： A\n7. 左舷灯为\nA. 红\nB. 绿\n→A", []string{want, want, want, want, want, want, want}},
		{"what a bank says besides", "1. 左舷灯为\nA. 红\nB. 绿\n【考点】号灯\n【难度】易\n【答案】A\n2. 左舷灯为\nA. 红\nB. 绿\n难度：易 答案：A\n3. 左舷灯为\nA. 红\nB. 绿\n答案：A\n知识点：号灯", []string{want, want, want}},
		{"score and kind behind the stem, kind before the number", "1. 左舷灯为（2分）\nA. 红\nB. 绿\n答案：A\n2. 左舷灯为(单选题)\nA. 红\nB. 绿\n答案：A\n(单选题)3. 左舷灯为\nA. 红\nB. 绿\n答案：A", []string{want, want, want}},
		{"numbers of other shapes", "0001 左舷灯为\nA. 红\nB. 绿\n答案：A\n0002 左舷灯为\nA. 红\nB. 绿\n答案：A\n[100203] 左舷灯为\nA. 红\nB. 绿\n答案：A\nNAV-012 左舷灯为\nA. 红\nB. 绿\n答案：A\n2.3.4 左舷灯为\nA. 红\nB. 绿\n答案：A", []string{want, want, want, want, want}},
		{"options that are numbered", "1. 左舷灯为\n① 红\n② 绿\n答案：①\n2. 左舷灯为 (1)红 (2)绿\n答案：(1)\n3. 左舷灯为______。\n答案：3", []string{want, want, "blank|左舷灯为______。||3"}},
		{"small letters", "1. 号灯有\nA. 锚灯\nB. 台灯\nC. 尾灯\n答案：ac\n2. 号灯有\nA. 锚灯\nB. 台灯\n答案：ba", []string{"multiple|号灯有|A=锚灯;B=台灯;C=尾灯|A,C", "drop answer_outside_options"}},
		{"steps in an explanation that count like the items", "1. 左舷灯为\nA. 红\nB. 绿\n答案：A\n解析：要点：\n1. 首先；\n2. 其次；\n3. 最后。\n2. 右舷灯为\nA. 红\nB. 绿\n答案：B\n解析：\n1. 首先；\n2. 其次；\n3. 最后。\n3. 左舷灯为\nA. 红\nB. 绿\n答案：A", []string{want, "single|右舷灯为|A=红;B=绿|B", want}},
		{"marks without brackets", "判断题\n1. 左舷灯为红。 √\n2. 右舷灯为红。×\n3. 锚灯为白。 正确\n4. 此说法是否正确", []string{"judge|左舷灯为红。||true", "judge|右舷灯为红。||false", "judge|锚灯为白。||true", "drop no_answer"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			wantShown(t, text(c.in), c.want)
		})
	}
}
