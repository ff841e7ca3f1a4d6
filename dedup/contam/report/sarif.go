package report

import (
	"bufio"
	"io"
	"iter"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/provenance"
)

// sarifSchema is where the schema of SARIF 2.1.0 stands (OASIS).
const sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

// The parts of SARIF 2.1.0 that are written, named as there.
type (
	sarifText struct {
		Text string `json:"text"`
	}
	sarifRule struct {
		ID               string    `json:"id"`
		ShortDescription sarifText `json:"shortDescription"`
		Default          struct {
			Level string `json:"level"`
		} `json:"defaultConfiguration"`
	}
	sarifArtifact struct {
		Location sarifURI          `json:"location"`
		Length   int64             `json:"length"`
		Hashes   map[string]string `json:"hashes,omitempty"`
	}
	sarifURI struct {
		URI   string `json:"uri"`
		Base  string `json:"uriBaseId,omitempty"`
		Index *int   `json:"index,omitempty"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
	sarifPhysical struct {
		Artifact sarifURI     `json:"artifactLocation"`
		Region   *sarifRegion `json:"region,omitempty"`
	}
	sarifLogical struct {
		Name string `json:"fullyQualifiedName"`
	}
	sarifLocation struct {
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Status        string `json:"status"`
		Justification string `json:"justification"`
	}
	sarifResult struct {
		RuleID       string             `json:"ruleId"`
		RuleIndex    int                `json:"ruleIndex"`
		Level        string             `json:"level"`
		Message      sarifText          `json:"message"`
		Locations    []sarifLocation    `json:"locations"`
		Fingerprints map[string]string  `json:"partialFingerprints"`
		Suppressions []sarifSuppression `json:"suppressions"`
		Properties   struct {
			Benchmark string  `json:"benchmark"`
			Index     int     `json:"index"`
			Score     float64 `json:"score"`
			Rule      string  `json:"rule"`
		} `json:"properties"`
	}
)

// baseID stands for the folder that relative URIs start from.
const baseID = "SRCROOT"

// SARIF writes a check as a SARIF 2.1.0 log: a rule for each verdict, a result for
// each finding (error: it fails; note: it is shown; suppressed: it is waived). It
// never holds a benchmark's text.
func SARIF(w io.Writer, s *Summary, hits iter.Seq2[Hit, error], lang msg.Lang) error {
	b := bufio.NewWriter(w)
	verdicts := contam.Verdicts()
	head, err := sarifHead(s, verdicts, lang)
	if err != nil {
		return err
	}
	b.Write(head)
	first := true
	for h, err := range hits {
		if err != nil {
			return err
		}
		line, err := drydock.MarshalJSON(s.sarifResult(&h, verdicts, lang))
		if err != nil {
			return err
		}
		if !first {
			b.WriteString(",\n")
		}
		first = false
		b.Write(line)
	}
	b.WriteString("\n]}]}\n")
	return b.Flush()
}

// sarifHead returns the log up to the results.
func sarifHead(s *Summary, verdicts []contam.Verdict, lang msg.Lang) ([]byte, error) {
	rules := []sarifRule{}
	for _, v := range verdicts {
		means, _ := provenance.VerdictMeaning(string(v))
		r := sarifRule{ID: string(v), ShortDescription: sarifText{means.In(lang)}}
		r.Default.Level = "note"
		if s.Leak(string(v)) {
			r.Default.Level = "error"
		}
		rules = append(rules, r)
	}
	artifacts := []sarifArtifact{}
	for _, in := range s.Inputs {
		a := sarifArtifact{Location: fileURI(in.File, nil), Length: in.Bytes}
		if in.SHA256 != "" {
			a.Hashes = map[string]string{"sha-256": in.SHA256}
		}
		artifacts = append(artifacts, a)
	}
	parts := []struct {
		before string
		value  any
	}{
		{`{"$schema":"` + sarifSchema + `","version":"2.1.0","runs":[{"tool":{"driver":{"name":"drydock","informationUri":"https://github.com/drydock-ml/drydock","version":`, s.Version},
		{`,"rules":`, rules},
		{`}},"language":"` + lang.String() + `","columnKind":"unicodeCodePoints","originalUriBaseIds":{"` + baseID + `":{"description":{"text":`, msg.Text{"the folder the check ran in", "运行检查的目录"}.In(lang)},
		{`}}},"invocations":[{"executionSuccessful":` + strconv.FormatBool(s.Exit == 0 || s.Exit == fail.Contamination.Code()) + `,"exitCode":`, s.Exit},
		{`}],"artifacts":`, artifacts},
	}
	var out []byte
	for _, p := range parts {
		v, err := drydock.MarshalJSON(p.value)
		if err != nil {
			return nil, err
		}
		out = append(append(out, p.before...), v...)
	}
	return append(out, ",\"results\":[\n"...), nil
}

func (s *Summary) sarifResult(h *Hit, verdicts []contam.Verdict, lang msg.Lang) sarifResult {
	r := sarifResult{
		RuleID: string(h.Verdict), RuleIndex: slices.Index(verdicts, h.Verdict), Level: "note",
		Message: sarifText{h.Sentence(lang)}, Suppressions: []sarifSuppression{},
		// the same finding in the same record, wherever the record has moved to
		Fingerprints: map[string]string{"record/item/v1": textHash(h.Record.SHA256 + "\n" + h.Item.Benchmark + "\n" + itoa(h.Item.Index))},
	}
	if h.Fail {
		r.Level = "error"
	}
	if h.Waived != nil {
		r.Suppressions = append(r.Suppressions, sarifSuppression{"external", "accepted", waivedBecause(h.Waived).In(lang)})
	}
	var index *int
	if i := slices.IndexFunc(s.Inputs, func(in Input) bool { return in.File == h.Record.File }); i >= 0 {
		index = &i
	}
	at := sarifLocation{Physical: sarifPhysical{Artifact: fileURI(h.Record.File, index)}}
	if h.Record.Line > 0 {
		at.Physical.Region = &sarifRegion{h.Record.Line}
	}
	if name := h.Record.Locator + h.Record.Pointer; name != "" {
		at.Logical = []sarifLogical{{name}}
	}
	r.Locations = []sarifLocation{at}
	r.Properties.Benchmark, r.Properties.Index = h.Item.Benchmark, h.Item.Index
	r.Properties.Score, r.Properties.Rule = h.Score, h.Rule
	return r
}

// fileURI is the URI of an input: relative to the folder of the check, or
// absolute where the input was named so.
func fileURI(name string, index *int) sarifURI {
	u := url.URL{Path: path.Clean(name)}
	if strings.HasPrefix(name, "/") || len(name) > 2 && name[1] == ':' && name[2] == '/' {
		u.Scheme = "file"
		if u.Path[0] != '/' {
			u.Path = "/" + u.Path
		}
		return sarifURI{URI: "file://" + u.EscapedPath(), Index: index}
	}
	return sarifURI{URI: u.String(), Base: baseID, Index: index}
}
