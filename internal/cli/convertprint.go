package cli

import (
	"fmt"

	"github.com/drydock-ml/drydock/internal/convert"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/ui"
)

// convertAnswer prints what became of the rows.
type convertAnswer struct{ *convert.Result }

func (v convertAnswer) text(t *ui.Terminal) {
	tb := t.Table(ui.Column{Title: msg.Text{"file", "文件"}}, ui.Column{Title: msg.Text{"rows", "行"}, Right: true})
	for _, in := range v.Inputs {
		tb.Row(in.File, fmt.Sprint(in.Rows))
	}
	if len(v.Inputs) > 0 {
		tb.Print()
	}
	t.Print(msg.Text{"%d in, %d converted to %s, %d dropped", "输入 %d，%d 行转为 %s，丢弃 %d"}, v.Sums.In, v.Sums.Out, v.To, v.Sums.DroppedTotal())
	if words := countWords(v.Sums.Dropped); len(words) > 0 {
		t.Print(msg.Text{"dropped: %s", "丢弃：%s"}, words)
	}
	if v.Renamed > 0 {
		t.Print(msg.Text{"%d {id stands|ids stand} in several inputs and became SOURCE/ID", "%d 个 id 出现在多个输入中，已写为 来源/id"}, v.Renamed)
	}
	if v.AsText {
		t.Print(msg.Text{"some ids were text, some not: all are text now", "id 有文本也有其他类型：现均为文本"})
	}
	if v.Info != nil {
		t.Print(msg.Text{"entry for dataset_info.json: %s", "dataset_info.json 条目：%s"}, v.Info)
		if v.InfoAt != "" {
			t.Print(msg.Text{"it stands in %s", "已写入 %s"}, v.InfoAt)
		}
	}
	if !v.DryRun {
		if v.Out != "" {
			t.Print(msg.Text{"rows: %s", "数据行：%s"}, v.Out)
		}
		if v.Dropped != "" {
			t.Print(msg.Text{"left out: %s", "未采用：%s"}, v.Dropped)
		}
	}
}
