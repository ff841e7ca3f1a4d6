package contam

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval/benchmark"
)

// chunk is a row of a file that was cut into chunks.
func chunk(n int, text string) []byte {
	return append(drydock.AppendJSONString(fmt.Appendf(nil, `{"id":"c%d","source":"book","text":`, n), text), '}')
}

// checkChunks checks rows as one file, and returns what the rows and the seams
// between them say.
func checkChunks(t interface{ Fatal(...any) }, s *Scanner, rows ...[]byte) (own, seams []Finding) {
	s.Break()
	for _, r := range rows {
		found, err := s.Row(r)
		if err != nil {
			t.Fatal(err)
		}
		own = append(own, found...)
		seams = append(seams, s.Seam()...)
	}
	return own, seams
}

const (
	proseBefore = "今天海面平静，水手们在清洗绞车。船在港内等待引航员，厨房里正在准备午饭。"
	proseAfter  = "下午下起了小雨，大副让所有人回到舱内休息，等天晴以后再继续油漆船壳。"
)

// Wherever a text is cut, the item in it is found, in a chunk or at the seam.
func TestSeamAnywhere(t *testing.T) {
	t.Parallel()
	ix := testIndex(t)
	s := ix.Scanner()
	rapid.Check(t, func(t *rapid.T) {
		i := rapid.IntRange(0, len(testItems)-1).Draw(t, "item")
		text := []rune(proseBefore + "\n" + render(i) + "\n" + proseAfter)
		at := rapid.IntRange(1, len(text)-1).Draw(t, "cut")
		shared := min(rapid.SampledFrom([]int{0, 0, 8, 16, 30}).Draw(t, "shared"), at-1)
		own, seams := checkChunks(t, s, chunk(1, string(text[:at])), chunk(2, string(text[at-shared:])), chunk(3, proseAfter))
		ref := ItemRef{"harbour_quiz", i}
		if !failsAs(own, ref) && !failsAs(seams, ref) {
			t.Fatalf("item %d cut at %d is lost:\n%s|%s\n%+v\n%+v", i, at, string(text[:at]), string(text[at-shared:]), own, seams)
		}
		for _, f := range seams {
			if f.Item != ref || f.Record.ID != "c1" || f.Next == nil || f.Next.ID != "c2" {
				t.Fatalf("a seam of its own: %+v", f)
			}
			checkRanges(t, f, map[string]string{"c1": string(text[:at]), "c2": string(text[at-shared:])})
		}
	})
}

// checkRanges checks that the ranges of a seam's finding lie in its records.
func checkRanges(t interface{ Fatalf(string, ...any) }, f Finding, texts map[string]string) {
	for _, sp := range f.Spans {
		text := texts[f.Record.ID]
		if sp.Next {
			text = texts[f.Next.ID]
		}
		if sp.Start >= sp.End || sp.End > len([]rune(text)) {
			t.Fatalf("span %+v of %q", sp, text)
		}
	}
	for _, e := range f.Alignment {
		text := []rune(texts[f.Record.ID])
		if e.Next {
			text = []rune(texts[f.Next.ID])
		}
		q := testQuestion(f.Item.Index)
		item := []rune(q.Stem)
		if e.Option > 0 {
			item = []rune(q.Options[e.Option-1].Text)
		}
		if e.Data.End > len(text) || e.Item.End > len(item) {
			t.Fatalf("edit %+v of %q", e, string(text))
		}
	}
}

func TestSeamEvidence(t *testing.T) {
	t.Parallel()
	s := testIndex(t).Scanner()
	own, seams := checkChunks(t, s, chunk(1, proseBefore+"锅炉给水中溶解"), chunk(2, "氧含量过高会加剧______。"+proseAfter))
	if len(own) > 0 || len(seams) != 1 {
		t.Fatalf("%+v\n%+v", own, seams)
	}
	f := seams[0]
	if d := cmp.Diff([]any{"c1", "/text", "c2", "/text", 7, StemOnly, true}, []any{
		f.Record.ID, f.Record.Pointer, f.Next.ID, f.Next.Pointer, f.Item.Index, f.Verdict, f.Fail,
	}); d != "" {
		t.Error(d)
	}
	n := len([]rune(proseBefore))
	if d := cmp.Diff([]Span{{n, n + 7, "/text", false}, {0, 8, "/text", true}}, f.Spans); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Edit{
		{Op: OpEqual, Data: Range{n, n + 7}, Item: Range{0, 7}, Pointer: "/text"},
		{Op: OpEqual, Data: Range{0, 8}, Item: Range{7, 15}, Pointer: "/text", Next: true},
	}, f.Alignment); d != "" {
		t.Error(d)
	}
}

