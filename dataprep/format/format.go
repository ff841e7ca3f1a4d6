// Package format reads containers: bytes of a file on disk in, blocks with
// their places out. What a block means is the parsers' business.
//
// A caller opens a file with [Open], cuts it into units with [Format.Units]
// and reads each unit as a [drydock.Document] with [Format.Document].
package format

import (
	"context"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// HeadSize is how many bytes of a file [Detect] wants to see; fewer only when
// the file is shorter.
const HeadSize = 64 << 10

// Options are what a user may say about how an input is read.
type Options struct {
	Encoding        string      // name of the text encoding; empty: found from the bytes
	AllowRestricted bool        // read files whose owner forbids copying text
	Password        string      // opens an encrypted file
	WholePage       bool        // read of web pages also what is around their content
	Aside           bool        // read of JSON documents also the words beside the rows, as text
	CacheDir        string      // holds compiled code of the PDF reader between runs; empty: none
	Workers         int         // pages read at once; below 1: the number of usable CPUs
	OCR             *OCR        // reads pages of PDF files that show only a picture; nil: they are dropped
	PDF             *PDFRuntime // shared by all PDF files of a run; nil: one is made for each file
}

// A File is an input on disk. It is not changed once reading has begun.
type File struct {
	*drydock.File
	Path    string // as the operating system knows it
	Size    int64  // bytes
	Options Options
}

// A Unit is a part of a file that can be read by itself. The whole file is
// Index 0 from 0 to Size.
type Unit struct {
	File       *File
	Index      int   // from 0
	Start, End int64 // bytes
	Line       int   // number of the line or row that stands at Start, from 1

	bytes []byte        // from Start to End, where a [Feed] has read them
	enc   *textEncoding // of the file, where it is known
}

// A Note is something the user should know about a file that was read all the
// same. Codes are ASCII snake_case and stable.
type Note struct {
	Code   string
	Text   msg.Text
	Args   []any
	Damage bool // part of the file could not be read as it was meant: exit code 3
}

// In says the note in a language.
func (n Note) In(l msg.Lang) string { return n.Text.Format(l, n.Args...) }

// A Format is one kind of container.
type Format struct {
	Name    string   // ASCII, stable
	Exts    []string // usual extensions, lower case, with the dot
	Summary msg.Text
	// Sniff says by the first [HeadSize] bytes whether this is such a file. The
	// name is a help where the content leaves it open, never more than that.
	Sniff func(head []byte, name string) bool
	// Cut divides a file at places where a record cannot be torn. Reading all
	// units one after the other gives what one unit would. Nil: one unit.
	Cut func(context.Context, *File) iter.Seq2[Unit, error]
	// Read gives the blocks of a unit in order. A *drydock.Drop as error is one
	// bad row or page, and reading goes on; any other error is the last thing.
	// Callers go through [Format.Document], which adds what all formats share.
	Read func(context.Context, Unit, func(Note)) iter.Seq2[drydock.Block, error]
}

// claims reports whether the extension is one of the format's.
func (f *Format) claims(ext string) bool { return slices.Contains(f.Exts, ext) }

// HoldsRows reports whether the blocks of the format are rows, each a JSON object
// as it stood or as its columns give it.
func (f *Format) HoldsRows() bool {
	return slices.Contains([]string{jsonlName, jsonName, "parquet", "arrow"}, f.Name)
}

// Detect finds the format by content. wrongExt says that the name's extension
// promises another one. The error is of kind [fail.Partial] and names what the
// content looks like, where that is known.
func Detect(head []byte, name string) (f *Format, wrongExt bool, err error) {
	ext := strings.ToLower(filepath.Ext(name))
	all := All()
	for i := range all {
		if f = &all[i]; !f.Sniff(head, name) {
			continue
		}
		if ext == "" || f.claims(ext) {
			return f, false, nil
		}
		// .log or .dat promises nothing about text, .xlsx does; and a container
		// with a signature of its own should carry its own extension
		claimed := slices.ContainsFunc(all, func(o Format) bool { return o.claims(ext) })
		return f, claimed || f.Name != textName || looksBinaryExt(ext), nil
	}
	return nil, false, notRead(head, name)
}

// Units returns the parts of a file in order.
func (f *Format) Units(ctx context.Context, file *File) ([]Unit, error) {
	if file.Size == 0 {
		return nil, emptyFile(file)
	}
	if f.Cut == nil {
		return []Unit{{File: file, End: file.Size, Line: 1}}, nil
	}
	var units []Unit
	for u, err := range f.Cut(ctx, file) {
		if err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		units = append(units, u)
	}
	return units, nil
}

// Document gives a unit as a document. Its blocks may be read again; a note
// that was told once is not told again. note may be nil. A cancelled context
// ends the blocks with its cause, and a panic in the reader with a bug that
// names the file.
func (f *Format) Document(u Unit, note func(Note)) *drydock.Document {
	tell := once(note)
	return &drydock.Document{
		File: u.File.File,
		Blocks: func(ctx context.Context) iter.Seq2[drydock.Block, error] {
			return func(yield func(drydock.Block, error) bool) { f.guard(ctx, u, tell, yield) }
		},
	}
}

// guard passes the blocks on until the context ends. It recovers a panic of the
// reader, never one of the loop that takes the blocks.
func (f *Format) guard(ctx context.Context, u Unit, note func(Note), yield func(drydock.Block, error) bool) {
	outside := false // in the consumer's code, or finished: not ours to recover
	defer func() {
		if outside {
			return
		}
		if v := recover(); v != nil {
			yield(drydock.Block{}, fail.Bug(v).At(fail.Where{File: u.File.name()}))
		}
	}()
	pass := func(b drydock.Block, err error) bool {
		outside = true
		more := yield(b, err)
		outside = !more
		return more
	}
	for b, err := range f.Read(ctx, u, note) {
		if ctx.Err() != nil {
			pass(drydock.Block{}, context.Cause(ctx))
			return
		}
		if !pass(b, err) {
			return
		}
		if err != nil && !isDrop(err) {
			return
		}
	}
	if ctx.Err() != nil {
		pass(drydock.Block{}, context.Cause(ctx))
	}
}

func isDrop(err error) bool {
	_, ok := err.(*drydock.Drop)
	return ok
}

// once tells each note a single time, however often a document is read.
func once(note func(Note)) func(Note) {
	if note == nil {
		return func(Note) {}
	}
	var mu sync.Mutex
	told := map[string]bool{}
	return func(n Note) {
		mu.Lock()
		defer mu.Unlock()
		if key := n.Code + " " + n.In(msg.En); !told[key] {
			told[key] = true
			note(n)
		}
	}
}

// name is what messages call the file.
func (f *File) name() string {
	if f.File != nil && f.File.Name != "" {
		return f.File.Name
	}
	return filepath.ToSlash(f.Path)
}

// badBlock is the drop for a row, line or page that gives no block. text is
// what could be read of it.
func badBlock(f *File, at drydock.Locator, reason, detail, text string) *drydock.Drop {
	r := &drydock.Record{
		Passage: &drydock.Passage{Text: text},
		Origin:  drydock.Origin{File: f.File, At: at},
	}
	source, name := "", f.name()
	if f.File != nil {
		source = f.Source
	}
	r.ID = drydock.NewID(source, name, at.String(), reason, text)
	return &drydock.Drop{Record: r, Reason: reason, Detail: detail}
}
