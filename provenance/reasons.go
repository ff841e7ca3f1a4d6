package provenance

import (
	"strings"

	"github.com/drydock-ml/drydock/internal/msg"
)

// ReasonMeaning says a drop reason in words, contam_ with a verdict included. It
// is false for one it does not know, which stands for itself: reasons are words.
func ReasonMeaning(reason string) (msg.Text, bool) {
	if verdict, ok := strings.CutPrefix(reason, "contam_"); ok {
		return VerdictMeaning(verdict)
	}
	for _, list := range []func(string) (msg.Text, bool){readingReason, contentReason, shapeReason} {
		if t, ok := list(reason); ok {
			return t, true
		}
	}
	return msg.Text{}, false
}

// VerdictMeaning says what a contamination verdict claims; false for one it does
// not know.
func VerdictMeaning(verdict string) (msg.Text, bool) {
	switch verdict {
	case "exact":
		return msg.Text{"a benchmark item as it stands", "与评测集题目完全相同"}, true
	case "near":
		return msg.Text{"a benchmark item with small changes", "与评测集题目相同，仅有细小改动"}, true
	case "shuffled":
		return msg.Text{"a benchmark item, options or statements in another order", "与评测集题目相同，仅选项或陈述顺序不同"}, true
	case "stem_only":
		return msg.Text{"a benchmark item's stem without its options", "与评测集题目的题干相同，无其选项"}, true
	case "options_only":
		return msg.Text{"a benchmark item's options under another stem", "选项与评测集题目相同，题干不同"}, true
	case "numeric_variant":
		return msg.Text{"a benchmark item with other numbers", "与评测集题目相同，仅数字不同"}, true
	case "paraphrase":
		return msg.Text{"a benchmark item in other words, says a model", "模型认为与评测集题目同义，措辞不同"}, true
	case "translation":
		return msg.Text{"a benchmark item in another language, says a model", "模型认为是评测集题目的另一语言版本"}, true
	case "polarity_variant":
		return msg.Text{"a benchmark item turned round (not, except …)", "与评测集题目相同，但问法相反"}, true
	case "variant":
		return msg.Text{"made from a benchmark item", "由评测集题目改编"}, true
	case "shared_material":
		return msg.Text{"another question about the same text", "针对同一材料的另一题"}, true
	case "source_overlap":
		return msg.Text{"quotes the source that an item quotes", "引用了评测集题目所引用的原文"}, true
	case "boilerplate":
		return msg.Text{"words that any question has", "仅为常用套话"}, true
	}
	return msg.Text{}, false
}

// readingReason: why something never became a record.
func readingReason(reason string) (msg.Text, bool) {
	switch reason {
	case "reviewed_out":
		return msg.Text{"a person decided against it (drydock question review)", "经人工确认不采用（drydock question review）"}, true
	case "not_parsed":
		return msg.Text{"no parse step takes this kind of text", "没有解析步骤能够识别"}, true
	case "unparsed_text", "not_a_question":
		return msg.Text{"text that is no question", "不是题目的文本"}, true
	case "image_only_page":
		return msg.Text{"a page that shows only a picture; OCR may read it", "仅有图片的页面；可用 OCR 识别"}, true
	case "ocr_failed":
		return msg.Text{"a page of which the OCR command gave no text", "OCR 命令未能识别的页面"}, true
	case "page_unreadable":
		return msg.Text{"a page of a PDF that cannot be read", "PDF 中无法读取的页面"}, true
	case "no_text":
		return msg.Text{"a page or file without text", "没有文本的页面或文件"}, true
	case "bad_row", "invalid_json", "row_too_long":
		return msg.Text{"a row that cannot be read", "无法读取的行"}, true
	case "no_stem":
		return msg.Text{"options without a question", "只有选项，没有题干"}, true
	case "no_options":
		return msg.Text{"a question without options", "题目没有选项"}, true
	case "option_gap":
		return msg.Text{"an option letter is missing in between", "选项字母不连续"}, true
	case "empty_option":
		return msg.Text{"an option without text", "选项内容为空"}, true
	case "key_without_questions", "key_unused":
		return msg.Text{"a key that belongs to no question", "找不到对应题目的答案"}, true
	case "key_count_mismatch":
		return msg.Text{"the key has more or fewer answers than there are questions", "答案数与题目数不一致"}, true
	case "answer_index_ambiguous":
		return msg.Text{"an answer number that may count from 0 or from 1", "答案序号从 0 还是从 1 起算不明确"}, true
	case "low_confidence":
		return msg.Text{"too much about it is doubtful", "疑点过多"}, true
	case "answer_outside_options", "answer_not_an_option":
		return msg.Text{"the answer is none of the options", "答案不在选项之中"}, true
	case "answer_conflict":
		return msg.Text{"the source gives two different answers", "来源给出两个不同的答案"}, true
	case "conflicting_answer":
		return msg.Text{"the same question has another answer elsewhere", "同一题目在别处有不同答案"}, true
	}
	return msg.Text{}, false
}

