package launch_test

import (
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/spec"
	"github.com/drydock-ml/drydock/launch"

	"github.com/google/go-cmp/cmp"
)

func readSweep(t testing.TB, trainer, base, src string) (*launch.Sweep, string) {
	t.Helper()
	sp, ok := spec.Find(launch.Trainers(), trainer)
	if !ok {
		t.Fatal(trainer)
	}
	s, bad := launch.ReadSweep("sweep.yaml", []byte(src), sp, spec.Parse("drydock.yaml", []byte(base)).Root)
	if len(bad) > 0 {
		return nil, bad.Error() + " " + strings.Join(bad[0].Hints(msg.En), " ")
	}
	return s, ""
}

func TestReadSweep(t *testing.T) {
	t.Parallel()
	s, bad := readSweep(t, "swift", "{rank: 4, extra: {weight_decay: 0.1, neftune_noise_alpha: 5}}",
		"grid: {rank: [8, 16], extra.weight_decay: [0.0, 0.01]}\nlist:\n  - {method: full, learning_rate: 1e-5}\nbudget: {runs: 4, hours: 1.5}\neval: {argv: [score, '{checkpoint}']}\nstop: {patience: 2, outclassed: true}\n")
	if bad != "" {
		t.Fatal(bad)
	}
	var got []string
	for _, j := range s.Jobs {
		line := j.ID
		for _, x := range j.Settings {
			line += " " + x.Name + "=" + x.Value
		}
		got = append(got, line)
	}
	want := []string{
		"01 rank=8 extra.weight_decay=0.0", "02 rank=8 extra.weight_decay=0.01", "03 rank=16 extra.weight_decay=0.0", "04 rank=16 extra.weight_decay=0.01",
		"05 method=full learning_rate=1.0e-05",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for i, fragments := range [][]string{{"--lora_rank 8 ", "--weight_decay 0.0", "--neftune_noise_alpha 5"}, {}, {}, {"--lora_rank 16 ", "--weight_decay 0.01"}, {"--tuner_type full", "--weight_decay 0.1", "--learning_rate 1e-05"}} {
		p, err := s.Jobs[i].Trainer.Plan(launch.Job{Data: "a.jsonl", Dir: "b"}, launch.Found{})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range fragments {
			if !strings.Contains(p.Text(msg.En), f) {
				t.Errorf("job %d has no %q: %s", i+1, f, p.Text(msg.En))
			}
		}
	}
	if d := cmp.Diff(launch.SweepBudget{Runs: 4, Hours: 1.5}, s.Budget); d != "" || s.Stop.Patience != 2 || !s.Stop.Outclassed || len(s.Eval) != 2 {
		t.Errorf("%+v", s)
	}
	seen := map[string]bool{}
	for _, j := range s.Jobs {
		if seen[j.Params] {
			t.Errorf("two jobs have the same options: %s", j.Params)
		}
		seen[j.Params] = true
	}
}

func TestReadSweepFindings(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"{}":                                      "names no training",
		"budget: {runs: 1}":                       "names no training",
		"grid: {rank: []}":                        "rank has no value",
		"grid: {rnk: [1]}":                        `no option "rnk"`,
		"grid: {rank: [0]}":                       "sweep.yaml:1:15: swift: rank must be from 1 to 512",
		"grid: {extra.lora_rnk: [8]}":             "has no setting lora_rnk",
		"list: [{method: lroa}]":                  `did you mean "lora"`,
		"list: [3]":                               "list",
		"grid: {rank: [8]}\nstop: {patience: 2}":  "stop needs eval",
		"grid: {rank: [8]}\nbudget: {runs: -1}":   "sweep.yaml:2:16: budget: runs must not be negative",
		"grid: {rank: [8]}\nbudget: {hours: -.5}": "sweep.yaml:2:17: budget: hours must not be negative",
		"grid: {rank: [8]}\nstop: {patience: -2}": "sweep.yaml:2:18: stop: patience must not be negative",
		"grid: {rank: [8]}\neval: {}":             `needs the option "argv"`,
		"gird: {rank: [8]}":                       `did you mean "grid"`,
		"grid: {rank: [1,2,3,4,5,6,7,8,9,10,11], alpha: [1,2,3,4,5,6,7,8,9,10], seed: [1,2,3,4,5,6,7,8,9,10]}": "more than 1000",
	} {
		if _, bad := readSweep(t, "swift", "{}", src); !strings.Contains(bad, want) {
			t.Errorf("%s: %q, want %q", src, bad, want)
		}
	}
}

func FuzzReadSweep(f *testing.F) {
	f.Add([]byte("grid: {rank: [8, 16]}\nlist: [{method: full}]"))
	f.Add([]byte("grid: {extra.a: [&x 1, *x]}"))
	sp, _ := spec.Find(launch.Trainers(), "trl")
	f.Fuzz(func(t *testing.T, src []byte) {
		s, bad := launch.ReadSweep("s.yaml", src, sp, nil)
		if (s == nil) == (len(bad) == 0) {
			t.Fatalf("%v %v", s, bad)
		}
	})
}
