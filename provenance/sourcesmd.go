package provenance

import (
	"fmt"
	"strings"

	"github.com/drydock-ml/drydock/internal/msg"
)

// SourcesMD writes sources.md: every source with its licence, rights, proof and
// how it was read. What is unknown says so, and why.
func SourcesMD(lang msg.Lang, s Summary) []byte {
	m := &markdown{lang: lang}
	m.h1(msg.Text{"Sources of the data", "数据来源说明"})
	m.p(msg.Text{"%d {file|files}. The id follows from name, path and bytes; lineage rows refer to it.", "共 %d 个文件。编号由名称、路径与字节导出，血缘记录以此引用。"}, len(s.Sources))
	var rows [][]string
	for _, src := range s.Sources {
		rows = append(rows, []string{
			code(src.ID), cell(src.Name), code(src.File), m.orUnknown(src.License.Declared), m.orUnknown(src.OriginClass),
			count(src.Records), count(s.Profile.Sources[src.ID]),
		})
	}
	m.table([]column{
		col(msg.Text{"id", "编号"}), col(msg.Text{"source", "来源"}), col(msg.Text{"file", "文件"}), col(msg.Text{"licence", "许可"}), col(msg.Text{"class", "来源类别"}),
		num(msg.Text{"read", "读入"}), num(msg.Text{"in the data", "收入"}),
	}, rows)
	for _, src := range s.Sources {
		m.oneSource(&src)
	}
	return m.Bytes()
}

func (m *markdown) oneSource(s *Source) {
	fmt.Fprintf(m, "\n## %s\n", code(s.File))
	value := func(v, key string) string {
		if v != "" {
			return cell(v)
		}
		return m.say(msg.Text{"unknown: %s", "未知：%s"}, m.why(s.Absent[key]))
	}
	units := make([]string, 0, len(s.Units))
	for _, k := range sortedKeys(s.Units) {
		units = append(units, fmt.Sprintf("%s %d", cell(k), s.Units[k]))
	}
	spdx := s.License.SPDX
	if spdx == "" && s.License.Declared != "" {
		spdx = "NOASSERTION"
	}
	var rows [][]string
	for _, f := range []struct {
		name msg.Text
		text string
	}{
		{msg.Text{"sha256", "sha256"}, code(s.SHA256)},
		{msg.Text{"size", "大小"}, m.say(msg.Text{"%d {byte|bytes}", "%d 字节"}, s.Bytes)},
		{msg.Text{"media type", "媒体类型"}, value(s.MediaType, "media_type")},
		{msg.Text{"title", "标题"}, value(s.Title, "title")},
		{msg.Text{"publisher", "出版方"}, value(s.Publisher, "publisher")},
		{msg.Text{"edition", "版次"}, value(s.Edition, "edition")},
		{msg.Text{"ISBN or document number", "ISBN 或文件编号"}, value(s.DocNo, "isbn_or_doc_no")},
		{msg.Text{"origin", "来源地址"}, value(s.OriginURL, "origin_url")},
		{msg.Text{"origin class", "来源类别"}, value(s.OriginClass, "origin_class")},
		{msg.Text{"retrieved", "获取时间"}, value(s.RetrievedAt, "retrieved_at")},
		{msg.Text{"licence, as declared", "许可（声明原文）"}, value(s.License.Declared, "license.declared")},
		{msg.Text{"licence, SPDX", "许可（SPDX）"}, value(spdx, "license.spdx")},
		{msg.Text{"licence evidence", "许可证据"}, value(s.License.EvidencePath, "license.evidence_path")},
		{msg.Text{"may be trained on", "可否用于训练"}, value(s.Rights.Train, "rights.train")},
		{msg.Text{"may be redistributed", "可否再分发"}, value(s.Rights.Redistribute, "rights.redistribute")},
		{msg.Text{"languages", "语言"}, value(msg.List(s.Languages).In(m.lang), "languages")},
		{msg.Text{"personal data", "个人信息"}, value(s.Personal, "personal_data")},
		{msg.Text{"read by", "读取方式"}, value(strings.TrimSpace(s.Parser.Name+" "+s.Parser.Version), "parser.name")},
		{msg.Text{"read", "读取量"}, value(msg.List(units).In(m.lang), "units")},
	} {
		rows = append(rows, []string{f.name.In(m.lang), f.text})
	}
	m.table([]column{{}, {}}, rows)
	var warnings []string
	for _, w := range s.Warnings {
		warnings = append(warnings, m.say(msg.Text{"warning: %s", "警告：%s"}, cell(w)))
	}
	m.list(warnings)
}

// why says a reason of absence in words.
func (m *markdown) why(reason string) string {
	switch reason {
	case "", notDeclared:
		return m.say(msg.Text{"not declared", "未声明"})
	case notScreened:
		return m.say(msg.Text{"not screened", "未筛查"})
	case notMeasured:
		return m.say(msg.Text{"not measured", "未测量"})
	}
	return cell(strings.ReplaceAll(reason, "_", " "))
}
