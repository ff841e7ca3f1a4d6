package parity_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/launch/feed"
	"github.com/drydock-ml/drydock/launch/parity"
)

const turnsOf = `"messages":[{"role":"user","content":"问"},{"role":"assistant","content":"<think>\n\n</think>\n\n[C]"}]`

// Columns that datasets cannot load are found by the lines that disagree.
func TestTypeDrift(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		rows []string
		want []string
	}{
		{"one type", []string{`{"id":"a",` + turnsOf + `}`, `{"id":"b",` + turnsOf + `}`}, nil},
		{"whole numbers and others are one", []string{`{"n":1,` + turnsOf + `}`, `{"n":1.5,` + turnsOf + `}`}, nil},
		{"null is any", []string{`{"n":null,` + turnsOf + `}`, `{"n":"x",` + turnsOf + `}`}, nil},
		{"missing is null", []string{`{` + turnsOf + `}`, `{"n":"x",` + turnsOf + `}`}, nil},
		{"ids", []string{`{"id":1,` + turnsOf + `}`, `{"id":"2a",` + turnsOf + `}`}, []string{"type_drift 2 /id: string here, number in line 1"}},
		{"in a list", []string{`{` + turnsOf + `,"m":[{"a":[1]}]}`, `{` + turnsOf + `,"m":[{"a":[]},{"a":["x"]}]}`}, []string{"type_drift 2 /m/*/a/*: string here, number in line 1"}},
		{"object and text", []string{`{"a/b":{},` + turnsOf + `}`, `{"a/b":"x",` + turnsOf + `}`, `{"a/b":true,` + turnsOf + `}`}, []string{"type_drift 2 /a~1b: string here, object in line 1"}},
	} {
		var got []string
		for _, f := range check(t, strings.Join(c.rows, "\n"), "trl", emit.EmptyThink, parity.Options{}).Findings {
			for _, p := range f.Places {
				got = append(got, fmt.Sprintf("%s %d %s: %s", f.ID, p.Line, p.Pointer, p.Detail))
			}
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

// A column of which the first 10 MB tell nothing has no type.
func TestColumnThatIsEmptyAtFirst(t *testing.T) {
	t.Parallel()
	row := `{"note":null,"tags":[],"pad":"` + strings.Repeat("x", 100_000) + `",` + turnsOf + "}\n"
	for n, want := range map[int]int{90: 0, 110: 2} {
		rows := strings.Repeat(row, n) + `{"note":"late","tags":["a"],"pad":"",` + turnsOf + "}\n"
		r := check(t, rows, "trl", emit.EmptyThink, parity.Options{Workers: 3})
		got := 0
		for _, f := range r.Findings {
			if f.ID == "type_drift" {
				got = len(f.Places)
				if p := f.Places[0]; p.Line != n+1 || p.Pointer != "/note" || p.Detail != "null, empty or missing in the first 10 MB, string from here" {
					t.Errorf("%+v", p)
				}
			}
		}
		if got != want {
			t.Errorf("after %d rows: %d columns, want %d", n, got, want)
		}
	}
}

func TestLintsOfTrainers(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("1 x ", 60)
	asked := `{"messages":[{"role":"user","content":"` + long + `"},{"role":"assistant","content":"[C]"}]}`
	answered := `{"messages":[{"role":"user","content":"问"},{"role":"assistant","content":"` + long + `"}]}`
	for _, c := range []struct {
		name, trainer, row string
		max                int
		want               string
	}{
		{"a column swift maps", "swift", `{"question":"x",` + turnsOf + `}`, 0, "reserved_column /question"},
		{"id is nobody's", "swift", `{"id":"x","source":"y",` + turnsOf + `}`, 0, ""},
		{"a pair's own column", "swift", `{"rejected_response":"x",` + turnsOf + `}`, 0, ""},
		{"a column that changes TRL's mode", "trl", `{"text":"x",` + turnsOf + `}`, 0, "reserved_column /text"},
		{"alpaca's own", "swift", `{"instruction":"问","input":"","output":"[C]","history":[]}`, 0, ""},
		{"an empty question", "trl", `{"messages":[{"role":"user","content":" "},{"role":"assistant","content":"[C]"}]}`, 0, "empty_turn /messages/0/content"},
		{"two questions", "swift", `{"messages":[{"role":"user","content":"a"},{"role":"user","content":"b"},{"role":"assistant","content":"[C]"}]}`, 0, "merged /messages/1/content: user"},
		{"the answer is cut off", "trl", asked, 64, "answer_cut"},
		{"a part of it is left", "trl", answered, 64, ""},
		{"LLaMA-Factory keeps a part", "llamafactory", asked, 64, ""},
	} {
		got := ""
		for _, f := range found(check(t, c.row, c.trainer, emit.EmptyThink, parity.Options{MaxLength: c.max})) {
			if id, _, _ := strings.Cut(f, " "); !strings.HasPrefix(id, "too_long") && id != "tokens_differ" {
				got += f
			}
		}
		got = strings.TrimSuffix(got, ":")
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	for _, name := range feed.Trainers() {
		if len(emit.ReservedColumns(name)) == 0 {
			t.Errorf("%s takes no column for its own", name)
		}
	}
}
