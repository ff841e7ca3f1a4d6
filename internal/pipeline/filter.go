package pipeline

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/provenance"
)

// partState is what pass 2 has decided about one part.
type partState struct {
	kept     []uint64 // bit per record
	dedup    drydock.Sums
	contam   drydock.Sums
	findings []recordFindings
	counts   []contamCounts          // by check
	masked   map[int]*drydock.Record // records that stay otherwise than they came, by number
}

type recordFindings struct {
	check   int
	record  *drydock.Record
	next    *drydock.Record // the one behind, for what goes on in it; may be nil
	finding []contam.Finding
}

type contamCounts struct {
	leaks    int
	removed  int // of these; masked ones too
	masked   int
	verdicts map[string]int
}

func (s *partState) keep(i int)     { s.kept[i/64] |= 1 << (i % 64) }
func (s *partState) has(i int) bool { return s.kept[i/64]&(1<<(i%64)) != 0 }

// asKept returns record i of the part as it stays.
func (s *partState) asKept(i int, r *drydock.Record) *drydock.Record {
	if m := s.masked[i]; m != nil {
		return m
	}
	return r
}

// quarantineSuffix is that of the records of a part that leak, whole.
const quarantineSuffix = ".quarantine.jsonl"

func (c *corpus) chunk(stage int, p *part, suffix string) string {
	return c.stages[stage].Path(fmt.Sprintf("chunk-%06d%s", p.n, suffix))
}

// filter runs dedup and the contamination check over one part and notes which
// records stay.
func (c *corpus) filter(ctx context.Context, p *part) (*partState, error) {
	f, files, err := c.newFilterRun(p)
	defer func() {
		for _, file := range files {
			file.Abort()
		}
	}()
	if err != nil {
		return nil, err
	}
	base := 0
	for recs, err := range p.batches(ctx) {
		if err != nil {
			return nil, err
		}
		if err := f.batch(ctx, recs, base); err != nil {
			return nil, err
		}
		base += len(recs)
	}
	if err := f.finish(ctx, p); err != nil {
		return nil, err
	}
	for _, file := range files {
		if err := file.Commit(); err != nil {
			return nil, err
		}
	}
	return f.s, nil
}

// newFilterRun begins the run over a part. files are those it writes, also those
// begun before an error.
func (c *corpus) newFilterRun(p *part) (f *filterRun, files []*atomicfile.File, err error) {
	s := &partState{kept: make([]uint64, p.meta.Records/64+1), counts: make([]contamCounts, len(c.checks)), masked: map[int]*drydock.Record{}}
	for i := range s.counts {
		s.counts[i].verdicts = map[string]int{}
	}
	f = &filterRun{c: c, s: s, scanners: make([]*contam.Scanner, len(c.checks))}
	for i, ch := range c.checks {
		f.scanners[i] = ch.index.Scanner()
		f.scanners[i].Break()
	}
	if c.mixer != nil {
		f.mix = c.mixer.sketch(p.n - 1)
	}
	create := func(stage int, suffix string) *atomicfile.File {
		if err != nil {
			return nil
		}
		var file *atomicfile.File
		if file, err = atomicfile.Create(c.chunk(stage, p, suffix)); err == nil {
			files = append(files, file)
		}
		return file
	}
	for i := range f.drops {
		f.drops[i] = create(i, ".dropped.jsonl")
	}
	f.leaked = create(atContam, ".leaked.jsonl")
	if c.r.cfg.Contamination.OnHit == OnHitQuarantine {
		f.quarantine = create(atContam, quarantineSuffix)
	}
	f.ids.w = create(atContam, rowIDSuffix)
	return f, files, err
}

type filterRun struct {
	c          *corpus
	s          *partState
	scanners   []*contam.Scanner
	drops      [2]*atomicfile.File
	leaked     *atomicfile.File
	quarantine *atomicfile.File
	maskers    []*contam.Scanner // by check; made when a record is masked
	ids        rowIDSketch
	mix        *mixSketch // nil without a mixer
	last       *checked   // waits for what stands on the seam behind it
	buf        []byte
}

// checked is a record with what every check found in it, and on the seam with
// the next.
type checked struct {
	record, next *drydock.Record
	at           int // its number in the part
	found        [][]contam.Finding
}

func (f *filterRun) batch(ctx context.Context, recs []*drydock.Record, base int) error {
	at := make(map[drydock.ID]int, len(recs))
	ids := make([]drydock.ID, len(recs))
	for i, r := range recs {
		at[r.ID], ids[i] = base+i, r.ID
	}
	out := recs
	if f.c.dedup != nil {
		var dropped []drydock.Drop
		var err error
		if out, dropped, err = callStep(ctx, f.c.dedup, slices.Clone(recs)); err != nil {
			return err
		}
		sums, err := drydock.Account(ids, out, dropped)
		if err != nil {
			return fail.Bug(fmt.Errorf("dedup: %w", err))
		}
		f.s.dedup.Add(sums)
		for i := range dropped {
			dropped[i].Step = StageDedup
			if err := f.drop(0, &dropped[i], f.c.evidenceOf(dropped[i].Record)); err != nil {
				return err
			}
		}
	} else {
		f.s.dedup.Add(drydock.Sums{In: len(recs), Out: len(recs)})
	}
	for _, r := range out {
		if err := f.take(r, at[r.ID]); err != nil {
			return err
		}
	}
	return nil
}

