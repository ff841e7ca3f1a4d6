package format

import (
	"fmt"
	"strconv"

	"github.com/drydock-ml/drydock/internal/msg"
)

// pdfSums is what is told about a file once it was read.
type pdfSums struct {
	file    *File
	pages   int
	text    int // pages with text
	running int
	example string

	stamps       int // lines
	stamped      int // pages with such
	stampExample string

	logos int // pictures that are no figures
	scans []int

	recognised   []int
	unrecognised []int
	ocrErr       error // of the first of these

	unmapped perPage // characters read as U+FFFD
	private  perPage // characters of a font's own, read as private use
	garbled  perPage // characters put right
	bytesIn  string  // the encoding of their bytes
}

// perPage is how often something was found, by page.
type perPage []struct{ page, n int }

func (c *perPage) add(page, n int) {
	if n > 0 {
		*c = append(*c, struct{ page, n int }{page, n})
	}
}

func (c perPage) total() (n int) {
	for _, p := range c {
		n += p.n
	}
	return n
}

// In lists the pages with their counts: "p3: 12, p7: 5".
func (c perPage) In(l msg.Lang) string {
	const most = 12
	var parts msg.List
	for _, p := range c[:min(len(c), most)] {
		parts = append(parts, fmt.Sprintf("p%d: %d", p.page, p.n))
	}
	if len(c) > most {
		parts = append(parts, fmt.Sprintf("… +%d", len(c)-most))
	}
	return parts.In(l)
}

func (s *pdfSums) tell(note func(Note)) {
	name := s.file.name()
	if s.running > 0 {
		note(Note{Code: "running_lines", Text: msg.Text{
			"%s: %d headers, footers and page numbers were left out, for example %q",
			"%s：略去页眉、页脚和页码 %d 行，例如 %q",
		}, Args: []any{name, s.running, s.example}})
	}
	if s.stamps > 0 {
		note(Note{Code: "watermarks", Text: msg.Text{
			"%s: %d lines of watermarks and advertisements on %d pages were left out, for example %q",
			"%s：在 %[3]d 页上略去水印和网站广告 %[2]d 行，例如 %[4]q",
		}, Args: []any{name, s.stamps, s.stamped, s.stampExample}})
	}
	if s.logos > 0 {
		note(Note{Code: "repeated_pictures", Text: msg.Text{
			"%s: %d pictures that come again in the same place, as logos do, are not taken for figures",
			"%s：在同一位置反复出现的图片（如标志）%d 处，不作为插图",
		}, Args: []any{name, s.logos}})
	}
	if len(s.scans) > 0 {
		note(Note{Code: "image_only_page", Damage: true, Text: msg.Text{
			"%s: a picture without text on page %s; run OCR first, for example ocrmypdf -l chi_sim+eng in.pdf out.pdf, or name a program for it: --ocr-command \"tesseract {} stdout -l chi_sim+eng\"",
			"%s：第 %s 页是没有文字的图片；请先做 OCR，例如 ocrmypdf -l chi_sim+eng in.pdf out.pdf，或指定 OCR 程序：--ocr-command \"tesseract {} stdout -l chi_sim+eng\"",
		}, Args: []any{name, ranges(s.scans)}})
	}
	s.tellOCR(note, name)
	if s.text == 0 && len(s.scans)+len(s.unrecognised) == 0 {
		note(Note{Code: "no_text", Damage: true, Text: msg.Text{
			"%s: no text was found on any page (%d in all); what they show may be drawings or lost in damage",
			"%s：所有页面（共 %d 页）均未找到文字；页面内容可能是图形，或文件已损坏",
		}, Args: []any{name, s.pages}})
	}
	s.tellFonts(note, name)
}

// tellOCR says what was recognised, by which program, and what was not.
func (s *pdfSums) tellOCR(note func(Note), name string) {
	if len(s.recognised)+len(s.unrecognised) == 0 {
		return
	}
	program := s.file.Options.OCR.Argv[0]
	if len(s.recognised) > 0 {
		note(Note{Code: "ocr", Text: msg.Text{
			"%s: the text of page %s was recognised by %s and may hold mistakes",
			"%s：第 %s 页的文字由 %s 识别（OCR），可能有误",
		}, Args: []any{name, ranges(s.recognised), program}})
	}
	if len(s.unrecognised) > 0 {
		note(Note{Code: "ocr_failed", Damage: true, Text: msg.Text{
			"%s: page %s is a picture, and the OCR command %s failed on it: %v",
			"%s：第 %s 页是图片，OCR 命令 %s 处理失败：%v",
		}, Args: []any{name, ranges(s.unrecognised), program, s.ocrErr}})
	}
}

// tellFonts says what the file's fonts do not tell, and what could be found out
// all the same.
func (s *pdfSums) tellFonts(note func(Note), name string) {
	if n := s.garbled.total(); n > 0 {
		note(Note{Code: "redecoded", Text: msg.Text{
			"%s: %d characters were shown by their %s bytes as Latin letters and were decoded again (%s)",
			"%s：有 %d 个字符的 %s 字节被显示成拉丁字母，已重新解码（%s）",
		}, Args: []any{name, n, s.bytesIn, s.garbled}})
	}
	if n := s.unmapped.total(); n > 0 {
		note(Note{Code: "unmapped_glyphs", Damage: true, Text: msg.Text{
			"%s: %d characters have no meaning in the file's fonts and read as U+FFFD (%s); OCR may help",
			"%s：有 %d 个字符在字体中没有对应文字，读作 U+FFFD（%s）；可尝试 OCR",
		}, Args: []any{name, n, s.unmapped}})
	}
	if n := s.private.total(); n > 0 {
		note(Note{Code: "private_characters", Damage: true, Text: msg.Text{
			"%s: %d characters have a meaning in the file's own fonts only (Unicode's private use; %s); OCR may help",
			"%s：有 %d 个字符只在文件自带字体中有意义（Unicode 私用区；%s）；可尝试 OCR",
		}, Args: []any{name, n, s.private}})
	}
}

// ranges writes 1, 2, 3, 7 as "1–3, 7".
func ranges(n []int) msg.List {
	var parts msg.List
	for i := 0; i < len(n); {
		j := i
		for j+1 < len(n) && n[j+1] == n[j]+1 {
			j++
		}
		if j > i {
			parts = append(parts, fmt.Sprintf("%d–%d", n[i], n[j]))
		} else {
			parts = append(parts, strconv.Itoa(n[i]))
		}
		i = j + 1
	}
	return parts
}
