package provenance

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"strings"

	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// A Writer writes a folder of ledgers. Rows are appended as they come and not
// held; what is kept is a count per step, reason and file. Sources come before
// the rows that name them; steps may come last, when their sums are known. It
// is for one goroutine.
type Writer struct {
	dir, tmp string
	files    [4]*ledger
	obj      object
	book     book
	closed   bool
}

// A ledger is one JSONL file being written and hashed.
type ledger struct {
	name string
	f    *os.File
	w    *bufio.Writer
	h    hash.Hash
	n    int64
	rows int
}

func (l *ledger) line(b []byte) error {
	l.h.Write(b)
	l.n += int64(len(b))
	l.rows++
	_, err := l.w.Write(b)
	return err
}

var ledgerNames = [4]string{SourcesFile, StepsFile, LineageFile, DroppedFile}

// Create begins a folder of ledgers that will stand at dir. Until Close the
// rows are in a hidden folder beside it; what stood at dir before stays. One
// writer at a time may write a folder: what a killed one left is removed.
func Create(dir string) (*Writer, error) {
	parent, pattern := filepath.Dir(filepath.Clean(dir)), ".tmp-"+filepath.Base(dir)+"-*"
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return nil, err
	}
	ents, err := os.ReadDir(parent)
	if err != nil {
		return nil, err
	}
	for _, e := range ents {
		if strings.HasPrefix(e.Name(), strings.TrimSuffix(pattern, "*")) {
			if err := os.RemoveAll(filepath.Join(parent, e.Name())); err != nil {
				return nil, err
			}
		}
	}
	tmp, err := os.MkdirTemp(parent, pattern)
	if err != nil {
		return nil, err
	}
	w := &Writer{dir: filepath.Clean(dir), tmp: tmp, book: newBook()}
	for i, name := range ledgerNames {
		f, err := os.Create(filepath.Join(tmp, name))
		if err != nil {
			w.Abort()
			return nil, err
		}
		w.files[i] = &ledger{name: name, f: f, w: bufio.NewWriterSize(f, 64<<10), h: sha256.New()}
	}
	return w, nil
}

// Source writes one input file and returns its id, which is that of
// [SourceID]. The same source twice is an error.
func (w *Writer) Source(s Source) (string, error) {
	s.ID = "src-" + digest(s.Name, s.File, s.SHA256)
	if err := w.book.source(&s); err != nil {
		return "", err
	}
	b := w.obj.source(&s)
	if w.obj.err != nil {
		return "", w.obj.err
	}
	return s.ID, w.files[0].line(b)
}

// Step writes one executed step and returns its id, which is that of
// [StepID]. Its sums must close, and its data outputs must add up to its out:
// the error names the step.
func (w *Writer) Step(s Step) (string, error) {
	params, err := canonical(s.Params)
	if err != nil {
		return "", fmt.Errorf("step %s: params: %w", s.Name, err)
	}
	if s.ID, err = StepID(s); err != nil {
		return "", err
	}
	if err := w.book.step(&s); err != nil {
		return "", err
	}
	b := w.obj.step(&s, params)
	if w.obj.err != nil {
		return "", w.obj.err
	}
	return s.ID, w.files[1].line(b)
}

// Lineage writes one emitted row. Rows of one file come in the order of its
// lines, from 1, without a gap.
func (w *Writer) Lineage(l Lineage) error {
	if err := w.book.lineage(&l); err != nil {
		return err
	}
	return w.files[2].line(w.obj.lineage(&l))
}

// Dropped writes one record that was left out.
func (w *Writer) Dropped(d Dropped) error {
	if err := w.book.dropped(&d); err != nil {
		return err
	}
	b := w.obj.dropped(&d)
	if w.obj.err != nil {
		return w.obj.err
	}
	return w.files[3].line(b)
}

