package convert

import (
	"slices"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/pipeline"
)

// droppedAt is where in an input something stands.
type droppedAt struct {
	at      drydock.Locator
	line    int // 0: not known
	column  int // in characters, from 1; 0: not known
	pointer string
}

// placeOf finds the line and column of a value. Only of JSON Lines is it known how
// a row stood in its file.
func placeOf(in *pipeline.InputFile, b drydock.Block, pointer string) droppedAt {
	p := droppedAt{at: b.At, line: b.At.Line, pointer: pointer}
	if in.Kind.Name == "jsonl" && b.At.Line > 0 {
		p.column = utf8.RuneCount(b.Raw[:emit.Locate(b.Raw, pointer)]) + 1
	}
	return p
}

// A refusalKind is why rows of one file were refused, and how many.
type refusalKind struct {
	file, reason, detail string
	rows                 int
}

// toldKinds is of how many kinds one refused row is named on the terminal; the
// rest are counted, and the drop file has each.
const toldKinds = 4

// tell names a refused row, unless one like it was.
func (r *run) tell(in *pipeline.InputFile, p droppedAt, no *emit.Refusal, detail string) {
	i := slices.IndexFunc(r.refusals, func(k *refusalKind) bool {
		return k.file == in.Name() && k.reason == no.Reason && k.detail == detail
	})
	if i < 0 {
		i = len(r.refusals)
		if i > toldKinds { // the last one counts whatever else there is
			i = toldKinds
		} else {
			r.refusals = append(r.refusals, &refusalKind{file: in.Name(), reason: no.Reason, detail: detail})
		}
	}
	k := r.refusals[i]
	if k.rows++; k.rows > 1 || i == toldKinds {
		return
	}
	r.bad = append(r.bad, refusedAs(no.Reason, fail.New(fail.Partial, msg.Text{"not converted (%s): %s", "未转换（%s）：%s"}, no.Reason, detail).
		At(fail.Where{File: in.Name(), Line: pipeline.LineOf(p.at), Column: p.column})))
}

// refusedAs says with a refusal what else to do with such a file.
func refusedAs(reason string, e *fail.Error) *fail.Error {
	if reason == notARow {
		return e.Hint(msg.Text{"drydock prep makes rows of documents and tables", "drydock prep 可从文档和表格生成数据行"})
	}
	return e
}

// tellRest counts the refused rows that were not named.
func (r *run) tellRest() {
	for i, k := range r.refusals {
		switch {
		case i == toldKinds:
			r.bad = append(r.bad, fail.New(fail.Partial, msg.Text{"%d more {row|rows} not converted, for other reasons", "另有 %d 行因其他原因未转换"}, k.rows))
		case k.rows > 1:
			r.bad = append(r.bad, refusedAs(k.reason, fail.New(fail.Partial, msg.Text{
				"%d more {row|rows} not converted (%s): %s", "另有 %d 行未转换（%s）：%s",
			}, k.rows-1, k.reason, k.detail).At(fail.Where{File: k.file})))
		}
	}
}

// notARow is the reason of a line that is no JSON object.
const notARow = "not_a_row"

// drop writes a row that was not converted to the drop file.
func (r *run) drop(in *pipeline.InputFile, p droppedAt, no *emit.Refusal, text string) error {
	r.res.Sums.In++
	r.res.Sums.Dropped[no.Reason]++
	detail := no.Detail
	if no.Field != "" {
		detail = no.Error()
	}
	r.tell(in, p, no, detail)
	line, err := drydock.MarshalJSON(droppedRow{
		ID:   drydock.NewRowID("", in.Name(), p.at.String(), []byte(text)).String(),
		Step: "convert", Reason: no.Reason, Field: no.Field, Pointer: p.pointer, Line: p.line, Column: p.column, Detail: detail, Text: text,
		Origin: droppedOrigin{File: in.Name(), SHA256: in.File.SHA256, Locator: p.at.String()},
	})
	if err != nil {
		return err
	}
	_, err = r.drops.Write(append(line, '\n'))
	return err
}

// droppedRow is a line of the drop file, as prep writes it.
type droppedRow struct {
	ID     string `json:"id"`
	Step   string `json:"step"`
	Reason string `json:"reason"`
	Field  string `json:"field,omitempty"`
	// Pointer is a JSON Pointer to what is refused; Line and Column count from 1.
	Pointer string        `json:"pointer,omitempty"`
	Line    int           `json:"line,omitempty"`
	Column  int           `json:"column,omitempty"`
	Detail  string        `json:"detail"`
	Text    string        `json:"text"`
	Origin  droppedOrigin `json:"origin"`
}

type droppedOrigin struct {
	Source  string `json:"source"`
	File    string `json:"file"`
	SHA256  string `json:"sha256"`
	Locator string `json:"locator"`
	License string `json:"license"`
}
