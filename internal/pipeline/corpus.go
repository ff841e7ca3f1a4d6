package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/dedup"
	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/parallel"
	"github.com/drydock-ml/drydock/internal/runstore"
	"github.com/drydock-ml/drydock/internal/spec"
)

// A corpusStep must have seen every record before it can decide about one.
type corpusStep interface {
	drydock.Step // second pass: drops by what was decided
	// Sketch returns the first pass over one unit; units run concurrently.
	Sketch(unit int) func(context.Context, []*drydock.Record) error
	// Decide is called once between the passes; its outcome must not depend on
	// the units' timing.
	Decide(context.Context) error
}

var _ corpusStep = (*dedup.Remover)(nil)

// The stages of pass 2, by place.
const (
	atDedup = iota
	atContam
	atMix
	atOutput
	corpusStages
)

func corpusNames() [corpusStages]string {
	return [corpusStages]string{StageDedup, StageContam, StageMix, StageOutput}
}

// reportFile holds the findings of the contamination check, one a line.
const reportFile = "build/contam.jsonl"

// corpus is pass 2: what is done when every record has been seen.
type corpus struct {
	r      *runner
	key    string
	stages [corpusStages]runstore.Stage
	cached bool
	saved  savedCorpus
	dedup  *dedup.Remover // nil: duplicates stay
	mixer  *mixer         // nil: all that is left goes to the outputs
	mixed  *mixDecision   // nil before it decided, and without a mixer
	checks []*check
	emits  []*output
	leaked emit.Emitter               // question rows of what was removed
	stands map[drydock.ID]*dedup.Pair // removed duplicate → the record that stays
	outs   []*outState                // by part
}

// savedCorpus is result.json of the output stage: what a cached run reports.
type savedCorpus struct {
	Results [corpusStages]StageResult `json:"results"` // without a name: the stage is not configured
}

// A check is one benchmark the records are compared with.
type check struct {
	bench *Bench
	index *contam.Index
}

// An output is one file to write.
type output struct {
	namedOutput
	emitter emit.Emitter
}

func (r *runner) newCorpus(whole string) (*corpus, error) {
	c := &corpus{r: r}
	for i, name := range corpusNames() {
		c.stages[i] = r.stage(name)
	}
	parts := []string{r.env.Tool.Program, whole, fmt.Sprint(r.cfg.Seed, r.cfg.Dedup.Exact, r.cfg.Dedup.threshold(), r.cfg.Dedup.Prefer), r.cfg.Contamination.OnHit, r.cfg.Contamination.Thresholds.Hash()}
	for _, ref := range r.cfg.Contamination.Against {
		parts = append(parts, ref, r.benches[ref].SHA256)
	}
	parts = append(parts, string(r.cfg.mixParams()), r.cfg.SpecialTokens)
	for _, o := range r.cfg.Output {
		text, err := r.promptSource(o.prompt())
		if err != nil {
			return nil, err
		}
		parts = append(parts, o.shape, o.params, text)
	}
	c.key = runstore.Key(parts...)
	if d, ok := c.stages[atOutput].Done(); ok && d.Key == c.key && !r.forced(StageDedup, StageContam, StageMix, StageOutput) {
		if changed, intact := d.Intact(r.project); intact {
			b, err := os.ReadFile(c.stages[atOutput].Path("result.json"))
			c.cached = err == nil && json.Unmarshal(b, &c.saved) == nil
		} else if !r.opt.DryRun {
			r.warn(msg.Text{
				changed + " is no longer what the last run wrote; it is made again",
				changed + " 与上次运行写出的内容不同；将重新生成",
			})
		}
	}
	if !c.cached && r.cfg.Dedup.Exact {
		c.dedup = dedup.New(r.dedupOptions())
	}
	if !c.cached {
		c.mixer = newMixer(r.cfg)
	}
	if c.mixer != nil && r.cfg.Split != nil {
		c.mixer.kin = newKin(r.dedupOptions())
	}
	return c, nil
}

// sketch returns the first pass of the corpus steps over unit i; nil when
// nothing needs one.
func (c *corpus) sketch(i int) func(context.Context, []*drydock.Record) error {
	var steps []func(context.Context, []*drydock.Record) error
	if c.dedup != nil {
		steps = append(steps, c.dedup.Sketch(i))
	}
	if c.mixer != nil && c.mixer.kin != nil {
		steps = append(steps, c.mixer.kin.remover.Sketch(i))
	}
	if len(steps) == 0 {
		return nil
	}
	return func(ctx context.Context, recs []*drydock.Record) error {
		for _, s := range steps {
			if err := s(ctx, recs); err != nil {
				return err
			}
		}
		return nil
	}
}

