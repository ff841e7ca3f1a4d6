package parity

import "github.com/drydock-ml/drydock/internal/msg"

// kind is what can be found in rows, one of the list below.
type kind struct {
	id       string
	severity Severity
	text     msg.Text // one verb: the number of rows
	fix      msg.Text // for the trainer
}

// The findings, in the order they are reported.
const (
	tokensDiffer = iota
	historyBlock
	lossPlace
	notTheContract
	dropped
	tooLong
	answerCut
	specialToken
	noAnswer
	sameAnswers
	notLoaded
	typeDrift
	emptySystem
	emptyTurn
	merged
	reservedColumn
	leadingNewlines
	reasoningContent
	thinkNewlines
	historyReasoning
	historyTrained
	letterInReasoning
	softSwitch
	toolsInRow
	runningText
	kindCount
)

// kindOf describes a finding and what mends it under a trainer.
func kindOf(k int, trainer string) kind {
	switch k {
	case tokensDiffer:
		return kind{"tokens_differ", Error, msg.Text{"%d {row is|rows are} fed other tokens than the endpoint is asked and is to answer", "%d 行送入训练的 token 与端点收到并应回答的不同"}, msg.Text{}}
	case historyBlock:
		return kind{"think_block_in_history", Error, msg.Text{"%d {row puts|rows put} a think block on every turn; at inference the template has none on earlier ones", "%d 行在每一轮都加入思考块；推理时模板不会在较早的轮次加入"}, historyFix(trainer)}
	case lossPlace:
		return kind{"loss_span", Error, msg.Text{"the loss of %d {row|rows} is not taken on just what the model is to answer", "%d 行的损失范围并不正好是模型要回答的内容"}, lossFix(trainer)}
	case notTheContract:
		return kind{"not_the_contract", Error, msg.Text{"%d {row does|rows do} not hold the answer the contract asks for", "%d 行的回答不符合约定"}, msg.Text{"use the contract cot for rows with reasoning, empty-think for rows without", "含推理过程的行使用约定 cot，不含的使用 empty-think"}}
	case dropped:
		return kind{"dropped", Error, msg.Text{"%d {row is|rows are} left out by the trainer", "%d 行会被训练器丢弃"}, msg.Text{"turns must go user, assistant, …, an assistant's last", "轮次须为 user、assistant 交替，并以 assistant 结尾"}}
	case tooLong:
		return kind{"too_long", Error, msg.Text{"%d {row is|rows are} longer than the limit", "%d 行超过长度上限"}, lengthFix(trainer)}
	case answerCut:
		return kind{"answer_cut", Error, msg.Text{"of %d {row|rows} nothing that is trained is left behind the limit's cut: the loss is taken on nothing", "%d 行截断后没有剩下任何参与训练的内容：损失为空"}, lengthFix(trainer)}
	case typeDrift:
		return kind{"type_drift", Error, msg.Text{"%d {column has|columns have} no one type over all rows: datasets cannot load the file", "%d 列在各行中的类型不一致：datasets 无法加载该文件"}, msg.Text{"write each column in one type in every row, and leave out what is null or empty", "每列在所有行中使用同一类型，去掉为空的字段"}}
	case specialToken:
		return kind{"special_token", Error, msg.Text{"%d {row spells|rows spell} out a special token, which becomes a control token", "%d 行写出了特殊 token，会成为控制 token"}, msg.Text{"take it out of the text, or escape it: special_tokens: escape in drydock.yaml, --special-tokens escape of prep and convert", "请从文本中删除，或转义：drydock.yaml 中写 special_tokens: escape，prep 与 convert 用 --special-tokens escape"}}
	case noAnswer:
		return kind{"no_answer", Error, msg.Text{"%d {row ends|rows end} without an answer", "%d 行没有以回答结尾"}, msg.Text{"the last turn must be the assistant's", "最后一轮必须是 assistant"}}
	case sameAnswers:
		return kind{"same_answers", Error, msg.Text{"the two answers of %d {pair are|pairs are} the same", "%d 个偏好对的两个回答相同"}, sameFix(trainer)}
	case notLoaded:
		return kind{"not_loaded", Error, msg.Text{"%d {row is|rows are} JSON that datasets does not read: it takes the whole file for something else", "%d 行是 datasets 无法读取的 JSON：整个文件会被误读"}, msg.Text{"drydock convert writes rows that load", "drydock convert 会写出可读取的数据行"}}
	case emptySystem:
		return kind{"empty_system", Warning, msg.Text{"%d {row has|rows have} an empty system turn, which servers render and trainers may leave out", "%d 行含空的 system 消息：服务端会渲染，而训练器可能省略"}, msg.Text{"leave the turn out", "请去掉该消息"}}
	case emptyTurn:
		return kind{"empty_turn", Warning, msg.Text{"%d {row has|rows have} a turn without text", "%d 行含没有文本的轮次"}, msg.Text{"leave the row out, or give the turn its text", "去掉该行，或补上文本"}}
	case merged:
		return kind{"merged", Warning, msg.Text{"ms-swift joins turns of one role in %d {row|rows}, without a space between them", "ms-swift 会把 %d 行中同一角色的相邻轮次直接相连，中间没有空格"}, msg.Text{"turns must go user, assistant, …", "轮次须为 user、assistant 交替"}}
	case reservedColumn:
		return kind{"reserved_column", Warning, msg.Text{"%d {row has|rows have} a column whose name the trainer takes for its own", "%d 行含训练器保留名称的列"}, msg.Text{"keep only id beside the conversation; what else there is belongs into a file of its own", "对话之外只保留 id；其他内容请放入单独的文件"}}
	case leadingNewlines:
		return kind{"leading_newlines", Warning, msg.Text{"the answer of %d {row|rows} begins with line ends, which the template takes off", "%d 行的回答以换行开头，模板会将其去掉"}, msg.Text{"begin the answer with its text", "回答请直接以正文开头"}}
	case reasoningContent:
		return kind{"reasoning_content", Warning, msg.Text{"%d {row holds|rows hold} reasoning_content that is not read as it is meant", "%d 行的 reasoning_content 不会按原意读取"}, msg.Text{`write the reasoning once, into content: "<think>\n…\n</think>\n\n[A]"`, `推理过程只写一次，放入 content："<think>\n…\n</think>\n\n[A]"`}}
	case thinkNewlines:
		return kind{"think_newlines", Warning, msg.Text{"the think block of %d {row|rows} does not have the model's own line ends", "%d 行的思考块没有模型自身的换行"}, msg.Text{`write "<think>\n…\n</think>\n\n" in front of the answer`, `请在回答之前写 "<think>\n…\n</think>\n\n"`}}
	case historyReasoning:
		return kind{"reasoning_in_history", Warning, msg.Text{"%d {row has|rows have} reasoning before the last answer, which the template leaves out", "%d 行在最后回答之前含推理过程，模板会将其省略"}, msg.Text{"make a row of each answer", "请将每个回答拆成一行"}}
	case historyTrained:
		return kind{"history_trained", Warning, msg.Text{"%d {row trains|rows train} earlier answers as well, without the contract's think block", "%d 行同时训练较早的回答，且不带约定的思考块"}, msg.Text{`message_field_training: train, and "train": false in earlier turns`, `message_field_training: train，并在较早的轮次写 "train": false`}}
	case letterInReasoning:
		return kind{"letter_in_reasoning", Warning, msg.Text{"the reasoning of %d {row|rows} holds a bracketed letter, which a grader may take for the answer", "%d 行的推理过程含带方括号的字母，评分时可能被当作答案"}, msg.Text{"write A or option A in the reasoning", "推理过程中请写 A 或 选项 A"}}
	case softSwitch:
		return kind{"soft_switch", Note, msg.Text{"%d {row says|rows say} /think or /no_think, which Qwen3 takes for a switch", "%d 行含 /think 或 /no_think，Qwen3 会将其当作开关"}, msg.Text{}}
	case runningText:
		return kind{"not_asked", Note, msg.Text{"%d {row holds|rows hold} no question with its answer; tokens are counted, nothing is compared", "%d 行不含问答：只统计 token，不作比较"}, msg.Text{}}
	}
	return kind{"tools", Note, msg.Text{"%d {row holds|rows hold} tools and {is|are} not compared", "%d 行含工具，未比较"}, msg.Text{}}
}

