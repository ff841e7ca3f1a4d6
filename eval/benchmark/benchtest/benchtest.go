// Package benchtest is the contract every benchmark keeps: its prompts do not
// change, its grades are pure and never panic, and its items are the ones it
// names.
package benchtest

import (
	"context"
	"encoding/hex"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/internal/golden"
)

// An Extraction says what a reply must come to for an item whose key is B.
type Extraction struct {
	Reply     string
	Extracted string
	Other     string // by the other rule
	Correct   bool
}

// Options are what a suite needs to know of a benchmark.
type Options struct {
	// File holds a few items in the benchmark's shape, written for the test; its
	// name says its format. The first item's key must be B.
	File string
	Data []byte
	// Prompt is the first item's user message, in full.
	Prompt      string
	Extractions []Extraction
}

// Run checks b.
func Run(t *testing.T, b benchmark.Benchmark, o Options) {
	t.Helper()
	items := load(t, b, o)
	t.Run("identity", func(t *testing.T) {
		t.Parallel()
		ref, err := benchmark.ParseRef(b.Ref().String())
		if err != nil || ref != b.Ref() {
			t.Errorf("ref %v reads back as %v, %v", b.Ref(), ref, err)
		}
		if fp := b.Fingerprint(); len(fp) != 64 || fp != b.Fingerprint() {
			t.Errorf("fingerprint %q", fp)
		} else if _, err := hex.DecodeString(fp); err != nil {
			t.Error(err)
		}
		if _, choice := b.(*benchmark.Choice); !choice {
			return
		}
		if r, ok := benchmark.LookupRule(b.Info().Rule); !ok || r.String() != b.Info().Rule {
			t.Errorf("rule %q is not known", b.Info().Rule)
		}
	})
	t.Run("prompt", func(t *testing.T) {
		t.Parallel()
		m := b.Prompt(items[0])
		if d := cmp.Diff(o.Prompt, m[len(m)-1].Content); d != "" {
			t.Errorf("prompt (-want +got):\n%s", d)
		}
		if d := cmp.Diff(m, b.Prompt(items[0])); d != "" {
			t.Errorf("a second rendering differs:\n%s", d)
		}
	})
	t.Run("extraction", func(t *testing.T) {
		t.Parallel()
		for _, x := range o.Extractions {
			g := b.Grade(items[0], benchmark.Reply{Text: x.Reply})
			got := Extraction{x.Reply, g.Extracted, g.Other, g.Verdict == benchmark.Correct}
			if d := cmp.Diff(x, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		}
	})
	t.Run("any reply", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(rt *rapid.T) {
			it := items[rapid.IntRange(0, len(items)-1).Draw(rt, "item")]
			CheckGrade(rt, b, it, reply(rt))
		})
	})
}

// reply draws texts rich in what rules look for.
func reply(t *rapid.T) string {
	parts := rapid.SliceOfN(rapid.OneOf(
		rapid.SampledFrom([]string{"[", "]", "[A]", "[B]", "[D]", "<think>", "</think>", "【C】", "答案", "\xff", "\n", "]["}),
		rapid.String(),
	), 0, 12).Draw(t, "parts")
	return strings.Join(parts, "")
}

// CheckGrade checks what holds for every grade.
func CheckGrade(t rapid.TB, b benchmark.Benchmark, it benchmark.Item, text string) {
	g := b.Grade(it, benchmark.Reply{Text: text})
	if again := b.Grade(it, benchmark.Reply{Text: text}); g != again {
		t.Fatalf("two grades of %q differ: %+v, %+v", text, g, again)
	}
	if (g.Verdict == benchmark.Correct) != (g.Score == 1) {
		t.Fatalf("%q: verdict %s, score %v", text, g.Verdict, g.Score)
	}
	if g.Extracted == "" && g.Verdict == benchmark.Correct {
		t.Fatalf("%q: nothing extracted, yet correct", text)
	}
	if g.Start < 0 || g.Start > g.End || g.End > len(text) {
		t.Fatalf("%q: range %d–%d", text, g.Start, g.End)
	}
	if g.Extracted != "" && !strings.Contains(text[g.Start:g.End], g.Extracted) {
		t.Fatalf("%q: %q is not in %q", text, g.Extracted, text[g.Start:g.End])
	}
}

func load(t *testing.T, b benchmark.Benchmark, o Options) []benchmark.Item {
	t.Helper()
	var items []benchmark.Item
	for it, err := range b.Items(context.Background(), fstest.MapFS{o.File: {Data: o.Data}}) {
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, it)
	}
	if len(items) == 0 {
		t.Fatal("no items")
	}
	return items
}

// RealItems returns the items of MaritimeBench, which are no part of the project;
// the test is skipped where they are not (see [golden.RealData]).
func RealItems(t testing.TB) []benchmark.Item {
	t.Helper()
	path := golden.RealData(t, "maritimebench", "maritimebench_test.json")
	items, err := benchmark.ReadItems(filepath.Base(path), golden.ReadFile(t, path))
	if err != nil {
		t.Fatal(err)
	}
	return items
}
