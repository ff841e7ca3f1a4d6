package report

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/textnorm"
	"github.com/drydock-ml/drydock/provenance"
)

// A Hit is a row with the texts a reader wants to see of it.
type Hit struct {
	Row
	Fields   []Field           // of the data; empty: not at hand
	Question *drydock.Question // the item; nil: not at hand
	// Redacted says that Fields and Question hold hashes instead of texts.
	Redacted bool
}

// View marks what the two sides share and where they differ.
func (h *Hit) View() View {
	if !h.Redacted {
		return SideBySide(&h.Finding, h.Fields, h.Question)
	}
	var v View
	for i := range h.Fields {
		v.Data = append(v.Data, Stretch{h.Fields[i].Text, Plain})
	}
	if h.Question != nil {
		v.Item = []Stretch{{h.Question.Stem, Plain}}
	}
	return v
}

// Sentence says in words what was found. It holds no text of either side.
func (r *Row) Sentence(lang msg.Lang) string {
	means, ok := provenance.VerdictMeaning(string(r.Verdict))
	if !ok {
		means = msg.Text{string(r.Verdict), string(r.Verdict)}
	}
	return msg.Text{"%s: item %d of %s, score %.2f: %s", "%s：题目 %d（%s），得分 %.2f：%s"}.
		Format(lang, r.Verdict, r.Item.Index, r.Item.Benchmark, r.Score, means)
}

// Redact replaces every text of the benchmark, and what matched it, by its hash,
// so that the finding can be shown to anyone. Names that quote the item (an id, a
// key) are hidden too.
func (h *Hit) Redact() {
	if h.Question != nil {
		key := textnorm.Key(questionText(h.Question))
		h.Record.ID = hideQuote(h.Record.ID, key)
		h.Record.Pointer = hidePointer(h.Record.Pointer, key)
		h.Spans, h.Alignment = slices.Clone(h.Spans), slices.Clone(h.Alignment)
		for i := range h.Spans {
			h.Spans[i].Pointer = hidePointer(h.Spans[i].Pointer, key)
		}
		for i := range h.Alignment {
			h.Alignment[i].Pointer = hidePointer(h.Alignment[i].Pointer, key)
		}
		if h.Next != nil {
			next := *h.Next
			next.ID, next.Pointer = hideQuote(next.ID, key), hidePointer(next.Pointer, key)
			h.Next = &next
		}
		h.Question = &drydock.Question{Stem: textHash(questionText(h.Question))}
	}
	if len(h.Fields) > 0 {
		h.Fields = []Field{{Text: textHash(joined(h.Fields))}}
	}
	h.Redacted = true
}

// quoteLen letters of an item in a row are a quotation of it.
const quoteLen = 5

// hideQuote replaces a name that holds letters of an item by its hash. key is
// the item, folded.
func hideQuote(name, key string) string {
	folded := []rune(textnorm.Key(name))
	for i := 0; i+quoteLen <= len(folded); i++ {
		if strings.Contains(key, string(folded[i:i+quoteLen])) {
			return textHash(name)
		}
	}
	return name
}

// hidePointer is hideQuote for every step of a JSON pointer.
func hidePointer(p, key string) string {
	if p == "" {
		return p
	}
	steps := strings.Split(p, "/")
	for i := range steps {
		steps[i] = hideQuote(steps[i], key)
	}
	return strings.Join(steps, "/")
}

func textHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// questionText is an item as one text: the stem and each option on its line.
func questionText(q *drydock.Question) string {
	s := q.Stem
	for _, o := range q.Options {
		s += "\n" + o.Text
	}
	return s
}

// A Spool keeps hits on disk, in order, for the pages that are written when all
// is known: a check may find more than memory holds. It belongs to one goroutine.
type Spool struct {
	file *os.File
	w    *bufio.Writer
	n    int
	// Items finds the item of a hit that is read back, which the spool does not
	// keep; nil: none is known.
	Items func(contam.ItemRef) *drydock.Question
	// Redact makes what is read back [Hit.Redact]ed.
	Redact bool
}

// NewSpool begins a spool in a new file of dir; empty: the system's folder for
// such. Close removes it.
func NewSpool(dir string) (*Spool, error) {
	f, err := os.CreateTemp(dir, "drydock-contam-*")
	if err != nil {
		return nil, err
	}
	return &Spool{file: f, w: bufio.NewWriterSize(f, 1<<16)}, nil
}

// Add keeps a hit.
func (s *Spool) Add(h *Hit) error {
	s.n++
	line := h.Row.Append(nil)
	fields, err := drydock.MarshalJSON(h.Fields)
	if err != nil {
		return err
	}
	line = append(append(line, fields...), '\n')
	_, err = s.w.Write(line)
	return err
}

// Hits yields the hits in the order they were added. It may be called again.
func (s *Spool) Hits() iter.Seq2[Hit, error] {
	return func(yield func(Hit, error) bool) {
		if err := s.w.Flush(); err != nil {
			yield(Hit{}, err)
			return
		}
		if _, err := s.file.Seek(0, io.SeekStart); err != nil {
			yield(Hit{}, err)
			return
		}
		defer s.file.Seek(0, io.SeekEnd) // more may be added
		r := bufio.NewReaderSize(s.file, 1<<16)
		for range s.n {
			h, err := s.read(r)
			if !yield(h, err) || err != nil {
				return
			}
		}
	}
}

func (s *Spool) read(r *bufio.Reader) (h Hit, err error) {
	line, err := r.ReadBytes('\n')
	if err != nil {
		return h, err
	}
	if h.Row, err = ParseRow(bytes.TrimSpace(line)); err != nil {
		return h, err
	}
	if line, err = r.ReadBytes('\n'); err != nil {
		return h, err
	}
	if err = json.Unmarshal(line, &h.Fields); err == nil && s.Items != nil {
		h.Question = s.Items(h.Item)
	}
	if s.Redact {
		h.Redact()
	}
	return h, err
}

// Close removes the spool.
func (s *Spool) Close() error {
	return errors.Join(s.file.Close(), os.Remove(s.file.Name()))
}
