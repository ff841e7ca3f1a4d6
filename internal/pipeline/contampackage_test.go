package pipeline

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock/dedup/contam"
)

// The gates' scanner reads files of a package by their formats, unpacks archives
// and joins neighbouring chunks.
func TestPackageScanner(t *testing.T) {
	t.Parallel()
	b := checkBench(t)
	ix, err := contam.NewIndex(b.Items, b.Benchmark.Ref(), contam.Config{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := newPackageScanner(ix, "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	stem := checkStems[2]
	chunks := append(rowOf(t, "Chapter 4. "+stem[:45]), rowOf(t, stem[45:]+" More text of the chapter follows here.")...)
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"kb/chunks.jsonl", chunks, "kb/chunks.jsonl:1 item 2"},
		{"kb/index.pkl", pickleOf("harmless", checkStems[0]), "kb/index.pkl:0 item 0"},
		{"kb/raw.zip", zipOf(t, packed{"规则.docx", docxOf(t, checkStems[1])}), "kb/raw.zip!规则.docx:0 item 1"},
		{"agent/run.py", []byte("import os\nprint('nothing')\n"), ""},
		{"model/w.7z", []byte("7z\xbc\xaf\x27\x1c\x00\x04"), "model/w.7z: what is packed in it (7-Zip) was not looked into"},
	} {
		var got []string
		bad, err := s.Scan(context.Background(), c.name, bytes.NewReader(c.data), func(f contam.Finding) {
			if f.Fail {
				got = append(got, fmt.Sprintf("%s:%d item %d", f.Record.File, f.Record.Line, f.Item.Index))
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range bad {
			got = append(got, e.Error())
		}
		if d := cmp.Diff(c.want, strings.Join(got, "|")); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}
