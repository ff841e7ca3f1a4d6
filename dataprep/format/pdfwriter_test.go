package format_test

import (
	"bytes"
	"crypto/md5"
	"crypto/rc4"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf16"
)

// A pdfFile writes small PDF files: Latin text in Helvetica, Chinese in
// a font that is not embedded, pictures, rotation, and the standard security
// handler's oldest form.
type pdfFile struct {
	pages     []pdfContent
	user      string // password to open it
	owner     string // password that lifts the restrictions
	encrypted bool
	forbid    bool // copying text
}

type pdfContent struct {
	stream string
	rotate int
}

// at shows text at a place, points from the lower left corner.
func at(x, y, size float64, text string) string {
	return turned(x, y, size, 1, 0, text)
}

// turned shows text along the direction (cos, sin).
func turned(x, y, size, cos, sin float64, text string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "BT %g %g %g %g %g %g Tm ", cos, sin, -sin, cos, x, y)
	for len(text) > 0 {
		latin := strings.IndexFunc(text, func(r rune) bool { return r >= 0x80 })
		switch {
		case latin < 0:
			latin = len(text)
			fallthrough
		case latin > 0:
			s := strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`).Replace(text[:latin])
			fmt.Fprintf(&b, "/F1 %g Tf (%s) Tj ", size, s)
			text = text[latin:]
		default:
			han := strings.IndexFunc(text, func(r rune) bool { return r < 0x80 })
			if han < 0 {
				han = len(text)
			}
			fmt.Fprintf(&b, "/F2 %g Tf <", size)
			for _, u := range utf16.Encode([]rune(text[:han])) {
				fmt.Fprintf(&b, "%04X", u)
			}
			b.WriteString("> Tj ")
			text = text[han:]
		}
	}
	b.WriteString("ET\n")
	return b.String()
}

// lines shows texts one under the other.
func lines(x, y, size, pitch float64, texts ...string) string {
	var b strings.Builder
	for i, t := range texts {
		b.WriteString(at(x, y-float64(i)*pitch, size, t))
	}
	return b.String()
}

// picture fills a rectangle with an image.
func picture(x, y, w, h float64) string {
	return fmt.Sprintf("q %g 0 0 %g %g %g cm /Im Do Q\n", w, h, x, y)
}

// bytes writes the file.
func (f pdfFile) bytes() []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n%\xE2\xE3\xCF\xD3\n")
	var offsets []int
	id := []byte("0123456789abcdef")
	key, encrypt := f.encryption(id)
	obj := func(format string, args ...any) {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n", len(offsets))
		fmt.Fprintf(&b, format, args...)
		b.WriteString("\nendobj\n")
	}
	stream := func(dict, data string) {
		if key != nil {
			data = string(rc4Object(key, len(offsets)+1, []byte(data)))
		}
		obj("<< %s /Length %d >>\nstream\n%s\nendstream", dict, len(data), data)
	}
	const fixed = 7 // objects before the pages
	var kids strings.Builder
	for i := range f.pages {
		fmt.Fprintf(&kids, "%d 0 R ", fixed+1+2*i)
	}
	obj("<< /Type /Catalog /Pages 2 0 R >>")
	obj("<< /Type /Pages /Kids [%s] /Count %d /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R /F2 4 0 R >> /XObject << /Im 7 0 R >> >> >>", kids.String(), len(f.pages))
	obj("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
	obj("<< /Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /UniGB-UCS2-H /DescendantFonts [5 0 R] >>")
	obj("<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light /CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) /Supplement 4 >> /DW 1000 /FontDescriptor 6 0 R >>")
	obj("<< /Type /FontDescriptor /FontName /STSong-Light /Flags 4 /FontBBox [0 -120 1000 880] /ItalicAngle 0 /Ascent 880 /Descent -120 /CapHeight 880 /StemV 90 >>")
	stream("/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8", "\x80")
	for i, p := range f.pages {
		obj("<< /Type /Page /Parent 2 0 R /Rotate %d /Contents %d 0 R >>", p.rotate, fixed+2+2*i)
		stream("", p.stream)
	}
	trailer := ""
	if key != nil {
		trailer = fmt.Sprintf(" /ID [<%x> <%x>] /Encrypt %s", id, id, encrypt)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, o := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R%s >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, trailer, start)
	return b.Bytes()
}

// encryption computes the file key and the encryption dictionary of revision 2
// (ISO 32000-1, 7.6.3).
func (f pdfFile) encryption(id []byte) (key []byte, dict string) {
	if !f.encrypted {
		return nil, ""
	}
	const padding = "\x28\xBF\x4E\x5E\x4E\x75\x8A\x41\x64\x00\x4E\x56\xFF\xFA\x01\x08\x2E\x2E\x00\xB6\xD0\x68\x3E\x80\x2F\x0C\xA9\xFE\x64\x53\x69\x7A"
	pad := func(s string) []byte { return []byte((s + padding)[:32]) }
	permissions := int32(-4)
	if f.forbid {
		permissions = -4 &^ 16
	}
	owner := f.owner
	if owner == "" {
		owner = f.user
	}
	sum := md5.Sum(pad(owner))
	o := crypt(sum[:5], pad(f.user))
	in := append(pad(f.user), o...)
	in = binary.LittleEndian.AppendUint32(in, uint32(permissions))
	sum = md5.Sum(append(in, id...))
	key = sum[:5]
	u := crypt(key, []byte(padding))
	return bytes.Clone(key), fmt.Sprintf("<< /Filter /Standard /V 1 /R 2 /O <%x> /U <%x> /P %d >>", o, u, permissions)
}

func crypt(key, data []byte) []byte {
	c, err := rc4.NewCipher(key)
	if err != nil {
		panic(err)
	}
	out := make([]byte, len(data))
	c.XORKeyStream(out, data)
	return out
}

func rc4Object(key []byte, number int, data []byte) []byte {
	k := append(bytes.Clone(key), byte(number), byte(number>>8), byte(number>>16), 0, 0)
	sum := md5.Sum(k)
	return crypt(sum[:min(len(key)+5, 16)], data)
}
