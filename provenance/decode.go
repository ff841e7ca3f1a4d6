package provenance

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/drydock-ml/drydock"
	"github.com/valyala/fastjson"
)

// The wire forms: what encoding/json reads. null leaves a string empty.

type sourceJSON struct {
	ID          string `json:"id"`
	Name        string `json:"source"`
	File        string `json:"file"`
	SHA256      string `json:"sha256"`
	Bytes       int64  `json:"bytes"`
	MediaType   string `json:"media_type"`
	Title       string `json:"title"`
	TitleLang   string `json:"title_lang"`
	Publisher   string `json:"publisher"`
	Edition     string `json:"edition"`
	DocNo       string `json:"isbn_or_doc_no"`
	OriginURL   string `json:"origin_url"`
	OriginClass string `json:"origin_class"`
	RetrievedAt string `json:"retrieved_at"`
	RetrievedBy string `json:"retrieved_by"`
	License     struct {
		Declared       string `json:"declared"`
		SPDX           string `json:"spdx"`
		EvidencePath   string `json:"evidence_path"`
		EvidenceSHA256 string `json:"evidence_sha256"`
		VerifiedBy     string `json:"verified_by"`
	} `json:"license"`
	Rights struct {
		Train        string `json:"train"`
		Redistribute string `json:"redistribute"`
		Commercial   string `json:"commercial"`
	} `json:"rights"`
	Languages   []string `json:"languages"`
	Geo         string   `json:"geo"`
	Personal    string   `json:"personal_data"`
	Screen      *Screen  `json:"screen"`
	Blacklisted bool     `json:"blacklisted"`
	Parser      struct {
		Name          string `json:"name"`
		Version       string `json:"version"`
		OptionsSHA256 string `json:"options_sha256"`
	} `json:"parser"`
	Units    map[string]int    `json:"units"`
	Records  int               `json:"records"`
	Warnings []string          `json:"warnings"`
	Absent   map[string]string `json:"absent_reason"`
}

type stepJSON struct {
	ID           string            `json:"id"`
	Order        int               `json:"order"`
	Name         string            `json:"name"`
	Tool         string            `json:"tool"`
	ToolVersion  string            `json:"tool_version"`
	VCSRevision  string            `json:"vcs_revision"`
	Params       drydock.RawJSON   `json:"params"`
	ParamsSHA256 string            `json:"params_sha256"`
	Seed         *uint64           `json:"seed"`
	From         []string          `json:"from"`
	Inputs       []Artifact        `json:"inputs"`
	Outputs      []Artifact        `json:"outputs"`
	In           int               `json:"in"`
	Made         int               `json:"made"`
	Out          int               `json:"out"`
	Dropped      map[string]int    `json:"dropped"`
	Merged       int               `json:"merged"`
	Bench        []Contamination   `json:"bench"`
	Absent       map[string]string `json:"absent_reason"`
}

func decodeSource(line []byte) (Source, error) {
	var j sourceJSON
	if err := strict(line, &j); err != nil {
		return Source{}, err
	}
	s := Source{
		ID: j.ID, Name: j.Name, File: j.File, SHA256: j.SHA256, Bytes: j.Bytes, MediaType: j.MediaType,
		Title: j.Title, TitleLang: j.TitleLang, Publisher: j.Publisher, Edition: j.Edition, DocNo: j.DocNo,
		OriginURL: j.OriginURL, OriginClass: j.OriginClass, RetrievedAt: j.RetrievedAt, RetrievedBy: j.RetrievedBy,
		License: License(j.License), Rights: Rights(j.Rights), Languages: j.Languages, Geo: j.Geo,
		Personal: j.Personal, Screen: j.Screen, Blacklisted: j.Blacklisted, Parser: ParserInfo(j.Parser),
		Units: j.Units, Records: j.Records, Warnings: j.Warnings, Absent: j.Absent,
	}
	if want := s.contentID(); s.ID != want {
		return s, fmt.Errorf("source id %s does not follow from its content (%s)", s.ID, want)
	}
	return s, nil
}

func decodeStep(line []byte) (Step, error) {
	var j stepJSON
	if err := strict(line, &j); err != nil {
		return Step{}, err
	}
	s := Step{
		ID: j.ID, Order: j.Order, Name: j.Name, Tool: j.Tool, ToolVersion: j.ToolVersion, VCSRevision: j.VCSRevision,
		Params: j.Params, Seed: j.Seed, From: j.From, Inputs: j.Inputs, Outputs: j.Outputs,
		Sums:  drydock.Sums{In: j.In, Made: j.Made, Out: j.Out, Dropped: j.Dropped, Merged: j.Merged},
		Bench: j.Bench, Absent: j.Absent,
	}
	if got := sha256hex(s.Params); got != j.ParamsSHA256 {
		return s, fmt.Errorf("step %s: params_sha256 does not match params", s.title())
	}
	want, err := StepID(s)
	if err != nil {
		return s, err
	}
	if s.ID != want {
		return s, fmt.Errorf("step id %s does not follow from its content (%s)", s.ID, want)
	}
	return s, nil
}

