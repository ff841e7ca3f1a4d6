package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// A Waiver excuses one item in one record: someone looked, and says why it is no
// leak, until a day. It names the record by the hash of its bytes, so that it
// ends when a letter of the record changes.
type Waiver struct {
	Record  string // 64 hex digits: record.sha256 of the report's row
	Item    contam.ItemRef
	Reason  string
	Author  string
	Expires string // 2027-03-01: the last day it holds, in UTC
}

// waiverJSON is a line of a file of waivers.
type waiverJSON struct {
	Record  string `json:"record"`
	Item    *Item  `json:"item"`
	Reason  string `json:"reason"`
	Author  string `json:"author"`
	Expires string `json:"expires"`
}

// Append writes the waiver as one line of a file, line end included.
func (w *Waiver) Append(dst []byte) []byte {
	dst = append(dst, `{"record":`...)
	dst = drydock.AppendJSONString(dst, "sha256:"+w.Record)
	dst = append(dst, `,"item":{"benchmark":`...)
	dst = drydock.AppendJSONString(dst, w.Item.Benchmark)
	dst = append(dst, `,"index":`+itoa(w.Item.Index)+`},"reason":`...)
	dst = drydock.AppendJSONString(dst, w.Reason)
	dst = append(dst, `,"author":`...)
	dst = drydock.AppendJSONString(dst, w.Author)
	dst = append(dst, `,"expires":`...)
	dst = drydock.AppendJSONString(dst, w.Expires)
	return append(dst, "}\n"...)
}

// Waivers are the exceptions of one file, as they stand on one day. Finding one
// is safe for concurrent use; counting is not.
type Waivers struct {
	sha256 string
	list   []Waiver
	old    []bool // past its last day
	used   []int  // findings
	at     map[waiverKey]int
}

type waiverKey struct {
	record string
	item   contam.ItemRef
}

// ReadWaivers reads a file of waivers, one JSON object a line:
//
//	{"record":"sha256:…","item":{"benchmark":"b","index":3},"reason":"…","author":"…","expires":"2027-03-01"}
//
// All bad lines come back in one error: an exception that cannot be read must not
// look like one that was not made. today decides which have expired.
func ReadWaivers(name string, data []byte, today time.Time) (*Waivers, error) {
	sum := sha256.Sum256(data)
	ws := &Waivers{sha256: "sha256:" + hex.EncodeToString(sum[:]), at: map[waiverKey]int{}}
	day := today.UTC().Format(time.DateOnly)
	var bad fail.List
	first := map[waiverKey]int{}
	for line, err := range lines(name, bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff")))) {
		if err != nil {
			bad = append(bad, fail.All(asConfig(err))...)
			break
		}
		w, err := parseWaiver(line.text)
		if err != nil {
			bad = append(bad, fail.All(at(asConfig(err), name, line.no))...)
			continue
		}
		key := waiverKey{w.Record, w.Item}
		if n, twice := first[key]; twice {
			bad = append(bad, fail.New(fail.Config, msg.Text{"this record and item are waived in line %d, too", "第 %d 行已豁免同一记录与题目"}, n).At(fail.Where{File: name, Line: line.no}))
			continue
		}
		first[key] = line.no
		ws.at[key] = len(ws.list)
		ws.list = append(ws.list, w)
		ws.old = append(ws.old, w.Expires < day)
	}
	ws.used = make([]int, len(ws.list))
	return ws, bad.OrNil()
}

func asConfig(err error) error {
	var e *fail.Error
	if errors.As(err, &e) {
		e.Kind = fail.Config
	}
	return err
}

