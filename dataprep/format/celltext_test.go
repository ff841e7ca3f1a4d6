package format

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock"
)

func TestCellSpans(t *testing.T) {
	t.Parallel()
	text := "10-3 m与x2红"
	at := func(kind drydock.SpanKind, start, end int) drydock.Span {
		return drydock.Span{Kind: kind, Start: start, End: end}
	}
	c := cellWriter{index: 2}
	c.line("首", nil)
	c.line(text, []drydock.Span{
		at(drydock.Superscript, 2, 4), at(drydock.Bold, 0, 4), at(drydock.Color, 3, 6),
		at(drydock.Subscript, 10, 11), at(drydock.Underline, 11, 14), at(drydock.Image, 14, 14),
	})
	got, spans := c.done("\n", false)
	if got != "首\n10⁻³ m与x₂红" {
		t.Fatalf("%q", got)
	}
	var parts []string
	for _, s := range spans {
		if s.Cell != 2 {
			t.Errorf("a span of cell %d", s.Cell)
		}
		parts = append(parts, got[s.Start:s.End])
	}
	if d := cmp.Diff([]string{"10⁻³", " m", "红", ""}, parts); d != "" {
		t.Error(d)
	}
}
