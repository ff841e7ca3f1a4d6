package format_test

import (
	"testing"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dataprep/format/formattest"
	"github.com/drydock-ml/drydock/internal/fail"
)

// formatNamed returns the format of that name.
func formatNamed(t testing.TB, name string) *format.Format {
	t.Helper()
	all := format.All()
	for i := range all {
		if all[i].Name == name {
			return &all[i]
		}
	}
	t.Fatalf("no format %q", name)
	return nil
}

func TestContract(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		format, fixture string
		opts            []formattest.Option
	}{
		{"jsonl", "testdata/rows.jsonl", nil},
		{"json", "testdata/rows.json", nil},
		{"csv", "testdata/table.csv", nil},
	} {
		t.Run(c.fixture, func(t *testing.T) {
			t.Parallel()
			formattest.Run(t, formatNamed(t, c.format), c.fixture, c.opts...)
		})
	}
}

// checkFuzzed is what any input must keep to: no bug, spans inside their text,
// places that read back, and not a word lost without one said.
func checkFuzzed(t *testing.T, r formattest.Result) {
	t.Helper()
	if fail.Code(r.Err) == 70 {
		t.Fatal(r.Err)
	}
	for _, b := range r.Blocks {
		if got, err := drydock.ParseLocator(b.At.String()); err != nil || got != b.At {
			t.Fatalf("locator %q reads back as %v, %v", b.At, got, err)
		}
		for _, s := range b.Spans {
			if s.Start < 0 || s.Start >= s.End || s.End > len(b.Text) {
				t.Fatalf("span %+v outside %q", s, b.Text)
			}
		}
	}
}
