package dedup

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// insertsAndDeletes is the length of the shortest edit script, by the plain table.
func insertsAndDeletes(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range b {
			best := min(row[j], row[j+1]) + 1
			if x == y {
				best = diagonal
			}
			diagonal, row[j+1] = row[j+1], best
		}
	}
	return row[len(b)]
}

func someLetters(max int) *rapid.Generator[[]rune] {
	return rapid.SliceOfN(rapid.RuneFrom([]rune("abc号")), 0, max)
}

// TestDiffShortest holds diff to the shortest script, at every bound, and its
// hunks to what they say.
func TestDiffShortest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := someLetters(24).Draw(t, "a"), someLetters(24).Draw(t, "b")
		most := rapid.IntRange(0, 50).Draw(t, "most")
		want := insertsAndDeletes(a, b)
		var d differ
		dist, ok := d.diff(a, b, most)
		if ok != (want <= most) {
			t.Fatalf("diff(%q, %q) at most %d: %v, the distance is %d", string(a), string(b), most, ok, want)
		}
		if !ok {
			return
		}
		if dist != want {
			t.Errorf("diff(%q, %q) at most %d = %d, want %d", string(a), string(b), most, dist, want)
		}
		var made []rune
		at := 0
		for _, h := range d.hunks {
			made = append(append(made, a[at:h.a0]...), b[h.b0:h.b1]...)
			at = h.a1
		}
		if made = append(made, a[at:]...); !slices.Equal(made, b) {
			t.Errorf("the hunks make %q of %q, want %q", string(made), string(a), string(b))
		}
	})
}

// TestBagBound holds the bag to a lower bound, text after text.
func TestBagBound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := newBag()
		for range 3 {
			b := someLetters(16).Draw(t, "held")
			g.hold(b)
			for range 2 {
				a := someLetters(16).Draw(t, "a")
				if got, _ := g.distance(a); got > insertsAndDeletes(a, b) {
					t.Errorf("bag says %q and %q are %d apart, they are %d", string(a), string(b), got, insertsAndDeletes(a, b))
				}
			}
		}
	})
}

// TestMeasure holds the measure to the distance, text after text.
func TestMeasure(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var m measure
		for range 3 {
			b := someLetters(measureMost+20).Draw(t, "held")
			if held := m.hold(b); held != (len(b) <= measureMost) {
				t.Fatalf("%d letters held: %v", len(b), held)
			} else if !held {
				continue
			}
			for range 2 {
				a := someLetters(measureMost).Draw(t, "a")
				if got, want := m.distance(a), insertsAndDeletes(a, b); got != want {
					t.Errorf("%q and %q are %d apart, want %d", string(a), string(b), got, want)
				}
			}
		}
	})
}
