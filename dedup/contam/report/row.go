package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"math"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// A Row is one finding as a report holds it.
type Row struct {
	contam.Finding
	Waived *Waiver // the exception that keeps it from failing; nil: none
}

// Append writes the row as one line, line end included. It is the finding's own
// line with the exception, if there is one, as its last field.
func (r *Row) Append(dst []byte) []byte {
	dst = r.Finding.Append(dst)
	if r.Waived == nil {
		return dst
	}
	dst = append(dst[:len(dst)-len("}\n")], `,"waived":{"reason":`...)
	dst = drydock.AppendJSONString(dst, r.Waived.Reason)
	dst = append(dst, `,"author":`...)
	dst = drydock.AppendJSONString(dst, r.Waived.Author)
	dst = append(dst, `,"expires":`...)
	dst = drydock.AppendJSONString(dst, r.Waived.Expires)
	return append(dst, "}}\n"...)
}

// rowJSON is a row as it is read. What it does not name is ignored, as newer
// versions may write more.
type rowJSON struct {
	Schema string     `json:"schema"`
	Record placeJSON  `json:"record"`
	Next   *placeJSON `json:"next"`
	Item   struct {
		Benchmark string `json:"benchmark"`
		Index     *int   `json:"index"`
	} `json:"item"`
	Verdict    string   `json:"verdict"`
	Fail       *bool    `json:"fail"`
	Score      *float64 `json:"score"`
	Components struct {
		Stem       *float64 `json:"stem"`
		Options    *float64 `json:"options"`
		Statements *float64 `json:"statements"`
	} `json:"components"`
	Spans     []spanJSON  `json:"spans"`
	Alignment []editJSON  `json:"alignment"`
	Run       int         `json:"run"`
	Answer    string      `json:"answer"`
	Rule      string      `json:"rule"`
	Config    string      `json:"config"`
	Waived    *waivedJSON `json:"waived"`
}

type placeJSON struct {
	ID      string `json:"id"`
	File    string `json:"file"`
	Line    int    `json:"line"`
	Pointer string `json:"pointer"`
	SHA256  string `json:"sha256"`
	Locator string `json:"locator"`
}

type spanJSON struct {
	Start int `json:"start"`
	End   int `json:"end"`
	fieldJSON
}

type editJSON struct {
	Op     string `json:"op"`
	Data   [2]int `json:"data"`
	Item   [2]int `json:"item"`
	Option int    `json:"option"`
	fieldJSON
}

// fieldJSON names the field a range counts in, where it is not the record's own.
type fieldJSON struct {
	Pointer *string `json:"pointer"`
	Next    bool    `json:"next"`
}

func (f *fieldJSON) pointer(of string) string {
	if f.Pointer != nil {
		return *f.Pointer
	}
	return of
}

type waivedJSON struct {
	Reason  string `json:"reason"`
	Author  string `json:"author"`
	Expires string `json:"expires"`
}

func (p *placeJSON) place() contam.Place {
	return contam.Place{ID: p.ID, File: p.File, Line: p.Line, Pointer: p.Pointer, SHA256: p.SHA256, Locator: p.Locator}
}

// ParseRow reads one line of a report.
func ParseRow(line []byte) (Row, error) {
	var j rowJSON
	if err := json.Unmarshal(line, &j); err != nil {
		return Row{}, syntaxError(err)
	}
	if err := j.check(); err != nil {
		return Row{}, err
	}
	r := Row{Finding: contam.Finding{
		Record:  j.Record.place(),
		Item:    contam.ItemRef{Benchmark: j.Item.Benchmark, Index: *j.Item.Index},
		Verdict: contam.Verdict(j.Verdict), Fail: *j.Fail, Score: *j.Score,
		Components: contam.Components{
			Stem: orNaN(j.Components.Stem), Options: orNaN(j.Components.Options), Statements: orNaN(j.Components.Statements),
		},
		Run: j.Run, Answer: j.Answer, Rule: j.Rule, Config: j.Config,
	}}
	if j.Next != nil {
		next := j.Next.place()
		r.Next = &next
	}
	for i := range j.Spans {
		s := &j.Spans[i]
		r.Spans = append(r.Spans, contam.Span{Start: s.Start, End: s.End, Pointer: s.pointer(r.Record.Pointer), Next: s.Next})
	}
	for i := range j.Alignment {
		e := &j.Alignment[i]
		r.Alignment = append(r.Alignment, contam.Edit{
			Op: e.Op, Data: contam.Range{Start: e.Data[0], End: e.Data[1]}, Item: contam.Range{Start: e.Item[0], End: e.Item[1]},
			Option: e.Option, Pointer: e.pointer(r.Record.Pointer), Next: e.Next,
		})
	}
	if w := j.Waived; w != nil {
		r.Waived = &Waiver{Reason: w.Reason, Author: w.Author, Expires: w.Expires}
	}
	return r, nil
}

