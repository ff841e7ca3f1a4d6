package launch

import (
	"bytes"
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/golden"
	"github.com/drydock-ml/drydock/qwen3"
)

// Rows of messages become the rendered text, parted in front of the last answer.
func TestSegmentedRows(t *testing.T) {
	t.Parallel()
	const ready = `{"segments":[{"label":true,"text":"a"}]}`
	in := "\ufeff" + `{"id":"1","messages":[{"role":"user","content":"q"},{"role":"assistant","content":"<think>\nr\n</think>\n\na"},{"role":"user","content":"\u95ee"},{"role":"assistant","content":"b"}],"tools":"[{\"name\":\"f\"}]"}` + "\r\n\n" + ready
	d := Derived{From: "t.jsonl", Layout: layoutSegments}
	var out bytes.Buffer
	if err := d.Write(&out, strings.NewReader(in)); err != nil {
		t.Fatal(err)
	}
	got, rest, _ := strings.Cut(out.String(), "\n")
	if rest != ready+"\n" {
		t.Errorf("got\n%s", out.String())
	}
	for _, part := range []string{
		`{"segments":[{"label":false,"text":"<|im_start|>system\n# Tools`, `<tools>\n{\"name\": \"f\"}\n</tools>`,
		`<|im_start|>assistant\na<|im_end|>\n<|im_start|>user\n问<|im_end|>\n<|im_start|>assistant\n"},{"label":true,"text":"<think>\n\n</think>\n\nb<|im_end|>\n"}]}`,
	} {
		if !strings.Contains(got, part) {
			t.Errorf("%s is missing in\n%s", part, got)
		}
	}
	for name, row := range map[string]string{
		"no answer": `{"messages":[{"role":"user","content":"q"}]}`, "running text": `{"text":"a"}`, "no JSON": `{`,
		"two answers": `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"},{"role":"assistant","content":"b"}]}`,
		"functions":   `{"functions":[{}],"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}]}`,
	} {
		err := d.Write(&out, strings.NewReader(ready+"\n"+row))
		if e, ok := err.(*fail.Error); !ok || e.Where.Line != 2 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is made of each row that axolotl was recorded with is, encoded by segments,
// what it was fed.
func TestSegmentsAsFed(t *testing.T) {
	t.Parallel()
	recorded := golden.ReadFile(t, filepath.Join("parity", "testdata", "fed", "axolotl.jsonl"))
	n := 0
	for rows := json.NewDecoder(bytes.NewReader(recorded)); ; {
		var r struct {
			Kind, Contract, Row string
			Samples             []struct {
				IDs  []int32
				Loss [][2]int
			}
		}
		if err := rows.Decode(&r); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if r.Kind != "axolotl" || r.Contract == "empty-think-masked" {
			continue
		}
		n++
		var out bytes.Buffer
		if err := (Derived{Layout: layoutSegments}).Write(&out, strings.NewReader(r.Row)); err != nil {
			t.Fatal(err)
		}
		var got struct {
			Segments []struct {
				Label bool
				Text  string
			}
		}
		if err := json.Unmarshal(out.Bytes(), &got); err != nil || len(got.Segments) != 2 || got.Segments[0].Label || !got.Segments[1].Label {
			t.Fatalf("%s: %v\n%s", r.Row, err, out.String())
		}
		ids := qwen3.Encode(nil, got.Segments[0].Text)
		want := [][2]int{{len(ids), len(r.Samples[0].IDs)}}
		if ids = qwen3.Encode(ids, got.Segments[1].Text); !slices.Equal(ids, r.Samples[0].IDs) || !slices.Equal(r.Samples[0].Loss, want) {
			t.Errorf("%s %s:\n got %q\nwant %q, loss %v", r.Contract, r.Row, qwen3.Decode(ids), qwen3.Decode(r.Samples[0].IDs), r.Samples[0].Loss)
		}
	}
	if n == 0 {
		t.Error("no rows are recorded")
	}
}

// Rows of messages become prompt and completion; rows that are both already stay
// as they are.
func TestDerivedRows(t *testing.T) {
	t.Parallel()
	const ready = `{"prompt":[{"role":"user","content":"q"}],"completion":[{"role":"assistant","content":"a"}],"chat_template_kwargs":{"enable_thinking":false}}`
	in := "\ufeff" + `{"id":"1","messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}]}` + "\n\n" + ready
	var out bytes.Buffer
	if err := (Derived{From: "t.jsonl", NoThinking: true}).Write(&out, strings.NewReader(in)); err != nil {
		t.Fatal(err)
	}
	if want := ready + "\n" + ready + "\n"; out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	for name, row := range map[string]string{
		"no answer": `{"messages":[{"role":"user","content":"q"}]}`, "neither": `{"text":"a"}`, "no JSON": `{`, "no completion": `{"prompt":"q"}`,
	} {
		err := (Derived{From: "t.jsonl"}).Write(&out, strings.NewReader(ready+"\n"+row))
		if e, ok := err.(*fail.Error); !ok || e.Where.Line != 2 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
