package contam

import (
	"bytes"
	"context"
	"io"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/parallel"
)

// SummarySchema names the shape of a check's summary.
const SummarySchema = "drydock.contam.summary/1"

// An Action is what happens to a row that fails.
type Action string

// The actions.
const (
	Drop     Action = "drop"     // it is left out of the cleaned data
	Annotate Action = "annotate" // it stays, with a key "contamination" that names the items
)

// Options says how a check runs and where its results go. None of it changes
// what is found.
type Options struct {
	Workers int // goroutines; below 1: one for each CPU
	// Report gets every finding, in the order of inputs and rows.
	Report func(*Finding) error
	// Clean gets the rows that stay, one a line, in order; nil: not wanted. It
	// is for rows: with plain text among the inputs the check is refused.
	Clean io.Writer
	OnHit Action // for Clean; empty: Drop
}

// A FileSum names an input by its bytes.
type FileSum struct {
	File   string `json:"file"`
	SHA256 string `json:"sha256"`
}

// A BadRow is a row that is no JSON. Its bytes are checked as text.
type BadRow struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	What   string `json:"what"`
}

// A Summary is what a check comes to.
type Summary struct {
	Inputs   []FileSum
	Records  int
	Bytes    int64
	Items    int
	Blind    []ItemRef // items these settings could not find; see [Index.Blind]
	Verdicts map[Verdict]int
	// FailedRecords counts records with a failing finding; ItemsHit the items
	// that such findings name.
	FailedRecords int
	ItemsHit      int
	Kept          int // rows written to Clean
	BadRows       []BadRow
	Config        string
}

// Exit is the exit code the result calls for: 10 with failed records, 3 with
// rows that could not be read, else 0.
func (s *Summary) Exit() int {
	switch {
	case s.FailedRecords > 0:
		return fail.Contamination.Code()
	case len(s.BadRows) > 0:
		return fail.Partial.Code()
	}
	return 0
}

// Append writes the summary as one JSON document on a line.
func (s *Summary) Append(dst []byte) ([]byte, error) {
	type ref struct {
		Benchmark string `json:"benchmark"`
		Index     int    `json:"index"`
	}
	blind := []ref{}
	for _, b := range s.Blind {
		blind = append(blind, ref(b))
	}
	dst = append(dst, `{"schema":"`+SummarySchema+`","inputs":`...)
	part := func(v any) error {
		b, err := drydock.MarshalJSON(v)
		dst = append(dst, b...)
		return err
	}
	if err := part(append([]FileSum{}, s.Inputs...)); err != nil {
		return dst, err
	}
	for _, n := range []struct {
		name string
		v    int64
	}{{"records", int64(s.Records)}, {"bytes", s.Bytes}, {"items", int64(s.Items)}} {
		dst = append(dst, `,"`+n.name+`":`...)
		dst = strconv.AppendInt(dst, n.v, 10)
	}
	dst = append(dst, `,"blind":`...)
	if err := part(blind); err != nil {
		return dst, err
	}
	dst = append(dst, `,"verdicts":{`...)
	for i, v := range Verdicts() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `"`+string(v)+`":`...)
		dst = strconv.AppendInt(dst, int64(s.Verdicts[v]), 10)
	}
	dst = append(dst, `},"failed_records":`...)
	dst = strconv.AppendInt(dst, int64(s.FailedRecords), 10)
	dst = append(dst, `,"items_hit":`...)
	dst = strconv.AppendInt(dst, int64(s.ItemsHit), 10)
	dst = append(dst, `,"bad_rows":`...)
	if err := part(append([]BadRow{}, s.BadRows...)); err != nil {
		return dst, err
	}
	dst = append(dst, `,"config":`...)
	dst = drydock.AppendJSONString(dst, s.Config)
	dst = append(dst, `,"exit":`...)
	dst = strconv.AppendInt(dst, int64(s.Exit()), 10)
	return append(dst, "}\n"...), nil
}

// outcome is what a worker made of a chunk.
type outcome struct {
	records, failed, kept int
	findings              []Finding
	bad                   []BadRow
	clean                 []byte
}

