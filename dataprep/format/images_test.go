package format_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock/dataprep/format"
)

// copied reads the images of a file; it returns what was put, and what was not
// there.
func copied(t *testing.T, path string, names ...string) (map[string]string, []string) {
	t.Helper()
	f, kind, err := format.Open(nil, path, format.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	missing, err := kind.CopyImages(t.Context(), f, names, func(name string, r io.Reader) error {
		b, err := io.ReadAll(r)
		got[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got, missing
}

func TestCopyImages(t *testing.T) {
	t.Parallel()
	docx := fileOf(t, "t.docx", docxBytes(t, `<w:p><w:r><w:t>见图</w:t></w:r></w:p>`, map[string]string{
		"word/media/image3.png": "three", "word/media/a.jpg": "a",
	}))
	got, missing := copied(t, docx, "image3.png", "gone.png")
	if d := cmp.Diff(map[string]string{"image3.png": "three"}, got); d != "" {
		t.Error(d)
	}
	if !slices.Equal(missing, []string{"gone.png"}) {
		t.Errorf("missing %q", missing)
	}

	dir := t.TempDir()
	for name, text := range map[string]string{"page/t.html": "<p>见图<img src='img/1.png'></p>", "page/img/1.png": "one", "secret.png": "no"} {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	got, missing = copied(t, filepath.Join(dir, "page", "t.html"), "img/1.png", "../secret.png", "https://example.com/2.png", "/etc/hostname")
	if d := cmp.Diff(map[string]string{"img_1.png": "one"}, got); d != "" {
		t.Error(d)
	}
	if len(missing) != 3 {
		t.Errorf("missing %q", missing)
	}
	if got, missing := copied(t, fileOf(t, "t.txt", []byte("一")), "x.png"); len(got) != 0 || len(missing) != 1 {
		t.Errorf("%v, %q", got, missing)
	}
}

// Of a PDF the whole page is drawn that a picture stands on.
func TestCopyImagesOfPDF(t *testing.T) {
	t.Parallel()
	got, missing := copied(t, "../../data/samples/colreg/raw/bank.pdf", "p2-1", "p2-2", "p1-1", "p99-1", "x")
	if len(got) != 2 || !bytes.HasPrefix([]byte(got["p2.png"]), []byte("\x89PNG")) {
		t.Errorf("%d pages", len(got))
	}
	if !slices.Equal(missing, []string{"x", "p99"}) {
		t.Errorf("missing %q", missing)
	}
}
