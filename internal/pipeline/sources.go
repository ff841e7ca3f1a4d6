package pipeline

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/parallel"
	"github.com/drydock-ml/drydock/internal/runstore"

	"golang.org/x/text/unicode/norm"
)

// An input is one file of a source.
type input struct {
	src  *SourceConfig
	path string // as the operating system knows it
	name string // relative to the source's root, slashes, NFC
	// packed is the hash of the archive the file was unpacked from, err what is
	// wrong with it there; empty and nil for a file that stands by itself.
	packed string
	err    error
}

// find lists the files of a source in a fixed order: by name. A file reached by
// two patterns counts once.
func (s *SourceConfig) find(base string) ([]input, error) {
	var out []input
	seen := map[string]bool{}
	for _, pattern := range s.Path {
		p := filepath.FromSlash(pattern)
		if !filepath.IsAbs(p) {
			p = filepath.Join(base, p)
		}
		root, files, err := expand(p)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if seen[f] {
				continue
			}
			seen[f] = true
			rel, err := filepath.Rel(root, f)
			if err != nil {
				rel = filepath.Base(f)
			}
			out = append(out, input{src: s, path: f, name: norm.NFC.String(filepath.ToSlash(rel))})
		}
	}
	slices.SortStableFunc(out, func(a, b input) int { return strings.Compare(a.name, b.name) })
	return out, nil
}

// expand returns the files a path means and the folder their names are
// relative to. A folder means every file below it that does not begin with a
// dot; the signs * ? [ and ** make a pattern, unless a file is really called so.
func expand(p string) (root string, files []string, err error) {
	info, err := os.Stat(p)
	switch {
	case err == nil && !info.IsDir():
		return filepath.Dir(p), []string{p}, nil
	case err == nil:
		files, err = below(p, func(string) bool { return true })
		return p, files, err
	case !strings.ContainsAny(p, "*?["):
		return "", nil, err
	}
	root = p
	for strings.ContainsAny(root, "*?[") {
		root = filepath.Dir(root)
	}
	rel, err := filepath.Rel(root, p)
	if err != nil {
		return "", nil, err
	}
	pattern := strings.Split(filepath.ToSlash(rel), "/")
	if _, err := path.Match(filepath.ToSlash(rel), ""); err != nil {
		return "", nil, &fs.PathError{Op: "match", Path: p, Err: err}
	}
	files, err = below(root, func(rel string) bool { return match(pattern, strings.Split(rel, "/")) })
	return root, files, err
}

func below(root string, want func(rel string) bool) ([]string, error) {
	var out []string
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if p != root && strings.HasPrefix(d.Name(), ".") {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			if shards, ok := format.SavedSet(p); ok {
				for _, shard := range shards {
					if rel, err := filepath.Rel(root, shard); err == nil && want(filepath.ToSlash(rel)) {
						out = append(out, shard)
					}
				}
				return filepath.SkipDir
			}
			return nil
		}
		// Word leaves ~$name beside a document that is open
		if strings.HasPrefix(d.Name(), "~$") {
			return nil
		}
		rel, err := filepath.Rel(root, p)
		if err == nil && want(filepath.ToSlash(rel)) {
			out = append(out, p)
		}
		return err
	})
	return out, err
}

// match compares path elements; ** stands for any number of them.
func match(pattern, elems []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			for i := 0; i <= len(elems); i++ {
				if match(pattern[1:], elems[i:]) {
					return true
				}
			}
			return false
		}
		if len(elems) == 0 {
			return false
		}
		if ok, err := path.Match(pattern[0], elems[0]); err != nil || !ok {
			return false
		}
		pattern, elems = pattern[1:], elems[1:]
	}
	return len(elems) == 0
}

// An opened file is ready to be cut into units.
type opened struct {
	input
	file   *format.File
	format *format.Format
	notes  []format.Note
	key    *opened
	err    error // the file could not be opened; others can
}

// unpack puts in the place of every archive the files that lie in it.
func (r *runner) unpack(ctx context.Context, inputs []input) ([]input, error) {
	found := make([][]input, len(inputs))
	err := parallel.Each(ctx, r.opt.Workers, len(inputs), func(ctx context.Context, i int) error {
		in := inputs[i]
		members, archived, err := r.members.unpack(ctx, in.name, in.path)
		if err != nil || !archived {
			found[i] = []input{in}
			return err
		}
		sum, err := runstore.HashFile(in.path)
		if err != nil {
			return err
		}
		for _, m := range members {
			found[i] = append(found[i], input{src: in.src, path: m.path, name: norm.NFC.String(m.name), packed: sum, err: m.err})
		}
		return nil
	})
	return slices.Concat(found...), err
}

// open hashes and sniffs the inputs, several at once.
func (r *runner) open(ctx context.Context, inputs []input) ([]opened, error) {
	out := make([]opened, len(inputs))
	err := parallel.Each(ctx, r.opt.Workers, len(inputs), func(ctx context.Context, i int) error {
		in := inputs[i]
		out[i] = r.openOne(in)
		if out[i].err == nil && in.src.Key != "" {
			kp := filepath.FromSlash(in.src.Key)
			if !filepath.IsAbs(kp) {
				kp = filepath.Join(r.base, kp)
			}
			k := r.openOne(input{src: in.src, path: kp, name: norm.NFC.String(filepath.ToSlash(filepath.Base(kp)))})
			if k.err != nil {
				out[i].err = k.err
			}
			out[i].key = &k
		}
		return ctx.Err()
	})
	return out, err
}

func (r *runner) openOne(in input) opened {
	o := opened{input: in, err: in.err}
	if o.err != nil {
		return o
	}
	var err error
	password := r.env.Password
	if in.src.PasswordFile != "" {
		p := filepath.FromSlash(in.src.PasswordFile)
		if !filepath.IsAbs(p) {
			p = filepath.Join(r.base, p)
		}
		var b []byte
		if b, err = os.ReadFile(p); err != nil {
			o.err = fail.New(fail.Partial, msg.Text{"%v", "%v"}, err)
			return o
		}
		password = format.FirstLine(b)
	}
	var ocr *format.OCR
	if in.src.OCRCommand != "" {
		if ocr, o.err = format.ParseOCR(in.src.OCRCommand); o.err != nil {
			return o
		}
		ocr.Environ = r.env.Environ
	}
	df := &drydock.File{Source: in.src.Name, Name: in.name, License: in.src.License, Lang: in.src.Lang}
	o.file, o.format, o.err = format.Open(df, in.path, format.Options{
		Encoding: in.src.Encoding, WholePage: in.src.HTML == htmlWhole, AllowRestricted: in.src.AllowRestricted,
		Password: password, CacheDir: r.env.CacheDir, Workers: r.opt.Workers, OCR: ocr, PDF: r.pdf,
	}, func(n format.Note) { o.notes = append(o.notes, n) })
	if o.err != nil {
		return o
	}
	if df.SHA256 = in.packed; in.packed != "" {
		return o
	}
	// only now: Open has refused what has no end, such as a device
	if df.SHA256, err = runstore.HashFile(in.path); err != nil {
		o.err = fail.New(fail.Partial, msg.Text{"%v", "%v"}, err)
	}
	return o
}

func newPDF(env Env) *format.PDFRuntime { return format.NewPDFRuntime(env.CacheDir) }
