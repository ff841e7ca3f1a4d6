package question

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// What numbers remembers says the same as a look at the whole count.
func TestNumbers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOf(rapid.OneOf(rapid.IntRange(1, 60), rapid.IntRange(maxBits-10, maxBits+10))).Draw(t, "numbers")
		var c numbers
		for _, n := range all {
			c.add(n)
		}
		var missing, repeated []int
		for i := 1; i < len(all); i++ {
			a, b := all[i-1], all[i]
			if a == b && len(repeated) < mostJumps {
				repeated = append(repeated, b)
			}
			for v := a + 1; v < b && b-a <= mostJumps; v++ {
				if !slices.Contains(all, v) && len(missing) < mostJumps {
					missing = append(missing, v)
				}
			}
		}
		if m, r := c.jumps(); !slices.Equal(m, missing) || !slices.Equal(r, repeated) {
			t.Fatalf("missing %v, want %v; repeated %v, want %v", m, missing, r, repeated)
		}
	})
}
