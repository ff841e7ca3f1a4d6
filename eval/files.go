package eval

import (
	"io"
	"path/filepath"

	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/eval/evalscope"
	"github.com/drydock-ml/drydock/internal/atomicfile"
)

// writeFiles writes EvalScope's files in the order of the items, each whole or
// not at all, and names them in the summary.
func writeFiles(l evalscope.Layout, b benchmark.Benchmark, results []result, c evalscope.Config, s *Summary) error {
	err := atomicfile.Write(l.Predictions(), func(w io.Writer) error {
		var buf []byte
		for i := range results {
			r := &results[i]
			buf = evalscope.AppendPrediction(buf[:0], &evalscope.Prediction{
				Index: r.index, Model: l.Model, Served: r.served, ID: r.id, Reply: r.reply, Usage: r.usage, Error: r.err,
			})
			if _, err := w.Write(buf); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := writeReviews(l.Reviews(), results); err != nil {
		return err
	}
	report := evalscope.AppendReport(nil, &evalscope.Report{Model: l.Model, Bench: l.Bench, Info: b.Info(), Correct: s.Correct, Num: s.N})
	if err := atomicfile.WriteFile(l.Report(), report); err != nil {
		return err
	}
	name, config := c.File()
	path := filepath.Join(l.Dir, "configs", name)
	if err := atomicfile.WriteFile(path, config); err != nil {
		return err
	}
	s.Files = Files{
		Predictions: filepath.ToSlash(l.Predictions()), Reviews: filepath.ToSlash(l.Reviews()),
		Report: filepath.ToSlash(l.Report()), Config: filepath.ToSlash(path),
	}
	return nil
}

func writeReviews(path string, results []result) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		var buf []byte
		for i := range results {
			r := &results[i]
			buf = evalscope.AppendReview(buf[:0], &evalscope.Review{
				Index: r.index, Input: r.input, Target: r.item.Gold[0], Acc: r.grade.Score,
				Extracted: r.grade.Extracted, Prediction: r.reply.Text, SampleID: r.index, GroupID: r.index,
			})
			if _, err := w.Write(buf); err != nil {
				return err
			}
		}
		return nil
	})
}
