package evalscope

import (
	"crypto/md5"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval/benchmark"
)

// A Config is what configs/task_config_XXXXXX.yaml says about a run.
type Config struct {
	Model        string // as asked for
	Bench        string // name of the benchmark
	Info         benchmark.Info
	Template     string   // the prompt with {question} and {choices}
	APIURL       string   // empty: null
	Temperature  *float64 // nil: not sent
	Limit        int      // 0: null
	BatchSize    int      // 0: EvalScope's default, 1, and 8 in 1.14.1
	SystemPrompt string   // empty: null
	Repeats      int      // 0: 1
	FewShot      int      // examples shown before the question
	Filters      benchmark.Filters
	Stream       bool
	Timeout      float64 // seconds of one request; 0: null
	IgnoreErrors bool
	// Generation holds what else is sent with a request, by the names of
	// EvalScope's --generation-config: max_tokens, top_p, extra_body, n.
	Generation []drydock.RawField
}

// File returns the name and the bytes of the file: EvalScope 1.4.2's keys in its
// order. The package comment lists what differs.
func (c Config) File() (name string, data []byte) {
	data = c.append(nil)
	sum := md5.Sum(data) //nolint:gosec // a name, as EvalScope makes it
	return "task_config_" + hex.EncodeToString(sum[:3]) + ".yaml", data
}

func (c Config) append(dst []byte) []byte {
	y := &yamlWriter{b: dst}
	batch := max(c.BatchSize, 1)
	y.lines("analysis_report: false")
	y.str(0, "api_url", c.APIURL)
	y.lines("chat_template: null", "dataset_args:", "  "+c.Bench+":", "    aggregation: mean")
	y.str(4, "dataset_id", c.Info.Dataset)
	y.lines("    default_subset: default")
	y.str(4, "description", c.Info.Description)
	y.lines("    eval_split: test", "    extra_params: {}", "    few_shot_num: "+strconv.Itoa(c.FewShot), "    few_shot_prompt_template: null",
		"    few_shot_random: false")
	y.filters(c.Filters)
	y.lines("    force_redownload: false", "    metric_list:", "    - acc")
	y.str(4, "name", c.Bench)
	y.lines("    output_types:", "    - generation")
	y.str(4, "pretty_name", c.Info.Title)
	y.str(4, "prompt_template", c.Template)
	y.lines("    query_template: null", "    review_timeout: null", "    sandbox_config: {}", "    shuffle: false",
		"    shuffle_choices: false", "    subset_list:", "    - default")
	y.str(4, "system_prompt", c.SystemPrompt)
	if len(c.Info.Tags) == 0 {
		y.lines("    tags: []")
	} else {
		y.lines("    tags:")
		for _, t := range c.Info.Tags {
			y.lines("    - " + t)
		}
	}
	y.lines("    train_split: null", "dataset_dir: null", "dataset_hub: modelscope", "datasets:", "- "+c.Bench,
		"debug: false", "eval_backend: Native", "eval_batch_size: "+strconv.Itoa(batch), "eval_config: null",
		"eval_type: openai_api", "evalscope_version: "+Version, "generation_config:")
	y.generation(c.generation(batch))
	y.lines("ignore_errors: "+strconv.FormatBool(c.IgnoreErrors), "judge_model_args: {}", "judge_strategy: auto", "judge_worker_num: 1",
		"limit: "+orNull(c.Limit))
	y.str(0, "model", c.Model)
	y.lines("model_args: {}")
	y.str(0, "model_id", ModelID(c.Model))
	y.lines("model_task: text_generation", "no_timestamp: true", "repeats: "+strconv.Itoa(max(c.Repeats, 1)), "rerun_review: false",
		"sandbox_manager_config: {}", "sandbox_type: docker", "seed: 42", "stream: "+trueOrNull(c.Stream), "timeout: "+c.timeout(),
		"use_cache: null", "use_sandbox: false", "work_dir: .")
	return y.b
}

// generation lists generation_config in the order of its keys.
func (c Config) generation(batch int) []drydock.RawField {
	fields := append([]drydock.RawField{{Name: "batch_size", Value: drydock.RawJSON(strconv.Itoa(batch))}}, c.Generation...)
	if c.Temperature != nil {
		fields = append(fields, drydock.RawField{Name: "temperature", Value: drydock.RawJSON(drydock.AppendJSONFloat(nil, *c.Temperature))})
	}
	if c.Stream {
		fields = append(fields, drydock.RawField{Name: "stream", Value: drydock.RawJSON("true")})
	}
	if c.Timeout > 0 {
		fields = append(fields, drydock.RawField{Name: "timeout", Value: drydock.RawJSON(c.timeout())})
	}
	slices.SortStableFunc(fields, func(a, b drydock.RawField) int { return strings.Compare(a.Name, b.Name) })
	return fields
}

func (c Config) timeout() string {
	if c.Timeout <= 0 {
		return "null"
	}
	return string(drydock.AppendJSONFloat(nil, c.Timeout))
}

func orNull(n int) string {
	if n <= 0 {
		return "null"
	}
	return strconv.Itoa(n)
}

func trueOrNull(b bool) string {
	if b {
		return "true"
	}
	return "null"
}
