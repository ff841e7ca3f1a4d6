package cli

import (
	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/dedup/contam/report"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/pipeline"
)

// findReference resolves what data is checked against: a benchmark by name, or a
// file of questions or prompts.
func (a *app) findReference(ref string) (*pipeline.Bench, error) {
	home, err := a.host.home()
	if err != nil {
		return nil, err
	}
	own, mistakes := a.projectBenchmarks()
	b, why, err := pipeline.FindReference(ref, "", home, own)
	switch {
	case err != nil && mistakes != nil:
		return nil, mistakes
	case err != nil:
		return nil, err
	case why != nil:
		a.term.Note(msg.Text{"%s is taken as %d {prompt|prompts} to check against; eval could not ask it: %s", "%s 作为 %d 条提示词参与比对；eval 无法用其提问：%s"}, ref, len(b.Items), fail.All(why)[0])
	}
	return b, nil
}

// benchSets are the items of benchmarks, as indexes take them.
func benchSets(benches []*pipeline.Bench) []contam.Set {
	var sets []contam.Set
	for _, b := range benches {
		sets = append(sets, contam.Set{Ref: b.Ref(), Items: b.Items})
	}
	return sets
}

// reportBenches are benchmarks as summaries name them.
func reportBenches(benches []*pipeline.Bench) []report.Benchmark {
	var out []report.Benchmark
	for _, b := range benches {
		out = append(out, report.Benchmark{Name: b.Ref().Name, Ref: b.Ref().String(), Items: len(b.Items), SHA256: b.SHA256})
	}
	return out
}

// questionsOf finds the items of benchmarks by what findings call them.
func questionsOf(benches []*pipeline.Bench) map[contam.ItemRef]*drydock.Question {
	items := map[contam.ItemRef]*drydock.Question{}
	for _, b := range benches {
		for i := range b.Items {
			items[contam.ItemRef{Benchmark: b.Ref().Name, Index: b.Items[i].Index}] = &b.Items[i].Question
		}
	}
	return items
}
