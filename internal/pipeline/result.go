package pipeline

import (
	"net/http"
	"time"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/question"
	"github.com/drydock-ml/drydock/eval"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/training"
	"github.com/drydock-ml/drydock/provenance/submission"
)

// The stages of a run, in order.
const (
	StageSources = "sources"
	StageSteps   = "steps"
	StageDedup   = "dedup"
	StageContam  = "contam"
	StageMix     = "mix"
	StageOutput  = "output"
	StageCard    = "card"
	StageTrain   = "train"
	StageEval    = "eval"
	StagePack    = "pack"
)

// Stages lists the stages in order.
func Stages() []string {
	return []string{
		StageSources, StageSteps, StageDedup, StageContam, StageMix, StageOutput,
		StageCard, StageTrain, StageEval, StagePack,
	}
}

// Env is what the surroundings give a run.
type Env struct {
	training.Env        // what a training needs of them, and every stage some of
	Home         string // registered benchmarks
	CacheDir     string // compiled code of the PDF reader
	HTTP         *http.Client
	APIKey       string
	Password     string // opens encrypted inputs of sources that name no file with one
}

// Options are the flags of one run.
type Options struct {
	Workers int
	Only    string         // run this stage alone, on what is there
	From    string         // run this stage and what follows, on what is there
	Fresh   bool           // forget what is cached
	Limit   int            // read at most this many records of each file; 0: all
	Explain bool           // try other layouts of question banks and report how each fits
	DryRun  bool           // plan only
	Gates   training.Gates // of the training; the run's record names those that were lifted
	Wait    time.Duration  // for another run of the same project
	Observe func(Event)    // may be nil; called from several goroutines, one at a time
}

// An Event tells a watcher how far a run is.
type Event struct {
	Type   string        // stage, progress, warning
	Stage  string        // which
	Result *StageResult  // of a stage that ended
	Text   msg.Localizer // of a warning
	Done   int           // of a progress: how many …
	Total  int           // … of how many
}

// The ways a stage ends.
const (
	StatusDone    = "done"
	StatusCached  = "cached"  // nothing changed since it was done
	StatusPlanned = "planned" // would run
	StatusSkipped = "skipped" // not configured
	StatusFailed  = "failed"
	// StatusInterrupted is a stage that ^C cut; the next run goes on in it.
	StatusInterrupted = "interrupted"
)

// A StageResult is what became of one stage. Only the parts its stage has are
// set.
type StageResult struct {
	Name    string         `json:"name"`
	Status  string         `json:"status"`
	Reason  string         `json:"reason,omitempty"` // of planned, cached, skipped
	Seconds float64        `json:"seconds"`
	Sums    *drydock.Sums  `json:"sums,omitempty"`
	Files   []string       `json:"files,omitempty"`  // written, relative to the project
	Images  *ImagesResult  `json:"images,omitempty"` // sources
	Fixes   *FixResult     `json:"fixes,omitempty"`  // sources
	Notes   []Note         `json:"notes,omitempty"`
	Inputs  []InputResult  `json:"inputs,omitempty"` // sources
	Kinds   map[string]int `json:"kinds,omitempty"`  // sources: questions, passages, chats
	// Conflicts are questions that stand with different answers; of sources.
	Conflicts []Conflict       `json:"conflicts,omitempty"`
	Steps     []StepResult     `json:"steps,omitempty"`  // steps
	Dedup     *DedupResult     `json:"dedup,omitempty"`  // dedup, of near duplicates
	Contam    []ContamResult   `json:"contam,omitempty"` // contam, by benchmark
	Mix       *MixResult       `json:"mix,omitempty"`    // mix
	Output    []OutputResult   `json:"output,omitempty"` // output
	Train     *training.Result `json:"train,omitempty"`
	Eval      []EvalResult     `json:"eval,omitempty"`
	Pack      *PackResult      `json:"pack,omitempty"`
	key       string
	done      map[string]string
}

// A Note is something the user should know, in both languages.
type Note struct {
	File string `json:"file,omitempty"`
	Code string `json:"code"`
	En   string `json:"en"`
	Zh   string `json:"zh"`
}

// In says the note in a language.
func (n Note) In(l msg.Lang) string {
	if l == msg.Zh {
		return n.Zh
	}
	return n.En
}

