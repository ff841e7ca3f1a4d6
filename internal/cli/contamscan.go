package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/pipeline"
	"github.com/drydock-ml/drydock/internal/ui"
)

func secondsOf(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// hit is a finding with what a reader wants to see of it.
type hit struct {
	f    contam.Finding
	text string // of the record, on one line
	item string // of the benchmark
}

func (h *hit) where() string {
	if h.f.Record.Line > 0 {
		return fmt.Sprintf("%s:%d", h.f.Record.File, h.f.Record.Line)
	}
	return h.f.Record.File + " " + h.f.Record.ID
}

// contamScan reads files and checks their records. Report and clean rows are
// written while it goes, in the order of the data.
type contamScan struct {
	a      *app
	ix     *contam.Index
	o      ContamCheckOptions
	items  map[contam.ItemRef]string
	answer contamAnswer
	report output
	clean  output
	rows   bool // every input is JSONL, so that --clean could be given
	bad    fail.List
}

func newContamScan(a *app, ix *contam.Index, benches []*pipeline.Bench, o ContamCheckOptions) *contamScan {
	s := &contamScan{
		a: a, ix: ix, o: o, rows: true, items: map[contam.ItemRef]string{},
		answer: contamAnswer{Verdicts: map[string]int{}, Blind: []contamItem{}, Inputs: []contamInput{}},
	}
	for _, b := range benches {
		for i := range b.Items {
			ref := contam.ItemRef{Benchmark: b.Benchmark.Ref().Name, Index: b.Items[i].Index}
			s.items[ref] = oneLine(questionText(&b.Items[i].Question))
		}
	}
	return s
}

// unitScan is what became of one unit.
type unitScan struct {
	records int
	failed  int
	rows    int
	hits    []hit
	clean   []byte
	bad     fail.List
}

// leaks is the error of records that fail the check.
func (s *contamScan) leaks(files []string) *fail.Error {
	e := fail.New(fail.Contamination, msg.Text{"records that are benchmark items: %d", "属于评测集题目的记录：%d 条"}, s.answer.Failed)
	switch {
	case s.o.Clean != "":
		return e
	case !s.rows:
		return e.Hint(msg.Text{
			"for rows without them: drydock prep makes JSONL of it, which --clean FILE takes",
			"若要不含它们的数据行：先用 drydock prep 转换为 JSONL，再用 --clean FILE",
		})
	case len(files) > 1:
		return e.Hint(msg.Text{"to write the rows without them: --clean FILE, one input at a time", "写出不含它们的数据：--clean FILE，每次一个输入"})
	}
	return e.Hint(msg.Text{"to write the rows without them: --clean FILE", "写出不含它们的数据：--clean FILE"})
}

func (s *contamScan) run(ctx context.Context, files []string, read format.Options) (err error) {
	if s.report, err = s.a.createOutput(s.o.Report, s.o.DryRun); err != nil {
		return err
	}
	defer s.report.Abort()
	if s.clean, err = s.a.createOutput(s.o.Clean, s.o.DryRun); err != nil {
		return err
	}
	defer s.clean.Abort()
	read.PDF = format.NewPDFRuntime(s.a.host.cache())
	defer read.PDF.Close()
	for _, name := range files {
		if err := s.file(ctx, name, read); err != nil {
			return err
		}
	}
	return errors.Join(s.report.Commit(), s.clean.Commit())
}

// file checks one file, several units at once. A file that cannot be read is
// noted, and the next one follows.
func (s *contamScan) file(ctx context.Context, name string, read format.Options) error {
	in, err := s.a.openInput(ctx, name, read, s.a.note)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		s.bad = append(s.bad, fail.All(err)...)
		return nil
	}
	if s.o.Clean != "" && in.kind.Name != "jsonl" {
		return fail.New(fail.Usage, msg.Text{"--clean writes JSON lines; %s is %s", "--clean 写出 JSONL；%s 是 %s"}, in.name(), in.kind.Name)
	}
	s.rows = s.rows && in.kind.Name == "jsonl"
	progress := s.a.term.Progress(in.name(), in.file.Size, true)
	defer progress.End()
	results := make([]unitScan, len(in.units))
	var seen atomic.Int64
	counts := contamInput{File: in.name(), SHA256: in.file.SHA256, Bytes: in.file.Size}
	err = s.a.inOrder(ctx, len(in.units), func(ctx context.Context, i int) error {
		u := &unitWork{s: s, out: &results[i], scanner: s.ix.Scanner()}
		if err := u.read(ctx, in.kind.Document(in.units[i], s.a.note)); err != nil {
			return err
		}
		progress.Set(seen.Add(in.units[i].End - in.units[i].Start))
		return nil
	}, func(i int) error {
		defer func() { results[i] = unitScan{} }()
		return s.merge(&counts, &results[i])
	})
	if err != nil {
		return err
	}
	s.answer.Inputs = append(s.answer.Inputs, counts)
	s.answer.Records += counts.Records
	s.answer.Bytes += counts.Bytes
	return nil
}

