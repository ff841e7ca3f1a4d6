package pipeline

import (
	"context"
	"path/filepath"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dataprep/question"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/runstore"
)

// An InputFile is a file ready to be read, with the hash of its bytes.
type InputFile struct {
	File  *format.File
	Kind  *format.Format
	Units []format.Unit
}

// InputRows is how many rows were read of a file.
type InputRows struct {
	File   string `json:"file"`
	SHA256 string `json:"sha256"`
	Rows   int    `json:"rows"`
	Bytes  int64  `json:"bytes"`
}

// Name is what messages call the file.
func (f *InputFile) Name() string { return f.File.Name }

// OpenInput opens a file and cuts it into units. The error is of kind partial,
// or that of a cancelled context.
func OpenInput(ctx context.Context, name string, o format.Options, note func(format.Note)) (*InputFile, error) {
	in, err := openAs(ctx, filepath.ToSlash(name), name, o, note)
	if err != nil {
		return nil, err
	}
	// only now: a device has no end to hash
	if in.File.SHA256, err = runstore.HashFile(name); err != nil {
		return nil, fail.New(fail.Partial, msg.Text{"%v", "%v"}, err)
	}
	return in, nil
}

// openAs is OpenInput for a file that goes by another name, without its hash.
func openAs(ctx context.Context, name, path string, o format.Options, note func(format.Note)) (*InputFile, error) {
	f, kind, err := format.Open(&drydock.File{Name: name}, path, o, note)
	if err != nil {
		return nil, err
	}
	in := &InputFile{File: f, Kind: kind}
	return in, in.cut(ctx)
}

// cut finds the units.
func (f *InputFile) cut(ctx context.Context) (err error) {
	f.Units, err = f.Kind.Units(ctx, f.File)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// behind returns the document of the unit that follows u; nil when none does.
func (f *InputFile) behind(u format.Unit) *drydock.Document {
	if next := u.Index + 1; next < len(f.Units) {
		return f.Kind.Document(f.Units[next], nil)
	}
	return nil
}

// BadBlock says which row or page could not be read.
func BadBlock(d *drydock.Drop) *fail.Error {
	e := fail.New(fail.Partial, msg.Text{"not read (%s)", "未能读取（%s）"}, d.Reason)
	if p, ok := question.DetailMeaning(d.Detail); ok {
		e = fail.New(fail.Partial, msg.Text{"not read (%s: %s)", "未能读取（%s：%s）"}, d.Reason, p)
	} else if d.Detail != "" {
		e = fail.New(fail.Partial, msg.Text{"not read (%s: %s)", "未能读取（%s：%s）"}, d.Reason, d.Detail)
	}
	if d.Record == nil || d.Record.Origin.File == nil {
		return e
	}
	at := d.Record.Origin.At
	w := fail.Where{File: d.Record.Origin.File.Name, Line: LineOf(at)}
	if w.Line == 0 && !at.IsZero() {
		w.File += " " + at.String()
	}
	return e.At(w)
}

// LineOf is the line or row number of a place in a text or row file; 0 in one
// with pages or paragraphs.
func LineOf(at drydock.Locator) int {
	if at.Page > 0 || at.Para > 0 || at.Sheet != "" {
		return 0
	}
	return max(at.Line, at.Row)
}

// DecodeRow reads a row by the first shape that takes it; r is nil, and why
// says the reason, when none does.
func DecodeRow(raw []byte) (r *drydock.Record, why string) {
	for _, s := range emit.Shapes() {
		if !s.Sniff(raw) {
			continue
		}
		r, err := s.Decode(raw)
		if err != nil {
			return nil, s.Name + ": " + err.Error()
		}
		return r, ""
	}
	return nil, "the row has none of the known shapes"
}
