package submission

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/msg"
)

// ReportSchema names the shape of a report as JSON.
const ReportSchema = "drydock.submit.verify/1"

// A Report is what all gates say of one package.
type Report struct {
	Package   string    // file name
	SHA256    string    // of the zip; empty for a folder
	Team      string    // as declared
	Methods   []string  // as declared
	Benchmark Benchmark // as declared; N as drydock knows it
	Files     int       // files in the package
	Gates     []Verdict // in a fixed order, those that were skipped too
	Summary   Summary
}

// Summary counts the gates by status.
type Summary struct {
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Warned  int `json:"warned"`
	Skipped int `json:"skipped"`
	Errors  int `json:"errors"`
}

// OK reports whether the package may be handed in: something was checked, and
// nothing failed or crashed.
func (r *Report) OK() bool {
	return r.Summary.Failed == 0 && r.Summary.Errors == 0 && r.Summary.Passed+r.Summary.Warned > 0
}

func newReport(s *state, verdicts []Verdict) Report {
	r := Report{Package: s.bundle.base, Team: s.decl.Team, Methods: s.decl.Methods, Benchmark: s.decl.Benchmark, Files: len(s.bundle.entries), Gates: verdicts}
	r.Benchmark.N = s.n
	for _, v := range verdicts {
		switch v.Status {
		case Pass:
			r.Summary.Passed++
		case Fail:
			r.Summary.Failed++
		case Warn:
			r.Summary.Warned++
		case Skip:
			r.Summary.Skipped++
		default:
			r.Summary.Errors++
		}
	}
	return r
}