// Neighbours that do not belong together make no leak of it.
func TestSeamStaysQuiet(t *testing.T) {
	t.Parallel()
	s := testIndex(t).Scanner()
	first, second := "锅炉给水中溶解", "氧含量过高会加剧______。"
	for name, rows := range map[string][][]byte{
		"another record between": {chunk(1, proseBefore+first), chunk(2, proseBefore), chunk(3, second+proseAfter)},
		"the other way round":    {chunk(1, second), chunk(2, first)},
		"far from the cut":       {chunk(1, first+strings.Repeat(proseBefore, 3)), chunk(2, strings.Repeat(proseAfter, 3)+second)},
		"found by itself":        {chunk(1, render(7)), chunk(2, render(7)), chunk(3, render(6))},
		"a variant by itself":    {chunk(1, proseBefore+"保持通信畅通"), chunk(2, "舵机失灵后，关于应急操舵的说法，正确的是______。①先通知驾驶台②由舵机室就地操纵③必须抛下双锚④禁止使用对讲设备\nA. ①②④\nB. ①③④")},
	} {
		if _, seams := checkChunks(t, s, rows...); len(seams) > 0 {
			t.Errorf("%s: %+v", name, seams)
		}
	}
	// a file that begins has none before it
	checkChunks(t, s, chunk(1, proseBefore+first))
	if _, seams := checkChunks(t, s, chunk(2, second)); len(seams) > 0 {
		t.Errorf("over two files: %+v", seams)
	}
}

// Records and plain texts have seams as rows have.
func TestSeamOfRecords(t *testing.T) {
	t.Parallel()
	s := testIndex(t).Scanner()
	passage := func(id, text string) *drydock.Record {
		return &drydock.Record{RowID: id, Passage: &drydock.Passage{Heading: []string{"第三章"}, Text: text}}
	}
	s.Break()
	s.Record(passage("p1", proseBefore+"下列哪一项不属于消"))
	s.Record(passage("p2", "防演习的内容？\nA. 检查水密门的关闭\nB. 穿戴消防员装备"))
	found := s.Seam()
	if len(found) != 1 || found[0].Record.ID != "p1" || found[0].Next.ID != "p2" || !found[0].Fail || found[0].Item.Index != 3 {
		t.Errorf("records: %+v", found)
	}
	s.Break()
	s.Text([]byte(proseBefore + "In restricted visibility a vessel that hears a fog signal"))
	s.Text([]byte("forward of her beam shall reduce her speed to ______."))
	if found = s.Seam(); len(found) != 1 || found[0].Item.Index != 4 {
		t.Errorf("texts: %+v", found)
	}
}

// A stem whose statements are too short for a seed is found with a wrong letter
// anywhere, and cut in two where either side has a seed: those over the numbers of
// statements are left.
func TestShortStatements(t *testing.T) {
	t.Parallel()
	stem := "该类漆面最怕______。①水渍②油③强光④霜"
	q := drydock.Question{Kind: drydock.Single, Stem: stem, Answer: []string{"A"}}
	for i, o := range []string{"①②", "②③", "③④"} {
		q.Options = append(q.Options, drydock.Option{Label: string(rune('A' + i)), Text: o})
	}
	ix, err := NewIndex([]benchmark.Item{{Index: 1, Question: q}}, benchmark.Ref{Name: "b"}, Config{})
	if err != nil {
		t.Fatal(err)
	}
	s := ix.Scanner()
	ls := []rune(stem)
	for i, r := range ls {
		if r >= 0x3400 {
			damaged := slices.Clone(ls)
			damaged[i] = '另'
			if f := s.Text([]byte(proseBefore + "\n" + string(damaged) + "\nA. ①②\nB. ②③\nC. ③④")); len(f) != 1 || !f[0].Fail {
				t.Errorf("%s: %+v", string(damaged), f)
			}
		}
		if i < seedLen || len(ls)-i < seedLen {
			continue
		}
		s.Break()
		found := s.Text([]byte(proseBefore + "\n" + string(ls[:i])))
		found = append(found, s.Text([]byte(string(ls[i:])+"\nA. ①②\nB. ②③\nC. ③④"))...)
		if found = append(found, s.Seam()...); len(found) == 0 || !found[0].Fail {
			t.Errorf("%s|%s: %+v", string(ls[:i]), string(ls[i:]), found)
		}
	}
}
