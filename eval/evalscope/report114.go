package evalscope

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/fail"
)

// The types below are the report of the newer schema, fields in its order.
type (
	report114 struct {
		SchemaVersion int         `json:"schema_version"`
		Name          string      `json:"name"`
		Dataset       string      `json:"dataset_name"`
		Title         string      `json:"dataset_pretty_name"`
		Description   string      `json:"dataset_description"`
		Model         string      `json:"model_name"`
		Metrics       []metric114 `json:"metrics"`
		Analysis      string      `json:"analysis"`
		Perf          *perf114    `json:"perf_metrics"`
		Primary       identity114 `json:"primary_metric_identity"`
		Unavailable   *string     `json:"primary_metric_unavailable_reason"`
		Judges        *string     `json:"judge_summary"`
		Execution     executed114 `json:"execution_summary"`
		Num           int         `json:"num"`
	}
	identity114 struct {
		Name        string   `json:"name"`
		Aggregation string   `json:"aggregation"`
		Dimensions  struct{} `json:"dimensions"`
	}
	metric114 struct {
		Identity   identity114   `json:"identity"`
		Legacy     *string       `json:"legacy_name"`
		Num        int           `json:"num"`
		Score      float         `json:"score"`
		Macro      float         `json:"macro_score"`
		Categories []category114 `json:"categories"`
		Semantics  semantics114  `json:"semantics"`
	}
	category114 struct {
		Name    []string    `json:"name"`
		Num     int         `json:"num"`
		Score   float       `json:"score"`
		Macro   float       `json:"macro_score"`
		Subsets []subset114 `json:"subsets"`
	}
	subset114 struct {
		Name      string  `json:"name"`
		Score     float   `json:"score"`
		Num       int     `json:"num"`
		Metadata  *string `json:"metadata"`
		Aggregate bool    `json:"is_aggregate"`
	}
	semantics114 struct {
		ID         string    `json:"semantic_id"`
		Metric     string    `json:"metric_name"`
		Display    *string   `json:"display_name"`
		Kind       string    `json:"kind"`
		Direction  string    `json:"direction"`
		RawUnit    *string   `json:"raw_unit"`
		Range      *range114 `json:"value_range"`
		Shown      string    `json:"display_kind"`
		Multiplier *float    `json:"display_multiplier"`
		Unit       *string   `json:"display_unit"`
		Precision  int       `json:"display_precision"`
	}
	range114 struct {
		Min float `json:"min"`
		Max float `json:"max"`
	}
	perf114 struct {
		Summary   perfSummary114          `json:"summary"`
		Coverage  coverage114             `json:"coverage"`
		Semantics map[string]semantics114 `json:"metric_semantics"`
	}
	perfSummary114 struct {
		N          int       `json:"n_samples"`
		Latency    spread114 `json:"latency"`
		Throughput struct {
			Tokens   float `json:"avg_output_tps"`
			Requests float `json:"avg_req_ps"`
		} `json:"throughput"`
		Usage usage114 `json:"usage"`
	}
	usage114 struct {
		Input       spread114 `json:"input_tokens"`
		Output      spread114 `json:"output_tokens"`
		Total       spread114 `json:"total_tokens"`
		TotalInput  int       `json:"total_input_tokens"`
		TotalOutput int       `json:"total_output_tokens"`
		TotalCount  int       `json:"total_tokens_count"`
	}
	spread114 struct {
		Mean float `json:"mean"`
		Std  float `json:"std"`
		Min  float `json:"min"`
		P25  float `json:"25%"`
		P50  float `json:"50%"`
		P75  float `json:"75%"`
		P90  float `json:"90%"`
		P99  float `json:"99%"`
		Max  float `json:"max"`
	}
	coverage114 struct {
		With  int `json:"requests_with_metrics"`
		Total int `json:"total_requests"`
	}
	counts114 struct {
		Requested int `json:"requested"`
		Succeeded int `json:"succeeded"`
		Errored   int `json:"errored"`
	}
	executed114 struct {
		counts114
		Incomplete bool                 `json:"incomplete"`
		Subsets    map[string]counts114 `json:"subsets"`
	}
)

// A float is written as Python writes one: 1.0, not 1.
type float float64

// MarshalJSON implements [json.Marshaler].
func (f float) MarshalJSON() ([]byte, error) { return drydock.AppendJSONFloat(nil, float64(f)), nil }

