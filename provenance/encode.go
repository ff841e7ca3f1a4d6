package provenance

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/drydock-ml/drydock"
)

// object appends one JSON object key by key, in the order of the calls, and
// remembers which keys were unknown and why.
type object struct {
	b      []byte
	absent []string // key, reason, key, reason …
	why    map[string]string
	err    error
}

func (o *object) reset(why map[string]string) {
	o.b = append(o.b[:0], '{')
	o.absent = o.absent[:0]
	o.why = why
	o.err = nil
}

func (o *object) key(k string) {
	if n := len(o.b); o.b[n-1] != '{' {
		o.b = append(o.b, ',')
	}
	o.b = drydock.AppendJSONString(o.b, k)
	o.b = append(o.b, ':')
}

func (o *object) str(k, v string) {
	o.key(k)
	o.b = drydock.AppendJSONString(o.b, v)
}

// opt writes v, or null with a reason when it is empty. path names the value in
// absent_reason where it stands inside a nested object.
func (o *object) opt(k, v, path, reason string) {
	if v != "" {
		o.str(k, v)
		return
	}
	o.null(k, path, reason)
}

func (o *object) null(k, path, reason string) {
	o.key(k)
	o.b = append(o.b, "null"...)
	if w := o.why[path]; w != "" {
		reason = w
	}
	o.absent = append(o.absent, path, reason)
}

func (o *object) num(k string, v int64) {
	o.key(k)
	o.b = strconv.AppendInt(o.b, v, 10)
}

func (o *object) bool(k string, v bool) {
	o.key(k)
	o.b = strconv.AppendBool(o.b, v)
}

func (o *object) raw(k string, v []byte) {
	o.key(k)
	o.b = append(o.b, v...)
}

// any writes a value by its JSON tags; for the rare, not for the many.
func (o *object) any(k string, v any) {
	b, err := drydock.MarshalJSON(v)
	if err != nil {
		o.err = err
		return
	}
	o.raw(k, b)
}

func (o *object) strs(k string, v []string) {
	o.key(k)
	o.b = append(o.b, '[')
	for i, s := range v {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = drydock.AppendJSONString(o.b, s)
	}
	o.b = append(o.b, ']')
}

func (o *object) open(k string) {
	o.key(k)
	o.b = append(o.b, '{')
}

func (o *object) close() { o.b = append(o.b, '}') }

// end closes the object and its line. A reason for a key that is known, or that
// does not exist, is a mistake of the caller and not written.
func (o *object) end() []byte {
	if len(o.absent) > 0 {
		o.open("absent_reason")
		for i := 0; i < len(o.absent); i += 2 {
			o.str(o.absent[i], o.absent[i+1])
		}
		o.close()
	}
	o.b = append(o.b, '}', '\n')
	return o.b
}

const (
	notDeclared = "not_declared"
	notScreened = "not_screened"
	notMeasured = "not_measured"
	noRecord    = "never_became_a_record"
)

func (o *object) source(s *Source) []byte {
	o.reset(s.Absent)
	o.str("id", s.ID)
	o.str("source", s.Name)
	o.str("file", s.File)
	o.str("sha256", s.SHA256)
	o.num("bytes", s.Bytes)
	for _, f := range []struct{ k, v string }{
		{"media_type", s.MediaType},
		{"title", s.Title},
		{"title_lang", s.TitleLang},
		{"publisher", s.Publisher},
		{"edition", s.Edition},
		{"isbn_or_doc_no", s.DocNo},
		{"origin_url", s.OriginURL},
		{"origin_class", s.OriginClass},
		{"retrieved_at", s.RetrievedAt},
		{"retrieved_by", s.RetrievedBy},
	} {
		o.opt(f.k, f.v, f.k, notDeclared)
	}
	o.license(s)
	if len(s.Languages) > 0 {
		o.strs("languages", s.Languages)
	} else {
		o.null("languages", "languages", notDeclared)
	}
	o.opt("geo", s.Geo, "geo", notDeclared)
	o.opt("personal_data", s.Personal, "personal_data", notScreened)
	if s.Screen != nil {
		o.any("screen", s.Screen)
	} else {
		o.null("screen", "screen", notScreened)
	}
	o.bool("blacklisted", s.Blacklisted)
	o.open("parser")
	o.opt("name", s.Parser.Name, "parser.name", notMeasured)
	o.opt("version", s.Parser.Version, "parser.version", notMeasured)
	o.opt("options_sha256", s.Parser.OptionsSHA256, "parser.options_sha256", notMeasured)
	o.close()
	if s.Units != nil {
		o.any("units", s.Units) // map keys are sorted by encoding/json
	} else {
		o.null("units", "units", notMeasured)
	}
	o.num("records", int64(s.Records))
	o.strs("warnings", s.Warnings)
	return o.end()
}

func (o *object) license(s *Source) {
	o.open("license")
	o.opt("declared", s.License.Declared, "license.declared", notDeclared)
	spdxReason := notDeclared
	if s.License.Declared != "" {
		spdxReason = "declared_text_is_no_spdx_id"
	}
	o.opt("spdx", s.License.SPDX, "license.spdx", spdxReason)
	o.opt("evidence_path", s.License.EvidencePath, "license.evidence_path", notDeclared)
	o.opt("evidence_sha256", s.License.EvidenceSHA256, "license.evidence_sha256", notDeclared)
	o.opt("verified_by", s.License.VerifiedBy, "license.verified_by", notDeclared)
	o.close()
	o.open("rights")
	o.opt("train", s.Rights.Train, "rights.train", notDeclared)
	o.opt("redistribute", s.Rights.Redistribute, "rights.redistribute", notDeclared)
	o.opt("commercial", s.Rights.Commercial, "rights.commercial", notDeclared)
	o.close()
}

