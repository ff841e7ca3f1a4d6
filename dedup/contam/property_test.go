package contam

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/drydock-ml/drydock"
)

// What stands around an item does not change what it is.
func TestPaddingKeepsTheVerdict(t *testing.T) {
	t.Parallel()
	ix := testIndex(t)
	s := ix.Scanner()
	pad := rapid.StringOfN(rapid.SampledFrom([]rune("今天海面平静，水手们在清洗绞车。quiet sea 37 \n")), 0, 400, -1)
	rapid.Check(t, func(t *rapid.T) {
		i := rapid.IntRange(0, len(testItems)-1).Draw(t, "item")
		text := pad.Draw(t, "before") + "\n" + render(i) + "\n" + pad.Draw(t, "after")
		found := s.Text([]byte(text))
		if v := verdict(found, i); v != Exact {
			t.Fatalf("item %d in %q is %q", i, text, v)
		}
	})
}

// However the text is cut into fields, the item is found; the verdict of a
// scanner does not depend on what it saw before.
func TestFieldsKeepTheVerdict(t *testing.T) {
	t.Parallel()
	ix := testIndex(t)
	used := ix.Scanner()
	rapid.Check(t, func(t *rapid.T) {
		i := rapid.IntRange(0, len(testItems)-1).Draw(t, "item")
		text := []rune(render(i))
		cut := rapid.IntRange(0, len(text)).Draw(t, "cut")
		chat := &drydock.Chat{Messages: []drydock.Message{
			{Role: "user", Content: string(text[:cut])}, {Role: "user", Content: string(text[cut:])},
		}}
		r := &drydock.Record{Chat: chat}
		found := used.Record(r)
		if !failsAs(found, ItemRef{"harbour_quiz", i}) {
			t.Fatalf("item %d cut at %d: %+v", i, cut, found)
		}
		if d := cmp.Diff(ix.Scanner().Record(r), found, cmp.Comparer(func(a, b float64) bool { return a == b || a != a && b != b })); d != "" {
			t.Fatalf("a fresh scanner says otherwise:\n%s", d)
		}
	})
}

// Row takes what encoding/json takes (and NaN), and says the same of a row as
// Text of its only string.
func FuzzRow(f *testing.F) {
	for _, s := range []string{
		"", "{", "[]", `{"a":[1,2,{"b":"c"}],"d":null}`, `"\ud83d\ude00\n"`, `{"a":"\u12"}`, `{"a" 1}`, `[1,]`, "\"\x00\"", "1 2",
		string(row(render(0))), string(row(render(1)))[:60], `{"A":"1","B":"2"}`, `{"id":-1.5e+3}`,
	} {
		f.Add([]byte(s))
	}
	ix := testIndex(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		s := ix.Scanner()
		found, err := s.Row(b)
		if json.Valid(b) && err != nil && !bytes.Contains(b, bytes.Repeat([]byte("["), 50)) {
			t.Fatalf("valid JSON is refused: %v", err)
		}
		for _, f := range found {
			if !json.Valid(f.Append(nil)) {
				t.Fatalf("%q", f.Append(nil))
			}
			for _, sp := range f.Spans {
				if sp.Start < 0 || sp.End <= sp.Start {
					t.Fatalf("span %v", sp)
				}
			}
		}
		s.Text(b)
	})
}

// The fast and the careful way through a text give the same letters, also where
// the bytes are no UTF-8.
func TestFeedWaysAgree(t *testing.T) {
	t.Parallel()
	a := testIndex(t).alpha
	check := func(t interface{ Fatalf(string, ...any) }, text []byte) {
		fast, slow := stream{}, stream{want: true}
		a.feed(&fast, text)
		a.feed(&slow, text)
		if !slices.Equal(fast.letters, slow.letters) {
			t.Fatalf("%q: %v and %v", text, fast.letters, slow.letters)
		}
		if len(slow.offs) != len(slow.letters) || !slices.IsSorted(slow.offs) {
			t.Fatalf("%q: offsets %v", text, slow.offs)
		}
	}
	for _, s := range []string{"\xe0\x81\x81", "\xed\xa0\x80a", "\xf4\x90\x80\x80a", "\xc1\x81", "a\xe8\x88", "\ufffd㎡ﬁ<b>&amp;&#x41;\\text{a}", "<", "&", "\\"} {
		check(t, []byte(s))
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, rapid.SliceOf(rapid.SampledFrom([]byte("\xe0\x81\xa0\xed\xc2\xf0\x9f\x88\xb9\xe8ab<>&#;\\ntx/1 "))).Draw(t, "text"))
	})
}

// search is the least edit distance to any substring, as the plain table gives
// it.
func TestSearchIsEditDistance(t *testing.T) {
	t.Parallel()
	m := newMatcher(lastOwn)
	word := rapid.SliceOfN(rapid.Uint16Range(1, 5), 1, maxPiece)
	rapid.Check(t, func(t *rapid.T) {
		p, text := word.Draw(t, "pattern"), rapid.SliceOfN(rapid.Uint16Range(0, 6), 0, 90).Draw(t, "text")
		d, end := m.search(p, text)
		best := len(p)
		for i := range text {
			for j := i; j <= len(text); j++ {
				best = min(best, distance(p, text[i:j]))
			}
		}
		if d != best {
			t.Fatalf("distance %d, want %d", d, best)
		}
		if d < len(p) {
			if start := m.start(p, text, end, d); distance(p, text[start:end]) != d {
				t.Fatalf("the match %d–%d has distance %d, want %d", start, end, distance(p, text[start:end]), d)
			}
		}
	})
}
