package launch

import (
	"bytes"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/internal/fail"
)

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