// Check reads the inputs and checks every row, several chunks at a time. Report
// and Clean are called in the order of the inputs, whatever the workers do. An
// error ends it; rows that are no JSON do not, they are in the summary.
func (ix *Index) Check(ctx context.Context, inputs []Input, o Options) (*Summary, error) {
	if o.OnHit != "" && o.OnHit != Drop && o.OnHit != Annotate {
		return nil, fail.New(fail.Usage, msg.Text{"unknown action %q for a hit", "未知的命中处理方式 %q"}, string(o.OnHit)).
			Hint(msg.Text{"use drop or annotate", "可用 drop 或 annotate"})
	}
	run := &checkRun{
		ix: ix, o: o, src: source{ctx: ctx, inputs: inputs},
		sum: Summary{Items: len(ix.items), Verdicts: map[Verdict]int{}, Config: ix.hash, Blind: ix.Blind()},
		hit: map[ItemRef]bool{},
	}
	run.turn = sync.NewCond(&run.mu)
	workers := parallel.Workers(o.Workers)
	if err := parallel.Each(ctx, workers, workers, func(context.Context, int) error { return run.work() }); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for i, sha := range run.src.sums {
		run.sum.Inputs = append(run.sum.Inputs, FileSum{inputs[i].Name, sha})
	}
	run.sum.Bytes = run.src.bytes
	run.sum.ItemsHit = len(run.hit)
	return &run.sum, nil
}

type checkRun struct {
	ix *Index
	o  Options

	read sync.Mutex // guards src
	src  source

	mu   sync.Mutex // guards the rest
	turn *sync.Cond
	next int // sequence number of the chunk whose results come next
	err  error
	sum  Summary
	hit  map[ItemRef]bool
}

func (r *checkRun) work() error {
	s := r.ix.Scanner()
	for {
		r.read.Lock()
		c, err := r.src.next()
		r.read.Unlock()
		if err != nil || c == nil {
			return r.stop(err)
		}
		if c.text && r.o.Clean != nil {
			return r.stop(fail.New(fail.Usage, msg.Text{"%s is plain text; only rows can be cleaned", "%s 是纯文本；只能清理按行的数据"},
				r.src.inputs[c.input].Name))
		}
		var out outcome
		// a panic must not leave the others waiting for their turn
		if err := parallel.Call(func() error { out = s.chunk(c, r.src.inputs[c.input].Name, r.o); return nil }); err != nil {
			return r.stop(err)
		}
		if err := r.deliver(c.seq, &out); err != nil {
			return err
		}
	}
}

// stop wakes those who wait for a turn that will not come.
func (r *checkRun) stop(err error) error {
	if err != nil {
		r.mu.Lock()
		if r.err == nil {
			r.err = err
		}
		r.turn.Broadcast()
		r.mu.Unlock()
	}
	return err
}

// deliver waits for the chunk's turn and hands its results over.
func (r *checkRun) deliver(seq int, out *outcome) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.next != seq && r.err == nil {
		r.turn.Wait()
	}
	if r.err != nil {
		return r.err
	}
	defer r.turn.Broadcast()
	r.sum.Records += out.records
	r.sum.FailedRecords += out.failed
	r.sum.Kept += out.kept
	r.sum.BadRows = append(r.sum.BadRows, out.bad...)
	for i := range out.findings {
		f := &out.findings[i]
		r.sum.Verdicts[f.Verdict]++
		if f.Fail {
			r.hit[f.Item] = true
		}
		if r.o.Report != nil {
			if r.err = r.o.Report(f); r.err != nil {
				return r.err
			}
		}
	}
	if r.o.Clean != nil && len(out.clean) > 0 {
		if _, r.err = r.o.Clean.Write(out.clean); r.err != nil {
			return r.err
		}
	}
	r.next++
	return nil
}

