package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/runstore"
	"github.com/drydock-ml/drydock/provenance"

	"go.yaml.in/yaml/v3"
)

// Where the documents lie, relative to the project.
const (
	ledgerDir = "build/provenance"
	cardStem  = "build/card"
)

// runCard writes the ledgers and the documents made from them. They are cheap
// and pure, so they are made whenever the data is; the card is written again
// when the evaluations are there.
func (r *runner) runCard(ctx context.Context) error {
	took := r.clock()
	res := StageResult{Name: StageCard, Status: StatusDone, Files: cardFiles()}
	if r.opt.DryRun {
		res.Status, res.Reason, res.Files = StatusPlanned, "follows the output", nil
		return r.done(res)
	}
	if err := r.writeLedgers(ctx); err != nil {
		return err
	}
	sum, err := provenance.Load(ctx, os.DirFS(filepath.Join(r.base, filepath.FromSlash(ledgerDir))))
	if err != nil {
		return err
	}
	r.ledgers = &sum
	if err := r.writeDocuments(); err != nil {
		return err
	}
	if err := r.writeCard(nil); err != nil {
		return err
	}
	res.Seconds = took()
	return r.done(res)
}

func cardFiles() []string {
	return []string{
		cardStem + ".en.md", cardStem + ".zh.md",
		"build/fields.md", "build/fields.zh.md", "build/sources.md", "build/sources.zh.md", ledgerDir,
	}
}

// A ledgerRun writes the four ledgers from what the stages left.
type ledgerRun struct {
	r     *runner
	w     *provenance.Writer
	order int
	last  []string // ids of the steps before, the chain of a row
}

func (r *runner) writeLedgers(ctx context.Context) error {
	w, err := provenance.Create(filepath.Join(r.base, filepath.FromSlash(ledgerDir)))
	if err != nil {
		return err
	}
	defer w.Abort()
	l := &ledgerRun{r: r, w: w}
	if err := l.sources(); err != nil {
		return err
	}
	if err := l.readAndSteps(); err != nil {
		return err
	}
	if err := l.corpus(); err != nil {
		return err
	}
	if err := l.outputs(ctx); err != nil {
		return err
	}
	_, err = w.Close()
	return err
}

// sources writes every input, and the files that rows name as their origin.
func (l *ledgerRun) sources() error {
	res := l.r.result.Stage(StageSources)
	seen := map[string]bool{}
	write := func(f *drydock.File, s provenance.Source) error {
		id := provenance.SourceID(f)
		if seen[id] || f.SHA256 == "" {
			return nil
		}
		seen[id] = true
		s.Name, s.File, s.SHA256, s.License = f.Source, f.Name, f.SHA256, provenance.LicenseOf(f.License)
		if f.Lang != "" {
			s.Languages = []string{f.Lang}
		}
		s.Parser.Version = l.r.env.Tool.Version
		_, err := l.w.Source(s)
		return err
	}
	next := 0
	for i := range l.r.inputs {
		in := &l.r.inputs[i]
		if in.file == nil || in.format == nil {
			continue
		}
		s := provenance.Source{
			Bytes: in.file.Size, Records: res.Inputs[i].Records, MediaType: mediaTypes[in.format.Name],
			Parser: provenance.ParserInfo{Name: in.format.Name},
		}
		for _, n := range res.Notes {
			if n.File == in.name {
				s.Warnings = append(s.Warnings, n.En)
			}
		}
		langs := map[string]bool{}
		for ; next < len(l.r.parts) && l.r.partOf(next, in); next++ {
			for lang := range l.r.parts[next].meta.Langs {
				langs[lang] = true
			}
		}
		s.Languages = slices.Sorted(maps.Keys(langs))
		if err := write(in.file.File, s); err != nil {
			return err
		}
	}
	for _, p := range l.r.parts {
		for _, f := range p.meta.Files {
			if err := write(f, provenance.Source{}); err != nil {
				return err
			}
		}
	}
	return nil
}

