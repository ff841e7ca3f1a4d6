package submission

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"github.com/klauspost/compress/zlib"
)

// pdfHasText says whether the pages of a PDF show text and are not just
// pictures of it. It looks for the operators that show glyphs and decodes none
// of them. unknown: there were streams it cannot unpack, so that a no means
// nothing. The error is for what does not open at all.
func pdfHasText(data []byte) (text, unknown bool, err error) {
	head := data[:min(len(data), 1024)]
	i := bytes.Index(head, []byte("%PDF-"))
	if i < 0 {
		return false, false, errors.New("no %PDF header")
	}
	tail := data[max(0, len(data)-2048):]
	if !bytes.Contains(tail, []byte("startxref")) || !bytes.Contains(tail, []byte("%%EOF")) {
		return false, false, errors.New("the end is missing (no startxref): the file is cut short")
	}
	if isEncrypted(data) {
		return false, true, nil // it may open without a password all the same
	}
	budget := int64(maxInflate)
	for {
		i := bytes.Index(data, []byte("stream"))
		if i < 0 || budget <= 0 {
			unknown = unknown || budget <= 0
			return text, unknown, nil
		}
		dict, body := data[max(0, i-1024):i], data[i+len("stream"):]
		if o := bytes.LastIndex(dict, []byte(" obj")); o >= 0 {
			dict = dict[o:]
		}
		if end := bytes.Index(body, []byte("endstream")); end >= 0 {
			data, body = body[end+len("endstream"):], body[:end]
		} else {
			data = nil
		}
		shows, known := streamShowsText(dict, body, &budget)
		if shows {
			return true, unknown, nil
		}
		unknown = unknown || !known
	}
}

// isEncrypted looks for the entry of the trailer; /EncryptMetadata is another.
func isEncrypted(data []byte) bool {
	const key = "/Encrypt"
	for rest := data; ; {
		i := bytes.Index(rest, []byte(key))
		if i < 0 || i+len(key) >= len(rest) {
			return false
		}
		rest = rest[i+len(key):]
		if c := rest[0]; c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '<' {
			return true
		}
	}
}

// maxInflate bounds what one report may unpack to before the search ends.
const maxInflate = 1 << 30

// streamShowsText looks into one stream by the filters its dictionary names, and
// takes what it unpacked from the budget.
func streamShowsText(dict, body []byte, budget *int64) (shows, known bool) {
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return bytes.Contains(dict, []byte(n)) })
	}
	switch {
	case has("/Subtype/Image", "/Subtype /Image", "/DCTDecode", "/JPXDecode", "/CCITTFaxDecode", "/JBIG2Decode", "/XRef", "/ObjStm", "/Metadata", "/FontFile", "/Length1"):
		return false, true
	case has("/LZWDecode", "/ASCII85Decode", "/ASCIIHexDecode", "/RunLengthDecode", "/Crypt"):
		return false, false
	}
	// the line end after the keyword is CR LF or LF
	body = bytes.TrimPrefix(bytes.TrimPrefix(body, []byte("\r")), []byte("\n"))
	if has("/FlateDecode", "/Fl") {
		r, err := zlib.NewReader(bytes.NewReader(body))
		if err != nil {
			return false, false
		}
		defer r.Close()
		body, _ = io.ReadAll(io.LimitReader(r, 8<<20)) // a page that breaks off may still show text
		*budget -= int64(len(body))
	}
	return showsText(body), true
}

// showsText reports whether a page's program shows a string: a string or array
// followed by Tj or TJ, between BT and ET.
func showsText(page []byte) bool {
	i := bytes.Index(page, []byte("BT"))
	if i < 0 {
		return false
	}
	for rest := page[i:]; ; {
		j := bytes.IndexByte(rest, 'T')
		if j < 0 || j+1 >= len(rest) {
			return false
		}
		if c := rest[j+1]; c == 'j' || c == 'J' {
			before := bytes.TrimRight(rest[:j], " \t\r\n")
			if n := len(before); n > 0 && (before[n-1] == ')' || before[n-1] == '>' || before[n-1] == ']') {
				return true
			}
		}
		rest = rest[j+1:]
	}
}
