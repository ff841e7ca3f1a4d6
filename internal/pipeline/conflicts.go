package pipeline

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/question"
	"github.com/drydock-ml/drydock/internal/msg"
)

// A Conflict is one question that stands with different answers, in a file or
// across the sources of a run. Nothing says which is right, so all are kept and
// named.
type Conflict struct {
	Stem  string         `json:"stem"` // as the first one prints it
	Items []ConflictItem `json:"items"`
}

// A ConflictItem is one place where such a question stands.
type ConflictItem struct {
	ID     string   `json:"id"`
	File   string   `json:"file"`
	At     string   `json:"at"`
	Answer []string `json:"answer"` // texts of the right options, or what the answer says
}

// stemsOf appends the stem keys of the answered questions among recs, eight
// bytes each: enough to find the parts that must be looked into.
func stemsOf(dst []byte, recs []*drydock.Record) []byte {
	for _, r := range recs {
		if r.Question == nil {
			continue
		}
		if d, ok := question.DigestOf(r.Question); ok {
			dst = binary.LittleEndian.AppendUint64(dst, d.Stem)
		}
	}
	return dst
}

// conflicts finds the questions with different answers. Only the parts that hold
// a stem which stands twice are read again.
func (r *runner) conflicts(ctx context.Context) ([]Conflict, error) {
	var all []uint64
	for _, p := range r.parts {
		for b := p.meta.Stems; len(b) >= 8; b = b[8:] {
			all = append(all, binary.LittleEndian.Uint64(b))
		}
	}
	slices.Sort(all)
	twice := map[uint64]bool{}
	for i := 1; i < len(all); i++ {
		if all[i] == all[i-1] {
			twice[all[i]] = true
		}
	}
	if len(twice) == 0 {
		return nil, nil
	}
	groups := map[uint64]*conflictGroup{}
	var order []uint64
	for _, p := range r.parts {
		if !holdsAny(p.meta.Stems, twice) {
			continue
		}
		for recs, err := range p.batches(ctx) {
			if err != nil {
				return nil, err
			}
			for _, rec := range recs {
				if rec.Question == nil {
					continue
				}
				d, ok := question.DigestOf(rec.Question)
				if !ok || !twice[d.Stem] {
					continue
				}
				g := groups[d.Stem]
				if g == nil {
					g = &conflictGroup{stem: rec.Question.Stem}
					groups[d.Stem], order = g, append(order, d.Stem)
				}
				g.add(d, rec)
			}
		}
	}
	var out []Conflict
	for _, k := range order {
		if c := groups[k].conflict(); c != nil {
			out = append(out, *c)
		}
	}
	return out, nil
}

func holdsAny(stems []byte, of map[uint64]bool) bool {
	for b := stems; len(b) >= 8; b = b[8:] {
		if of[binary.LittleEndian.Uint64(b)] {
			return true
		}
	}
	return false
}

// A conflictGroup is the questions of one stem.
type conflictGroup struct {
	stem    string
	digests []question.Digest
	items   []ConflictItem
}

// maxGroup bounds how many questions of one stem are compared with each other.
const maxGroup = 200

func (g *conflictGroup) add(d question.Digest, r *drydock.Record) {
	if len(g.items) == maxGroup {
		return
	}
	it := ConflictItem{ID: r.RowID, At: r.Origin.At.String(), Answer: answerTexts(r.Question)}
	if it.ID == "" {
		it.ID = r.ID.String()
	}
	if r.Origin.File != nil {
		it.File = r.Origin.File.Name
	}
	g.digests, g.items = append(g.digests, d), append(g.items, it)
}

// conflict lists the questions of the group that another one contradicts; nil
// when none does.
func (g *conflictGroup) conflict() *Conflict {
	var items []ConflictItem
	for i, d := range g.digests {
		if slices.ContainsFunc(g.digests, d.Contradicts) {
			items = append(items, g.items[i])
		}
	}
	if items == nil {
		return nil
	}
	return &Conflict{Stem: g.stem, Items: items}
}

// answerTexts are the texts of the right options; an answer without options is
// its own text.
func answerTexts(q *drydock.Question) []string {
	var out []string
	for _, o := range q.Options {
		if slices.Contains(q.Answer, o.Label) {
			out = append(out, o.Text)
		}
	}
	if len(out) == 0 {
		return q.Answer
	}
	return out
}

// noteConflicts says how many there are; the result names each.
func (r *runner) noteConflicts(src *StageResult) {
	n := len(src.Conflicts)
	if n == 0 {
		return
	}
	text := msg.Text{
		"%d {question stands|questions stand} with different answers; the report names each place",
		"%d 道题目在不同位置答案不一；报告中列出每一处",
	}
	note := noteRow{Code: "conflicting_answers", En: text.Format(msg.En, n), Zh: text.Format(msg.Zh, n)}
	src.Notes = append(src.Notes, Note{"", note.Code, note.En, note.Zh})
	r.warnNote(note)
}
