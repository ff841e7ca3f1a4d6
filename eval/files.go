package eval

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"path/filepath"

	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/eval/evalscope"
	"github.com/drydock-ml/drydock/internal/atomicfile"
)

// output says where EvalScope's files go and what shape they have.
type output struct {
	layout  evalscope.Layout
	bench   benchmark.Benchmark
	config  evalscope.Config
	schema  evalscope.Schema
	onError OnError
}

// write writes the files of the counted results in the order of the items, each
// whole or not at all, and names them in the summary.
func (o output) write(counted []result, s *Summary) error {
	rows := counted
	if o.onError == OnErrorEvalScope {
		rows = nil
		for _, r := range counted {
			if !r.surrogate {
				rows = append(rows, r)
			}
		}
	}
	if err := writeRows(o.layout.Predictions(), rows, func(buf []byte, r *result) []byte {
		p := r.prediction(o.layout.Model)
		return o.schema.AppendPrediction(buf, &p)
	}); err != nil {
		return err
	}
	repeats := max(o.config.Repeats, 1)
	sum := sha256.New()
	if err := writeRows(o.layout.Reviews(), rows, func(buf []byte, r *result) []byte {
		p := r.prediction(o.layout.Model)
		buf = o.schema.AppendReview(buf, &evalscope.Review{
			Index: r.index, Input: r.input, Target: r.item.Key(), Acc: r.grade.Score, Extracted: r.grade.Extracted, Prediction: r.reply.Text,
			SampleID: r.index, GroupID: r.index / repeats, Generation: r.index % repeats, Answer: &p,
		})
		sum.Write(buf)
		return buf
	}); err != nil {
		return err
	}
	s.DependsOn = append(s.DependsOn, Condition{"reviews", "sha256:" + hex.EncodeToString(sum.Sum(nil))})
	return o.writeReport(counted, s)
}

// writeReport writes the report and the task configuration.
func (o output) writeReport(counted []result, s *Summary) error {
	f := figuresOf(s.Asked, counted)
	report := evalscope.Report{
		Model: o.layout.Model, Bench: o.layout.Bench, Info: o.bench.Info(), Correct: f.Correct, Num: f.N, Asked: s.Asked,
	}
	for i := range counted {
		p := counted[i].prediction(o.layout.Model)
		report.Perf = append(report.Perf, p.Perf())
	}
	if err := atomicfile.WriteFile(o.layout.Report(), o.schema.AppendReport(nil, &report)); err != nil {
		return err
	}
	name, config := o.schema.ConfigFile(o.config)
	path := filepath.Join(o.layout.Dir, "configs", name)
	if err := atomicfile.WriteFile(path, config); err != nil {
		return err
	}
	s.Files = Files{
		Predictions: filepath.ToSlash(o.layout.Predictions()), Reviews: filepath.ToSlash(o.layout.Reviews()),
		Report: filepath.ToSlash(o.layout.Report()), Config: filepath.ToSlash(path),
	}
	return nil
}

// prediction is the row of a result in the files of a model.
func (r *result) prediction(model string) evalscope.Prediction {
	return evalscope.Prediction{
		Index: r.index, Model: model, Served: r.served, ID: r.id, Reply: r.reply, Usage: r.usage, Error: r.err,
		Messages: r.messages, Latency: r.latency,
	}
}

func writeRows(path string, rows []result, appendRow func([]byte, *result) []byte) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		var buf []byte
		for i := range rows {
			buf = appendRow(buf[:0], &rows[i])
			if _, err := w.Write(buf); err != nil {
				return err
			}
		}
		return nil
	})
}
