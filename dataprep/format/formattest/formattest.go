// Package formattest is the contract every format of dataprep/format keeps.
package formattest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// An Option changes what [Run] does.
type Option func(*suite)

// With reads the fixture with these options.
func With(o format.Options) Option { return func(s *suite) { s.options = o } }

// FreeExtension says that the format is told from others by its extension, so
// that under another name the file is read as something else.
func FreeExtension() Option { return func(s *suite) { s.freeExtension = true } }

type suite struct {
	format        *format.Format
	path          string
	whole         []byte
	options       format.Options
	freeExtension bool
}

// A Result is all a reading of a file gave.
type Result struct {
	Blocks []drydock.Block
	Drops  []*drydock.Drop
	Notes  []format.Note
	Err    error
}

// Silent reports whether nothing was said about the file.
func (r Result) Silent() bool { return r.Err == nil && len(r.Drops) == 0 && len(r.Notes) == 0 }

// Read opens a file by content, as a run would, and reads it to the end.
func Read(ctx context.Context, path string, o format.Options) (Result, *format.Format) {
	var r Result
	note := func(n format.Note) { r.Notes = append(r.Notes, n) }
	f, kind, err := format.Open(&drydock.File{Name: filepath.Base(path)}, path, o, note)
	if err != nil {
		r.Err = err
		return r, nil
	}
	ReadFile(ctx, &r, kind, f)
	return r, kind
}

// ReadFile reads all units of an opened file into r.
func ReadFile(ctx context.Context, r *Result, kind *format.Format, f *format.File) {
	note := func(n format.Note) { r.Notes = append(r.Notes, n) }
	units, err := kind.Units(ctx, f)
	if err != nil {
		r.Err = err
		return
	}
	for _, u := range units {
		readUnit(ctx, r, kind, u, note)
		if r.Err != nil {
			return
		}
	}
}

func readUnit(ctx context.Context, r *Result, kind *format.Format, u format.Unit, note func(format.Note)) {
	for b, err := range kind.Document(u, note).Blocks(ctx) {
		var d *drydock.Drop
		switch {
		case errors.As(err, &d):
			r.Drops = append(r.Drops, d)
		case err != nil:
			r.Err = err
			return
		default:
			b.Raw = bytes.Clone(b.Raw) // valid until the next block only
			r.Blocks = append(r.Blocks, b)
		}
	}
}

// Run checks a format against a small, whole fixture of its kind: at least two
// blocks, no drops.
func Run(t *testing.T, f *format.Format, fixture string, opts ...Option) {
	t.Helper()
	whole, err := os.ReadFile(fixture)
	if err != nil {
		t.Fatal(err)
	}
	s := &suite{format: f, path: fixture, whole: whole}
	for _, o := range opts {
		o(s)
	}
	for _, c := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"whole", s.testWhole},
		{"deterministic", s.testDeterministic},
		{"cuts", s.testCuts},
		{"truncated", s.testTruncated},
		{"empty", s.testEmpty},
		{"wrong magic", s.testWrongMagic},
		{"wrong extension", s.testWrongExtension},
		{"cancel", s.testCancel},
		{"stop early", s.testStopEarly},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t)
		})
	}
}

func (s *suite) read(t *testing.T, path string) Result {
	t.Helper()
	r, kind := Read(t.Context(), path, s.options)
	if kind != nil && kind.Name != s.format.Name {
		t.Fatalf("%s was detected as %s, want %s", filepath.Base(path), kind.Name, s.format.Name)
	}
	return r
}

func (s *suite) testWhole(t *testing.T) {
	r := s.read(t, s.path)
	if r.Err != nil || len(r.Drops) > 0 {
		t.Fatalf("a whole file gave error %v, drops %v", r.Err, r.Drops)
	}
	if len(r.Blocks) < 2 {
		t.Fatalf("%d blocks; the fixture should give some", len(r.Blocks))
	}
	seen := map[drydock.Locator]bool{}
	for i, b := range r.Blocks {
		if b.At.IsZero() {
			t.Errorf("block %d %q has no place", i, Text(b))
		}
		if seen[b.At] {
			t.Errorf("two blocks stand at %s", b.At)
		}
		seen[b.At] = true
		back, err := drydock.ParseLocator(b.At.String())
		if err != nil || back != b.At {
			t.Errorf("locator %q reads back as %v, %v", b.At, back, err)
		}
		kinds := 0
		for _, set := range []bool{b.Text != "", b.Cells != nil, b.Raw != nil} {
			if set {
				kinds++
			}
		}
		if kinds > 1 {
			t.Errorf("block at %s is text, cells and raw at once: %+v", b.At, b)
		}
		for _, sp := range b.Spans {
			if fault := SpanFault(b, sp); fault != "" {
				t.Error(fault)
			}
		}
	}
}

