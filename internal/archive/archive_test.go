package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding/simplifiedchinese"

	"github.com/drydock-ml/drydock/internal/fail"
)

type file struct{ name, text string }

func zipOf(t testing.TB, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		w, err := z.Create(f.name)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, f.text)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func tarOf(t testing.TB, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		if err := w.WriteHeader(&tar.Header{Name: f.name, Size: int64(len(f.text)), Mode: 0o644, Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, f.text)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gzipOf(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

func zstdOf(t testing.TB, b []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll(b, nil)
}

// deep walks everything, archives in archives too, and lists what it saw.
func deep(b *Budget, data []byte, depth int, path string) (seen []string) {
	k := Detect(data[:min(len(data), HeadSize)])
	if k == "" {
		return []string{path + "=" + string(data[:min(len(data), 20)])}
	}
	err := b.Walk(k, Source{Reader: bytes.NewReader(data), At: bytes.NewReader(data), Size: int64(len(data))}, depth, func(m Member) error {
		inner, err := io.ReadAll(m.Reader)
		name := path
		if m.Name != "" {
			name = strings.TrimPrefix(path+"!"+m.Name, "!")
		}
		if err != nil {
			seen = append(seen, name+": "+err.Error())
		}
		seen = append(seen, deep(b, inner, depth+1, name)...)
		return nil
	}, func(name string, err error) { seen = append(seen, path+"!"+name+": "+err.Error()) })
	if err != nil {
		seen = append(seen, path+": "+err.Error())
	}
	return seen
}

func TestWalk(t *testing.T) {
	t.Parallel()
	inner := zipOf(t, file{"word/document.xml", "text"}, file{"media/", ""})
	for _, c := range []struct {
		name string
		data []byte
		want []string
	}{
		{"zip in zip", zipOf(t, file{"a.txt", "A"}, file{"b.docx", string(inner)}), []string{"a.txt=A", "b.docx!word/document.xml=text"}},
		{"tar.gz", gzipOf(tarOf(t, file{"x/y", "Y"}, file{"z.zip", string(inner)})), []string{"x/y=Y", "z.zip!word/document.xml=text"}},
		{"zst", zstdOf(t, []byte("rows")), []string{"=rows"}},
		{"two gzip members", append(gzipOf([]byte("one")), gzipOf([]byte("two"))...), []string{"=onetwo"}},
		{"no archive", []byte("PK"), []string{"=PK"}},
		{"empty zip", zipOf(t), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(c.want, deep(NewBudget(DefaultLimits()), c.data, 1, "")); d != "" {
				t.Error(d)
			}
		})
	}
}

// Each bound is named, and what came before it was seen.
func TestBounds(t *testing.T) {
	t.Parallel()
	limits := func(f func(*Limits)) *Budget {
		l := DefaultLimits()
		f(&l)
		return NewBudget(l)
	}
	nested := []byte("core")
	for range 4 {
		nested = gzipOf(nested)
	}
	zeros := gzipOf(make([]byte, ratioFrom+(1<<20)))
	for _, c := range []struct {
		name string
		b    *Budget
		data []byte
		want string
	}{
		{"entries", limits(func(l *Limits) { l.Entries = 1 }), zipOf(t, file{"a", "A"}, file{"b", "B"}), "more than 1 files"},
		{"bytes", limits(func(l *Limits) { l.Bytes = 3 }), tarOf(t, file{"a", "AA"}, file{"b", "BB"}), "more than 0 MiB"},
		{"depth", limits(func(l *Limits) { l.Depth = 3 }), nested, "more than 3 deep"},
		{"ratio", limits(func(l *Limits) { l.Ratio = 100 }), zeros, "more than 100 times"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var errs []error
			var walk func(data []byte, depth int)
			walk = func(data []byte, depth int) {
				k := Detect(data[:min(len(data), HeadSize)])
				if k == "" {
					return
				}
				err := c.b.Walk(k, Source{bytes.NewReader(data), bytes.NewReader(data), int64(len(data))}, depth, func(m Member) error {
					inner, err := io.ReadAll(m.Reader)
					if err != nil {
						errs = append(errs, err)
					}
					walk(inner, depth+1)
					return nil
				}, func(string, error) {})
				if err != nil {
					errs = append(errs, err)
				}
			}
			walk(c.data, 1)
			if len(errs) == 0 || !strings.Contains(errs[0].Error(), c.want) || !errors.Is(errs[0], ErrBound) || fail.Code(errs[0]) != fail.Partial.Code() {
				t.Errorf("%v, want %q", errs, c.want)
			}
		})
	}
}

// A damaged or encrypted member does not hide the others.
func TestDamage(t *testing.T) {
	t.Parallel()
	gbk, err := simplifiedchinese.GBK.NewEncoder().String("题库.txt")
	if err != nil {
		t.Fatal(err)
	}
	data := zipOf(t, file{"a", "A"}, file{gbk, "B"}, file{"c", "C"})
	i := bytes.Index(data, []byte("PK\x01\x02"))
	data[i+8] |= 1 // encrypted, says the directory of the first
	seen := deep(NewBudget(DefaultLimits()), data, 1, "z")
	want := []string{"z!a: it is encrypted, so it was not looked into", "z!题库.txt=B", "z!c=C"}
	if d := cmp.Diff(want, seen); d != "" {
		t.Error(d)
	}
	torn := gzipOf(bytes.Repeat([]byte("text "), 1000))
	seen = deep(NewBudget(DefaultLimits()), torn[:len(torn)-12], 1, "t")
	if len(seen) != 2 || !strings.Contains(seen[0], "damaged") || !strings.HasPrefix(seen[1], "t=text") {
		t.Errorf("%q", seen)
	}
}

func TestPacked(t *testing.T) {
	t.Parallel()
	for head, want := range map[string]string{"7z\xbc\xaf\x27\x1cxx": "7-Zip", "\xfd7zXZ\x00": "xz", "PK\x03\x04": "", "text": "", "": ""} {
		if got := Packed([]byte(head)); got != want {
			t.Errorf("%q: %q, want %q", head, got, want)
		}
	}
}

func FuzzWalk(f *testing.F) {
	f.Add(zipOf(f, file{"a", "A"}, file{"b", string(zipOf(f, file{"c", "C"}))}))
	f.Add(gzipOf(tarOf(f, file{"a", "A"})))
	f.Add(zstdOf(f, []byte("text")))
	f.Add([]byte("BZh91AY&SY"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l := DefaultLimits()
		l.Bytes, l.Entries = 1<<20, 100
		b := NewBudget(l)
		deep(b, data, 1, "f")
		if b.bytes > l.Bytes || b.entries > l.Entries+1 {
			t.Errorf("%d bytes of %d files", b.bytes, b.entries)
		}
		Packed(data)
	})
}

// Archives in archives, each of which keeps within its ratio, are held to it together.
func TestRatioOfTheWhole(t *testing.T) {
	t.Parallel()
	zeros := file{"z", string(make([]byte, 40<<20))}
	inner := string(zipOf(t, zeros, zeros, zeros))
	data := zipOf(t, file{"a.zip", inner}, file{"b.zip", inner}, file{"c.zip", inner}, file{"d.zip", inner})
	b := NewBudget(DefaultLimits())
	seen := deep(b, data, 1, "f")
	if last := seen[len(seen)-1]; b.bytes > wholeFrom+1<<20 || !strings.Contains(last, "more than 1000 times") {
		t.Errorf("%d bytes, %.200q", b.bytes, last)
	}
}
