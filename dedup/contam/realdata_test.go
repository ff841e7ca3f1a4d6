package contam

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/eval/benchmark/benchtest"
	"github.com/drydock-ml/drydock/internal/golden"
)

func realIndex(t testing.TB) (*Index, []benchmark.Item) {
	t.Helper()
	items := benchtest.RealItems(t)
	ix, err := NewIndex(items, benchmark.Ref{Name: "maritime_bench"}, Config{})
	if err != nil {
		t.Fatal(err)
	}
	return ix, items
}

// Every item of the benchmark finds itself, letter by letter, and none is blind.
func TestRealSelf(t *testing.T) {
	t.Parallel()
	ix, items := realIndex(t)
	if b := ix.Blind(); len(b) > 0 {
		t.Errorf("blind to %d items: %v", len(b), b)
	}
	if b := ix.unseen(false); len(b) > len(items)/50 {
		t.Errorf("blind to %d stems: %v", len(b), b)
	}
	s := ix.Scanner()
	for i := range items {
		found := s.Record(&drydock.Record{Question: &items[i].Question})
		if v := verdict(found, items[i].Index); v != Exact {
			t.Errorf("item %d finds itself as %q", items[i].Index, v)
		}
	}
}

// The pairs that people have read: the same question fails, another one does
// not, a variant is shown.
func TestRealPairs(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(golden.RealData(t, "contamination-truth", "pairs.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	ix, _ := realIndex(t)
	s := ix.Scanner()
	for _, line := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
		var p struct {
			Index    int      `json:"bench_index"`
			Source   string   `json:"source"`
			ID       string   `json:"source_id"`
			Label    string   `json:"label"`
			Question string   `json:"source_question"`
			Options  []string `json:"source_options"`
		}
		if err := json.Unmarshal(line, &p); err != nil {
			t.Fatal(err)
		}
		q := drydock.Question{Kind: drydock.Single, Stem: p.Question}
		text := p.Question
		for i, o := range p.Options {
			label := string(rune('A' + i))
			q.Options = append(q.Options, drydock.Option{Label: label, Text: o})
			text += "\n" + label + ". " + o
		}
		asText, err := s.Row(row(text))
		if err != nil {
			t.Fatal(err)
		}
		for shape, found := range map[string][]Finding{
			"record": s.Record(&drydock.Record{Question: &q}), "text": asText,
		} {
			v := verdict(found, p.Index)
			fails := false
			for _, f := range found {
				fails = fails || f.Fail && f.Item.Index == p.Index
			}
			switch p.Label {
			case "same":
				if !fails {
					t.Errorf("%s %s (%s): same, but %q", p.Source, p.ID, shape, v)
				}
			case "variant":
				if fails || v == "" {
					t.Errorf("%s %s (%s): variant, but %q", p.Source, p.ID, shape, v)
				}
			default:
				if fails {
					t.Errorf("%s %s (%s): %s, but %q", p.Source, p.ID, shape, p.Label, v)
				}
			}
		}
	}
}

// No question of the amateur-radio bank is one of the benchmark.
func TestRealHam(t *testing.T) {
	t.Parallel()
	f, err := os.Open(golden.RealData(t, "ham-radio-zh", "class_a.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ix, _ := realIndex(t)
	s := ix.Scanner()
	r := csv.NewReader(f)
	r.FieldsPerRecord = -1
	n := 0
	for {
		rec, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		n++
		for _, f := range s.Text([]byte(strings.Join(rec, "\n"))) {
			if f.Fail {
				t.Errorf("row %d: %+v", n, f)
			}
		}
	}
	if n < 500 {
		t.Errorf("only %d rows", n)
	}
}

// The labelled corpus: recall by kind of change with the right item named, and
// false alarms by family. The bars are those of the issue.
func TestRealCorpus(t *testing.T) {
	t.Parallel()
	items, err := benchmark.ReadItems("bench.json", corpusFile(t, "bench.json"))
	if err != nil {
		t.Fatal(err)
	}
	ix, err := NewIndex(items, benchmark.Ref{Name: "maritime_bench"}, Config{})
	if err != nil {
		t.Fatal(err)
	}
	type label struct {
		ID        string `json:"id"`
		Item      *int   `json:"item"`
		Also      []int  `json:"also"`
		Transform string `json:"transform"`
		Label     string `json:"label"`
	}
	var labels []label
	for _, line := range bytes.Split(bytes.TrimSpace(corpusFile(t, "labels.jsonl")), []byte("\n")) {
		var l label
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatal(err)
		}
		labels = append(labels, l)
	}
	s := ix.Scanner()
	type count struct{ n, same, shown int }
	sums := map[string]*count{}
	sc := bufio.NewScanner(bytes.NewReader(corpusFile(t, "corpus.jsonl")))
	sc.Buffer(nil, 1<<24)
	for i := 0; sc.Scan(); i++ {
		found, err := s.Row(sc.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		l := labels[i]
		c := sums[l.Label+" "+l.Transform]
		if c == nil {
			c = &count{}
			sums[l.Label+" "+l.Transform] = c
		}
		c.n++
		same, shown := false, false
		for _, f := range found {
			right := l.Label == "negative" || l.Item != nil && f.Item.Index == *l.Item
			for _, a := range l.Also {
				right = right || a == f.Item.Index
			}
			same = same || right && f.Fail
			shown = shown || right && (f.Fail || f.Verdict == Variant || f.Verdict == NumericVariant || f.Verdict == PolarityVariant)
		}
		if same {
			c.same++
		}
		if shown {
			c.shown++
		}
	}
	bars := map[string]float64{
		"stem_only": .98, "ocr5": .99, "ocr10": .95, "swap": .99, "paraphrase": .90, "option_replaced": .99,
		"option_dropped": .99, "combined": .98, "blank_filled": .95, "statement": .95,
	}
	allowed := map[string]float64{
		"neg_same_bank": .01, "neg_same_topic": .05, "neg_colreg": .01, "neg_uscg": .01, "neg_regulation_en": .01,
		"neg_borrowed_options": .01,
	}
	for name, c := range sums {
		kind, transform, _ := strings.Cut(name, " ")
		share := float64(c.shown) / float64(c.n)
		fails := float64(c.same) / float64(c.n)
		t.Logf("%-32s n %4d  fails %.3f  shown %.3f", name, c.n, fails, share)
		switch kind {
		case "positive":
			bar, ok := bars[transform]
			if !ok {
				bar = .995
			}
			if share < bar || fails < bar-.05 {
				t.Errorf("%s: found %.3f, fails %.3f, want %.3f", transform, share, fails, bar)
			}
		case "near":
			if fails > .05 || share < .95 {
				t.Errorf("%s: called a leak %.3f, shown %.3f", transform, fails, share)
			}
		case "negative":
			if share > allowed[transform] {
				t.Errorf("%s: flagged %.3f, at most %.3f", transform, share, allowed[transform])
			}
		}
	}
}

func corpusFile(t testing.TB, name string) []byte {
	t.Helper()
	return golden.ReadFile(t, filepath.Join(golden.RealData(t, "..", "contam", "dev"), name))
}

// realShare: where every item could be tried in every way, each way takes every
// realShare-th item, and not the same ones.
const realShare = 3

// Ways to write a question down that the corpus does not have.
func TestRealWrappings(t *testing.T) {
	t.Parallel()
	ix, items := realIndex(t)
	options := func(it *benchmark.Item, format string) string {
		var b strings.Builder
		for _, o := range it.Question.Options {
			fmt.Fprintf(&b, format, o.Label, o.Text)
		}
		return b.String()
	}
	plain := func(it *benchmark.Item) string { return it.Question.Stem + options(it, "\n%s. %s") }
	ways := map[string]func(*benchmark.Item) string{
		"character references": func(it *benchmark.Item) string {
			var b strings.Builder
			for _, r := range plain(it) {
				if r < 0x80 {
					b.WriteRune(r)
				} else {
					fmt.Fprintf(&b, "&#x%x;", r)
				}
			}
			return b.String()
		},
		"escapes in a string": func(it *benchmark.Item) string { return strings.Trim(strconv.QuoteToASCII(plain(it)), `"`) },
		"JSON in a string": func(it *benchmark.Item) string {
			b, err := drydock.MarshalJSON(it.Question)
			if err != nil {
				t.Error(err)
			}
			return string(b)
		},
		"table": func(it *benchmark.Item) string {
			return "| 题目 | A | B |\n|---|---|---|\n| " + it.Question.Stem + " |" + options(it, "%[2]s |")
		},
		"options first": func(it *benchmark.Item) string {
			return "选项：" + options(it, "%s、%s；") + "\n问：" + it.Question.Stem
		},
		"explained": func(it *benchmark.Item) string {
			return "Q12. " + it.Question.Stem + "\n解析：本题考查船员的相关知识，需要结合工作经验分析。" + options(it, "\n(%s) %s")
		},
		"letter in the blank": func(it *benchmark.Item) string {
			return strings.ReplaceAll(it.Question.Stem, "______", "（C）") + options(it, "\n%s %s")
		},
		"asked by a person": func(it *benchmark.Item) string {
			return "请教各位，有一道题我不会做：" + it.Question.Stem + "谢谢！"
		},
	}
	s := ix.Scanner()
	for n, name := range slices.Sorted(maps.Keys(ways)) {
		tried, missed := 0, 0
		for i := n % realShare; i < len(items); i += realShare {
			tried++
			found, err := s.Row(drydock.AppendJSONString(nil, ways[name](&items[i])))
			if err != nil {
				t.Fatal(err)
			}
			if !failsAs(found, ItemRef{"maritime_bench", items[i].Index}) {
				missed++
			}
		}
		if missed > 1+tried/500 {
			t.Errorf("%s: %d of %d are missed", name, missed, tried)
		}
	}
}

// Wherever a chunk ends inside an item, the item is found, in one of the chunks
// or at their seam.
func TestRealSeams(t *testing.T) {
	t.Parallel()
	ix, items := realIndex(t)
	s := ix.Scanner()
	lost, n := 0, 0
	for i := range items {
		text := items[i].Question.Stem
		for _, o := range items[i].Question.Options {
			text += "\n" + o.Label + ". " + o.Text
		}
		whole := []rune(proseBefore + "\n" + text + "\n" + proseAfter)
		from, length := len([]rune(proseBefore))+1, len([]rune(text))
		for k, share := range [...]float64{.15, .3, .5, .8} {
			if (i+k)%realShare > 0 {
				continue
			}
			cut := from + int(share*float64(length))
			own, seams := checkChunks(t, s, chunk(1, string(whole[:cut])), chunk(2, string(whole[cut:])))
			n++
			if ref := (ItemRef{"maritime_bench", items[i].Index}); !failsAs(own, ref) && !failsAs(seams, ref) {
				lost++
			}
		}
	}
	t.Logf("%d of %d cuts lose the item", lost, n)
	if lost > n/100 {
		t.Errorf("%d of %d cuts lose the item", lost, n)
	}
}