// findingJSON is a finding as reports carry it.
type findingJSON struct {
	Reason   string `json:"reason,omitempty"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Pointer  string `json:"json_pointer,omitempty"`
	Expected string `json:"expected,omitempty"`
	Actual   string `json:"actual,omitempty"`
	Fix      string `json:"fix,omitempty"`
}

type verdictJSON struct {
	ID       string   `json:"id"`
	Severity Severity `json:"severity"`
	Status   Status   `json:"status"`
	Title    string   `json:"title"`
	findingJSON
	Findings int           `json:"findings"`
	Evidence []findingJSON `json:"evidence"`
}

// JSON returns the report as one document, without times, so that equal
// packages have equal reports. Texts are in the given language.
func (r *Report) JSON(l msg.Lang) ([]byte, error) {
	doc := struct {
		Schema    string   `json:"schema"`
		Package   string   `json:"package"`
		SHA256    string   `json:"sha256,omitempty"`
		Team      string   `json:"team"`
		Methods   []string `json:"methods"`
		Benchmark struct {
			Name     string `json:"name"`
			Revision string `json:"revision,omitempty"`
			N        int    `json:"n"`
			SHA256   string `json:"sha256,omitempty"`
		} `json:"benchmark"`
		Files   int           `json:"files"`
		Gates   []verdictJSON `json:"gates"`
		Summary Summary       `json:"summary"`
	}{Schema: ReportSchema, Package: r.Package, SHA256: r.SHA256, Team: r.Team, Methods: r.Methods, Files: r.Files, Summary: r.Summary}
	if doc.Methods == nil {
		doc.Methods = []string{}
	}
	doc.Benchmark.Name, doc.Benchmark.Revision, doc.Benchmark.N, doc.Benchmark.SHA256 = r.Benchmark.Name, r.Benchmark.Revision, r.Benchmark.N, r.Benchmark.SHA256
	for _, v := range r.Gates {
		j := verdictJSON{ID: v.ID, Severity: v.Severity, Status: v.Status, Title: v.Title.In(l), Findings: v.Findings, findingJSON: v.First.json(l), Evidence: []findingJSON{}}
		j.Reason = v.Reason.In(l)
		for _, f := range v.Evidence {
			j.Evidence = append(j.Evidence, f.json(l))
		}
		doc.Gates = append(doc.Gates, j)
	}
	b, err := drydock.MarshalJSON(doc)
	if err != nil {
		return nil, err
	}
	return append(b, '\n'), nil
}

func (f Finding) json(l msg.Lang) findingJSON {
	j := findingJSON{File: f.File, Line: f.Line, Pointer: f.Pointer, Expected: f.Expected, Actual: f.Actual}
	if f.Text != nil {
		j.Reason = f.Text.In(l)
	}
	if f.Fix != nil {
		j.Fix = f.Fix.In(l)
	}
	return j
}

// Place names file and line of a finding; empty when it is about the package.
func (f Finding) Place() string { return f.place() }

// Text says a status in words.
func (s Status) Text() msg.Text {
	switch s {
	case Pass:
		return msg.Text{"pass", "通过"}
	case Fail:
		return msg.Text{"FAIL", "不通过"}
	case Warn:
		return msg.Text{"warn", "警告"}
	case Skip:
		return msg.Text{"not checked", "未检查"}
	}
	return msg.Text{"ERROR", "出错"}
}

// Markdown returns the report as one page to hand back: the outcome, what must
// be mended, what was not checked, and every gate.
func (r *Report) Markdown(l msg.Lang) []byte {
	var b bytes.Buffer
	say := func(t msg.Text, args ...any) { b.WriteString(t.Format(l, args...)) }
	say(msg.Text{"# Check of %s\n\n", "# 提交包检查：%s\n\n"}, span(r.Package))
	switch {
	case r.OK() && r.Summary.Warned+r.Summary.Skipped > 0:
		say(msg.Text{"**Nothing is wrong by the rules**; see the warnings and what was not checked.\n\n", "**未发现违反规则之处**；另请查看警告与未检查项。\n\n"})
	case r.OK():
		say(msg.Text{"**Nothing is wrong by the rules.**\n\n", "**未发现违反规则之处。**\n\n"})
	default:
		say(msg.Text{"**The package cannot be handed in like this.**\n\n", "**该提交包目前不能提交。**\n\n"})
	}
	s := r.Summary
	say(msg.Text{"%d passed, %d failed, %d {warning|warnings}, %d not checked, %d {error|errors}.\n", "%d 项通过，%d 项不通过，%d 项警告，%d 项未检查，%d 项出错。\n"}, s.Passed, s.Failed, s.Warned, s.Skipped, s.Errors)
	say(msg.Text{"Team %s; methods %s; benchmark %s, %d {item|items}; %d {file|files}", "队伍 %s；方法 %s；评测集 %s，%d 道题；%d 个文件"},
		r.Team, msg.List(r.Methods), r.Benchmark.Name, r.Benchmark.N, r.Files)
	if r.SHA256 != "" {
		say(msg.Text{"; sha256 %s", "；sha256 %s"}, span(r.SHA256))
	}
	say(msg.Text{".\n", "。\n"})
	for _, part := range []struct {
		title msg.Text
		want  []Status
	}{
		{msg.Text{"To mend", "须修正"}, []Status{Fail, Error}},
		{msg.Text{"Warnings", "警告"}, []Status{Warn}},
		{msg.Text{"Not checked", "未检查"}, []Status{Skip}},
	} {
		r.section(&b, l, part.title, part.want)
	}
	say(msg.Text{"\n## All gates\n\n| gate | | rule | |\n|---|---|---|---|\n", "\n## 全部检查项\n\n| 编号 | 结果 | 规则 | 说明 |\n|---|---|---|---|\n"})
	for _, v := range r.Gates {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", v.ID, v.Status.Text().In(l), plain(v.Title.In(l)), plain(v.Reason.In(l)))
	}
	return b.Bytes()
}

func (r *Report) section(b *bytes.Buffer, l msg.Lang, title msg.Text, want []Status) {
	first := true
	for _, v := range r.Gates {
		if v.Status != want[0] && v.Status != want[len(want)-1] {
			continue
		}
		if first {
			fmt.Fprintf(b, "\n## %s\n\n", title.In(l))
			first = false
		}
		fmt.Fprintf(b, "- **%s** %s\n", v.ID, plain(v.Title.In(l)))
		if v.Findings == 0 {
			fmt.Fprintf(b, "  - %s\n", plain(v.Reason.In(l)))
			if v.First.Fix != nil {
				fmt.Fprintf(b, "    → %s\n", plain(v.First.Fix.In(l)))
			}
			continue
		}
		for _, f := range append([]Finding{v.First}, v.Evidence...) {
			b.WriteString("  - ")
			if p := f.place(); p != "" {
				fmt.Fprintf(b, "%s ", span(p))
			}
			b.WriteString(plain(f.Text.In(l)))
			if f.Expected != "" || f.Actual != "" {
				b.WriteString(msg.Text{" (expected %s, found %s)", "（应为 %s，实为 %s）"}.Format(l, plain(f.Expected), plain(f.Actual)))
			}
			b.WriteByte('\n')
			if f.Fix != nil {
				fmt.Fprintf(b, "    → %s\n", plain(f.Fix.In(l)))
			}
		}
		if more := v.Findings - 1 - len(v.Evidence); more > 0 {
			fmt.Fprintf(b, "  - %s\n", msg.Text{"%d more", "另有 %d 处"}.Format(l, more))
		}
	}
}

// plain keeps text from being read as Markdown or HTML.
func plain(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "[", `\[`, "\n", " ").Replace(s)
}

// span writes a code span; names hold no line ends, and a back tick becomes an
// apostrophe.
func span(s string) string {
	return "`" + strings.NewReplacer("`", "'", "\n", " ", "|", `\|`).Replace(s) + "`"
}
