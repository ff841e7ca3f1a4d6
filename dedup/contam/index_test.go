package contam

import (
	"errors"
	"testing"
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