// Close checks that rows and sums agree and puts the folder in place. When they
// do not, nothing is put in place and the error lists every step or file that
// does not close.
func (w *Writer) Close() (Root, error) {
	if w.closed {
		return Root{}, errors.New("ledgers " + w.dir + ": already closed")
	}
	defer w.Abort()
	if err := w.book.close().OrNil(); err != nil {
		return Root{}, err
	}
	var root Root
	for _, l := range w.files {
		err := l.w.Flush()
		if err == nil {
			err = l.f.Sync()
		}
		if cerr := l.f.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return Root{}, err
		}
		root.Files = append(root.Files, LedgerFile{
			Name: l.name, SHA256: hex.EncodeToString(l.h.Sum(nil)), Bytes: l.n, Rows: l.rows,
		})
		l.f = nil
	}
	root.Hash = rootHash(root.Files)
	if err := atomicfile.WriteFile(filepath.Join(w.tmp, RootFile), root.encode()); err != nil {
		return Root{}, err
	}
	// not a crime when a file system knows no modes
	_ = os.Chmod(w.tmp, 0o755)
	if err := replaceDir(w.tmp, w.dir); err != nil {
		return Root{}, err
	}
	w.closed = true
	return root, nil
}

// Abort throws the rows away. After Close it does nothing, so it can be
// deferred.
func (w *Writer) Abort() {
	if w.closed {
		return
	}
	w.closed = true
	for _, l := range w.files {
		if l != nil && l.f != nil {
			l.f.Close()
		}
	}
	os.RemoveAll(w.tmp)
}

