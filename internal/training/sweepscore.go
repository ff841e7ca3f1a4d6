package training

import (
	"context"
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/stats"
	"github.com/drydock-ml/drydock/launch"
	"github.com/drydock-ml/drydock/launch/checkpoint"
)

// A SweepScore is how a checkpoint did on the items its score was asked for.
type SweepScore struct {
	Checkpoint string     `json:"checkpoint"` // from the project
	Step       int        `json:"step"`
	Correct    int        `json:"correct"`
	N          int        `json:"n"`
	Accuracy   float64    `json:"accuracy"`
	Wilson95   [2]float64 `json:"wilson95"`
	// Items says of each item whether it was right, by its id; nil when the
	// program does not say. With it trainings are compared item by item.
	Items map[string]bool `json:"items,omitempty"`
}

// A SweepContrast is a training held against the best one.
type SweepContrast struct {
	Difference float64 `json:"difference"` // of the accuracies, below 0 where it is worse
	PValue     float64 `json:"p_value"`
	Holm       float64 `json:"holm"` // PValue adjusted for all comparisons of the sweep
	Test       string  `json:"test"` // mcnemar_exact, or two_proportions where items are not known
}

// A sweepWatch scores the checkpoints of a training while it goes on.
type sweepWatch struct {
	sweep  *sweep
	run    *SweepRun
	out    string // folder of checkpoints
	dir    string // the project's
	end    context.CancelCauseFunc
	scores []SweepScore
	seen   []int
	why    SweepState // why it was ended early; "" when it was not
}

// follow looks for whole checkpoints until over is closed, and once more then. Only
// the end of the training ends it, so that its last checkpoint is scored.
func (w *sweepWatch) follow(ctx context.Context, over chan struct{}) error {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		done := false
		select {
		case <-over:
			done = true
		case <-tick.C:
		}
		if w.why == "" {
			if err := w.look(ctx); err != nil {
				w.end(err)
				<-over
				return err
			}
		}
		if done {
			return nil
		}
	}
}

// look scores what is new and decides whether to go on.
func (w *sweepWatch) look(ctx context.Context) error {
	b := w.sweep.plan.Budget
	if b.Hours > 0 && w.sweep.env.Now().Sub(w.sweep.begun).Hours() >= b.Hours {
		w.stop(SweepStopped, msg.Text{"the hours of the sweep are spent", "扫描的小时预算已用完"})
	}
	if len(w.sweep.plan.Eval) == 0 || ctx.Err() != nil {
		return nil
	}
	for _, step := range checkpoint.Steps(w.out) {
		dir := checkpoint.StepDir(w.out, step)
		if slices.Contains(w.seen, step) || !written(dir) {
			continue
		}
		w.seen = append(w.seen, step)
		s, err := w.score(ctx, dir, step)
		if err != nil {
			return err
		}
		w.scores = append(w.scores, s)
		sortedScores(w.scores)
		w.decide(s)
		if w.why != "" {
			return nil
		}
	}
	return nil
}

// written reports whether a checkpoint is there to its end: its state, which
// trainers write last, and its weights. It need not be one to go on from.
func written(dir string) bool {
	if _, err := checkpoint.ReadState(dir); err != nil {
		return false
	}
	_, err := checkpoint.Whole(dir)
	return err == nil
}

// score asks the sweep's program about a checkpoint.
func (w *sweepWatch) score(ctx context.Context, dir string, step int) (SweepScore, error) {
	rel, err := filepath.Rel(w.dir, dir)
	if err != nil {
		return SweepScore{}, err
	}
	rel = filepath.ToSlash(rel)
	fill := strings.NewReplacer("{checkpoint}", rel, "{step}", strconv.Itoa(step), "{run}", w.run.ID)
	argv := make([]string, len(w.sweep.plan.Eval))
	for i, a := range w.sweep.plan.Eval {
		argv[i] = fill.Replace(a)
	}
	out, err := launch.Ask(ctx, w.dir, w.sweep.env.Environ, argv)
	if err != nil {
		return SweepScore{}, fail.New(fail.Trainer, msg.Text{"scoring %s: %v", "为 %s 评分：%v"}, rel, err)
	}
	s, ok := readScore(out)
	if !ok {
		return SweepScore{}, fail.New(fail.Trainer, msg.Text{"scoring %s: %s printed no score", "为 %s 评分：%s 未输出成绩"}, rel, argv[0]).
			Hint(msg.Text{`a line such as {"correct": 812, "n": 1000}, with "items": {"ID": true} for a comparison item by item; drydock eval --json prints one`, `应输出形如 {"correct": 812, "n": 1000} 的一行；附 "items": {"ID": true} 可逐题比较；drydock eval --json 会输出`})
	}
	s.Checkpoint, s.Step = rel, step
	return s, nil
}

