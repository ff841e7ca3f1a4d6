package report

import (
	"iter"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/provenance"
)

// A group is how a finding counts.
type group uint8

const (
	leaks  group = iota // fails the check
	waived              // would, but is excused
	shown               // looks like an item, and is none
)

func groupOf(r *Row) group {
	switch {
	case r.Fail:
		return leaks
	case r.Waived != nil:
		return waived
	}
	return shown
}

func (g group) title() msg.Text {
	switch g {
	case leaks:
		return msg.Text{"Leaks", "泄漏"}
	case waived:
		return msg.Text{"Waived", "已豁免"}
	}
	return msg.Text{"Look-alikes, not counted as leaks", "相似题目，不计为泄漏"}
}

// class names a group in a page's style.
func (g group) class() string { return [...]string{"leak", "waived", "shown"}[g] }

// grouped yields the hits of one group after the other, each in its order. The
// sequence is read once a group.
func grouped(hits iter.Seq2[Hit, error]) iter.Seq2[Hit, error] {
	return func(yield func(Hit, error) bool) {
		for g := leaks; g <= shown; g++ {
			for h, err := range hits {
				if err == nil && groupOf(&h.Row) != g {
					continue
				}
				if !yield(h, err) || err != nil {
					return
				}
			}
		}
	}
}

// A line of the table of verdicts.
type verdictLine struct {
	Verdict string
	Count   int
	Means   string
	Leak    bool
}

// verdictLines lists the verdicts that were given, from the worst down.
func (s *Summary) verdictLines(lang msg.Lang) []verdictLine {
	var out []verdictLine
	for _, v := range verdictNames(s.Verdicts) {
		means, _ := provenance.VerdictMeaning(v)
		out = append(out, verdictLine{v, s.Verdicts[v], means.In(lang), s.Leak(v)})
	}
	return out
}

// Leak reports whether a verdict fails the check by its settings.
func (s *Summary) Leak(verdict string) bool {
	if len(s.Fail) == 0 {
		return slices.Contains(contam.DefaultConfig().Fail, contam.Verdict(verdict))
	}
	return slices.Contains(s.Fail, verdict)
}

// Sentence is the answer in one line.
func (s *Summary) Sentence(lang msg.Lang) string {
	switch {
	case s.Records == 0:
		return NothingChecked().In(lang)
	case s.Failed > 0:
		return msg.Text{"%d of %d {record|records} are benchmark items", "%[2]d 条记录中有 %[1]d 条属于评测集题目"}.Format(lang, s.Failed, s.Records)
	case s.Exit != 0:
		return msg.Text{"no benchmark item found in what could be read", "可读取的内容中未发现评测集题目"}.In(lang)
	case len(s.Verdicts) > 0:
		return msg.Text{"no leak found; what looks like an item is listed", "未发现泄漏；相似的题目已列出"}.In(lang)
	}
	return msg.Text{"no benchmark item found", "未发现评测集题目"}.In(lang)
}

// TopItems returns the n items that were found most often.
func (s *Summary) TopItems(n int) []ItemHits {
	top := slices.Clone(s.ByItem)
	slices.SortStableFunc(top, func(a, b ItemHits) int {
		if d := b.Failing - a.Failing; d != 0 {
			return d
		}
		return b.Findings - a.Findings
	})
	return top[:min(n, len(top))]
}

// short is the beginning of a hash, as people compare it.
func short(hash string) string {
	hash = strings.TrimPrefix(hash, "sha256:")
	return hash[:min(12, len(hash))]
}

// itemList writes items as people name them: bench 3, 17, 20; other 1.
func itemList(items []Item) string {
	var b strings.Builder
	last := ""
	for i, it := range items {
		switch {
		case i == 0:
			b.WriteString(it.Benchmark + " ")
		case it.Benchmark != last:
			b.WriteString("; " + it.Benchmark + " ")
		default:
			b.WriteString(", ")
		}
		last = it.Benchmark
		b.WriteString(itoa(it.Index))
	}
	return b.String()
}
