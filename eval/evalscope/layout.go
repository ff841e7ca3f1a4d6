package evalscope

import (
	"path/filepath"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// A Layout says where the files of one model and benchmark lie under a work
// folder.
type Layout struct {
	Dir   string // the work folder
	Model string // as asked for
	Bench string // maritime_bench
}

// Predictions is the path of the predictions.
func (l Layout) Predictions() string { return l.path("predictions", l.Bench+"_default.jsonl") }

// Reviews is the path of the reviews.
func (l Layout) Reviews() string { return l.path("reviews", l.Bench+"_default.jsonl") }

// Report is the path of the report.
func (l Layout) Report() string { return l.path("reports", l.Bench+".json") }

func (l Layout) path(kind, name string) string {
	return filepath.Join(l.Dir, kind, ModelID(l.Model), name)
}

// ModelID is the folder name EvalScope gives a model: what stands after the
// last slash, as a safe file name. A Chinese name or a last slash gives
// "untitled", as there.
func ModelID(model string) string {
	return safeFilename(model[strings.LastIndexByte(model, '/')+1:])
}

// safeFilename makes a file name of any text as EvalScope does: decomposed,
// ASCII kept, other characters an underscore, no runs of those, none and no
// points at the ends, at most 255 long with the extension kept.
func safeFilename(s string) string {
	var b []byte
	for _, r := range norm.NFKD.String(s) {
		switch {
		case r >= 0x80:
			continue
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '-':
			b = append(b, byte(r))
		case len(b) == 0 || b[len(b)-1] != '_':
			b = append(b, '_')
		}
	}
	name := strings.Trim(string(b), "._")
	if name == "" {
		return "untitled"
	}
	const longest = 255
	if len(name) <= longest {
		return name
	}
	ext := ""
	// the leading points of a name are no extension; they are trimmed already
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		ext = name[i:]
	}
	if len(ext) >= longest {
		return name[:longest]
	}
	return name[:longest-len(ext)] + ext
}
