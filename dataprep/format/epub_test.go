package format_test

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/encoding/simplifiedchinese"
	xunicode "golang.org/x/text/encoding/unicode"

	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dataprep/format/formattest"
	"github.com/drydock-ml/drydock/internal/golden"
	"github.com/drydock-ml/drydock/internal/meter"
)

// A part is one entry of an archive made by a test.
type part struct{ name, body string }

// storedZip packs parts as they are, in order, as the standards of EPUB and ODT
// want their first entry.
func storedZip(t testing.TB, parts ...part) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i, p := range parts {
		h := &zip.FileHeader{Name: p.name, Method: zip.Deflate}
		if i == 0 {
			h.Method = zip.Store
		}
		w, err := z.CreateHeader(h)
		ok(t, err)
		_, err = w.Write([]byte(p.body))
		ok(t, err)
	}
	ok(t, z.Close())
	return b.Bytes()
}

const (
	epubContainer = `<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="OPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>`
	epubOPF       = `<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0"><manifest>
<item id="b" href="two.xhtml" media-type="application/xhtml+xml"/><item id="a" href="text/one%201.xhtml" media-type="application/xhtml+xml"/>
<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/><item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>
</manifest><spine toc="ncx"><itemref idref="nav"/><itemref idref="a"/><itemref idref="b" linear="no"/></spine></package>`
	epubNav = `<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><body><nav epub:type="toc"><h1>目录</h1><ol>
<li><a href="text/one%201.xhtml">第一章 总则</a><ol><li><a href="text/one%201.xhtml#s">瞭望</a></li></ol></li><li><a href="two.xhtml">第二章</a></li></ol></nav></body></html>`
	epubOne = `<?xml version="1.0" encoding="UTF-8"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script src="x.js"/></head><body>
<p class="t">第一章 总则</p><p><a id="x"/>每一船舶应</p><div id="s">瞭　望</div><ol><li>保持<b>正规</b>瞭望</li></ol><p>瞭　望</p></body></html>`
	epubTwo = `<html xmlns="http://www.w3.org/1999/xhtml"><body><h2>第二章</h2><table><tr><td>号灯</td><td>红</td></tr></table></body></html>`
)

// book packs an e-book; more replaces parts, or adds them.
func book(t testing.TB, more ...part) []byte {
	t.Helper()
	parts := []part{
		{"mimetype", "application/epub+zip"},
		{"META-INF/container.xml", epubContainer},
		{"OPS/book.opf", epubOPF},
		{"OPS/nav.xhtml", epubNav},
		{"OPS/text/one 1.xhtml", epubOne},
		{"OPS/two.xhtml", epubTwo},
	}
next:
	for _, m := range more {
		for i := range parts {
			if parts[i].name == m.name {
				parts[i].body = m.body
				continue next
			}
		}
		parts = append(parts, m)
	}
	return storedZip(t, parts...)
}

func TestEPUBText(t *testing.T) {
	t.Parallel()
	r := readAll(t, fileOf(t, "b.epub", book(t)))
	compare(t, []string{
		"part:OPS/nav.xhtml r1|第一章 总则",
		"part:OPS/nav.xhtml r2|瞭望",
		"part:OPS/nav.xhtml r3|第二章",
		"part:OPS/text/one%201.xhtml para1|h1|第一章 总则",
		"part:OPS/text/one%201.xhtml para2|每一船舶应",
		"part:OPS/text/one%201.xhtml para3|h2|瞭　望",
		"part:OPS/text/one%201.xhtml para4|1. 保持正规瞭望",
		"part:OPS/text/one%201.xhtml para5|瞭　望",
		"part:OPS/two.xhtml para1|h2|第二章",
		"part:OPS/two.xhtml para2|[号灯|红]",
	}, shown(r))
	compare(t, nil, codes(r))
}

func TestEPUBContract(t *testing.T) {
	t.Parallel()
	formattest.Run(t, named(t, "epub"), fileOf(t, "b.epub", book(t)))
}

