package launch

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// frame is a progress bar of the Hugging Face trainer: it has no words before
// the percentage, as those of data loading have.
var frame = regexp.MustCompile(`^\s*\d+%\|[^|]*\|\s*(\d+)/(\d+) \[`)

// parseLine reads a line of any trainer built on the Hugging Face one:
//
//   - its dict: {'loss': 0.5, 'learning_rate': 1e-05, 'epoch': 0.1}, numbers bare
//     or quoted, alone or behind a progress bar;
//   - a JSON row of LLaMA-Factory's trainer_log.jsonl (current_steps, total_steps,
//     lr) or of ms-swift's logging.jsonl ("global_step/max_steps": "5/300");
//   - a row of log_history in trainer_state.json, whose step is "step";
//   - a progress bar.
func parseLine(from string, line []byte) (Event, bool) {
	e := Event{From: from}
	if i := bytes.IndexByte(line, '{'); i >= 0 {
		if fields := dict(line[i:]); fields != nil && e.take(fields) {
			return e, true
		}
	}
	m := frame.FindSubmatch(line)
	if m == nil {
		return Event{}, false
	}
	e.Step, _ = strconv.Atoi(string(m[1]))
	e.MaxSteps, _ = strconv.Atoi(string(m[2]))
	return e, e.MaxSteps > 0
}

// take copies the fields an event knows; ok is false when it knows none that
// says where training stands.
func (e *Event) take(fields map[string]string) (ok bool) {
	number := func(names ...string) *float64 {
		for _, n := range names {
			if x, err := strconv.ParseFloat(fields[n], 64); err == nil && x-x == 0 { // finite
				return &x
			}
		}
		return nil
	}
	integer := func(name string) int {
		n, err := strconv.Atoi(fields[name])
		if err != nil || n < 0 {
			return 0
		}
		return n
	}
	e.Loss, e.EvalLoss = number("loss"), number("eval_loss")
	if x, err := strconv.ParseFloat(fields["loss"], 64); err == nil && x-x != 0 {
		e.NotFinite = true
	}
	e.LR, e.GradNorm, e.Epoch = number("learning_rate", "lr"), number("grad_norm"), number("epoch")
	e.Step, e.MaxSteps = max(integer("current_steps"), integer("step")), integer("total_steps")
	if step, total, found := strings.Cut(fields["global_step/max_steps"], "/"); found {
		e.Step, _ = strconv.Atoi(step)
		e.MaxSteps, _ = strconv.Atoi(total)
	}
	if x := number("num_tokens", "total_tokens", "tokens/total"); x != nil && *x > 0 && *x < 1<<62 {
		e.Tokens = int64(*x)
	}
	if x := number("memory(GiB)", "memory/max_allocated (GiB)", "vram_allocated"); x != nil {
		e.Memory = *x
	}
	return e.figures() || e.Step > 0 && e.MaxSteps > 0
}

// dict reads a flat JSON object or Python dict into its scalars as text. It
// returns nil for anything else; nested values are skipped.
func dict(b []byte) map[string]string {
	if b[0] == '{' && len(b) > 1 && bytes.IndexByte(b, '\'') < 0 {
		var raw map[string]json.RawMessage
		if json.Unmarshal(bytes.TrimSpace(b), &raw) == nil {
			out := make(map[string]string, len(raw))
			for k, v := range raw {
				var s string
				if json.Unmarshal(v, &s) != nil {
					s = string(v)
				}
				out[k] = s
			}
			return out
		}
	}
	return pythonDict(b)
}

func pythonDict(b []byte) map[string]string {
	s := strings.TrimSpace(string(b))
	if !strings.HasPrefix(s, "{") || len(s) > 1<<16 {
		return nil
	}
	out := map[string]string{}
	for s = s[1:]; ; {
		s = strings.TrimLeft(s, " ,")
		if s == "" || s[0] == '}' {
			return out
		}
		key, rest, ok := quoted(s)
		if !ok {
			return nil
		}
		rest = strings.TrimLeft(rest, " ")
		if !strings.HasPrefix(rest, ":") {
			return nil
		}
		rest = strings.TrimLeft(rest[1:], " ")
		value, after, ok := quoted(rest)
		if !ok {
			i := strings.IndexAny(rest, ",}")
			if i < 0 || strings.HasPrefix(rest, "{") || strings.HasPrefix(rest, "[") {
				return nil
			}
			value, after = strings.TrimSpace(rest[:i]), rest[i:]
		}
		out[key] = value
		s = after
	}
}

// quoted cuts a quoted word off the front.
func quoted(s string) (word, rest string, ok bool) {
	if s == "" || s[0] != '\'' && s[0] != '"' {
		return "", s, false
	}
	i := strings.IndexByte(s[1:], s[0])
	if i < 0 {
		return "", s, false
	}
	return s[1 : 1+i], s[2+i:], true
}
