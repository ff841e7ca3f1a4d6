package runstore

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/fail"
)

// Status is what became of a run. Started with no process behind it is a crash.
type Status string

// The states of a run.
const (
	Started   Status = "started"
	Success   Status = "success"
	Partial   Status = "partial"
	Failed    Status = "failed"
	Cancelled Status = "cancelled"
)

// An Info is run.json: the only place for clock times, the host and run ids.
type Info struct {
	Schema   string      `json:"schema"`
	ID       string      `json:"id"`
	Status   Status      `json:"status"`
	Command  string      `json:"command"`
	Start    time.Time   `json:"start"`
	End      *time.Time  `json:"end,omitempty"`
	Host     string      `json:"host"`
	PID      int         `json:"pid"`
	Tool     Tool        `json:"tool"`
	Exit     int         `json:"exit"`
	Error    string      `json:"error,omitempty"`
	Warnings int         `json:"warnings"`
	Stages   []StageInfo `json:"stages"`
	// Overrides lists the gates that were lifted by a flag.
	Overrides []string `json:"overrides,omitempty"`
}

// Tool says which program ran.
type Tool struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Dirty    bool   `json:"dirty,omitempty"`
	Program  string `json:"program"` // sha256 that the stage keys are built on
}

// A StageInfo is one stage of a run.
type StageInfo struct {
	Name    string            `json:"name"`
	Status  string            `json:"status"`        // done, cached, planned, skipped, failed
	Key     string            `json:"key,omitempty"` // hash of program, options and inputs
	Seconds float64           `json:"seconds"`
	Files   map[string]string `json:"files,omitempty"` // path → sha256 of what it wrote
}

// A Run is one run being written.
type Run struct {
	Dir    string // runs/ID
	mu     sync.Mutex
	info   Info
	events *os.File
}

// Begin makes runs/ID with status started. The id is the UTC time and, when two
// begin in one second, a number.
func Begin(runsDir string, info Info, config []byte) (*Run, error) {
	if err := os.MkdirAll(runsDir, 0o755); err != nil {
		return nil, err
	}
	base := info.Start.UTC().Format("20060102-150405")
	dir := ""
	for n := 1; ; n++ {
		info.ID = base
		if n > 1 {
			info.ID = fmt.Sprintf("%s-%d", base, n)
		}
		dir = filepath.Join(runsDir, info.ID)
		err := os.Mkdir(dir, 0o755)
		if err == nil {
			break
		}
		if !os.IsExist(err) {
			return nil, err
		}
	}
	info.Schema, info.Status = "drydock.run/1", Started
	r := &Run{Dir: dir, info: info}
	if len(config) > 0 {
		if err := atomicfile.WriteFile(filepath.Join(dir, "config.yaml"), config); err != nil {
			return nil, err
		}
	}
	f, err := os.OpenFile(filepath.Join(dir, eventsName), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	r.events = f
	return r, r.save()
}

// Info returns a copy of what run.json says.
func (r *Run) Info() Info {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.info
}

// Stage records a stage that ended.
func (r *Run) Stage(s StageInfo) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.info.Stages = append(r.info.Stages, s)
	return r.save()
}

// Event appends one line to events.jsonl.
func (r *Run) Event(at time.Time, kind string, fields map[string]any) error {
	m := map[string]any{"time": at.UTC().Format(time.RFC3339Nano), "type": kind}
	for k, v := range fields {
		m[k] = v
	}
	b, err := drydock.MarshalJSON(m)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	_, err = r.events.Write(append(b, '\n'))
	return err
}

// Record appends one line to events.jsonl: time and type, then the fields of v,
// which is an object as JSON.
func (r *Run) Record(at time.Time, kind string, v any) error {
	b, err := drydock.MarshalJSON(v)
	if err != nil {
		return err
	}
	if len(b) < 2 || b[0] != '{' {
		return fail.Bug("an event that is no object")
	}
	line := []byte(`{"time":`)
	line = drydock.AppendJSONString(line, at.UTC().Format(time.RFC3339Nano))
	line = append(line, `,"type":`...)
	line = drydock.AppendJSONString(line, kind)
	if len(b) > 2 {
		line = append(line, ',')
	}
	line = append(append(line, b[1:]...), '\n')
	r.mu.Lock()
	defer r.mu.Unlock()
	_, err = r.events.Write(line)
	return err
}

// EndWith closes the run with what became of it. It returns the error it was
// given, or else why the record could not be closed.
func (r *Run) EndWith(at time.Time, err error, warnings int) error {
	status, text, code := Success, "", fail.Code(err)
	switch {
	case code == fail.Interrupted.Code():
		status = Cancelled
	case code == fail.Partial.Code():
		status = Partial
	case err != nil:
		status = Failed
	}
	if err != nil {
		text = err.Error()
	}
	if eerr := r.End(at, status, code, text, warnings); err == nil {
		err = eerr
	}
	return err
}

// End closes the run with its status.
func (r *Run) End(at time.Time, s Status, exit int, errText string, warnings int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.info.Status, r.info.Exit, r.info.Error, r.info.Warnings = s, exit, errText, warnings
	r.info.End = &at
	r.events.Close()
	return r.save()
}

func (r *Run) save() error { return writeJSON(filepath.Join(r.Dir, "run.json"), r.info) }

// List returns the runs of a folder, newest first. A folder whose run.json
// cannot be read is named in bad and skipped.
func List(runsDir string) (runs []Info, bad []string, err error) {
	entries, err := os.ReadDir(runsDir)
	if os.IsNotExist(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		i, err := Read(filepath.Join(runsDir, e.Name()))
		if err != nil {
			bad = append(bad, e.Name())
			continue
		}
		runs = append(runs, i)
	}
	slices.SortFunc(runs, func(a, b Info) int {
		if c := b.Start.Compare(a.Start); c != 0 {
			return c
		}
		return strings.Compare(b.ID, a.ID)
	})
	return runs, bad, nil
}

// Read reads one run's run.json.
func Read(dir string) (Info, error) {
	b, err := os.ReadFile(filepath.Join(dir, "run.json"))
	if err != nil {
		return Info{}, err
	}
	var i Info
	err = json.Unmarshal(b, &i)
	return i, err
}
