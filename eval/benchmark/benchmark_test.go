package benchmark_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/eval/benchmark/benchtest"
)

func sum(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:])
}

func maritime(t testing.TB) *benchmark.Choice {
	t.Helper()
	b, err := benchmark.Lookup("maritime_bench@evalscope-1.4.2")
	if err != nil {
		t.Fatal(err)
	}
	return b.(*benchmark.Choice)
}

func TestTemplate(t *testing.T) {
	t.Parallel()
	b := maritime(t)
	if n := len([]rune(b.Template())); n != 161 {
		t.Errorf("template has %d characters, want 161", n)
	}
	if got := sum(b.Template()); got != "2f02e6064054e5c840e42874e487589b7eddf3c4fd23c37c9c9bef01f60fe02d" {
		t.Errorf("template sha256 %s", got)
	}
}

// The hashes were taken from the requests EvalScope 1.4.2 sent.
func TestPromptsOfTheRealBenchmark(t *testing.T) {
	t.Parallel()
	b, items := maritime(t), benchtest.RealItems(t)
	if len(items) != b.Info().Items {
		t.Fatalf("%d items, want %d", len(items), b.Info().Items)
	}
	if got := benchmark.CanonicalHash(items); got != b.Info().ItemsSHA256 {
		t.Errorf("canonical hash %s, want %s", got, b.Info().ItemsSHA256)
	}
	var all []string
	three := 0
	for _, it := range items {
		m := b.Prompt(it)
		if len(m) != 1 || m[0].Role != "user" {
			t.Fatalf("item %d: messages %v", it.Index, m)
		}
		all = append(all, m[0].Content)
		if len(it.Question.Options) == 3 {
			three++
		}
		if f := it.Flaw(); f != benchmark.FlawNone {
			t.Errorf("item %d: %s", it.Index, f)
		}
		text, err := maritime(t).PromptText(&it.Question)
		if err != nil || text != m[0].Content {
			t.Errorf("item %d: PromptText differs from Prompt (%v)", it.Index, err)
		}
	}
	if three != 496 {
		t.Errorf("%d items with three options, want 496", three)
	}
	for name, c := range map[string][2]string{
		"item 0":    {all[0], "f1572d9fa554fbd2c6e5f081686cc01e0d9344705879f9a67135485a0bb54491"},
		"item 4":    {all[4], "846700762c375d606a472fe4dc6fea9c8715820f0d5b1747e1e6b4b5a55e5978"},
		"all 1,888": {strings.Join(all, "\n"), "d29a7d8a0d4f09de6e227746f3677f25a5dc598f3cf2cef6552833fa6ba01ff0"},
	} {
		if got := sum(c[0]); got != c[1] {
			t.Errorf("prompt of %s: sha256 %s, want %s", name, got, c[1])
		}
	}
}

func TestPromptTextLettersByPosition(t *testing.T) {
	t.Parallel()
	q := &drydock.Question{Stem: "甲{choices}", Options: []drydock.Option{{Label: "C", Text: "红"}, {Label: "A", Text: "{question}"}, {Text: "c"}, {Text: "d"}, {Text: "e"}}}
	got, err := maritime(t).PromptText(q)
	if err != nil {
		t.Fatal(err)
	}
	if want := "\n 甲{choices}\n选项：\nA. 红\nB. {question}\nC. c\nD. d\nE. e"; !strings.HasSuffix(got, want) {
		t.Errorf("prompt ends %q, want %q", got, want)
	}
	for _, n := range []int{0, 1, 27} {
		if _, err := maritime(t).PromptText(&drydock.Question{Stem: "x", Options: make([]drydock.Option, n)}); err == nil {
			t.Errorf("%d options: no error", n)
		}
	}
}
