package submission

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"unicode"

	"github.com/drydock-ml/drydock/internal/msg"
)

func reportGates() []gate {
	return []gate{
		{"R01", Rule, roleReport, msg.Text{"the technical report opens and has text", "技术报告可打开且有正文"}, gateR01},
		{"R02", Risk, roleReport, msg.Text{"the report speaks of method, data, training, results and compliance", "技术报告涵盖方法、数据来源、训练、结果与合规"}, gateR02},
	}
}

// maxReport bounds what is read of a report; one with pictures is some
// megabytes.
const maxReport = 256 << 20

func gateR01(c *check) error {
	name := c.decl.Report
	if name == "" {
		c.fails(at("report/", 0).fix(msg.Text{"put a .docx or .pdf into report/", "请将 .docx 或 .pdf 放入 report/"}), msg.Text{"there is no report", "没有技术报告"})
		return nil
	}
	e, ok := c.bundle.find(name)
	if !ok {
		c.fails(at(name, 0), msg.Text{"there is no %s", "没有 %s"}, name)
		return nil
	}
	data, err := e.read(maxReport)
	if err != nil {
		return err
	}
	text := false
	switch strings.ToLower(path.Ext(name)) {
	case ".docx":
		var s string
		s, err = docxText(data)
		text = strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
	case ".pdf":
		var unknown bool
		text, unknown, err = pdfHasText(data)
		if err == nil && !text && unknown {
			c.warns(at(name, 0).fix(msg.Text{"export it again without protection", "请导出不带保护的版本"}), msg.Text{"whether the pages of %s have text could not be told (it is encrypted, or packed in an unusual way)", "无法判断 %s 的页面是否含有文本（已加密，或压缩方式少见）"}, name)
			return nil
		}
	default:
		c.fails(at(name, 0), msg.Text{"%s is neither .docx nor .pdf", "%s 既不是 .docx 也不是 .pdf"}, name)
		return nil
	}
	switch {
	case err != nil:
		c.fails(at(name, 0).fix(msg.Text{"open it, and save or export it again", "请打开后重新保存或导出"}), msg.Text{"%s does not open: %v", "%s 无法打开：%v"}, name, err)
	case !text:
		c.fails(at(name, 0).fix(msg.Text{"a scan is no report: export it with its text", "扫描件不能作为报告：请导出带文本的版本"}), msg.Text{"%s has no text", "%s 没有文本"}, name)
	}
	c.passes(msg.Text{"%s opens", "%s 可打开"}, name)
	return nil
}

// gateR02 looks for what a report must speak of. It reads DOCX only: the text
// of a PDF is not decoded here.
func gateR02(c *check) error {
	name := c.decl.Report
	e, ok := c.bundle.find(name)
	if !ok {
		c.skips(nil, msg.Text{"there is no report (R01)", "没有技术报告（见 R01）"})
		return nil
	}
	if strings.ToLower(path.Ext(name)) != ".docx" {
		c.skips(nil, msg.Text{"only the text of a .docx is read by this gate", "该检查仅读取 .docx 的文本"})
		return nil
	}
	data, err := e.read(maxReport)
	if err != nil {
		return err
	}
	text, err := docxText(data)
	if err != nil {
		c.skips(nil, msg.Text{"the report does not open (R01)", "技术报告无法打开（见 R01）"})
		return nil
	}
	low := strings.ToLower(text)
	for _, t := range []struct {
		name  msg.Text
		words []string
	}{
		{msg.Text{"the method", "方法"}, []string{"方法", "方案", "method", "approach"}},
		{msg.Text{"where the data comes from", "数据来源"}, []string{"数据来源", "数据源", "来源", "data source", "source"}},
		{msg.Text{"the training", "训练"}, []string{"训练", "微调", "train", "fine-tun"}},
		{msg.Text{"the results", "结果"}, []string{"结果", "准确率", "正确率", "result", "accuracy", "score"}},
		{msg.Text{"compliance", "合规"}, []string{"合规", "污染", "泄漏", "泄露", "complian", "contaminat", "leak"}},
	} {
		found := false
		for _, w := range t.words {
			found = found || strings.Contains(low, w)
		}
		if !found {
			c.warns(at(name, 0), msg.Text{"the report does not speak of %s", "技术报告未提及%s"}, t.name)
		}
	}
	c.scoreInReport(name, text)
	return nil
}

// scoreInReport looks for the accuracy as a percentage with two decimals or as
// a share with four.
func (c *check) scoreInReport(name, text string) {
	if len(c.reviews.rows) == 0 || c.reviews.unread > 0 || c.n == 0 {
		return
	}
	correct := 0
	for _, v := range c.reviews.rows {
		if v.acc == 1 {
			correct++
		}
	}
	acc := float64(correct) / float64(c.n)
	for _, f := range []string{
		strconv.FormatFloat(100*acc, 'f', 2, 64), strconv.FormatFloat(100*acc, 'f', 1, 64), strconv.FormatFloat(acc, 'f', 4, 64),
	} {
		if strings.Contains(text, f) {
			return
		}
	}
	c.warns(at(name, 0).want(strconv.FormatFloat(100*acc, 'f', 2, 64)+" %", "–"), msg.Text{"the report does not state the accuracy of the graded file, %.2f %%", "技术报告未写出评分文件的准确率 %.2f %%"}, 100*acc)
}

// docxText returns the text of a word-processing document, paragraphs as lines.
func docxText(data []byte) (string, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return "", err
	}
	f, err := z.Open("word/document.xml")
	if err != nil {
		return "", errors.New("no word/document.xml in it")
	}
	defer f.Close()
	d := xml.NewDecoder(io.LimitReader(f, 64<<20))
	var b strings.Builder
	inText := false
	for {
		t, err := d.Token()
		if err == io.EOF {
			return b.String(), nil
		}
		if err != nil {
			return "", fmt.Errorf("word/document.xml: %w", err)
		}
		switch t := t.(type) {
		case xml.StartElement:
			inText = t.Name.Local == "t"
		case xml.EndElement:
			inText = false
			if t.Name.Local == "p" {
				b.WriteByte('\n')
			}
		case xml.CharData:
			if inText {
				b.Write(t)
			}
		}
	}
}
