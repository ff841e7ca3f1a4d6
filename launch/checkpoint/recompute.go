package checkpoint

import "math"

// A recomputation goes through one weight in blocks of rows.
type recomputation struct {
	got, base *Tensor
	pair      *loraPair // nil: the adapter is not for it
	scale     float64
	rank      int

	a, b  []float32 // r×in and out×r
	normA []float64 // of each column of A

	// unit bounds one rounding: of the merged type, or of a coarser one the merge
	// may have been computed in.
	unit, least float64
	coarse      string // the coarser type of the two weights

	factors   []int      // of the pass under way
	faultless [3]float64 // Σ (round(w+kδ)−w)·δ: what a faultless merge comes to
	beyond    [3]int64   // values that rounding does not explain, by k
	sums      sums

	rowW, rowM, rowDelta []float32
	buf                  []byte
}

// sums are what a pass adds up: of w the base's weight, m the merged one, δ the
// change.
type sums struct {
	values, changes, lost int64
	dd, md, mm            float64 // δ², (m−w)·δ, (m−w)²
	noise                 float64 // the variance that rounding alone gives md
	sum, max              float64 // |m − (w+δ)|
}

func newRecomputation(got, base *Tensor, p *loraPair, c *adapterConfig, module string) *recomputation {
	s := &recomputation{got: got, base: base, pair: p}
	s.unit, s.least = max(unit(got.DType), unit(base.DType)), max(smallest(got.DType), smallest(base.DType))
	s.coarse = got.DType
	if unit(base.DType) > unit(got.DType) {
		s.coarse = base.DType
	}
	if p != nil {
		s.scale, s.rank = c.scale(module), int(p.a.Shape[0])
		s.unit = max(s.unit, unit(p.a.DType), unit(p.b.DType))
	}
	return s
}

// prepare reads A and B whole: r·(in+out) values.
func (s *recomputation) prepare() error {
	cols := s.got.Len()
	if len(s.got.Shape) > 0 && s.got.Shape[0] > 0 {
		cols /= s.got.Shape[0]
	}
	s.rowW, s.rowM = make([]float32, cols), make([]float32, cols)
	if s.pair == nil {
		return nil
	}
	a, b := s.pair.a, s.pair.b
	s.a, s.b = make([]float32, a.Len()), make([]float32, b.Len())
	var err error
	if s.buf, err = a.floats(s.a, 0, s.buf); err != nil {
		return err
	}
	if s.buf, err = b.floats(s.b, 0, s.buf); err != nil {
		return err
	}
	if s.pair.embedding {
		// the embedding has vocab rows: δ = (B·A)ᵀ, so the two change places
		s.a, s.b = transpose(s.b, int(b.Shape[0]), int(b.Shape[1])), transpose(s.a, int(a.Shape[0]), int(a.Shape[1]))
	}
	s.rowDelta, s.normA = make([]float32, cols), make([]float64, cols)
	for k := range s.rank {
		for j, v := range s.a[k*int(cols) : (k+1)*int(cols)] {
			s.normA[j] += float64(v) * float64(v)
		}
	}
	for j := range s.normA {
		s.normA[j] = math.Sqrt(s.normA[j])
	}
	return nil
}

func transpose(x []float32, rows, cols int) []float32 {
	out := make([]float32, len(x))
	for i := range rows {
		for j := range cols {
			out[j*rows+i] = x[i*cols+j]
		}
	}
	return out
}

// run looks at rows of the weight: all for 0, else as many, evenly spread. Other
// sums than base + δ are looked for only when it is not that.
func (s *recomputation) run(rows int) error {
	if err := s.pass(rows, 1); err != nil || s.pair == nil || s.isMerged(1) {
		return err
	}
	s.sums = sums{} // counted again
	return s.pass(rows, 0, 2)
}

// pass goes through the rows, for the sums base + k·δ.
func (s *recomputation) pass(rows int, factors ...int) error {
	if s.got.Len() == 0 {
		return nil
	}
	s.factors = factors
	n, step := int64(1), int64(1)
	if len(s.got.Shape) > 0 {
		n = s.got.Shape[0]
	}
	if rows > 0 && int64(rows) < n {
		step = n / int64(rows)
	}
	for i := int64(0); i < n; i += step {
		if err := s.row(i); err != nil {
			return err
		}
	}
	return nil
}

func (s *recomputation) row(i int64) error {
	var err error
	cols := int64(len(s.rowW))
	if s.buf, err = s.base.floats(s.rowW, i*cols, s.buf); err != nil {
		return err
	}
	if s.buf, err = s.got.floats(s.rowM, i*cols, s.buf); err != nil {
		return err
	}
	s.sums.values += cols
	if s.pair == nil {
		for j, w := range s.rowW {
			d := math.Abs(float64(s.rowM[j]) - float64(w))
			s.sums.sum, s.sums.max = s.sums.sum+d, math.Max(s.sums.max, d)
			if !(d <= s.unit*math.Abs(float64(w))+s.least) {
				s.beyond[1]++ // a NaN is, too
			}
		}
		return nil
	}
	normB := s.delta(int(i))
	for j, w := range s.rowW {
		s.value(float64(w), float64(s.rowM[j]), float64(s.rowDelta[j]), normB*s.normA[j])
	}
	return nil
}