// TestEPUBInFolder reads a book that was packed with its folder.
func TestEPUBInFolder(t *testing.T) {
	t.Parallel()
	b := storedZip(t, part{"Book/mimetype", "application/epub+zip"}, part{"Book/META-INF/container.xml", epubContainer},
		part{"Book/OPS/book.opf", epubOPF}, part{"Book/OPS/nav.xhtml", epubNav}, part{"Book/OPS/text/one 1.xhtml", epubOne}, part{"Book/OPS/two.xhtml", epubTwo})
	if r := readAll(t, fileOf(t, "b.epub", b)); len(r.Blocks) != 10 || r.Blocks[3].At.Part != "Book/OPS/text/one 1.xhtml" || r.Blocks[3].Level != 1 {
		t.Errorf("%q", shown(r))
	}
}

// TestEPUB2Contents reads the table of an older book, whose chapters are GBK
// and UTF-16.
func TestEPUB2Contents(t *testing.T) {
	t.Parallel()
	gbk, err := simplifiedchinese.GB18030.NewEncoder().String(`<?xml version="1.0" encoding="gbk"?><html><body><p>总则</p><p>船舶应当</p></body></html>`)
	ok(t, err)
	wide, err := xunicode.UTF16(xunicode.BigEndian, xunicode.UseBOM).NewEncoder().String(`<?xml version="1.0" encoding="UTF-16"?><html><body><p>号灯</p></body></html>`)
	ok(t, err)
	b := book(t,
		part{"OPS/book.opf", strings.ReplaceAll(epubOPF, ` properties="nav"`, "")},
		part{"OPS/nav.xhtml", "<html><body></body></html>"},
		part{"OPS/text/one 1.xhtml", gbk},
		part{"OPS/two.xhtml", wide},
		part{"OPS/toc.ncx", `<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><docTitle><text>书</text></docTitle><navMap><navPoint><navLabel><text>总则</text></navLabel><content src="text/one%201.xhtml"/><navPoint><navLabel><text>号灯</text></navLabel><content src="two.xhtml#a"/></navPoint></navPoint></navMap></ncx>`},
	)
	compare(t, []string{
		"part:OPS/toc.ncx r1|总则",
		"part:OPS/toc.ncx r2|号灯",
		"part:OPS/text/one%201.xhtml para1|h1|总则",
		"part:OPS/text/one%201.xhtml para2|船舶应当",
		"part:OPS/two.xhtml para1|h2|号灯",
	}, shown(readAll(t, fileOf(t, "old.epub", b))))
}

func TestEPUBRefused(t *testing.T) {
	t.Parallel()
	lock := func(uri string) part {
		return part{"META-INF/encryption.xml", `<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData><enc:CipherData><enc:CipherReference URI="` + uri + `"/></enc:CipherData></enc:EncryptedData></encryption>`}
	}
	for _, c := range []struct {
		name  string
		parts []part
		want  string
	}{
		{"adobe", []part{lock("OPS/two.xhtml"), {"META-INF/rights.xml", "<rights/>"}}, "protected against copying (Adobe ADEPT): OPS/two.xhtml"},
		{"lcp", []part{lock("OPS/text/one%201.xhtml"), {"META-INF/license.lcpl", "{}"}}, "Readium LCP"},
		{"unknown", []part{lock("OPS/two.xhtml")}, "protected against copying (encryption.xml)"},
		{"no chapters", []part{{"OPS/book.opf", "<package><spine/></package>"}}, "names no chapters"},
		{"no book", []part{{"META-INF/container.xml", "<container/>"}}, "names no book"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			failsWith(t, fileOf(t, "r.epub", book(t, c.parts...)), format.Options{}, c.want)
		})
	}
	// fonts may be obfuscated
	readAll(t, fileOf(t, "f.epub", book(t, lock("OPS/font.otf"))))
}

