package format_test

import (
	"testing"

	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dataprep/format/formattest"
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
