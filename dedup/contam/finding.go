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

// A Span is a range of characters (code points) of a field's text, as it stands
// in the data, the end not included.
type Span struct {
	Start, End int
	Pointer    string // JSON pointer of the field; empty for plain text
	Next       bool   // the field is one of Finding.Next, not of Finding.Record
}

// A Range is a range of characters (code points), the end not included.
type Range struct{ Start, End int }

// What an [Edit] does to the item's text to make it the text of the data.
const (
	OpEqual   = "equal"   // the same letters, but for what folding takes away
	OpReplace = "replace" // other letters
	OpInsert  = "insert"  // letters only the data has; Item is empty
	OpDelete  = "delete"  // letters only the item has; Data is empty
)

// An Edit is one step of an alignment. Data counts in the field Pointer names,
// Item in the text of the item's stem or of one of its options, as the benchmark
// has it.
type Edit struct {
	Op      string
	Data    Range
	Item    Range
	Option  int    // from 1; 0: the stem
	Pointer string // of the data's field
	Next    bool   // as of a Span
}

// A Finding is one benchmark item found in one record, with the evidence.
type Finding struct {
	Record     Place
	Next       *Place // the record behind, where the item goes on in it; else nil
	Item       ItemRef
	Verdict    Verdict
	Fail       bool    // whether the verdict fails the check at these settings
	Score      float64 // 0–1; how much of the item is there
	Components Components
	Spans      []Span // those of the field Record.Pointer names first, rising, then field by field
	Alignment  []Edit // stem first, then option by option, in the order of the item
	Run        int    // letters of the longest stretch that data and item share
	Answer     string // the answer the record gives, if it shows one; it decides nothing
	Rule       string // which rule decided
	Config     string // hash of the settings
}

// Shown returns the spans of the field Record.Pointer names.
func (f *Finding) Shown() []Span {
	n := 0
	for n < len(f.Spans) && !f.Spans[n].Next && f.Spans[n].Pointer == f.Record.Pointer {
		n++
	}
	return f.Spans[:n]
}

// Append writes the finding as one line of a report, line end included.
func (f *Finding) Append(dst []byte) []byte {
	dst = append(dst, `{"schema":"`+Schema+`","record":`...)
	dst = f.Record.append(dst)
	if f.Next != nil {
		dst = append(dst, `,"next":`...)
		dst = f.Next.append(dst)
	}
	dst = append(dst, `,"item":{"benchmark":`...)
	dst = drydock.AppendJSONString(dst, f.Item.Benchmark)
	dst = appendInt(dst, `,"index":`, f.Item.Index)
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
		dst = appendInt(dst, `{"start":`, s.Start)
		dst = appendInt(dst, `,"end":`, s.End)
		dst = f.appendField(dst, s.Pointer, s.Next)
		dst = append(dst, '}')
	}
	dst = append(dst, `],"alignment":[`...)
	for i := range f.Alignment {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = f.appendEdit(dst, &f.Alignment[i])
	}
	dst = appendInt(dst, `],"run":`, f.Run)
	dst = append(dst, `,"answer":`...)
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

func (p *Place) append(dst []byte) []byte {
	dst = append(dst, `{"id":`...)
	dst = drydock.AppendJSONString(dst, p.ID)
	dst = append(dst, `,"file":`...)
	dst = drydock.AppendJSONString(dst, p.File)
	dst = appendInt(dst, `,"line":`, p.Line)
	dst = append(dst, `,"pointer":`...)
	dst = drydock.AppendJSONString(dst, p.Pointer)
	if p.SHA256 != "" {
		dst = append(dst, `,"sha256":`...)
		dst = drydock.AppendJSONString(dst, p.SHA256)
	}
	if p.Locator != "" {
		dst = append(dst, `,"locator":`...)
		dst = drydock.AppendJSONString(dst, p.Locator)
	}
	return append(dst, '}')
}

func (f *Finding) appendEdit(dst []byte, e *Edit) []byte {
	dst = append(dst, `{"op":"`...)
	dst = append(dst, e.Op...)
	dst = appendInt(dst, `","data":[`, e.Data.Start)
	dst = appendInt(dst, `,`, e.Data.End)
	dst = appendInt(dst, `],"item":[`, e.Item.Start)
	dst = appendInt(dst, `,`, e.Item.End)
	dst = append(dst, ']')
	if e.Option > 0 {
		dst = appendInt(dst, `,"option":`, e.Option)
	}
	return append(f.appendField(dst, e.Pointer, e.Next), '}')
}

// appendField writes which field a range counts in, where it is not the one
// that Record.Pointer names.
func (f *Finding) appendField(dst []byte, pointer string, next bool) []byte {
	if next || pointer != f.Record.Pointer {
		dst = append(dst, `,"pointer":`...)
		dst = drydock.AppendJSONString(dst, pointer)
	}
	if next {
		dst = append(dst, `,"next":true`...)
	}
	return dst
}

func appendInt(dst []byte, key string, v int) []byte {
	return strconv.AppendInt(append(dst, key...), int64(v), 10)
}

// appendShare writes a number of 0–1 with at most four places; NaN is null.
func appendShare(dst []byte, v float64) []byte {
	if math.IsNaN(v) {
		return append(dst, "null"...)
	}
	return strconv.AppendFloat(dst, math.Round(v*1e4)/1e4, 'f', -1, 64)
}
