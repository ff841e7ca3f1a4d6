package pipeline

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/fail"
)

// mixFile holds what was there, what was taken, and where it went.
const mixFile = "build/mix.json"

// A MixResult says what a mix and a split did.
type MixResult struct {
	Size   int          `json:"size,omitempty"` // records asked for in all
	Groups []MixGroup   `json:"groups"`         // by source, subject where the mix lists some, language, kind
	Split  *SplitResult `json:"split,omitempty"`
}

// A MixGroup is what has one name in one dimension.
type MixGroup struct {
	By     string   `json:"by"` // source, subject, lang, kind
	Name   string   `json:"name"`
	Weight *float64 `json:"weight,omitempty"`
	Quota  *int     `json:"quota,omitempty"`
	Before int      `json:"before"`
	After  int      `json:"after"`
	Dev    int      `json:"dev"` // of after
}

// A SplitResult says how the records were divided.
type SplitResult struct {
	By      string  `json:"by"`
	Share   float64 `json:"share"`  // as configured: below 1 of all, else records
	Wanted  int     `json:"wanted"` // records asked for in the dev files
	Dev     int     `json:"dev"`
	Train   int     `json:"train"`
	Groups  int     `json:"groups"`  // that were not parted
	Largest int     `json:"largest"` // records of the largest
}

// report counts what came of every group.
func (m *mixer) report(d *mixDecision, cells []mixCell, chosen []mixChoice, dev []bool) {
	inDev := make([]int, len(cells))
	for i, c := range chosen {
		if dev != nil && dev[i] {
			inDev[m.parts[c.part].records[c.record].cell]++
		}
	}
	if m.mix != nil {
		d.result.Size = m.mix.Size
	}
	d.result.Groups = []MixGroup{}
	for dim, by := range mixNames() {
		if dim == bySubject && len(m.named[dim]) == 0 {
			continue
		}
		groups := map[string]*MixGroup{}
		for c, cell := range cells {
			g := groups[cell[dim]]
			if g == nil {
				g = m.group(dim, by, cell[dim])
				groups[cell[dim]] = g
			}
			n := d.taken[cell]
			g.Before, g.After, g.Dev = g.Before+n[0], g.After+n[1], g.Dev+inDev[c]
		}
		for name := range m.named[dim] { // also what no record has: it may be a slip of the pen
			if name != rest && groups[name] == nil {
				groups[name] = m.group(dim, by, name)
			}
		}
		var list []MixGroup
		for _, g := range groups {
			list = append(list, *g)
		}
		slices.SortFunc(list, func(a, b MixGroup) int {
			return cmp.Or(cmp.Compare(b.Before, a.Before), cmp.Compare(a.Name, b.Name))
		})
		d.result.Groups = append(d.result.Groups, list...)
	}
	if s := d.result.Split; s != nil {
		for _, n := range inDev {
			s.Dev += n
		}
		s.Train = len(chosen) - s.Dev
	}
}

func (m *mixer) group(dim int, by, name string) *MixGroup {
	g := &MixGroup{By: by, Name: name}
	if m.mix == nil || !m.named[dim][name] {
		return g
	}
	if weights := m.mix.Weights.all()[dim]; weights != nil {
		w := weightOf(weights, name)
		g.Weight = &w
	}
	if q, given := m.mix.Quotas.all()[dim][name]; given {
		g.Quota = &q
	}
	return g
}

// write puts the report beside the rows.
func (r *MixResult) write(base string) (string, error) {
	path := filepath.Join(base, filepath.FromSlash(mixFile))
	return path, atomicfile.Write(path, func(w io.Writer) error {
		b, err := drydock.MarshalJSON(struct {
			Schema string `json:"schema"`
			*MixResult
		}{"drydock.mix/1", r})
		if err == nil {
			_, err = w.Write(append(b, '\n'))
		}
		return err
	})
}

// reportMix writes the mix's report and sums it up. It returns the files written;
// without a mixer all that came goes on.
func (c *corpus) reportMix(res *StageResult, in int) ([]string, error) {
	res.Sums = &drydock.Sums{In: in, Out: in, Dropped: map[string]int{}}
	if c.mixed == nil {
		return nil, nil
	}
	had, taken := 0, 0
	for _, n := range c.mixed.taken {
		had, taken = had+n[0], taken+n[1]
	}
	if had != in {
		return nil, fail.Bug(fmt.Errorf("mix: %d records came, %d were kept", had, in))
	}
	if res.Sums.Out = taken; taken < in {
		res.Sums.Dropped[notInMix] = in - taken
	}
	res.Mix, res.Files = &c.mixed.result, []string{mixFile}
	path, err := res.Mix.write(c.r.base)
	return []string{path}, err
}

// plannedMix is what a plan knows of the mix.
func (c *Config) plannedMix() *MixResult {
	m := &MixResult{Groups: []MixGroup{}}
	if c.Mix != nil {
		m.Size = c.Mix.Size
		x := newMixer(c)
		for dim, by := range mixNames() {
			for _, name := range sortedNames(x.named[dim]) {
				m.Groups = append(m.Groups, *x.group(dim, by, name))
			}
		}
	}
	if c.Split != nil {
		m.Split = &SplitResult{By: c.Split.By, Share: c.Split.Dev}
	}
	return m
}

// plannedOutput names the files of an output.
func (c *corpus) plannedOutput(o namedOutput) OutputResult {
	out := OutputResult{Shape: o.shape, Path: o.path()}
	if c.sides() > 1 {
		out.Dev = &OutputResult{Shape: o.shape, Path: o.devPath()}
	}
	return out
}

// mixParams are the options as the ledger keeps them.
func (c *Config) mixParams() drydock.RawJSON {
	p := map[string]any{}
	if c.Mix != nil {
		p["mix"] = paramsOf(c.Mix.Node)
	}
	if c.Split != nil {
		p["split"] = map[string]any{"dev": c.Split.Dev, "by": c.Split.By}
	}
	b, err := drydock.MarshalJSON(p)
	if err != nil {
		return nil
	}
	return b
}
