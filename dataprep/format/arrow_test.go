package format_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dataprep/format/formattest"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/golden"
)

// TestArrowCut gives the rows of the batches before the cut, and an error.
func TestArrowCut(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"types.arrow", "types.arrows"} {
		whole := golden.ReadFile(t, filepath.Join("testdata/interop", name))
		all, _ := formattest.Read(t.Context(), fileOf(t, name, whole), format.Options{})
		// the file's footer is as long as a batch; the stream ends right behind one
		cut := len(whole) - len(whole)/5
		if name == "types.arrow" {
			cut = len(whole) - 20
		}
		r, _ := formattest.Read(t.Context(), fileOf(t, name, whole[:cut]), format.Options{})
		if fail.Code(r.Err) != 3 || len(r.Blocks) < 2 || !strings.HasPrefix(rowLines(all), rowLines(r)) {
			t.Errorf("%s: %d rows of %d, %v", name, len(r.Blocks), len(all.Blocks), r.Err)
		}
	}
}

// TestRealArrow reads what other versions and languages wrote: the file and the
// stream of each set give the same rows.
func TestRealArrow(t *testing.T) {
	t.Parallel()
	root := golden.RealData(t, "arrow-testing", "integration")
	found := 0
	ok(t, filepath.WalkDir(root, func(p string, _ fs.DirEntry, err error) error {
		if filepath.Ext(p) != ".arrow_file" {
			return err
		}
		found++
		file, kind := formattest.Read(t.Context(), p, format.Options{})
		stream, kind2 := formattest.Read(t.Context(), strings.TrimSuffix(p, ".arrow_file")+".stream", format.Options{})
		switch {
		case kind == nil || kind2 == nil || kind.Name != "arrow" || kind2.Name != "arrow":
			t.Errorf("%s: not known as Arrow", p)
		case file.Err != nil || stream.Err != nil:
			t.Errorf("%s: %v, %v", p, file.Err, stream.Err)
		case rowLines(file) != rowLines(stream):
			t.Errorf("%s: the file and the stream differ", p)
		}
		checkJSONRows(t, file)
		return err
	}))
	if found == 0 {
		t.Error("no files there")
	}
}

// TestArrowCrashes reads what once crashed Arrow's own readers.
func TestArrowCrashes(t *testing.T) {
	t.Parallel()
	root := golden.RealData(t, "arrow-testing")
	files, err := filepath.Glob(filepath.Join(root, "crash-*"))
	ok(t, err)
	for _, p := range files {
		if r, _ := formattest.Read(t.Context(), p, format.Options{}); fail.Code(r.Err) != 3 {
			t.Errorf("%s: %v", filepath.Base(p), r.Err)
		}
	}
}

func FuzzArrow(f *testing.F) {
	for _, name := range []string{"types.arrow", "types.arrows"} {
		whole, err := os.ReadFile(filepath.Join("testdata/interop", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(whole)
		f.Add(whole[:len(whole)/2])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, _ := formattest.Read(t.Context(), fileOf(t, "f.arrow", data), format.Options{})
		checkFuzzed(t, r)
	})
}
