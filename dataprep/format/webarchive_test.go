package format_test

import (
	"bytes"
	"encoding/base64"
	"mime/quotedprintable"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dataprep/format/formattest"
)

// webArchive is a page in UTF-8 with a picture, as a browser saves them.
func webArchive(page string) []byte {
	var b bytes.Buffer
	b.WriteString("From: <Saved by a browser>\r\nSnapshot-Content-Location: http://127.0.0.1/q\r\nMIME-Version: 1.0\r\n" +
		"Content-Type: multipart/related;\r\n\ttype=\"text/html\";\r\n\tboundary=\"--x\"\r\n\r\n" +
		"----x\r\nContent-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n")
	w := quotedprintable.NewWriter(&b)
	_, _ = w.Write([]byte(page))
	_ = w.Close()
	b.WriteString("\r\n----x\r\nContent-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\n" +
		base64.StdEncoding.EncodeToString([]byte("png")) + "\r\n----x--\r\n")
	return b.Bytes()
}

func TestWebArchive(t *testing.T) {
	t.Parallel()
	page := "<html><body><p>1．雾航时应鸣放（ ）</p><p>A．一长声 <img src=\"cid:a.png\"></p></body></html>"
	want := []string{"para1|1．雾航时应鸣放（ ）", "para2|A．一长声{cid:a.png}"}
	single := "MIME-Version: 1.0\nContent-Type: text/html; charset=\"utf-8\"\nContent-Transfer-Encoding: base64\n\n" + base64.StdEncoding.EncodeToString([]byte(page))
	for _, b := range map[string][]byte{"parts": webArchive(page), "one": []byte(single), "mark": append([]byte("\xEF\xBB\xBF\r\n"), webArchive(page)...)} {
		r := readAll(t, fileOf(t, "a.mht", b))
		compare(t, want, shown(r))
		compare(t, nil, codes(r))
		r, _ = formattest.Read(t.Context(), fileOf(t, "a.doc", b), format.Options{})
		compare(t, []string{"wrong_extension"}, codes(r))
	}
	failsWith(t, fileOf(t, "n.mht", []byte(strings.Replace(string(webArchive(page)), "text/html; charset", "text/css; charset", 1))), format.Options{}, "holds no web page")
	torn := webArchive(strings.Replace(page, "</p></body></html>", strings.Repeat("雾", 500), 1))
	r, _ := formattest.Read(t.Context(), fileOf(t, "t.mht", torn[:len(torn)/2]), format.Options{})
	if len(r.Blocks) == 0 || len(codes(r)) == 0 {
		t.Errorf("a torn archive gave %q and notes %v, %v", shown(r), codes(r), r.Err)
	}
	formattest.Run(t, named(t, "html"), fileOf(t, "c.mhtml", webArchive(page)))
}
