package provenance

import (
	"errors"
	"fmt"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// a book is what is remembered of the rows, to check that everything closes.
type book struct {
	sources map[string]bool
	steps   map[string]*Step
	order   []string                  // step ids as written
	chains  map[string]bool           // step ids named by rows
	lines   map[string]int            // file → lines with lineage
	drops   map[string]map[string]int // step id → reason → rows
}

func newBook() book {
	return book{
		sources: map[string]bool{}, steps: map[string]*Step{}, chains: map[string]bool{},
		lines: map[string]int{}, drops: map[string]map[string]int{},
	}
}

func (b *book) source(s *Source) error {
	switch {
	case s.Name == "" && s.File == "":
		return errors.New("a source without a name and a file")
	case !isHex(s.SHA256, 64):
		return fmt.Errorf("source %s: sha256 %q is not 64 hex digits", s.File, s.SHA256)
	case b.sources[s.ID]:
		return fmt.Errorf("source %s: written twice", s.File)
	}
	b.sources[s.ID] = true
	return nil
}

func (b *book) step(s *Step) error {
	if b.steps[s.ID] != nil {
		return fmt.Errorf("step %s: written twice", s.title())
	}
	if err := s.closes(); err != nil {
		return err
	}
	kept := *s
	b.steps[s.ID] = &kept
	b.order = append(b.order, s.ID)
	return nil
}

func (b *book) lineage(l *Lineage) error {
	switch {
	case l.File == "" || l.ID == "":
		return fmt.Errorf("lineage of record %s: no file or no row id", l.Rec)
	case !isHex(l.Row, 32):
		return fmt.Errorf("lineage of %s line %d: row hash %q is not 32 hex digits", l.File, l.Line, l.Row)
	case l.Line != b.lines[l.File]+1:
		last := b.lines[l.File]
		b.lines[l.File] = l.Line // so that a reader finds one gap, not one per row
		return fmt.Errorf("lineage of %s: line %d after line %d", l.File, l.Line, last)
	case len(l.Chain) == 0:
		return fmt.Errorf("lineage of %s line %d: no step", l.File, l.Line)
	case len(l.Loc) == 0 && len(l.Parents) == 0:
		return fmt.Errorf("lineage of %s line %d: neither a source nor a parent", l.File, l.Line)
	}
	for _, loc := range l.Loc {
		if !b.sources[loc.Source] {
			return fmt.Errorf("lineage of %s line %d: source %s is not in %s", l.File, l.Line, loc.Source, SourcesFile)
		}
	}
	b.lines[l.File] = l.Line
	for _, id := range l.Chain {
		b.chains[id] = true
	}
	return nil
}

func (b *book) dropped(d *Dropped) error {
	if d.Step == "" || d.Reason == "" {
		return fmt.Errorf("dropped record %s: no step or no reason", d.Rec)
	}
	for _, loc := range d.Loc {
		if !b.sources[loc.Source] {
			return fmt.Errorf("dropped record %s: source %s is not in %s", d.Rec, loc.Source, SourcesFile)
		}
	}
	m := b.drops[d.Step]
	if m == nil {
		m = map[string]int{}
		b.drops[d.Step] = m
	}
	m[d.Reason]++
	return nil
}

// close compares the rows that were written with what the steps say.
func (b *book) close() fail.List {
	var list fail.List
	bad := func(t msg.Text, args ...any) { list = append(list, fail.New(fail.Failed, t, args...)) }
	files := map[string]int{}
	for _, id := range b.order {
		s := b.steps[id]
		for _, f := range s.Outputs {
			if f.Role == RoleData {
				files[f.Path] += f.Records
			}
		}
		for _, reason := range sortedKeys(union(s.Sums.Dropped, b.drops[id])) {
			if said, found := s.Sums.Dropped[reason], b.drops[id][reason]; said != found {
				bad(msg.Text{"step %s: says %d dropped as %s, %s has %d", "步骤 %s：称丢弃 %d 条（%s），%s 中有 %d 条"},
					s.title(), said, reason, DroppedFile, found)
			}
		}
		b.feeds(s, bad)
	}
	for _, id := range sortedKeys(union(b.chains, b.drops)) {
		if b.steps[id] == nil {
			bad(msg.Text{"rows name step %s, which is not in %s", "记录引用了步骤 %s，但 %s 中没有它"}, id, StepsFile)
		}
	}
	for _, f := range sortedKeys(union(files, b.lines)) {
		if said, found := files[f], b.lines[f]; said != found {
			bad(msg.Text{"file %s: its step says %d {record|records}, %s has %d", "文件 %s：步骤称有 %d 条记录，%s 中有 %d 条"}, f, said, LineageFile, found)
		}
	}
	return list
}

// feeds checks that a step took in what the steps before it gave out.
func (b *book) feeds(s *Step, bad func(msg.Text, ...any)) {
	if len(s.From) == 0 {
		return
	}
	n := 0
	for _, id := range s.From {
		if b.steps[id] == nil {
			bad(msg.Text{"step %s: comes from step %s, which is not in %s", "步骤 %s：来自步骤 %s，但 %s 中没有它"}, s.title(), id, StepsFile)
			return
		}
		n += b.steps[id].Sums.Out
	}
	if n != s.Sums.In {
		bad(msg.Text{"step %s: took in %d, the steps before it gave out %d", "步骤 %s：输入 %d 条，而之前的步骤输出 %d 条"}, s.title(), s.Sums.In, n)
	}
}

// closes checks the sums of one step by themselves.
func (s *Step) closes() error {
	if s.Name == "" || s.Order < 1 {
		return fmt.Errorf("step %q: no name, or an order below 1", s.Name)
	}
	if err := s.Sums.Close(); err != nil {
		return fail.New(fail.Failed, msg.Text{"step %s: %v", "步骤 %s：%v"}, s.title(), err)
	}
	n, any := 0, false
	for _, f := range s.Outputs {
		if !isHex(f.SHA256, 64) {
			return fmt.Errorf("step %s: output %s: sha256 %q is not 64 hex digits", s.title(), f.Path, f.SHA256)
		}
		if f.Role == RoleData {
			n, any = n+f.Records, true
		}
	}
	if any && n != s.Sums.Out {
		return fail.New(fail.Failed, msg.Text{"step %s: out is %d, its files have %d {record|records}", "步骤 %s：输出 %d 条，其文件有 %d 条记录"}, s.title(), s.Sums.Out, n)
	}
	return nil
}

// title names a step for people: its number and name.
func (s *Step) title() string { return fmt.Sprintf("%d %s", s.Order, s.Name) }

func union[A, B any](a map[string]A, b map[string]B) map[string]bool {
	u := make(map[string]bool, len(a)+len(b))
	for k := range a {
		u[k] = true
	}
	for k := range b {
		u[k] = true
	}
	return u
}

func isHex(s string, n int) bool {
	if len(s) != n {
		return false
	}
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
