package launch

// Verdicts on a training that was to go on from a checkpoint.
const (
	Continues  = "continues"   // the first step is behind the checkpoint's and the loss fits
	Restarted  = "restarted"   // the first step had been done: the trainer began anew
	LossJumped = "loss_jumped" // the step goes on, but the loss is far above what it was
	Unseen     = "unseen"      // no figures came
)

// A Continuation watches whether a training really goes on from a checkpoint.
type Continuation struct {
	from   *Checkpoint
	before []float64 // losses up to the checkpoint, the latest last
	after  []float64
	first  int
}

const (
	lossesBefore = 10 // of the checkpoint that say what level and spread are
	lossesAfter  = 3  // that must come before the loss is judged: one batch may be hard
)

// NewContinuation begins to watch.
func NewContinuation(from *Checkpoint) *Continuation {
	c := &Continuation{from: from}
	for _, e := range from.Losses {
		if e.Loss != nil && e.Step <= from.Step {
			c.before = append(c.before, *e.Loss)
		}
	}
	c.before = c.before[max(0, len(c.before)-lossesBefore):]
	return c
}

// Add takes a report.
func (c *Continuation) Add(r Report) {
	if r.Again || r.Loss == nil || r.Step == 0 {
		return
	}
	if c.first == 0 {
		c.first = r.Step
	}
	if len(c.after) < lossesAfter {
		c.after = append(c.after, *r.Loss)
	}
}

// First is the first step that was reported; 0: none yet.
func (c *Continuation) First() int { return c.first }

// Verdict judges what was seen so far. The loss has jumped when the mean of the
// first three after the checkpoint lies above the highest of the last ten before
// it by more than these spread, and by a tenth of it: a training that lost its
// optimizer, its adapter or its place in the data shows that at once, and a hard
// batch does not.
func (c *Continuation) Verdict() string {
	switch {
	case c.first == 0:
		return Unseen
	case c.first <= c.from.Step:
		return Restarted
	case len(c.before) == 0 || len(c.after) == 0:
		return Continues
	}
	low, high := c.before[0], c.before[0]
	for _, x := range c.before {
		low, high = min(low, x), max(high, x)
	}
	sum := 0.0
	for _, x := range c.after {
		sum += x
	}
	if sum/float64(len(c.after)) > high+max(high-low, high/10) {
		return LossJumped
	}
	return Continues
}

// Settled reports whether the verdict will not change any more.
func (c *Continuation) Settled() bool {
	return c.first > 0 && (c.first <= c.from.Step || len(c.after) == lossesAfter)
}
