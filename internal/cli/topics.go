package cli

import (
	"fmt"

	"github.com/drydock-ml/drydock/internal/msg"
)

// topic is a page of help that belongs to no single command.
type topic struct {
	name  string
	short msg.Text
	body  func(h *helpWriter)
}

func (t topic) render(a *app) string {
	h := helpWriter{a: a}
	h.para(a.say(t.short))
	t.body(&h)
	return h.b.String()
}

func topics() []topic {
	return []topic{
		{"config", msg.Text{"Where settings come from, and which one wins.", "设置的来源及优先级。"}, configTopic},
		{"environment", msg.Text{"Environment variables drydock reads.", "drydock 读取的环境变量。"}, environmentTopic},
		{"exit-codes", msg.Text{"What each exit code means.", "各退出码的含义。"}, exitCodesTopic},
		{"json", msg.Text{"What --json prints, and what scripts may rely on.", "--json 的输出内容，以及脚本可以依赖什么。"}, jsonTopic},
		{"formats", msg.Text{"Files drydock reads and writes.", "drydock 读写的文件。"}, formatsTopic},
	}
}

func configTopic(h *helpWriter) {
	h.line("")
	h.para(h.a.say(msg.Text{
		"A value is taken from the first of these that has one: the flag, the environment variable of the flag, drydock.yaml of the project, the default. With -v, drydock prints where each value came from that is no default.",
		"取值按以下顺序，先有者为准：命令行选项、该选项的环境变量、项目的 drydock.yaml、默认值。使用 -v 时，drydock 会列出每个非默认值的来源。",
	}))
	h.line("")
	h.para(h.a.say(msg.Text{
		"drydock.yaml is found in the current folder, in the folder given by -C, or under the name given by -c. drydock lint reports all mistakes in it at once.",
		"drydock.yaml 位于当前目录、-C 指定的目录，或由 -c 指定。drydock lint 会一次报告其中的全部错误。",
	}))
	h.line("")
	h.para(h.a.say(msg.Text{
		"Secrets are read from the environment or from a file (--api-key-file, --password-file), never from a flag's value or from drydock.yaml.",
		"机密信息只从环境变量或文件（--api-key-file、--password-file）读取，绝不来自选项值或 drydock.yaml。",
	}))
}

func environmentTopic(h *helpWriter) {
	h.line("")
	h.para(h.a.say(msg.Text{
		"Every flag --foo-bar can be set by DRYDOCK_FOO_BAR, except those that lift a gate, destroy something or name an output (--allow-*, --force, --fresh, -o, -n and the like): these are typed each time.",
		"每个选项 --foo-bar 都可由 DRYDOCK_FOO_BAR 设置；但解除检查、破坏数据或指定输出的选项（--allow-*、--force、--fresh、-o、-n 等）除外，必须每次输入。",
	}))
	h.line("")
	var rows [][2]string
	for _, v := range namedVariables() {
		rows = append(rows, [2]string{v.name, h.a.say(v.text)})
	}
	h.columns(rows, 24)
}

// variable is an environment variable with a meaning beyond a flag's.
type variable struct {
	name string
	text msg.Text
}

func namedVariables() []variable {
	return []variable{
		{"DRYDOCK_HOME", msg.Text{"where registered benchmarks and runs outside a project are kept (default: drydock in the user's configuration folder)", "已登记的评测集和项目外运行记录的存放目录（默认：用户配置目录下的 drydock）"}},
		{"DRYDOCK_LANG", msg.Text{"language of messages; else LC_ALL, LC_MESSAGES, LANG decide", "消息语言；未设置时依次看 LC_ALL、LC_MESSAGES、LANG"}},
		{"DRYDOCK_BASE_URL", msg.Text{"address of an OpenAI-compatible endpoint, for eval", "OpenAI 兼容端点的地址，供 eval 使用"}},
		{"DRYDOCK_API_KEY", msg.Text{"key for that endpoint; never written anywhere", "该端点的密钥；不会写入任何文件"}},
		{"DRYDOCK_PASSWORD", msg.Text{"opens encrypted inputs where no --password-file is given; never written anywhere", "未指定 --password-file 时用于打开加密的输入；不会写入任何文件"}},
		{"NO_COLOR", msg.Text{"when not empty: no colour", "非空时：不使用颜色"}},
		{"CLICOLOR_FORCE", msg.Text{"when not empty and not 0: colour on pipes, too", "非空且不为 0 时：管道输出也使用颜色"}},
		{"HTTPS_PROXY, NO_PROXY", msg.Text{"proxy for requests to an endpoint", "访问端点时使用的代理"}},
	}
}

func exitCodesTopic(h *helpWriter) {
	h.line("")
	var rows [][2]string
	for _, e := range exitCodes() {
		rows = append(rows, [2]string{fmt.Sprintf("%3d", e.Code), h.a.say(e.Text)})
	}
	h.columns(rows, 4)
	h.line("")
	h.para(h.a.say(msg.Text{
		"A record that a step drops by its rule is no failure: the code is 0. An input or a row that could not be read is one: the code is 3. When several apply, 10 to 12 go before 3, and everything else before those. New codes may appear: treat an unknown one as failure.",
		"步骤按规则丢弃的记录不算失败，退出码为 0；无法读取的输入或行算失败，退出码为 3。同时适用多个时，10 至 12 优先于 3，其余优先于它们。将来可能增加新的退出码：未知的一律视为失败。",
	}))
}

func jsonTopic(h *helpWriter) {
	h.line("")
	h.para(h.a.say(msg.Text{
		`With --json, stdout holds JSON and nothing else. A finite answer is one document; run, train and eval print one JSON object a line, told apart by "type": stage, item, warning or summary. Every document has "schema": "drydock.NAME/1".`,
		`使用 --json 时，stdout 只有 JSON。有限的结果是一个文档；run、train 和 eval 每行输出一个 JSON 对象，以 "type" 区分：stage、item、warning 或 summary。每个文档都有 "schema": "drydock.NAME/1"。`,
	}))
	h.line("")
	h.para(h.a.say(msg.Text{
		`Errors are one object each on stderr: {"type":"error", "kind":…, "message":…, "hint":…, "where":{"file":…, "line":…, "column":…}, "code":…}. "kind" and "code" are stable; "message" and "hint" are for people, in their language.`,
		`错误逐个以对象写到 stderr：{"type":"error", "kind":…, "message":…, "hint":…, "where":{"file":…, "line":…, "column":…}, "code":…}。"kind" 和 "code" 保持稳定；"message" 和 "hint" 供人阅读，使用其语言。`,
	}))
	h.line("")
	h.para(h.a.say(msg.Text{
		"Fields may be added at any time: ignore those you do not know. The number in the schema rises only when a field goes or changes its meaning.",
		"字段随时可能增加：请忽略不认识的字段。仅当字段被删除或含义改变时，schema 中的数字才会增加。",
	}))
}

func formatsTopic(h *helpWriter) {
	h.line("")
	h.para(h.a.say(msg.Text{
		"A file is recognised by its content; the ending of its name is only a hint, and a wrong one is reported. drydock formats list shows all of them.",
		"文件按内容识别；文件名后缀仅供参考，不符时会提示。drydock formats list 列出全部格式。",
	}))
}
