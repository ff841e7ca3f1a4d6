package emit

import (
	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/shuffle"
)

// Emitted says how a record became a row.
type Emitted struct {
	RowID   string         // the row's "id"
	Shape   string         // row shape
	Letters []shuffle.Move // where options went, in the record's order; nil when the row has none
	Pinned  string         // why options kept their order though they could move; see package shuffle
}

// AppendSidecar appends one JSON line that says what a row cannot: where the
// record came from, what it was made from, and which letter became which. Only
// "id" is a field every trainer leaves alone, so the rest stands here.
func AppendSidecar(dst []byte, r *drydock.Record, e Emitted) []byte {
	dst = append(dst, '{')
	dst = appendText(dst, "id", e.RowID)
	dst = appendText(dst, "record", r.ID.String())
	dst = appendText(dst, "shape", e.Shape)
	dst = appendText(dst, "kind", r.Form())
	dst = appendText(dst, "lang", r.Lang)
	if r.RowID != "" {
		dst = appendText(dst, "row_id", r.RowID)
	}
	switch {
	case r.Question != nil:
		dst = appendTexts(dst, "subject", r.Question.Subject)
	case r.Passage != nil:
		dst = appendTexts(dst, "subject", r.Passage.Heading)
	}
	if len(e.Letters) > 0 {
		dst = append(appendField(dst, "letters"), '{')
		for _, m := range e.Letters {
			// labels come from files: they are text, not names we chose
			if dst[len(dst)-1] != '{' {
				dst = append(dst, ',')
			}
			dst = drydock.AppendJSONString(dst, m.From)
			dst = append(dst, ':')
			dst = drydock.AppendJSONString(dst, m.To)
		}
		dst = append(dst, '}')
	}
	if e.Pinned != "" {
		dst = appendText(dst, "order_kept", e.Pinned)
	}
	dst = append(appendField(dst, "parents"), '[')
	for i, p := range r.Parents {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = drydock.AppendJSONString(dst, p.String())
	}
	dst = append(dst, ']')
	dst = appendOrigin(dst, r.Origin)
	return append(dst, '}', '\n')
}
