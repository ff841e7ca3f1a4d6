package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"iter"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/drydock-ml/drydock/dedup/contam/report"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

func TestRowsReadBack(t *testing.T) {
	t.Parallel()
	hs := hits(t, nil)
	hs[1].Waived = &report.Waiver{Reason: "a \"quoted\" reason", Author: "赵", Expires: "2027-01-01"}
	next := hs[2].Record
	next.Line++
	hs[2].Next = &next
	hs[2].Spans[0].Next = true
	var file []byte
	for i := range hs {
		file = hs[i].Append(file)
	}
	got, err := report.ReadAll("r.jsonl", bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	var again []byte
	for i := range got {
		again = got[i].Append(again)
	}
	if d := cmp.Diff(string(file), string(again)); d != "" {
		t.Errorf("(-written +written again):\n%s", d)
	}
}

func TestBadRows(t *testing.T) {
	t.Parallel()
	good := string(hits(t, nil)[0].Append(nil))
	for name, c := range map[string]struct{ row, says string }{
		"no JSON":        {`{"schema":`, "not valid JSON"},
		"other schema":   {`{"schema":"drydock.dedup/1"}`, `"drydock.dedup/1"`},
		"summary":        {`{"schema":"drydock.contam.summary/1"}`, "not a row"},
		"no file":        {strings.Replace(good, `"file":"train.jsonl"`, `"file":""`, 1), "record.file"},
		"no index":       {strings.Replace(good, `"index":7`, `"i":7`, 1), "item.index"},
		"no verdict":     {strings.Replace(good, `"verdict"`, `"v"`, 1), "verdict"},
		"no fail":        {strings.Replace(good, `"fail":true`, `"f":true`, 1), "no fail"},
		"negative line":  {strings.Replace(good, `"line":2`, `"line":-2`, 1), "line -2"},
		"score of 2":     {strings.Replace(good, `"score":1`, `"score":2`, 1), "score 2"},
		"span backwards": {strings.Replace(good, `"spans":[`, `"spans":[{"start":5,"end":3},`, 1), "5–3"},
		"edit below 0":   {strings.Replace(good, `"alignment":[`, `"alignment":[{"op":"equal","data":[-1,3],"item":[0,4]},`, 1), "-1–3"},
		"wrong type":     {strings.Replace(good, `"line":2`, `"line":"2"`, 1), "cannot unmarshal"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := good + "\n" + strings.TrimSpace(c.row) + "\n" + good
			rows, err := report.ReadAll("r.jsonl", strings.NewReader(file))
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("error %v does not say %q", err, c.says)
			}
			if e := fail.All(err); len(e) != 1 || e[0].Where != (fail.Where{File: "r.jsonl", Line: 3}) {
				t.Errorf("placed at %v", e[0].Where)
			}
			if len(rows) != 2 {
				t.Errorf("%d good rows", len(rows))
			}
		})
	}
}

func TestHopelessFileEndsEarly(t *testing.T) {
	t.Parallel()
	_, err := report.ReadAll("x", strings.NewReader(strings.Repeat("no row\n", 1000)))
	if n := len(fail.All(err)); n > 30 {
		t.Errorf("%d errors", n)
	}
	_, err = report.ReadAll("x", io.MultiReader(strings.NewReader("{"), strings.NewReader(strings.Repeat(" ", 17<<20))))
	if err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("%v", err)
	}
}