// chunk checks the rows of a chunk.
func (s *Scanner) chunk(c *chunk, file string, o Options) outcome {
	var out outcome
	if c.text {
		s.textChunk(c, file, &out)
		return out
	}
	if c.cuts == nil {
		line := c.line
		for data := c.data; len(data) > 0; line++ {
			row := data
			if i := bytes.IndexByte(data, '\n'); i >= 0 {
				row, data = data[:i], data[i+1:]
			} else {
				data = nil
			}
			s.oneRow(row, file, line, o, &out)
		}
		return out
	}
	from := 0
	for i, end := range c.cuts {
		s.oneRow(c.data[from:end], file, c.lines[i], o, &out)
		from = end
	}
	return out
}

func (s *Scanner) oneRow(row []byte, file string, line int, o Options, out *outcome) {
	row = bytes.TrimSpace(row)
	if len(row) == 0 {
		return
	}
	out.records++
	found, err := s.Row(row)
	if err != nil {
		bad := BadRow{File: file, Line: line, Column: 1, What: err.Error()}
		if e, ok := err.(*SyntaxError); ok {
			bad.Column, bad.What = e.Column, e.What
		}
		out.bad = append(out.bad, bad)
		found = s.Text(row)
	}
	failed := false
	for i := range found {
		f := &found[i]
		f.Record.File, f.Record.Line = file, line
		if f.Record.ID == "" {
			f.Record.ID = contentID(file, line, row)
		}
		failed = failed || f.Fail
	}
	if failed {
		out.failed++
	}
	out.findings = append(out.findings, found...)
	if o.Clean == nil || failed && o.OnHit != Annotate {
		return
	}
	out.kept++
	if failed {
		row = annotate(row, found)
	}
	out.clean = append(append(out.clean, row...), '\n')
}

// contentID is the id of a row that has none of its own.
func contentID(file string, line int, row []byte) string {
	return drydock.NewID("", file, drydock.Locator{Line: line}.String(), string(row)).String()
}

// annotate adds the key "contamination" to an object; another row stays as it
// is, since it has no place for one.
func annotate(row []byte, found []Finding) []byte {
	if len(row) < 2 || row[0] != '{' || row[len(row)-1] != '}' {
		return row
	}
	out := append([]byte(nil), row[:len(row)-1]...)
	if len(bytes.TrimSpace(out)) > 1 {
		out = append(out, ", "...)
	}
	out = append(out, `"contamination": [`...)
	n := 0
	for i := range found {
		f := &found[i]
		if !f.Fail {
			continue
		}
		if n > 0 {
			out = append(out, ", "...)
		}
		n++
		out = append(out, `{"benchmark": `...)
		out = drydock.AppendJSONString(out, f.Item.Benchmark)
		out = append(out, `, "index": `...)
		out = strconv.AppendInt(out, int64(f.Item.Index), 10)
		out = append(out, `, "verdict": `...)
		out = drydock.AppendJSONString(out, string(f.Verdict))
		out = append(out, '}')
	}
	return append(out, "]}"...)
}

// textChunk checks a stretch of text. What ends in the part that the chunk
// before has seen was reported there.
func (s *Scanner) textChunk(c *chunk, file string, out *outcome) {
	if c.seen == 0 {
		out.records++
	}
	seenRunes := utf8.RuneCount(c.data[:c.seen])
	failed := false
	for _, f := range s.Text(c.data) {
		if n := len(f.Spans); n > 0 && f.Spans[n-1].End <= seenRunes {
			continue
		}
		f.Record.File, f.Record.Line = file, c.line
		if len(f.Spans) > 0 {
			f.Record.Line += bytes.Count(c.data[:byteOffset(c.data, f.Spans[0].Start)], []byte("\n"))
		}
		for i := range f.Spans {
			f.Spans[i].Start += c.runes
			f.Spans[i].End += c.runes
		}
		f.Record.ID = contentID(file, f.Record.Line, nil)
		failed = failed || f.Fail
		out.findings = append(out.findings, f)
	}
	if failed {
		out.failed++
	}
}

func byteOffset(text []byte, runes int) int {
	i := 0
	for ; runes > 0 && i < len(text); runes-- {
		_, n := utf8.DecodeRune(text[i:])
		i += n
	}
	return i
}
