package pipeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/provenance"
)

// stemOf makes a stem of which no two are alike.
func stemOf(r *rand.Rand) string {
	var b strings.Builder
	for range 24 {
		b.WriteRune(rune(0x4e00 + r.IntN(0x3000)))
	}
	return b.String()
}

// A mixRow is a question as a test writes it. What has one kin must not be parted.
type mixRow struct {
	id, kind, lang, stem, subject, answer string
	options                               []string
	kin                                   int
}

func (q mixRow) String() string {
	var options []string
	for i, o := range q.options {
		options = append(options, fmt.Sprintf(`{"label":"%c","text":%q}`, 'A'+i, o))
	}
	return fmt.Sprintf(`{"id":%q,"kind":%q,"lang":%q,"stem":%q,"options":[%s],"answer":[%q],"subject":[%q]}`+"\n",
		q.id, q.kind, q.lang, q.stem, strings.Join(options, ","), q.answer, q.subject)
}

// mixProject writes a project with questions of two sources; every fifth has a
// twin with one character less, every seventh one of the same stem with other
// options.
func mixProject(t *testing.T, settings string) (dir string, rows []mixRow) {
	t.Helper()
	dir = t.TempDir()
	r := rand.New(rand.NewPCG(7, 7))
	var files [2]bytes.Buffer
	add := func(source int, q mixRow) {
		q.id = fmt.Sprintf("q%d", len(rows))
		files[source].WriteString(q.String())
		rows = append(rows, q)
	}
	for i := range 300 {
		source, lang := i%3/2, "zh" // two of three are of the first source
		if source == 1 {
			lang = "en"
		}
		q := mixRow{kind: "single", lang: lang, stem: stemOf(r), subject: []string{"第一章", "第二章"}[i%2], answer: "A", kin: i}
		for range 4 {
			q.options = append(q.options, stemOf(r)[:12])
		}
		if i%10 == 9 {
			q.kind, q.options, q.answer = "judge", nil, "true"
		}
		add(source, q)
		if i%5 == 0 {
			twin := q
			runes := []rune(q.stem)
			twin.stem = string(append(runes[:3:3], runes[4:]...))
			add(1-source, twin)
		}
		if i%7 == 0 && q.kind == "single" {
			other := q
			other.options = []string{stemOf(r)[:12], stemOf(r)[:12], stemOf(r)[:12]}
			add(source, other)
		}
	}
	for i, name := range []string{"a.jsonl", "b.jsonl"} {
		if err := os.WriteFile(filepath.Join(dir, name), files[i].Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	config := "version: 1\nseed: 5\nsources:\n  - {name: a, path: a.jsonl}\n  - {name: b, path: b.jsonl}\nsteps: [tidy_text]\n" +
		settings + "\noutput:\n  - question: {path: build/q.jsonl}\n  - qwen3_chat: {path: build/train.jsonl}\n"
	if err := os.WriteFile(filepath.Join(dir, ConfigName), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir, rows
}

func idsIn(t *testing.T, path string) map[string]bool {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for line := range bytes.Lines(b) {
		var row struct{ ID string }
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		out[row.ID] = true
	}
	return out
}

func groupOf(m *MixResult, by, name string) MixGroup {
	i := slices.IndexFunc(m.Groups, func(g MixGroup) bool { return g.By == by && g.Name == name })
	if i < 0 {
		return MixGroup{}
	}
	return m.Groups[i]
}

func TestMix(t *testing.T) {
	t.Parallel()
	dir, rows := mixProject(t, "mix: {size: 100, weights: {source: {a: 3, b: 1}}, quotas: {kind: {judge: 4}, subject: {第一章: 30}}}")
	res := mustRun(t, dir, Options{Workers: 2})
	s := res.Stage(StageMix)
	if err := s.Sums.Close(); err != nil || s.Sums.In != len(rows) || s.Sums.Out != s.Sums.In-s.Sums.Dropped[notInMix] {
		t.Errorf("%+v: %v", s.Sums, err)
	}
	a, b := groupOf(s.Mix, "source", "a"), groupOf(s.Mix, "source", "b")
	if s.Sums.Out > 100 || s.Sums.Out < 40 || a.After < 3*b.After-4 || a.After > 3*b.After+4 || *a.Weight != 3 {
		t.Errorf("%d of source a, %d of b, %d in all", a.After, b.After, s.Sums.Out)
	}
	if g := groupOf(s.Mix, "kind", "judge"); g.After > 4 || *g.Quota != 4 || g.Before < 25 {
		t.Errorf("%+v", g)
	}
	if g := groupOf(s.Mix, "subject", "第一章"); g.After > 30 || g.After < 20 || g.Before < 100 {
		t.Errorf("%+v", g)
	}
	if n := len(idsIn(t, filepath.Join(dir, "build/q.jsonl"))); n != s.Sums.Out {
		t.Errorf("%d rows, %d records were taken", n, s.Sums.Out)
	}
	checkLedgers(t, dir, res)
}

// checkLedgers proves the sums of the ledgers against each other and the files.
func checkLedgers(t *testing.T, dir string, res *Result) {
	t.Helper()
	checkDropLines(t, dir, res)
	root := os.DirFS(dir)
	ledgers := os.DirFS(filepath.Join(dir, filepath.FromSlash(ledgerDir)))
	sum, findings, err := provenance.Check(t.Context(), ledgers, provenance.Options{Data: provenance.FromFS(root)})
	if err != nil || len(findings) > 0 {
		t.Fatalf("%v %v", findings, err)
	}
	i := slices.IndexFunc(sum.Steps, func(s provenance.Step) bool { return s.Name == StageMix })
	if i < 0 || sum.Steps[i].Outputs[0].Path != mixFile {
		t.Errorf("the ledger has no step of the mix: %+v", sum.Steps)
	}
}

func TestSplitNeverPartsKin(t *testing.T) {
	t.Parallel()
	for _, by := range []string{"item", "subject"} {
		dev := "0.1"
		if by != "item" {
			dev = "0.7"
		}
		dir, rows := mixProject(t, "dedup: {exact: true}\nsplit: {dev: "+dev+", by: "+by+"}")
		res := mustRun(t, dir, Options{Workers: 2})
		train, dev2 := idsIn(t, filepath.Join(dir, "build/q.jsonl")), idsIn(t, filepath.Join(dir, "build/q.dev.jsonl"))
		split := res.Stage(StageMix).Mix.Split
		if len(train)+len(dev2) != len(rows) || len(dev2) != split.Dev || len(train) != split.Train || split.Dev == 0 || split.Dev > split.Wanted {
			t.Errorf("%s: %d + %d rows of %d: %+v", by, len(train), len(dev2), len(rows), split)
		}
		sides := map[int]map[bool]bool{}
		for _, q := range rows {
			if train[q.id] == dev2[q.id] {
				t.Fatalf("%s: %s is on both sides, or on none", by, q.id)
			}
			if sides[q.kin] == nil {
				sides[q.kin] = map[bool]bool{}
			}
			sides[q.kin][dev2[q.id]] = true
		}
		for kin, on := range sides {
			if len(on) != 1 {
				t.Errorf("%s: kin %d stand on both sides", by, kin)
			}
		}
		checkLedgers(t, dir, res)
		lineage, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(ledgerDir), provenance.LineageFile))
		if err != nil || !bytes.Contains(lineage, []byte(`"split":"dev"`)) || !bytes.Contains(lineage, []byte(`"split":"train"`)) {
			t.Errorf("%s: the lineage does not tell train from dev: %v", by, err)
		}
	}
}

func TestSplitNumber(t *testing.T) {
	t.Parallel()
	dir, _ := mixProject(t, "mix: {size: 200}\nsplit: {dev: 37}")
	if s := mustRun(t, dir, Options{}).Stage(StageMix).Mix.Split; s.Dev != 37 || s.Train != 163 {
		t.Errorf("%+v", s)
	}
}

func TestSplitThatCannotBe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ settings, want, hint string }{
		{"split: {dev: 0.05, by: source}", "cannot be divided", "raise dev"},
		{"split: {dev: 100000}", "cannot be divided", "lower dev"},
		{"mix: {quotas: {lang: {zh: 0, en: 0}}}\nsplit: {dev: 5}", "no record is left", "take split: out"},
	} {
		dir, _ := mixProject(t, c.settings)
		_, err := runProject(t.Context(), dir, Options{})
		if fail.Code(err) != fail.Config.Code() || !strings.Contains(err.Error(), c.want) || !strings.Contains(strings.Join(fail.All(err)[0].Hints(msg.En), " "), c.hint) {
			t.Errorf("%s: %v", c.settings, err)
		}
	}
}

