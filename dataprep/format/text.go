package format

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/msg"
)

// textName is the format that takes any text no other format claims.
const textName = "text"

// textFormat reads plain text: a block for each line, blank lines too.
func textFormat() Format {
	return Format{
		Name:    textName,
		Exts:    []string{".txt", ".text"},
		Summary: msg.Text{"plain text: UTF-8, GB18030, Big5, UTF-16 and others", "纯文本：UTF-8、GB18030、Big5、UTF-16 等编码"},
		Sniff: func(head []byte, _ string) bool {
			return !bytes.HasPrefix(head, []byte(`{\rtf`)) && looksText(head)
		},
		Read: func(_ context.Context, u Unit, note func(Note)) iter.Seq2[drydock.Block, error] {
			return textLines(u, note)
		},
	}
}

// maxLine is how long a line may be before it is taken for data that lost its
// line ends; it bounds the memory a file can ask for.
const maxLine = 4 << 20

// textLines decodes a unit and gives a block for each line. A note about the
// encoding comes before the first, notes about damaged characters after the
// last.
func textLines(u Unit, note func(Note)) iter.Seq2[drydock.Block, error] {
	return func(yield func(drydock.Block, error) bool) {
		text, err := openText(u, note)
		if err != nil {
			yield(drydock.Block{}, err)
			return
		}
		defer text.Close()
		lines := newLines(text, maxLine)
		damage := damaged{encoding: text.encoding}
		for n := max(u.Line, 1); lines.next(); n++ {
			b := drydock.Block{Text: damage.mend(lines.line, n), At: drydock.Locator{Line: n}}
			if lines.long {
				detail := fmt.Sprintf("line %d is longer than %d MiB; the file may have lost its line ends", n, maxLine>>20)
				b, err = drydock.Block{}, badBlock(u.File, b.At, "line_too_long", detail, b.Text)
			} else {
				err = nil
			}
			if !yield(b, err) {
				return
			}
		}
		if lines.err != nil {
			yield(drydock.Block{}, cannotOpen(u.File, lines.err))
			return
		}
		damage.tell(u.File, note)
	}
}

// A textReader gives a file's text as UTF-8.
type textReader struct {
	io.Reader
	io.Closer
	encoding textEncoding
}

// openText opens a unit and decodes it in the encoding the user named, else the
// one its file is found to have; a choice other than UTF-8 is noted. Bytes that
// are no text come as U+FFFD, or as they are where the encoding is UTF-8.
func openText(u Unit, note func(Note)) (*textReader, error) {
	f, err := os.Open(u.File.Path)
	if err != nil {
		return nil, cannotOpen(u.File, err)
	}
	e, err := u.File.encoding(f)
	if err == nil {
		start := u.Start
		if start == 0 {
			start = int64(e.bom)
		}
		r := bufio.NewReaderSize(io.NewSectionReader(f, start, max(0, u.End-start)), sniffBlock)
		if !e.plain() && !e.said {
			note(Note{Code: "encoding_chosen", Text: msg.Text{
				"%s: the text is not UTF-8; it is read as %s (--encoding, or encoding: in drydock.yaml, names another)",
				"%s：文本不是 UTF-8，按 %s 读取（可用 --encoding 或 drydock.yaml 中的 encoding: 指定其他编码）",
			}, Args: []any{u.File.name(), e.name}})
		}
		return &textReader{Reader: e.reader(r), Closer: f, encoding: e}, nil
	}
	f.Close()
	if errors.Is(err, errNoEncoding) {
		return nil, unreadable(u.File, msg.Text{"the text encoding cannot be told from the bytes", "无法从内容判断文本编码"}).
			Because(err).
			Hint(msg.Text{"name it: --encoding gb18030, or encoding: gb18030 in drydock.yaml (or big5, utf-16le, windows-1252 …)", "请指定编码：--encoding gb18030，或在 drydock.yaml 中写 encoding: gb18030（或 big5、utf-16le、windows-1252 等）"})
	}
	return nil, err
}

// encoding finds how the whole file is encoded, which r reads from the start.
func (f *File) encoding(r io.ReaderAt) (textEncoding, error) {
	whole := io.NewSectionReader(r, 0, f.Size)
	if f.Options.Encoding == "" {
		e, err := findEncoding(whole)
		if err != nil && !errors.Is(err, errNoEncoding) {
			err = cannotOpen(f, err)
		}
		return e, err
	}
	e, err := namedEncoding(f.Options.Encoding)
	if err != nil {
		return e, err
	}
	head := make([]byte, 4)
	n, _ := io.ReadFull(whole, head)
	switch mark, ok := byMark(head[:n]); {
	case ok && mark.name == e.name:
		e.bom = mark.bom
	case ok && e.name == "UTF-16" && strings.HasPrefix(mark.name, "UTF-16"):
		e.enc, e.bom = mark.enc, mark.bom
	}
	return e, nil
}

