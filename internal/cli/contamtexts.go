package cli

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/dedup/contam/report"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/pipeline"
)

// reviewTexts finds the texts of a report's findings again: a record by the hash
// of its bytes; what stands in an archive or among raw bytes by checking that
// file once more.
type reviewTexts struct {
	a     *app
	read  format.Options
	lacks []string
	found map[string]foundRecord        // by hash
	again map[placedItem][]report.Field // by place and item
}

type foundRecord struct {
	raw  []byte
	json bool
}

type placedItem struct {
	where string
	item  contam.ItemRef
}

// find looks for the records of the rows.
func (x *reviewTexts) find(ctx context.Context, rows []report.Row, benches []*pipeline.Bench) error {
	x.found, x.again = map[string]foundRecord{}, map[placedItem][]report.Field{}
	want := map[string]map[string]bool{} // by file
	var files, again []string
	add := func(p *contam.Place) {
		file, _, inside := strings.Cut(p.File, "!")
		if _, err := os.Stat(p.File); err == nil {
			file, inside = p.File, false // a name with that sign, and no member
		}
		if inside || strings.HasPrefix(p.Locator, "@") {
			if !slices.Contains(again, file) {
				again = append(again, file)
			}
			return
		}
		if want[file] == nil {
			want[file] = map[string]bool{}
			files = append(files, file)
		}
		want[file][p.SHA256] = true
	}
	for i := range rows {
		add(&rows[i].Record)
		if rows[i].Next != nil {
			add(rows[i].Next)
		}
	}
	for _, file := range files {
		if err := x.findIn(ctx, file, want[file]); err != nil {
			return err
		}
	}
	return x.checkAgain(ctx, again, benches)
}

// findIn reads one file for the records that are wanted.
func (x *reviewTexts) findIn(ctx context.Context, file string, want map[string]bool) error {
	if !x.there(file) {
		return nil
	}
	err := pipeline.EachChecked(ctx, file, x.read, nil, func(r *pipeline.CheckedRecord) bool {
		if sum := r.SHA256(); want[sum] {
			delete(want, sum)
			x.found[sum] = foundRecord{slices.Clone(r.Raw), r.JSON}
		}
		return len(want) > 0
	})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		x.lacks = append(x.lacks, x.a.say(msg.Text{"%s: %v", "%s：%v"}, file, err))
	case len(want) > 0:
		x.lacks = append(x.lacks, x.a.say(msg.Text{"%s: %d {record is|records are} no longer in it", "%s：%d 条记录已不在其中"}, file, len(want)))
	}
	return nil
}

func (x *reviewTexts) there(file string) bool {
	if _, err := os.Stat(file); err == nil {
		return true
	}
	x.lacks = append(x.lacks, x.a.say(msg.Text{"%s is not there: start where the check ran", "%s 不存在：请在运行检查的目录中执行"}, file))
	return false
}

// checkAgain checks archives and raw files once more, for the texts.
func (x *reviewTexts) checkAgain(ctx context.Context, files []string, benches []*pipeline.Bench) error {
	files = slices.DeleteFunc(files, func(f string) bool { return !x.there(f) })
	if len(files) == 0 || len(benches) == 0 {
		return nil
	}
	ix, err := contam.NewIndexOf(benchSets(benches), contam.Config{})
	if err != nil {
		return err
	}
	read := x.read
	read.PDF = format.NewPDFRuntime(read.CacheDir)
	defer read.PDF.Close()
	check := &pipeline.ContamCheck{
		Index: ix, Benches: benches, Read: read, Workers: x.a.workers(),
		Hit: func(h *pipeline.ContamHit) error {
			x.again[placedItem{report.Where(&h.Record), h.Item}] = slices.Clone(h.Fields)
			return nil
		},
	}
	_, err = check.Files(ctx, files)
	return err
}

// fields returns the texts of a row; nil when they were not found.
func (x *reviewTexts) fields(r *report.Row) []report.Field {
	rec, ok := x.found[r.Record.SHA256]
	if !ok {
		return x.again[placedItem{report.Where(&r.Record), r.Item}]
	}
	if !rec.json {
		return report.TextField(string(rec.raw), &r.Finding)
	}
	var next []byte
	if r.Next != nil {
		next = x.found[r.Next.SHA256].raw
	}
	return report.Fields(rec.raw, next, &r.Finding)
}
