// Package step holds the steps drydock.yaml can list: what parses documents and
// what works on records, one file each.
package step

import (
	"context"

	"github.com/drydock-ml/drydock"
)

// perRecord is a step that looks at one record at a time. It returns why the
// record is dropped; the empty reason keeps it.
type perRecord func(r *drydock.Record) (reason, detail string)

// Do implements [drydock.Step].
func (f perRecord) Do(ctx context.Context, in []*drydock.Record) ([]*drydock.Record, []drydock.Drop, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	out := in[:0]
	var dropped []drydock.Drop
	for _, r := range in {
		if reason, detail := f(r); reason != "" {
			dropped = append(dropped, drydock.Drop{Record: r, Reason: reason, Detail: detail})
			continue
		}
		out = append(out, r)
	}
	return out, dropped, nil
}
