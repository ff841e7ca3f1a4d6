package report

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// SummarySchema names the shape of a summary.
const SummarySchema = "drydock.contam.summary/1"

// SummarySuffix follows a report's name in that of its summary.
const SummarySuffix = ".summary.json"

// A Summary says what was checked, how, and what came of it. Its JSON is stable.
type Summary struct {
	Schema     string      `json:"schema"`
	Version    string      `json:"version"` // of drydock
	Benchmarks []Benchmark `json:"benchmarks"`
	Inputs     []Input     `json:"inputs"`
	Records    int         `json:"records"`
	Bytes      int64       `json:"bytes"`
	Items      int         `json:"items"`
	// Blind lists the items whose verbatim copy would not fail at these settings,
	// BlindStemOnly those whose stem alone would not.
	Blind         []Item         `json:"blind"`
	BlindStemOnly []Item         `json:"blind_stem_only"`
	Verdicts      map[string]int `json:"verdicts"`       // findings, waived ones included
	Failed        int            `json:"failed_records"` // records with a finding that fails
	Waived        int            `json:"waived"`         // findings that a waiver excuses
	Waivers       *WaiverState   `json:"waivers,omitempty"`
	ByItem        []ItemHits     `json:"by_item"`          // items that were hit, in the order of the benchmarks
	Preset        string         `json:"preset,omitempty"` // other people's rule it went by
	Config        string         `json:"config"`
	Fail          []string       `json:"fail"` // verdicts that fail the check by default; a benchmark may have its own
	Redacted      bool           `json:"redacted,omitempty"`
	Shard         *Shard         `json:"shard,omitempty"`
	Rows          int            `json:"rows"`                  // of the report
	RowsSHA256    string         `json:"rows_sha256,omitempty"` // of the report's bytes
	Exit          int            `json:"exit"`
}

// A Benchmark is one that was checked against.
type Benchmark struct {
	Name   string `json:"name"`
	Ref    string `json:"ref"`
	Items  int    `json:"items"`
	SHA256 string `json:"sha256"` // of its file
}

// An Item names a benchmark item.
type Item struct {
	Benchmark string `json:"benchmark"`
	Index     int    `json:"index"`
}

// An Input is one file that was checked.
type Input struct {
	File    string `json:"file"`
	SHA256  string `json:"sha256"`
	Records int    `json:"records"`
	Bytes   int64  `json:"bytes"`
	Failing int    `json:"failing"`           // findings in it that fail the check
	ReadAs  string `json:"read_as,omitempty"` // rows, text, raw, archive: how it was looked at
	// Members counts the files of an archive by how they were read.
	Members map[string]int `json:"members,omitempty"`
}

// ItemHits says how often an item was found.
type ItemHits struct {
	Benchmark string `json:"benchmark"`
	Index     int    `json:"index"`
	Findings  int    `json:"findings"`
	Failing   int    `json:"failing"` // of the findings
	Waived    int    `json:"waived,omitempty"`
}

// A Shard is one part of a check. The units of all files, in order, are dealt out
// to the shards; Units tells how many rows each that has any gave, which is what
// puts the parts together again.
type Shard struct {
	Index int         `json:"index"` // from 1
	Of    int         `json:"of"`
	Units []ShardUnit `json:"units"`
}

// A ShardUnit is one unit of a shard with findings.
type ShardUnit struct {
	File int `json:"file"` // position among the inputs, from 0
	Unit int `json:"unit"` // of the file, from 0
	Rows int `json:"rows"`
}

// Add books a row.
func (s *Summary) Add(r *Row) {
	if s.Verdicts == nil {
		s.Verdicts = map[string]int{}
	}
	s.Verdicts[string(r.Verdict)]++
	s.Rows++
	h := ItemHits{Benchmark: r.Item.Benchmark, Index: r.Item.Index, Findings: 1}
	if r.Fail {
		h.Failing = 1
	}
	if r.Waived != nil {
		h.Waived = 1
		s.Waived++
	}
	s.addHits(h)
}

