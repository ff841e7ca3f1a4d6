package benchmark_test

import (
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/eval/benchmark/benchtest"
)

const ownItems = `{"question": "自编题：舷灯______。", "answer": "B", "A": "白", "B": "红", "C": "黑", "D": null}
{"question": "自编题二", "answer": "A", "A": "1", "B": "2", "C": "3", "D": "4"}
`

const ownPrompt = "请回答单选题。要求只输出选项，不输出解释，将选项放在[]里，直接输出答案。示例：\n\n题目：在船舶主推进动力装置中，传动轴系在运转中承受以下复杂的应力和负荷，但不包括______。\n选项：\nA. 电磁力\nB. 压拉应力\nC. 弯曲应力\nD. 扭应力\n答：[A]\n 当前题目\n 自编题：舷灯______。\n选项：\nA. 白\nB. 红\nC. 黑"

func extractions() []benchtest.Extraction {
	return []benchtest.Extraction{
		{Reply: "[B]", Extracted: "B", Other: "B", Correct: true},
		{Reply: "\n\n[B]", Extracted: "B", Other: "B", Correct: true},
		{Reply: "[A] 错误，答案[B]", Extracted: "A", Other: "B"},
		{Reply: "[B] 正确，[A] 错误", Extracted: "B", Other: "A", Correct: true},
		{Reply: "<think>\n候选 [A]", Extracted: "A", Other: "A"},
		{Reply: "先看[C]\n</think>\n\n[B]", Extracted: "C", Other: "B"},
		{Reply: "[D]", Extracted: "D", Other: "D"},
		{Reply: "【B】"},
		{Reply: "[b]"},
		{Reply: "[AB]"},
		{Reply: "[ B ]"},
		{Reply: "［B］"},
		{Reply: "[E]"},
		{Reply: "B"},
		{Reply: ""},
		{Reply: "[B"},
		{Reply: "["},
		{Reply: "[[B]]", Extracted: "B", Other: "B", Correct: true},
		{Reply: "\\[B\\]"},
		{Reply: "[\nB\n]"},
	}
}

const mcqItems = `{"question": "自编题：舷灯______。", "answer": "B", "A": "白", "B": "红", "C": "黑", "D": "绿", "E": "黄"}
{"question": "自编题二", "answer": "A", "A": "1", "B": "2"}
`

const mcqPrompt = "回答下面的单项选择题，请选出其中的正确答案。你的回答的全部内容应该是这样的格式：\"答案：[LETTER]\"（不带引号），其中 [LETTER] 是 A,B,C,D,E 中的一个。\n\n问题：自编题：舷灯______。\n选项：\nA) 白\nB) 红\nC) 黑\nD) 绿\nE) 黄\n"

func mcqExtractions() []benchtest.Extraction {
	return []benchtest.Extraction{
		{Reply: "答案：B", Extracted: "B", Other: "B", Correct: true},
		{Reply: "答案 : B。", Extracted: "B", Other: "B", Correct: true},
		{Reply: "答案：[B]", Extracted: "B", Other: "B", Correct: true}, // by the last capital letter
		{Reply: "答案：A。更正，答案：B", Extracted: "A", Other: "B"},
		{Reply: "答案：b"},
		{Reply: "答案：AB", Other: "B"}, // by the last capital letter
		{Reply: "答案：**E**", Extracted: "E", Other: "E"},
		{Reply: "选B，不选C", Extracted: "C", Other: "C"},
		{Reply: "选B，不选Z", Extracted: "Z"},
		{Reply: "答案：Z"},
		{Reply: "没有"},
		{Reply: ""},
	}
}

func TestSuite(t *testing.T) {
	t.Parallel()
	fixtures := map[string]benchtest.Options{
		"maritime_bench": {File: "items.jsonl", Data: []byte(ownItems), Prompt: ownPrompt, Extractions: extractions()},
		"general_mcq":    {File: "items.jsonl", Data: []byte(mcqItems), Prompt: mcqPrompt, Extractions: mcqExtractions()},
	}
	multi := strings.Replace(strings.Replace(mcqPrompt, "回答下面的单项选择题，请选出其中的正确答案。", "回答下面的多项选择题，请选出其中的所有正确答案。", 1), "\"答案：[LETTER]\"（不带引号），其中 [LETTER] 是 A,B,C,D,E 中的一个。\n\n", "\"答案：[LETTERS]\"（不带引号），其中 [LETTERS] 是 A,B,C,D,E 中的一个或多个。\n", 1)
	fixtures["general_mcq_multi"] = benchtest.Options{File: "items.jsonl", Data: []byte(mcqItems), Prompt: multi, Extractions: []benchtest.Extraction{
		{Reply: "答案：B", Extracted: "B", Other: "B", Correct: true}, {Reply: "答案：B，A", Extracted: "AB", Other: "AB"},
	}}
	fixtures["general_qa"] = benchtest.Options{File: "items.jsonl", Data: []byte(qaItems), Prompt: "左舷灯是什么颜色？", Extractions: []benchtest.Extraction{
		{Reply: "红色", Extracted: "红色", Other: "红色", Correct: true}, {Reply: "绿", Extracted: "绿", Other: "绿"}, {Reply: ""},
	}}
	for _, b := range benchmark.All() {
		t.Run(b.Ref().Name, func(t *testing.T) {
			t.Parallel()
			o, ok := fixtures[b.Ref().Name]
			if !ok {
				t.Fatal("a shipped benchmark without a fixture")
			}
			benchtest.Run(t, b, o)
		})
	}
}

// A user's own pack of the same shape keeps the contract under any name.
func TestSuiteOfAUsersPack(t *testing.T) {
	t.Parallel()
	items, err := benchmark.ReadItems("x.jsonl", []byte(ownItems))
	if err != nil {
		t.Fatal(err)
	}
	src, err := benchmark.LikePack("harbour-exam", "maritime_bench", items).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	p, err := benchmark.ParsePack("harbour-exam.yaml", src, benchmark.ShippedPack)
	if err != nil {
		t.Fatal(err)
	}
	b, err := benchmark.NewChoice(p)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.Ref().String(); got != "harbour-exam@evalscope-1.4.2" {
		t.Errorf("ref %s", got)
	}
	if b.Info().Items != 2 || b.Info().ItemsSHA256 != benchmark.CanonicalHash(items) {
		t.Errorf("info %+v", b.Info())
	}
	if b.Fingerprint() != maritime(t).Fingerprint() {
		t.Error("the same prompt and rule have another fingerprint")
	}
	benchtest.Run(t, b, benchtest.Options{File: "test.jsonl", Data: []byte(ownItems), Prompt: ownPrompt, Extractions: extractions()})
}
