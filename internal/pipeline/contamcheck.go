package pipeline

import (
	"context"
	"io"
	"sync/atomic"

	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/parallel"
)

// ReadAs says how a file was looked at.
type ReadAs string

// The ways of looking at a file.
const (
	ReadRows ReadAs = "rows" // JSON or table rows, one record each
	ReadText ReadAs = "text" // running text of a document, one record a unit
)

// A ContamScanner finds benchmark items in records. It is used by one goroutine.
type ContamScanner interface {
	Row(row []byte) ([]contam.Finding, error) // an error is a *contam.SyntaxError
	Text(text []byte) []contam.Finding
}

// A ContamCheck checks files against benchmarks. Findings, and the rows of the
// cleaned copy, come in the order of the data, whatever the number of workers.
type ContamCheck struct {
	Index   *contam.Index
	Benches []*Bench // what the index was built of
	// Scanner makes the scanners; nil: those of Index, which may else be nil.
	Scanner func() ContamScanner
	Read    format.Options // its PDF runtime is shared by all files
	Workers int            // below 1: the number of usable CPUs
	Note    func(format.Note)
	// Progress is told of the bytes read of a file; end is called when it is
	// done. Nil: nobody looks.
	Progress func(name string, size int64) (set func(done int64), end func())
	// Waived says that a finding that would fail is accepted; its Fail becomes
	// false. It is called from several goroutines. Nil: none is.
	Waived func(*contam.Finding) bool
	// Hit takes every finding, in order. It keeps nothing of the hit's Finding
	// slices beyond the call unless it copies them.
	Hit func(*ContamHit) error
	// Clean takes the rows without leaks, if it is not nil; OnHit says what
	// becomes of the others: drop or annotate.
	Clean io.Writer
	OnHit string

	items map[contam.ItemRef]*benchmark.Item
}

// A ContamHit is a finding with what a reader wants to see of it.
type ContamHit struct {
	contam.Finding
	// Field is the text that Spans count in, from character Offset on: the whole
	// field, or what stands around the spans in a long one.
	Field  string
	Offset int
	// Text is the record in one line: its question, else what matched.
	Text string
	// BenchItem is the item that was found.
	BenchItem *benchmark.Item
}

// ContamInput is what was looked at of one file.
type ContamInput struct {
	File    string `json:"file"`
	SHA256  string `json:"sha256"`
	Records int    `json:"records"`
	Bytes   int64  `json:"bytes"`
	ReadAs  ReadAs `json:"read_as"`
}

// ContamTotals sums up a check.
type ContamTotals struct {
	Inputs    []ContamInput
	Records   int
	Bytes     int64
	Failed    int // records with a finding that fails the check
	CleanRows int
	OnlyRows  bool      // every input is JSONL, so that Clean could be given
	Bad       fail.List // what could not be read
}

// Files checks the files one after the other, several units of each at once. A
// file that cannot be read is noted in Bad, and the next one follows.
func (c *ContamCheck) Files(ctx context.Context, files []string) (*ContamTotals, error) {
	c.items = map[contam.ItemRef]*benchmark.Item{}
	for _, b := range c.Benches {
		for i := range b.Items {
			c.items[contam.ItemRef{Benchmark: b.Benchmark.Ref().Name, Index: b.Items[i].Index}] = &b.Items[i]
		}
	}
	t := &ContamTotals{OnlyRows: true}
	for _, name := range files {
		if err := c.file(ctx, t, name); err != nil {
			return t, err
		}
	}
	return t, nil
}

func (c *ContamCheck) file(ctx context.Context, t *ContamTotals, name string) error {
	in, err := OpenInput(ctx, name, c.Read, c.Note)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		t.Bad = append(t.Bad, fail.All(err)...)
		return nil
	}
	if c.Clean != nil && in.Kind.Name != "jsonl" {
		return fail.New(fail.Usage, msg.Text{"--clean writes JSON lines; %s is %s", "--clean 写出 JSONL；%s 是 %s"}, in.Name(), in.Kind.Name)
	}
	t.OnlyRows = t.OnlyRows && in.Kind.Name == "jsonl"
	set, end := c.progress(in)
	defer end()
	results := make([]contamUnit, len(in.Units))
	var seen atomic.Int64
	counts := ContamInput{File: in.Name(), SHA256: in.File.SHA256, Bytes: in.File.Size, ReadAs: ReadText}
	err = parallel.InOrder(ctx, c.Workers, len(in.Units), func(ctx context.Context, i int) error {
		u := &contamReader{check: c, out: &results[i], scanner: c.newScanner()}
		if err := u.read(ctx, in.Kind.Document(in.Units[i], c.Note)); err != nil {
			return err
		}
		set(seen.Add(in.Units[i].End - in.Units[i].Start))
		return nil
	}, func(i int) error {
		defer func() { results[i] = contamUnit{} }()
		return c.merge(t, &counts, &results[i])
	})
	if err != nil {
		return err
	}
	t.Inputs = append(t.Inputs, counts)
	t.Records += counts.Records
	t.Bytes += counts.Bytes
	return nil
}

func (c *ContamCheck) newScanner() ContamScanner {
	if c.Scanner != nil {
		return c.Scanner()
	}
	return c.Index.Scanner()
}

func (c *ContamCheck) progress(in *InputFile) (set func(int64), end func()) {
	if c.Progress == nil {
		return func(int64) {}, func() {}
	}
	return c.Progress(in.Name(), in.File.Size)
}

// merge takes up what became of a unit. Units come in order.
func (c *ContamCheck) merge(t *ContamTotals, in *ContamInput, r *contamUnit) error {
	in.Records += r.records
	if r.rows > 0 {
		in.ReadAs = ReadRows
	}
	t.Failed += r.failed
	t.CleanRows += r.clean.rows
	t.Bad = append(t.Bad, r.bad...)
	if c.Hit != nil {
		for i := range r.hits {
			if err := c.Hit(&r.hits[i]); err != nil {
				return err
			}
		}
	}
	if c.Clean == nil {
		return nil
	}
	_, err := c.Clean.Write(r.clean.text)
	return err
}
