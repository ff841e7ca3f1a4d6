package format

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"path/filepath"
	"strings"
)

// A web archive (MHT, MHTML; RFC 2557) is a page with its pictures as one MIME
// message, as browsers and Word save it.

// isWebArchive reports a MIME message of several parts, or of one page, by the
// lines it begins with; under the usual name any header will do.
func isWebArchive(head []byte, name string) bool {
	top, _, _ := bytes.Cut(bytes.ReplaceAll(head[:min(len(head), 8<<10)], []byte("\r\n"), []byte("\n")), []byte("\n\n"))
	top = bytes.ToLower(bytes.TrimLeft(bytes.TrimPrefix(top, []byte("\xEF\xBB\xBF")), "\n "))
	first, _, ok := bytes.Cut(top, []byte(":"))
	if !ok || len(first) > 40 || bytes.ContainsAny(first, " <\n") {
		return false
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".mht", ".mhtml":
		return true
	}
	return bytes.Contains(top, []byte("mime-version:")) &&
		(bytes.Contains(top, []byte("multipart/related")) || bytes.Contains(top, []byte("multipart/alternative")) || bytes.Contains(top, []byte("text/html")))
}

// maxArchiveParts and maxArchiveDepth bound what a web archive may hold.
const (
	maxArchiveParts = 10_000
	maxArchiveDepth = 4
)

// errNoPage says that an archive holds no web page.
var errNoPage = errors.New("it holds no web page")

// webArchivePage finds the page of a web archive, the first of several, and the
// name of the encoding its part declares.
func webArchivePage(r io.Reader) (page []byte, charset string, err error) {
	m, err := mail.ReadMessage(&skipMark{r: r})
	if err != nil {
		return nil, "", err
	}
	return archivedPage(m.Header.Get, m.Body, 0)
}

func archivedPage(header func(string) string, body io.Reader, depth int) (page []byte, charset string, err error) {
	media, params, err := mime.ParseMediaType(header("Content-Type"))
	if err != nil && media == "" {
		return nil, "", err
	}
	if media == "text/html" || media == "application/xhtml+xml" {
		page, err = io.ReadAll(io.LimitReader(transferDecoded(header("Content-Transfer-Encoding"), body), maxHTML))
		if len(page) > 0 {
			err = nil // the page says itself that its end is missing
		}
		return page, params["charset"], err
	}
	if !strings.HasPrefix(media, "multipart/") || depth >= maxArchiveDepth {
		return nil, "", errNoPage
	}
	parts := multipart.NewReader(body, params["boundary"])
	for range maxArchiveParts {
		p, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, "", fmt.Errorf("a part of the web archive cannot be read: %w", err)
		}
		page, charset, err = archivedPage(p.Header.Get, p, depth+1)
		if !errors.Is(err, errNoPage) {
			return page, charset, err
		}
	}
	return nil, "", errNoPage
}

// transferDecoded undoes a content transfer encoding.
func transferDecoded(name string, r io.Reader) io.Reader {
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "quoted-printable":
		return quotedprintable.NewReader(r)
	case "base64":
		return base64.NewDecoder(base64.StdEncoding, r)
	}
	return r
}

// skipMark drops a byte order mark and blank lines before the first header.
type skipMark struct {
	r     io.Reader
	begun bool
}

// Read implements io.Reader.
func (s *skipMark) Read(p []byte) (int, error) {
	for {
		n, err := s.r.Read(p)
		if s.begun || n == 0 {
			return n, err
		}
		rest := bytes.TrimLeft(bytes.TrimPrefix(p[:n], []byte("\xEF\xBB\xBF")), "\r\n ")
		if n = copy(p, rest); n > 0 || err != nil {
			s.begun = n > 0
			return n, err
		}
	}
}
