// Package bm25 ranks texts by the words they share with a query.
package bm25

import (
	"math"
	"slices"
)

// Okapi's usual constants: how fast a repeated word stops counting, and how
// much a long document is held against it.
const (
	k1 = 1.2
	b  = 0.75
)

// An Index answers queries. It is read-only and safe for concurrent use.
type Index struct {
	ids   map[string]int32
	lists [][]posting
	idf   []float64
	norm  []float64 // per document: k1 * (1 - b + b * length / mean)
}

type posting struct {
	doc   int32
	count int32
}

// New indexes documents given as their terms. The same documents give the same
// index.
func New(docs [][]string) *Index {
	ix := &Index{ids: map[string]int32{}, norm: make([]float64, len(docs))}
	total := 0
	for d, terms := range docs {
		total += len(terms)
		for _, t := range terms {
			id, ok := ix.ids[t]
			if !ok {
				id = int32(len(ix.lists))
				ix.ids[t] = id
				ix.lists = append(ix.lists, nil)
			}
			l := ix.lists[id]
			if n := len(l); n > 0 && l[n-1].doc == int32(d) {
				l[n-1].count++
				continue
			}
			ix.lists[id] = append(l, posting{doc: int32(d), count: 1})
		}
	}
	mean := max(float64(total)/float64(max(len(docs), 1)), 1)
	for d, terms := range docs {
		ix.norm[d] = k1 * (1 - b + b*float64(len(terms))/mean)
	}
	ix.idf = make([]float64, len(ix.lists))
	for id, l := range ix.lists {
		n := float64(len(l))
		ix.idf[id] = math.Log(1 + (float64(len(docs))-n+0.5)/(n+0.5))
	}
	return ix
}

// Len returns the number of documents.
func (ix *Index) Len() int { return len(ix.norm) }

// A Hit is a document and how well it fits; only hits above zero are given.
type Hit struct {
	Doc   int     // position of the document, from 0
	Score float64 // above 0; comparable within one query only
}

// A Searcher holds the scratch memory of one goroutine.
type Searcher struct {
	ix      *Index
	scores  []float64
	touched []int32
}

// Searcher returns a new searcher.
func (ix *Index) Searcher() *Searcher {
	return &Searcher{ix: ix, scores: make([]float64, ix.Len())}
}

// Search returns the k best documents, best first; of equals the earlier one
// first. A term that stands twice in the query counts once.
func (s *Searcher) Search(terms []string, k int) []Hit {
	terms = slices.Clone(terms)
	slices.Sort(terms) // sums in one order give one result
	terms = slices.Compact(terms)
	for _, t := range terms {
		id, ok := s.ix.ids[t]
		if !ok {
			continue
		}
		idf := s.ix.idf[id]
		for _, p := range s.ix.lists[id] {
			if s.scores[p.doc] == 0 {
				s.touched = append(s.touched, p.doc)
			}
			tf := float64(p.count)
			s.scores[p.doc] += idf * tf * (k1 + 1) / (tf + s.ix.norm[p.doc])
		}
	}
	hits := make([]Hit, 0, len(s.touched))
	for _, d := range s.touched {
		hits = append(hits, Hit{int(d), s.scores[d]})
		s.scores[d] = 0
	}
	s.touched = s.touched[:0]
	slices.SortFunc(hits, func(x, y Hit) int {
		switch {
		case x.Score > y.Score:
			return -1
		case x.Score < y.Score:
			return 1
		}
		return x.Doc - y.Doc
	})
	return hits[:min(k, len(hits))]
}