func parseWaiver(line []byte) (Waiver, error) {
	var j waiverJSON
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&j); err != nil {
		return Waiver{}, syntaxError(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return Waiver{}, fail.New(fail.Config, msg.Text{"one waiver a line: something follows it", "每行一条豁免：其后还有内容"})
	}
	record := strings.TrimPrefix(j.Record, "sha256:")
	if b, err := hex.DecodeString(record); err != nil || len(b) != sha256.Size {
		return Waiver{}, fail.New(fail.Config, msg.Text{"record %q is no sha256", "record %q 不是 sha256"}, j.Record).
			Hint(msg.Text{"record.sha256 of the report's row", "取自报告数据行的 record.sha256"})
	}
	if j.Item == nil || j.Item.Benchmark == "" {
		return Waiver{}, fail.New(fail.Config, msg.Text{"the waiver names no item", "该豁免没有指明题目"}).
			Hint(msg.Text{`as in the report: "item":{"benchmark":"…","index":…}`, `与报告中相同："item":{"benchmark":"…","index":…}`})
	}
	for _, f := range []struct{ name, value string }{{"reason", j.Reason}, {"author", j.Author}} {
		if strings.TrimSpace(f.value) == "" {
			return Waiver{}, fail.New(fail.Config, msg.Text{"the waiver has no %s", "该豁免缺少 %s"}, f.name)
		}
	}
	if _, err := time.Parse(time.DateOnly, j.Expires); err != nil {
		return Waiver{}, fail.New(fail.Config, msg.Text{"expires %q is no day", "expires %q 不是日期"}, j.Expires).
			Hint(msg.Text{"write it like 2027-03-01", "写法如 2027-03-01"})
	}
	return Waiver{
		Record: strings.ToLower(record), Item: contam.ItemRef{Benchmark: j.Item.Benchmark, Index: j.Item.Index},
		Reason: j.Reason, Author: j.Author, Expires: j.Expires,
	}, nil
}

// Find returns the waiver of a finding; nil when there is none, or it has
// expired. A nil receiver holds none.
func (ws *Waivers) Find(f *contam.Finding) *Waiver {
	if ws == nil {
		return nil
	}
	i, ok := ws.at[waiverKey{f.Record.SHA256, f.Item}]
	if !ok || ws.old[i] {
		return nil
	}
	return &ws.list[i]
}

// Count books a finding: with the waiver that excuses it, which is returned, or
// with one that has expired.
func (ws *Waivers) Count(f *contam.Finding) *Waiver {
	if ws == nil {
		return nil
	}
	if i, ok := ws.at[waiverKey{f.Record.SHA256, f.Item}]; ok {
		ws.used[i]++
	}
	return ws.Find(f)
}

// WaiverState says what became of the waivers of a check.
type WaiverState struct {
	SHA256  string        `json:"sha256"` // of the file
	Entries []WaiverEntry `json:"entries"`
}

// A WaiverEntry is one waiver and what became of it. State is used, unmatched or
// expired; an expired one excuses nothing, whatever it matched.
type WaiverEntry struct {
	Record   string `json:"record"`
	Item     Item   `json:"item"`
	Reason   string `json:"reason"`
	Author   string `json:"author"`
	Expires  string `json:"expires"`
	State    string `json:"state"`
	Findings int    `json:"findings"` // it matched
}

// The states of a waiver.
const (
	WaiverUsed      = "used"
	WaiverUnmatched = "unmatched"
	WaiverExpired   = "expired"
)

// State returns what became of the waivers; nil for a nil receiver.
func (ws *Waivers) State() *WaiverState {
	if ws == nil {
		return nil
	}
	s := &WaiverState{SHA256: ws.sha256, Entries: []WaiverEntry{}}
	for i := range ws.list {
		w := &ws.list[i]
		e := WaiverEntry{
			Record: "sha256:" + w.Record, Item: Item{w.Item.Benchmark, w.Item.Index},
			Reason: w.Reason, Author: w.Author, Expires: w.Expires, Findings: ws.used[i],
		}
		if e.settle(); ws.old[i] {
			e.State = WaiverExpired
		}
		s.Entries = append(s.Entries, e)
	}
	return s
}

// settle sets the state of a waiver that has not expired from its count.
func (e *WaiverEntry) settle() {
	if e.State == WaiverExpired {
		return
	}
	e.State = WaiverUnmatched
	if e.Findings > 0 {
		e.State = WaiverUsed
	}
}