// contentReason: why a record is not worth training on.
func contentReason(reason string) (msg.Text, bool) {
	switch reason {
	case "too_short":
		return msg.Text{"too short to teach anything", "过短，不足以用于训练"}, true
	case "too_long":
		return msg.Text{"longer than was allowed", "超过允许的长度"}, true
	case "duplicate_options":
		return msg.Text{"two options say the same", "有重复的选项"}, true
	case "duplicate_exact", "exact_duplicate", "duplicate":
		return msg.Text{"the same record stands elsewhere", "与其他记录重复"}, true
	case "duplicate_near", "near_duplicate":
		return msg.Text{"nearly the same record stands elsewhere", "与其他记录近似重复"}, true
	case "not_in_mix":
		return msg.Text{"left out by the mix's weights, quotas or size", "因配比的权重、配额或总数而未采用"}, true
	case "needs_figure":
		return msg.Text{"cannot be answered without its image", "缺少图片则无法作答"}, true
	case "no_answer":
		return msg.Text{"a question without an answer", "题目没有答案"}, true
	}
	return msg.Text{}, false
}

// shapeReason: why a record cannot be written in the shape that was asked for.
func shapeReason(reason string) (msg.Text, bool) {
	switch reason {
	case WrittenElsewhere:
		return msg.Text{"written to another output of this run", "已写入本次运行的其他输出"}, true
	case "multiple_answer":
		return msg.Text{"several right answers where one letter is asked", "有多个正确答案，而要求单个字母"}, true
	case "not_single_choice":
		return msg.Text{"not a single-choice question", "不是单选题"}, true
	case "too_many_options":
		return msg.Text{"more options than the answer form has letters", "选项多于答案格式所允许的字母"}, true
	case "passage_not_chat", "not_a_passage", "no_payload":
		return msg.Text{"another kind of record than this shape takes", "记录类型不适用于该格式"}, true
	case "special_token":
		return msg.Text{"holds a control token of the chat template", "含有对话模板的控制符"}, true
	case "no_reasoning":
		return msg.Text{"has no thinking, which this contract asks for", "缺少该约定所要求的思考过程"}, true
	case "has_reasoning", "reasoning_in_history":
		return msg.Text{"has thinking where this contract has none", "含有该约定所不允许的思考过程"}, true
	case "no_rejected":
		return msg.Text{"has no wrong answer to set against the right one", "缺少与正确答案相对照的错误答案"}, true
	case "no_rejected_reasoning":
		return msg.Text{"the wrong answer has no thinking, which this contract asks for", "错误答案缺少该约定所要求的思考过程"}, true
	case "same_answers":
		return msg.Text{"the rejected answer is the chosen one", "被拒答案与被选答案相同"}, true
	case "rejected_turns":
		return msg.Text{"the rejected answer is not one turn of the assistant", "被拒答案不是单独一轮助手回复"}, true
	case "no_explanation":
		return msg.Text{"has no explanation to read", "没有可供阅读的解析"}, true
	case "bracket_in_reasoning":
		return msg.Text{"the thinking holds a bracketed letter, which would be read as the answer", "思考过程含方括号字母，会被当作答案"}, true
	case "bad_turn_order":
		return msg.Text{"roles out of order", "对话角色顺序有误"}, true
	case "empty_turn":
		return msg.Text{"a message without text", "消息内容为空"}, true
	case "tools", "message_fields", "kto_label", "preference_pair":
		return msg.Text{"has parts that this shape cannot hold", "含有该格式无法容纳的内容"}, true
	}
	return msg.Text{}, false
}