// mediaTypes are the registered names of the formats (IANA media types).
var mediaTypes = map[string]string{
	"pdf": "application/pdf", "html": "text/html", "csv": "text/csv", "text": "text/plain", "markdown": "text/markdown",
	"json": "application/json", "jsonl": "application/jsonlines",
	"docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	"xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}

// step writes one step that follows the last ones.
func (l *ledgerRun) step(s provenance.Step) (string, error) {
	l.order++
	s.Order = l.order
	s.ToolVersion, s.VCSRevision = l.r.env.Tool.Version, l.r.env.Tool.Revision
	id, err := l.w.Step(s)
	return id, err
}

func (l *ledgerRun) next(s provenance.Step) (string, error) {
	if len(l.last) > 0 {
		s.From = l.last[len(l.last)-1:]
	}
	id, err := l.step(s)
	if err == nil {
		l.last = append(l.last, id)
	}
	return id, err
}

func (l *ledgerRun) readAndSteps() error {
	src, steps := l.r.result.Stage(StageSources), l.r.result.Stage(StageSteps)
	id, err := l.next(provenance.Step{Name: "read", Params: l.parserParams(), Sums: *src.Sums})
	if err != nil {
		return err
	}
	if err := l.drops(l.r.stage(StageSources).Path("dropped.jsonl"), func(string) string { return id }); err != nil {
		return err
	}
	ids := map[string]string{}
	in := src.Sums.Out
	for i, s := range steps.Steps {
		sums := s.Sums
		if sums.In != in {
			return fmt.Errorf("step %s took in %d records, the step before gave out %d", s.Name, sums.In, in)
		}
		in = sums.Out
		if ids[s.Name], err = l.next(provenance.Step{Name: s.Name, Params: paramsOf(l.r.steps[i].node), Sums: sums}); err != nil {
			return err
		}
	}
	return l.drops(l.r.stage(StageSteps).Path("dropped.jsonl"), func(step string) string { return ids[step] })
}

// parserParams are the options of everything that turned files into records.
func (l *ledgerRun) parserParams() drydock.RawJSON {
	m := map[string]json.RawMessage{}
	for _, p := range l.r.parsers {
		m[p.name] = json.RawMessage(paramsOf(p.node))
	}
	if f := l.r.result.Stage(StageSources).Fixes; f != nil {
		m["fixes"] = json.RawMessage(f.params())
	}
	b, err := drydock.MarshalJSON(m) // sorts the keys
	if err != nil {
		return nil
	}
	return b
}

func (l *ledgerRun) corpus() error {
	dd, cc := l.r.result.Stage(StageDedup), l.r.result.Stage(StageContam)
	id, err := l.next(provenance.Step{
		Name: StageDedup, Sums: *dd.Sums,
		Params: l.r.cfg.Dedup.params(),
	})
	if err != nil {
		return err
	}
	if err := l.drops(l.r.stage(StageDedup).Path("dropped.jsonl"), func(string) string { return id }); err != nil {
		return err
	}
	against, err := drydock.MarshalJSON(map[string]any{
		"against": append([]string{}, l.r.cfg.Contamination.Against...), "on_hit": l.r.cfg.Contamination.OnHit,
	})
	if err != nil {
		return err
	}
	s := provenance.Step{Name: StageContam, Sums: *cc.Sums, Params: against}
	for _, c := range cc.Contam {
		name, rev, _ := strings.Cut(c.Benchmark, "@")
		k := provenance.Contamination{
			Benchmark: name, Revision: rev, SHA256: c.SHA256, Items: c.Items, Blind: c.BlindItems,
			Config: c.Config, OnHit: l.r.cfg.Contamination.OnHit, Verdicts: c.Verdicts,
			Failed: c.Leaks, Removed: c.Removed, Residual: c.Leaks - c.Removed,
			Scanned: []provenance.Scanned{{What: provenance.ScannedRecords, Records: c.Records}},
		}
		s.Bench = append(s.Bench, k)
	}
	if id, err = l.next(s); err != nil {
		return err
	}
	if err := l.drops(l.r.stage(StageContam).Path("dropped.jsonl"), func(string) string { return id }); err != nil {
		return err
	}
	return l.mix()
}

