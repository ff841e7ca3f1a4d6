package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/dataprep/rowfile"
	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"

	"go.yaml.in/yaml/v3"
)

// htmlWhole reads all that a web page shows.
const htmlWhole = "whole"

// PrepOptions are the flags of prep: a pipeline of one output without a
// configuration file.
type PrepOptions struct {
	Inputs          []string // files, folders or patterns
	To              string   // row shape, one of emit.Emitters
	Contract        string   // template contract of training rows; empty: the shape's own
	Layout          string   // hub or disk: Out is a folder
	Out             string   // file to write
	Dropped         string   // file for what was left out; empty: beside Out, when there is any
	Key             string   // answers in a second file
	Images          string   // folder for the images of questions
	Fixes           string   // corrections to questions
	Lang            string
	License         string
	Encoding        string
	HTML            string // main or whole; empty: main
	PasswordFile    string
	AllowRestricted bool
	OCRCommand      string
	MinConfidence   float64 // of questions
	NoOptions       string  // what becomes of questions without options: drop (also if empty), short
	SpecialTokens   string  // refuse or escape; empty: refuse
	Seed            uint64
	Options         Options
}

// A PrepResult says what became of the inputs. Sums covers the whole way from
// the sources to the rows.
type PrepResult struct {
	Out     string `json:"out"`
	Dropped string `json:"dropped,omitempty"` // the file, when one was written
	Sidecar string `json:"sidecar,omitempty"`
	// Info is LLaMA-Factory's dataset_info.json, Settings the lines of the trainer's
	// configuration that belong to the rows.
	Info     string         `json:"dataset_info_file,omitempty"`
	Settings []string       `json:"settings,omitempty"`
	Rows     int            `json:"rows"`
	Sums     drydock.Sums   `json:"sums"`
	Kinds    map[string]int `json:"kinds"` // records read, by kind
	Inputs   []InputResult  `json:"inputs"`
	Fixes    *FixResult     `json:"fixes,omitempty"`
	Images   *ImagesResult  `json:"images,omitempty"`
	Notes    []Note         `json:"notes"`
	// Conflicts are questions that stand with different answers.
	Conflicts []Conflict     `json:"conflicts,omitempty"`
	LeftOut   map[string]int `json:"left_out"` // records read but not for this shape, by reason
	Letters   map[string]int `json:"letters,omitempty"`
}

// Prep reads the inputs and writes rows. It keeps nothing else: its stages live
// in a folder beside the output that is removed at the end.
func Prep(ctx context.Context, o PrepOptions, env Env) (*PrepResult, error) {
	out, err := filepath.Abs(o.Out)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(filepath.Dir(out), ".drydock-prep-*")
	if err != nil {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = &fs.PathError{Op: "write", Path: o.Out, Err: pe.Err} // the name the user knows
		}
		return nil, err
	}
	defer os.RemoveAll(dir)
	cfg, missing, err := o.config(dir)
	if err != nil {
		return nil, err
	}
	r := newRunner(cfg, env, o.Options)
	if err := r.validOptions(); err != nil {
		return nil, err
	}
	r.partial = missing
	r.benches, r.dropFile = map[string]*Bench{}, o.dropPath()
	if r.reviewed = r.dropFile; o.To == "question" {
		r.reviewed = o.Out // with the drop file beside it
	}
	if r.pdf = newPDF(env); r.pdf != nil {
		defer r.pdf.Close()
	}
	if err = r.prepare(ctx); err == nil {
		err = r.runCorpus(ctx)
	}
	if err = r.verdict(ctx, err); err != nil && fail.Code(err) != fail.Partial.Code() {
		return nil, err
	}
	res, cerr := o.collect(r, out)
	if cerr != nil {
		return nil, cerr
	}
	return res, err
}

// config makes the configuration prep stands for. Inputs that are not there are
// missing; the others go on, unless there are none.
func (o PrepOptions) config(dir string) (c *Config, missing fail.List, err error) {
	y := map[string]any{
		"version": 1, "seed": o.Seed,
		"dedup":  map[string]any{"exact": false},
		"output": []any{map[string]any{o.To: o.output()}},
	}
	if o.SpecialTokens != "" {
		y["special_tokens"] = o.SpecialTokens
	}
	as, steps := "question", []any{map[string]any{"parse_questions": map[string]any{"min_confidence": o.MinConfidence, "no_options": cmp.Or(o.NoOptions, "drop")}}}
	if target, _ := emit.TargetOf(o.To); o.To == "passage" || target.Task == emit.Pretrain {
		as, steps = "passage", []any{"split_sections"}
	}
	y["steps"] = steps
	if o.Images != "" {
		abs, err := filepath.Abs(o.Images)
		if err != nil {
			return nil, nil, err
		}
		y["images"] = abs
	}
	if o.Fixes != "" {
		abs, err := filepath.Abs(o.Fixes)
		if err != nil {
			return nil, nil, err
		}
		y["fixes"] = abs
	}
	var sources []any
	used := map[string]bool{}
	for _, in := range o.Inputs {
		abs, err := filepath.Abs(in)
		if err != nil {
			return nil, nil, err
		}
		if e := absent(in, abs); e != nil {
			missing = append(missing, e)
			continue
		}
		s := map[string]any{
			"name": sourceName(in, used), "path": abs, "as": as,
			"lang": o.Lang, "license": o.License, "encoding": o.Encoding, "allow_restricted": o.AllowRestricted,
			"ocr_command": o.OCRCommand,
		}
		if o.HTML != "" {
			s["html"] = o.HTML
		}
		for _, f := range []struct{ option, path string }{{"key", o.Key}, {"password_file", o.PasswordFile}} {
			if f.path == "" {
				continue
			}
			if abs, err = filepath.Abs(f.path); err != nil {
				return nil, nil, err
			}
			if e := absent(f.path, abs); e != nil {
				e.Kind = fail.Usage
				return nil, nil, e
			}
			s[f.option] = abs
		}
		sources = append(sources, s)
	}
	if len(sources) == 0 {
		return nil, nil, missing
	}
	y["sources"] = sources
	src, err := yaml.Marshal(y)
	if err != nil {
		return nil, nil, err
	}
	cfg, findings := Parse(filepath.Join(dir, ConfigName), src)
	for _, f := range findings {
		f.Kind, f.Where = fail.Usage, fail.Where{} // no file of the user's is meant
	}
	return cfg, missing, findings.OrNil()
}

