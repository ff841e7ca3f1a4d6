package format

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/drydock-ml/drydock/internal/msg"
)

// maxImage bounds what is copied of one image.
const maxImage = 64 << 20

// CopyImages calls put for each of the images that blocks of a file name, with the
// name of a file for it: the image itself of a document that packs its images or
// has them beside it, and the whole page, drawn, of a PDF. put reads to the end.
// Names that stand for nothing in the file are returned.
func (f *Format) CopyImages(ctx context.Context, file *File, names []string, put func(name string, r io.Reader) error) (missing []string, err error) {
	if len(names) == 0 {
		return nil, nil
	}
	switch f.Name {
	case "pdf":
		return copyPages(ctx, file, names, put)
	case "docx", "xlsx", "odt", "epub":
		return copyParts(ctx, file, names, put)
	case "html", "markdown":
		return copyBeside(file, names, put)
	}
	return names, nil
}

// copyParts copies images out of a package. Blocks name them by the last part of
// their path.
func copyParts(ctx context.Context, file *File, names []string, put func(string, io.Reader) error) (missing []string, err error) {
	p, err := openPackage(file, msg.Text{"save it anew", "请重新保存"})
	if err != nil {
		return nil, err
	}
	defer p.close()
	byBase := map[string]*officePart{}
	for _, part := range p.parts {
		base := path.Base(part.name)
		if old := byBase[base]; old == nil || part.name < old.name { // the same at every run
			byBase[base] = part
		}
	}
	for _, name := range names {
		part := byBase[path.Base(name)]
		if part == nil || part.locked {
			missing = append(missing, name)
			continue
		}
		if ctx.Err() != nil {
			return missing, context.Cause(ctx)
		}
		r, err := part.open()
		if err != nil {
			missing = append(missing, name)
			continue
		}
		err = put(path.Base(name), io.LimitReader(r, maxImage))
		r.Close()
		if err != nil {
			return missing, err
		}
	}
	return missing, nil
}

// copyBeside copies images that a page names by a path from where it lies; what
// leads out of that folder, or to a network, is not followed.
func copyBeside(file *File, names []string, put func(string, io.Reader) error) (missing []string, err error) {
	root, err := os.OpenRoot(filepath.Dir(file.Path))
	if err != nil {
		return nil, cannotOpen(file, err)
	}
	defer root.Close()
	for _, name := range names {
		r, err := root.Open(filepath.FromSlash(path.Clean(name)))
		if err != nil {
			missing = append(missing, name)
			continue
		}
		err = put(strings.ReplaceAll(path.Clean(name), "/", "_"), io.LimitReader(r, maxImage))
		r.Close()
		if err != nil {
			return missing, err
		}
	}
	return missing, nil
}

// copyPages draws the pages that pictures stand on: p12-1 is the first picture of
// page 12.
func copyPages(ctx context.Context, file *File, names []string, put func(string, io.Reader) error) (missing []string, err error) {
	var pages []int
	for _, name := range names {
		number, _, _ := strings.Cut(strings.TrimPrefix(name, "p"), "-")
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 {
			missing = append(missing, name)
			continue
		}
		pages = append(pages, n)
	}
	slices.Sort(pages)
	r := &pdfReader{unit: Unit{File: file, End: file.Size, Line: 1}, note: func(Note) {}}
	defer r.close()
	if err := r.open(ctx); err != nil {
		return missing, err
	}
	s, err := r.sandbox(ctx)
	if err != nil {
		return missing, err
	}
	defer func() { r.release(s, err) }()
	dir, err := os.MkdirTemp("", "drydock-page-*")
	if err != nil {
		return missing, err
	}
	defer os.RemoveAll(dir)
	for _, n := range slices.Compact(pages) {
		if n > r.pages {
			missing = append(missing, fmt.Sprintf("p%d", n))
			continue
		}
		if ctx.Err() != nil {
			return missing, context.Cause(ctx)
		}
		drawn := filepath.Join(dir, fmt.Sprintf("p%d.png", n))
		if err := s.render(n-1, drawn); err != nil {
			return missing, err
		}
		if err := putFile(drawn, put); err != nil {
			return missing, err
		}
	}
	return missing, nil
}

func putFile(name string, put func(string, io.Reader) error) error {
	r, err := os.Open(name)
	if err != nil {
		return err
	}
	defer r.Close()
	return put(filepath.Base(name), r)
}