// delta computes row i of scale·B·A and returns scale times the norm of B's row.
func (s *recomputation) delta(i int) float64 {
	clear(s.rowDelta)
	var norm float64
	cols := len(s.rowDelta)
	for k := range s.rank {
		b := s.b[i*s.rank+k]
		norm += float64(b) * float64(b)
		if b == 0 {
			continue
		}
		b *= float32(s.scale)
		for j, a := range s.a[k*cols : (k+1)*cols] {
			s.rowDelta[j] += b * a
		}
	}
	return math.Abs(s.scale) * math.Sqrt(norm)
}

// value compares one value. Rounding may cost half a step of the result, and of
// B·A computed in the same type as much again for B, for A and for the product,
// each beside |b|·|a|, which no sum of products goes beyond.
func (s *recomputation) value(w, m, delta, norms float64) {
	t := &s.sums
	t.dd += delta * delta
	t.md += (m - w) * delta
	t.mm += (m - w) * (m - w)
	e := s.unit * w * delta
	t.noise += e * e / 3
	d := math.Abs(m - (w + delta))
	t.sum += d
	if !(d <= t.max) {
		t.max = d
	}
	for _, k := range s.factors {
		want := w + float64(k)*delta
		s.faultless[k] += (round(want, s.coarse) - w) * delta
		if bound := s.unit*(math.Abs(want)+float64(1+k)*3*norms) + s.least; !(math.Abs(m-want) <= bound) {
			s.beyond[k]++ // a NaN is, too
		}
	}
	if delta != 0 {
		t.changes++
		if math.Abs(delta) < s.unit*math.Abs(w)/2 { // less than a quarter step: it rounds back
			t.lost++
		}
	}
}

// factorSlack is how far a factor may be from what a faultless merge gives,
// beyond four deviations of what rounding adds.
const factorSlack = 0.03

// judge says what a weight came to.
func (s *recomputation) judge(w *MergedWeight) {
	w.Values = s.sums.values
	if s.sums.values > 0 {
		w.MaxDeviation, w.MeanDeviation = s.sums.max, s.sums.sum/float64(s.sums.values)
	}
	w.Beyond = s.beyond[1]
	if s.pair == nil {
		w.Verdict = Kept
		if w.Beyond > 0 {
			w.Verdict = Changed
		}
		return
	}
	if s.sums.changes > 0 {
		w.Lost = float64(s.sums.lost) / float64(s.sums.changes)
	}
	if s.sums.dd == 0 { // an untrained module: the weight is the base's
		w.Factor, w.Verdict = 1, Merged
		if w.Beyond > 0 {
			w.Factor, w.Verdict = 0, Differs
		}
		return
	}
	w.Factor = s.sums.md / s.sums.dd
	switch {
	case s.isMerged(1):
		w.Verdict = Merged
	case s.isMerged(0):
		w.Verdict = NotMerged
	case s.isMerged(2):
		w.Verdict = MergedTwice
	case s.explained(w.Factor):
		w.Verdict = Scaled
	default:
		w.Verdict = Differs
	}
}

// isMerged reports whether the weight is base + k·δ: rounding explains every
// value, and their sum is what rounding makes of it, in the weight's type or in
// a coarser one.
func (s *recomputation) isMerged(k int) bool {
	f, slack := s.sums.md/s.sums.dd, factorSlack+4*math.Sqrt(s.sums.noise)/s.sums.dd
	return s.beyond[k] == 0 && (math.Abs(f-s.faultless[k]/s.sums.dd) <= slack || math.Abs(f-float64(k)) <= slack)
}

// explained reports whether the difference to the base is the change times a
// factor: what is left of it is small beside it. By Pythagoras, over all values,
// |m−w|² = f²·|δ|² + rest².
func (s *recomputation) explained(f float64) bool {
	fit := f * f * s.sums.dd
	return math.Abs(f) > factorSlack && s.sums.mm-fit < fit/10
}

// round gives the nearest value of a type, ties to even.
func round(x float64, dtype string) float64 {
	f := float32(x)
	switch dtype {
	case "BF16":
		b := math.Float32bits(f)
		b += 0x7fff + b>>16&1
		return float64(math.Float32frombits(b &^ 0xffff))
	case "F16":
		// the step of a half between 2ᵉ and 2ᵉ⁺¹ is 2ᵉ⁻¹⁰, at least 2⁻²⁴
		_, e := math.Frexp(x)
		step := math.Ldexp(1, max(e-11, -24))
		return math.RoundToEven(x/step) * step
	}
	return float64(f)
}
