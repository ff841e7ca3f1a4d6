package format_test

import (
	"testing"

	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dataprep/format/formattest"
)

// named returns a format of the list.
func named(t *testing.T, name string) *format.Format {
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

func TestTextContract(t *testing.T) {
	t.Parallel()
	formattest.Run(t, named(t, "text"), "testdata/small.txt")
}