// mix writes what was chosen and divided, with the report of it.
func (l *ledgerRun) mix() error {
	res := l.r.result.Stage(StageMix)
	if res == nil {
		return nil
	}
	report, err := l.artifact(mixFile, provenance.RoleReport, 1)
	if err != nil {
		return err
	}
	seed := l.r.cfg.Seed
	id, err := l.next(provenance.Step{
		Name: StageMix, Params: l.r.cfg.mixParams(), Seed: &seed, Sums: *res.Sums, Outputs: []provenance.Artifact{report},
	})
	if err != nil {
		return err
	}
	return l.drops(l.r.stage(StageMix).Path("dropped.jsonl"), func(string) string { return id })
}

// outputs writes one step for each output, with the lineage of its rows: those of
// training, then those of dev where a split made such a file.
func (l *ledgerRun) outputs(ctx context.Context) error {
	stage := l.r.stage(StageOutput)
	kept := l.r.result.Stage(StageOutput).Sums.In
	from := l.last[len(l.last)-1:]
	for i, o := range l.r.result.Stage(StageOutput).Output {
		seed := l.r.cfg.Seed
		step := provenance.Step{
			Name: o.Shape, From: from, Params: paramsOf(l.r.cfg.Output[i].node), Seed: &seed,
			Sums: drydock.Sums{In: kept, Dropped: o.LeftOut},
		}
		for _, f := range o.sides() {
			side, err := l.artifact(f.Sidecar, provenance.RoleSidecar, f.Rows)
			if err != nil {
				return err
			}
			step.Sums.Out += f.Rows
			rows, err := l.artifact(f.lines(), provenance.RoleData, f.Rows)
			if err != nil {
				return err
			}
			step.Outputs = append(step.Outputs, rows, side)
			if f.RowsFile == "" {
				continue
			}
			for _, part := range f.files() {
				step.Outputs = append(step.Outputs, provenance.Artifact{
					Path: part.Path, SHA256: part.SHA256, Bytes: part.Bytes, Records: part.Rows, Role: provenance.RoleTable,
				})
			}
		}
		// a record may give several rows, and several one
		if more := step.Sums.Out + step.Sums.DroppedTotal() - kept; more > 0 {
			step.Sums.Made = more
		} else {
			step.Sums.Merged = -more
		}
		id, err := l.step(step)
		if err != nil {
			return err
		}
		for n, f := range o.sides() {
			if err := l.lineage(ctx, stage.Path(lineageName(i, n)), f.lines(), id); err != nil {
				return err
			}
		}
		if err := l.drops(stage.Path(fmt.Sprintf("left-%d.jsonl", i)), func(string) string { return id }); err != nil {
			return err
		}
	}
	return nil
}

// lineage copies a stage's lineage of one file into the ledger.
func (l *ledgerRun) lineage(ctx context.Context, from, file, step string) error {
	line := 0
	return eachLine(from, func(b []byte) error {
		if line%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		line++
		row := provenance.Lineage{}
		if err := json.Unmarshal(b, &row); err != nil {
			return err
		}
		row.File, row.Line = file, line
		row.Chain = append(slices.Clone(l.last), step)
		return l.w.Lineage(row)
	})
}

func (l *ledgerRun) artifact(path string, role provenance.Role, rows int) (provenance.Artifact, error) {
	full := inside(l.r.base, path)
	info, err := os.Stat(full)
	if err != nil {
		return provenance.Artifact{}, err
	}
	sum, err := runstore.HashFile(full)
	return provenance.Artifact{Path: path, SHA256: sum, Bytes: info.Size(), Records: rows, Role: role}, err
}

