package cli

import (
	"strconv"

	"github.com/drydock-ml/drydock/internal/msg"
)

// exitCode is one row of the table of exit codes.
type exitCode struct {
	Code int
	Kind string // the "kind" of a JSON error; empty for 0
	Text msg.Text
}

// exitCodes is the whole table, in order. The codes themselves are decided by
// package fail; a test holds the two together.
func exitCodes() []exitCode {
	return []exitCode{
		{0, "", msg.Text{"done", "完成"}},
		{1, "failed, refused", msg.Text{"failed, or refused by a check", "失败，或被检查拒绝"}},
		{2, "usage, config", msg.Text{"wrong usage or invalid configuration", "用法错误或配置无效"}},
		{3, "partial", msg.Text{"finished, but some inputs or requests failed", "已完成，但部分输入或请求失败"}},
		{4, "credentials", msg.Text{"the server refused the credentials", "服务器拒绝凭据"}},
		{10, "contamination", msg.Text{"benchmark items were found in the data", "数据中发现评测集题目"}},
		{11, "submission", msg.Text{"the submission package breaks a rule", "提交包违反规则"}},
		{12, "below_min_acc", msg.Text{"accuracy is below --min-acc", "准确率低于 --min-acc"}},
		{20, "unreachable", msg.Text{"the endpoint does not answer", "端点无响应"}},
		{21, "trainer", msg.Text{"the trainer, or the server that was started, failed", "训练程序或所启动的服务失败"}},
		{70, "bug", msg.Text{"a bug in drydock; please report it", "drydock 内部错误；请报告"}},
		{130, "interrupted", msg.Text{"interrupted", "已中断"}},
	}
}

func exitText(code int) msg.Text {
	for _, e := range exitCodes() {
		if e.Code == code {
			return e.Text
		}
	}
	return msg.Text{strconv.Itoa(code), strconv.Itoa(code)}
}
