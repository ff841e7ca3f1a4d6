package checkpoint

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/parallel"
)

// MergeOptions say how a merge is recomputed.
type MergeOptions struct {
	Merged, Base, Adapter string // folders
	// Rows is how many rows of each weight are recomputed, evenly spread; 0: all.
	Rows    int
	Workers int // below 1: one a CPU
	// Progress is called with weights done and weights in all; nil: not at all.
	Progress func(done, total int)
}

// Verdict is what came of one weight.
type Verdict string

// The verdicts. Those of a weight the adapter is for: merged, not_merged,
// merged_twice, scaled, differs. Those of the others: kept, changed.
const (
	Merged      Verdict = "merged"       // base + scale·B·A, as far as the rounding of the type tells
	NotMerged   Verdict = "not_merged"   // it is the base's
	MergedTwice Verdict = "merged_twice" // base + 2·scale·B·A
	Scaled      Verdict = "scaled"       // base + k·scale·B·A for another k
	Differs     Verdict = "differs"      // none of these
	Kept        Verdict = "kept"         // the adapter is not for it, and it is the base's
	Changed     Verdict = "changed"      // the adapter is not for it, and it is not the base's
)

// A MergedWeight is one weight held to what the merge should have made of it.
type MergedWeight struct {
	Name    string  `json:"name"`
	Verdict Verdict `json:"verdict"`
	// Factor is how often scale·B·A stands in the weight, by least squares over
	// the values looked at: 1 when merged. 0 for weights the adapter is not for.
	Factor float64 `json:"factor"`
	// MaxDeviation and MeanDeviation are |weight − (base + scale·B·A)|.
	MaxDeviation  float64 `json:"max_deviation"`
	MeanDeviation float64 `json:"mean_deviation"`
	Beyond        int64   `json:"beyond"` // values that rounding does not explain
	Values        int64   `json:"values"` // looked at
	// Lost is the share of the values whose change is smaller than the type can
	// hold beside the weight: a faultless merge loses it, too.
	Lost float64 `json:"lost"`
}

// A MergeReport is what a merge check found.
type MergeReport struct {
	Verdict       Verdict        `json:"verdict"` // merged, or the worst of the weights
	DType         string         `json:"dtype"`   // of the merged weights
	Weights       int            `json:"weights"` // the adapter is for
	Others        int            `json:"others"`  // it is not for
	Values        int64          `json:"values"`
	MaxDeviation  float64        `json:"max_deviation"`
	MeanDeviation float64        `json:"mean_deviation"`
	Lost          float64        `json:"lost"`
	Factor        float64        `json:"factor"` // the median of the weights'
	Bad           []MergedWeight `json:"bad"`    // weights that are not merged or kept
}