func (s *contamScan) merge(in *contamInput, r *unitScan) error {
	in.Records += r.records
	s.answer.Failed += r.failed
	s.answer.CleanRows += r.rows
	s.bad = append(s.bad, r.bad...)
	var buf []byte
	for i := range r.hits {
		h := &r.hits[i]
		s.answer.Verdicts[string(h.f.Verdict)]++
		if h.f.Fail && len(s.answer.shown) <= shownHits {
			s.answer.shown = append(s.answer.shown, *h)
		}
		buf = h.f.Append(buf[:0])
		if _, err := s.report.Write(buf); err != nil {
			return err
		}
	}
	_, err := s.clean.Write(r.clean)
	return err
}

// unitWork reads one unit. Rows are checked one by one; running text as one
// record, so that an item broken over lines is found.
type unitWork struct {
	s       *contamScan
	out     *unitScan
	scanner *contam.Scanner
	file    string
	text    []byte
	starts  []textStart
	runes   int
}

// textStart says which block begins at which character of the text.
type textStart struct {
	rune int
	at   drydock.Locator
}

func (u *unitWork) read(ctx context.Context, doc *drydock.Document) error {
	u.file = doc.File.Name
	for b, err := range doc.Blocks(ctx) {
		var drop *drydock.Drop
		switch {
		case errors.As(err, &drop):
			u.out.bad = append(u.out.bad, badBlock(drop))
			if r := drop.Record; r != nil && r.Passage != nil {
				u.plain(r.Passage.Text, r.Origin.At)
			}
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			u.out.bad = append(u.out.bad, fail.All(err)...)
			return nil
		case b.Raw != nil:
			u.row(b)
		case b.Cells != nil:
			u.plain(strings.Join(b.Cells, "\n"), b.At)
		default:
			u.starts = append(u.starts, textStart{u.runes, b.At})
			u.text = append(append(u.text, b.Text...), '\n')
			u.runes += utf8.RuneCountInString(b.Text) + 1
		}
	}
	u.running()
	return nil
}

// plain checks a text that is one record by itself: a table row, or a row too
// broken to be read, which may hide a leak all the same.
func (u *unitWork) plain(text string, at drydock.Locator) {
	raw := []byte(text)
	u.record(u.scanner.Text(raw), raw, func(f *contam.Finding) string { return matched([]rune(text), f.Spans) }, at)
}

// row checks one JSON row.
func (u *unitWork) row(b drydock.Block) {
	found, err := u.scanner.Row(b.Raw)
	if err != nil {
		w := fail.Where{File: u.file, Line: lineOf(b.At), Excerpt: string(b.Raw)}
		var bad *contam.SyntaxError
		if errors.As(err, &bad) {
			w.Column = utf8.RuneCount(b.Raw[:min(bad.Column-1, len(b.Raw))]) + 1
		}
		u.out.bad = append(u.out.bad, fail.New(fail.Partial, msg.Text{"no JSON, checked as plain text: %v", "不是 JSON，已按纯文本检查：%v"}, err).At(w))
		u.plain(string(b.Raw), b.At)
		return
	}
	failed := u.record(found, b.Raw, func(f *contam.Finding) string { return rowText(b.Raw, f) }, b.At)
	if u.s.o.Clean == "" {
		return
	}
	if failed && u.s.o.OnHit == "drop" {
		return
	}
	row := b.Raw
	if failed {
		row = annotated(b.Raw, found)
	}
	u.out.clean = append(append(u.out.clean, row...), '\n')
	u.out.rows++
}

// rowText is what a person wants to see of a row: the question, else what
// matched in the field the finding points at; the row as it stands when there
// is no such field.
func rowText(raw []byte, f *contam.Finding) string {
	if r, _ := decodeRow(raw); r != nil && r.Question != nil {
		return questionText(r.Question)
	}
	if field, ok := fieldText(raw, f.Record.Pointer); ok {
		return matched([]rune(field), f.Spans)
	}
	return string(raw)
}

