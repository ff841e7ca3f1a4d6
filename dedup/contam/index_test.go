package contam

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNewIndexRefuses(t *testing.T) {
	t.Parallel()
	if _, err := NewIndex(nil, testRef, Config{}); err == nil {
		t.Error("an index of nothing")
	}
	if _, err := NewIndex(testSet(), testRef, Config{Thresholds: Thresholds{StemSame: 3}}); err == nil {
		t.Error("a similarity of 3")
	}
	if _, err := NewIndex(testSet(), testRef, Config{Thresholds: Thresholds{Fail: []Verdict{"bad"}}}); err == nil {
		t.Error("an unknown verdict")
	}
}

// A row that is no JSON says where it stops being one.
func TestRowSyntaxError(t *testing.T) {
	t.Parallel()
	s := testIndex(t).Scanner()
	for text, want := range map[string]SyntaxError{
		"{\"text\": \"x": {10, "a string is cut off"},
		`{"b":`:          {6, "the JSON value is cut off"},
		`{"a":1} {}`:     {9, "text after the JSON value"},
		`{"a":"\x"}`:     {8, "unknown escape in a string"},
	} {
		_, err := s.Row([]byte(text))
		var got *SyntaxError
		if !errors.As(err, &got) || *got != want {
			t.Errorf("%s: %v, want %v", text, err, &want)
		}
	}
}

// TestSegments: statements are cut at the signs that number them, and at no
// other.
func TestSegments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		stem string
		want []string
	}{
		{"正确的是______。①甲②乙③丙", []string{"正确的是", "。", "1甲", "2乙", "3丙"}},
		{"附则Ⅰ规定，正确的是（ ）。①甲②乙", []string{"附则Ⅰ规定，正确的是", "。", "1甲", "2乙"}},
		{"第Ⅰ、Ⅱ、Ⅲ章中正确的是____①甲②乙", []string{"第Ⅰ、Ⅱ、Ⅲ章中正确的是", "1甲", "2乙"}},
		{"Ⅰ.甲 Ⅱ.乙 其中正确的是", []string{"1.甲 ", "2.乙 其中正确的是"}},
		{"图中①所指的是", []string{"图中①所指的是"}},
	} {
		var got []string
		for _, s := range segments(c.stem) {
			if s.statement > 0 {
				s.text = strconv.Itoa(s.statement) + s.text
			}
			got = append(got, s.text)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.stem, d)
		}
	}
	for text, want := range map[string]bool{"①③": true, "仅②③": true, "③或④": true, "①②皆可": true, "①电机②泵的流量": false, "2个": false, "": false} {
		if got := combo(text); got != want {
			t.Errorf("combo(%q) = %v", text, got)
		}
	}
}

// Sorting letter by letter is sorting by key that leaves what is equal in its order.
func TestSortByKey(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 200 {
		raw := make([]rawPosting, n)
		for i := range raw {
			key := r.Uint64() >> (r.IntN(4) * 16)
			if i > 0 && r.IntN(3) == 0 {
				key = raw[r.IntN(i)].key
			}
			raw[i] = rawPosting{key, posting(i)}
		}
		want := slices.Clone(raw)
		slices.SortStableFunc(want, func(a, b rawPosting) int { return btoi(a.key > b.key) - btoi(a.key < b.key) })
		if got := sortByKey(raw, make([]rawPosting, n)); !slices.Equal(got, want) {
			t.Fatalf("%d: %v, want %v", n, got, want)
		}
	}
}
