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
	s.ID = s.contentID()
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
