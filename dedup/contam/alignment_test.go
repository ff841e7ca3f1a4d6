package contam

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/drydock-ml/drydock"
)

// A match over several turns has spans and edits in each, with its own pointer.
func TestSpansOfSeveralFields(t *testing.T) {
	t.Parallel()
	s := testIndex(t).Scanner()
	found, err := s.Row([]byte(`{"messages":[{"role":"user","content":"一道题：锅炉给水中溶解氧"},{"role":"user","content":"含量过高会加剧______。\nA. 炉管的点状腐蚀\nB. 炉膛的积灰"}]}`))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	f := found[0]
	want := []Span{
		{Start: 4, End: 12, Pointer: "/messages/0/content"},
		{Start: 0, End: 7, Pointer: "/messages/1/content"},
		{Start: 18, End: 25, Pointer: "/messages/1/content"},
		{Start: 29, End: 34, Pointer: "/messages/1/content"},
	}
	if f.Record.Pointer != "/messages/0/content" {
		want = append(want[1:], want[0])
	}
	if d := cmp.Diff(want, f.Spans); d != "" {
		t.Error(d)
	}
	edits := []Edit{
		{Op: OpEqual, Data: Range{4, 12}, Item: Range{0, 8}, Pointer: "/messages/0/content"},
		{Op: OpEqual, Data: Range{0, 7}, Item: Range{8, 15}, Pointer: "/messages/1/content"},
	}
	if d := cmp.Diff(edits, f.Alignment[:2]); d != "" {
		t.Error(d)
	}
	if f.Run != 15 {
		t.Errorf("longest run %d, want 15", f.Run)
	}
}

// The edits lead from the item to the data: equal ranges hold the same letters,
// and with the deleted ones they are the whole item.
func TestAlignmentIsTrue(t *testing.T) {
	t.Parallel()
	ix := testIndex(t)
	s := ix.Scanner()
	alphabet := []rune("船水ab3 ，。\n能")
	rapid.Check(t, func(t *rapid.T) {
		i := rapid.IntRange(0, len(testItems)-1).Draw(t, "item")
		text := []rune(render(i))
		for range rapid.IntRange(0, 6).Draw(t, "edits") {
			at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
			r := rapid.SampledFrom(alphabet).Draw(t, "letter")
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				text[at] = r
			case 1:
				text = slices.Insert(text, at, r)
			default:
				text = slices.Delete(text, at, at+1)
			}
		}
		cut := rapid.IntRange(0, len(text)).Draw(t, "cut")
		parts := map[string][]rune{"/messages/0/content": text[:cut], "/messages/1/content": text[cut:]}
		found := s.Record(&drydock.Record{Chat: &drydock.Chat{Messages: []drydock.Message{
			{Role: "user", Content: string(text[:cut])}, {Role: "user", Content: string(text[cut:])},
		}}})
		for _, f := range found {
			q := testQuestion(f.Item.Index)
			for _, e := range f.Alignment {
				item := []rune(q.Stem)
				if e.Option > 0 {
					item = []rune(q.Options[e.Option-1].Text)
				}
				a, b := string(item[e.Item.Start:e.Item.End]), string(parts[e.Pointer][e.Data.Start:e.Data.End])
				same := slices.Equal(lettersOf(ix, a), lettersOf(ix, b))
				if (e.Op == OpEqual) != same || (e.Op == OpInsert) != (a == "") || (e.Op == OpDelete) != (b == "") {
					t.Fatalf("%q: %+v is %q in the item and %q in the data", string(text), e, a, b)
				}
			}
			for _, sp := range f.Spans {
				if n := len(parts[sp.Pointer]); sp.Start >= sp.End || sp.End > n {
					t.Fatalf("%q: span %+v of %d", string(text), sp, n)
				}
			}
		}
	})
}

// A character reference is one character of the data, however long.
func TestAlignmentOfReferences(t *testing.T) {
	t.Parallel()
	s := testIndex(t).Scanner()
	text := strings.ReplaceAll(fogStem, "不", "&#x4E0D;")
	text = strings.ReplaceAll(text, "应当", "应&#24403;")
	found := s.Text([]byte(text))
	if len(found) != 1 {
		t.Fatal(found)
	}
	want := []Edit{{Op: OpEqual, Data: Range{0, len([]rune(text)) - len("______。") + 2}, Item: Range{0, 19}}}
	if d := cmp.Diff(want, found[0].Alignment); d != "" {
		t.Error(d)
	}
}

func lettersOf(ix *Index, text string) []letter {
	var s stream
	ix.alpha.feed(&s, []byte(text))
	return s.letters
}
