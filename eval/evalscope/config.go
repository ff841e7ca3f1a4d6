package evalscope

import (
	"crypto/md5"
	"encoding/hex"
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
	BatchSize    int      // 0: 1, EvalScope's default
	SystemPrompt string   // empty: null
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
	batch := strconv.Itoa(max(c.BatchSize, 1))
	y.lines("analysis_report: false")
	y.str(0, "api_url", c.APIURL)
	y.lines("chat_template: null", "dataset_args:", "  "+c.Bench+":", "    aggregation: mean")
	y.str(4, "dataset_id", c.Info.Dataset)
	y.lines("    default_subset: default")
	y.str(4, "description", c.Info.Description)
	y.lines("    eval_split: test", "    extra_params: {}", "    few_shot_num: 0", "    few_shot_prompt_template: null",
		"    few_shot_random: false", "    filters: null", "    force_redownload: false", "    metric_list:", "    - acc")
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
		"debug: false", "eval_backend: Native", "eval_batch_size: "+batch, "eval_config: null",
		"eval_type: openai_api", "evalscope_version: "+Version, "generation_config:", "  batch_size: "+batch)
	if c.Temperature != nil {
		y.b = append(y.b, "  temperature: "...)
		y.b = append(drydock.AppendJSONFloat(y.b, *c.Temperature), '\n')
	}
	y.lines("ignore_errors: false", "judge_model_args: {}", "judge_strategy: auto", "judge_worker_num: 1")
	if c.Limit > 0 {
		y.lines("limit: " + strconv.Itoa(c.Limit))
	} else {
		y.lines("limit: null")
	}
	y.str(0, "model", c.Model)
	y.lines("model_args: {}")
	y.str(0, "model_id", ModelID(c.Model))
	y.lines("model_task: text_generation", "no_timestamp: true", "repeats: 1", "rerun_review: false",
		"sandbox_manager_config: {}", "sandbox_type: docker", "seed: 42", "stream: null", "timeout: null",
		"use_cache: null", "use_sandbox: false", "work_dir: .")
	return y.b
}

// A yamlWriter writes the small part of YAML such a file needs, folded as
// PyYAML folds at 80 columns.
type yamlWriter struct{ b []byte }

func (y *yamlWriter) lines(l ...string) {
	for _, s := range l {
		y.b = append(y.b, s...)
		y.b = append(y.b, '\n')
	}
}

// str writes a key with a text; an empty one is null.
func (y *yamlWriter) str(indent int, key, value string) {
	pad := strings.Repeat(" ", indent)
	y.b = append(y.b, pad+key+": "...)
	column := indent + len(key) + 2
	switch {
	case value == "":
		y.b = append(y.b, "null"...)
	case plainYAML(value):
		y.plain(value, column, pad+"  ")
	default:
		y.quoted(value, column, pad+"  ")
	}
	y.b = append(y.b, '\n')
}

// plainYAML tells values that need no quotes: words that YAML cannot take for
// anything but text.
func plainYAML(s string) bool {
	switch strings.ToLower(s) {
	case "null", "true", "false", "yes", "no", "on", "off", "~":
		return false
	}
	first := s[0]
	if !(first >= 'a' && first <= 'z' || first >= 'A' && first <= 'Z' || first >= 0x80 || first == '/') {
		return false
	}
	if strings.HasSuffix(s, " ") || strings.HasSuffix(s, ":") || strings.Contains(s, ": ") || strings.Contains(s, " #") {
		return false
	}
	for _, r := range s {
		if r < 0x20 || r == 0x7f || r == 0x85 || r == 0xfeff || r == 0x2028 || r == 0x2029 || r > 0xffff {
			return false
		}
	}
	return true
}

const yamlWidth = 80

// plain breaks at the first single space past the width.
func (y *yamlWriter) plain(s string, column int, indent string) {
	words := strings.Split(s, " ")
	for i, w := range words {
		if i > 0 {
			single := w != "" && words[i-1] != ""
			if single && column > yamlWidth {
				y.b = append(y.b, '\n')
				y.b = append(y.b, indent...)
				column = len(indent)
			} else {
				y.b = append(y.b, ' ')
				column++
			}
		}
		y.b = append(y.b, w...)
		column += len([]rune(w))
	}
}

// quoted writes a double-quoted text. A line that grows past the width ends
// with a backslash; one before a space keeps that space.
func (y *yamlWriter) quoted(s string, column int, indent string) {
	rs := []rune(s)
	y.b = append(y.b, '"')
	column++
	start := 0
	for i := 0; i <= len(rs); i++ {
		special := i < len(rs) && escapeYAML(rs[i]) != ""
		if i == len(rs) || special {
			y.b = append(y.b, string(rs[start:i])...)
			column += i - start
			start = i
			if special {
				e := escapeYAML(rs[i])
				y.b = append(y.b, e...)
				column += len(e)
				start = i + 1
			}
		}
		space := i < len(rs) && rs[i] == ' '
		if i > 0 && i < len(rs)-1 && (space || start >= i) && column+(i-start) > yamlWidth {
			if start < i {
				y.b = append(y.b, string(rs[start:i])...)
				start = i
			}
			y.b = append(y.b, "\\\n"...)
			y.b = append(y.b, indent...)
			column = len(indent)
			if rs[start] == ' ' {
				y.b = append(y.b, '\\')
				column++
			}
		}
	}
	y.b = append(y.b, '"')
}

func escapeYAML(r rune) string {
	switch r {
	case '"':
		return `\"`
	case '\\':
		return `\\`
	case '\n':
		return `\n`
	case '\t':
		return `\t`
	case '\r':
		return `\r`
	case 0x85:
		return `\N`
	case 0x2028:
		return `\L`
	case 0x2029:
		return `\P`
	}
	switch {
	case r < 0x20 || r == 0x7f:
		return `\x` + strings.ToUpper(hexN(r, 2))
	case r == 0xfeff || (r > 0x7f && r < 0xa0):
		return `\u` + strings.ToUpper(hexN(r, 4))
	case r > 0xffff:
		return `\U` + strings.ToUpper(hexN(r, 8))
	}
	return ""
}

func hexN(r rune, n int) string {
	s := strconv.FormatInt(int64(r), 16)
	return strings.Repeat("0", max(n-len(s), 0)) + s
}