// SpanFault says what is wrong with a span of a block; empty: nothing.
func SpanFault(b drydock.Block, s drydock.Span) string {
	text := b.Text
	if b.Cells != nil {
		if s.Cell < 0 || s.Cell >= len(b.Cells) {
			return fmt.Sprintf("block at %s: span %+v stands in none of %d cells", b.At, s, len(b.Cells))
		}
		text = b.Cells[s.Cell]
	}
	switch point := s.Kind == drydock.Image; {
	case s.Start < 0 || s.Start > s.End || s.End > len(text) || (s.Start == s.End) != point:
		return fmt.Sprintf("block at %s: span %+v lies outside of %q", b.At, s, text)
	case point && b.Figure == "":
		return fmt.Sprintf("block at %s has an image, but no figure", b.At)
	}
	return ""
}

func (s *suite) testDeterministic(t *testing.T) {
	want := s.read(t, s.path)
	for _, workers := range []int{1, 8} {
		o := s.options
		o.Workers = workers
		got, _ := Read(t.Context(), s.path, o)
		if d := cmp.Diff(plain(want), plain(got)); d != "" {
			t.Errorf("another reading with %d workers differs:\n%s", workers, d)
		}
	}
	// a locator leads back to the same text
	again := map[drydock.Locator]string{}
	for _, b := range s.read(t, s.path).Blocks {
		again[b.At] = Text(b)
	}
	for _, b := range want.Blocks {
		if again[b.At] != Text(b) {
			t.Errorf("%s leads to %q, was %q", b.At, again[b.At], Text(b))
		}
	}
}

