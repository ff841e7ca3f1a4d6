package contam

import (
	"math"
	"strconv"

	"github.com/drydock-ml/drydock"
)

// Schema names the shape of a report row.
const Schema = "drydock.contam/1"

// A Place says where in the checked data a match stands.
type Place struct {
	ID      string // the row's own id, else its content id
	File    string // as the caller names it
	Line    int    // from 1; 0: unknown
	Pointer string // JSON pointer of the field; empty for plain text
	// SHA256 is the hash, in hex, of what was checked as one record: the row's
	// bytes without its line end, else the text. A waiver names it.
	SHA256 string
	// Locator is the place in a source that is no row file (p12 l7), as
	// drydock.Locator writes it; empty: Line says it all.
	Locator string
}

// An ItemRef names a benchmark item.
type ItemRef struct {
	Benchmark string // name of the benchmark, without revision
	Index     int    // the row's own index, else its position from 0
}

// Components are the parts a score is made of, each from 0 to 1; NaN where an
// item has no such part.
type Components struct {
	Stem, Options, Statements float64
}

// A Span is a range of characters (code points) of the field's text, as it
// stands in the data, the end not included.
type Span struct{ Start, End int }

// A Finding is one benchmark item found in one record, with the evidence.
type Finding struct {
	Record     Place
	Item       ItemRef
	Verdict    Verdict
	Fail       bool    // whether the verdict fails the check at these settings
	Score      float64 // 0–1; how much of the item is there
	Components Components
	Spans      []Span // of the field Record.Pointer names, rising
	Answer     string // the answer the record gives, if it shows one; it decides nothing
	Rule       string // which rule decided
	Config     string // hash of the settings
}

// Append writes the finding as one line of a report, line end included.
func (f *Finding) Append(dst []byte) []byte {
	dst = append(dst, `{"schema":"`+Schema+`","record":{"id":`...)
	dst = drydock.AppendJSONString(dst, f.Record.ID)
	dst = append(dst, `,"file":`...)
	dst = drydock.AppendJSONString(dst, f.Record.File)
	dst = append(dst, `,"line":`...)
	dst = strconv.AppendInt(dst, int64(f.Record.Line), 10)
	dst = append(dst, `,"pointer":`...)
	dst = drydock.AppendJSONString(dst, f.Record.Pointer)
	if f.Record.SHA256 != "" {
		dst = append(dst, `,"sha256":`...)
		dst = drydock.AppendJSONString(dst, f.Record.SHA256)
	}
	if f.Record.Locator != "" {
		dst = append(dst, `,"locator":`...)
		dst = drydock.AppendJSONString(dst, f.Record.Locator)
	}
	dst = append(dst, `},"item":{"benchmark":`...)
	dst = drydock.AppendJSONString(dst, f.Item.Benchmark)
	dst = append(dst, `,"index":`...)
	dst = strconv.AppendInt(dst, int64(f.Item.Index), 10)
	dst = append(dst, `},"verdict":`...)
	dst = drydock.AppendJSONString(dst, string(f.Verdict))
	dst = append(dst, `,"fail":`...)
	dst = strconv.AppendBool(dst, f.Fail)
	dst = append(dst, `,"score":`...)
	dst = appendShare(dst, f.Score)
	dst = append(dst, `,"components":{"stem":`...)
	dst = appendShare(dst, f.Components.Stem)
	dst = append(dst, `,"options":`...)
	dst = appendShare(dst, f.Components.Options)
	dst = append(dst, `,"statements":`...)
	dst = appendShare(dst, f.Components.Statements)
	dst = append(dst, `},"spans":[`...)
	for i, s := range f.Spans {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"start":`...)
		dst = strconv.AppendInt(dst, int64(s.Start), 10)
		dst = append(dst, `,"end":`...)
		dst = strconv.AppendInt(dst, int64(s.End), 10)
		dst = append(dst, '}')
	}
	dst = append(dst, `],"answer":`...)
	if f.Answer == "" {
		dst = append(dst, "null"...)
	} else {
		dst = drydock.AppendJSONString(dst, f.Answer)
	}
	dst = append(dst, `,"rule":`...)
	dst = drydock.AppendJSONString(dst, f.Rule)
	dst = append(dst, `,"config":`...)
	dst = drydock.AppendJSONString(dst, f.Config)
	return append(dst, "}\n"...)
}

// appendShare writes a number of 0–1 with at most four places; NaN is null.
func appendShare(dst []byte, v float64) []byte {
	if math.IsNaN(v) {
		return append(dst, "null"...)
	}
	return strconv.AppendFloat(dst, math.Round(v*1e4)/1e4, 'f', -1, 64)
}