// readScore finds the last line that says how many of how many items were right.
func readScore(out []byte) (s SweepScore, ok bool) {
	lines := strings.Split(string(out), "\n")
	for _, line := range slices.Backward(lines) {
		var v struct {
			Correct *int            `json:"correct"`
			N       *int            `json:"n"`
			Items   map[string]bool `json:"items"`
		}
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &v) != nil {
			continue
		}
		if v.Items != nil {
			s.Items, s.N = v.Items, len(v.Items)
			for _, right := range v.Items {
				if right {
					s.Correct++
				}
			}
		} else if v.Correct != nil && v.N != nil {
			s.Correct, s.N = *v.Correct, *v.N
		} else {
			continue
		}
		if s.N < 1 || s.Correct < 0 || s.Correct > s.N {
			return SweepScore{}, false
		}
		s.Accuracy = float64(s.Correct) / float64(s.N)
		s.Wilson95[0], s.Wilson95[1] = stats.Wilson(s.Correct, s.N)
		return s, true
	}
	return SweepScore{}, false
}

// best is the score that is highest, of equal ones the earliest.
func (w *sweepWatch) best() *SweepScore {
	var best *SweepScore
	for i := range w.scores {
		if best == nil || w.scores[i].Accuracy > best.Accuracy {
			best = &w.scores[i]
		}
	}
	return best
}

// decide ends the training when the file's rule says so.
func (w *sweepWatch) decide(latest SweepScore) {
	stop := w.sweep.plan.Stop
	if stop.Outclassed {
		for _, r := range w.sweep.res.Runs {
			if r.Best != nil && latest.Wilson95[1] < r.Best.Wilson95[0] {
				w.stop(SweepOutclassed, msg.Text{"another training is better, beyond chance", "另一次训练更好，且非偶然"})
				return
			}
		}
	}
	if stop.Patience == 0 || len(w.scores) <= stop.Patience {
		return
	}
	best := w.best()
	behind := 0
	for _, s := range w.scores {
		if s.Step > best.Step {
			behind++
		}
	}
	if behind >= stop.Patience {
		w.stop(SweepStopped, msg.Text{"its checkpoints no longer improve", "其检查点不再改进"})
	}
}

func (w *sweepWatch) stop(why SweepState, text msg.Text) {
	w.why = why
	w.end(fail.New(fail.Interrupted, text))
}

// contrast holds a score against the best one.
func contrast(best, s SweepScore) *SweepContrast {
	c := &SweepContrast{Difference: s.Accuracy - best.Accuracy}
	pair := stats.Paired{}
	for id, before := range best.Items {
		after, shared := s.Items[id]
		if !shared {
			continue
		}
		pair.N++
		switch {
		case after && !before:
			pair.Gained++
		case before && !after:
			pair.Lost++
		}
	}
	if pair.N > 0 {
		c.Test, c.Difference, c.PValue = "mcnemar_exact", pair.Difference(), pair.PValue()
		return c
	}
	c.Test, c.PValue = "two_proportions", twoProportions(best, s)
	return c
}

// twoProportions is the two-sided score test of two independent shares.
func twoProportions(a, b SweepScore) float64 {
	n, m := float64(a.N), float64(b.N)
	pooled := float64(a.Correct+b.Correct) / (n + m)
	variance := pooled * (1 - pooled) * (1/n + 1/m)
	if variance == 0 {
		return 1
	}
	d := a.Accuracy - b.Accuracy
	return stats.ChiSquareTail(d*d/variance, 1)
}

func holm(p []float64) []float64 {
	if len(p) == 0 {
		return nil
	}
	return stats.Holm(p)
}

// luck is the expected excess of the best of the scored trainings if all were
// equally good: the largest of so many draws of the noise of one score.
func luck(runs []SweepRun) float64 {
	k, variance := 0, 0.0
	for _, r := range runs {
		if r.Best != nil {
			k++
			variance = max(variance, r.Best.Accuracy*(1-r.Best.Accuracy)/float64(r.Best.N))
		}
	}
	if k < 2 {
		return 0
	}
	return stats.ExpectedMax(k) * math.Sqrt(variance)
}
