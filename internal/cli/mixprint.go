package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/pipeline"
	"github.com/drydock-ml/drydock/internal/ui"
)

// describeMix says how much there was of everything, how much was taken, and how
// it was divided: on a terminal a line for each source, language and kind.
func describeMix(t *ui.Terminal, s *pipeline.StageResult) []string {
	m := s.Mix
	if m == nil {
		return nil
	}
	if s.Sums == nil { // a plan has not counted
		return plannedMix(t, m)
	}
	out := sumsText(t, s)
	wide := [3]int{}
	for _, g := range m.Groups {
		for i, w := range mixWords(t, g) {
			wide[i] = max(wide[i], ui.Width(w))
		}
	}
	for _, g := range m.Groups {
		w := mixWords(t, g)
		line := ui.Pad(w[0], wide[0]) + " " + ui.Pad(w[1], wide[1]) + " " + ui.PadLeft(w[2], wide[2])
		if m.Split != nil {
			line += t.Say(msg.Text{" (%d dev)", "（dev %d）"}, g.Dev)
		}
		if !t.OutTTY() {
			line = strings.Join(strings.Fields(line), " ")
		}
		out = append(out, line)
	}
	if d := m.Split; d != nil {
		out = append(out, t.Say(msg.Text{
			"train %d, dev %d; %d {group was|groups were} not divided, the largest of %d",
			"train %d 条，dev %d 条；%d 组不拆分，最大的一组 %d 条",
		}, d.Train, d.Dev, d.Groups, d.Largest))
	}
	return out
}

// mixWords are the columns of a group: what, which, how many of how many.
func mixWords(t *ui.Terminal, g pipeline.MixGroup) [3]string {
	name := g.Name
	if name == "" {
		name = t.Say(msg.Text{"unknown", "未知"})
	}
	return [3]string{t.Say(mixDimension(g.By)), ui.Clean(name), fmt.Sprintf("%d → %d", g.Before, g.After)}
}

func mixDimension(by string) msg.Text {
	switch by {
	case "source":
		return msg.Text{"source", "来源"}
	case "subject":
		return msg.Text{"subject", "主题"}
	case "lang":
		return msg.Text{"language", "语言"}
	}
	return msg.Text{"kind", "类型"}
}

// plannedMix says what will be asked of the records.
func plannedMix(t *ui.Terminal, m *pipeline.MixResult) []string {
	var out []string
	if m.Size > 0 {
		out = append(out, t.Say(msg.Text{"at most %d {record|records}", "至多 %d 条记录"}, m.Size))
	}
	for _, g := range m.Groups {
		var asked msg.List
		if g.Weight != nil {
			asked = append(asked, t.Say(msg.Text{"weight %s", "权重 %s"}, strconv.FormatFloat(*g.Weight, 'g', -1, 64)))
		}
		if g.Quota != nil {
			asked = append(asked, t.Say(msg.Text{"at most %d", "至多 %d"}, *g.Quota))
		}
		out = append(out, t.Say(mixDimension(g.By))+" "+ui.Clean(g.Name)+": "+asked.In(t.Lang()))
	}
	if d := m.Split; d != nil {
		share := strconv.FormatFloat(100*d.Share, 'g', 4, 64) + " %"
		if d.Share >= 1 {
			share = strconv.FormatFloat(d.Share, 'f', -1, 64)
		}
		out = append(out, t.Say(msg.Text{"dev: %s, never parting one %s", "dev：%s，不拆分同一%s"}, share, splitUnit(t, d.By)))
	}
	return out
}

// splitUnit is what a split never divides.
func splitUnit(t *ui.Terminal, by string) string {
	switch by {
	case "subject":
		return t.Say(msg.Text{"chapter", "章节"})
	case "file":
		return t.Say(msg.Text{"file", "文件"})
	case "source":
		return t.Say(msg.Text{"source", "来源"})
	}
	return t.Say(msg.Text{"item", "题目"})
}

// packedText says how full rows of joined documents are.
func packedText(t *ui.Terminal, p *pipeline.PackedResult) []string {
	if p == nil {
		return nil
	}
	return []string{t.Say(msg.Text{
		"%d {document|documents} joined to rows of up to %d tokens, %.1f %% full; %d longer than a row",
		"%d 篇文档合并为至多 %d token 的行，填充率 %.1f %%；%d 篇超过一行",
	}, p.Documents, p.Length, 100*p.Fill, p.Cut)}
}
