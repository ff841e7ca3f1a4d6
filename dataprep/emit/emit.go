// Package emit knows the shapes a record has as one JSON row, both ways: an
// [Emitter] writes records as rows, a [Shape] recognises and reads rows.
//
// A record that a shape cannot hold is never bent to fit: Emit returns a
// *drydock.Drop that says why, and the caller counts it.
package emit

import (
	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/msg"
)

// A Shape reads rows.
type Shape struct {
	Name    string   // as sources and messages name it
	Summary msg.Text // one sentence
	// Sniff reports whether a row, one JSON value, has this shape. It looks at
	// the names of the outermost fields only and never fails.
	Sniff func(row []byte) bool
	// Decode reads a row. The record has no ID yet: its reader gives it, knowing
	// file and place. RowID is the row's own "id"; Origin is set when the row
	// says where it came from. The record shares no memory with row. Decode is
	// safe for concurrent use. An error is in English, for a drop's detail.
	Decode func(row []byte) (*drydock.Record, error)
}

// A Builder is a configured row shape, waiting for what only the pipeline knows.
type Builder interface {
	// Path is where the rows go, as configured; "" when the caller decides.
	Path() string
	// Layout is the folder the rows become, hub or disk; "" for a file.
	Layout() string
	New(Context) (Emitter, error)
}

// A Prompted is a Builder whose rows need [Context.Prompt].
type Prompted interface {
	// Prompt names the template: a benchmark (maritime_bench@evalscope-1.4.2) or
	// a template file.
	Prompt() string
}

// A Contracted is a Builder whose rows keep a template contract, which trainer
// and server must keep, too.
type Contracted interface {
	Contract() Contract
}

// Context is what the pipeline hands to an emitter.
type Context struct {
	// Prompt renders the user turn of a question, options lettered by position.
	// A *drydock.Drop drops the record; any other error ends the run.
	Prompt func(*drydock.Question) (string, error)
	// RowID names a record in rows; nil: the content id.
	RowID func(*drydock.Record) string
	// Seed is the run's seed.
	Seed uint64
}

func (c Context) rowID(r *drydock.Record) string {
	if c.RowID == nil {
		return r.ID.String()
	}
	return c.RowID(r)
}

// An Emitter writes records as rows. It is safe for concurrent use, keeps no
// record and changes none.
type Emitter interface {
	// Emit appends the record's rows, each one JSON object and a line end; all
	// shapes but KTO's have one row a record. The error is a *drydock.Drop when the
	// record has no such shape; dst is then returned as it was.
	Emit(dst []byte, r *drydock.Record) ([]byte, error)
	// Describe says, for each row that Emit wrote, how the record was changed on
	// the way, for the sidecar.
	Describe(r *drydock.Record) []Emitted
}

// Output is the part of the options every row shape has.
type Output struct {
	File   string `yaml:"path" help:"File the rows are written to, relative to drydock.yaml: .jsonl, .json, .parquet or .arrow; with a layout, a folder." zh:"输出文件，相对于 drydock.yaml：.jsonl、.json、.parquet 或 .arrow；指定 layout 时为文件夹。"`
	Folder string `yaml:"layout" enum:"hub,disk" help:"Write a folder for Hugging Face's datasets: hub for load_dataset, disk for load_from_disk." zh:"写成供 Hugging Face datasets 使用的文件夹：hub 用于 load_dataset，disk 用于 load_from_disk。"`
}

// Path returns the configured file or folder.
func (o Output) Path() string { return o.File }

// Layout returns the configured layout of a folder.
func (o Output) Layout() string { return o.Folder }

func drop(r *drydock.Record, reason, detail string) error {
	return &drydock.Drop{Record: r, Reason: reason, Detail: detail}
}
