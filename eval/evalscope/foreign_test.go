package evalscope_test

import (
	"encoding/binary"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock/eval/evalscope"
)

// The rows of other programs, in the shapes these write; the questions are ours.
// lm-eval: EvaluationTracker's samples_TASK_TIME.jsonl of 0.4.9, generation and
// multiple choice, numbers as texts as it stores them. OpenCompass: predictions of
// its generation and its perplexity inferencer, 0.5. swift: infer_result of 3.x.
const (
	lmEvalGenerated = `{"doc_id": 1, "doc": {"question": "左舷灯的颜色", "choices": ["红", "绿"], "answer": 0}, "target": "A", "arguments": {"gen_args_0": {"arg_0": "问", "arg_1": {"until": ["\\n"]}}}, "resps": [["<think>甲</think>[A]"]], "filtered_resps": ["A"], "filter": "strict-match", "metrics": ["exact_match"], "doc_hash": "0", "exact_match": 1.0}
{"doc_id": 1, "doc": {"question": "左舷灯的颜色", "choices": ["红", "绿"], "answer": 0}, "target": "A", "arguments": {}, "resps": [["<think>甲</think>[A]"]], "filtered_resps": ["A"], "filter": "flexible-extract", "metrics": ["exact_match"], "exact_match": 1.0}
{"doc_id": 0, "doc": {"question": "右舷灯的颜色", "choices": ["红", "绿"], "answer": 1}, "target": "B", "arguments": {}, "resps": [["[A]"]], "filtered_resps": ["A"], "filter": "strict-match", "metrics": ["exact_match"], "exact_match": 0.0}
`
	lmEvalChosen = `{"doc_id": 0, "doc": {"question": "右舷灯的颜色", "A": "红", "B": "绿", "C": "白"}, "target": "1", "arguments": {"gen_args_0": {"arg_0": "问", "arg_1": " A"}}, "resps": [[["-2.5", "False"]], [["-0.25", "True"]], [["-7.0", "False"]]], "filtered_resps": [["-2.5", "False"], ["-0.25", "True"], ["-7.0", "False"]], "filter": "none", "metrics": ["acc"], "acc": 1.0}
{"doc_id": 1, "doc": {"sentence": "x"}, "target": 0, "arguments": [["问", " A"], ["问", " B"]], "resps": [[[-2.5, false]], [[-3.25, false]]], "filtered_resps": [[-2.5, false], [-3.25, false]], "filter": "none", "acc": 1.0}
`
	openCompass = `{
    "0": {
        "origin_prompt": [{"role": "HUMAN", "prompt": "问"}],
        "prediction": "答案[B]",
        "gold": "B"
    },
    "2": {"origin_prompt": "问", "prediction": ["[C]"], "gold": ["A"]},
    "1": {"label: A": {"testing input": "x", "prompt": "y", "PPL": 1.5}, "label: B": {"PPL": 2.0}, "prediction": "A", "gold": "A"}
}
`
	swiftInfer = `{"response": "[A]", "labels": "A", "logprobs": null, "messages": [{"role": "user", "content": "问一"}, {"role": "assistant", "content": "[A]"}]}
{"response": "<think>\n</think>[B]", "labels": null, "logprobs": null, "messages": [{"role": "system", "content": "系统"}, {"role": "user", "content": "问二"}]}
`
	ownResults = `{"index": 4, "question": "左舷灯", "A": "红", "B": "绿", "ground_truth": "A", "prediction": "A", "is_correct": true, "raw_response": "[A]"}
{"index": 5, "question": "右舷灯", "A": "红", "B": "绿", "ground_truth": "B", "prediction": "", "is_correct": false, "raw_response": "绿"}
`
)

