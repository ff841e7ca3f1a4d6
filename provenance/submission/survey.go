package submission

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/drydock-ml/drydock/internal/parallel"
	"github.com/drydock-ml/drydock/internal/textnorm"
)

// a facts is what one reading of a file tells: every file is read once, however
// many gates ask.
type facts struct {
	sha256 string
	size   int64
	err    error // could not be read: a wrong checksum, a broken stream
	text   bool
	// of text files
	utf16    bool
	bom      bool
	badAt    int64 // offset of the first byte that is not UTF-8; -1: none
	badLine  int
	lostLine int // first line with U+FFFD; 0: none
	secrets  []secret
}

// survey reads every file, several at once.
func survey(ctx context.Context, b *bundle) ([]facts, error) {
	out := make([]facts, len(b.entries))
	err := parallel.Each(ctx, 0, len(b.entries), func(ctx context.Context, i int) error {
		out[i] = b.entries[i].survey(ctx)
		return ctx.Err()
	})
	return out, err
}

func (e entry) survey(ctx context.Context) facts {
	f := facts{badAt: -1, text: isText(e.name)}
	r, err := e.open()
	if err != nil {
		f.err = err
		return f
	}
	defer r.Close()
	s := surveyor{facts: &f, h: sha256.New(), code: isCode(e.name), line: 1}
	buf := make([]byte, max(4<<10, min(256<<10, e.size+1)))
	keep := 0 // bytes of an unfinished line at the front of buf
	for ctx.Err() == nil {
		n, err := io.ReadFull(r, buf[keep:])
		s.h.Write(buf[keep : keep+n])
		f.size += int64(n)
		b := buf[:keep+n]
		last := err == io.EOF || err == io.ErrUnexpectedEOF
		if err != nil && !last {
			f.err = err
			return f
		}
		end := len(b)
		if !last {
			end = cut(b)
		}
		if f.text && !f.utf16 {
			s.chunk(b[:end])
		}
		if last {
			break
		}
		keep = copy(buf, b[end:])
	}
	f.sha256 = hex.EncodeToString(s.h.Sum(nil))
	return f
}

// cut returns where a chunk can end without splitting a line, or at least
// without splitting a character.
func cut(b []byte) int {
	if i := bytes.LastIndexByte(b, '\n'); i >= 0 {
		return i + 1
	}
	end := len(b)
	for i := 1; i < utf8.UTFMax && i <= end; i++ {
		if c := b[end-i]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(b[end-i:]) {
				return end - i
			}
			break
		}
	}
	return end
}

type surveyor struct {
	*facts
	h    hash.Hash
	code bool
	line int   // of the next chunk's first byte
	done int64 // bytes before the next chunk
}

func (s *surveyor) chunk(b []byte) {
	if s.done == 0 {
		s.bom = bytes.HasPrefix(b, []byte("\xef\xbb\xbf"))
		s.utf16 = bytes.HasPrefix(b, []byte("\xff\xfe")) || bytes.HasPrefix(b, []byte("\xfe\xff"))
		if s.utf16 {
			return
		}
	}
	if s.badAt < 0 {
		if at := textnorm.InvalidUTF8(b); at >= 0 {
			s.badAt = s.done + int64(at)
			s.badLine = s.line + bytes.Count(b[:at], []byte{'\n'})
		}
	}
	if s.lostLine == 0 {
		if i := bytes.Index(b, []byte("\ufffd")); i >= 0 {
			s.lostLine = s.line + bytes.Count(b[:i], []byte{'\n'})
		}
	}
	if len(s.secrets) < 50 {
		s.secrets = append(s.secrets, findSecrets(b, s.line, s.code)...)
	}
	s.line += bytes.Count(b, []byte{'\n'})
	s.done += int64(len(b))
}

// isText goes by extension: what is sniffed as text would let a broken text
// file pass as binary.
func isText(name string) bool {
	return isCode(name) || slices.Contains([]string{
		".jsonl", ".md", ".txt", ".csv", ".tsv", ".log", ".html", ".htm", ".xml", ".sha256", ".jinja", ".j2",
	}, strings.ToLower(path.Ext(name)))
}

func isCode(name string) bool {
	base := strings.ToLower(path.Base(name))
	return base == ".env" || strings.HasPrefix(base, ".env.") || base == "dockerfile" || base == "makefile" || slices.Contains([]string{
		".py", ".sh", ".bash", ".go", ".js", ".ts", ".ps1", ".bat", ".cmd", ".yaml", ".yml", ".json", ".toml", ".ini", ".cfg", ".conf", ".env", ".ipynb", ".lock",
	}, path.Ext(base))
}
