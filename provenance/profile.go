package provenance

// Profile counts what the emitted rows are.
type Profile struct {
	Rows      int
	Files     map[string]int // rows by data file
	Splits    map[string]int
	Kinds     map[string]int         // question, passage, chat
	Forms     map[string]int         // single, multiple, judge …
	Languages map[string]int         // BCP 47
	Letters   map[int]map[string]int // answer letters of single-choice questions, by number of options
	Flags     map[string]int
	Sources   map[string]int // rows by source id
	// FileSources are the rows of each data file by source id.
	FileSources map[string]map[string]int
}

func newProfile() Profile {
	return Profile{
		Files: map[string]int{}, Splits: map[string]int{}, Kinds: map[string]int{}, Forms: map[string]int{},
		Languages: map[string]int{}, Letters: map[int]map[string]int{}, Flags: map[string]int{}, Sources: map[string]int{},
		FileSources: map[string]map[string]int{},
	}
}

func (p *Profile) add(l *Lineage) {
	p.Rows++
	p.Files[l.File]++
	p.Splits[l.Split]++
	p.Kinds[l.Kind]++
	p.Languages[l.Lang]++
	for _, f := range l.Flags {
		p.Flags[f]++
	}
	file := p.FileSources[l.File]
	if file == nil {
		file = map[string]int{}
		p.FileSources[l.File] = file
	}
	seen := ""
	for _, loc := range l.Loc {
		if loc.Source != seen { // a merged row usually repeats one source
			p.Sources[loc.Source]++
			file[loc.Source]++
			seen = loc.Source
		}
	}
	if l.Form == "" {
		return
	}
	p.Forms[l.Form]++
	if l.Form == "single" && l.Answer != "" {
		m := p.Letters[l.Options]
		if m == nil {
			m = map[string]int{}
			p.Letters[l.Options] = m
		}
		m[l.Answer]++
	}
}