// TestEPUBBadChapter drops a chapter that is not there and reads the others.
func TestEPUBBadChapter(t *testing.T) {
	t.Parallel()
	opf := strings.Replace(epubOPF, "two.xhtml", "gone.xhtml", 1)
	r, _ := formattest.Read(t.Context(), fileOf(t, "g.epub", book(t, part{"OPS/book.opf", opf})), format.Options{})
	if r.Err != nil || len(r.Drops) != 1 || r.Drops[0].Reason != "part_unreadable" || r.Drops[0].Record.Origin.At.Part != "OPS/gone.xhtml" {
		t.Errorf("error %v, drops %v", r.Err, r.Drops)
	}
	if len(r.Blocks) != 8 {
		t.Errorf("%d blocks of the other chapter, want 8", len(r.Blocks))
	}
}

// TestManualsAgree reads one manual as EPUB, HTML and PDF.
func TestManualsAgree(t *testing.T) {
	t.Parallel()
	read := func(ext string) []rune {
		r, _ := formattest.Read(t.Context(), golden.RealData(t, "debian-docs-zh", "debian-edu-bullseye-manual"+ext), pdfOptions())
		ok(t, r.Err)
		return hanOf(r)
	}
	epub, page, pdf := read(".epub"), read(".html"), read(".pdf")
	for _, c := range []struct {
		name string
		a, b []rune
	}{{"EPUB and HTML", epub, page}, {"EPUB and PDF", epub, pdf}, {"HTML and PDF", page, pdf}} {
		common := commonLength(c.a, c.b)
		share := float64(common) / float64(max(len(c.a), len(c.b)))
		t.Logf("%s: %d and %d Han characters, %.4f in common order", c.name, len(c.a), len(c.b), share)
		if share < 0.993 {
			t.Errorf("%s: %.4f in common order, want 0.993", c.name, share)
		}
	}
}

// hanOf is every Han character of a file in order.
func hanOf(r formattest.Result) []rune {
	var out []rune
	for _, b := range r.Blocks {
		for _, c := range formattest.Text(b) {
			if unicode.Is(unicode.Han, c) {
				out = append(out, c)
			}
		}
	}
	return out
}

// commonLength is the length of the longest common subsequence, by Myers'
// O(ND) method.
func commonLength(a, b []rune) int {
	n, m := len(a), len(b)
	far := make([]int, 2*(n+m)+2)
	mid := n + m
	for d := 0; d <= n+m; d++ {
		for k := -d; k <= d; k += 2 {
			x := 0
			if k == -d || k != d && far[mid+k-1] < far[mid+k+1] {
				x = far[mid+k+1]
			} else {
				x = far[mid+k-1] + 1
			}
			for x < n && x-k < m && a[x] == b[x-k] {
				x++
			}
			if far[mid+k] = x; x >= n && x-k >= m {
				return (n + m - d) / 2
			}
		}
	}
	return 0
}

func FuzzEPUB(f *testing.F) {
	f.Add([]byte(epubOPF), []byte(epubNav), []byte(epubOne))
	f.Add([]byte("<package><manifest><item id='a' href='two.xhtml'/></manifest><spine><itemref idref='a'/></spine></package>"), []byte("<nav epub:type=toc>"), []byte("<p/></a/>"))
	f.Fuzz(func(t *testing.T, opf, nav, page []byte) {
		b := book(t, part{"OPS/book.opf", string(opf)}, part{"OPS/nav.xhtml", string(nav)}, part{"OPS/two.xhtml", string(page)}, part{"OPS/toc.ncx", string(nav)})
		r, _ := formattest.Read(t.Context(), fileOf(t, "f.epub", b), format.Options{})
		checkFuzzed(t, r)
	})
}

func BenchmarkEPUB(b *testing.B) {
	chapter := "<html><body>" + strings.Repeat("<p>船舶在能见度不良的水域中航行时，应以<b>安全航速</b>行驶。</p>", 5000) + "</body></html>"
	path := filepath.Join(b.TempDir(), "b.epub")
	if err := os.WriteFile(path, book(b, part{"OPS/two.xhtml", chapter}), 0o644); err != nil {
		b.Fatal(err)
	}
	defer meter.CPU(b, len(chapter))()
	for b.Loop() {
		if r, _ := formattest.Read(b.Context(), path, format.Options{}); len(r.Blocks) != 5008 || r.Err != nil {
			b.Fatal(len(r.Blocks), r.Err)
		}
	}
}
