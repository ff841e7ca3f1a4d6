package provenance

import (
	"strings"

	"github.com/drydock-ml/drydock/internal/msg"
)

// meaning looks up what a key means in the shapes drydock writes and the ones
// trainers commonly read. A path below a map whose keys are values is found by
// its parent and a star.
func meaning(path string) (msg.Text, bool) {
	switch path {
	case "id":
		return msg.Text{"Id of the row: the source row's own, or derived from content.", "行的编号：来源行自带的编号，或由内容导出。"}, true
	case "messages":
		return msg.Text{"The conversation to train on, in order.", "用于训练的对话，按顺序排列。"}, true
	case "messages[].role", "rejected[].role", "chosen[].role":
		return msg.Text{"Who speaks: system, user, assistant or tool.", "说话者：system、user、assistant 或 tool。"}, true
	case "messages[].content", "rejected[].content", "chosen[].content":
		return msg.Text{"What is said, byte for byte as trained.", "说话内容，与训练文本逐字节一致。"}, true
	case "messages[].reasoning_content":
		return msg.Text{"The thinking before the answer.", "作答前的思考过程。"}, true
	case "tools":
		return msg.Text{"Tools the model may call.", "模型可调用的工具。"}, true
	case "rejected":
		return msg.Text{"The losing answer of a preference pair.", "偏好对中较差的回答。"}, true
	case "chosen":
		return msg.Text{"The winning answer of a preference pair.", "偏好对中较好的回答。"}, true
	case "text":
		return msg.Text{"Running text.", "正文文本。"}, true
	}
	if t, ok := questionMeaning(path); ok {
		return t, true
	}
	if t, ok := sidecarMeaning(path); ok {
		return t, true
	}
	return otherMeaning(path)
}

func questionMeaning(path string) (msg.Text, bool) {
	switch path {
	case "kind":
		return msg.Text{"Form of the item: single, multiple, judge, blank, short, matching; passage or chat for other rows.", "题型：single 单选、multiple 多选、judge 判断、blank 填空、short 简答、matching 匹配；其他行为 passage 或 chat。"}, true
	case "lang":
		return msg.Text{"Language as a BCP 47 tag.", "语言（BCP 47 标签）。"}, true
	case "stem":
		return msg.Text{"The question as printed, numbered statements included.", "题干原文，含带编号的陈述。"}, true
	case "statements":
		return msg.Text{"The numbered statements of the stem, apart.", "题干中带编号的各条陈述。"}, true
	case "options":
		return msg.Text{"The choices, in order.", "选项，按顺序排列。"}, true
	case "options[].label":
		return msg.Text{"Letter of the choice.", "选项字母。"}, true
	case "options[].text":
		return msg.Text{"Text of the choice.", "选项内容。"}, true
	case "answer":
		return msg.Text{"The key: labels of choices, true or false, or texts; empty when the source gives none.", "答案：选项字母、true/false 或文本；来源未给出时为空。"}, true
	case "explanation":
		return msg.Text{"The source's explanation of the answer.", "来源给出的答案解析。"}, true
	case "reasoning":
		return msg.Text{"Worked thinking that leads to the answer.", "推出答案的思考过程。"}, true
	case "subject":
		return msg.Text{"Subject path, outermost first: chapter, article.", "所属章节路径，由外到内。"}, true
	case "figures":
		return msg.Text{"Names of images that belong to the item.", "题目所附图片的名称。"}, true
	case "needs_figure":
		return msg.Text{"Whether the item cannot be answered without its image.", "是否必须看图才能作答。"}, true
	case "confidence":
		return msg.Text{"How sure the parser is, 0 to 1.", "解析可信度，0 到 1。"}, true
	case "doubts":
		return msg.Text{"What lowers the confidence; only where something does.", "降低可信度的原因；没有则无此字段。"}, true
	case "heading":
		return msg.Text{"Headings above the passage, outermost first.", "段落上方的标题，由外到内。"}, true
	}
	return msg.Text{}, false
}

