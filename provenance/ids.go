package provenance

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/drydock-ml/drydock"
)

// SourceID derives the id of a source from its name, its path and its bytes.
func SourceID(f *drydock.File) string {
	return (&Source{Name: f.Source, File: f.Name, SHA256: f.SHA256}).contentID()
}

func (s *Source) contentID() string { return "src-" + digest(s.Name, s.File, s.SHA256) }

// StepID derives the id of a step from its place, name, tool, version, options
// and seed. Sums and files are left out, so that lineage rows can name a step
// before it has ended.
func StepID(s Step) (string, error) {
	params, err := canonical(s.Params)
	if err != nil {
		return "", fmt.Errorf("step %s: params: %w", s.Name, err)
	}
	seed := ""
	if s.Seed != nil {
		seed = strconv.FormatUint(*s.Seed, 10)
	}
	return "step-" + digest(strconv.Itoa(s.Order), s.Name, toolOf(s), s.ToolVersion, string(params), seed), nil
}

// RowHash is the first 16 bytes of the sha256 of a data row, without its line
// end, as hex: what ties a lineage row to the very bytes of its line.
func RowHash(line []byte) string {
	sum := sha256.Sum256(bytes.TrimRight(line, "\r\n"))
	return hex.EncodeToString(sum[:16])
}

// LineageOf begins the lineage row of a record: all but file, line, row hash,
// chain and split.
func LineageOf(r *drydock.Record) Lineage {
	l := Lineage{
		Rec: r.ID, ID: r.RowID, Loc: locOf(r), Parents: r.Parents,
		Kind: string(r.Kind()), Lang: r.Lang,
	}
	if l.ID == "" {
		l.ID = r.ID.String()
	}
	if q := r.Question; q != nil {
		l.Form, l.Options = string(q.Kind), len(q.Options)
		if len(q.Options) > 0 {
			l.Answer = strings.Join(q.Answer, "")
		}
	}
	return l
}

func locOf(r *drydock.Record) []Loc {
	if r.Origin.File == nil {
		return nil
	}
	return []Loc{{Source: SourceID(r.Origin.File), At: r.Origin.At, Key: r.Origin.Key}}
}

func toolOf(s Step) string {
	if s.Tool == "" {
		return "drydock"
	}
	return s.Tool
}

// digest is 12 hex digits over length-prefixed parts.
func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:", len(p))
		io.WriteString(h, p)
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
}

// canonical rewrites a JSON object with sorted keys and no spaces, numbers as
// they stood; nil becomes {}.
func canonical(raw drydock.RawJSON) ([]byte, error) {
	if len(raw) == 0 {
		return []byte("{}"), nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("more than one JSON value")
	}
	return drydock.MarshalJSON(v)
}

func sha256hex(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