func appendReport114(dst []byte, r *Report) []byte {
	id := ModelID(r.Model)
	score := float(r.score())
	accuracy := identity114{Name: "accuracy", Aggregation: "mean"}
	asked := max(r.Asked, r.Num)
	counts := counts114{Requested: asked, Succeeded: r.Num, Errored: asked - r.Num}
	description := r.Info.LongDescription
	if description == "" {
		description = r.Info.Description
	}
	hundred, percent := float(100), "%"
	rep := report114{
		SchemaVersion: 2, Name: id + "@" + r.Bench, Dataset: r.Bench, Title: r.Info.Title, Description: description, Model: id,
		Metrics: []metric114{{
			Identity: accuracy, Num: r.Num, Score: score, Macro: score,
			Categories: []category114{{
				Name: []string{"default"}, Num: r.Num, Score: score, Macro: score,
				Subsets: []subset114{{Name: "default", Score: score, Num: r.Num}},
			}},
			Semantics: semantics114{
				ID: "quality.accuracy.ratio", Metric: "Accuracy", Kind: "quality", Direction: "higher_is_better",
				Range: &range114{0, 1}, Shown: "percent", Multiplier: &hundred, Unit: &percent, Precision: 1,
			},
		}},
		Analysis: "N/A", Perf: perfOf(r.Perf), Primary: accuracy,
		Execution: executed114{counts114: counts, Incomplete: counts.Errored > 0, Subsets: map[string]counts114{"default": counts}},
		Num:       r.Num,
	}
	b, err := drydock.MarshalJSON(rep)
	if err != nil {
		panic(fail.Bug(err)) // there is nothing in it that cannot be written
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, b, "", "    "); err != nil {
		panic(fail.Bug(err))
	}
	return append(dst, indented.Bytes()...)
}

// perfOf sums up the answers whose cost is known; nil when none is.
func perfOf(all []Perf) *perf114 {
	var seconds, input, output, total []float64
	var usage usage114
	sum := 0.0
	for _, p := range all {
		if !p.Known {
			continue
		}
		seconds = append(seconds, p.Seconds)
		sum += p.Seconds
		input, output = append(input, float64(p.Input)), append(output, float64(p.Output))
		total = append(total, float64(p.Input+p.Output))
		usage.TotalInput += p.Input
		usage.TotalOutput += p.Output
	}
	if len(seconds) == 0 {
		return nil
	}
	usage.TotalCount = usage.TotalInput + usage.TotalOutput
	usage.Input, usage.Output, usage.Total = spreadOf(input), spreadOf(output), spreadOf(total)
	p := &perf114{
		Summary:  perfSummary114{N: len(seconds), Latency: spreadOf(seconds), Usage: usage},
		Coverage: coverage114{With: len(seconds), Total: len(all)}, Semantics: perfSemantics(),
	}
	p.Summary.Throughput.Tokens = float(round(float64(usage.TotalOutput)/sum, 2))
	p.Summary.Throughput.Requests = float(round(float64(len(seconds))/sum, 4))
	return p
}

// round is Python's round: half to even on the exact binary value.
func round(x float64, places int) float64 {
	y, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'f', places, 64), 64)
	return y
}

// spreadOf describes values, which are sorted: the deviation is the sample's, the
// quantiles are interpolated, all to six places.
func spreadOf(v []float64) spread114 {
	slices.Sort(v)
	n := float64(len(v))
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	mean, squares := sum/n, 0.0
	for _, x := range v {
		squares += (x - mean) * (x - mean)
	}
	std := 0.0
	if n > 1 {
		std = math.Sqrt(squares / (n - 1))
	}
	at := func(q float64) float {
		pos := q * (n - 1)
		i := int(pos)
		x := v[i]
		if i+1 < len(v) {
			x += (pos - float64(i)) * (v[i+1] - v[i])
		}
		return float(round(x, 6))
	}
	return spread114{
		Mean: float(round(mean, 6)), Std: float(round(std, 6)), Min: float(round(v[0], 6)),
		P25: at(.25), P50: at(.5), P75: at(.75), P90: at(.9), P99: at(.99), Max: float(round(v[len(v)-1], 6)),
	}
}

// perfSemantics says what each cost is, as the real reports do.
func perfSemantics() map[string]semantics114 {
	rate := func(id, name, unit string) semantics114 {
		return semantics114{ID: id, Metric: name, Kind: "quality", Direction: "higher_is_better", RawUnit: &unit, Shown: "number", Unit: &unit, Precision: 2}
	}
	count := func(name string) semantics114 {
		return semantics114{ID: "diagnostic.count.items", Metric: name, Kind: "diagnostic", Direction: "none", Shown: "number"}
	}
	second := "s"
	return map[string]semantics114{
		"n_samples": count("Samples"),
		"latency": {
			ID: "perf.latency.seconds", Metric: "Latency", Kind: "quality", Direction: "lower_is_better",
			RawUnit: &second, Shown: "number", Unit: &second, Precision: 3,
		},
		"throughput.avg_output_tps": rate("perf.throughput.tokens_per_second", "Output Throughput", "tok/s"),
		"throughput.avg_req_ps":     rate("perf.throughput.requests_per_second", "Request Throughput", "req/s"),
		"usage.input_tokens":        count("Input Tokens"),
		"usage.output_tokens":       count("Output Tokens"),
		"usage.total_tokens":        count("Total Tokens"),
	}
}