// A name that no record has is in the report all the same: it may be misspelt.
func TestMixOfNothing(t *testing.T) {
	t.Parallel()
	dir, _ := mixProject(t, "mix: {quotas: {subject: {Knots: 5}}}")
	for _, g := range mustRun(t, dir, Options{}).Stage(StageMix).Mix.Groups {
		if g.By == "subject" && g.Name == "Knots" && g.Before == 0 && *g.Quota == 5 {
			return
		}
	}
	t.Error("Knots is not reported")
}

func TestMixIsTheSameAtAnyWorkerCount(t *testing.T) {
	t.Parallel()
	settings := "mix: {size: 150, weights: {lang: {zh: 1, en: 1}}}\nsplit: {dev: 0.2}"
	one, _ := mixProject(t, settings)
	mustRun(t, one, Options{Workers: 1})
	four, _ := mixProject(t, settings)
	mustRun(t, four, Options{Workers: 4})
	if diff := cmp.Diff(made(t, one), made(t, four)); diff != "" {
		t.Error(diff)
	}
}

func TestMixFindings(t *testing.T) {
	t.Parallel()
	_, findings := Parse("drydock.yaml", []byte(`version: 1
sources: [{name: bank, path: nothing}]
mix:
  size: -1
  weights: {source: {bnak: 1}, kind: {judges: 1, "*": 2}, lang: {zh: 0}}
  quotas: {source: {bank: -3}}
split: {dev: 1.5, by: chapter}
output: [question]
`))
	var got []string
	for _, f := range findings {
		got = append(got, fmt.Sprintf("%d:%d %s", f.Where.Line, f.Where.Column, f))
	}
	all := strings.Join(got, "\n")
	for _, want := range []string{
		"4:9 ", `5:22 drydock.yaml:5:22: there is no source "bnak"`, `there is no kind "judges"`, "no weight is above 0", "6:27 ", "7:14 ", "by cannot be",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
}

// The mixer takes 40 bytes a record, and little time.
func BenchmarkMix(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	recs := make([]*drydock.Record, 20000)
	for i := range recs {
		recs[i] = &drydock.Record{
			ID: drydock.NewID("s", "f", fmt.Sprint(i)), Lang: "zh",
			Question: &drydock.Question{Kind: drydock.Single, Stem: stemOf(r)},
			Origin:   drydock.Origin{File: &drydock.File{Source: []string{"a", "b"}[i%2], Name: "f"}},
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		m := newMixer(&Config{
			Mix:   &MixConfig{Size: 10000, Weights: MixWeights{Source: map[string]float64{"a": 3, "b": 1}}},
			Split: &SplitConfig{Dev: 0.05, By: "item"},
		})
		m.parts = make([]*mixSketch, 1)
		s := m.sketch(0)
		for i, rec := range recs {
			m.add(s, rec, i)
		}
		if _, err := m.decide(b.Context(), []int{len(recs)}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(recs))*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}
