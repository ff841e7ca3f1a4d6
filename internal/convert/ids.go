package convert

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"strconv"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/emit"
)

// idField begins every row that has an id: a conversion writes it first.
const idField = `{"id":`

// idOf returns a row's id as it is written; nil when it has none.
func idOf(row []byte) []byte {
	rest, ok := bytes.CutPrefix(row, []byte(idField))
	if !ok {
		return nil
	}
	return rest[:emit.ValueEnd(rest)]
}

// idText is an id without its quotes, if it has any.
func idText(id []byte) (text string, quoted bool) {
	if id[0] != '"' {
		return string(id), false
	}
	s, err := strconv.Unquote(string(id))
	if err != nil { // an escape that only JSON knows
		s = string(id[1 : len(id)-1])
	}
	return s, true
}

// rename writes the waiting rows with the ids they keep: SOURCE/ID where several
// inputs have an id, and all of them text where some are.
func (r *run) rename(ctx context.Context, w io.Writer) error {
	f, err := os.Open(r.spool())
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 256<<10)
	var buf []byte
	for _, part := range r.parts {
		for range part.rows {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			row, err := in.ReadBytes('\n')
			if err != nil {
				return err
			}
			buf = r.renamed(buf[:0], row, part.source.Source)
			if _, err := w.Write(buf); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *run) renamed(dst, row []byte, source string) []byte {
	id := idOf(row)
	if id == nil {
		return append(dst, row...)
	}
	text, quoted := idText(id)
	dst = append(dst, idField...)
	switch {
	case r.ids.Shared(text):
		r.res.Renamed++
		dst = drydock.AppendJSONString(dst, source+"/"+text)
	case quoted || !r.res.AsText:
		dst = append(dst, id...)
	default:
		dst = drydock.AppendJSONString(dst, text)
	}
	return append(dst, row[len(idField)+len(id):]...)
}
