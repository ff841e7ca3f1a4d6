package format

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/msg"
)

// maxHTML is the largest page read; a page is held whole.
const maxHTML = 256 << 20

// htmlFormat reads web pages as a reader sees them. Each paragraph, heading
// (Level), list item (its number or letter restored) and table row (Cells) is a
// block; line breaks part blocks. At.Para counts them. Scripts and styles are no
// text. What stands around the content (menus, side columns, lists of links,
// comments) is left out and counted, unless Options.WholePage asks for it; what
// looks like an exam never is. Buttons to choose by get their letters, formulas
// come as LaTeX.
func htmlFormat() Format {
	return Format{
		Name:    "html",
		Exts:    []string{".html", ".htm", ".xhtml", ".mht", ".mhtml"},
		Summary: msg.Text{"web pages", "网页"},
		Sniff:   sniffHTML,
		Read:    readHTML,
	}
}

// sniffHTML wants the start of a page; a fragment only when it is named so.
func sniffHTML(head []byte, name string) bool {
	if isWebArchive(head, name) {
		return true
	}
	if !looksText(head) {
		return false
	}
	b := bytes.ToLower(bytes.TrimSpace(decodeHead(head)))
	for bytes.HasPrefix(b, []byte("<!--")) || bytes.HasPrefix(b, []byte("<?xml")) {
		_, rest, ok := bytes.Cut(b, []byte(">"))
		if !ok {
			break
		}
		b = bytes.TrimSpace(rest)
	}
	for _, p := range []string{"<!doctype html", "<html", "<head", "<body"} {
		if bytes.HasPrefix(b, []byte(p)) {
			return true
		}
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".html", ".htm", ".xhtml":
		return len(b) > 0 && b[0] != '{' && bytes.IndexByte(b, '<') >= 0
	}
	return false
}

func readHTML(ctx context.Context, u Unit, note func(Note)) iter.Seq2[drydock.Block, error] {
	return func(yield func(drydock.Block, error) bool) {
		if u.File.Size > maxHTML {
			yield(drydock.Block{}, unreadable(u.File, msg.Text{"the page is larger than %d MiB", "网页超过 %d MiB"}, maxHTML>>20).
				Hint(msg.Text{"split it into several files", "请拆成多个文件"}))
			return
		}
		clean, damage, err := htmlText(u, note)
		if err != nil {
			yield(drydock.Block{}, err)
			return
		}
		root, err := html.Parse(strings.NewReader(clean))
		if err != nil {
			yield(drydock.Block{}, unreadable(u.File, msg.Text{"the page cannot be parsed: %v", "无法解析网页：%v"}, err))
			return
		}
		w := &htmlWalk{ctx: ctx, file: u.File, yield: yield, left: map[string]int{}, whole: u.File.Options.WholePage, sheet: sheetBeside(u.File.Path)}
		if err := w.page(root); err != nil {
			if err != errStop {
				yield(drydock.Block{}, err)
			}
			return
		}
		damage.tell(u.File, note)
		w.tell(note, clean)
	}
}

// sheetBeside opens style sheets that lie in the folder of a page or below it.
func sheetBeside(page string) func(href string) string {
	return func(href string) string {
		name := filepath.FromSlash(sheetPath("x", href))
		if name == "" || !filepath.IsLocal(name) {
			return ""
		}
		root, err := os.OpenRoot(filepath.Dir(page))
		if err != nil {
			return ""
		}
		defer root.Close()
		f, err := root.Open(name)
		if err != nil {
			return ""
		}
		defer f.Close()
		return styleText(f)
	}
}

// styleText reads a style sheet; one that is too long or cannot be read says nothing.
func styleText(r io.Reader) string {
	b, err := io.ReadAll(io.LimitReader(r, maxSheet+1))
	if err != nil || len(b) > maxSheet {
		return ""
	}
	return string(b)
}

// htmlText reads the page of a file, or of a web archive.
func htmlText(u Unit, note func(Note)) (string, *damaged, error) {
	head, _, err := readHead(u.File.Path)
	if err != nil {
		return "", nil, cannotOpen(u.File, err)
	}
	if !isWebArchive(head, u.File.Path) {
		r, err := openHTML(u, note)
		if err != nil {
			return "", nil, err
		}
		defer r.Close()
		text, err := io.ReadAll(r)
		if err != nil {
			return "", nil, cannotOpen(u.File, err)
		}
		damage := &damaged{encoding: r.encoding}
		return damage.mend(text, 1), damage, nil
	}
	f, err := os.Open(u.File.Path)
	if err != nil {
		return "", nil, cannotOpen(u.File, err)
	}
	defer f.Close()
	page, label, err := webArchivePage(bufio.NewReader(f))
	if err != nil {
		return "", nil, unreadable(u.File, msg.Text{"the web archive cannot be read: %v", "无法读取网页存档：%v"}, err).
			Hint(msg.Text{"open it in a browser and save it as HTML", "请用浏览器打开后另存为 HTML"})
	}
	if named := u.File.Options.Encoding; named != "" {
		label = named
	}
	text, damage, err := pageText(page, label)
	if err != nil {
		return "", nil, cannotOpen(u.File, err)
	}
	return text, damage, nil
}

// openHTML opens the page in the encoding the user named, else by its mark,
// else as UTF-8 when it is that, else as the page declares, else as it looks.
func openHTML(u Unit, note func(Note)) (*textReader, error) {
	if u.File.Options.Encoding == "" {
		if name := declaredEncoding(u); name != "" {
			file := *u.File
			file.Options.Encoding = name
			u.File = &file
		}
	}
	return openText(u, note)
}

// declaredEncoding is what the page says of itself, when its bytes do not say
// otherwise: pages declare gb2312 and mean GB18030, or declare it and are UTF-8.
func declaredEncoding(u Unit) string {
	probe, err := openText(u, func(Note) {})
	found := ""
	if err == nil {
		found = probe.encoding.name
		probe.Close()
		if probe.encoding.plain() || probe.encoding.bom > 0 || strings.HasPrefix(found, "UTF-") {
			return ""
		}
	}
	plain := *u.File
	plain.Options.Encoding = "utf-8" // the bytes as they are
	raw, err := openText(Unit{File: &plain, End: u.End}, func(Note) {})
	if err != nil {
		return ""
	}
	defer raw.Close()
	head, _ := io.ReadAll(io.LimitReader(raw, 4096))
	_, name, sure := charset.DetermineEncoding(head, "")
	declared := bytes.Contains(bytes.ToLower(head), []byte("charset")) || bytes.Contains(bytes.ToLower(head), []byte("encoding="))
	if !declared || !sure && name == "windows-1252" || CheckEncoding(name) != nil || strings.HasPrefix(name, "utf-") {
		return ""
	}
	return name
}

// pageText decodes a page held in memory: by its mark, as UTF-8 when it is that,
// else as label or the page itself says.
func pageText(body []byte, label string) (string, *damaged, error) {
	enc, err := findEncoding(bytes.NewReader(body))
	if err != nil {
		enc = textEncoding{name: "UTF-8"}
	}
	if label == "" {
		label = declaredIn(body)
	}
	if label != "" && !enc.plain() && enc.bom == 0 {
		if said, err := namedEncoding(label); err == nil && !said.plain() {
			enc = said
		}
	}
	text, err := io.ReadAll(enc.reader(bytes.NewReader(body[enc.bom:])))
	if err != nil {
		return "", nil, err
	}
	damage := &damaged{encoding: enc}
	return damage.mend(text, 1), damage, nil
}
