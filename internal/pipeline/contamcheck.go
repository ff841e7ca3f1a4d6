package pipeline

import (
	"context"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/dedup/contam/report"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/parallel"
)

// ReadAs says how a file was looked at.
type ReadAs string

// The ways of looking at a file.
const (
	ReadRows    ReadAs = "rows"    // JSON or table rows, one record each
	ReadText    ReadAs = "text"    // running text of a document, one record a unit
	ReadRaw     ReadAs = "raw"     // bytes of another kind, see [contam.Raw]
	ReadArchive ReadAs = "archive" // its members, each in its own way
)

// A ContamShard is the part of a check that one of several programs does. The
// units of all files, in order, are dealt out: unit k, from 0, is that of shard
// k mod Of + 1.
type ContamShard struct{ Index, Of int } // from 1; Of 0: all of it

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
	// Shown is how many findings that fail get their Fields in each unit, for what
	// shows the first few; below 1: all findings do, failing or not. Reading rows
	// again for those that nobody shows takes a twentieth of a check.
	Shown int
	// Clean takes the rows of JSON inputs without leaks, if it is not nil; OnHit,
	// one of [OnHits], says what becomes of the others. Removed takes those that
	// do not stay, and rows that are no JSON; nil: nobody wants them.
	Clean, Removed io.Writer
	OnHit          string
	Shard          ContamShard

	raw   *contam.Raw
	tmp   string // for members of archives that have to lie on disk
	items map[contam.ItemRef]*benchmark.Item
	pool  *scannerPool
}

// A ContamHit is a finding with what a reader wants to see of it.
type ContamHit struct {
	contam.Finding
	// Fields are the texts that the evidence counts in, cut to what matched; nil
	// where ContamCheck.Shown leaves them out.
	Fields []report.Field
	// BenchItem is the item that was found.
	BenchItem *benchmark.Item
	// Input and Unit say where it was found: the number of the file in Inputs,
	// and of the unit in the file, both from 0.
	Input, Unit int
}

// ContamInput is what was looked at of one file.
type ContamInput struct {
	File    string `json:"file"`
	SHA256  string `json:"sha256"`
	Records int    `json:"records"`
	Bytes   int64  `json:"bytes"`
	ReadAs  ReadAs `json:"read_as"`
	// Members counts the files of an archive, and of those in it, by how they
	// were read.
	Members map[ReadAs]int `json:"members,omitempty"`
}

// ContamTotals sums up a check.
type ContamTotals struct {
	Inputs  []ContamInput
	Records int
	Bytes   int64
	Failed  int // records with a finding that fails the check
	// Of the rows, RowsIn = CleanRows + RemovedRows. MaskedRows and AnnotatedRows
	// are among the clean ones, UnreadRows, which are no JSON, among the removed.
	RowsIn, CleanRows, RemovedRows        int
	MaskedRows, AnnotatedRows, UnreadRows int
	OnlyRows                              bool      // every input is JSON rows, so that Clean could be given
	Bad                                   fail.List // what could not be read
}

// Files checks the files, several units at once. A file that cannot be read is
// noted in Bad, and the next one follows; what a reader cannot make out is looked
// at as bytes all the same.
func (c *ContamCheck) Files(ctx context.Context, files []string) (*ContamTotals, error) {
	c.items = map[contam.ItemRef]*benchmark.Item{}
	for _, b := range c.Benches {
		for i := range b.Items {
			c.items[contam.ItemRef{Benchmark: b.Ref().Name, Index: b.Items[i].Index}] = &b.Items[i]
		}
	}
	c.pool = &scannerPool{make: c.NewScanner}
	var err error
	if c.tmp, err = os.MkdirTemp("", "drydock-"); err != nil {
		return nil, err
	}
	defer os.RemoveAll(c.tmp)
	t := &ContamTotals{OnlyRows: true}
	opened, jobs, err := c.jobs(ctx, t, files)
	if err != nil {
		return t, err
	}
	defer func() {
		for _, f := range opened {
			f.close()
		}
	}()
	if c.Index != nil && slices.ContainsFunc(jobs, func(j contamJob) bool { return !j.in.onlyRows() }) {
		c.raw = c.Index.Raw()
	}
	// the hashes are only for the summary, so the scan need not wait for them
	hashes := parallel.Go(func() error {
		return parallel.Each(ctx, c.Workers, len(opened), func(ctx context.Context, i int) error {
			opened[i].hash()
			return context.Cause(ctx)
		})
	})
	if err := c.run(ctx, t, jobs); err != nil {
		return t, err
	}
	err = hashes.Wait()
	for i, f := range opened {
		t.Inputs[i].SHA256 = f.sum()
		t.Bad = append(t.Bad, f.bad...)
	}
	return t, err
}

// A contamJob is one unit of one input.
type contamJob struct {
	in    *contamFile
	input int // number of the input
	unit  int
}

