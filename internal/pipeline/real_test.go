package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/golden"
)

type questionRow struct {
	ID      string `json:"id"`
	Kind    string `json:"kind"`
	Stem    string `json:"stem"`
	Options []struct {
		Label string `json:"label"`
		Text  string `json:"text"`
	} `json:"options"`
	Answer []string `json:"answer"`
	Origin struct {
		File    string `json:"file"`
		Locator string `json:"locator"`
	} `json:"origin"`
}

// prepReal turns real files into rows of a shape and wants the exit code.
func prepReal(t *testing.T, to string, code int, paths ...string) (*PrepResult, string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "rows.jsonl")
	res, err := Prep(context.Background(), PrepOptions{Inputs: paths, To: to, Out: out}, testEnv(t.TempDir()))
	if fail.Code(err) != code {
		t.Fatalf("code %d, want %d: %v", fail.Code(err), code, err)
	}
	return res, out
}

func readRows[T any](t *testing.T, path string) []T {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var rows []T
	for line := range bytes.Lines(b) {
		var r T
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	return rows
}

// letters keeps what tells texts apart when quotation marks and spaces may
// differ: the gold file dropped them.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t\u3000“”‘’\"'（）()：:，,。.、；;_", r) {
			return -1
		}
		return r
	}, s)
}

func TestRealColregBank(t *testing.T) {
	t.Parallel()
	res, out := prepReal(t, "question", 3, golden.RealData(t, "colreg-bank-zh", "选择题题库.pdf"))
	rows := readRows[questionRow](t, out)
	if len(rows) != 701 || res.Kinds["single"] != 701 {
		t.Fatalf("%d rows, kinds %v", len(rows), res.Kinds)
	}
	// the gold file was edited by hand: blanks moved, equal stems got a number; so
	// a question is known by its options, and the right one by its text
	right := map[string]map[string]bool{}
	for _, r := range rows {
		if len(r.Options) < 3 || len(r.Answer) != 1 || !strings.HasPrefix(r.Origin.Locator, "p") {
			t.Errorf("poor row %+v", r)
			continue
		}
		var all []string
		answer := ""
		for _, o := range r.Options {
			all = append(all, letters(o.Text))
			if o.Label == r.Answer[0] {
				answer = letters(o.Text)
			}
		}
		slices.Sort(all)
		k := strings.Join(all, "|")
		if right[k] == nil {
			right[k] = map[string]bool{}
		}
		right[k][answer] = true
	}
	type gold struct {
		Question string            `json:"question"`
		Options  map[string]string `json:"options"`
		Answer   string            `json:"answer"`
	}
	n, all := 0, readRows[gold](t, golden.RealData(t, "colreg-bank-zh", "gold_corrected_ch1-3.jsonl"))
	for _, g := range all {
		var opts []string
		for _, o := range g.Options {
			opts = append(opts, letters(o))
		}
		slices.Sort(opts)
		if right[strings.Join(opts, "|")][letters(g.Options[g.Answer])] {
			n++
		} else {
			t.Logf("%s = %s: not found", g.Question, g.Answer)
		}
	}
	if n*100 < 98*len(all) {
		t.Errorf("%d of %d gold answers", n, len(all))
	}
}

func TestRealBanks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, dir, file string
		code            int
		kinds           map[string]int
		dropped         map[string]int
	}{
		{"uscg csv", "uscg-rules-bank", "nav_rules_first640_no_explanations.csv", 0, map[string]int{"single": 640}, map[string]int{}},
		{"rows without options", "xlsx-bank-no-options-zh", "题库.xlsx", 3, map[string]int{}, map[string]int{"no_options": 8500}},
		{"docx single", "docx-bank-zh", "单选题.docx", 0, map[string]int{"single": 441}, map[string]int{}},
		{"docx judge", "docx-bank-zh", "判断题.docx", 0, map[string]int{"judge": 423}, map[string]int{}},
		{"ham radio", "ham-radio-zh", "class_a.csv", 0, map[string]int{"single": 547, "multiple": 136}, map[string]int{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			res, _ := prepReal(t, "question", c.code, golden.RealData(t, c.dir, c.file))
			kinds := res.Kinds
			if kinds == nil {
				kinds = map[string]int{}
			}
			if d := cmp.Diff(c.kinds, kinds); d != "" {
				t.Errorf("kinds (-want +got):\n%s", d)
			}
			if d := cmp.Diff(c.dropped, res.Sums.Dropped); d != "" {
				t.Errorf("dropped (-want +got):\n%s", d)
			}
			if err := res.Sums.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// The file puts the right option first; training rows must not.
func TestRealHamRadioLettersComeOutEven(t *testing.T) {
	t.Parallel()
	res, _ := prepReal(t, "qwen3_chat", 0, golden.RealData(t, "ham-radio-zh", "class_a.csv"))
	for _, l := range []string{"4:A", "4:B", "4:C", "4:D"} {
		if n := res.Letters[l]; n < res.Rows/4*3/4 || n > res.Rows/4*5/4 {
			t.Errorf("%s: %d of %d", l, n, res.Rows)
		}
	}
	if res.LeftOut["multiple_answer"] != 136 {
		t.Errorf("left out %v", res.LeftOut)
	}
}

// Every pair marked same whose bank side is here must be found under the right
// item and fail; none marked different may fail.
func TestRealContaminationPairs(t *testing.T) {
	t.Parallel()
	_, out := prepReal(t, "question", 3,
		golden.RealData(t, "colreg-bank-zh", "选择题题库.pdf"),
		golden.RealData(t, "uscg-rules-bank", "nav_rules_first640_no_explanations.csv"))
	b, err := FindBench(golden.RealData(t, "maritimebench", "maritimebench_test.json"), "", t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if b.Name != "maritime_bench" || len(b.Items) != 1888 {
		t.Fatalf("%s, %d items", b.Name, len(b.Items))
	}
	ix, err := contam.NewIndex(b.Items, b.Benchmark.Ref(), contam.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	if blind := ix.Blind(); len(blind) > 0 {
		t.Errorf("blind for %v", blind)
	}
	type hit struct {
		stem string
		item int
	}
	fails := map[hit]bool{}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	sc := ix.Scanner()
	for line := range bytes.Lines(data) {
		var r questionRow
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		found, err := sc.Row(bytes.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			k := hit{letters(r.Stem), f.Item.Index}
			fails[k] = fails[k] || f.Fail
		}
	}
	type truth struct {
		Index    int    `json:"bench_index"`
		Label    string `json:"label"`
		Question string `json:"source_question"`
	}
	same := 0
	for _, p := range readRows[truth](t, golden.RealData(t, "contamination-truth", "pairs.jsonl")) {
		failed := fails[hit{letters(p.Question), p.Index}]
		switch {
		case p.Label == "same":
			if same++; !failed {
				t.Errorf("item %d: a leak was not found", p.Index)
			}
		case failed:
			t.Errorf("item %d: a %s pair was called a leak", p.Index, p.Label)
		}
	}
	if same == 0 {
		t.Error("no pair marked same was compared")
	}
}