// drops copies a stage's dropped.jsonl into the ledger.
func (l *ledgerRun) drops(path string, stepID func(step string) string) error {
	return eachLine(path, func(line []byte) error {
		var row dropRow
		if err := json.Unmarshal(line, &row); err != nil {
			return err
		}
		d := provenance.Dropped{
			ID: row.ID, Step: stepID(row.Step), Reason: row.Reason, Detail: row.Detail, Evidence: row.Evidence,
		}
		if d.Evidence != nil {
			d.Detail = ""
		}
		if row.ID != "" {
			if err := d.Rec.UnmarshalText([]byte(row.ID)); err != nil {
				return err
			}
		}
		if o := row.Origin; o != nil {
			at, err := drydock.ParseLocator(o.Locator)
			if err != nil {
				return err
			}
			f := &drydock.File{Source: o.Source, Name: o.File, SHA256: o.SHA256}
			d.Loc = []provenance.Loc{{Source: provenance.SourceID(f), At: at}}
		}
		return l.w.Dropped(d)
	})
}

// paramsOf writes the options of a component as JSON; nothing is {}.
func paramsOf(n *yaml.Node) drydock.RawJSON {
	if n == nil {
		return drydock.RawJSON("{}")
	}
	m := map[string]any{}
	if err := n.Decode(&m); err != nil {
		return drydock.RawJSON("{}") // the spec has read it; an empty value decodes to nothing
	}
	b, err := drydock.MarshalJSON(m)
	if err != nil {
		return drydock.RawJSON("{}")
	}
	return b
}

// writeDocuments writes fields and sources in both languages.
func (r *runner) writeDocuments() error {
	var fields []provenance.FileFields
	for _, o := range r.result.Stage(StageOutput).Output {
		for _, f := range o.sides() {
			for _, of := range [][2]string{{f.Path, inside(r.base, f.lines())}, {f.Sidecar, inside(r.base, f.Sidecar)}} {
				rows, err := fieldsOf(of[0], of[1])
				if err != nil {
					return err
				}
				fields = append(fields, rows)
			}
		}
	}
	for _, lang := range []msg.Lang{msg.En, msg.Zh} {
		suffix := ".md"
		if lang == msg.Zh {
			suffix = ".zh.md"
		}
		for name, text := range map[string][]byte{
			"build/fields":  provenance.FieldsMD(lang, fields, nil),
			"build/sources": provenance.SourcesMD(lang, *r.ledgers),
		} {
			if err := writeChanged(inside(r.base, name+suffix), text); err != nil {
				return err
			}
		}
	}
	return nil
}

// fieldsOf reads which fields an output has: its rows, one a line, stand in from.
func fieldsOf(path, from string) (provenance.FileFields, error) {
	f, err := os.Open(from)
	if err != nil {
		return provenance.FileFields{}, err
	}
	defer f.Close()
	s, err := provenance.ReadSchema(f)
	if err != nil {
		return provenance.FileFields{}, fmt.Errorf("%s: %w", path, err)
	}
	return provenance.FileFields{Path: path, Rows: s.Rows, Fields: s.Fields()}, nil
}

// writeCard writes the card in both languages.
func (r *runner) writeCard(evals []provenance.Evaluation) error {
	in := provenance.CardInput{
		Title: r.cfg.Card.Title, Version: r.env.Tool.Version, Summary: *r.ledgers, Evaluations: evals,
	}
	for _, lang := range []msg.Lang{msg.En, msg.Zh} {
		if err := writeChanged(inside(r.base, cardStem+"."+lang.String()+".md"), provenance.Card(lang, in)); err != nil {
			return err
		}
	}
	return nil
}

// writeChanged writes a file unless it already holds these bytes, so that
// unchanged documents keep their times.
func writeChanged(path string, b []byte) error {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, b) {
		return nil
	}
	return atomicfile.WriteFile(path, b)
}
