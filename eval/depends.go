package eval

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/drydock-ml/drydock/eval/benchmark"
)

// gradedBy lists what grading rests on, whoever answered.
func gradedBy(b benchmark.Benchmark) []Condition {
	return []Condition{{"rule", b.Info().Rule}, {"template_and_rules", "sha256:" + b.Fingerprint()}}
}

// sha256Of names bytes by their hash.
func sha256Of(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// dependsOn lists what the figures of a run rest on: what the answers depend on,
// how many were wanted, who served them, and how they were graded.
func (r *run) dependsOn() []Condition {
	c := append(r.conditions(), gradedBy(r.Benchmark)...)
	if r.Limit > 0 {
		c = append(c, Condition{"limit", strconv.Itoa(r.Limit)})
	}
	if r.OnError != "" && r.OnError != OnErrorWrong {
		c = append(c, Condition{"on_error", string(r.OnError)})
	}
	if p := r.checks; p != nil {
		for _, x := range []Condition{{"server_version", p.Server.Version}, {"server_fingerprint", p.Server.Fingerprint}, {"served_from", p.Server.Root}} {
			if x.Value != "" {
				c = append(c, x)
			}
		}
	}
	return c
}

// dependsOn lists what the figures of a graded file rest on. Items that were not
// the file's are not among them.
func (job *ScoreJob) dependsOn() []Condition {
	c := []Condition{{"benchmark", job.Benchmark.Ref().String()}}
	if job.Items != nil {
		c = append(c, Condition{"items", "sha256:" + benchmark.CanonicalHash(job.Items)})
	}
	c = append(c, Condition{"file", sha256Of(job.Data)})
	if len(job.Predictions) > 0 {
		c = append(c, Condition{"predictions", sha256Of(job.Predictions)})
	}
	return append(c, gradedBy(job.Benchmark)...)
}
