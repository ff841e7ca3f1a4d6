package format_test

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dataprep/format/formattest"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

func TestMarkdownContract(t *testing.T) {
	t.Parallel()
	formattest.Run(t, named(t, "markdown"), "testdata/small.md", formattest.FreeExtension())
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	locked := write("locked.txt", "text\n")
	if err := os.Chmod(locked, 0); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, path, en, zh string
	}{
		{"missing", filepath.Join(dir, "none.pdf"), "no such file", "不存在"},
		{"folder", dir, "folder", "文件夹"},
		{"empty", write("empty.pdf", ""), "empty (0 bytes)", "空的"},
		{"no permission", locked, "no permission", "权限"},
		{"old office", write("a.ppt", "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"+strings.Repeat("\x00\x01", 300)), "old Office", "旧版 Office"},
		{"picture", write("a.pdf", "\x89PNG\r\n\x1a\n"+strings.Repeat("\x00\x01", 300)), "PNG", "PNG"},
		{"rich text", write("a.txt", `{\rtf1\ansi hello}`), "RTF", "RTF"},
		{"binary", write("a.bin", strings.Repeat("\x00\x01\x02\xfe", 300)), "binary", "二进制"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "no permission" && (runtime.GOOS == "windows" || os.Getuid() == 0) {
				t.Skip("this user may read everything")
			}
			_, _, err := format.Open(nil, c.path, format.Options{}, nil)
			es := fail.All(err)
			if fail.Code(err) != 3 || !strings.Contains(es[0].In(msg.En), c.en) || !strings.Contains(es[0].In(msg.Zh), c.zh) || len(es[0].Hints(msg.Zh)) == 0 {
				t.Fatalf("error %v", err)
			}
			if !strings.Contains(err.Error(), filepath.ToSlash(c.path)) {
				t.Errorf("%q does not name the file", err)
			}
		})
	}
}

func TestDetect(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		head, name, format string
		wrong              bool
	}{
		{"%PDF-1.4\n", "a.pdf", "pdf", false},
		{"%PDF-1.4\n", "a.PDF", "pdf", false},
		{"%PDF-1.4\n", "a.txt", "pdf", true},
		{"\xEF\xBB\xBF\r\n%PDF-1.4\n", "a", "pdf", false},
		{"plain words\n", "a.txt", "text", false},
		{"plain words\n", "a", "text", false},
		{"plain words\n", "a.log", "text", false},
		{"plain words\n", "a.pdf", "text", true},
		{"plain words\n", "a.doc", "text", true},
		{"# Title\n", "a.md", "markdown", false},
		{"# Title\n", "a.txt", "text", false},
	} {
		f, wrong, err := format.Detect([]byte(c.head), c.name)
		if err != nil || f.Name != c.format || wrong != c.wrong {
			t.Errorf("%s %q: %v, wrong extension %v, error %v", c.name, c.head, f, wrong, err)
		}
	}
}

// TestNotesOnce reads a document twice: what is noted is told once.
func TestNotesOnce(t *testing.T) {
	t.Parallel()
	path := writeBytes(t, "x.txt", []byte("bad \xff byte \xfe\n船舶\n"))
	n := 0
	note := func(format.Note) { n++ }
	f, kind, err := format.Open(nil, path, format.Options{Encoding: "utf-8"}, note)
	if err != nil {
		t.Fatal(err)
	}
	doc := kind.Document(format.Unit{File: f, End: f.Size, Line: 1}, note)
	for range 2 {
		for _, err := range doc.Blocks(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if n != 1 {
		t.Errorf("%d notes, want 1", n)
	}
}

// TestGuard panics on both sides of a reading: the reader's panic becomes a bug
// that names the file, the consumer's goes on its way.
func TestGuard(t *testing.T) {
	t.Parallel()
	path := writeBytes(t, "x.txt", []byte("a\nb\n"))
	f := &format.File{File: &drydock.File{Name: "x.txt"}, Path: path, Size: 4}
	broken := format.Format{Name: "broken", Read: brokenRead(named(t, "text").Read)}
	var last error
	for _, err := range broken.Document(format.Unit{File: f, End: 4, Line: 1}, nil).Blocks(t.Context()) {
		last = err
	}
	if fail.Code(last) != 70 || !strings.HasPrefix(last.Error(), "x.txt") {
		t.Errorf("a reader's panic gave %v", last)
	}
	defer func() {
		if recover() != "mine" {
			t.Error("the consumer's panic did not come through")
		}
	}()
	for range named(t, "text").Document(format.Unit{File: f, End: 4, Line: 1}, nil).Blocks(t.Context()) {
		panic("mine")
	}
}

type readFunc = func(context.Context, format.Unit, func(format.Note)) iter.Seq2[drydock.Block, error]

// brokenRead panics after the first block.
func brokenRead(inner readFunc) readFunc {
	return func(ctx context.Context, u format.Unit, note func(format.Note)) iter.Seq2[drydock.Block, error] {
		return func(yield func(drydock.Block, error) bool) {
			for b, err := range inner(ctx, u, note) {
				if !yield(b, err) {
					return
				}
				panic("broken")
			}
		}
	}
}
