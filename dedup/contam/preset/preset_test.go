package preset

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/eval/benchmark"
)

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/interop/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func sets(t testing.TB) []contam.Set {
	t.Helper()
	items, err := benchmark.ReadItems("bench.json", readFile(t, "bench.json"))
	if err != nil {
		t.Fatal(err)
	}
	return []contam.Set{{Ref: benchmark.Ref{Name: "bench"}, Items: items}}
}

func index(t testing.TB, name string) *Index {
	t.Helper()
	ix, err := New(name, sets(t))
	if err != nil {
		t.Fatal(err)
	}
	return ix
}

// TestInterop holds the rules to what their programs answered on the same rows;
// scripts/interop/contam_peers.py asks them again.
func TestInterop(t *testing.T) {
	t.Parallel()
	var ids []string
	var rows [][]byte
	for sc := bufio.NewScanner(bytes.NewReader(readFile(t, "flat.jsonl"))); sc.Scan(); {
		var r struct{ ID string }
		if err := json.Unmarshal(sc.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		ids, rows = append(ids, r.ID), append(rows, slices.Clone(sc.Bytes()))
	}
	for _, name := range []string{"decon", "lm-eval", "datatrove", "datatrove-query"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := map[string][]int{} // items are known of decon only
			golden := readFile(t, name+".json")
			var hit []string
			if json.Unmarshal(golden, &hit) == nil {
				for _, id := range hit {
					want[id] = nil
				}
			} else if err := json.Unmarshal(golden, &want); err != nil {
				t.Fatal(err)
			}
			if len(want) < 20 || len(want) > len(ids)*2/3 {
				t.Fatalf("the golden has %d of %d rows and proves little", len(want), len(ids))
			}
			s := index(t, name).Scanner()
			got := map[string][]int{}
			for i, row := range rows {
				found, err := s.Row(row)
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range found {
					got[ids[i]] = append(got[ids[i]], f.Item.Index)
				}
				slices.Sort(got[ids[i]])
				if name != "decon" && got[ids[i]] != nil {
					got[ids[i]] = nil
				} else if len(found) == 0 {
					delete(got, ids[i])
				}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("(-%s +preset):\n%s", name, d)
			}
		})
	}
}

// The evidence points at what matched, in the field it stands in.
func TestSpans(t *testing.T) {
	t.Parallel()
	const stem = "A stowaway who was found on the second day at sea under the awning of the launch must be reported"
	items := []benchmark.Item{{ID: "4", Index: 4, Gold: []string{"at once"}}}
	items[0].Question.Stem = stem
	other := benchmark.Item{ID: "5", Index: 5, Gold: []string{"no"}} // a lone reference has no weight for decon
	other.Question.Stem = "Whether the launch had an awning at all is something that nobody aboard could say for certain"
	items = append(items, other)
	row := `{"id":"r","messages":[{"role":"user","content":"前言。 ` + strings.ToUpper(stem) + `!"},{"role":"assistant","content":"At once."}]}`
	for _, name := range []string{"gpt3", "lm-eval", "datatrove-query", "decon"} {
		ix, err := New(name, []contam.Set{{Ref: benchmark.Ref{Name: "b"}, Items: items}})
		if err != nil {
			t.Fatal(err)
		}
		found, err := ix.Scanner().Row([]byte(row))
		if err != nil || len(found) != 1 {
			t.Errorf("%s: %d findings, %v", name, len(found), err)
			continue
		}
		f := found[0]
		if f.Item != (contam.ItemRef{Benchmark: "b", Index: 4}) || f.Record.ID != "r" || f.Record.Pointer != "/messages/0/content" || !f.Fail {
			t.Errorf("%s: %+v", name, f)
		}
		text := []rune("前言。 " + strings.ToUpper(stem) + "!")
		if got := strings.TrimSpace(string(text[f.Spans[0].Start:f.Spans[0].End])); !strings.HasPrefix(got, "A STOWAWAY") {
			t.Errorf("%s: the span is %q", name, got)
		}
		if !(f.Score > 0 && f.Score <= 1.0001) || !strings.HasPrefix(f.Rule, "preset:"+name+"@") || f.Config != ix.ConfigHash() {
			t.Errorf("%s: score %v, rule %s", name, f.Score, f.Rule)
		}
	}
}

