package contam

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"
)

// What is counted can be looked up, by the text of the gram, with the share it
// has in its own script.
func TestBackgroundCounter(t *testing.T) {
	t.Parallel()
	c := NewBackgroundCounter()
	for range 3 {
		c.Add("请在对话框中单击确定按钮。")
	}
	c.Add("甲板上的缆绳应当盘好。")
	c.Add("Click the button to continue.")
	c.Add("") // no letters, no stretch
	if c.Stretches() != 5 {
		t.Errorf("%d stretches, want 5", c.Stretches())
	}
	data, grams := c.Table()
	table, ok := strings.CutPrefix(string(data), backgroundMagic)
	if !ok || len(table) != grams*backgroundEntry {
		t.Fatalf("%d bytes for %d grams", len(data), grams)
	}
	for gram, want := range map[string]float64{"单击确定": 0.75, "甲板上的": 0.25, "clickthe": 1, "thebutto": 1, "licktheb": 0, "确定甲板": 0} {
		got := tableShare(table, xxh3.HashString(gram))
		if want == 0 && got != 0 || want > 0 && math.Abs(math.Log2(got/want)) > 0.26 {
			t.Errorf("share of %s is %v, want about %v", gram, got, want)
		}
	}
}

// A long text has as many stretches as items would be cut from it, and a gram
// counts once in each.
func TestBackgroundStretches(t *testing.T) {
	t.Parallel()
	c := NewBackgroundCounter()
	c.Add(strings.Repeat("海图改正应当及时进行", 25)) // 250 letters
	if c.Stretches() != 2 {
		t.Errorf("%d stretches, want 2", c.Stretches())
	}
	for key, n := range c.counts {
		if n.n > 2 {
			t.Errorf("%x counts %d", key, n.n)
		}
	}
}

// The shipped table is whole, and knows what neutral text says and questions of
// the trade do not.
func TestBackgroundTable(t *testing.T) {
	t.Parallel()
	table, ok := strings.CutPrefix(backgroundTable, backgroundMagic)
	if !ok || len(table)%backgroundEntry != 0 || len(table) < 1000*backgroundEntry || len(table) > 300<<10 {
		t.Fatalf("table of %d bytes", len(backgroundTable))
	}
	last := int64(-1)
	for i := 0; i < len(table); i += backgroundEntry {
		h := int64(binary.BigEndian.Uint32([]byte(table[i:])))
		if h <= last {
			t.Fatal("the table is not in order")
		}
		last = h
		if share := tableShare(table, uint64(h)<<32); share < backgroundLeast*0.8 || share > 1 {
			t.Errorf("share %v", share)
		}
	}
	b := testIndex(t).alpha.background()
	for gram, common := range map[string]bool{"如果您要": true, "youwantt": true, "能见度不": false, "fogsigna": false} {
		if got := tableShare(b.table, xxh3.HashString(gram)) > 0; got != common {
			t.Errorf("%s is common: %v, want %v", gram, got, common)
		}
	}
}

// A seed is the text that a reader of the table would hash.
func TestAppendGram(t *testing.T) {
	t.Parallel()
	ix := testIndex(t)
	runes := ix.alpha.runes()
	var s stream
	ix.alpha.feed(&s, []byte("能見度 Ａ2不良 restricted visibility"))
	var got []string
	s.eachSeed(func(key uint64, _ int) { got = append(got, string(appendGram(nil, runes, key))) })
	want := "能见度a 见度a2 度a2不 a2不良 2不良r 不良re 良res restrict visibili"
	if have := strings.Join(got, " "); have != want {
		t.Errorf("seeds %s\nwant %s", have, want)
	}
}