func sidecarMeaning(path string) (msg.Text, bool) {
	if strings.HasPrefix(path, "letters.") {
		return msg.Text{"The letter this printed letter became.", "该印刷字母变成的字母。"}, true
	}
	switch path {
	case "record":
		return msg.Text{"Id of the record, as in lineage.jsonl.", "记录编号，与 lineage.jsonl 一致。"}, true
	case "shape":
		return msg.Text{"Row shape the record was written in.", "输出所用的行格式。"}, true
	case "row_id":
		return msg.Text{"The source row's own id.", "来源行自带的编号。"}, true
	case "letters":
		return msg.Text{"Which printed option letter became which after shuffling.", "打乱选项后，原字母与新字母的对应关系。"}, true
	case "order_kept":
		return msg.Text{"Why the options kept their printed order.", "选项保持原顺序的原因。"}, true
	case "parents":
		return msg.Text{"Ids of the records this one was made from.", "由哪些记录生成（记录编号）。"}, true
	case "origin":
		return msg.Text{"Where the record stood in its source.", "记录在来源中的位置。"}, true
	case "origin.source":
		return msg.Text{"Name of the source in drydock.yaml.", "drydock.yaml 中的来源名称。"}, true
	case "origin.file":
		return msg.Text{"Path of the file within the source.", "文件在来源中的路径。"}, true
	case "origin.sha256":
		return msg.Text{"Hash of the file's bytes.", "文件字节的哈希值。"}, true
	case "origin.locator":
		return msg.Text{"Page, line, row or paragraph, counted from 1.", "页、行、表格行或段落，从 1 开始。"}, true
	case "origin.key":
		return msg.Text{"Where the answer stood, when elsewhere.", "答案所在位置（与题目不在一处时）。"}, true
	case "origin.license":
		return msg.Text{"Licence as declared for the source.", "来源所声明的许可。"}, true
	}
	return msg.Text{}, false
}

// otherMeaning knows the row shapes of others: alpaca, sharegpt, TRL, swift.
func otherMeaning(path string) (msg.Text, bool) {
	switch path {
	case "instruction", "prompt", "query":
		return msg.Text{"What the model is asked.", "对模型的提问或指令。"}, true
	case "input":
		return msg.Text{"Text the instruction is about.", "指令所针对的输入文本。"}, true
	case "output", "response", "completion":
		return msg.Text{"What the model should answer.", "模型应给出的回答。"}, true
	case "system":
		return msg.Text{"The system message.", "系统消息。"}, true
	case "history":
		return msg.Text{"Earlier turns of the conversation.", "此前的对话轮次。"}, true
	case "conversations":
		return msg.Text{"The conversation to train on, in order.", "用于训练的对话，按顺序排列。"}, true
	case "conversations[].from":
		return msg.Text{"Who speaks: system, human, gpt.", "说话者：system、human、gpt。"}, true
	case "conversations[].value":
		return msg.Text{"What is said.", "说话内容。"}, true
	case "label":
		return msg.Text{"Whether the answer is wanted (KTO).", "该回答是否可取（KTO）。"}, true
	}
	return msg.Text{}, false
}

// valueMeaning says kinds, forms of question and languages in words.
func valueMeaning(v string) (msg.Text, bool) {
	switch v {
	case "question":
		return msg.Text{"exam question", "试题"}, true
	case "passage":
		return msg.Text{"running text", "正文段落"}, true
	case "chat":
		return msg.Text{"conversation", "对话"}, true
	case "single":
		return msg.Text{"single choice", "单选"}, true
	case "multiple":
		return msg.Text{"multiple choice", "多选"}, true
	case "judge":
		return msg.Text{"true or false", "判断"}, true
	case "blank":
		return msg.Text{"fill in", "填空"}, true
	case "short":
		return msg.Text{"short answer", "简答"}, true
	case "matching":
		return msg.Text{"matching", "匹配"}, true
	case "zh":
		return msg.Text{"Chinese", "中文"}, true
	case "en":
		return msg.Text{"English", "英文"}, true
	case "mul":
		return msg.Text{"several languages", "多语言"}, true
	case "und":
		return msg.Text{"not determined", "未判定"}, true
	}
	return msg.Text{}, false
}
