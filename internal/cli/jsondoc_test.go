package cli

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/dedup/contam/report"
	"github.com/drydock-ml/drydock/eval"
	"github.com/drydock-ml/drydock/internal/pipeline"
	"github.com/drydock-ml/drydock/internal/runstore"
	"github.com/drydock-ml/drydock/launch"
	"github.com/drydock-ml/drydock/provenance/submission"
)

// docs/json-output.md names every schema and every field of what --json prints.
func TestJSONOutputIsDocumented(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../docs/json-output.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(b)
	for _, c := range []struct {
		section string
		schemas []string
		values  []any
	}{
		{"version", []string{"drydock.version/1"}, []any{versionAnswer{}}},
		{"formats, steps, trainers", []string{"drydock.formats/1", "drydock.steps.show/1", "drydock.trainers/1"}, []any{catalogueAnswer{}, componentAnswer{}}},
		{"doctor", []string{"drydock.doctor/1"}, []any{doctorAnswer{}}},
		{"init", []string{"drydock.init/1"}, []any{initAnswer{}}},
		{"bench", []string{"drydock.bench.list/1", "drydock.bench.show/1", "drydock.bench.add/1", "drydock.bench.lint/1"}, []any{benchList{}, benchShow{}, benchAdded{}, benchLint{}}},
		{"lint", []string{"drydock.lint/1"}, []any{lintAnswer{}}},
		{"plan and run", []string{"drydock.run.stage/1", "drydock.run.summary/1", "drydock.warning/1"}, []any{pipeline.StageResult{}}},
		{"prep", []string{"drydock.prep/1"}, []any{prepAnswer{}}},
		{"question review", []string{"drydock.question.review/1"}, []any{questionReviewAnswer{}}},
		{"dedup", []string{"drydock.dedup/1"}, []any{dedupAnswer{}}},
		{"contam check", []string{"drydock.contam.summary/1", "drydock.contam/1"}, []any{contamAnswer{}}},
		{"contam review", []string{"drydock.contam.review/1"}, []any{reviewAnswer{}}},
		{"contam explain", []string{"drydock.contam.explain/1"}, []any{explainAnswer{}}},
		{"contam compare", []string{report.CompareSchema}, []any{contamComparison{}}},
		{"contam selftest", []string{"drydock.contam.selftest/1"}, []any{selftestAnswer{}}},
		{"contam presets", []string{"drydock.contam.presets/1"}, []any{presetsAnswer{}}},
		{"train", []string{"drydock.train/1", "drydock.train.event/1", "drydock.train.detached/1"}, []any{trainSummary{}, launch.Report{}, detachedAnswer{}}},
		{"train", []string{"drydock.train.sweep/1"}, []any{trainSweepAnswer{}}},
		{"checkpoint check", []string{"drydock.checkpoint.check/1"}, []any{checkpointAnswer{}}},
		{"checkpoint fix", []string{"drydock.checkpoint.fix/1"}, []any{fixAnswer{}}},
		{"serve", []string{"drydock.serve/1", "drydock.serve.event/1", "drydock.serve.plan/1"}, []any{servePlan{}, serveEvent{}, serveSummary{}}},
		{"serve load and unload", []string{"drydock.serve.load/1", "drydock.serve.unload/1"}, []any{loadedAnswer{}, unloadedAnswer{}}},
		{"eval and score", []string{eval.SummarySchema, eval.ItemSchema, eval.SweepSchema, "drydock.eval.plan/1", "drydock.eval.sweep.plan/1"}, []any{eval.Summary{}, eval.ItemEvent{}, eval.Sweep{}, evalPlan{}, sweepPlan{}}},
		{"template render", []string{"drydock.template.render/1"}, []any{rendered{}}},
		{"template check", []string{"drydock.template.check/1"}, []any{templateCheckAnswer{}}},
		{"compare", []string{eval.CompareSchema}, []any{eval.Comparison{}}},
		{"card", []string{"drydock.card/1"}, []any{cardAnswer{}}},
		{"submit pack and verify", []string{submission.ReportSchema}, []any{submission.Summary{}}},
		{"runs", []string{
			"drydock.runs.list/1", "drydock.run/1", runstore.ManifestSchema, "drydock.runs.attach/1", "drydock.runs.stop/1",
			"drydock.runs.compare/1", "drydock.runs.gc/1", "drydock.runs.rm/1",
		}, []any{runsAnswer{}, runAnswer{}, attachSummary{}, stopAnswer{}, compareRunsAnswer{}, removedAnswer{}}},
	} {
		t.Run(c.section, func(t *testing.T) {
			t.Parallel()
			_, text, ok := strings.Cut(doc, "\n## "+c.section)
			if !ok {
				t.Fatal("there is no such section")
			}
			text, _, _ = strings.Cut(text, "\n## ")
			for _, s := range c.schemas {
				if !strings.Contains(text, s) {
					t.Errorf("schema %s is not named", s)
				}
			}
			for _, v := range c.values {
				for _, key := range jsonKeys(reflect.TypeOf(v), nil) {
					// what these share with other commands is described there
					shares := c.section == "plan and run" || c.section == "eval and score"
					if !strings.Contains(text, "`"+key+"`") && !(shares && strings.Contains(doc, "`"+key+"`")) {
						t.Errorf("field %s is not described", key)
					}
				}
			}
		})
	}
}

// jsonKeys lists the keys a type has as JSON, those of its parts included.
func jsonKeys(t reflect.Type, seen []reflect.Type) []string {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return jsonKeys(t.Elem(), seen)
	case reflect.Struct:
	default:
		return nil
	}
	if slices.Contains(seen, t) || t.PkgPath() == "time" {
		return nil
	}
	seen = append(seen, t)
	var keys []string
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || (!f.IsExported() && !f.Anonymous) {
			continue
		}
		if name != "" && name != "schema" && name != "type" {
			keys = append(keys, name)
		}
		if name != "" || f.Anonymous {
			keys = append(keys, jsonKeys(f.Type, seen)...)
		}
	}
	return keys
}