// runCorpus is the stages dedup, contam, mix and output.
func (r *runner) runCorpus(ctx context.Context) error {
	c := r.corpus
	if r.opt.DryRun {
		return c.plan()
	}
	if c.cached {
		for i := range c.saved.Results {
			res := c.saved.Results[i]
			if res.Name == "" {
				continue
			}
			res.Status, res.Reason, res.Seconds, res.key = StatusCached, "unchanged", 0, c.key
			if err := r.done(res); err != nil {
				return err
			}
		}
		return nil
	}
	for _, s := range c.stages {
		if err := s.Reset(); err != nil {
			return err
		}
	}
	took := r.clock()
	if err := c.open(); err != nil {
		return err
	}
	if err := c.decideDuplicates(ctx); err != nil {
		return err
	}
	decided := took()
	states := make([]*partState, len(r.parts))
	err := c.eachPart(ctx, StageContam, func(ctx context.Context, i int) (err error) {
		states[i], err = c.filter(ctx, r.parts[i])
		return err
	})
	if err != nil {
		return err
	}
	ids, err := newRowIDs(c.chunks(atContam, rowIDSuffix))
	if err != nil {
		return err
	}
	checked := took()
	if c.mixer != nil {
		sizes := make([]int, len(r.parts))
		for i, p := range r.parts {
			sizes[i] = p.meta.Records
		}
		if c.mixed, err = c.mixer.decide(ctx, sizes); err != nil {
			return err
		}
	}
	mixed := took()
	if err := c.emitAll(ctx, states, ids); err != nil {
		return err
	}
	return c.finish(ctx, states, ids, [corpusStages]float64{decided, checked - decided, mixed - checked, took() - mixed})
}

// close gives up the texts that wait for a decision.
func (c *corpus) close() error {
	var err error
	if c.dedup != nil {
		err = c.dedup.Close()
	}
	if c.mixer != nil && c.mixer.kin != nil && c.mixer.kin.remover != nil {
		err = errors.Join(err, c.mixer.kin.remover.Close())
	}
	return err
}

func (c *corpus) eachPart(ctx context.Context, stage string, do func(context.Context, int) error) error {
	var done atomic.Int64
	return parallel.Each(ctx, c.r.opt.Workers, len(c.r.parts), func(ctx context.Context, i int) error {
		err := do(ctx, i)
		c.r.tell(Event{Type: "progress", Stage: stage, Done: int(done.Add(1)), Total: len(c.r.parts)})
		return err
	})
}

// open builds the indexes and the emitters.
func (c *corpus) open() error {
	if c.mixer != nil {
		c.mixer.parts = make([]*mixSketch, len(c.r.parts))
	}
	question, _ := spec.Find(emit.Emitters(), "question")
	b, err := question.Default()
	if err != nil {
		return err
	}
	if c.leaked, err = b.New(emit.Context{}); err != nil {
		return err
	}
	for _, ref := range c.r.cfg.Contamination.Against {
		b := c.r.benches[ref]
		ix, err := contam.NewIndex(b.Items, b.Benchmark.Ref(), c.r.cfg.Contamination.Thresholds.Config)
		if err != nil {
			return err
		}
		c.checks = append(c.checks, &check{b, ix})
	}
	return nil
}

