package format

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/wlynxg/chardet"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// A textEncoding is how the bytes of a text file stand for characters.
type textEncoding struct {
	name string            // as messages show it
	enc  encoding.Encoding // nil: UTF-8
	bom  int               // bytes of a mark at the start that is no text
	said bool              // the user named it
}

// reader gives the bytes of r as UTF-8. Bytes that are no text in the encoding
// become U+FFFD, except for UTF-8 itself, which passes unchanged: see
// [textEncoding.plain].
func (e textEncoding) reader(r io.Reader) io.Reader {
	if e.enc == nil {
		return r
	}
	return e.enc.NewDecoder().Reader(r)
}

// plain reports whether the text is UTF-8 as it stands.
func (e textEncoding) plain() bool { return e.enc == nil }

// CheckEncoding reports whether name is an encoding drydock reads; the empty
// name, which leaves the choice to the bytes, is one.
func CheckEncoding(name string) error {
	if name == "" {
		return nil
	}
	_, err := namedEncoding(name)
	return err
}

// namedEncoding finds an encoding by the names of the WHATWG encoding standard.
// All names of the GB family mean GB18030, which contains the others.
func namedEncoding(name string) (textEncoding, error) {
	n := strings.ToLower(strings.TrimSpace(name))
	switch strings.NewReplacer("-", "", "_", "").Replace(n) {
	case "utf8":
		return textEncoding{name: "UTF-8", said: true}, nil
	case "gb2312", "gbk", "gb18030", "cp936", "euccn":
		return textEncoding{name: "GB18030", enc: simplifiedchinese.GB18030, said: true}, nil
	case "cp950":
		n = "big5"
	case "utf16le":
		n = "utf-16le"
	case "utf16be":
		n = "utf-16be"
	case "utf16":
		return textEncoding{name: "UTF-16", enc: unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), said: true}, nil
	}
	enc, err := htmlindex.Get(n)
	if err != nil || enc == encoding.Replacement {
		return textEncoding{}, fail.New(fail.Usage, msg.Text{"unknown text encoding %q", "未知的文本编码 %q"}, name).
			Hint(msg.Text{"usual ones: utf-8, gb18030, big5, utf-16le, utf-16be, windows-1252", "常用编码：utf-8、gb18030、big5、utf-16le、utf-16be、windows-1252"})
	}
	return textEncoding{name: displayName(enc, name), enc: enc, said: true}, nil
}

func displayName(enc encoding.Encoding, otherwise string) string {
	if n, err := htmlindex.Name(enc); err == nil {
		otherwise = n
	}
	if strings.HasPrefix(otherwise, "windows-") {
		return otherwise
	}
	return strings.ToUpper(otherwise)
}

// How much of a file is looked at: a text that was valid UTF-8 so far is
// believed after enough characters beyond ASCII, any other after a sample.
const (
	sniffBlock   = 64 << 10
	sampleSize   = 256 << 10
	enoughRunes  = 4096
	enoughBytes  = 1 << 20
	scoredSample = 64 << 10
)

// findEncoding decides how the text in r is encoded. It reads as far as it must
// to see characters beyond ASCII. The error is errNoEncoding or one of reading.
func findEncoding(r io.Reader) (textEncoding, error) {
	var s sample
	block := make([]byte, sniffBlock)
	for !s.enough() {
		n, err := io.ReadFull(r, block)
		if s.scanned == 0 {
			if e, ok := byMark(block[:n]); ok {
				return e, nil
			}
			if e, ok := utf16ByZeros(block[:n]); ok {
				return e, nil
			}
		}
		s.add(block[:n])
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			s.end()
			break
		}
		if err != nil {
			return textEncoding{}, err
		}
	}
	return s.decide()
}

// errNoEncoding says that no encoding makes sense of the bytes.
var errNoEncoding = errors.New("unknown text encoding")

// byMark reads a byte order mark.
func byMark(b []byte) (textEncoding, bool) {
	for _, m := range []struct {
		mark string
		e    textEncoding
	}{
		{"\xEF\xBB\xBF", textEncoding{name: "UTF-8"}},
		{"\xFF\xFE\x00\x00", textEncoding{name: "UTF-32LE", enc: utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)}},
		{"\x00\x00\xFE\xFF", textEncoding{name: "UTF-32BE", enc: utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)}},
		{"\xFF\xFE", textEncoding{name: "UTF-16LE", enc: unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)}},
		{"\xFE\xFF", textEncoding{name: "UTF-16BE", enc: unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)}},
		{"\x84\x31\x95\x33", textEncoding{name: "GB18030", enc: simplifiedchinese.GB18030}},
	} {
		if bytes.HasPrefix(b, []byte(m.mark)) {
			m.e.bom = len(m.mark)
			return m.e, true
		}
	}
	return textEncoding{}, false
}

// A sample is what was seen of a file without a mark.
type sample struct {
	scanned int    // bytes
	runes   int    // valid UTF-8 sequences beyond ASCII
	bad     int    // bytes that are no UTF-8
	tail    []byte // the start of a sequence that the next block may complete
	text    []byte // from the first block with a byte beyond ASCII
}

func (s *sample) enough() bool {
	return s.scanned >= enoughBytes && s.runes >= enoughRunes && s.bad == 0 ||
		s.bad > 0 && len(s.text) >= sampleSize
}