// sameFix says what a trainer does to pairs that tell nothing.
func sameFix(trainer string) msg.Text {
	if trainer == "swift" {
		return msg.Text{"ms-swift deletes them; give another rejected answer", "ms-swift 会删除它们；请换一个 rejected 回答"}
	}
	return msg.Text{"nothing is learned from them; give another rejected answer", "从中学不到任何东西；请换一个 rejected 回答"}
}

func historyFix(trainer string) msg.Text {
	switch trainer {
	case "llamafactory":
		return msg.Text{"mask_history: true", "mask_history: true"}
	case "swift":
		return msg.Text{"--loss_scale last_round", "--loss_scale last_round"}
	case "trl":
		return msg.Text{"rows of prompt and completion, not of messages", "使用 prompt 与 completion 行，而不是 messages"}
	}
	return msg.Text{}
}

func lossFix(trainer string) msg.Text {
	switch trainer {
	case "llamafactory":
		return msg.Text{
			"enable_thinking: true trains the empty block; false leaves it to a server that is told enable_thinking=false",
			"enable_thinking: true 会训练空思考块；false 则要求服务端设置 enable_thinking=false",
		}
	case "swift":
		return msg.Text{"--disable_ignore_empty_think true trains the empty block", "--disable_ignore_empty_think true 会训练空思考块"}
	case "trl":
		return msg.Text{
			`rows of prompt and completion; "chat_template_kwargs": {"enable_thinking": false} in a row leaves the block out of the loss`,
			`使用 prompt 与 completion 行；行内 "chat_template_kwargs": {"enable_thinking": false} 使思考块不计损失`,
		}
	case "axolotl":
		return msg.Text{
			"rows of segments under type: input_output train the block (drydock prep --to axolotl-segments, and drydock train makes them); no setting of chat_template does",
			"type: input_output 的 segments 行会训练思考块（drydock prep --to axolotl-segments 写出，drydock train 也会生成）；chat_template 没有这样的设置",
		}
	}
	return msg.Text{}
}

// lengthFix says what a trainer does to long rows, and which setting it is.
func lengthFix(trainer string) msg.Text {
	switch trainer {
	case "llamafactory":
		return msg.Text{"LLaMA-Factory cuts them, the answer too; raise cutoff_len (max_tokens in drydock.yaml)", "LLaMA-Factory 会截断它们，包括回答；请调大 cutoff_len（drydock.yaml 中的 max_tokens）"}
	case "swift":
		return msg.Text{"ms-swift drops them (truncation_strategy delete); raise --max_length", "ms-swift 会丢弃它们（truncation_strategy delete）；请调大 --max_length"}
	case "trl":
		return msg.Text{"TRL keeps their beginning and cuts the answer off; raise max_length", "TRL 保留开头、截去回答；请调大 max_length"}
	case "axolotl":
		return msg.Text{"axolotl drops them; raise sequence_len, or set excess_length_strategy: raise", "axolotl 会丢弃它们；请调大 sequence_len，或设置 excess_length_strategy: raise"}
	}
	return msg.Text{}
}
