package cli_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"
)

// cmdPack packs files as the ending of OUT says: zip (and what is a zip, with
// its first entry stored), tar, gz, zst, tar.gz. A file NAME=PATH goes by that
// name:
//
//	pack OUT FILE…
func cmdPack(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: pack OUT FILE…")
	}
	var b bytes.Buffer
	out := args[0]
	switch ext := filepath.Ext(out); {
	case strings.HasSuffix(out, ".tar.gz"):
		z := gzip.NewWriter(&b)
		packTar(ts, z, args[1:])
		ts.Check(z.Close())
	case ext == ".gz":
		z := gzip.NewWriter(&b)
		_, err := io.WriteString(z, ts.ReadFile(args[1]))
		ts.Check(err)
		ts.Check(z.Close())
	case ext == ".zst":
		z, err := zstd.NewWriter(&b)
		ts.Check(err)
		_, err = io.WriteString(z, ts.ReadFile(args[1]))
		ts.Check(err)
		ts.Check(z.Close())
	default:
		z := zip.NewWriter(&b)
		for i, a := range args[1:] {
			name, text := packed(ts, a)
			h := &zip.FileHeader{Name: name, Method: zip.Deflate}
			if i == 0 {
				h.Method = zip.Store
			}
			w, err := z.CreateHeader(h)
			ts.Check(err)
			_, err = io.WriteString(w, strings.TrimRight(text, "\n"))
			ts.Check(err)
		}
		ts.Check(z.Close())
	}
	ts.Check(os.WriteFile(ts.MkAbs(out), b.Bytes(), 0o644))
}

func packTar(ts *testscript.TestScript, w io.Writer, args []string) {
	t := tar.NewWriter(w)
	for _, a := range args {
		name, text := packed(ts, a)
		ts.Check(t.WriteHeader(&tar.Header{Name: name, Size: int64(len(text)), Mode: 0o644, Typeflag: tar.TypeReg}))
		_, err := io.WriteString(t, text)
		ts.Check(err)
	}
	ts.Check(t.Close())
}

func packed(ts *testscript.TestScript, arg string) (name, text string) {
	name, path, named := strings.Cut(arg, "=")
	if !named {
		path = name
	}
	return name, ts.ReadFile(path)
}