func strict(line []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(line))
	if err := d.Decode(v); err != nil {
		return err
	}
	if d.InputOffset() < int64(len(bytes.TrimRight(line, " \t\r\n"))) {
		return fmt.Errorf("text after the JSON object")
	}
	return nil
}

// rows reads lineage and dropped rows without a tree of maps: there may be
// millions of them.
type rows struct {
	p      fastjson.Parser
	intern map[string]string
}

func newRows() *rows { return &rows{intern: map[string]string{}} }

// name keeps one copy of a string that repeats: a file, a step, a source.
func (r *rows) name(b []byte) string {
	if s, ok := r.intern[string(b)]; ok {
		return s
	}
	s := string(b)
	if len(r.intern) < 1<<16 {
		r.intern[s] = s
	}
	return s
}

func (r *rows) parse(line []byte) (*fastjson.Value, error) {
	v, err := r.p.ParseBytes(line)
	if err != nil {
		return nil, err
	}
	if v.Type() != fastjson.TypeObject {
		return nil, fmt.Errorf("a row must be an object, this is %s", v.Type())
	}
	return v, nil
}

func (r *rows) loc(v *fastjson.Value) ([]Loc, error) {
	a := v.GetArray("loc")
	if len(a) == 0 {
		return nil, nil
	}
	out := make([]Loc, len(a))
	for i, e := range a {
		out[i].Source = r.name(e.GetStringBytes("src"))
		var err error
		if out[i].At, err = drydock.ParseLocator(string(e.GetStringBytes("at"))); err != nil {
			return nil, err
		}
		if out[i].Key, err = drydock.ParseLocator(string(e.GetStringBytes("key"))); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (r *rows) strs(v *fastjson.Value, key string) []string {
	a := v.GetArray(key)
	if len(a) == 0 {
		return nil
	}
	out := make([]string, len(a))
	for i, e := range a {
		out[i] = r.name(e.GetStringBytes())
	}
	return out
}

// id reads a record id; null and a missing key are the zero id.
func id(v *fastjson.Value) (drydock.ID, error) {
	var out drydock.ID
	if v == nil || v.Type() == fastjson.TypeNull {
		return out, nil
	}
	err := out.UnmarshalText(v.GetStringBytes())
	return out, err
}

func (r *rows) lineage(line []byte) (Lineage, error) {
	var l Lineage
	v, err := r.parse(line)
	if err != nil {
		return l, err
	}
	if l.Rec, err = id(v.Get("rec")); err != nil {
		return l, err
	}
	if l.Loc, err = r.loc(v); err != nil {
		return l, err
	}
	for _, e := range v.GetArray("parents") {
		p, err := id(e)
		if err != nil {
			return l, err
		}
		l.Parents = append(l.Parents, p)
	}
	l.ID = string(v.GetStringBytes("id"))
	l.Row = string(v.GetStringBytes("row"))
	l.File = r.name(v.GetStringBytes("file"))
	l.Line = v.GetInt("line")
	l.Chain, l.Flags = r.strs(v, "chain"), r.strs(v, "flags")
	l.Split, l.Kind = r.name(v.GetStringBytes("split")), r.name(v.GetStringBytes("kind"))
	l.Form, l.Lang = r.name(v.GetStringBytes("form")), r.name(v.GetStringBytes("lang"))
	l.Options, l.Answer = v.GetInt("options"), r.name(v.GetStringBytes("answer"))
	return l, nil
}

func (r *rows) dropped(line []byte) (Dropped, error) {
	var d Dropped
	v, err := r.parse(line)
	if err != nil {
		return d, err
	}
	if d.Rec, err = id(v.Get("rec")); err != nil {
		return d, err
	}
	if d.Loc, err = r.loc(v); err != nil {
		return d, err
	}
	d.ID = string(v.GetStringBytes("id"))
	d.Step, d.Reason = r.name(v.GetStringBytes("step")), r.name(v.GetStringBytes("reason"))
	d.Detail = string(v.GetStringBytes("detail"))
	if e := v.Get("evidence"); e != nil && e.Type() == fastjson.TypeObject {
		d.Evidence = &Evidence{}
		if err := json.Unmarshal(e.MarshalTo(nil), d.Evidence); err != nil {
			return d, err
		}
	}
	return d, nil
}

func decodeRoot(b []byte) (Root, error) {
	var j struct {
		Schema string       `json:"schema"`
		Files  []LedgerFile `json:"files"`
		Root   string       `json:"root"`
	}
	if err := strict(b, &j); err != nil {
		return Root{}, err
	}
	if j.Schema != RootSchema {
		return Root{}, fmt.Errorf("schema %q, this program reads %q", j.Schema, RootSchema)
	}
	return Root{Files: j.Files, Hash: j.Root}, nil
}