// An InputResult is one input file.
type InputResult struct {
	Source  string         `json:"source"`
	File    string         `json:"file"`
	SHA256  string         `json:"sha256"`
	Format  string         `json:"format"`
	Parser  string         `json:"parser,omitempty"` // plan: who would take it
	License string         `json:"license,omitempty"`
	Lang    string         `json:"lang,omitempty"`
	Bytes   int64          `json:"bytes"`
	Records int            `json:"records"`
	Kinds   map[string]int `json:"kinds"`
	Dropped map[string]int `json:"dropped"`
	// Sections are the parts of a question bank with the proof of their counts.
	Sections []question.Part `json:"sections,omitempty"`
	// Settled counts questions without an answer, or the reverse, that a person
	// decided about.
	Settled int    `json:"settled,omitempty"`
	Error   *Note  `json:"error,omitempty"` // it could not be read, or not to its end
	Hints   []Note `json:"hints,omitempty"`
}

// A StepResult is one step's sums.
type StepResult struct {
	Name string       `json:"name"`
	Sums drydock.Sums `json:"sums"`
}

// A DedupResult is what the search for near duplicates has found.
type DedupResult struct {
	Threshold float64 `json:"threshold"`
	Clusters  int     `json:"clusters"` // records that stay for one that went
	// Listed counts records that look like another and stay, by reason.
	Listed map[string]int `json:"listed"`
}

// A ContamResult is the check against one benchmark.
type ContamResult struct {
	Benchmark string `json:"benchmark"`
	SHA256    string `json:"sha256"`
	Items     int    `json:"items"`
	Blind     int    `json:"blind"` // items the settings cannot see
	// BlindItems names them by index.
	BlindItems []int          `json:"blind_items"`
	Records    int            `json:"records"`
	Leaks      int            `json:"leaks"`            // records with a verdict that fails
	Removed    int            `json:"removed"`          // of these; masked ones too
	Masked     int            `json:"masked,omitempty"` // of the removed: records that stay without the leak
	Verdicts   map[string]int `json:"verdicts"`         // records, by the gravest verdict in each
	Config     string         `json:"config"`
}

// An OutputResult is one written file.
type OutputResult struct {
	Shape   string         `json:"shape"`
	Path    string         `json:"path"`
	Sidecar string         `json:"sidecar,omitempty"`
	Rows    int            `json:"rows"`
	Bytes   int64          `json:"bytes"`
	SHA256  string         `json:"sha256"`
	Longest int            `json:"longest_chars"`
	Letters map[string]int `json:"letters,omitempty"` // answer letters, single choice
	LeftOut map[string]int `json:"left_out"`          // records this file could not take, by reason
	// Files are those of an output that is a folder. Bytes is then their sum, and
	// SHA256 that of their list as sha256sum writes it.
	Files []OutputFile `json:"files,omitempty"`
	// RowsFile holds the rows one a line where Path does not: what the ledgers
	// speak of.
	RowsFile string `json:"rows_file,omitempty"`
	// Settings are the lines of the trainer's configuration that belong to the rows.
	Settings []string `json:"settings,omitempty"`
	// Packed says how documents were joined to rows; nil when they were not.
	Packed *PackedResult `json:"packed,omitempty"`
	// Dev is the file of the records that a split keeps from training; what it
	// could not take is in LeftOut.
	Dev *OutputResult `json:"dev,omitempty"`
}

// An EvalResult is one endpoint on one benchmark.
type EvalResult struct {
	Endpoint string       `json:"endpoint"`
	Summary  eval.Summary `json:"summary"`
	// WithLeaks is the accuracy builtin:lookup would have had, had the leaks
	// stayed in; nil when there were none or the endpoint is another.
	WithLeaks *float64 `json:"with_leaks,omitempty"`
}

// A PackResult is the submission package.
type PackResult struct {
	Path    string             `json:"path"`
	SHA256  string             `json:"sha256"`
	Summary submission.Summary `json:"summary"`
	// Report has every gate; it is not set when the result was read back.
	Report *submission.Report `json:"-"`
}

// A Result is a whole run. Exit is the exit code it asks for.
type Result struct {
	RunID  string        `json:"run_id"`
	Stages []StageResult `json:"stages"`
	Err    error         `json:"-"`
}

// Stage returns a stage's result, or nil.
func (r *Result) Stage(name string) *StageResult {
	for i := range r.Stages {
		if r.Stages[i].Name == name {
			return &r.Stages[i]
		}
	}
	return nil
}