// absent says in the user's own words that an input is not there; nil: it is.
func absent(in, abs string) *fail.Error {
	_, files, err := expand(abs)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fail.New(fail.Partial, msg.Text{"%s: no such file", "%s：文件不存在"}, in)
	case err != nil:
		return fail.New(fail.Partial, msg.Text{"%v", "%v"}, err)
	case len(files) == 0:
		return fail.New(fail.Partial, msg.Text{"%s: no file matches", "%s：没有匹配的文件"}, in)
	}
	return nil
}

// sourceName calls a source after its file, with a number when that is taken.
func sourceName(path string, used map[string]bool) string {
	base := filepath.Base(path)
	name := strings.TrimSuffix(base, filepath.Ext(base))
	for n := 2; used[name]; n++ {
		name = fmt.Sprintf("%s-%d", strings.TrimSuffix(base, filepath.Ext(base)), n)
	}
	used[name] = true
	return name
}

// collect moves the files to where they were asked for.
func (o PrepOptions) collect(r *runner, out string) (*PrepResult, error) {
	src, steps, rows := r.result.Stage(StageSources), r.result.Stage(StageSteps), r.result.Stage(StageOutput)
	res := &PrepResult{
		Out: o.Out, Kinds: src.Kinds, Inputs: src.Inputs, Fixes: src.Fixes, Images: src.Images, Notes: src.Notes, Conflicts: src.Conflicts,
		Rows: rows.Output[0].Rows, LeftOut: rows.Output[0].LeftOut, Letters: rows.Output[0].Letters,
	}
	if res.Images != nil {
		res.Images.Dir = o.Images // as it was asked for
	}
	res.Sums = *src.Sums
	res.Sums.Made += steps.Sums.Made
	res.Sums.Merged += steps.Sums.Merged
	res.Sums.Out = rows.Sums.Out
	dropped := map[string]int{}
	for _, s := range []*drydock.Sums{src.Sums, steps.Sums, rows.Sums} {
		for k, v := range s.Dropped {
			dropped[k] += v
		}
	}
	res.Sums.Dropped = dropped
	if err := res.Sums.Close(); err != nil {
		return nil, fail.Bug(err)
	}
	if err := o.place(inside(r.base, o.rowsName()), out); err != nil {
		return nil, err
	}
	if _, trains := emit.TargetOf(o.To); trains {
		res.Sidecar = sidecarOf(o.Out)
		if err := atomicfile.Replace(inside(r.base, "rows.sidecar.jsonl"), sidecarOf(out)); err != nil {
			return nil, err
		}
	}
	if err := o.trainerFiles(r, res, out); err != nil {
		return nil, err
	}
	return res, o.collectDrops(r, res)
}

// trainerFiles writes what a trainer needs beside the rows and names the settings
// that belong to them.
func (o PrepOptions) trainerFiles(r *runner, res *PrepResult, out string) error {
	t, trains := emit.TargetOf(o.To)
	if !trains {
		return nil
	}
	kind := r.cfg.Output[0].kind()
	res.Settings = TrainerSettings(t, r.cfg.Output[0].contract(), filepath.ToSlash(o.Out), kind)
	if t.Trainer != "llamafactory" {
		return nil
	}
	file, _, err := PutDatasetInfo(out, kind, t.Task)
	if err == nil && file != "" {
		res.Info = filepath.Join(filepath.Dir(o.Out), emit.DatasetInfoName)
	}
	return err
}

// rowsName is what the rows are called before they are moved to Out.
func (o PrepOptions) rowsName() string {
	if o.Layout != "" {
		return "rows"
	}
	return "rows" + strings.ToLower(filepath.Ext(o.Out))
}

// output are the options of the one output.
func (o PrepOptions) output() map[string]any {
	out := map[string]any{"path": o.rowsName()}
	if o.Layout != "" {
		out["layout"] = o.Layout
	}
	if o.Contract != "" {
		out["contract"] = o.Contract
	}
	return out
}

// place moves the rows to where they were asked for.
func (o PrepOptions) place(from, to string) error {
	if o.Layout == "" {
		return atomicfile.Replace(from, to)
	}
	if err := rowfile.CheckFolder(to); err != nil {
		return err
	}
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	return os.Rename(from, to)
}

// dropPath is where what was left out is listed.
func (o PrepOptions) dropPath() string {
	if o.Dropped != "" {
		return o.Dropped
	}
	return beside(o.Out, ".dropped.jsonl")
}

func (o PrepOptions) collectDrops(r *runner, res *PrepResult) error {
	to := o.dropPath()
	if o.Dropped == "" && res.Sums.DroppedTotal() == 0 {
		return nil
	}
	res.Dropped = to
	return atomicfile.Write(to, func(w io.Writer) error {
		for _, name := range []string{StageSources, StageSteps, StageOutput} {
			err := eachLine(r.stage(name).Path("dropped.jsonl"), func(line []byte) error {
				_, err := w.Write(line)
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}
