package pipeline

import (
	"context"
	"io"
	"os"
	"path"

	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/internal/archive"
	"github.com/drydock-ml/drydock/internal/fail"
)

// A packageScanner looks into the files of a submission package with the readers
// of their formats; see [submission.FileScanner].
type packageScanner struct{ check *ContamCheck }

func newPackageScanner(ix *contam.Index, cacheDir string) (*packageScanner, error) {
	tmp, err := os.MkdirTemp("", "drydock-")
	if err != nil {
		return nil, err
	}
	return &packageScanner{&ContamCheck{
		Index: ix, raw: ix.Raw(), tmp: tmp, pool: &scannerPool{make: func() ContamScanner { return ix.Scanner() }},
		Read: format.Options{WholePage: true, Aside: true, CacheDir: cacheDir, Workers: 1, PDF: format.NewPDFRuntime(cacheDir)},
	}}, nil
}

// Scan implements [submission.FileScanner].
func (s *packageScanner) Scan(ctx context.Context, name string, r io.Reader, found func(contam.Finding)) (fail.List, error) {
	var out contamUnit
	w := &contamWalk{check: s.check, out: &out, budget: archive.NewBudget(archive.DefaultLimits()), workers: 1}
	err := w.member(ctx, name, path.Base(name), archive.Zip, r, 0)
	for i := range out.hits {
		found(out.hits[i].Finding)
	}
	return out.bad, err
}

// Close implements [submission.FileScanner].
func (s *packageScanner) Close() error {
	s.check.Read.PDF.Close()
	return os.RemoveAll(s.check.tmp)
}
