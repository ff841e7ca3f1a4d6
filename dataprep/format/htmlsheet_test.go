package format_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/dataprep/format/formattest"
)

const styledPage = `<!DOCTYPE html><html><head>%HEAD%</head><body class="page">
<p>1. 右舷灯为</p><ul class="options">
<li class="opt">A. 红</li><li class="opt yes">B. 绿</li></ul>
<p>2. 左舷灯为</p><div class="q"><p><span class="mark">A. 红</span></p><p><span>B. 绿</span></p></div>
<p>3. 尾灯为</p><p><span id="chosen">A. 白</span></p><p><span class="mark off">B. 红</span></p>
<p class="row odd">4. 锚灯为</p></body></html>`

const styles = `/* .opt{color:red} */ @media print { .opt { color: red } }
body, .opt, .page p { color: #333 } li { color: red }
.opt.yes { color: rgb(200, 0, 0) } div.q > p > .mark { background: #ff0 none } #chosen { font-weight: 700 }
ul .mark, .mark:hover, .mark + span { text-decoration: underline } .odd { background-color: white }`

// spansOf writes the looks of each block that has some.
func spansOf(r formattest.Result) (out []string) {
	for _, b := range r.Blocks {
		for _, s := range b.Spans {
			if s.Value != "000000" {
				out = append(out, b.Text[s.Start:s.End]+" "+string('0'+rune(s.Kind))+s.Value)
			}
		}
	}
	return out
}

// The looks that classes and ids give text are read from the page, from sheets
// beside it and from those of a book.
func TestStyleSheets(t *testing.T) {
	t.Parallel()
	want := []string{"B. 绿 2C80000", "A. 红 2FFFF00", "A. 白 1"}
	page := func(head string) string { return strings.Replace(styledPage, "%HEAD%", head, 1) }
	compare(t, want, spansOf(readAll(t, fileOf(t, "in.html", []byte(page("<style>"+styles+"</style>"))))))

	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		ok(t, os.MkdirAll(filepath.Dir(name), 0o755))
		ok(t, os.WriteFile(name, []byte(text), 0o600))
		return name
	}
	write("page_files/a b.css", styles)
	write("out.css", "p { } .opt { color: red }")
	for link, want := range map[string][]string{
		`<link rel="stylesheet" href="page_files/a%20b.css?v=1">`:               want,
		`<link rel="alternate stylesheet" href="page_files/a%20b.css">`:         nil,
		`<link rel="stylesheet" href="../` + filepath.Base(dir) + `/out.css">`:  nil,
		`<link rel="stylesheet" href="https://example.org/page_files/a b.css">`: nil,
		`<link rel="stylesheet" href="gone.css">`:                               nil,
		`<link rel="stylesheet" href="/out.css">`:                               nil,
		`<link rel="stylesheet" href="page_files">`:                             nil,
	} {
		name := write("sub.html", page(link))
		compare(t, want, spansOf(readAll(t, name)))
	}

	one := page(`<link rel="stylesheet" type="text/css" href="../css/a.css"/>`)
	b := book(t, part{"OPS/text/one 1.xhtml", one}, part{"OPS/css/a.css", styles})
	compare(t, want, spansOf(readAll(t, fileOf(t, "b.epub", b))))
}

// A sheet of many rules for one class, or many elements around, is looked through
// a bounded number of times.
func TestHostileStyleSheets(t *testing.T) {
	t.Parallel()
	var s strings.Builder
	s.WriteString("<html><style>")
	for range 30_000 {
		s.WriteString(".a .b .c .d .x{color:red}")
	}
	s.WriteString("</style>" + strings.Repeat(`<div class="a">`, 200) + strings.Repeat(`<p><b class="x">文</b></p>`, 2000))
	if r := readAll(t, fileOf(t, "h.html", []byte(s.String()))); len(r.Blocks) != 2000 {
		t.Errorf("%d blocks", len(r.Blocks))
	}
}
