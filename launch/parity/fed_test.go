package parity_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/golden"
	"github.com/drydock-ml/drydock/launch/feed"
	"github.com/drydock-ml/drydock/launch/parity"
	"github.com/drydock-ml/drydock/qwen3"
)

// fedRow is a row that drydock wrote, and what the trainer's own loader and
// tokenizer made of it (scripts/interop/fed_rows.py).
type fedRow struct {
	Kind, Contract, Row string
	Samples             []struct {
		IDs  []int32
		Loss [][2]int // runs of ids: the first, and the one behind the last
	}
}

func (r *fedRow) sample(i int) feed.Sample {
	s := feed.Sample{IDs: r.Samples[i].IDs, Loss: make([]bool, len(r.Samples[i].IDs))}
	for _, run := range r.Samples[i].Loss {
		for k := run[0]; k < run[1]; k++ {
			s.Loss[k] = true
		}
	}
	return s
}

// fedRows calls f with every row of a trainer's golden, NAME.gz.
func fedRows(t *testing.T, file string, f func(r *fedRow)) {
	t.Helper()
	lines := bufio.NewScanner(bytes.NewReader(golden.ReadFile(t, file)))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r fedRow
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		f(&r)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

// What is predicted of every row that drydock writes for a trainer is what the
// trainer feeds: each id, and each place of the loss.
func TestEveryRowAsFed(t *testing.T) {
	t.Parallel()
	recorded, err := filepath.Glob(filepath.Join("testdata", "fed", "*.jsonl.gz"))
	if err != nil || len(recorded) == 0 {
		t.Fatal(recorded, err)
	}
	for _, file := range recorded {
		trainer := strings.TrimSuffix(filepath.Base(file), ".jsonl.gz")
		t.Run(trainer, func(t *testing.T) {
			t.Parallel()
			bad := 0
			fedRows(t, strings.TrimSuffix(file, ".gz"), func(r *fedRow) {
				if problem := r.compare(t, trainer); problem != "" {
					if bad++; bad < 12 {
						t.Errorf("%s %s: %s: %s", r.Kind, r.Contract, r.Row, problem)
					}
				}
			})
			if bad > 0 {
				t.Errorf("%d rows differ", bad)
			}
		})
	}
}

// compare returns how the prediction differs from what was recorded.
func (r *fedRow) compare(t *testing.T, trainer string) string {
	t.Helper()
	contract := emit.Contract(r.Contract)
	if r.Contract == "" || r.Contract == "converted" {
		contract = emit.EmptyThink
	}
	settings, err := feed.For(trainer, contract)
	if err != nil { // rows of tokens under plain, which need no settings
		settings = feed.Settings{Trainer: trainer}
	}
	got, err := parity.Predict(parity.Options{Settings: settings, Contract: contract}, []byte(r.Row))
	if err != nil {
		return err.Error()
	}
	if got.Samples == nil {
		tokens, trained := 0, 0
		for i := range r.Samples {
			s := r.sample(i)
			tokens, trained = tokens+len(s.IDs), trained+s.Trained()
		}
		if got.Tokens != tokens || got.Trained != trained {
			return "counts differ: " + shownCounts(got.Tokens, got.Trained) + ", fed are " + shownCounts(tokens, trained)
		}
		return ""
	}
	if len(got.Samples) != len(r.Samples) {
		return "another number of samples"
	}
	for i := range got.Samples {
		want := r.sample(i)
		if g, w := shown(&got.Samples[i]), shown(&want); g != w {
			return "\n got " + g + "\nwant " + w
		}
	}
	return ""
}

func shownCounts(tokens, trained int) string {
	b, _ := json.Marshal([2]int{tokens, trained})
	return string(b)
}

// shown is the text of a sample, token by token, with the trained ones in ⟦⟧.
func shown(s *feed.Sample) string {
	out, in := "", false
	for i, id := range s.IDs {
		if s.Loss[i] != in {
			in = s.Loss[i]
			out += map[bool]string{true: "⟦", false: "⟧"}[in]
		}
		out += qwen3.Decode([]int32{id}) + "·"
	}
	return out
}