func (o *object) step(s *Step, params []byte) []byte {
	o.reset(s.Absent)
	o.str("id", s.ID)
	o.num("order", int64(s.Order))
	o.str("name", s.Name)
	o.str("tool", toolOf(*s))
	o.opt("tool_version", s.ToolVersion, "tool_version", "development_build")
	o.opt("vcs_revision", s.VCSRevision, "vcs_revision", "development_build")
	o.raw("params", params)
	o.str("params_sha256", sha256hex(params))
	if s.Seed != nil {
		o.key("seed")
		o.b = strconv.AppendUint(o.b, *s.Seed, 10)
	} else {
		o.null("seed", "seed", "uses_no_randomness")
	}
	o.strs("from", s.From)
	o.any("inputs", notNil(s.Inputs))
	o.any("outputs", notNil(s.Outputs))
	o.num("in", int64(s.Sums.In))
	o.num("made", int64(s.Sums.Made))
	o.num("out", int64(s.Sums.Out))
	o.open("dropped")
	for _, k := range sortedKeys(s.Sums.Dropped) {
		o.num(k, int64(s.Sums.Dropped[k]))
	}
	o.close()
	o.num("merged", int64(s.Sums.Merged))
	if len(s.Bench) > 0 {
		o.bench(s.Bench)
	}
	return o.end()
}

// bench writes the statements; an empty list is written as one, and a size that
// nobody counted says so.
func (o *object) bench(list []Contamination) {
	full := make([]Contamination, len(list))
	for i, c := range list {
		if c.Blind == nil {
			c.Blind = []int{}
		}
		if c.Scanned == nil {
			c.Scanned = []Scanned{}
		}
		if c.NotScanned == nil {
			c.NotScanned = []string{}
		}
		if c.Verdicts == nil {
			c.Verdicts = map[string]int{}
		}
		for j, s := range c.Scanned {
			if s.Bytes == nil {
				o.absent = append(o.absent, fmt.Sprintf("bench[%d].scanned[%d].bytes", i, j), notMeasured)
			}
		}
		full[i] = c
	}
	o.any("bench", full)
}

func (o *object) loc(locs []Loc, reason string) {
	if len(locs) == 0 {
		o.null("loc", "loc", reason)
		return
	}
	o.key("loc")
	o.b = append(o.b, '[')
	for i, l := range locs {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = append(o.b, '{')
		o.str("src", l.Source)
		if at := l.At.String(); at != "" {
			o.str("at", at)
		}
		if key := l.Key.String(); key != "" {
			o.str("key", key)
		}
		o.close()
	}
	o.b = append(o.b, ']')
}

func (o *object) ids(k string, ids []drydock.ID) {
	o.key(k)
	o.b = append(o.b, '[')
	for i, id := range ids {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.hex(id)
	}
	o.b = append(o.b, ']')
}

func (o *object) hex(id drydock.ID) {
	const digits = "0123456789abcdef"
	o.b = append(o.b, '"')
	for _, c := range id {
		o.b = append(o.b, digits[c>>4], digits[c&15])
	}
	o.b = append(o.b, '"')
}

func (o *object) lineage(l *Lineage) []byte {
	o.reset(nil)
	o.key("rec")
	o.hex(l.Rec)
	o.str("id", l.ID)
	o.str("row", l.Row)
	o.str("file", l.File)
	o.num("line", int64(l.Line))
	o.loc(l.Loc, "made_from_parents")
	o.strs("chain", l.Chain)
	o.ids("parents", l.Parents)
	split := l.Split
	if split == "" {
		split = "all"
	}
	o.str("split", split)
	o.strs("flags", l.Flags)
	o.opt("kind", l.Kind, "kind", notMeasured)
	o.opt("lang", l.Lang, "lang", notMeasured)
	if l.Form != "" { // only questions have a form
		o.str("form", l.Form)
		o.num("options", int64(l.Options))
		o.opt("answer", l.Answer, "answer", "no_option_label")
	}
	return o.end()
}

func (o *object) dropped(d *Dropped) []byte {
	o.reset(nil)
	if d.Rec.IsZero() {
		o.null("rec", "rec", noRecord)
	} else {
		o.key("rec")
		o.hex(d.Rec)
	}
	o.opt("id", d.ID, "id", noRecord)
	o.str("step", d.Step)
	o.str("reason", d.Reason)
	if d.Evidence != nil && d.Evidence.Benchmark != "" {
		// a detail written for people could quote the item: never beside one
		o.null("detail", "detail", "benchmark_text_is_never_written")
	} else {
		o.opt("detail", d.Detail, "detail", "the_reason_says_it")
	}
	o.loc(d.Loc, "no_place_known")
	if d.Evidence != nil {
		o.any("evidence", d.Evidence)
	} else {
		o.null("evidence", "evidence", "the_reason_says_it")
	}
	return o.end()
}

func (r Root) encode() []byte {
	var o object
	o.reset(nil)
	o.str("schema", RootSchema)
	o.any("files", r.Files)
	o.str("root", r.Hash)
	return o.end()
}

func notNil(a []Artifact) []Artifact {
	if a == nil {
		return []Artifact{}
	}
	return a
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
