package runstore

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"
)

// A Retention says which runs may go. A run goes when every rule that is set
// allows it.
type Retention struct {
	Keep      int           // the newest so many stay; 0: no rule
	OlderThan time.Duration // younger ones stay; 0: no rule
}

// A Removal is one run that may go.
type Removal struct {
	ID    string
	Start time.Time
	Bytes int64    // of all that goes
	Paths []string // folders that go: its record, and checkpoints that were moved aside for it
}

// Removable returns the runs that may go by a rule, oldest first, and by id which
// later run keeps one that the rule would let go. A run that has not ended stays,
// and so does one that a run builds on that stays: the history of a checkpoint is
// never cut.
func (p Project) Removable(now time.Time, r Retention) (gone []Removal, kept map[string]string, err error) {
	runsDir := p.Runs()
	runs, _, err := List(runsDir)
	if err != nil {
		return nil, nil, err
	}
	links, err := Links(runsDir)
	if err != nil {
		return nil, nil, err
	}
	held := p.Held()
	stays := map[string]bool{}
	for i, info := range runs {
		stays[info.ID] = r.Keep > 0 && i < r.Keep || r.OlderThan > 0 && now.Sub(info.Start) < r.OlderThan ||
			info.End == nil && i == 0 && held
	}
	kept = map[string]string{}
	for _, info := range runs { // the newest first, so that a chain is followed to its end
		for _, on := range links[info.ID] {
			if stays[info.ID] && !stays[on] {
				stays[on], kept[on] = true, info.ID
			}
		}
	}
	for _, info := range slices.Backward(runs) {
		if stays[info.ID] {
			continue
		}
		g, err := p.removal(info)
		if err != nil {
			return nil, nil, err
		}
		gone = append(gone, g)
	}
	return gone, kept, nil
}

// Dependents returns the runs that build on a run.
func Dependents(runsDir, run string) ([]string, error) {
	links, err := Links(runsDir)
	if err != nil {
		return nil, err
	}
	var out []string
	for from, on := range links {
		if slices.Contains(on, run) {
			out = append(out, from)
		}
	}
	slices.Sort(out)
	return out, nil
}

// Removal returns what goes with a run.
func (p Project) Removal(id string) (Removal, error) {
	info, err := Read(filepath.Join(p.Dir, "runs", id))
	if err != nil {
		return Removal{}, err
	}
	return p.removal(info)
}

func (p Project) removal(info Info) (Removal, error) {
	record := filepath.Join(p.Dir, "runs", info.ID)
	g := Removal{ID: info.ID, Start: info.Start, Paths: []string{record}}
	m, ok, err := ReadManifest(record)
	if err != nil {
		return g, err
	}
	if ok {
		// only what was moved aside for this run: the folder that trainers write
		// to is the project's
		aside := filepath.Join(p.Dir, filepath.FromSlash(path.Join(m.Trainer.Dir, m.Trainer.Output)))
		if filepath.Ext(m.Trainer.Output) == "."+info.ID && filepath.IsLocal(filepath.FromSlash(path.Join(m.Trainer.Dir, m.Trainer.Output))) {
			if _, err := os.Stat(aside); err == nil {
				g.Paths = append(g.Paths, aside)
			}
		}
	}
	for _, dir := range g.Paths {
		n, err := sizeOfTree(dir)
		if err != nil {
			return g, err
		}
		g.Bytes += n
	}
	return g, nil
}

func sizeOfTree(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}

// Remove removes what a removal names. The record goes last, so that one that was
// cut can be done again.
func (g Removal) Remove() error {
	for _, dir := range slices.Backward(g.Paths) {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}