// AddUnit notes that a row came from a unit. Rows come in the order of the data.
func (s *Shard) AddUnit(file, unit int) {
	if n := len(s.Units); n > 0 && s.Units[n-1].File == file && s.Units[n-1].Unit == unit {
		s.Units[n-1].Rows++
		return
	}
	s.Units = append(s.Units, ShardUnit{file, unit, 1})
}

// addHits adds to the count of an item, which is kept in the order of benchmarks
// and indexes.
func (s *Summary) addHits(h ItemHits) {
	i, found := slices.BinarySearchFunc(s.ByItem, h, s.byBenchmark)
	if !found {
		s.ByItem = slices.Insert(s.ByItem, i, h)
		return
	}
	old := &s.ByItem[i]
	old.Findings += h.Findings
	old.Failing += h.Failing
	old.Waived += h.Waived
}

func (s *Summary) byBenchmark(a, b ItemHits) int {
	return cmp.Or(cmp.Compare(s.rank(a.Benchmark), s.rank(b.Benchmark)), cmp.Compare(a.Benchmark, b.Benchmark), cmp.Compare(a.Index, b.Index))
}

// rank is the position of a benchmark among those checked against.
func (s *Summary) rank(name string) int {
	i := slices.IndexFunc(s.Benchmarks, func(b Benchmark) bool { return b.Name == name })
	if i < 0 {
		return len(s.Benchmarks)
	}
	return i
}

// Normalize fills the lists that are nil, so that they are written as empty.
func (s *Summary) Normalize() {
	s.Schema = SummarySchema
	if s.Benchmarks == nil {
		s.Benchmarks = []Benchmark{}
	}
	if s.Inputs == nil {
		s.Inputs = []Input{}
	}
	if s.Blind == nil {
		s.Blind = []Item{}
	}
	if s.BlindStemOnly == nil {
		s.BlindStemOnly = []Item{}
	}
	if s.ByItem == nil {
		s.ByItem = []ItemHits{}
	}
	if s.Fail == nil {
		s.Fail = []string{}
	}
	if s.Verdicts == nil {
		s.Verdicts = map[string]int{}
	}
	if s.Shard != nil && s.Shard.Units == nil {
		s.Shard.Units = []ShardUnit{}
	}
}

// MarshalFile returns the summary as its file holds it.
func (s Summary) MarshalFile() ([]byte, error) {
	s.Normalize()
	b, err := drydock.MarshalJSON(s)
	return append(b, '\n'), err
}

// ParseSummary reads a summary file. name is what errors call it.
func ParseSummary(name string, data []byte) (*Summary, error) {
	var s Summary
	where := fail.Where{File: name}
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, syntaxError(err).At(where)
	}
	if s.Schema != SummarySchema {
		return nil, fail.New(fail.Failed, msg.Text{"not a summary of a contamination check: schema %q, want %q", "不是污染检查摘要：schema 为 %q，应为 %q"}, s.Schema, SummarySchema).At(where)
	}
	if sh := s.Shard; sh != nil && (sh.Of < 1 || sh.Index < 1 || sh.Index > sh.Of) {
		return nil, fail.New(fail.Failed, msg.Text{"there is no shard %d of %d", "不存在第 %d 个分片（共 %d 个）"}, sh.Index, sh.Of).At(where)
	}
	s.Normalize()
	return &s, nil
}

// verdictNames lists the verdicts of a count in the order of [contam.Verdicts].
func verdictNames(counts map[string]int) []string {
	order := map[string]int{}
	for i, v := range contam.Verdicts() {
		order[string(v)] = i + 1
	}
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		ra, rb := order[a], order[b]
		if ra == 0 {
			ra = len(order) + 1 // newer than this program: last
		}
		if rb == 0 {
			rb = len(order) + 1
		}
		return cmp.Or(cmp.Compare(ra, rb), cmp.Compare(a, b))
	})
}

func itoa(n int) string { return strconv.Itoa(n) }