func TestReadOtherPrograms(t *testing.T) {
	t.Parallel()
	type seen struct {
		Line, Index                       int
		Text, Choice, Target, Stem, Input string
		Options                           int
		Scored                            bool
		Acc                               float64
	}
	for name, c := range map[string]struct {
		data     string
		kind     evalscope.Kind
		want     []seen
		problems []string
	}{
		"lm-eval generated": {lmEvalGenerated, evalscope.KindLMEval, []seen{
			{Line: 1, Index: 1, Text: "[A]", Target: "A", Stem: "左舷灯的颜色", Options: 2, Scored: true, Acc: 1},
			{Line: 3, Index: 0, Text: "[A]", Target: "B", Stem: "右舷灯的颜色", Options: 2, Scored: true},
		}, []string{"other_filter"}},
		"lm-eval chosen": {lmEvalChosen, evalscope.KindLMEval, []seen{
			{Line: 1, Index: 0, Choice: "B", Target: "B", Stem: "右舷灯的颜色", Options: 3, Scored: true, Acc: 1},
			{Line: 2, Index: 1, Choice: "A", Target: "A", Options: 2, Scored: true, Acc: 1},
		}, nil},
		"OpenCompass": {openCompass, evalscope.KindOpenCompass, []seen{
			{Line: 2, Index: 0, Text: "答案[B]", Target: "B", Input: "问"}, {Line: 7, Index: 2, Text: "[C]", Target: "A", Input: "问"}, {Line: 8, Index: 1, Choice: "A", Target: "A"},
		}, nil},
		"OpenCompass, in parts": {`{"0":{"prediction":"[A]","gold":"A"},"1":{"prediction":"[B]","gold":"B"}}{"0":{"prediction":"[C]","gold":"C"}}` + "\n" + `{"0":{"prediction":"[D]","gold":"D"}}`, evalscope.KindOpenCompass, []seen{
			{Line: 1, Index: 0, Text: "[A]", Target: "A"}, {Line: 1, Index: 1, Text: "[B]", Target: "B"}, {Line: 1, Index: 2, Text: "[C]", Target: "C"}, {Line: 2, Index: 3, Text: "[D]", Target: "D"},
		}, nil},
		"OpenCompass, and more": {`{"0":{"prediction":"[A]","gold":"A"}} 7`, evalscope.KindOpenCompass, []seen{{Line: 1, Index: 0, Text: "[A]", Target: "A"}}, []string{"bad_json"}},
		"OpenCompass, torn": {openCompass[:len(openCompass)-60], evalscope.KindOpenCompass, []seen{
			{Line: 2, Index: 0, Text: "答案[B]", Target: "B", Input: "问"}, {Line: 7, Index: 2, Text: "[C]", Target: "A", Input: "问"},
		}, []string{"torn"}},
		"swift": {swiftInfer, evalscope.KindSwift, []seen{
			{Line: 1, Index: 0, Text: "[A]", Target: "A", Input: "**User**: \n问一"}, {Line: 2, Index: 1, Text: "[B]", Input: "**System**: \n系统\n\n**User**: \n问二"},
		}, nil},
		"results of one's own": {ownResults, evalscope.KindOutputs, []seen{
			{Line: 1, Index: 4, Text: "[A]", Target: "A", Stem: "左舷灯", Options: 2, Scored: true, Acc: 1},
			{Line: 2, Index: 5, Text: "绿", Target: "B", Stem: "右舷灯", Options: 2, Scored: true},
		}, nil},
		"target as a number":          {`{"index":0,"output":"[B]","choices":["x","y"],"answer":1}` + "\n", evalscope.KindOutputs, []seen{{Line: 1, Text: "[B]", Target: "B", Options: 2}}, nil},
		"target as a text":            {`{"idx":"0","response":"[B]","options":["x","y"],"label":"y"}` + "\n", evalscope.KindOutputs, []seen{{Line: 1, Text: "[B]", Target: "B", Options: 2}}, nil},
		"a place as pandas writes it": {`{"index":3.0,"output":"[B]","key":1}` + "\n" + `{"index":1e2,"output":"[B]"}` + "\n", evalscope.KindOutputs, []seen{{Line: 1, Index: 3, Text: "[B]"}, {Line: 2, Index: 100, Text: "[B]"}}, nil},
		"no places":                   {`{"index":0.5,"output":"x"}` + "\n" + `{"index":true,"output":"x"}` + "\n" + `{"index":1e30,"output":"x"}` + "\n", evalscope.KindEmpty, nil, []string{"missing_field", "missing_field", "missing_field"}},
		"what Python calls numbers": {
			`{"doc_id":0,"target":1,"resps":[[[-Infinity,false]],[[-3.5,true]]],"acc":NaN}` + "\n" + `{"doc_id":1,"target":0,"resps":[[[NaN,false]],[[-Infinity,true]]],"acc":0}` + "\n" + `{"doc_id":2,"target":"A","resps":[["\"NaN\", -Infinity [A]"]],"acc":1}` + "\n",
			evalscope.KindLMEval,
			[]seen{{Line: 1, Choice: "B", Target: "B", Options: 2}, {Line: 3, Index: 2, Text: `"NaN", -Infinity [A]`, Target: "A", Scored: true, Acc: 1}},
			[]string{"missing_field"},
		},
		"several replies": {`{"doc_id":0,"target":"A","resps":[["[A]","[B]"]]}` + "\n", evalscope.KindLMEval, []seen{{Line: 1, Text: "[A]", Target: "A"}}, []string{"more_replies"}},
		"no objects":      {"7\n[8]\n\"x\"\n", evalscope.KindEmpty, nil, []string{"bad_json", "bad_json", "bad_json"}},
		"UTF-16":          {"\xff\xfe" + wide(`{"index":0,"output":"答[B]"}`+"\n"), evalscope.KindOutputs, []seen{{Line: 1, Text: "答[B]"}}, nil},
		"UTF-16, no mark": {wide(`{"index":0,"output":"[B]"}` + "\n"), evalscope.KindEmpty, nil, []string{"not_utf8"}},
		"compressed":      {"\x1f\x8b\x08\x00", evalscope.KindEmpty, nil, []string{"not_utf8"}},
		"EvalScope's, of another kind": {
			`{"index":0,"messages":[{"role":"user","content":[{"type":"text","text":"问"}]},{"role":"assistant","content":"[A]"}],"target":["A","C"],"sample_score":{"score":{"value":{"acc":true},"extracted_prediction":["A","C"],"prediction":"[A]"}}}` + "\n" +
				`{"index":1,"input":"问","target":"A","sample_score":{"score":{"value":{"acc":null},"extracted_prediction":null,"prediction":"[A]"}}}` + "\n",
			evalscope.KindReviews,
			[]seen{{Line: 1, Text: "[A]", Target: "AC", Input: "**User**: \n问", Scored: true, Acc: 1}, {Line: 2, Index: 1, Text: "[A]", Target: "A", Input: "问"}},
			nil,
		},
	} {
		kind, rows, problems := evalscope.Read([]byte(c.data))
		var got []seen
		for _, r := range rows {
			s := seen{Line: r.Line, Index: r.Index, Text: r.Text, Target: r.Target, Input: r.Input, Scored: r.Scored, Acc: r.Acc}
			if r.Reply != nil {
				s.Choice = r.Reply.Choice
			}
			if r.Question != nil {
				s.Stem, s.Options = r.Question.Stem, len(r.Question.Options)
			}
			got = append(got, s)
		}
		var codes []string
		for _, p := range problems {
			codes = append(codes, p.Code)
		}
		if kind != c.kind {
			t.Errorf("%s: kind %s", name, kind)
		}
		if d := cmp.Diff(c.want, got) + cmp.Diff(c.problems, codes); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// wide writes a text as UTF-16, the low byte first.
func wide(s string) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return string(b)
}