// CheckMerge recomputes base + scale·B·A, and compares the merged weights with
// it, value by value. Weights the adapter is not for must be the base's. It
// reads blocks of rows, so that memory does not grow with the model.
func CheckMerge(ctx context.Context, o MergeOptions) (*MergeReport, error) {
	m, err := openMerge(o)
	if err != nil {
		return nil, err
	}
	defer m.close()
	names := m.merged.names()
	out := make([]MergedWeight, len(names))
	err = parallel.InOrder(ctx, parallel.Workers(o.Workers), len(names), func(_ context.Context, i int) error {
		w, err := m.weight(names[i])
		out[i] = w
		return err
	}, func(i int) error {
		if o.Progress != nil {
			o.Progress(i+1, len(names))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return m.report(out), nil
}

// A merge is what a check reads.
type merge struct {
	o                     MergeOptions
	merged, base, adapter *weights
	config                *adapterConfig
	pairs                 map[string]*loraPair // by the name of the base's weight
}

func (m *merge) close() {
	for _, w := range []*weights{m.merged, m.base, m.adapter} {
		if w != nil {
			_ = w.Close() // only read
		}
	}
}

func openMerge(o MergeOptions) (*merge, error) {
	m := &merge{o: o}
	if err := m.open(); err != nil {
		m.close()
		return nil, err
	}
	return m, nil
}

func (m *merge) open() error {
	raw, err := os.ReadFile(filepath.Join(m.o.Adapter, adapterConfigFile))
	if err != nil {
		return fail.New(fail.Failed, msg.Text{"%v", "%v"}, err)
	}
	if m.config, err = readAdapterConfig(raw); err != nil {
		return fail.New(fail.Failed, msg.Text{"%s: %v", "%s：%v"}, adapterConfigFile, err)
	}
	c := m.config
	if c.DoRA || present(c.Modules) || c.pissa() != "" || c.FanInOut || c.Rank < 1 {
		return fail.New(fail.Refused, msg.Text{"a merge of this adapter is more than base + scale·B·A (DoRA, modules_to_save, another initialisation, fan_in_fan_out): it is not recomputed", "此适配器的合并不只是 基座 + scale·B·A（DoRA、modules_to_save、其他初始化、fan_in_fan_out）：不予重算"}).
			Hint(msg.Text{"score a few hundred dev items both ways and compare: drydock compare", "可用两种方式各答数百道开发题后比较：drydock compare"})
	}
	for _, x := range []struct {
		w    **weights
		dir  string
		open func(string) (*weights, error)
	}{{&m.merged, m.o.Merged, openWeights}, {&m.base, m.o.Base, openWeights}, {&m.adapter, m.o.Adapter, openAdapter}} {
		w, err := x.open(x.dir)
		if err != nil {
			if errors.Is(err, errNoWeights) {
				err = fail.New(fail.Failed, msg.Text{"there are no safetensors weights", "没有 safetensors 权重"})
			}
			return fail.New(fail.Failed, msg.Text{"%s: %v", "%s：%v"}, x.dir, err)
		}
		*x.w = w
	}
	return m.match()
}

// match finds the base's weight of every module of the adapter.
func (m *merge) match() error {
	byModule, _ := pairs(m.adapter)
	m.pairs = map[string]*loraPair{}
	var l findings
	for module, p := range byModule {
		if !l.pair(module, p, m.config, nil) {
			return Worst(l).Err()
		}
		name := module + ".weight"
		w := m.base.byKey[name]
		if w == nil || len(w.Shape) != 2 {
			return fail.New(fail.Failed, msg.Text{"the base has no %s, which the adapter is for", "基座没有适配器所针对的 %s"}, name)
		}
		in, out := p.a.Shape[1], p.b.Shape[0]
		if p.embedding {
			in, out = out, in
		}
		if w.Shape[0] != out || w.Shape[1] != in {
			return fail.New(fail.Failed, msg.Text{"%s is %v, and B·A is %d×%d", "%s 为 %v，而 B·A 为 %d×%d"}, name, w.Shape, out, in)
		}
		m.pairs[name] = p
		if m.merged.byKey[name] == nil {
			return fail.New(fail.Failed, msg.Text{"the merged model has no %s", "合并后的模型没有 %s"}, name)
		}
	}
	return nil
}

// weight looks at one weight of the merged model.
func (m *merge) weight(name string) (MergedWeight, error) {
	w := MergedWeight{Name: name}
	got, base := m.merged.byKey[name], m.base.byKey[name]
	if base == nil && name == head {
		base = m.base.byKey[embedding] // tied in the base, spelled out here
	}
	p := m.pairs[name]
	switch {
	case base == nil || !slices.Equal(got.Shape, base.Shape):
		w.Verdict = Changed
		if p != nil {
			w.Verdict = Differs
		}
		return w, nil
	case !readable(got.DType) || !readable(base.DType):
		same, err := sameBytes(got, base)
		w.Verdict = Kept
		if !same {
			w.Verdict = Changed
		}
		return w, err
	}
	s := newRecomputation(got, base, p, m.config, strings.TrimSuffix(name, ".weight"))
	if err := s.prepare(); err != nil {
		return w, err
	}
	if err := s.run(m.o.Rows); err != nil {
		return w, err
	}
	s.judge(&w)
	return w, nil
}

// report puts the weights together.
func (m *merge) report(all []MergedWeight) *MergeReport {
	r := &MergeReport{Verdict: Merged, DType: dtypeName(m.merged.dtypes()[0]), Bad: []MergedWeight{}}
	var factors []float64
	var sum, lost float64
	verdicts := map[Verdict]int{}
	for _, w := range all {
		r.Values += w.Values
		if w.Verdict == Kept || w.Verdict == Changed {
			r.Others++
		} else {
			r.Weights++
			factors = append(factors, w.Factor)
			sum += w.MeanDeviation
			lost += w.Lost
			r.MaxDeviation = max(r.MaxDeviation, w.MaxDeviation)
		}
		if w.Verdict != Kept && w.Verdict != Merged {
			r.Bad = append(r.Bad, w)
			verdicts[w.Verdict]++
		}
	}
	slices.SortStableFunc(r.Bad, func(a, b MergedWeight) int { return byLayer(a.Name, b.Name) })
	if n := float64(r.Weights); n > 0 {
		slices.Sort(factors)
		r.Factor, r.MeanDeviation, r.Lost = factors[len(factors)/2], sum/n, lost/n
	}
	r.Verdict = overall(verdicts, r.Weights)
	return r
}

// overall is the verdict on a model: what all its weights share, else that they
// differ.
func overall(bad map[Verdict]int, weights int) Verdict {
	for _, v := range []Verdict{NotMerged, MergedTwice, Scaled} {
		if weights > 0 && bad[v] == weights {
			return v
		}
	}
	for _, v := range []Verdict{Differs, Scaled, NotMerged, MergedTwice} {
		if bad[v] > 0 {
			return Differs
		}
	}
	if bad[Changed] > 0 {
		return Changed
	}
	return Merged
}

// Finding says what a report comes to.
func (r *MergeReport) Finding() Finding {
	var l findings
	first := ""
	if len(r.Bad) > 0 {
		first = r.Bad[0].Name
	}
	again := msg.Text{"merge again, from the untouched base, and compare what the merging program says of scale and rank", "请从原始基座重新合并，并核对合并程序所用的缩放与秩"}
	switch r.Verdict {
	case NotMerged:
		l.add("merge", Error, "", msg.Text{"the weights are the base's: the adapter is not merged", "权重与基座相同：适配器未合并"}).trap("S15").repair(again)
	case MergedTwice:
		l.add("merge", Error, "", msg.Text{"the adapter is merged twice", "适配器被合并了两次"}).repair(again)
	case Scaled:
		l.add("merge", Error, "", msg.Text{"the adapter is merged with %.3g times its scale", "适配器以其缩放的 %.3g 倍合并"}, r.Factor).repair(again)
	case Differs:
		l.add("merge", Error, "", msg.Text{"%d of %d weights are not base + scale·B·A, the first %s", "%d 个权重（共 %d 个）不等于 基座 + scale·B·A，第一个为 %s"}, r.wrong(), r.Weights, first).repair(again)
	case Changed:
		l.add("merge", Error, "", msg.Text{"the adapter is merged, and %d {weight|weights} it is not for changed, too, the first %s", "适配器已合并，但另有 %d 个与其无关的权重也变了，第一个为 %s"}, len(r.Bad), first).repair(again)
	default:
		if r.Lost > 0.5 {
			l.add("merge_lost", Warning, "", msg.Text{"the merge is faultless, but %.0f %% of the changes are smaller than %s can hold beside the weights: the merged model is nearer to the base than the adapter was", "合并无误，但 %.0f %% 的改动小于 %s 在权重旁可表示的精度：合并后的模型比适配器更接近基座"}, 100*r.Lost, r.DType).
				repair(msg.Text{"serve the adapter on its base, or merge into float32", "请在基座上部署适配器，或以 float32 合并"})
			break
		}
		l.add("merge", Note, "", msg.Text{"all %d weights are base + scale·B·A within the rounding of %s", "全部 %d 个权重在 %s 的舍入误差内等于 基座 + scale·B·A"}, r.Weights, r.DType)
	}
	return l[0]
}

// wrong counts the weights the adapter is for that are not merged.
func (r *MergeReport) wrong() int {
	n := 0
	for _, w := range r.Bad {
		if w.Verdict != Changed {
			n++
		}
	}
	return n
}

// unit is half a step of a type beside 1: what rounding once may cost.
func unit(dtype string) float64 {
	switch dtype {
	case "BF16":
		return 1.0 / (1 << 8)
	case "F16":
		return 1.0 / (1 << 11)
	}
	return 1.0 / (1 << 24)
}

// smallest is half the least step of a type: values about zero are no closer.
func smallest(dtype string) float64 {
	if dtype == "F16" {
		return math.Ldexp(1, -25)
	}
	return math.Ldexp(1, -134)
}