// fieldText returns the text a JSON pointer leads to.
func fieldText(raw []byte, pointer string) (string, bool) {
	var v any
	if pointer == "" || json.Unmarshal(raw, &v) != nil {
		return "", false
	}
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		switch in := v.(type) {
		case map[string]any:
			v = in[unescape.Replace(step)]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(in) {
				return "", false
			}
			v = in[i]
		default:
			return "", false
		}
	}
	s, ok := v.(string)
	return s, ok
}

// matched cuts out of a text what the spans cover, with a little of what stands
// around it. A span counts characters.
func matched(text []rune, spans []contam.Span) string {
	const around = 12 // characters
	if len(spans) == 0 {
		return string(text)
	}
	from, to := len(text), 0
	for _, s := range spans {
		from, to = min(from, s.Start), max(to, s.End)
	}
	from, to = max(from-around, 0), min(to+around, len(text))
	if from >= to {
		return string(text)
	}
	out := strings.TrimSpace(string(text[from:to]))
	if from > 0 {
		out = "…" + out
	}
	if to < len(text) {
		out += "…"
	}
	return out
}

func questionText(q *drydock.Question) string {
	text := q.Stem
	for _, o := range q.Options {
		text += " " + o.Label + ". " + o.Text
	}
	return text
}

// record books the findings of one record and reports whether one fails.
func (u *unitWork) record(found []contam.Finding, raw []byte, text func(*contam.Finding) string, at drydock.Locator) (failed bool) {
	u.out.records++
	sum := recordHash(found, raw)
	for _, f := range found {
		f.Record.File, f.Record.Line, f.Record.SHA256 = u.file, lineOf(at), sum
		if f.Record.ID == "" {
			f.Record.ID = at.String()
		}
		failed = failed || f.Fail
		u.out.hits = append(u.out.hits, hit{f: f, text: oneLine(text(&f)), item: u.s.items[f.Item]})
	}
	if failed {
		u.out.failed++
	}
	return failed
}

// recordHash names the bytes of a record in which something was found.
func recordHash(found []contam.Finding, raw []byte) string {
	if len(found) == 0 {
		return ""
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// running checks the text of a document. Each finding is placed at the block
// its evidence begins in; a record that fails is counted once a place.
func (u *unitWork) running() {
	if len(u.text) == 0 {
		return
	}
	found := u.scanner.Text(u.text)
	runes, sum := []rune(string(u.text)), recordHash(found, u.text)
	places := map[drydock.Locator]bool{}
	u.out.records++
	for _, f := range found {
		at, from := drydock.Locator{}, 0
		if len(f.Spans) > 0 {
			from = f.Spans[0].Start
			i, ok := slices.BinarySearchFunc(u.starts, from, func(s textStart, r int) int { return s.rune - r })
			if !ok {
				i--
			}
			at = u.starts[max(i, 0)].at
		}
		f.Record.File, f.Record.ID, f.Record.Line, f.Record.SHA256 = u.file, at.String(), lineOf(at), sum
		if f.Fail && !places[at] {
			places[at] = true
			u.out.failed++
		}
		u.out.hits = append(u.out.hits, hit{f: f, text: oneLine(matched(runes, f.Spans)), item: u.s.items[f.Item]})
	}
}

func oneLine(s string) string { return strings.Join(strings.Fields(ui.Truncate(s, 400)), " ") }

// annotated adds what was found to a JSON object as its last field.
func annotated(row []byte, found []contam.Finding) []byte {
	end := strings.LastIndexByte(string(row), '}')
	if end < 0 {
		return row
	}
	body := strings.TrimRight(string(row[:end]), " \t\r\n")
	out := []byte(body)
	if !strings.HasSuffix(body, "{") {
		out = append(out, ',')
	}
	out = append(out, `"contamination":[`...)
	for i, f := range found {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, `{"benchmark":`...)
		out = drydock.AppendJSONString(out, f.Item.Benchmark)
		out = append(out, fmt.Sprintf(`,"index":%d,"verdict":`, f.Item.Index)...)
		out = drydock.AppendJSONString(out, string(f.Verdict))
		out = append(out, fmt.Sprintf(`,"score":%.4f}`, f.Score)...)
	}
	return append(append(out, `]}`...), row[end+1:]...)
}
