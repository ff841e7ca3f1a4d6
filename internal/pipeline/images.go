package pipeline

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// An ImagesResult says which images of questions were copied.
type ImagesResult struct {
	Dir   string `json:"dir"`
	Files int    `json:"files"`
	// Missing are images that questions name and their file does not hold, as
	// FILE NAME.
	Missing []string `json:"missing"`
}

// copyImages copies the images that questions name to DIR/FILE/NAME, FILE being
// the source's name in every origin.
func (r *runner) copyImages(ctx context.Context) (*ImagesResult, error) {
	if r.cfg.Images == "" || r.opt.DryRun {
		return nil, nil
	}
	dir := inside(r.base, r.cfg.Images)
	res := &ImagesResult{Dir: r.cfg.Images, Missing: []string{}}
	for i := range r.inputs {
		in := &r.inputs[i]
		if in.file == nil || in.format == nil {
			continue
		}
		names, err := r.imagesOf(ctx, in)
		if err != nil {
			return nil, err
		}
		missing, err := in.format.CopyImages(ctx, in.file, names, func(name string, image io.Reader) error {
			to := filepath.Join(dir, filepath.FromSlash(in.name), name)
			if !filepath.IsLocal(name) {
				return fail.New(fail.Failed, msg.Text{"%s: an image is named %q", "%s：图片名为 %q"}, in.name, name)
			}
			res.Files++
			return writeImage(to, image)
		})
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		var disk *fs.PathError
		if errors.As(err, &disk) && filepath.IsAbs(disk.Path) {
			return nil, err // a folder that cannot be written, a full disk
		}
		if err != nil {
			missing = names // the file could not be read again: said when it was read
		}
		for _, name := range missing {
			res.Missing = append(res.Missing, in.name+" "+name)
		}
	}
	if n := len(res.Missing); n > 0 {
		r.partial = append(r.partial, fail.New(fail.Partial, msg.Text{
			"%d {image|images} of questions {is|are} not where the source says: %s", "%d 张题目图片不在来源所指之处：%s",
		}, n, msg.Few(res.Missing, 5)))
	}
	return res, nil
}

func writeImage(to string, image io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return atomicfile.Write(to, func(w io.Writer) error {
		_, err := io.Copy(w, image)
		return err
	})
}

// imagesOf lists the images that the questions of an input name, each once.
func (r *runner) imagesOf(ctx context.Context, in *opened) ([]string, error) {
	var names []string
	seen := map[string]bool{}
	for n, p := range r.parts {
		if p.meta.Key == "" || !r.partOf(n, in) {
			continue
		}
		for recs, err := range p.batches(ctx) {
			if err != nil {
				return nil, err
			}
			for _, rec := range recs {
				if rec.Question == nil || rec.Origin.File == nil || rec.Origin.File.SHA256 != in.file.SHA256 {
					continue
				}
				for _, f := range rec.Question.Figures {
					if !seen[f] {
						seen[f] = true
						names = append(names, f)
					}
				}
			}
		}
	}
	slices.Sort(names)
	return names, nil
}
