package provenance

import "github.com/drydock-ml/drydock"

// The files of a ledger folder, in the order in which the root hash takes them.
const (
	SourcesFile = "sources.jsonl"
	StepsFile   = "steps.jsonl"
	LineageFile = "lineage.jsonl"
	DroppedFile = "dropped.jsonl"
	RootFile    = "root.json"
)

// RootSchema is the schema name in root.json.
const RootSchema = "drydock.provenance/1"

// A Source is one input file. Empty strings and nil pointers are unknown: they
// become null, and Absent (or a default) says why, by JSON key.
type Source struct {
	ID     string // set by the writer, see [SourceID]
	Name   string // name of the source in drydock.yaml
	File   string // path relative to the source's root, slashes, NFC
	SHA256 string // 64 hex digits
	Bytes  int64

	MediaType   string // text/csv, application/pdf …, by content
	Title       string // as printed
	TitleLang   string // BCP 47
	Publisher   string
	Edition     string
	DocNo       string // ISBN or document number
	OriginURL   string
	OriginClass string // open, self_collected, purchased, public_law, user_input, synthetic, benchmark
	RetrievedAt string // RFC 3339, only as the user declared it
	RetrievedBy string // manual, http
	License     License
	Rights      Rights
	Languages   []string // BCP 47, as declared or found
	Geo         string   // where it applies, as declared
	Personal    string   // none, found; empty: unscreened
	Screen      *Screen  // nil: not screened
	Blacklisted bool     // declared as not to be used
	Parser      ParserInfo
	Units       map[string]int    // what was read: pages, rows, blocks, chars, ocr_pages …
	Records     int               // records born from it
	Warnings    []string          // what the reader noted, in English
	Absent      map[string]string // JSON key → why it is unknown
}

// License is what is known about a source's licence. Declared is the user's own
// words; SPDX is filled only where they are an SPDX id.
type License struct {
	Declared       string
	SPDX           string
	EvidencePath   string // file that proves it, relative to the project
	EvidenceSHA256 string // of that file, 64 hex digits
	VerifiedBy     string // who read it
}

// Rights says what may be done: yes, no, or empty for unknown.
type Rights struct{ Train, Redistribute, Commercial string }

// Screen is a content screening that was done on a source.
type Screen struct {
	Tool    string  `json:"tool"`
	SampleN int     `json:"sample_n"` // records looked at
	BadRate float64 `json:"bad_rate"` // share of them that is bad, 0–1
}

// ParserInfo names the reader of a source.
type ParserInfo struct {
	Name          string // the format
	Version       string // of the program or library
	OptionsSHA256 string // of its options as JSON
}

// An Artifact is a file that a step read or wrote.
type Artifact struct {
	Path    string `json:"path"` // relative to the project, slashes
	SHA256  string `json:"sha256"`
	Bytes   int64  `json:"bytes"`
	Records int    `json:"records"` // lines of a JSONL file
	Role    Role   `json:"role"`
}

// Role says what an artifact is to a step.
type Role string

// The roles. The records of a step's data outputs add up to its out; each has a
// lineage row per line.
const (
	RoleData    Role = "data"
	RoleSidecar Role = "sidecar"
	RoleReport  Role = "report"
	RoleTable   Role = "table" // the rows of a data output again, as Parquet, Arrow or a folder of them
)

// A Step is one executed step with its sums. Steps are numbered from 1 in the
// order they ran; the number is part of the id, so that the same step may run
// twice.
type Step struct {
	ID          string          // set by the writer, see [StepID]
	Order       int             // from 1
	Name        string          // snake_case
	Tool        string          // "drydock" when empty
	ToolVersion string          // empty: a development build
	VCSRevision string          // empty: a development build
	Params      drydock.RawJSON // resolved options as one JSON object; nil: none
	Seed        *uint64         // nil: it uses no randomness
	From        []string        // ids of the steps that fed it; their outs then add up to its in
	Inputs      []Artifact
	Outputs     []Artifact
	Sums        drydock.Sums
	Bench       []Contamination   // for a contamination step: what was compared
	Absent      map[string]string // JSON key → why it is unknown
}

