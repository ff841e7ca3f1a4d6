package contam

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"golang.org/x/text/encoding/simplifiedchinese"

	"github.com/drydock-ml/drydock/eval/benchmark"
)

func wide16(s string, order binary.AppendByteOrder) []byte {
	var out []byte
	for _, u := range utf16.Encode([]rune(s)) {
		out = order.AppendUint16(out, u)
	}
	return out
}

func wide32(s string, order binary.AppendByteOrder) []byte {
	var out []byte
	for _, r := range s {
		out = order.AppendUint32(out, uint32(r))
	}
	return out
}

func escapedU(s, mark string) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(s)) {
		if u < 0x80 {
			b.WriteByte(byte(u))
			continue
		}
		fmt.Fprintf(&b, "%s%04x", mark, u)
	}
	return b.String()
}

// rawWays are the ways a text is written in files that are no text.
var rawWays = []struct {
	name  string
	write func(string) []byte
}{
	{"utf-8", func(s string) []byte { return []byte(s) }},
	{"gb18030", func(s string) []byte {
		b, err := simplifiedchinese.GB18030.NewEncoder().Bytes([]byte(s))
		if err != nil {
			panic(err)
		}
		return b
	}},
	{"utf-16le", func(s string) []byte { return wide16(s, binary.LittleEndian) }},
	{"utf-16be", func(s string) []byte { return wide16(s, binary.BigEndian) }},
	{"utf-32le", func(s string) []byte { return wide32(s, binary.LittleEndian) }},
	{"utf-32be", func(s string) []byte { return wide32(s, binary.BigEndian) }},
	{`utf-8 \u`, func(s string) []byte { return []byte(escapedU(s, `\u`)) }},
	{`utf-8 \\u`, func(s string) []byte { return []byte(escapedU(s, `\\u`)) }},
	{"utf-8 %xx", func(s string) []byte { return []byte(url.QueryEscape(s)) }},
	{"gb18030 %xx", func(s string) []byte {
		b, _ := simplifiedchinese.GB18030.NewEncoder().String(s)
		return []byte(url.PathEscape(b))
	}},
	{`utf-8 \x`, func(s string) []byte {
		var b []byte
		for _, c := range []byte(s) {
			b = fmt.Appendf(b, `\x%02x`, c)
		}
		return b
	}},
}

func scanRaw(t testing.TB, ix *Index, b []byte) []RawHit {
	t.Helper()
	hits, size, err := ix.Raw().Scan(context.Background(), bytes.NewReader(b), 2)
	if err != nil || size != int64(len(b)) {
		t.Fatalf("%v after %d bytes of %d", err, size, len(b))
	}
	return hits
}

// noise is bytes of every value, as a model's weights are.
func noise(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// Every way of writing is found in noise, at odd and even places, and the place
// is that of the first character that matched.
func TestRawWays(t *testing.T) {
	t.Parallel()
	ix := testIndex(t)
	for _, way := range rawWays {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			for i := range testItems {
				for odd := range 2 {
					r := rand.New(rand.NewPCG(uint64(i), 7))
					text := way.write(testItems[i].stem)
					b := append(noise(r, 5000+odd), 0, 1, 0)
					at := int64(len(b))
					b = append(append(append(b, text...), 0, 0, 0, 2), noise(r, 3000)...)
					hits := scanRaw(t, ix, b)
					n := slices.IndexFunc(hits, func(h RawHit) bool { return h.Item.Index == i })
					if n < 0 || !hits[n].Fail {
						t.Errorf("item %d at %#x: %+v", i, at, hits)
						continue
					}
					h := hits[n]
					enc, inner, _ := strings.Cut(way.name, " ")
					want := fmt.Sprintf("@%#x %s", at, enc)
					switch {
					case testItems[i].stem[0] < 0x80:
						// ASCII is the same in several encodings
					case inner == "%xx", inner == `\x`:
						// what was escaped may be placed at its run
						if !strings.Contains(h.Record.Locator, " "+enc) {
							t.Errorf("item %d: %s, want %s", i, h.Record.Locator, want)
						}
					case h.Record.Locator != want:
						t.Errorf("item %d: %s, want %s", i, h.Record.Locator, want)
					}
				}
			}
		})
	}
}

// Strings that lie side by side belong together: options that lie before and
// behind a stem are no other question's, and a stem that a page of a database
// cuts in two is found.
func TestRawNeighbours(t *testing.T) {
	t.Parallel()
	ix := testIndex(t)
	b := noise(rand.New(rand.NewPCG(1, 1)), 300)
	for _, s := range []string{"A spare propeller shaft", testItems[0].stem, "打开厨房的全部照明", "改用备用罗经"} {
		b = append(append(b, 0x8C, byte(len(s))), s...)
	}
	hits := scanRaw(t, ix, append(b, 0x94, '.'))
	if len(hits) != 1 || hits[0].Verdict != StemOnly || !strings.HasSuffix(hits[0].Text, testItems[0].stem) {
		t.Errorf("%+v", hits)
	}
	stem := testItems[4].stem
	b = append([]byte(stem[:40]), 0, 0, 0, 12, 0, 0, 1)
	if hits = scanRaw(t, ix, append(b, stem[40:]...)); len(hits) != 1 || !hits[0].Fail {
		t.Errorf("cut in two: %+v", hits)
	}
}

