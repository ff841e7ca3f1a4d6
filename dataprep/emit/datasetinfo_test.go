package emit_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/dataprep/emit"
)

func TestMergeDatasetInfo(t *testing.T) {
	t.Parallel()
	entry := emit.DatasetInfo("船𠮷.jsonl", emit.Pretrain)
	for _, c := range []struct{ old, want string }{
		{"", `{"b":{"file_name":"船𠮷.jsonl","columns":{"prompt":"text"}}}`},
		{`{"a":{"x":1.50},"b":1,"c":"船"}`, `{"a":{"x":1.50},"b":{"file_name":"船𠮷.jsonl","columns":{"prompt":"text"}},"c":"船"}`},
		{`[1]`, ""},
		{`{`, ""},
	} {
		got, err := emit.MergeDatasetInfo([]byte(c.old), "b", entry)
		if (err == nil) != (c.want != "") || err == nil && !sameValue(got, []byte(c.want)) {
			t.Errorf("%s: %s, %v", c.old, got, err)
		}
		for _, b := range got {
			if b >= 0x80 {
				t.Errorf("not ASCII: %s", got)
				break
			}
		}
	}
	for _, task := range []emit.Task{emit.SFT, emit.DPO, emit.KTO, emit.Pretrain} {
		if b := emit.DatasetInfo("a", task); !json.Valid(b) {
			t.Errorf("%s", b)
		}
	}
	want := `{"file_name":"a","formatting":"sharegpt","columns":{"messages":"messages","kto_tag":"label","tools":"tools"},"tags":`
	if b := emit.DatasetInfo("a", emit.KTO, "tools"); !strings.HasPrefix(string(b), want) || !json.Valid(b) {
		t.Errorf("%s", b)
	}
}
