package evalscope

import (
	"strconv"
	"time"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval/benchmark"
)

// A Prediction is one row of predictions/MODEL/BENCH_default.jsonl.
type Prediction struct {
	Index  int    // position of the item, from 0
	Model  string // as asked for: --model
	Served string // as the server names it
	ID     string // 8 hex digits
	Reply  benchmark.Reply
	Usage  *benchmark.Usage // nil: null
	Error  string           // why there is no reply; empty: null
	// Messages is what was asked; only the newer schema shows it.
	Messages []drydock.Message
	// Latency is how long the answer took; 0: not known. Only the newer schema
	// shows it.
	Latency time.Duration
}

// A Review is one row of reviews/MODEL/BENCH_default.jsonl, the row that is
// handed in to the challenge.
type Review struct {
	Index      int     // position of the item, from 0
	Input      string  // as [Input] writes it
	Target     string  // the key
	Acc        float64 // 1 or 0
	Extracted  string  // the letter; "" when the rule found none
	Prediction string  // the reply, think block taken out
	SampleID   int     // as Index
	GroupID    int     // SampleID / repeats
	// Generation counts the repeats of a sample, from 0; only the newer schema
	// shows it.
	Generation int
	// Answer is the prediction that is reviewed; the newer schema shows its
	// messages.
	Answer *Prediction
}

// Input writes messages the way a review shows them: "**User**: ", a line end,
// the text; an empty line between messages.
func Input(messages []drydock.Message) string {
	var b []byte
	for i, m := range messages {
		if i > 0 {
			b = append(b, "\n\n"...)
		}
		b = append(b, "**"...)
		if m.Role != "" {
			b = append(b, m.Role[0]&^0x20)
			b = append(b, m.Role[1:]...)
		}
		b = append(b, "**: \n"...)
		b = append(b, m.Content...)
	}
	return string(b)
}

// AppendReview appends one row and its line end.
func AppendReview(dst []byte, r *Review) []byte {
	dst = append(dst, `{"index": `...)
	dst = strconv.AppendInt(dst, int64(r.Index), 10)
	dst = appendField(dst, "input", r.Input)
	dst = appendField(dst, "target", r.Target)
	dst = append(dst, `, "sample_score": {"score": {"value": {"acc": `...)
	dst = drydock.AppendJSONFloat(dst, r.Acc)
	dst = append(dst, '}')
	dst = appendField(dst, "extracted_prediction", r.Extracted)
	dst = appendField(dst, "prediction", r.Prediction)
	dst = append(dst, `, "explanation": null, "metadata": {}, "main_score_name": null}, "sample_id": `...)
	dst = strconv.AppendInt(dst, int64(r.SampleID), 10)
	dst = append(dst, `, "group_id": `...)
	dst = strconv.AppendInt(dst, int64(r.GroupID), 10)
	return append(dst, ", \"sample_metadata\": {}}}\n"...)
}

// AppendPrediction appends one row and its line end.
func AppendPrediction(dst []byte, p *Prediction) []byte {
	dst = append(dst, `{"index": `...)
	dst = strconv.AppendInt(dst, int64(p.Index), 10)
	dst = appendField(dst, "model", p.Model)
	dst = append(dst, `, "model_output": {"model": `...)
	dst = drydock.AppendJSONString(dst, p.Served)
	dst = append(dst, `, "choices": [{"message": `...)
	dst = appendMessage(dst, p)
	dst = appendField(dst, "stop_reason", p.Reply.Finish)
	dst = append(dst, `, "logprobs": null}], "usage": `...)
	dst = appendUsage(dst, p.Usage)
	dst = append(dst, `, "time": null, "metadata": null, "error": `...)
	if p.Error == "" {
		dst = append(dst, "null"...)
	} else {
		dst = drydock.AppendJSONString(dst, p.Error)
	}
	dst = append(dst, `}, "messages": [`...)
	dst = appendMessage(dst, p)
	return append(dst, "], \"metadata\": {}}\n"...)
}

func appendMessage(dst []byte, p *Prediction) []byte {
	dst = append(dst, `{"id": `...)
	dst = drydock.AppendJSONString(dst, p.ID)
	dst = append(dst, `, "content": `...)
	dst = appendContent(dst, &p.Reply, "")
	dst = append(dst, `, "source": "generate", "metadata": null, "internal": null, "role": "assistant", "tool_calls": null, "model": `...)
	dst = drydock.AppendJSONString(dst, p.Served)
	return append(dst, '}')
}

// appendContent writes a plain string, or parts when there is a reasoning part
// or the text is a refusal.
// more stands at the end of the reasoning part.
func appendContent(dst []byte, r *benchmark.Reply, more string) []byte {
	if r.Think == nil && !r.Refused {
		return drydock.AppendJSONString(dst, r.Text)
	}
	dst = append(dst, '[')
	if r.Think != nil {
		dst = append(dst, `{"internal": null, "type": "reasoning", "reasoning": `...)
		dst = drydock.AppendJSONString(dst, r.Reasoning)
		dst = append(dst, `, "signature": `...)
		if r.Think.Signature == nil {
			dst = append(dst, "null"...)
		} else {
			dst = drydock.AppendJSONString(dst, *r.Think.Signature)
		}
		dst = append(dst, `, "redacted": `...)
		dst = strconv.AppendBool(dst, r.Think.Redacted)
		dst = append(append(dst, more...), "}, "...)
	}
	dst = append(dst, `{"internal": null, "type": "text", "text": `...)
	dst = drydock.AppendJSONString(dst, r.Text)
	if r.Refused {
		return append(dst, `, "refusal": true}]`...)
	}
	return append(dst, `, "refusal": null}]`...)
}

func appendUsage(dst []byte, u *benchmark.Usage) []byte {
	if u == nil {
		return append(dst, "null"...)
	}
	dst = append(dst, `{"input_tokens": `...)
	dst = strconv.AppendInt(dst, int64(u.Input), 10)
	dst = append(dst, `, "output_tokens": `...)
	dst = strconv.AppendInt(dst, int64(u.Output), 10)
	dst = append(dst, `, "total_tokens": `...)
	dst = strconv.AppendInt(dst, int64(u.Total), 10)
	dst = append(dst, `, "input_tokens_cache_write": null, "input_tokens_cache_read": `...)
	dst = appendInt(dst, u.CacheRead)
	dst = append(dst, `, "reasoning_tokens": `...)
	dst = appendInt(dst, u.Reasoning)
	return append(dst, '}')
}

func appendInt(dst []byte, n *int) []byte {
	if n == nil {
		return append(dst, "null"...)
	}
	return strconv.AppendInt(dst, int64(*n), 10)
}

func appendField(dst []byte, name, value string) []byte {
	dst = append(dst, `, "`...)
	dst = append(dst, name...)
	dst = append(dst, `": `...)
	return drydock.AppendJSONString(dst, value)
}
