package eval

import (
	"maps"
	"slices"

	"github.com/drydock-ml/drydock/internal/stats"
)

// An Analysis is what the answers of a run say beyond its accuracy. Field names
// are stable.
type Analysis struct {
	Items     int            `json:"items"`               // that were answered or failed; each once
	FlipRate  float64        `json:"flip_rate"`           // repeated answers that differ from the item's first
	Repeated  int            `json:"repeated"`            // answers beyond an item's first
	Letters   Letters        `json:"confusion"`           // right letters against answered ones
	Grouped   string         `json:"grouped"`             // subject, stem, or empty: what items depend on each other by
	Grouping  *[2]float64    `json:"clustered95"`         // of the accuracy, with items of a group depending on each other; null with fewer than six groups, or when no group differs
	Subjects  []SubjectScore `json:"subjects"`            // rising by name
	Unnamed   int            `json:"unnamed"`             // items no subject is given for, when there are subjects
	Unmatched int            `json:"unmatched"`           // subjects given for no item
	Gain      float64        `json:"detectable_unpaired"` // smallest gain over another run found without comparing item by item
}

// A SubjectScore is the accuracy on the items of a subject.
type SubjectScore struct {
	Name     string     `json:"name"`
	N        int        `json:"n"`
	Accuracy float64    `json:"accuracy"`
	Wilson95 [2]float64 `json:"wilson95"`
}

// Analyze counts the outcomes of a run. subjects may be nil: then those that
// the items' rows name count.
func (s *Summary) Analyze(subjects Subjects) Analysis {
	all := s.outcomes
	a := Analysis{Items: len(all), Letters: lettersOf(all), Subjects: []SubjectScore{}}
	flips := 0
	for _, o := range all {
		a.Repeated += o.Tries - 1
		flips += o.Flips
	}
	if a.Repeated > 0 {
		a.FlipRate = float64(flips) / float64(a.Repeated)
	}
	a.Gain = stats.DetectableUnpaired(len(all), s.Accuracy)
	a.Unmatched = subjects.unmatched(all)
	a.subjects(all, subjects)
	a.cluster(all, subjects)
	return a
}

func (a *Analysis) subjects(all []Outcome, subjects Subjects) {
	sum, n := map[string]float64{}, map[string]int{}
	for _, o := range all {
		name := subjects.of(&o)
		if name == "" {
			a.Unnamed++
			continue
		}
		sum[name] += o.Score
		n[name]++
	}
	if len(n) == 0 {
		a.Unnamed = 0
		return
	}
	for _, name := range slices.Sorted(maps.Keys(n)) {
		low, high := stats.WilsonMean(sum[name], float64(n[name]))
		a.Subjects = append(a.Subjects, SubjectScore{name, n[name], sum[name] / float64(n[name]), [2]float64{low, high}})
	}
}

// cluster groups by subject where there are any, else by equal stems.
func (a *Analysis) cluster(all []Outcome, subjects Subjects) {
	a.Grouped = "subject"
	of := subjects.of
	if len(a.Subjects) < 2 {
		a.Grouped = "stem"
		of = func(o *Outcome) string { return o.stem }
	}
	scores, names := make([]float64, len(all)), make([]string, len(all))
	seen, mean, shared := map[string]bool{}, 0.0, false
	for i := range all {
		scores[i] = all[i].Score
		mean += scores[i] / float64(len(all))
		names[i] = of(&all[i])
		if names[i] == "" {
			names[i] = "\x00" + all[i].stem // on its own
		}
		shared = shared || seen[names[i]]
		seen[names[i]] = true
	}
	_, half := stats.ClusterError(scores, names)
	if !shared || len(seen) < leastGroups || half < noSpread { // all right or all wrong: groups cannot differ
		a.Grouped = ""
		return
	}
	a.Grouping = &[2]float64{max(0, mean-half), min(1, mean+half)}
}
