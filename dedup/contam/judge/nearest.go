package judge

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/drydock-ml/drydock/internal/bm25"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/textnorm"
)

// A near is an item that may say what a record says.
type near struct {
	item  int
	score float64 // 0–1
}

// ranking finds the items nearest to texts.
type ranking interface {
	// nearest returns up to k items for each text that are near enough, nearest
	// first, and an item that is far, for the control question.
	nearest(ctx context.Context, texts []string, k int) (found [][]near, far []int, err error)
}

// The least nearness, 0–1, of an item that is worth a question: the cosine of
// embeddings, or the share of an item's own score by words.
const (
	nearVector = 0.60
	nearTerms  = 0.15
)

// batch is how many texts are embedded by one request.
const batch = 64

// vectors ranks by the cosine of embeddings.
type vectors struct {
	server Server
	model  string
	cache  Cache
	items  [][]float32
}

func newVectors(ctx context.Context, server Server, model string, cache Cache, items []string) (*vectors, error) {
	v := &vectors{server: server, model: model, cache: cache}
	for part := range slices.Chunk(items, batch) {
		e, err := v.embed(ctx, part)
		if err != nil {
			return nil, err
		}
		v.items = append(v.items, e...)
	}
	return v, nil
}

// embed returns unit vectors, from the cache where they are.
func (v *vectors) embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	var ask []string
	var at []int
	for i, t := range texts {
		t = clip(t)
		if b, ok := v.cache.get(key("embedding", v.model, t)); ok {
			out[i] = unpackVector(b)
			continue
		}
		ask, at = append(ask, t), append(at, i)
	}
	if len(ask) > 0 {
		got, err := v.server.Embed(ctx, v.model, ask)
		if err != nil {
			return nil, err
		}
		for n, e := range got {
			out[at[n]] = e
			if err := v.cache.put(key("embedding", v.model, ask[n]), packVector(e)); err != nil {
				return nil, err
			}
		}
	}
	for i := range out {
		if len(out[i]) != len(out[0]) || len(v.items) > 0 && len(out[i]) != len(v.items[0]) {
			return nil, fail.New(fail.Failed, msg.Text{
				"%s gives vectors of different lengths", "%s 返回的向量长度不一致",
			}, v.model)
		}
		out[i] = unit(out[i])
	}
	return out, nil
}

// unit returns a copy of v of length 1; a vector without direction stays.
func unit(v []float32) []float32 {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	out := make([]float32, len(v))
	for i, x := range v {
		if sum > 0 {
			out[i] = float32(float64(x) / math.Sqrt(sum))
		}
	}
	return out
}

func (v *vectors) nearest(ctx context.Context, texts []string, k int) (found [][]near, far []int, err error) {
	e, err := v.embed(ctx, texts)
	if err != nil {
		return nil, nil, err
	}
	for _, t := range e {
		scores := make([]near, len(v.items))
		for i, it := range v.items {
			var dot float32
			for n := range it {
				dot += it[n] * t[n]
			}
			scores[i] = near{i, float64(dot)}
		}
		n, f := best(scores, k, nearVector)
		found, far = append(found, n), append(far, f)
	}
	return found, far, nil
}

// best returns the k highest scores of at least least, and the item of the
// lowest.
func best(scores []near, k int, least float64) (found []near, far int) {
	slices.SortFunc(scores, func(a, b near) int { return cmp.Or(cmp.Compare(b.score, a.score), a.item-b.item) })
	for _, s := range scores[:min(k, len(scores))] {
		if s.score >= least {
			found = append(found, s)
		}
	}
	return found, scores[len(scores)-1].item
}

// terms ranks by the words an item shares with a text, as a share of what the
// item itself would score.
type terms struct {
	index *bm25.Index
	whole []float64 // score of each item for itself
}

func newTerms(items []string) *terms {
	var docs [][]string
	for _, t := range items {
		docs = append(docs, textnorm.Terms(nil, t))
	}
	r := &terms{index: bm25.New(docs)}
	s := r.index.Searcher()
	for i := range docs {
		whole := 0.0
		for _, h := range s.Search(docs[i], len(docs)) {
			if h.Doc == i {
				whole = h.Score
			}
		}
		r.whole = append(r.whole, whole)
	}
	return r
}

func (r *terms) nearest(_ context.Context, texts []string, k int) (found [][]near, far []int, err error) {
	s := r.index.Searcher()
	for _, t := range texts {
		scores := make([]near, len(r.whole))
		for i := range scores {
			scores[i].item = i
		}
		for _, h := range s.Search(textnorm.Terms(nil, clip(t)), len(r.whole)) {
			if r.whole[h.Doc] > 0 {
				scores[h.Doc].score = min(1, h.Score/r.whole[h.Doc])
			}
		}
		n, f := best(scores, k, nearTerms)
		found, far = append(found, n), append(far, f)
	}
	return found, far, nil
}