// An item is found wherever the blocks of a stream are cut, once, however the
// reader hands the bytes out, and with any number of workers.
func TestRawBorders(t *testing.T) {
	t.Parallel()
	ix := testIndex(t)
	stem := testItems[0].stem
	for _, border := range []int{4 * rawRecord, 4*rawRecord + rawChunk, 4*rawRecord + 2*rawChunk} {
		for _, back := range []int{0, 1, 17, len(stem) - 1, len(stem), 400} {
			b := bytes.Repeat([]byte("no text at all\x00"), (border+rawChunk)/15)
			copy(b[border-back:], stem)
			var want []RawHit
			for _, workers := range []int{1, 3} {
				hits, _, err := ix.Raw().Scan(context.Background(), iotest.HalfReader(bytes.NewReader(b)), workers)
				if err != nil {
					t.Fatal(err)
				}
				if len(hits) != 1 || hits[0].Offset != int64(border-back) || !hits[0].Fail {
					t.Fatalf("border %d, %d before it: %+v", border, back, hits)
				}
				if want == nil {
					want = hits
				}
				if hits[0].Record != want[0].Record || hits[0].Text != want[0].Text {
					t.Errorf("%d workers: %+v, want %+v", workers, hits[0], want[0])
				}
			}
		}
	}
}

// Weights, programs and text of other languages hold no item.
func TestRawNoise(t *testing.T) {
	t.Parallel()
	ix := testIndex(t)
	for seed := range uint64(4) {
		if hits := scanRaw(t, ix, noise(rand.New(rand.NewPCG(seed, 3)), 3<<20)); len(hits) > 0 {
			t.Errorf("seed %d: %+v", seed, hits)
		}
	}
	if hits := scanRaw(t, ix, make([]byte, 2<<20)); len(hits) > 0 {
		t.Errorf("zeros: %+v", hits)
	}
	if hits := scanRaw(t, ix, nil); len(hits) > 0 {
		t.Errorf("nothing: %+v", hits)
	}
}

func TestRawReadError(t *testing.T) {
	t.Parallel()
	ix := testIndex(t)
	broken := fmt.Errorf("disk")
	if _, _, err := ix.Raw().Scan(context.Background(), iotest.ErrReader(broken), 1); err != broken {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := ix.Raw().Scan(ctx, bytes.NewReader(make([]byte, 100)), 1); err == nil {
		t.Error("a cancelled scan ends well")
	}
}

func FuzzRaw(f *testing.F) {
	ix, err := NewIndex(testSet(), testRef, Config{})
	if err != nil {
		f.Fatal(err)
	}
	raw := ix.Raw()
	for _, way := range rawWays {
		f.Add(way.write(testItems[0].stem))
		f.Add(append([]byte{0, 0xFF}, way.write(testItems[4].stem)...))
	}
	f.Add([]byte("%E4%B8=E4=B8=\n\\xe4"))
	f.Fuzz(func(t *testing.T, b []byte) {
		hits, size, err := raw.Scan(context.Background(), bytes.NewReader(b), 1)
		if err != nil || size != int64(len(b)) {
			t.Fatal(size, err)
		}
		for _, h := range hits {
			if h.Offset < 0 || h.Offset > size || h.From < 0 {
				t.Errorf("%+v", h)
			}
		}
	})
}

// realStems writes every stem as a pickle of protocol 4 does.
func realStems(items []benchmark.Item) []byte {
	b := []byte{0x80, 4, ']', 0x94, '('}
	for i := range items {
		s := items[i].Question.Stem
		b = binary.LittleEndian.AppendUint32(append(b, 'X'), uint32(len(s)))
		b = append(append(b, s...), 0x94)
	}
	return append(b, 'e', '.')
}

// Every stem of the benchmark is found in a megabyte of a pickle, however it is
// written.
func TestRealRaw(t *testing.T) {
	t.Parallel()
	ix, items := realIndex(t)
	for n, way := range rawWays {
		b := noise(rand.New(rand.NewPCG(5, 5)), 1000)
		for i := n % realShare; i < len(items); i += realShare {
			b = append(append(b, 0, 'X', 0, 0, 0, 0), way.write(items[i].Question.Stem)...)
			b = append(b, 0, 0, 0, 0, 0x94)
		}
		found := map[int]bool{}
		for _, h := range scanRaw(t, ix, b) {
			if h.Fail {
				found[h.Item.Index] = true
			}
		}
		missing := 0
		for i := n % realShare; i < len(items); i += realShare {
			if !found[items[i].Index] {
				if missing++; missing < 5 {
					t.Logf("%s: item %d: %s", way.name, items[i].Index, items[i].Question.Stem)
				}
			}
		}
		most := 0
		switch {
		case strings.HasPrefix(way.name, "gb18030"):
			most = 1 // CO₂: its sign takes four bytes between letters of ASCII
		case strings.HasSuffix(way.name, "%xx"):
			most = 1 // AUSREP是由…: a word and digits of escapes read as one
		}
		if missing > most {
			t.Errorf("%s: %d stems missing", way.name, missing)
		}
	}
}

func BenchmarkRaw(b *testing.B) {
	ix, items := realIndex(b)
	raw := ix.Raw()
	stems := realStems(items)
	stems = append(stems, bulk(b, "zh-neutral")[:1<<20-len(stems)]...)
	sparse := make([]byte, 8<<20)
	for i := 0; i < len(sparse); i += 4 {
		binary.LittleEndian.PutUint32(sparse[i:], uint32(i/4%200))
	}
	for _, c := range []struct {
		name string
		data []byte
	}{
		{"every-stem-1MB", stems},
		{"noise", noise(rand.New(rand.NewPCG(5, 5)), 8<<20)},
		{"numbers", sparse},
		{"text-zh", bulk(b, "zh-domain")},
		{"text-zh-utf16", wide16(string(bulk(b, "zh-domain")), binary.LittleEndian)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := raw.Scan(context.Background(), bytes.NewReader(c.data), 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