// take checks one record. What becomes of it is decided when the next one has
// been checked, since an item may begin in it and end there.
func (f *filterRun) take(r *drydock.Record, at int) error {
	c := &checked{record: r, at: at, found: make([][]contam.Finding, len(f.scanners))}
	for i, sc := range f.scanners {
		c.found[i] = sc.Record(r)
	}
	if err := f.settle(r); err != nil {
		return err
	}
	f.last = c
	return nil
}

// settle decides about the record before next, the one checked last.
func (f *filterRun) settle(next *drydock.Record) error {
	c := f.last
	if c == nil {
		return nil
	}
	f.last, c.next = nil, next
	if next != nil {
		for i, sc := range f.scanners {
			c.found[i] = append(c.found[i], sc.Seam()...)
		}
	}
	d, ev, err := f.judge(c)
	if err != nil {
		return err
	}
	f.s.contam.In++
	if d != nil {
		f.s.contam.Add(drydock.Sums{Dropped: map[string]int{d.Reason: 1}})
		return f.drop(1, d, ev)
	}
	f.s.contam.Out++
	f.s.keep(c.at)
	r := f.s.asKept(c.at, c.record)
	if f.mix != nil {
		f.c.mixer.add(f.mix, r, c.at)
	}
	return f.ids.add(r)
}

// finish settles the last record of the part, with the first of the next part
// where that goes on with the same file. Parts are numbered from 1.
func (f *filterRun) finish(ctx context.Context, p *part) error {
	if f.last == nil {
		return nil
	}
	if next := p.n; len(f.scanners) > 0 && next < len(f.c.r.parts) && f.last.record.Origin.File != nil {
		for recs, err := range f.c.r.parts[next].batches(ctx) {
			if err != nil {
				return err
			}
			if len(recs) == 0 {
				continue
			}
			if r := recs[0]; r.Origin.File != nil && r.Origin.File.SHA256 == f.last.record.Origin.File.SHA256 && r.Origin.File.Name == f.last.record.Origin.File.Name {
				for _, sc := range f.scanners {
					sc.Record(r)
				}
				return f.settle(r)
			}
			break
		}
	}
	return f.settle(nil)
}

func (f *filterRun) drop(stage int, d *drydock.Drop, ev *provenance.Evidence) error {
	var err error
	if f.buf, err = appendDrop(f.buf[:0], d, ev); err != nil {
		return err
	}
	_, err = f.drops[stage].Write(f.buf)
	return err
}

// judge books what was found in a record and does what the configuration says
// about leaks. A record with one is dropped unless it stays as it is, or masked.
func (f *filterRun) judge(c *checked) (*drydock.Drop, *provenance.Evidence, error) {
	var leaks []int // checks that found one
	var first contam.Finding
	for i, found := range c.found {
		if len(found) == 0 {
			continue
		}
		n := &f.s.counts[i]
		x := slices.MinFunc(found, worse)
		n.verdicts[string(x.Verdict)]++
		f.s.findings = append(f.s.findings, recordFindings{i, c.record, c.next, found})
		if !x.Fail {
			continue
		}
		n.leaks++
		if leaks = append(leaks, i); len(leaks) == 1 {
			first = x
		}
	}
	onHit := f.c.r.cfg.Contamination.OnHit
	if len(leaks) == 0 || onHit == OnHitAnnotate {
		return nil, nil, nil
	}
	masked := false
	if onHit == OnHitMask {
		if r := f.mask(c); r != nil {
			f.s.masked[c.at], masked = r, true
		}
	}
	for _, i := range leaks {
		f.s.counts[i].removed++
		if masked {
			f.s.counts[i].masked++
		}
	}
	if masked {
		return nil, nil, nil
	}
	return f.dropLeak(c, leaks[0], &first)
}

// dropLeak makes the drop of a record in which a check found x, and keeps the
// record outside the build.
func (f *filterRun) dropLeak(c *checked, check int, x *contam.Finding) (drop *drydock.Drop, ev *provenance.Evidence, err error) {
	drop = &drydock.Drop{
		Record: c.record, Step: StageContam, Reason: "contam_" + string(x.Verdict),
		Detail: fmt.Sprintf("item %d of %s, score %.2f", x.Item.Index, x.Item.Benchmark, x.Score),
	}
	ref := f.c.checks[check].bench.Benchmark.Ref()
	ev = &provenance.Evidence{
		Benchmark: ref.Name, Revision: ref.Revision, Index: &x.Item.Index,
		Verdict: string(x.Verdict), Score: math.Round(x.Score*1e4) / 1e4, Rule: x.Rule,
	}
	if f.buf, err = f.c.appendLeaked(f.buf[:0], c.record); err != nil {
		return nil, nil, err
	}
	if _, err := f.leaked.Write(f.buf); err != nil {
		return nil, nil, err
	}
	if f.quarantine != nil {
		if f.buf, err = appendQuarantined(f.buf[:0], c); err != nil {
			return nil, nil, err
		}
		if _, err := f.quarantine.Write(f.buf); err != nil {
			return nil, nil, err
		}
	}
	return drop, ev, nil
}

// worse orders the findings of a record, which come in the order of the items: a
// record counts as the gravest of what it holds.
func worse(a, b contam.Finding) int {
	if a.Fail != b.Fail {
		if a.Fail {
			return -1
		}
		return 1
	}
	order := contam.Verdicts()
	return slices.Index(order, a.Verdict) - slices.Index(order, b.Verdict)
}

// appendLeaked writes a removed record as a question row, so that the run can
// say what the baselines would have scored with it. Other kinds give nothing.
func (c *corpus) appendLeaked(dst []byte, r *drydock.Record) ([]byte, error) {
	if r.Question == nil {
		return dst, nil
	}
	return c.leaked.Emit(dst, r)
}
