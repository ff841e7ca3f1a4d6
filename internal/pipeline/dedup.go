package pipeline

import (
	"context"
	"io"
	"math"
	"path/filepath"
	"slices"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dedup"
	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/provenance"
)

// duplicatesFile holds the near duplicates, one pair a line: those that went and
// those that are only listed.
const duplicatesFile = "build/dedup.jsonl"

// nearRule names how near duplicates are found, for the ledgers.
const nearRule = "near@1"

// dedupOptions is the configuration's dedup as the package takes it. Texts that
// do not fit into memory wait where the stages are, and are swept there.
func (r *runner) dedupOptions() dedup.Options {
	o := dedup.Options{
		Threshold: r.cfg.Dedup.threshold(), Workers: r.opt.Workers,
		Dir: filepath.Join(r.base, ".drydock", "stages"),
	}
	if prefer := r.cfg.Dedup.Prefer; len(prefer) > 0 {
		o.Prefer = func(f *drydock.File) int {
			if i := slices.Index(prefer, f.Source); i >= 0 {
				return i
			}
			return len(prefer)
		}
	}
	return o
}

// decideDuplicates settles which records repeat others.
func (c *corpus) decideDuplicates(ctx context.Context) error {
	if c.mixer != nil && c.mixer.kin != nil {
		if err := c.mixer.kin.decide(ctx); err != nil {
			return err
		}
	}
	if c.dedup == nil {
		return nil
	}
	if err := c.dedup.Decide(ctx); err != nil {
		return err
	}
	c.stands = map[drydock.ID]*dedup.Pair{}
	pairs := c.dedup.Pairs()
	for i := range pairs {
		if !pairs[i].Listed {
			c.stands[pairs[i].Removed.ID] = &pairs[i]
		}
	}
	return nil
}

// evidenceOf says in the ledger's words what a duplicate was removed for.
func (c *corpus) evidenceOf(r *drydock.Record) *provenance.Evidence {
	p, ok := c.stands[r.ID]
	if !ok {
		return nil
	}
	ev := &provenance.Evidence{Kept: &p.Kept.ID}
	if p.Reason == dedup.Near {
		ev.Score, ev.Rule = math.Round(p.Similarity*1e4)/1e4, nearRule
	}
	return ev
}

// reportDuplicates writes build/dedup.jsonl when near duplicates were looked for,
// counts what it lists, and returns the files it has written.
func (c *corpus) reportDuplicates(res *StageResult) ([]string, error) {
	threshold := c.r.cfg.Dedup.threshold()
	if c.dedup == nil || threshold == 0 {
		return nil, nil
	}
	path := filepath.Join(c.r.base, filepath.FromSlash(duplicatesFile))
	var t dedup.Tally
	err := atomicfile.Write(path, func(w io.Writer) (err error) {
		t, err = c.dedup.WritePairs(w)
		return err
	})
	res.Dedup = &DedupResult{Threshold: threshold, Clusters: t.Clusters, Listed: t.Listed}
	res.Files = []string{duplicatesFile}
	return []string{path}, err
}

// params are the options as the ledger keeps them.
func (c DedupConfig) params() drydock.RawJSON {
	p := struct {
		Exact  bool     `json:"exact"`
		Near   any      `json:"near,omitempty"`
		Prefer []string `json:"prefer,omitempty"`
	}{Exact: c.Exact, Prefer: c.Prefer}
	if c.Near != nil {
		p.Near = map[string]float64{"threshold": c.Near.Threshold}
	}
	b, err := drydock.MarshalJSON(p)
	if err != nil {
		return nil
	}
	return b
}
