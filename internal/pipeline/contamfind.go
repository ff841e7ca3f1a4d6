package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/format"
)

// A CheckedRecord is what a contamination check looks at as one record.
type CheckedRecord struct {
	Raw  []byte // its bytes: a row, or text; valid until the next record
	JSON bool   // it is a row of JSON
	At   drydock.Locator
}

// SHA256 is the hash that findings name the record by, in hex.
func (r *CheckedRecord) SHA256() string {
	sum := sha256.Sum256(r.Raw)
	return hex.EncodeToString(sum[:])
}

// EachChecked calls take with every record of a file as [ContamCheck] reads it,
// until take returns false. It is how a finding's record is found again.
func EachChecked(ctx context.Context, name string, o format.Options, note func(format.Note), take func(*CheckedRecord) (more bool)) error {
	in, err := OpenInput(ctx, name, o, note)
	if err != nil {
		return err
	}
	for _, u := range in.Units {
		more, err := eachCheckedOf(ctx, in.Kind.Document(u, note), take)
		if err != nil || !more {
			return err
		}
	}
	return nil
}

func eachCheckedOf(ctx context.Context, doc *drydock.Document, take func(*CheckedRecord) bool) (more bool, err error) {
	var text []byte
	var first drydock.Locator
	for b, err := range doc.Blocks(ctx) {
		r := CheckedRecord{At: b.At}
		var drop *drydock.Drop
		switch {
		case errors.As(err, &drop):
			if drop.Record == nil || drop.Record.Passage == nil {
				continue
			}
			r.Raw, r.At = []byte(drop.Record.Passage.Text), drop.Record.Origin.At
		case err != nil:
			return false, err
		case b.Raw != nil:
			r.Raw, r.JSON = b.Raw, true
		case b.Cells != nil:
			r.Raw = []byte(strings.Join(b.Cells, "\n"))
		default:
			if text == nil {
				first = b.At
			}
			text = append(append(text, b.Text...), '\n')
			continue
		}
		if !take(&r) {
			return false, nil
		}
	}
	return len(text) == 0 || take(&CheckedRecord{Raw: text, At: first}), nil
}