func (s *sample) add(block []byte) {
	s.scanned += len(block)
	if len(s.text) > 0 || !isASCII(block) {
		s.text = append(s.text, block[:min(len(block), max(0, sampleSize-len(s.text)))]...)
	}
	b := append(s.tail, block...)
	for len(b) > 0 {
		if b[0] < utf8.RuneSelf {
			b = b[1:]
			continue
		}
		if !utf8.FullRune(b) {
			break
		}
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			s.bad++
		} else {
			s.runes++
		}
		b = b[n:]
	}
	s.tail = bytes.Clone(b)
}

// end counts a sequence the file's end tore apart as one bad byte, and only
// when there is nothing else to judge by.
func (s *sample) end() {
	if len(s.tail) > 0 && s.runes == 0 {
		s.bad++
	}
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// decide chooses among UTF-8, GB18030, Big5, windows-1252, UTF-16 without a
// mark and what chardet knows: by validity first, then by how common the decoded
// characters are.
func (s *sample) decide() (textEncoding, error) {
	// a GB18030 text has hardly any valid sequence, a damaged UTF-8 text has
	// many more than bad bytes
	if s.bad == 0 || s.runes > 4*s.bad {
		return textEncoding{name: "UTF-8"}, nil
	}
	text := s.text[:min(len(s.text), scoredSample)]
	common := commonSet()
	gb := score(text, simplifiedchinese.GB18030, gbLevel1, common)
	big5 := score(text, traditionalchinese.Big5, big5Level1, common)
	// right decodings score 1.3 and more; in the few characters of a title they
	// may go down to 0.7, where Korean read as Chinese ends
	const good, sure = 0.6, 1.1
	best := textEncoding{name: "GB18030", enc: simplifiedchinese.GB18030}
	if big5 > gb {
		best = textEncoding{name: "BIG5", enc: traditionalchinese.Big5}
	}
	switch top := max(gb, big5); {
	case top >= sure:
		return best, nil
	case top >= good:
		if e, err := byChardet(text); err == nil {
			return e, nil
		}
		return best, nil
	case looksWestern(text):
		return textEncoding{name: "windows-1252", enc: charmap.Windows1252}, nil
	}
	if e, ok := utf16ByText(text, common); ok {
		return e, nil
	}
	return byChardet(text)
}

// byChardet asks the statistical detector, whose names for the GB family are
// too narrow, and only believes it when it is sure.
func byChardet(text []byte) (textEncoding, error) {
	const sure = 0.9
	found := chardet.Detect(text)
	if found.Confidence < sure || found.Encoding == "" {
		return textEncoding{}, errNoEncoding
	}
	e, err := namedEncoding(found.Encoding)
	if err != nil || e.plain() {
		return textEncoding{}, errNoEncoding
	}
	e.said = false
	return e, nil
}

// looksWestern reports whether bytes beyond ASCII stand alone among ASCII, as
// accents and typographic quotes do in Latin script. In Chinese encodings they
// come in runs.
func looksWestern(b []byte) bool {
	high, alone := 0, 0
	for i, c := range b {
		switch {
		case c < 0x80:
			continue
		case c == 0x81 || c == 0x8D || c == 0x8F || c == 0x90 || c == 0x9D:
			return false // not in windows-1252
		case (i == 0 || b[i-1] < 0x80) && (i+1 == len(b) || b[i+1] < 0x80):
			alone++
		}
		high++
	}
	return alone*10 >= high*9 && high*2 <= len(b)
}

// A lead and trail byte of the characters that a national standard lists first
// because they are the common ones.
func gbLevel1(lead, trail byte) bool { return lead >= 0xB0 && lead <= 0xD7 && trail >= 0xA1 }
func big5Level1(lead, _ byte) bool   { return lead >= 0xA4 && lead <= 0xC6 }

// score says how much text makes sense in an encoding: about 2 per character
// for ordinary Chinese, below 0 for a wrong decoding.
func score(text []byte, enc encoding.Encoding, level1 func(lead, trail byte) bool, common map[rune]bool) float64 {
	sum, n := 0.0, 0
	for i := 0; i+1 < len(text); i++ {
		if text[i] < 0x81 {
			continue
		}
		if level1(text[i], text[i+1]) {
			sum += 0.5
		}
		i++
	}
	// an error of the decoder is impossible: bad bytes become U+FFFD
	decoded, _ := enc.NewDecoder().Bytes(text)
	for len(decoded) > 0 {
		r, size := utf8.DecodeRune(decoded)
		decoded = decoded[size:]
		if r < utf8.RuneSelf {
			continue
		}
		n++
		switch {
		case r == utf8.RuneError && len(decoded) == 0:
			n-- // cut by the end of the sample
		case r == utf8.RuneError, r >= 0xE000 && r < 0xF900:
			sum -= 4
		case common[r]:
			sum += 2
		case r >= 0x3000 && r < 0x3020, r >= 0xFF00 && r < 0xFF60, r >= 0x2010 && r < 0x2030, r >= 0x2460 && r < 0x2470, r == '·':
			sum++
		case r >= 0x4E00 && r < 0xA000:
			sum -= 0.5
		default:
			sum--
		}
	}
	if n == 0 {
		return -1
	}
	return sum / float64(n)
}
