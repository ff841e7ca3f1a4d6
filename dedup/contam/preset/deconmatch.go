package preset

import (
	"slices"
	"unicode/utf8"
)

// A tokenized is a text as decon reads it.
type tokenized struct {
	ids  []uint32 // 0: no reference has it
	from []int    // first character
	to   []int    // behind the last one
}

func (d *decon) tokenize(text []rune) tokenized {
	c := deconClean(text)
	var t tokenized
	place := -1 // in c; the space put before the text has none
	for _, w := range d.split(" " + string(c.text)) {
		n := utf8.RuneCountInString(w)
		first, last := max(place, 0), max(place+n-1, 0)
		place += n
		t.ids = append(t.ids, d.tokens[w])
		if len(c.at) == 0 {
			t.from, t.to = append(t.from, 0), append(t.to, 0)
			continue
		}
		t.from, t.to = append(t.from, c.at[first]), append(t.to, c.at[last]+1)
	}
	return t
}

// lookup returns the number of the question run at i, and the references that
// have it.
func (d *decon) lookup(ids []uint32, i int) (gram uint32, refs []int) {
	run := ids[i : i+deconGram]
	if slices.Contains(run, 0) {
		return 0, nil
	}
	g, known := d.grams[gramKey(run)]
	if !known {
		return 0, nil
	}
	return g, d.docs[g]
}

// match samples the text and grows a cluster around each hit.
func (d *decon) match(text []rune) []match {
	t := d.tokenize(text)
	if len(t.ids) < 2*deconGram {
		return nil
	}
	best := map[int]int{}
	var out []match
	for i := 0; i+deconGram <= len(t.ids); {
		gram, refs := d.lookup(t.ids, i)
		switch {
		case len(refs) == 0:
			i += deconSample
			continue
		case len(refs) > d.hot:
			i++
			continue
		}
		c := d.grow(t.ids, i, gram, refs)
		for _, n := range refs {
			score, ok := d.score(t.ids, n, c)
			if !ok {
				continue
			}
			p := c.state[n]
			m := match{item: d.refs[n].item, from: t.from[p.from], to: t.to[p.to+deconGram-1], score: float64(score)}
			if at, seen := best[m.item]; !seen {
				best[m.item] = len(out)
				out = append(out, m)
			} else if m.score > out[at].score {
				out[at] = m
			}
		}
		i = max(i, c.end+1)
	}
	slices.SortStableFunc(out, func(a, b match) int { return a.from - b.from })
	return out
}

// A cluster is what grew around one hit.
type cluster struct {
	state map[int]*grown // by reference
	df    map[uint32]int // references of the runs met
	end   int            // last run looked at
}

// grown is what one reference matched.
type grown struct {
	grams    map[uint32]bool
	misses   int
	from, to int // first and last run
}

// grow walks left, then right, as long as a reference of the first hit is still
// met.
func (d *decon) grow(ids []uint32, hit int, gram uint32, refs []int) *cluster {
	c := &cluster{state: map[int]*grown{}, df: map[uint32]int{gram: len(refs)}, end: hit}
	for _, n := range refs {
		c.state[n] = &grown{grams: map[uint32]bool{gram: true}, from: hit, to: hit}
	}
	active := slices.Clone(refs)
	for i := hit; i > 0 && len(active) > 0; {
		i--
		active = d.step(c, ids, i, active)
	}
	active = slices.Clone(refs)
	for _, s := range c.state {
		s.misses = 0
	}
	for c.end+1+deconGram <= len(ids) && len(active) > 0 {
		c.end++
		active = d.step(c, ids, c.end, active)
	}
	return c
}

// step looks at the run at i and returns the references still followed.
func (d *decon) step(c *cluster, ids []uint32, i int, active []int) []int {
	gram, refs := d.lookup(ids, i)
	if len(refs) > 0 {
		if _, known := c.df[gram]; !known {
			c.df[gram] = len(refs)
		}
	}
	return slices.DeleteFunc(active, func(n int) bool {
		s := c.state[n]
		if _, has := slices.BinarySearch(refs, n); has {
			if !s.grams[gram] {
				s.grams[gram] = true
				s.misses = 0
			}
			s.from, s.to = min(s.from, i), max(s.to, i)
			return false
		}
		s.misses++
		return s.misses >= deconMisses
	})
}