// check refuses a row that says less than a finding must.
func (j *rowJSON) check() error {
	missing := ""
	switch {
	case j.Schema != contam.Schema:
		return fail.New(fail.Failed, msg.Text{"not a row of a contamination report: schema %q, want %q", "不是污染检查报告的数据行：schema 为 %q，应为 %q"}, j.Schema, contam.Schema)
	case j.Record.File == "":
		missing = "record.file"
	case j.Item.Benchmark == "":
		missing = "item.benchmark"
	case j.Item.Index == nil:
		missing = "item.index"
	case j.Verdict == "":
		missing = "verdict"
	case j.Fail == nil:
		missing = "fail"
	case j.Score == nil:
		missing = "score"
	case j.Record.Line < 0:
		return fail.New(fail.Failed, msg.Text{"record.line %d is no line", "record.line %d 不是行号"}, j.Record.Line)
	case !(*j.Score >= 0 && *j.Score <= 1):
		return fail.New(fail.Failed, msg.Text{"score %v is not between 0 and 1", "score %v 不在 0 与 1 之间"}, *j.Score)
	}
	if missing != "" {
		return fail.New(fail.Failed, msg.Text{"the row has no %s", "该行缺少 %s"}, missing)
	}
	for i := range j.Spans {
		if s := &j.Spans[i]; s.Start < 0 || s.End < s.Start {
			return noRange(s.Start, s.End)
		}
	}
	for i := range j.Alignment {
		for _, r := range [][2]int{j.Alignment[i].Data, j.Alignment[i].Item} {
			if r[0] < 0 || r[1] < r[0] {
				return noRange(r[0], r[1])
			}
		}
	}
	return nil
}

func noRange(from, to int) error {
	return fail.New(fail.Failed, msg.Text{"%d–%d is no range", "%d–%d 不是有效区间"}, from, to)
}

func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

// syntaxError says where a line stops being the JSON it should be.
func syntaxError(err error) *fail.Error {
	var se *json.SyntaxError
	if errors.As(err, &se) {
		return fail.New(fail.Failed, msg.Text{"not valid JSON at byte %d: %v", "第 %d 字节处不是有效的 JSON：%v"}, se.Offset, err)
	}
	return fail.New(fail.Failed, msg.Text{"%v", "%v"}, err)
}

// maxLine bounds a line of a report, which no finding comes near: what is longer
// is another kind of file.
const maxLine = 16 << 20

// ReadAll reads a whole report; blank lines are skipped. All bad lines come back
// in one error, each with its place, beside the rows that are good. name is what
// errors call the file.
func ReadAll(name string, r io.Reader) ([]Row, error) {
	var rows []Row
	var bad fail.List
	for line, err := range lines(name, r) {
		var row Row
		if err == nil {
			if row, err = ParseRow(line.text); err != nil {
				err = at(err, name, line.no)
			}
		}
		if err == nil {
			rows = append(rows, row)
			continue
		}
		if bad = append(bad, fail.All(err)...); len(bad) < maxBad {
			continue
		}
		if len(rows) == 0 {
			return nil, fail.New(fail.Failed, msg.Text{"no contamination report: not one of its first %d lines is a finding", "不是污染检查报告：前 %d 行中没有一行是发现"}, maxBad).At(fail.Where{File: name}).
				Hint(msg.Text{"drydock contam check --report FILE writes one", "drydock contam check --report FILE 会写出报告"})
		}
		bad = append(bad, fail.New(fail.Failed, msg.Text{"and more lines like that", "另有更多此类行"}).At(fail.Where{File: name}))
		break
	}
	return rows, bad.OrNil()
}

// maxBad is after how many bad lines reading is given up: it is no report.
const maxBad = 20

type numberedLine struct {
	no   int
	text []byte // without its end; valid until the next line
}

// lines yields the lines of a file that are not blank.
func lines(name string, r io.Reader) iter.Seq2[numberedLine, error] {
	return func(yield func(numberedLine, error) bool) {
		br := bufio.NewReaderSize(r, 64<<10)
		var long []byte
		for no := 1; ; no++ {
			line, err := br.ReadSlice('\n')
			for long = long[:0]; errors.Is(err, bufio.ErrBufferFull); line, err = br.ReadSlice('\n') {
				if long = append(long, line...); len(long) > maxLine {
					yield(numberedLine{}, fail.New(fail.Failed, msg.Text{"the line is longer than %d MiB: no report", "该行超过 %d MiB：不是报告"}, maxLine>>20).At(fail.Where{File: name, Line: no}))
					return
				}
			}
			if len(long) > 0 {
				long = append(long, line...)
				line = long
			}
			if text := bytes.TrimSpace(line); len(text) > 0 && !yield(numberedLine{no, text}, nil) {
				return
			}
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(numberedLine{}, fail.New(fail.Failed, msg.Text{"%v", "%v"}, err).At(fail.Where{File: name, Line: no}))
				return
			}
		}
	}
}

// at places an error at a line.
func at(err error, name string, line int) error {
	var e *fail.Error
	if errors.As(err, &e) {
		return e.At(fail.Where{File: name, Line: line})
	}
	return err
}

// Where writes the place of a finding as editors take it: file:line, else file
// and locator or id.
func Where(p *contam.Place) string {
	switch {
	case p.Line > 0:
		return p.File + ":" + itoa(p.Line)
	case p.Locator != "":
		return p.File + " " + p.Locator
	}
	return strings.TrimSpace(p.File + " " + p.ID)
}
