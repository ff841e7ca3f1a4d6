package training

import (
	"path/filepath"
	"time"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/runstore"
	"github.com/drydock-ml/drydock/launch"
)

// A Config is what a training takes from its project and its drydock.yaml.
type Config struct {
	runstore.Project        // where paths start, and the record is kept
	File             string // drydock.yaml
	Source           []byte // its bytes
	Seed             uint64
	Against          []string // the benchmarks the data must have been checked against
	Sources          []Source

	Trainer launch.Trainer
	Name    string // of the trainer
	Params  string // its options in one form, whatever their layout
	Folder  string // where it works, from the project
	// At is the place of an option of the trainer in drydock.yaml: where it is
	// written, else where the trainer is; nil: not known.
	At func(option string) fail.Where

	// Rows finds the first output with rows of a kind; file is "" without one.
	Rows func(kind launch.RowKind) (file string, contract emit.Contract)
	Last LastRun
}

// A Source is one entry of sources.
type Source struct{ Name, License string }

// LastRun is what the project's last run of drydock run says of the data.
type LastRun interface {
	// Wrote reports whether it wrote a file of the project with these bytes.
	Wrote(file, sha256 string) bool
	// Checked tells the checks against benchmarks of what it wrote.
	Checked() ([]Checked, error)
	// Ledgers is the folder of its provenance, from the project.
	Ledgers() string
}

// Checked is the data held against one benchmark.
type Checked struct {
	Benchmark string
	Leaks     int // records that hold an item of it …
	Removed   int // … and how many of them are gone
}

// Env is what the surroundings give a training.
type Env struct {
	Now      func() time.Time
	Environ  []string    // of started programs
	Programs launch.Host // looks for programs; zero: this machine
	Host     string
	PID      int
	Tool     runstore.Tool
}

func (e Env) programs() launch.Host {
	if e.Programs.LookPath == nil {
		return launch.Local()
	}
	return e.Programs
}

// at is the place of an option, for what is wrong with its value.
func (c *Config) at(option string) fail.Where {
	if c.At == nil {
		return fail.Where{}
	}
	return c.At(option)
}

// data is the file with the rows, from the project, and their contract.
func (c *Config) data() (file string, contract emit.Contract) {
	return c.Rows(launch.RowsOf(c.Trainer))
}

// noData says which output the trainer's method needs.
func (c *Config) noData() *fail.Error {
	e := fail.New(fail.Config, msg.Text{"no output writes training rows", "没有任何输出写出训练数据"})
	shape := "qwen3_chat"
	switch launch.RowsOf(c.Trainer) {
	case launch.RowsPairs:
		shape = c.Name + "-dpo"
	case launch.RowsText:
		shape = "text"
	}
	return e.At(c.at("method")).Hint(msg.Text{"add an output of shape %s, in a .jsonl file", "请加入 %s 形式的输出（.jsonl 文件）"}, shape)
}

// configName is what messages call drydock.yaml.
func (c *Config) configName() string { return filepath.Base(c.File) }
