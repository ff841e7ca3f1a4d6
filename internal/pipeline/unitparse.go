package pipeline

import (
	"context"
	"errors"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/dataprep/question"
)

// parserFor returns the parser that takes a document: the one `as` names, or
// the first listed one that accepts it. nil when none does.
func (r *runner) parserFor(ctx context.Context, as string, doc *drydock.Document) (drydock.Parser, string, error) {
	for _, s := range r.parsers {
		questions := s.name == "parse_questions"
		switch {
		case as == "question" && questions, as == "passage" && !questions:
			return s.parser, s.name, nil
		case as != "":
			continue
		case !questions:
			return s.parser, s.name, nil
		}
		ok, err := question.Accepts(ctx, doc)
		if err != nil {
			return nil, "", err
		}
		if ok {
			return s.parser, s.name, nil
		}
	}
	return nil, "", nil
}

// notParsed drops a whole document that no step takes, block by block.
func (u *unitRun) notParsed(ctx context.Context, doc *drydock.Document) error {
	for b, err := range doc.Blocks(ctx) {
		var d *drydock.Drop
		switch {
		case errors.As(err, &d):
			if err := u.take(ctx, nil, d, sourcesStep); err != nil {
				return err
			}
			continue
		case err != nil:
			return err
		}
		text := blockText(b)
		if text == "" {
			continue
		}
		rec := &drydock.Record{
			Passage: &drydock.Passage{Text: text},
			Origin:  drydock.Origin{File: doc.File, At: b.At},
		}
		drop := &drydock.Drop{Record: rec, Reason: "not_parsed", Detail: "no step takes this document"}
		if err := u.take(ctx, nil, drop, sourcesStep); err != nil {
			return err
		}
	}
	return nil
}

func blockText(b drydock.Block) string {
	if len(b.Raw) > 0 {
		return string(b.Raw)
	}
	if len(b.Cells) == 0 {
		return b.Text
	}
	s := ""
	for i, c := range b.Cells {
		if i > 0 {
			s += "\t"
		}
		s += c
	}
	return s
}

// recordRows reports whether a document's rows already are records: the first
// row that can be read decides. A JSON file may name its chapters before it.
func recordRows(ctx context.Context, doc *drydock.Document) (bool, error) {
	for b, err := range doc.Blocks(ctx) {
		var d *drydock.Drop
		switch {
		case errors.As(err, &d):
			continue
		case err != nil:
			return false, nil // the reader that follows says so
		case len(b.Raw) == 0 && b.Level > 0:
			continue
		}
		return len(b.Raw) > 0 && shapeOf(b.Raw) != nil, nil
	}
	return false, ctx.Err()
}

func shapeOf(row []byte) *emit.Shape {
	shapes := emit.Shapes()
	for i := range shapes {
		if shapes[i].Sniff(row) {
			return &shapes[i]
		}
	}
	return nil
}

// readRows decodes rows that already are records.
func (u *unitRun) readRows(ctx context.Context, doc *drydock.Document) error {
	for b, err := range doc.Blocks(ctx) {
		var rec *drydock.Record
		if err == nil && len(b.Raw) == 0 && b.Level > 0 {
			continue // a chapter's name; records say theirs themselves
		}
		if err == nil {
			rec, err = u.row(b)
		}
		if err := u.take(ctx, rec, err, sourcesStep); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (u *unitRun) row(b drydock.Block) (*drydock.Record, error) {
	bad := func(reason, detail string) error {
		return &drydock.Drop{Reason: reason, Detail: detail, Record: &drydock.Record{
			Passage: &drydock.Passage{Text: string(b.Raw)},
			Origin:  drydock.Origin{File: u.job.from.file.File, At: b.At},
		}}
	}
	s := shapeOf(b.Raw)
	if s == nil {
		return nil, bad("unknown_row", "the row has none of the known shapes")
	}
	rec, err := s.Decode(b.Raw)
	var d *drydock.Drop
	if errors.As(err, &d) {
		if d.Record == nil {
			return nil, bad(d.Reason, d.Detail)
		}
		d.Record.Origin.At = b.At
		return nil, d
	}
	if err != nil {
		return nil, bad("bad_row", err.Error())
	}
	if f := rec.Origin.File; f != nil && f.SHA256 != "" {
		// the row knows where it was first read; that stays its origin
		if u.files == nil {
			u.files = map[drydock.File]*drydock.File{}
		}
		if u.files[*f] == nil {
			u.files[*f] = f
		}
		rec.Origin.File = u.files[*f]
	} else {
		rec.Origin = drydock.Origin{File: u.job.from.file.File, At: b.At}
	}
	rec.ID = drydock.NewRowID(u.job.from.src.Name, u.job.from.name, b.At.String(), b.Raw)
	return rec, nil
}
