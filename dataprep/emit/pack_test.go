package emit_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/meter"
	"github.com/drydock-ml/drydock/qwen3"

	"pgregory.net/rapid"
)

// packAll packs documents and returns all rows.
func packAll(o emit.Packing, docs []string) (rows []emit.PackedRow) {
	p := emit.NewPacker(o)
	for _, d := range docs {
		rows = append(rows, p.Add(d)...)
	}
	return append(rows, p.Flush()...)
}

var packText = rapid.Custom(func(t *rapid.T) string {
	piece := rapid.SampledFrom([]string{"缆绳应定期检查。", "the quick brown fox. ", "\n", "⚓", "é", "e\u0301", "123456", "……", "𠮷", " ", "a"})
	return strings.Join(rapid.SliceOfN(piece, 1, 60).Draw(t, "text"), "")
})

// No row is too long, no character is cut, nothing is lost, and a document that
// fits stands in one row.
func TestPack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := emit.Packing{Length: rapid.IntRange(8, 120).Draw(t, "length"), Overlap: rapid.SampledFrom([]int{0, 0, 3, 10}).Draw(t, "overlap")}
		docs := rapid.SliceOfN(packText, 1, 12).Draw(t, "docs")
		rows := packAll(o, docs)
		parts := make([][]string, len(docs))
		for _, r := range rows {
			if n := qwen3.Count(r.Text); n != r.Tokens || n > o.Length {
				t.Fatalf("%q has %d tokens, says %d, at most %d", r.Text, n, r.Tokens, o.Length)
			}
			if !utf8.ValidString(r.Text) {
				t.Fatalf("%q is cut inside a character", r.Text)
			}
			texts := strings.Split(r.Text, emit.EndOfText)
			if len(texts) != len(r.Docs) {
				t.Fatalf("%q is of documents %v", r.Text, r.Docs)
			}
			for i, d := range r.Docs {
				parts[d] = append(parts[d], texts[i])
			}
		}
		for i, d := range docs {
			if qwen3.Count(d) <= o.Length && (len(parts[i]) != 1 || parts[i][0] != d) {
				t.Fatalf("document %d fits and is %q", i, parts[i])
			}
			if o.Overlap > 0 {
				continue
			}
			n := 0
			for _, p := range parts[i] {
				n += len(p)
				if !strings.Contains(d, p) {
					t.Fatalf("document %d is %q, a part of it %q", i, d, p)
				}
			}
			if n != len(d) {
				t.Fatalf("document %d has %d bytes, its parts %d", i, len(d), n)
			}
		}
	})
}

func TestPackFillsRows(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	var docs []string
	for range 600 {
		docs = append(docs, strings.Repeat("系泊缆绳应定期检查，发现断丝时立即更换。", 1+r.IntN(20)))
	}
	rows := packAll(emit.Packing{Length: 512}, docs)
	tokens := 0
	for _, row := range rows {
		tokens += row.Tokens
	}
	if fill := float64(tokens) / float64(512*len(rows)); fill < 0.95 {
		t.Errorf("%d rows are %.3f full", len(rows), fill)
	}
}

// The parts of a long document have as many tokens in common as was asked for.
func TestPackOverlap(t *testing.T) {
	t.Parallel()
	doc := strings.Repeat("一二三四五六七八九十甲乙丙丁戊己庚辛壬癸", 60)
	var parts []string
	p := emit.NewPacker(emit.Packing{Length: 200, Overlap: 40})
	for _, r := range append(p.Add(doc), p.Flush()...) {
		parts = append(parts, r.Text)
	}
	if len(parts) < 3 || p.Cut != 1 {
		t.Fatalf("%d parts, %d documents cut", len(parts), p.Cut)
	}
	total := 0
	for _, s := range parts {
		total += len(s)
	}
	if common := total - len(doc); common < (len(parts)-1)*40 || common > (len(parts)-1)*40*6 {
		t.Errorf("%d bytes in common over %d parts", common, len(parts))
	}
}

func BenchmarkPack(b *testing.B) {
	doc := strings.Repeat("系泊缆绳应定期检查，发现断丝超过规定数量时立即更换，并在记录簿中登记。", 12)
	p := emit.NewPacker(emit.Packing{Length: 4096})
	p.Add(doc) // the tokenizer's tables are made once
	defer meter.CPU(b, len(doc))()
	for b.Loop() {
		p.Add(doc)
	}
}

// A part that ends at a line may be shorter than the overlap: the next one must
// begin further on all the same.
func TestPackGoesOn(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{"……é𠮷\n\n\n123456", "𠮷⚓……  123456123456𠮷"} {
		rows := packAll(emit.Packing{Length: 8, Overlap: 4}, []string{doc})
		if n := len(rows); n < 2 || n > 8 {
			t.Errorf("%q: %d rows", doc, n)
		}
		ends := func(r emit.PackedRow) bool { return strings.HasSuffix(doc, r.Text) }
		if !slices.ContainsFunc(rows, ends) {
			t.Errorf("%q: none of %+v is its end", doc, rows)
		}
	}
}
