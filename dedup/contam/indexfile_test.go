package contam

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/drydock-ml/drydock/internal/fail"
)

// An index that was written and read finds what the first one does, in the same
// words, and writes the same bytes.
func TestIndexFile(t *testing.T) {
	t.Parallel()
	ix, err := NewIndex(testSet(), testRef, Config{Thresholds: Thresholds{StemNats: 17}})
	if err != nil {
		t.Fatal(err)
	}
	file, err := ix.File()
	if err != nil {
		t.Fatal(err)
	}
	again, err := ReadIndex(file)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := again.File(); err != nil || !bytes.Equal(b, file) {
		t.Errorf("the index read writes other bytes: %v", err)
	}
	if again.ConfigHash() != ix.ConfigHash() || again.Items() != ix.Items() {
		t.Errorf("%s, %d items", again.ConfigHash(), again.Items())
	}
	for i := range testItems {
		text := row("问：" + testItems[i].stem + "\n" + strings.Join(testItems[i].options, "\n"))
		a, _ := ix.Scanner().Row(text)
		b, _ := again.Scanner().Row(text)
		if d := cmp.Diff(a, b, cmpopts.EquateNaNs()); d != "" || len(a) == 0 {
			t.Errorf("item %d: %s", i, d)
		}
	}
}

func TestIndexFileRefused(t *testing.T) {
	t.Parallel()
	file, err := testIndex(t).File()
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{
		"empty": nil, "torn": file[:len(file)-9], "text": []byte("{}\n{}\n"),
		"changed":     bytes.Replace(file, []byte("船长"), []byte("大副"), 1),
		"other rules": bytes.Replace(file, []byte(rules), []byte("contam@0"), 1),
	} {
		if _, err := ReadIndex(b); fail.Code(err) != fail.Refused.Code() {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzReadIndex(f *testing.F) {
	file, err := testIndex(f).File()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(file)
	f.Add([]byte(`{"schema":"drydock.contam.index/1"}`))
	f.Fuzz(func(_ *testing.T, b []byte) { _, _ = ReadIndex(b) })
}