// finish joins the chunks, writes the stages' files and reports them.
func (c *corpus) finish(ctx context.Context, states []*partState, ids *rowIDs, seconds [corpusStages]float64) error {
	var results [corpusStages]StageResult
	for i, name := range corpusNames() {
		results[i] = StageResult{Name: name, Status: StatusDone, Sums: &drydock.Sums{}, key: c.key, Seconds: seconds[i]}
	}
	for _, s := range states {
		results[atDedup].Sums.Add(s.dedup)
		results[atContam].Sums.Add(s.contam)
	}
	if err := c.report(&results[atContam], states, ids); err != nil {
		return err
	}
	var files [corpusStages][]string
	var err error
	if files[atMix], err = c.reportMix(&results[atMix], results[atContam].Sums.Out); err != nil {
		return err
	}
	if files[atOutput], err = c.joinOutputs(ctx, &results[atOutput], results[atMix].Sums.Out); err != nil {
		return err
	}
	if files[atDedup], err = c.reportDuplicates(&results[atDedup]); err != nil {
		return err
	}
	if len(c.checks) > 0 {
		files[atContam] = append(files[atContam], filepath.Join(c.r.base, filepath.FromSlash(reportFile)))
		results[atContam].Files = []string{reportFile}
	}
	if c.mixer == nil {
		results[atMix] = StageResult{}
	}
	for i := range results {
		if results[i].Name == "" {
			continue
		}
		chunks := c.chunks(i, ".dropped.jsonl")
		if _, _, err := concat(c.stages[i].Path("dropped.jsonl"), chunks); err != nil {
			return err
		}
		if err := results[i].Sums.Close(); err != nil {
			return fail.Bug(fmt.Errorf("stage %s: %w", results[i].Name, err))
		}
		if err := writeStats(c.stages[i], *results[i].Sums); err != nil {
			return err
		}
		files[i] = append(files[i], c.stages[i].Path("stats.json"), c.stages[i].Path("dropped.jsonl"))
	}
	if _, _, err := concat(c.stages[atContam].Path("leaked.jsonl"), c.chunks(atContam, ".leaked.jsonl")); err != nil {
		return err
	}
	files[atContam] = append(files[atContam], c.stages[atContam].Path("leaked.jsonl"))
	if c.r.cfg.Contamination.OnHit == OnHitQuarantine {
		held := c.stages[atContam].Path("quarantine.jsonl")
		if _, _, err := concat(held, c.chunks(atContam, quarantineSuffix)); err != nil {
			return err
		}
		files[atContam] = append(files[atContam], held)
	}
	return c.seal(results, files)
}

// seal writes result.json and DONE, the output stage's last, since it vouches
// for all of them.
func (c *corpus) seal(results [corpusStages]StageResult, files [corpusStages][]string) error {
	saved := savedCorpus{Results: results}
	for i := range saved.Results {
		saved.Results[i].Seconds = 0 // a clock time has no place in a stage
	}
	b, err := json.MarshalIndent(saved, "", " ")
	if err != nil {
		return err
	}
	if err := atomicfile.WriteFile(c.stages[atOutput].Path("result.json"), append(b, '\n')); err != nil {
		return err
	}
	files[atOutput] = append(files[atOutput], c.stages[atOutput].Path("result.json"))
	files[atOutput] = append(files[atOutput], slices.Concat(files[:atOutput]...)...)
	for i := range results {
		if results[i].Name == "" {
			continue
		}
		d, err := c.stages[i].Finish(c.r.project, c.key, files[i])
		if err != nil {
			return err
		}
		results[i].done = d.Files
		if err := c.r.done(results[i]); err != nil {
			return err
		}
	}
	return nil
}

func (c *corpus) chunks(stage int, suffix string) []string {
	out := make([]string, len(c.r.parts))
	for i, p := range c.r.parts {
		out[i] = c.chunk(stage, p, suffix)
	}
	return out
}

// plan says whether pass 2 would run.
func (c *corpus) plan() error {
	reason := "sources, steps or options changed"
	if _, ok := c.stages[atOutput].Done(); !ok {
		reason = "not done yet"
	}
	for i, name := range corpusNames() {
		if i == atMix && c.r.cfg.Mix == nil && c.r.cfg.Split == nil {
			continue
		}
		s := StageResult{Name: name, Status: StatusPlanned, Reason: reason}
		if name == StageContam && len(c.r.cfg.Contamination.Against) == 0 {
			s.Status, s.Reason = StatusSkipped, noBenchmark
			if err := c.r.done(s); err != nil {
				return err
			}
			continue
		}
		if c.cached {
			s.Status, s.Reason = StatusCached, "unchanged"
		}
		if i == atMix {
			s.Mix = c.r.cfg.plannedMix()
		}
		if i == atOutput {
			for _, o := range c.r.cfg.Output {
				s.Output = append(s.Output, c.plannedOutput(o))
			}
		}
		if i == atContam {
			for _, ref := range c.r.cfg.Contamination.Against {
				b := c.r.benches[ref]
				s.Contam = append(s.Contam, ContamResult{Benchmark: b.Benchmark.Ref().String(), SHA256: b.Canonical, Items: len(b.Items)})
			}
		}
		if err := c.r.done(s); err != nil {
			return err
		}
	}
	return nil
}