func (s *suite) testCuts(t *testing.T) {
	f := &format.File{File: &drydock.File{Name: filepath.Base(s.path)}, Path: s.path, Size: int64(len(s.whole)), Options: s.options}
	units, err := s.format.Units(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	pos := int64(0)
	for i, u := range units {
		if u.Index != i || u.Start != pos || u.End <= u.Start || u.Line < 1 {
			t.Errorf("unit %d is %d: %d–%d line %d, want a start at %d", i, u.Index, u.Start, u.End, u.Line, pos)
		}
		pos = u.End
	}
	if pos != f.Size {
		t.Errorf("units end at %d of %d bytes", pos, f.Size)
	}
	var parts, one Result
	ReadFile(t.Context(), &parts, s.format, f)
	readUnit(t.Context(), &one, s.format, format.Unit{File: f, End: f.Size, Line: 1}, func(n format.Note) { one.Notes = append(one.Notes, n) })
	if d := cmp.Diff(plain(one).Blocks, plain(parts).Blocks); d != "" {
		t.Errorf("units one by one differ from the whole:\n%s", d)
	}
}

func (s *suite) testTruncated(t *testing.T) {
	whole := s.read(t, s.path)
	var all strings.Builder
	for _, b := range whole.Blocks {
		all.WriteString(Text(b) + "\n")
	}
	dir := t.TempDir()
	for i := 1; i < 16; i++ {
		path := filepath.Join(dir, string(rune('a'+i))+filepath.Ext(s.path))
		if err := os.WriteFile(path, s.whole[:len(s.whole)*i/16], 0o644); err != nil {
			t.Fatal(err)
		}
		r, _ := Read(t.Context(), path, s.options)
		isBug(t, r.Err)
		if len(r.Blocks) > len(whole.Blocks) {
			t.Errorf("%d/16 of the file gave %d blocks, the whole %d", i, len(r.Blocks), len(whole.Blocks))
		}
		if r.Silent() && len(r.Blocks) == len(whole.Blocks) && textOf(r) == textOf(whole) {
			continue // only padding was lost
		}
		for j, b := range r.Blocks {
			// the last block may be a torn one
			if text := Text(b); j < len(r.Blocks)-1 && !strings.Contains(all.String(), text) {
				t.Errorf("%d/16 of the file gave %q, which the whole does not have", i, text)
			}
		}
	}
}

func (s *suite) testEmpty(t *testing.T) {
	path := filepath.Join(t.TempDir(), "empty"+filepath.Ext(s.path))
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	r, _ := Read(t.Context(), path, s.options)
	if fail.Code(r.Err) != 3 || !strings.Contains(r.Err.Error(), "empty") {
		t.Errorf("an empty file gave %v", r.Err)
	}
	var direct Result
	ReadFile(t.Context(), &direct, s.format, &format.File{File: &drydock.File{Name: "empty"}, Path: path, Options: s.options})
	if direct.Err == nil {
		t.Error("reading an empty file gave no error")
	}
}

func (s *suite) testWrongMagic(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wrong"+filepath.Ext(s.path))
	junk := bytes.Repeat([]byte("\x00\x01\xfe\xffno such thing\x00\x02"), 200)
	if err := os.WriteFile(path, junk, 0o644); err != nil {
		t.Fatal(err)
	}
	_, kind, err := format.Open(nil, path, s.options, nil)
	if fail.Code(err) != 3 {
		t.Errorf("binary junk was opened as %v, error %v", kind, err)
	}
	if s.format.Sniff(junk, path) {
		t.Error("binary junk was taken for this format")
	}
	f := &format.File{File: &drydock.File{Name: "wrong"}, Path: path, Size: int64(len(junk)), Options: s.options}
	var r Result
	ReadFile(t.Context(), &r, s.format, f)
	isBug(t, r.Err)
	if r.Silent() {
		t.Errorf("reading binary junk gave %d blocks and not a word", len(r.Blocks))
	}
}

func (s *suite) testWrongExtension(t *testing.T) {
	if s.freeExtension {
		t.Skip("the extension tells this format")
	}
	for _, ext := range []string{".xls", ".png"} {
		if slices.Contains(s.format.Exts, ext) {
			continue
		}
		path := filepath.Join(t.TempDir(), "renamed"+ext)
		if err := os.WriteFile(path, s.whole, 0o644); err != nil {
			t.Fatal(err)
		}
		r, kind := Read(t.Context(), path, s.options)
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		noted := false
		for _, n := range r.Notes {
			noted = noted || n.Code == "wrong_extension"
		}
		if !noted {
			t.Errorf("%s read as %s: nobody was told", filepath.Base(path), kind.Name)
		}
	}
}

func (s *suite) testCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f := &format.File{File: &drydock.File{Name: filepath.Base(s.path)}, Path: s.path, Size: int64(len(s.whole)), Options: s.options}
	units, err := s.format.Units(ctx, f)
	if err != nil {
		t.Fatal(err)
	}
	var last error
	after := 0
	for _, err := range s.format.Document(units[0], nil).Blocks(ctx) {
		if last = err; ctx.Err() != nil && err == nil {
			after++
		}
		cancel()
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("a cancelled reading ended with %v", last)
	}
	if after > 0 {
		t.Errorf("%d blocks came after the cancel", after)
	}
}

func (s *suite) testStopEarly(t *testing.T) {
	f := &format.File{File: &drydock.File{Name: filepath.Base(s.path)}, Path: s.path, Size: int64(len(s.whole)), Options: s.options}
	units, err := s.format.Units(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	doc := s.format.Document(units[0], nil)
	for range 2 { // blocks may be read again after a reading that was left
		n := 0
		for _, err := range doc.Blocks(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			n++
			break
		}
		if n != 1 {
			t.Fatal("no block came")
		}
	}
}

func isBug(t *testing.T, err error) {
	t.Helper()
	if fail.Code(err) == 70 {
		t.Errorf("bad input ended in a bug: %v", err)
	}
}

// Text is all a block says, whatever form it has.
func Text(b drydock.Block) string {
	switch {
	case b.Cells != nil:
		return strings.Join(b.Cells, "\t")
	case b.Raw != nil:
		return string(b.Raw)
	}
	return b.Text
}

func textOf(r Result) string {
	var s strings.Builder
	for _, b := range r.Blocks {
		s.WriteString(Text(b) + "\n")
	}
	return s.String()
}

// flat is a result that can be compared.
type flat struct {
	Blocks       []drydock.Block
	Drops, Notes []string
	Err          string
}

func plain(r Result) flat {
	f := flat{Blocks: r.Blocks}
	for _, d := range r.Drops {
		f.Drops = append(f.Drops, d.Error())
	}
	for _, n := range r.Notes {
		f.Notes = append(f.Notes, n.Code+": "+n.In(msg.En)+" / "+n.In(msg.Zh))
	}
	if r.Err != nil {
		f.Err = r.Err.Error()
	}
	return f
}
