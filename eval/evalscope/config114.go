package evalscope

import "strconv"

// Version114 is the EvalScope version whose newer files are written.
const Version114 = "1.14.1"

// append114 writes 1.14.1's keys in its order. The package comment lists what
// differs.
func (c Config) append114(dst []byte) []byte {
	y := &yamlWriter{b: dst}
	batch := c.BatchSize
	if batch <= 0 {
		batch = 8
	}
	y.lines("agent_config: null", "analysis_report: false", "api_key: '**********'")
	y.str(0, "api_url", c.APIURL)
	y.lines("chat_template: null", "collect_perf: true", "dataset_args:", "  "+c.Bench+": {}", "dataset_dir: null",
		"dataset_hub: modelscope", "datasets:", "- "+c.Bench, "debug: false", "dry_run: false", "enable_progress_tracker: false",
		"eval_backend: Native", "eval_batch_size: "+strconv.Itoa(batch), "eval_config: null", "eval_type: openai_api",
		"evalscope_version: "+Version114, "evaluation_identity:", "  benchmarks:", "    "+c.Bench+":", "      cache_source: null",
		"      evaluation_version: v1.0", "      fingerprint: null", "      review_pending: false", "  schema_version: 1", "generation_config:")
	y.generation(c.generation(batch))
	y.lines("ignore_errors: "+strconv.FormatBool(c.IgnoreErrors), "judge:", "  aggregation: mean", "  contract:", "    prompt_template: null",
		"    score_mapping: null", "    score_type: pattern", "    system_prompt: null", "  min_valid_judges: 1", "  models: []",
		"  position_swap: auto", "  repeats: 1", "  strategy: auto", "limit: "+orNull(c.Limit))
	y.str(0, "model", c.Model)
	y.lines("model_args: {}")
	y.str(0, "model_id", ModelID(c.Model))
	y.lines("model_task: text_generation", "no_timestamp: true", "repeats: "+strconv.Itoa(max(c.Repeats, 1)), "rerun_review: false",
		"resolved_benchmarks:", "  "+c.Bench+":", "    aggregation: mean", "    dataset_hub: modelscope")
	y.str(4, "dataset_id", c.Info.Dataset)
	y.lines("    dataset_revision: null", "    default_subset: default", "    eval_split: test", "    extra_params: {}",
		"    few_shot_num: "+strconv.Itoa(c.FewShot), "    few_shot_prompt_template: null", "    few_shot_random: false")
	y.filters(c.Filters)
	y.lines("    max_image_bytes: null", "    metric_list:", "    - accuracy")
	y.str(4, "name", c.Bench)
	y.lines("    primary_metric: null")
	y.str(4, "prompt_template", c.Template)
	y.lines("    query_template: null", "    sandbox_config: {}", "    shuffle: false", "    shuffle_choices: false",
		"    subset_list:", "    - default")
	y.str(4, "system_prompt", c.SystemPrompt)
	y.lines("    train_split: null", "sandbox:", "  default_config: {}", "  enabled: false", "  engine: docker", "  manager_config: {}",
		"  pool_size: null", "sandbox_manager_config: {}", "sandbox_type: docker", "seed: 42", "stream: "+trueOrNull(c.Stream),
		"timeout: null", "use_cache: null", "use_sandbox: false", "work_dir: .")
	return y.b
}
