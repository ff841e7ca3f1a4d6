package pipeline

import (
	"bufio"
	"io"
	"path/filepath"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/internal/atomicfile"
)

// noBenchmark is why there was no contamination check.
const noBenchmark = "no benchmark in contamination.against"

// report writes build/contam.jsonl and the counts by benchmark.
func (c *corpus) report(res *StageResult, states []*partState, ids *rowIDs) error {
	for i, ch := range c.checks {
		row := ContamResult{
			Benchmark: ch.bench.Benchmark.Ref().String(), SHA256: ch.bench.Canonical,
			Items: len(ch.bench.Items), BlindItems: []int{}, Records: res.Sums.In,
			Verdicts: map[string]int{}, Config: ch.index.ConfigHash(),
		}
		for _, b := range ch.index.Blind() {
			row.BlindItems = append(row.BlindItems, b.Index)
		}
		row.Blind = len(row.BlindItems)
		for _, s := range states {
			row.Leaks += s.counts[i].leaks
			row.Removed += s.counts[i].removed
			row.Masked += s.counts[i].masked
			for v, n := range s.counts[i].verdicts {
				row.Verdicts[v] += n
			}
		}
		res.Contam = append(res.Contam, row)
	}
	if len(c.checks) == 0 {
		res.Status, res.Reason = StatusSkipped, noBenchmark
		return nil
	}
	return atomicfile.Write(filepath.Join(c.r.base, filepath.FromSlash(reportFile)), func(w io.Writer) error {
		bw := bufio.NewWriter(w)
		var buf []byte
		for _, s := range states {
			for _, f := range s.findings {
				for i := range f.finding {
					x := f.finding[i]
					x.Record = placeOf(f.record, ids, x.Record.Pointer)
					if x.Next != nil {
						next := placeOf(f.next, ids, x.Next.Pointer)
						x.Next = &next
					}
					buf = x.Append(buf[:0])
					if _, err := bw.Write(buf); err != nil {
						return err
					}
				}
			}
		}
		return bw.Flush()
	})
}

func placeOf(r *drydock.Record, ids *rowIDs, pointer string) contam.Place {
	p := contam.Place{ID: ids.name(r), Pointer: pointer, Line: r.Origin.At.Line, Locator: r.Origin.At.String()}
	if r.Origin.File != nil {
		p.File = r.Origin.File.Name
	}
	return p
}