// Contamination is the statement about one benchmark: what was compared, how,
// and what came of it. It names items by index and holds none of their text.
type Contamination struct {
	Benchmark  string         `json:"name"`
	Revision   string         `json:"revision,omitempty"`
	SHA256     string         `json:"canonical_sha256"`
	Items      int            `json:"n"`
	Blind      []int          `json:"blind"`            // items the method cannot see at these settings
	Method     string         `json:"method,omitempty"` // preset or rule, with its version
	Config     string         `json:"config"`           // hash of the settings
	OnHit      string         `json:"on_hit"`           // drop, annotate, mask, quarantine
	Scanned    []Scanned      `json:"scanned"`
	NotScanned []string       `json:"not_scanned"` // what exists but could not be opened, with the reason
	Verdicts   map[string]int `json:"verdicts"`    // records by strongest verdict, before removal
	Failed     int            `json:"failed"`      // records whose verdict counts as a leak
	Removed    int            `json:"removed"`
	Residual   int            `json:"residual"` // leaks still in the output
}

// ScannedRecords says that the records of the run were compared, before they
// became rows of a file.
const ScannedRecords = "training records"

// Scanned is one thing that was compared with a benchmark.
type Scanned struct {
	What    string `json:"what"` // a file name, or [ScannedRecords]
	SHA256  string `json:"sha256,omitempty"`
	Records int    `json:"records"`
	Bytes   *int64 `json:"bytes"` // nil: unknown
}

// A Loc is a place in a source.
type Loc struct {
	Source string          // source id
	At     drydock.Locator // where it stood
	Key    drydock.Locator // where its answer stood, when elsewhere
}

// Lineage ties one emitted row to its origin. Rows of one file are written in
// the order of its lines.
type Lineage struct {
	Rec     drydock.ID   // the record's id
	ID      string       // the row's own id, as in the data
	Row     string       // [RowHash] of the line
	File    string       // path of the data artifact
	Line    int          // from 1
	Loc     []Loc        // where it was born; empty: it was made from its parents
	Chain   []string     // step ids, in order
	Parents []drydock.ID // the records it was made from
	Split   string       // train, dev …; "all", also for empty: the data is not split
	Flags   []string     // snake_case marks a step set

	// What the card counts.
	Kind    string // question, passage, chat
	Form    string // single, multiple, judge … of a question
	Lang    string // BCP 47
	Options int    // number of options of a question
	Answer  string // option labels joined, of a question with options
}

// Dropped is one record that was left out.
type Dropped struct {
	Rec      drydock.ID // zero: a block that never became a record
	ID       string     // as its row would be called
	Step     string     // step id
	Reason   string     // snake_case, stable
	Detail   string     // English, for people; never written beside benchmark evidence
	Loc      []Loc
	Evidence *Evidence // nil: the reason says it
}

// WrittenElsewhere is the reason of a record that one output leaves to another
// output of the same run: it is in the data.
const WrittenElsewhere = "written_elsewhere"

// Evidence says what a dropped record matched: a benchmark item by index, or
// another record. It never holds text.
type Evidence struct {
	Benchmark string      `json:"benchmark,omitempty"`
	Revision  string      `json:"revision,omitempty"`
	Index     *int        `json:"index,omitempty"` // benchmark row
	Verdict   string      `json:"verdict,omitempty"`
	Score     float64     `json:"score,omitempty"`
	Rule      string      `json:"rule,omitempty"`
	Kept      *drydock.ID `json:"kept,omitempty"` // the record it duplicates
}

// Root binds the four ledgers.
type Root struct {
	Files []LedgerFile
	Hash  string // sha256 over the four files' sha256 (as bytes), in fixed order
}

// LedgerFile is one ledger's size and hash.
type LedgerFile struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
	Rows   int    `json:"rows"`
}
