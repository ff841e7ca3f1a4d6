package format_test

import (
	"fmt"
	"os/exec"
	"testing"
	"time"

	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/internal/golden"
	"github.com/drydock-ml/drydock/internal/meter"
)

// BenchmarkPDF reads a bank of 109 pages with one worker and with two. Pages per
// second of processor time do not depend on what else the machine does; where
// pdftotext is installed, it lays out the same file in the same run.
func BenchmarkPDF(b *testing.B) {
	const pages = 109
	path := golden.RealData(b, "colreg-bank-zh", "选择题题库.pdf")
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			o := pdfOptions()
			o.Workers = workers
			f, kind, err := format.Open(nil, path, o, nil)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(f.Size)
			b.ReportAllocs()
			start := meter.Used()
			for b.Loop() {
				for _, err := range kind.Document(format.Unit{File: f, End: f.Size, Line: 1}, nil).Blocks(b.Context()) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
			cpu := (meter.Used() - start) / time.Duration(b.N)
			b.ReportMetric(float64(pages*b.N)/b.Elapsed().Seconds(), "pages/s")
			if cpu <= 0 {
				return // not known on this system
			}
			b.ReportMetric(pages/cpu.Seconds(), "pages/cpu-s")
			if other, ok := pdftotext(b, path); ok {
				b.ReportMetric(float64(cpu)/float64(other), "x-pdftotext-cpu")
			}
		})
	}
}

// pdftotext is the processor time poppler takes to lay out a file.
func pdftotext(b *testing.B, path string) (time.Duration, bool) {
	b.Helper()
	program, err := exec.LookPath("pdftotext")
	if err != nil {
		return 0, false
	}
	cmd := exec.Command(program, "-layout", path, "-")
	if _, err := cmd.Output(); err != nil {
		b.Fatal(err)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), true
}
