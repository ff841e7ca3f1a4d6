package submission

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/provenance"
	"github.com/klauspost/compress/flate"
)

// A Spec says what goes into a package. Paths are of this machine; they do not
// appear in it.
type Spec struct {
	Team      string   // letters, digits, Chinese characters, - and _
	Methods   []string // sft, lora … as in [Declaration]
	BaseModel string   // as its maker calls it
	Benchmark Benchmark
	Model     string // the graded model, as it was asked for

	Report string // the technical report, .docx or .pdf

	Reviews     string   // the graded file
	Predictions string   // may be empty
	EvalReport  string   // the evaluation's report
	Configs     []string // task_config_*.yaml
	Logs        []string // of the evaluation

	Data       []string          // training files
	Sidecars   []string          // beside them
	Scripts    []string          // files of the process
	Provenance string            // folder of ledgers
	TrainDocs  map[string][]byte // generated papers by name under train/: fields.md, sources.md, card.zh.md, scripts/drydock.yaml …

	// Extra are other files by their name in the package: kb/…, agent/…, model/….
	Extra map[string]string

	Options Options // for the check of what was written
}

// FileName returns the name a team's package has.
func FileName(team string) string { return team + "_submission.zip" }

// Pack lays the package out, runs the gates over it, writes it to name whole or
// not at all, and verifies the file that was written. The same parts give the
// same bytes. A gate that fails is in the report and the package is there to
// look at; the error is for parts that are missing and files that cannot be
// written.
func Pack(ctx context.Context, s Spec, name string) (Report, error) {
	p := &packer{}
	if err := p.parts(&s); err != nil {
		return Report{}, err
	}
	if err := p.check(ctx, s.Options, FileName(s.Team)); err != nil {
		return Report{}, err
	}
	err := atomicfile.Write(name, func(w io.Writer) error { return p.write(ctx, w) })
	if err != nil {
		return Report{}, err
	}
	return Verify(ctx, name, s.Options)
}

// a packer gathers the parts of a package by their names in it.
type packer struct {
	bundle
	missing fail.List
}

func (p *packer) bytes(name string, data []byte) {
	p.entries = append(p.entries, entry{name: name, size: int64(len(data)), open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)), nil
	}})
}

// file adds a file of this machine and returns its name in the package.
func (p *packer) file(name, from string, what msg.Text) string {
	if from == "" {
		return ""
	}
	info, err := os.Stat(from)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a file", from)
	}
	if err != nil {
		p.missing = append(p.missing, fail.New(fail.Submission, msg.Text{"%s: %v", "%s：%v"}, what, err))
		return ""
	}
	p.entries = append(p.entries, entry{name: name, size: info.Size(), open: func() (io.ReadCloser, error) { return os.Open(from) }})
	return name
}

func (p *packer) files(dir string, from []string, what msg.Text) []string {
	var names []string
	for _, f := range from {
		if name := p.file(path.Join(dir, filepath.Base(f)), f, what); name != "" {
			names = append(names, name)
		}
	}
	return names
}

func (p *packer) parts(s *Spec) error {
	d := Declaration{Schema: Schema, Team: s.Team, Methods: s.Methods, BaseModel: s.BaseModel, Benchmark: s.Benchmark}
	bench := s.Benchmark.Name
	d.Report = p.file("report/"+filepath.Base(s.Report), s.Report, msg.Text{"the technical report", "技术报告"})
	d.Results.Model = s.Model
	d.Results.Reviews = p.file("results/"+bench+"_default.jsonl", s.Reviews, msg.Text{"the graded file", "评分文件"})
	d.Results.Predictions = p.file("results/predictions/"+bench+"_default.jsonl", s.Predictions, msg.Text{"the predictions", "预测文件"})
	d.Results.Report = p.file("results/reports/"+bench+".json", s.EvalReport, msg.Text{"the evaluation report", "评测报告"})
	p.files("results/configs", s.Configs, msg.Text{"an evaluation configuration", "评测配置"})
	p.files("results/logs", s.Logs, msg.Text{"an evaluation log", "评测日志"})
	if err := p.train(s, &d); err != nil {
		return err
	}
	for name, from := range s.Extra {
		p.file(name, from, msg.Text{"an extra file", "附加文件"})
	}
	if err := p.missing.OrNil(); err != nil {
		return err
	}
	p.bytes(declarationName, d.Append(nil))
	p.zipped, p.close = true, func() error { return nil }
	for _, e := range p.entries {
		p.checkName(e.name, 0)
	}
	p.sort()
	if len(p.index) != len(p.entries) {
		return fail.New(fail.Submission, msg.Text{"two files would have the same name in the package", "提交包中会有两个同名文件"}).
			Hint(msg.Text{"data files, scripts and logs are named by their base names: rename one", "数据、脚本和日志按文件名命名：请为其中一个改名"})
	}
	return nil
}

