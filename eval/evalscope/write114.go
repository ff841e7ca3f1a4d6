package evalscope

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/drydock-ml/drydock"
)

// Perf is what an answer cost.
type Perf struct {
	Known         bool    // there was an answer and its time was taken
	Seconds       float64 // from request to reply
	Input, Output int     // tokens
}

// Perf returns what the answer cost, as far as it is known.
func (p *Prediction) Perf() Perf {
	f := Perf{Known: p.Latency > 0, Seconds: p.Latency.Seconds()}
	if p.Usage != nil {
		f.Input, f.Output = p.Usage.Input, p.Usage.Output
	}
	return f
}

func appendPrediction114(dst []byte, p *Prediction) []byte {
	dst = append(dst, `{"index": `...)
	dst = strconv.AppendInt(dst, int64(p.Index), 10)
	dst = appendField(dst, "model", p.Model)
	// the id of the server's reply is not kept
	dst = append(dst, `, "model_output": {"id": null, "model": `...)
	dst = drydock.AppendJSONString(dst, p.Served)
	dst = append(dst, `, "choices": [{"message": `...)
	dst = appendMessage114(dst, p)
	dst = appendField(dst, "stop_reason", p.Reply.Finish)
	dst = append(dst, `, "logprobs": null}], "usage": `...)
	dst = appendUsage(dst, p.Usage)
	dst = append(dst, `, "time": `...)
	dst = appendSeconds(dst, p)
	dst = append(dst, `, "metadata": `...)
	if p.Reply.FinishAs == "" {
		dst = append(dst, "null"...)
	} else {
		dst = append(dst, `{"finish_reasons": {"0": `...)
		dst = append(drydock.AppendJSONString(dst, p.Reply.FinishAs), "}}"...)
	}
	dst = append(dst, `, "error": `...)
	if p.Error == "" {
		dst = append(dst, "null"...)
	} else {
		dst = drydock.AppendJSONString(dst, p.Error)
	}
	dst = append(dst, `, "perf_metrics": `...)
	dst = appendPerf(dst, p)
	dst = append(dst, `}, "messages": `...)
	dst = appendMessages114(dst, p)
	return append(dst, ", \"agent_trace\": null, \"metadata\": {}}\n"...)
}

func appendReview114(dst []byte, r *Review) []byte {
	dst = append(dst, `{"index": `...)
	dst = strconv.AppendInt(dst, int64(r.Index), 10)
	dst = append(dst, `, "target": [`...)
	dst = drydock.AppendJSONString(dst, r.Target)
	dst = append(dst, `], "messages": `...)
	answer := r.Answer
	if answer == nil {
		answer = &Prediction{Index: r.Index}
		answer.Reply.Text = r.Prediction
	}
	dst = appendMessages114(dst, answer)
	dst = append(dst, `, "agent_trace": null, "sample_score": {"score": {"value": {"accuracy": `...)
	dst = drydock.AppendJSONFloat(dst, r.Acc)
	dst = append(dst, `}, "status": "success", "judge_summary": null`...)
	dst = appendField(dst, "extracted_prediction", r.Extracted)
	dst = appendField(dst, "prediction", r.Prediction)
	dst = append(dst, `, "explanation": null, "metadata": {}, "main_score_name": "accuracy"}, "sample_id": `...)
	dst = strconv.AppendInt(dst, int64(r.SampleID), 10)
	dst = append(dst, `, "group_id": `...)
	dst = strconv.AppendInt(dst, int64(r.GroupID), 10)
	dst = append(dst, `, "generation_index": `...)
	dst = strconv.AppendInt(dst, int64(r.Generation), 10)
	return append(dst, ", \"sample_metadata\": {}}}\n"...)
}

// appendMessages114 writes what was asked and the answer.
func appendMessages114(dst []byte, p *Prediction) []byte {
	dst = append(dst, '[')
	for i, m := range p.Messages {
		sum := sha256.Sum256([]byte(p.ID + strconv.Itoa(i)))
		dst = append(dst, `{"id": `...)
		dst = drydock.AppendJSONString(dst, hex.EncodeToString(sum[:4]))
		dst = appendField(dst, "content", m.Content)
		dst = append(dst, `, "source": null, "metadata": null, "internal": null, "perf_metrics": null`...)
		dst = appendField(dst, "role", m.Role)
		if m.Role == "user" {
			dst = append(dst, `, "tool_call_id": null`...)
		}
		dst = append(dst, "}, "...)
	}
	return append(appendMessage114(dst, p), ']')
}

func appendMessage114(dst []byte, p *Prediction) []byte {
	dst = append(dst, `{"id": `...)
	dst = drydock.AppendJSONString(dst, p.ID)
	dst = append(dst, `, "content": `...)
	dst = appendContent(dst, &p.Reply, `, "reasoning_tokens": null`)
	dst = append(dst, `, "source": "generate", "metadata": null, "internal": null, "perf_metrics": `...)
	dst = appendPerf(dst, p)
	dst = append(dst, `, "role": "assistant", "tool_calls": null, "model": `...)
	dst = drydock.AppendJSONString(dst, p.Served)
	return append(dst, '}')
}

func appendSeconds(dst []byte, p *Prediction) []byte {
	if p.Latency <= 0 {
		return append(dst, "null"...)
	}
	return drydock.AppendJSONFloat(dst, p.Latency.Seconds())
}

func appendPerf(dst []byte, p *Prediction) []byte {
	f := p.Perf()
	if !f.Known {
		return append(dst, "null"...)
	}
	dst = append(dst, `{"latency": `...)
	dst = drydock.AppendJSONFloat(dst, f.Seconds)
	dst = append(dst, `, "ttft": null, "input_tokens": `...)
	dst = strconv.AppendInt(dst, int64(f.Input), 10)
	dst = append(dst, `, "output_tokens": `...)
	dst = strconv.AppendInt(dst, int64(f.Output), 10)
	return append(dst, `, "tpot": null}`...)
}