// lines splits UTF-8 text at LF, CRLF and CR.
type lines struct {
	r     io.Reader
	limit int
	buf   []byte // buf[:end] was read, buf[:start] handed out
	start int
	end   int
	eof   bool
	cr    bool // the last line ended in CR: an LF that follows belongs to it

	line []byte // valid until the next call
	long bool   // line is only the start of one longer than limit
	err  error  // of reading; io.EOF is none
}

func newLines(r io.Reader, limit int) *lines {
	return &lines{r: r, limit: limit, buf: make([]byte, sniffBlock)}
}

// next moves to the next line and reports whether there is one.
func (l *lines) next() bool {
	l.long = false
	for from := l.start; ; {
		if l.cr && l.start < l.end {
			if l.buf[l.start] == '\n' {
				l.start++
				from = l.start
			}
			l.cr = false
		}
		if i := lineEnd(l.buf[from:l.end]); i >= 0 {
			l.cr = l.buf[from+i] == '\r'
			if from+i-l.start > l.limit {
				l.cut()
			}
			l.take(from+i, from+i+1)
			return true
		}
		from = l.end
		if l.eof {
			if l.start == l.end {
				return l.long
			}
			l.take(l.end, l.end)
			return true
		}
		if l.end-l.start > l.limit {
			l.cut()
			from = l.start
		}
		n := l.start
		l.fill()
		from -= n - l.start
		if l.err != nil {
			return false
		}
	}
}

// lineEnd is the index of the first CR or LF, or -1.
func lineEnd(b []byte) int {
	lf := bytes.IndexByte(b, '\n')
	if lf >= 0 {
		b = b[:lf]
	}
	if cr := bytes.IndexByte(b, '\r'); cr >= 0 {
		return cr
	}
	return lf
}

// take hands out the bytes up to end, or nothing more when the line's start was
// handed out as a long one.
func (l *lines) take(end, next int) {
	if !l.long {
		l.line = l.buf[l.start:end]
	}
	l.start = next
}

// longStart is how much of an overlong line is kept to show.
const longStart = 256

// cut keeps the start of a line over the limit and lets the rest go by.
func (l *lines) cut() {
	if !l.long {
		l.long = true
		l.line = wholeRunes(bytes.Clone(l.buf[l.start : l.start+min(longStart, l.limit)]))
	}
	l.start = l.end
}

// wholeRunes cuts off a character that b's end tore apart.
func wholeRunes(b []byte) []byte {
	for i := 1; i <= min(utf8.UTFMax, len(b)); i++ {
		if last := b[len(b)-i:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				b = b[:len(b)-i]
			}
			break
		}
	}
	return b
}

// fill reads more, moving what is left to the front and growing the buffer when
// it is full.
func (l *lines) fill() {
	if l.start > 0 {
		l.end = copy(l.buf, l.buf[l.start:l.end])
		l.start = 0
	}
	if l.end == len(l.buf) {
		l.buf = append(l.buf, make([]byte, len(l.buf))...)
	}
	n, err := l.r.Read(l.buf[l.end:])
	l.end += n
	if err == io.EOF {
		l.eof = true
	} else if err != nil {
		l.err = err
	}
}

// damaged counts the places where bytes were no text.
type damaged struct {
	encoding     textEncoding
	count        int
	line, column int // of the first, from 1
	original     int // U+FFFD that stood in the file
	originalLine int
}

const replacement = "\uFFFD"

// mend returns a line as valid UTF-8: each run of bytes that is no text is one
// U+FFFD, so that nothing is lost without a trace.
func (d *damaged) mend(line []byte, n int) string {
	valid := utf8.Valid(line)
	if valid && !bytes.Contains(line, []byte(replacement)) {
		return string(line)
	}
	var b strings.Builder
	column, inBad := 0, false
	for len(line) > 0 {
		r, size := utf8.DecodeRune(line)
		line = line[size:]
		bad := r == utf8.RuneError && (size == 1 || !d.encoding.plain())
		if r == utf8.RuneError && !bad {
			if d.original++; d.original == 1 {
				d.originalLine = n
			}
		}
		if bad && inBad && d.encoding.plain() {
			continue
		}
		column++
		if bad {
			if d.count++; d.count == 1 {
				d.line, d.column = n, column
			}
		}
		inBad = bad
		b.WriteRune(r)
	}
	return b.String()
}

// tell notes what was found.
func (d *damaged) tell(f *File, note func(Note)) {
	if d.count > 0 {
		note(Note{Code: "invalid_bytes", Damage: true, Text: msg.Text{
			"%s: no valid %s at line %d, column %d (%d such places in all); each reads as U+FFFD now",
			"%s：不是有效的 %s 文本：第 %d 行第 %d 列（共 %d 处）；均已替换为 U+FFFD",
		}, Args: []any{f.name(), d.encoding.name, d.line, d.column, d.count}})
	}
	if d.original > 0 {
		note(Note{Code: "replacement_chars", Text: msg.Text{
			"%s: %d characters were already lost before (U+FFFD in the file), the first at line %d",
			"%s：文件中原有 %d 个已丢失的字符（U+FFFD），第一个在第 %d 行",
		}, Args: []any{f.name(), d.original, d.originalLine}})
	}
}