// score weighs reference n in a cluster; ok: it counts as contamination.
func (d *decon) score(ids []uint32, n int, c *cluster) (score float32, ok bool) {
	r, s := &d.refs[n], c.state[n]
	var matched float32
	for _, g := range r.grams {
		if s.grams[g] {
			matched += d.idf(c.df[g])
		}
	}
	var question float32
	if r.mass > 0 {
		question = matched / r.mass
	}
	// the least a question must reach if answer and passage were perfect
	least := float32(deconThreshold-(0.2+0.1)) / float32(0.7)
	if question < least || question < required(r.tokens, least) {
		return 0, false
	}
	if len(r.answer) == 0 {
		score = scaled(min(question, 1), r.tokens)
		return score, score >= deconThreshold
	}
	last := s.to + deconGram - 1
	excess := max(0, last-s.from+1-r.tokens)
	answer := d.answer(ids, r, max(0, last-excess)+1)
	sure := float32(1)
	if len(r.grams) < deconInformative {
		sure = 0.5 + float32(len(r.grams))/deconInformative*0.5
	}
	score = question*(0.75*sure) + answer*(0.25+0.75*(1-sure))
	different := len(distinct(slices.Clone(r.answer)))
	score = scaled(min(score, 1), r.tokens+different)
	return score, score >= deconThreshold
}

// required is the threshold for a length in tokens: short texts must match in
// full.
func required(tokens int, target float32) float32 {
	switch {
	case tokens <= deconPerfectBelow:
		return 1
	case tokens >= deconRelaxedFrom:
		return target
	}
	ratio := float32(tokens-deconPerfectBelow) / (deconRelaxedFrom - deconPerfectBelow)
	return 1 - (1-target)*ratio
}

// scaled lowers a score that is less than perfect by how much more its length
// asks for.
func scaled(score float32, tokens int) float32 {
	need := required(tokens, deconThreshold)
	if need <= deconThreshold {
		return score
	}
	factor := float32(deconThreshold) / need
	if score == 1 {
		return score*factor + (1 - factor)
	}
	return score * factor
}

// answer is the share of an answer that stands behind the question, from token
// start on.
func (d *decon) answer(ids []uint32, r *reference, start int) float32 {
	if len(r.answer) <= deconShortAnswer {
		end := min(start+deconShortWindow, len(ids))
		for i := start; i < end && i+len(r.answer) <= len(ids); i++ {
			if slices.Equal(ids[i:i+len(r.answer)], r.answer) {
				return d.wholeAnswer(r)
			}
		}
		return 0
	}
	end := min(start+max(2*len(r.answer), deconLongWindow), len(ids))
	var all, found float32
	for _, g := range r.answers {
		all += d.idf(d.ansDF[g])
	}
	if all == 0 || end-start < deconAnswerGram {
		return 0
	}
	seen := map[uint32]bool{}
	for i := start; i+deconAnswerGram <= end; i++ {
		run := ids[i : i+deconAnswerGram]
		if slices.Contains(run, 0) {
			continue
		}
		g, known := d.grams[gramKey(run)]
		if _, has := slices.BinarySearch(r.answers, g); known && has && !seen[g] {
			seen[g] = true
			found += d.idf(d.ansDF[g])
		}
	}
	return found / all
}

// wholeAnswer is the share of a short answer that matched as it stands: all of
// it, unless its tokens say nothing, which then counts as no match.
func (d *decon) wholeAnswer(r *reference) float32 {
	var all float32
	for _, t := range distinct(slices.Clone(r.answer)) {
		all += d.idf(d.df[t])
	}
	if all > 0 {
		return 1
	}
	return 0
}