func (p *packer) train(s *Spec, d *Declaration) error {
	d.Train.Data = p.files("train/data", s.Data, msg.Text{"training data", "训练数据"})
	d.Train.Sidecars = p.files("train/data", s.Sidecars, msg.Text{"a sidecar", "配套文件"})
	scripts := p.files("train/scripts", s.Scripts, msg.Text{"a script", "脚本"})
	for name, data := range s.TrainDocs {
		p.bytes("train/"+name, data)
		switch {
		case name == "fields.md":
			d.Train.Fields = "train/fields.md"
		case name == "sources.md":
			d.Train.Sources = "train/sources.md"
		case strings.HasPrefix(name, "scripts/"):
			scripts = append(scripts, name)
		}
	}
	if len(scripts) > 0 {
		d.Train.Scripts = "train/scripts"
	}
	if s.Provenance == "" {
		return nil
	}
	d.Train.Provenance = "train/provenance"
	for _, name := range []string{provenance.SourcesFile, provenance.StepsFile, provenance.LineageFile, provenance.DroppedFile, provenance.RootFile} {
		p.file("train/provenance/"+name, filepath.Join(s.Provenance, name), msg.Text{"the ledgers", "账本"})
	}
	return nil
}

// check runs the gates over the parts and adds the report and the manifest. The
// report is of the package without the report itself.
func (p *packer) check(ctx context.Context, o Options, base string) error {
	p.base = base
	if err := p.manifest(ctx); err != nil {
		return err
	}
	r, err := verify(ctx, &p.bundle, o)
	if err != nil {
		return err
	}
	b, err := r.JSON(msg.En)
	if err != nil {
		return err
	}
	p.bytes(reportName, b)
	return p.manifest(ctx)
}

// manifest writes the list of all other files with their hashes, as sha256sum
// does.
func (p *packer) manifest(ctx context.Context) error {
	if i, ok := p.index[manifestName]; ok {
		p.entries = append(p.entries[:i], p.entries[i+1:]...)
	}
	p.sort()
	all, err := survey(ctx, &p.bundle)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	for i, f := range all {
		if f.err != nil {
			return f.err
		}
		fmt.Fprintf(&b, "%s  %s\n", f.sha256, p.entries[i].name)
	}
	p.bytes(manifestName, b.Bytes())
	p.sort()
	return nil
}

// write writes the zip: names in order, one fixed time, no extra fields that
// depend on the machine.
func (p *packer) write(ctx context.Context, w io.Writer) error {
	z := zip.NewWriter(w)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, 6) })
	for _, e := range p.entries {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := add(z, e); err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
	}
	return z.Close()
}

func add(z *zip.Writer, e entry) error {
	r, err := e.open()
	if err != nil {
		return err
	}
	defer r.Close()
	method := zip.Deflate
	switch strings.ToLower(path.Ext(e.name)) {
	case ".docx", ".pdf", ".png", ".jpg", ".gz", ".zst", ".zip", ".parquet":
		method = zip.Store // packed already
	}
	// a time before 1980-01-02 is another day west of Greenwich, which some
	// tools refuse
	w, err := z.CreateHeader(&zip.FileHeader{Name: e.name, Method: method, Modified: time.Date(1980, 1, 2, 0, 0, 0, 0, time.UTC)})
	if err != nil {
		return err
	}
	n, err := io.Copy(w, r)
	if err == nil && n != e.size {
		err = errors.New("the file changed while it was packed")
	}
	return err
}