// jobs opens the files and lists the units that are this shard's. The inputs are
// those files that can be looked at.
func (c *ContamCheck) jobs(ctx context.Context, t *ContamTotals, files []string) (inputs []*contamFile, jobs []contamJob, err error) {
	opened := make([]contamFile, len(files))
	err = parallel.Each(ctx, c.Workers, len(files), func(ctx context.Context, i int) error {
		opened[i] = c.open(ctx, files[i])
		return context.Cause(ctx)
	})
	if err != nil {
		return nil, nil, err
	}
	k := 0
	for i := range opened {
		f := &opened[i]
		t.Bad = append(t.Bad, f.bad...)
		f.bad = nil
		if f.gone {
			continue
		}
		if c.Clean != nil && !f.onlyRows() {
			return nil, nil, notRows(f)
		}
		t.OnlyRows = t.OnlyRows && f.onlyRows()
		for unit := range f.units() {
			if c.Shard.Of == 0 || k%c.Shard.Of == c.Shard.Index-1 {
				jobs = append(jobs, contamJob{f, len(t.Inputs), unit})
			}
			k++
		}
		inputs = append(inputs, f)
		t.Inputs = append(t.Inputs, ContamInput{File: f.name, ReadAs: f.readAs()})
	}
	return inputs, jobs, nil
}

func notRows(f *contamFile) error {
	return fail.New(fail.Usage, msg.Text{"--clean writes JSON lines; %s is %s", "--clean 写出 JSONL；%s 是 %s"}, f.name, f.kind()).
		Hint(msg.Text{"drydock prep %s -o FILE makes JSONL of it", "用 drydock prep %s -o 文件 转换为 JSONL"}, f.name)
}

// run does the jobs, several at once, and takes up what became of them in order.
func (c *ContamCheck) run(ctx context.Context, t *ContamTotals, jobs []contamJob) error {
	set, end := c.progress(jobs)
	defer end()
	results := make([]contamUnit, len(jobs))
	var seen atomic.Int64
	inner := 1 // goroutines within a job
	if len(jobs) == 1 {
		inner = c.Workers
	}
	return parallel.InOrder(ctx, c.Workers, len(jobs), func(ctx context.Context, i int) error {
		j := jobs[i]
		if err := c.work(ctx, j.in, j.unit, inner, &results[i]); err != nil {
			return err
		}
		set(seen.Add(results[i].size))
		return nil
	}, func(i int) error {
		defer func() { results[i] = contamUnit{} }()
		return c.merge(t, jobs[i], &results[i])
	})
}

// NewScanner makes a scanner as the check uses it.
func (c *ContamCheck) NewScanner() ContamScanner {
	if c.Scanner != nil {
		return c.Scanner()
	}
	return c.Index.Scanner()
}

// A scannerPool holds scanners between two units: what they have made room for serves
// the next one.
type scannerPool struct {
	make func() ContamScanner
	mu   sync.Mutex
	idle []ContamScanner
}

func (p *scannerPool) take() ContamScanner {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 0 {
		s := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return s
	}
	return p.make()
}

func (p *scannerPool) give(s ContamScanner) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, s)
}

// progress begins the display of a run over the jobs.
func (c *ContamCheck) progress(jobs []contamJob) (set func(int64), end func()) {
	if c.Progress == nil || len(jobs) == 0 {
		return func(int64) {}, func() {}
	}
	var size int64
	for _, j := range jobs {
		size += j.in.unitSize(j.unit)
	}
	name := jobs[0].in.name
	if last := jobs[len(jobs)-1].in.name; last != name {
		name += " … " + last
	}
	return c.Progress(name, size)
}

// merge takes up what became of a unit. Units come in order.
func (c *ContamCheck) merge(t *ContamTotals, j contamJob, r *contamUnit) error {
	in := &t.Inputs[j.input]
	in.Records += r.records
	in.Bytes += r.size
	for k, n := range r.members {
		if in.Members == nil {
			in.Members = map[ReadAs]int{}
		}
		in.Members[k] += n
	}
	t.Records += r.records
	t.Bytes += r.size
	t.Failed += r.failed
	t.RowsIn += r.rows.in
	t.CleanRows += r.rows.kept
	t.RemovedRows += r.rows.gone
	t.MaskedRows += r.rows.masked
	t.AnnotatedRows += r.rows.annotated
	t.UnreadRows += r.rows.unread
	t.Bad = append(t.Bad, r.bad...)
	if c.Hit != nil {
		for i := range r.hits {
			r.hits[i].Input, r.hits[i].Unit = j.input, j.unit
			if err := c.Hit(&r.hits[i]); err != nil {
				return err
			}
		}
	}
	if c.Clean == nil {
		return nil
	}
	if c.Removed != nil {
		if _, err := c.Removed.Write(r.rows.removed); err != nil {
			return err
		}
	}
	_, err := c.Clean.Write(r.rows.clean)
	return err
}