// rootHash is the sha256 over the files' sha256, as bytes, in the order given.
func rootHash(files []LedgerFile) string {
	h := sha256.New()
	for _, f := range files {
		b, _ := hex.DecodeString(f.SHA256) // a wrong hash gives a wrong root
		h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// replaceDir puts the folder from at to. No system can replace a folder that
// is not empty in one move, so the old one is first moved aside: a crash
// between the moves leaves both whole under hidden names, never a mixture.
func replaceDir(from, to string) error {
	old := from + ".old"
	switch err := os.Rename(to, old); {
	case errors.Is(err, os.ErrNotExist):
		old = ""
	case err != nil:
		return err
	}
	if err := os.Rename(from, to); err != nil {
		if old != "" {
			err = errors.Join(err, os.Rename(old, to))
		}
		return err
	}
	if old != "" {
		return os.RemoveAll(old)
	}
	return nil
}

// a book is what is remembered of the rows, to check that everything closes.
type book struct {
	sources map[string]bool
	steps   map[string]*Step
	order   []string                  // step ids as written
	chains  map[string]bool           // step ids named by rows
	lines   map[string]int            // file → lines with lineage
	drops   map[string]map[string]int // step id → reason → rows
}

func newBook() book {
	return book{
		sources: map[string]bool{}, steps: map[string]*Step{}, chains: map[string]bool{},
		lines: map[string]int{}, drops: map[string]map[string]int{},
	}
}

func (b *book) source(s *Source) error {
	switch {
	case s.Name == "" && s.File == "":
		return errors.New("a source without a name and a file")
	case !isHex(s.SHA256, 64):
		return fmt.Errorf("source %s: sha256 %q is not 64 hex digits", s.File, s.SHA256)
	case b.sources[s.ID]:
		return fmt.Errorf("source %s: written twice", s.File)
	}
	b.sources[s.ID] = true
	return nil
}

func (b *book) step(s *Step) error {
	if b.steps[s.ID] != nil {
		return fmt.Errorf("step %s: written twice", s.title())
	}
	if err := s.closes(); err != nil {
		return err
	}
	kept := *s
	b.steps[s.ID] = &kept
	b.order = append(b.order, s.ID)
	return nil
}

func (b *book) lineage(l *Lineage) error {
	switch {
	case l.File == "" || l.ID == "":
		return fmt.Errorf("lineage of record %s: no file or no row id", l.Rec)
	case !isHex(l.Row, 32):
		return fmt.Errorf("lineage of %s line %d: row hash %q is not 32 hex digits", l.File, l.Line, l.Row)
	case l.Line != b.lines[l.File]+1:
		last := b.lines[l.File]
		b.lines[l.File] = l.Line // so that a reader finds one gap, not one per row
		return fmt.Errorf("lineage of %s: line %d after line %d", l.File, l.Line, last)
	case len(l.Chain) == 0:
		return fmt.Errorf("lineage of %s line %d: no step", l.File, l.Line)
	case len(l.Loc) == 0 && len(l.Parents) == 0:
		return fmt.Errorf("lineage of %s line %d: neither a source nor a parent", l.File, l.Line)
	}
	for _, loc := range l.Loc {
		if !b.sources[loc.Source] {
			return fmt.Errorf("lineage of %s line %d: source %s is not in %s", l.File, l.Line, loc.Source, SourcesFile)
		}
	}
	b.lines[l.File] = l.Line
	for _, id := range l.Chain {
		b.chains[id] = true
	}
	return nil
}

func (b *book) dropped(d *Dropped) error {
	if d.Step == "" || d.Reason == "" {
		return fmt.Errorf("dropped record %s: no step or no reason", d.Rec)
	}
	for _, loc := range d.Loc {
		if !b.sources[loc.Source] {
			return fmt.Errorf("dropped record %s: source %s is not in %s", d.Rec, loc.Source, SourcesFile)
		}
	}
	m := b.drops[d.Step]
	if m == nil {
		m = map[string]int{}
		b.drops[d.Step] = m
	}
	m[d.Reason]++
	return nil
}

// close compares the rows that were written with what the steps say.
func (b *book) close() fail.List {
	var list fail.List
	bad := func(t msg.Text, args ...any) { list = append(list, fail.New(fail.Failed, t, args...)) }
	files := map[string]int{}
	for _, id := range b.order {
		s := b.steps[id]
		for _, f := range s.Outputs {
			if f.Role == RoleData {
				files[f.Path] += f.Records
			}
		}
		for _, reason := range sortedKeys(union(s.Sums.Dropped, b.drops[id])) {
			if said, found := s.Sums.Dropped[reason], b.drops[id][reason]; said != found {
				bad(msg.Text{"step %s: says %d dropped as %s, %s has %d", "步骤 %s：称丢弃 %d 条（%s），%s 中有 %d 条"},
					s.title(), said, reason, DroppedFile, found)
			}
		}
		b.feeds(s, bad)
	}
	for _, id := range sortedKeys(union(b.chains, b.drops)) {
		if b.steps[id] == nil {
			bad(msg.Text{"rows name step %s, which is not in %s", "记录引用了步骤 %s，但 %s 中没有它"}, id, StepsFile)
		}
	}
	for _, f := range sortedKeys(union(files, b.lines)) {
		if said, found := files[f], b.lines[f]; said != found {
			bad(msg.Text{"file %s: its step says %d {record|records}, %s has %d", "文件 %s：步骤称有 %d 条记录，%s 中有 %d 条"}, f, said, LineageFile, found)
		}
	}
	return list
}

// feeds checks that a step took in what the steps before it gave out.
func (b *book) feeds(s *Step, bad func(msg.Text, ...any)) {
	if len(s.From) == 0 {
		return
	}
	n := 0
	for _, id := range s.From {
		if b.steps[id] == nil {
			bad(msg.Text{"step %s: comes from step %s, which is not in %s", "步骤 %s：来自步骤 %s，但 %s 中没有它"}, s.title(), id, StepsFile)
			return
		}
		n += b.steps[id].Sums.Out
	}
	if n != s.Sums.In {
		bad(msg.Text{"step %s: took in %d, the steps before it gave out %d", "步骤 %s：输入 %d 条，而之前的步骤输出 %d 条"}, s.title(), s.Sums.In, n)
	}
}

// closes checks the sums of one step by themselves.
func (s *Step) closes() error {
	if s.Name == "" || s.Order < 1 {
		return fmt.Errorf("step %q: no name, or an order below 1", s.Name)
	}
	if err := s.Sums.Close(); err != nil {
		return fail.New(fail.Failed, msg.Text{"step %s: %v", "步骤 %s：%v"}, s.title(), err)
	}
	n, any := 0, false
	for _, f := range s.Outputs {
		if !isHex(f.SHA256, 64) {
			return fmt.Errorf("step %s: output %s: sha256 %q is not 64 hex digits", s.title(), f.Path, f.SHA256)
		}
		if f.Role == RoleData {
			n, any = n+f.Records, true
		}
	}
	if any && n != s.Sums.Out {
		return fail.New(fail.Failed, msg.Text{"step %s: out is %d, its files have %d {record|records}", "步骤 %s：输出 %d 条，其文件有 %d 条记录"}, s.title(), s.Sums.Out, n)
	}
	return nil
}

// title names a step for people: its number and name.
func (s *Step) title() string { return fmt.Sprintf("%d %s", s.Order, s.Name) }

func union[A, B any](a map[string]A, b map[string]B) map[string]bool {
	u := make(map[string]bool, len(a)+len(b))
	for k := range a {
		u[k] = true
	}
	for k := range b {
		u[k] = true
	}
	return u
}

func isHex(s string, n int) bool {
	if len(s) != n {
		return false
	}
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
