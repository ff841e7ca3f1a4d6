package pipeline

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dedup/contam"
)

// seamFile writes rows of a book that was cut into chunks: where it can be the
// border of two units, each begins with the second half of a stem whose first
// half ends the row before it. It returns the number of rows and of such stems.
func seamFile(t *testing.T) (name string, rows, seams int) {
	t.Helper()
	cut := func(i int) (string, string) {
		r := []rune(checkStems[i%len(checkStems)])
		return string(r[:len(r)/2]), string(r[len(r)/2:])
	}
	filler := strings.Repeat("今天海面平静，水手们在清洗绞车。", 55)
	var b []byte
	const n = 1800
	for i := range n {
		begin, end := "", ""
		if i > n-300 {
			_, end = cut(i)
		}
		if i+1 > n-300 && i+1 < n {
			begin, _ = cut(i + 1)
			seams++
		}
		b = fmt.Appendf(b, `{"id":"c%d","text":`, i)
		b = append(drydock.AppendJSONString(b, end+"\n"+filler+begin), "}\n"...)
	}
	name = filepath.Join(t.TempDir(), "chunks.jsonl")
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return name, n, seams
}

// An item cut in two by neighbouring rows is found at the row where it begins,
// also where the rows are of different units, for any number of workers and
// shards.
func TestContamSeams(t *testing.T) {
	t.Parallel()
	name, rows, seams := seamFile(t)
	check := func(workers int, shard ContamShard) (lines []int, totals *ContamTotals, clean string) {
		b := checkBench(t)
		ix, err := contam.NewIndex(b.Items, b.Benchmark.Ref(), contam.Config{})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		c := &ContamCheck{
			Index: ix, Benches: []*Bench{b}, Workers: workers, Shard: shard, Clean: &out, OnHit: OnHitDrop,
			Hit: func(h *ContamHit) error {
				if !h.Fail || h.Next == nil {
					t.Errorf("no seam: %+v", h.Finding)
					return nil
				}
				lines = append(lines, h.Record.Line)
				if want := fmt.Sprintf("c%d", h.Record.Line-1); h.Record.ID != want || h.Next.Line != h.Record.Line+1 || h.Next.File != h.Record.File {
					t.Errorf("places: %+v, next %+v", h.Record, *h.Next)
				}
				if len(h.Fields) != 2 {
					t.Errorf("%d fields to show", len(h.Fields))
				}
				return nil
			},
		}
		if totals, err = c.Files(context.Background(), []string{name}); err != nil {
			t.Fatal(err)
		}
		return lines, totals, out.String()
	}
	one, totals, clean := check(1, ContamShard{})
	if len(one) != seams || totals.Failed != seams || totals.CleanRows != rows-seams || strings.Count(clean, "\n") != rows-seams {
		t.Fatalf("%d seams, %d records fail, %d clean rows; want %d, %[4]d, %d", len(one), totals.Failed, totals.CleanRows, seams, rows-seams)
	}
	three, _, clean3 := check(3, ContamShard{})
	if d := cmp.Diff(one, three); d != "" || clean != clean3 {
		t.Errorf("three workers find others:\n%s", d)
	}
	first, _, _ := check(1, ContamShard{1, 2})
	second, _, _ := check(2, ContamShard{2, 2})
	if d := cmp.Diff(one, append(first, second...)); len(second) == 0 || d != "" {
		t.Errorf("two shards find others:\n%s", d)
	}
}