// Short items have no reference by these rules; the list of them is what a user
// must see.
func TestBlind(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{"gpt3": 0, "lm-eval": 0, "decon": 1, "datatrove": 1} {
		got := len(index(t, name).Blind())
		if got < want || got == len(sets(t)[0].Items) {
			t.Errorf("%s is blind to %d items", name, got)
		}
	}
	items := []benchmark.Item{{}}
	items[0].Question.Stem = "缆桩的颜色是______。"
	for _, r := range Rules() {
		ix, err := New(r.Name, []contam.Set{{Items: items}})
		if err != nil {
			t.Fatal(err)
		}
		if len(ix.Blind()) != 1 || ix.Items() != 1 {
			t.Errorf("%s finds an item of seven characters", r.Name)
		}
	}
}

func TestSimpleWords(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][]string{
		"It cannot be 12,5km or ３０m.": {"it", "can", "not", "be", "0", "km", "or", "0", "m"},
		"θ₀ is 4.6° at 10°C — “x”":    {"θ₀", "is", "0", "°", "at", "0", "°", "c", "x"},
		"Café\u00a0 №5 ‘a’":           {"cafe", "№", "0", "‘", "a"},
		" ":                           nil,
	} {
		if d := cmp.Diff(want, append([]string(nil), textsOf(simpleWords([]rune(in)))...)); d != "" {
			t.Errorf("%q (-want +got):\n%s", in, d)
		}
	}
}

func TestPieces(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][]string{
		" the gyro 12345 in":  {" the", " gyro", " ", "123", "45", " in"},
		" communications 船舶a": {" commun", "ications", " ", "船", "舶", "a"},
		" x ° y":              {" x", " °", " y"},
		"":                    nil,
		" ½ café":             {" ", "½", " café"},
	} {
		if d := cmp.Diff(want, cl100kPieces(in)); d != "" {
			t.Errorf("%q (-want +got):\n%s", in, d)
		}
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	if _, err := New("nosuch", sets(t)); err == nil || !strings.Contains(err.Error(), `"nosuch"`) {
		t.Errorf("an unknown rule: %v", err)
	}
	if _, err := New("decon", nil); err == nil {
		t.Error("no items are no error")
	}
	seen := map[string]bool{}
	for _, r := range Rules() {
		if seen[r.ID()] || r.Source == "" || r.Title[0] == "" || r.Title[1] == "" || len(r.Differs) == 0 {
			t.Errorf("%s is not described, or there twice", r.Name)
		}
		seen[r.ID()] = true
	}
}

func TestRowErrors(t *testing.T) {
	t.Parallel()
	var bad *contam.SyntaxError
	if _, err := index(t, "decon").Scanner().Row([]byte(`{"text":`)); !errors.As(err, &bad) {
		t.Errorf("a torn row: %v", err)
	}
}

// Spans and scores of any text are sound, and no text breaks a rule.
func FuzzMatch(f *testing.F) {
	for _, s := range []string{
		"", " ", "A stowaway found on the second day at sea", "渔船上的磁罗经每次点燃厨房炉灶时都会偏转约六度", "ΑΣ ß İ ﬀ", "\xff\xfe",
		"10km 1,5 ١٢٫٣ cannot", strings.Repeat("a ", 40), "What colour is a grey whale? Grey Black White Blue",
	} {
		f.Add(s)
	}
	var all []*Index
	for _, r := range Rules() {
		all = append(all, index(f, r.Name))
	}
	f.Fuzz(func(t *testing.T, s string) {
		text := []rune(s)
		for _, ix := range all {
			for _, m := range ix.match.match(text) {
				if m.from < 0 || m.from >= m.to || m.to > len(text) || m.score <= 0 || m.item >= ix.Items() {
					t.Errorf("%s of %q: %+v", ix.rule.Name, s, m)
				}
			}
		}
	})
}

func BenchmarkRow(b *testing.B) {
	rows := bytes.Split(bytes.TrimSpace(readFile(b, "flat.jsonl")), []byte("\n"))
	size := 0
	for _, r := range rows {
		size += len(r)
	}
	for _, r := range Rules() {
		b.Run(r.Name, func(b *testing.B) {
			s := index(b, r.Name).Scanner()
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				for _, row := range rows {
					if _, err := s.Row(row); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