func TestSpool(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := report.NewSpool(dir)
	if err != nil {
		t.Fatal(err)
	}
	s.Items = question
	want := hits(t, nil)
	for i := range want {
		if err := s.Add(&want[i]); err != nil {
			t.Fatal(err)
		}
		var got []report.Hit
		for h, err := range s.Hits() { // reading between writing
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, h)
		}
		if d := cmp.Diff(want[:i+1], got, cmpopts.EquateApprox(0, 1e-4), cmpopts.EquateNaNs()); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestView(t *testing.T) {
	t.Parallel()
	hs := hits(t, nil)
	render := func(side []report.Stretch) string {
		var b strings.Builder
		for _, s := range side {
			b.WriteString([]string{"", "=", "!"}[s.Mark] + s.Text + []string{"", "=", "!"}[s.Mark])
		}
		return b.String()
	}
	exact := hs[0].View()
	if s := render(exact.Item); strings.Contains(s, "!") {
		t.Errorf("an exact copy differs: %s", s)
	}
	stem := hs[2].View()
	if got := render(stem.Data); !strings.Contains(got, "=拖輪頂推大船時，拖纜與船首尾線的夾角一般不宜小於=") {
		t.Errorf("the stem in traditional characters: %s", got)
	}
	if got := render(stem.Item); !strings.Contains(got, "!约三十度!") {
		t.Errorf("a missing option is not marked: %s", got)
	}
	shuffled := hs[1].View()
	if s := render(shuffled.Item); strings.Contains(s, "!") {
		t.Errorf("a shuffled copy differs: %s", s)
	}
	if s := render(shuffled.Data); !strings.Contains(s, "=the one to leeward=") {
		t.Errorf("%s", s)
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	hs := hits(t, nil)
	hs[0].Record.File = `dir/a "b" <c> & %20 文.jsonl`
	s := summary(hs)
	s.Inputs[0].File = hs[0].Record.File
	for _, lang := range []msg.Lang{msg.En, msg.Zh} {
		var page, junit, sarif, md bytes.Buffer
		for _, err := range []error{
			report.HTML(&page, s, seq(hs), lang), report.JUnit(&junit, s, seq(hs), lang),
			report.SARIF(&sarif, s, seq(hs), lang), report.Markdown(&md, s, seq(hs), lang),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if strings.Contains(page.String(), "<c>") || strings.Contains(md.String(), " <c>") {
			t.Error("a file name is markup")
		}
		for _, outside := range []string{"http://", "https://", "<script", "url(", "@import"} {
			if strings.Contains(page.String(), outside) {
				t.Errorf("the page holds %q", outside)
			}
		}
		if !strings.Contains(page.String(), "<mark>拖轮顶推大船时") {
			t.Error("the page highlights nothing")
		}
		checkJUnit(t, junit.Bytes(), 3, 0)
		checkSARIF(t, sarif.Bytes())
		for _, out := range []string{junit.String(), sarif.String()} {
			if strings.Contains(out, "拖轮") || strings.Contains(out, "sailing vessels") {
				t.Error("a log for build servers holds text of the benchmark")
			}
		}
	}
}

// checkJUnit checks the counts against the cases.
func checkJUnit(t *testing.T, b []byte, failures, skipped int) {
	t.Helper()
	var got struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Skipped  int `xml:"skipped,attr"`
		Suites   []struct {
			Cases []struct {
				Name    string    `xml:"name,attr"`
				Failure *struct{} `xml:"failure"`
				Skipped *struct{} `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(b, &got); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	f, s := 0, 0
	for _, c := range got.Suites[0].Cases {
		if c.Failure != nil {
			f++
		}
		if c.Skipped != nil {
			s++
		}
	}
	if got.Tests != len(got.Suites[0].Cases) || got.Failures != f || got.Skipped != s || f != failures || s != skipped {
		t.Errorf("counts %+v, cases %d, failures %d, skipped %d", got, len(got.Suites[0].Cases), f, s)
	}
}

// An archive with a leak in a member is no clean input.
func TestJUnitOfArchives(t *testing.T) {
	t.Parallel()
	hs := hits(t, nil)[:1]
	hs[0].Record.File = "kb.zip!inner/a!b.tar!q.jsonl"
	s := &report.Summary{Records: 3, Inputs: []report.Input{{File: "kb.zip"}, {File: "kb.zip!inner/a"}, {File: "clean.zip"}}}
	s.Normalize()
	var b bytes.Buffer
	if err := report.JUnit(&b, s, seq(hs), msg.En); err != nil {
		t.Fatal(err)
	}
	checkJUnit(t, b.Bytes(), 1, 0)
	if strings.Contains(b.String(), `<testcase classname="kb.zip" name="no`) || !strings.Contains(b.String(), `classname="clean.zip" name="no`) {
		t.Errorf("%s", b.String())
	}
}

func TestJUnitOfNothing(t *testing.T) {
	t.Parallel()
	s := &report.Summary{}
	s.Normalize()
	var b bytes.Buffer
	if err := report.JUnit(&b, s, seq(nil), msg.En); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `errors="1"`) {
		t.Errorf("a check of nothing passes: %s", b.String())
	}
}

// checkSARIF holds a log to the rules of SARIF 2.1.0 that concern what we write.
func checkSARIF(t *testing.T, b []byte) {
	t.Helper()
	var log struct {
		Schema  string `json:"$schema"`
		Version string `json:"version"`
		Runs    []struct {
			Tool struct {
				Driver struct {
					Name  string
					Rules []struct {
						ID      string
						Default struct{ Level string } `json:"defaultConfiguration"`
					}
				}
			}
			Language    string
			ColumnKind  string
			Bases       map[string]any `json:"originalUriBaseIds"`
			Invocations []struct {
				ExecutionSuccessful *bool
				ExitCode            *int
			}
			Artifacts []struct {
				Location struct{ URI, URIBaseID string }
				Hashes   map[string]string
			}
			Results []struct {
				RuleID    string
				RuleIndex int
				Level     string
				Message   struct{ Text string }
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct {
							URI, URIBaseID string
							Index          *int
						}
						Region *struct{ StartLine int }
					}
				}
				Suppressions []struct{ Kind, Status string }
			}
		}
	}
	if err := json.Unmarshal(b, &log); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	if log.Version != "2.1.0" || len(log.Runs) != 1 {
		t.Fatalf("version %q, %d runs", log.Version, len(log.Runs))
	}
	run := log.Runs[0]
	if run.Tool.Driver.Name == "" || run.ColumnKind != "unicodeCodePoints" || len(run.Invocations) != 1 || run.Invocations[0].ExecutionSuccessful == nil {
		t.Errorf("run: %+v", run)
	}
	level := map[string]bool{"none": true, "note": true, "warning": true, "error": true}
	seen := map[string]bool{}
	for _, r := range run.Tool.Driver.Rules {
		if seen[r.ID] || !level[r.Default.Level] {
			t.Errorf("rule %+v", r)
		}
		seen[r.ID] = true
	}
	for _, r := range run.Results {
		if run.Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID || r.Message.Text == "" || !level[r.Level] || len(r.Locations) == 0 {
			t.Errorf("result %+v", r)
		}
		at := r.Locations[0].PhysicalLocation
		checkURI(t, at.ArtifactLocation.URI)
		if run.Bases[at.ArtifactLocation.URIBaseID] == nil {
			t.Errorf("base %q is not declared", at.ArtifactLocation.URIBaseID)
		}
		if i := at.ArtifactLocation.Index; i != nil && run.Artifacts[*i].Location.URI != at.ArtifactLocation.URI {
			t.Errorf("artifact %d is %q, not %q", *i, run.Artifacts[*i].Location.URI, at.ArtifactLocation.URI)
		}
		if at.Region != nil && at.Region.StartLine < 1 {
			t.Errorf("line %d", at.Region.StartLine)
		}
	}
}

func checkURI(t *testing.T, uri string) {
	t.Helper()
	for i := range len(uri) {
		if c := uri[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`"<>\^{|}`+"`", c) >= 0 {
			t.Errorf("URI %q holds %q", uri, c)
		}
	}
	if strings.HasPrefix(uri, "/") {
		t.Errorf("URI %q is absolute", uri)
	}
}

func TestRedactedPagesHoldNoText(t *testing.T) {
	t.Parallel()
	hs := hits(t, nil)
	hs[0].Record.ID = "拖轮顶推大船时拖缆"
	hs[1].Record.Pointer = "/When two sailing vessels approach/0"
	s := summary(hs)
	s.Redacted = true
	var out bytes.Buffer
	for i := range hs {
		hs[i].Redact()
		out.Write(hs[i].Append(nil))
	}
	for _, write := range []func(io.Writer, *report.Summary, iter.Seq2[report.Hit, error], msg.Lang) error{report.HTML, report.JUnit, report.SARIF, report.Markdown} {
		if err := write(&out, s, seq(hs), msg.Zh); err != nil {
			t.Fatal(err)
		}
	}
	folded := out.String()
	for _, it := range items() {
		texts := []string{it.Question.Stem}
		for _, o := range it.Question.Options {
			texts = append(texts, o.Text)
		}
		for _, text := range texts {
			r := []rune(text)
			n := 4
			if r[0] < 0x80 {
				n = 12 // fewer Latin letters stand anywhere
			}
			for i := 0; i+n <= len(r); i++ {
				if part := string(r[i : i+n]); strings.Contains(folded, part) {
					t.Fatalf("%q is still there", part)
				}
			}
		}
	}
	if !strings.Contains(folded, "sha256:") {
		t.Error("no hash stands for the texts")
	}
}

func FuzzParseRow(f *testing.F) {
	for _, h := range hits(f, nil) {
		f.Add(h.Append(nil))
	}
	f.Add([]byte(`{"schema":"drydock.contam/1","record":{"file":"a"},"item":{"benchmark":"b","index":0},"verdict":"x","fail":false,"score":0}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		row, err := report.ParseRow(line)
		if err != nil {
			return
		}
		out := row.Append(nil)
		again, err := report.ParseRow(out)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if string(again.Append(nil)) != string(out) {
			t.Errorf("changes when written again:\n%s", out)
		}
		hit := report.Hit{Row: row, Question: &items()[0].Question, Fields: []report.Field{{Text: "abc 拖轮"}}}
		hit.View()
		hit.Redact()
	})
}
