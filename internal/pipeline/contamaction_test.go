package pipeline

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/drydock-ml/drydock/dedup/contam"
)

func TestAnnotated(t *testing.T) {
	t.Parallel()
	hits := []ContamHit{{Finding: contam.Finding{Item: contam.ItemRef{Benchmark: "b", Index: 3}, Verdict: contam.Near, Score: 0.5}}}
	const mark = `"contamination":[{"benchmark":"b","index":3,"verdict":"near","score":0.5000}]}`
	for row, want := range map[string]string{
		`{}`:                    `{` + mark,
		`{ }`:                   `{` + mark,
		`{"a":1}`:               `{"a":1,` + mark,
		"{\"a\":{\"b\":2} } ":   `{"a":{"b":2},` + mark,
		`[{"a":1}]`:             `{"row":[{"a":1}],` + mark,
		`{"contamination":[1]}`: `{"row":{"contamination":[1]},` + mark,
		`{"a":"contamination"}`: `{"a":"contamination",` + mark,
		`"text"`:                `{"row":"text",` + mark,
	} {
		if got := string(annotated([]byte(row), hits)); got != want || !json.Valid([]byte(got)) {
			t.Errorf("%s became %s, want %s", row, got, want)
		}
	}
}

func TestMask(t *testing.T) {
	t.Parallel()
	f := []contam.Finding{{Spans: []contam.Span{
		{Start: 1, End: 3, Pointer: "/a"}, {Start: 5, End: 6, Pointer: "/a"}, {Start: 0, End: 9, Pointer: "/m/1/c~1d"},
	}}}
	for row, want := range map[string]string{
		`{"a":"零一二，四五六","b": 1}`:                         `{"a":"零…，四…六","b": 1}`,
		`{ "m" : [ {"c/d":"x"}, {"c/d":"a \"q\" \\"} ]}`: `{ "m" : [ {"c/d":"x"}, {"c/d":"…"} ]}`,
		`{"b":"a","a":7}`: `{"b":"a","a":7}`,
		`{"a":"\u96f6\u4e00\u4e8c\uff0c\u56db","z":"\u4e00"}`: `{"a":"零…，四","z":"\u4e00"}`,
	} {
		got, err := mask([]byte(row), f)
		if err != nil || string(got) != want {
			t.Errorf("%s became %s (%v), want %s", row, got, err, want)
		}
	}
}

// Masking changes the strings that are named and no other byte of the row.
func TestMaskLeavesTheRest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		fields := rapid.MapOfN(rapid.String(), rapid.String(), 1, 5).Draw(t, "fields")
		row, err := json.Marshal(map[string]any{"list": []any{fields, "x\"\\"}, "n": 1.5})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := mask(row, nil); err != nil || !bytes.Equal(got, row) {
			t.Fatalf("%s became %s: %v", row, got, err)
		}
		got, err := mask(row, []contam.Finding{{Spans: []contam.Span{{Start: 0, End: 99, Pointer: "/list/1"}}}})
		if want := strings.Replace(string(row), `"x\"\\"`, `"…"`, 1); err != nil || string(got) != want {
			t.Fatalf("%s, want %s: %v", got, want, err)
		}
	})
}

// Whatever is done with leaks, every row is in one of the two files, rows that
// stay as they are keep their bytes, and what stays leaks no more.
func TestContamActions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	clean1 := `{ "id":"k1", "text":"值班时应当注意雷达回波的变化" }` + "\n"
	leak := `{"id":"k2","messages":[{"role":"user","content":"请回答：` + checkStems[0] + `\nA. 别的"},{"role":"assistant","content":"A"}]}` + "\n"
	torn := `{"id":"k3","text":` + "\n"
	clean2 := `{"id":"k4","text":"再见"}` + "\n"
	write(t, dir, "in.jsonl", []byte(clean1+leak+torn+clean2))
	for _, c := range []struct {
		onHit            string
		clean, removed   string // beginnings of the lines that differ
		kept, gone, mask int
	}{
		{OnHitDrop, "", leak + torn, 2, 2, 0},
		{OnHitQuarantine, "", strings.TrimSuffix(leak, "}\n") + `,"contamination":[{"benchmark":"quay","index":0,"verdict":"`, 2, 2, 0},
		{OnHitAnnotate, strings.TrimSuffix(leak, "}\n") + `,"contamination":[`, torn, 3, 1, 0},
		{OnHitMask, `{"id":"k2","messages":[{"role":"user","content":"请回答：…`, torn, 3, 1, 1},
	} {
		t.Run(c.onHit, func(t *testing.T) {
			var clean, removed bytes.Buffer
			check := &ContamCheck{OnHit: c.onHit, Clean: &clean, Removed: &removed, Workers: 2}
			_, totals, _ := checkFiles(t, check, dir, "in.jsonl")
			if totals.RowsIn != 4 || totals.CleanRows != c.kept || totals.RemovedRows != c.gone || totals.UnreadRows != 1 || totals.MaskedRows != c.mask {
				t.Errorf("%+v", totals)
			}
			got := strings.TrimSuffix(strings.TrimPrefix(clean.String(), clean1), clean2)
			if !strings.HasPrefix(got, c.clean) || (c.clean == "") != (got == "") {
				t.Errorf("clean: %s", clean.String())
			}
			if !strings.HasPrefix(removed.String(), c.removed) {
				t.Errorf("removed: %s", removed.String())
			}
			if c.onHit != OnHitAnnotate {
				write(t, dir, c.onHit+".jsonl", clean.Bytes())
				if found, _, said := checkFiles(t, &ContamCheck{}, dir, c.onHit+".jsonl"); len(found) > 0 || said != "" {
					t.Errorf("still leaks: %q %s", found, said)
				}
			}
		})
	}
	write(t, dir, "rows.json", []byte("[\n "+strings.TrimSpace(clean1)+",\n {\"text\":\n \""+checkStems[1]+"\"}\n]"))
	var clean, removed bytes.Buffer
	checkFiles(t, &ContamCheck{OnHit: OnHitDrop, Clean: &clean, Removed: &removed}, dir, "rows.json")
	if d := cmp.Diff([]string{clean1, `{"text":"` + checkStems[1] + "\"}\n"}, []string{clean.String(), removed.String()}); d != "" {
		t.Error(d)
	}
}

func FuzzMask(f *testing.F) {
	f.Add([]byte(`{"a":"x\"y\\","b":[1,{"a":"z"}]}`), 0, 3)
	f.Add([]byte(`"\ud83d\ude00"`), 1, 1)
	f.Fuzz(func(t *testing.T, row []byte, start, end int) {
		if !json.Valid(row) {
			return
		}
		got, err := mask(row, []contam.Finding{{Spans: []contam.Span{{Start: start, End: end, Pointer: "/a"}}}})
		if err == nil && !json.Valid(got) {
			t.Errorf("%q became %q", row, got)
		}
	})
}
