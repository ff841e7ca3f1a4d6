package eval

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval/evalscope"
	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// syncEvery is after how many rows the log is synced to the disk. A killed
// process loses none of its rows either way; a power cut may lose so many.
const syncEvery = 64

const runSchema = "drydock.eval.run/1"

// A rowLog is the append-only file of answers, one prediction row a line.
type rowLog struct {
	mu       sync.Mutex
	f        *os.File
	unsynced int
	buf      []byte
}

type runFile struct {
	Schema     string      `json:"schema"`
	Conditions []Condition `json:"conditions"`
}

// openLog opens the log of a layout and returns the rows it holds. The log's
// conditions must be the ones given.
func openLog(l evalscope.Layout, conditions []Condition, fresh bool) (*rowLog, []evalscope.Row, error) {
	base := filepath.Join(l.Dir, ".drydock", "eval", evalscope.ModelID(l.Model), l.Bench)
	path, cond := base+".jsonl", base+".json"
	if fresh {
		for _, p := range []string{path, cond} {
			if err := os.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, nil, err
			}
		}
	}
	switch old, err := os.ReadFile(cond); {
	case err == nil:
		err := sameConditions(cond, old, conditions)
		if err != nil && bothBuiltin(old, conditions) {
			// a baseline's answers cost nothing: begin again
			return openLog(l, conditions, true)
		}
		if err != nil {
			return nil, nil, err
		}
	case errors.Is(err, fs.ErrNotExist):
		if err := notOurs(l, fresh); err != nil {
			return nil, nil, err
		}
		b, err := drydock.MarshalJSON(runFile{runSchema, conditions})
		if err != nil {
			return nil, nil, err
		}
		if err := atomicfile.WriteFile(cond, append(b, '\n')); err != nil {
			return nil, nil, err
		}
	default:
		return nil, nil, err
	}
	rows, err := repair(path)
	if err != nil {
		return nil, nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, nil, err
	}
	return &rowLog{f: f}, rows, nil
}

// notOurs refuses to write over files that another program made.
func notOurs(l evalscope.Layout, fresh bool) error {
	for _, p := range []string{l.Predictions(), l.Reviews()} {
		if _, err := os.Stat(p); err == nil && !fresh {
			return fail.New(fail.Refused, msg.Text{"%s is there, but no answers of ours", "%s 已存在，但没有本程序的回答记录"}, p).
				Hint(msg.Text{"name another work folder, or start over with --fresh", "请换一个工作目录，或用 --fresh 重新开始"})
		}
	}
	return nil
}

// sameConditions explains what differs.
func sameConditions(path string, old []byte, now []Condition) error {
	var f runFile
	if err := json.Unmarshal(old, &f); err != nil || f.Schema != runSchema {
		return fail.New(fail.Refused, msg.Text{"%s is not readable", "无法读取 %s"}, path).
			Hint(msg.Text{"start over with --fresh", "请用 --fresh 重新开始"})
	}
	was := map[string]string{}
	for _, c := range f.Conditions {
		was[c.Name] = c.Value
	}
	var en, zh []string
	for _, c := range now {
		if v, ok := was[c.Name]; !ok || v != c.Value {
			en = append(en, c.Name+" was "+short(v)+", is "+short(c.Value))
			zh = append(zh, c.Name+" 原为 "+short(v)+"，现为 "+short(c.Value))
		}
		delete(was, c.Name)
	}
	for _, c := range f.Conditions {
		if v, left := was[c.Name]; left {
			en = append(en, c.Name+" was "+short(v)+", is not set")
			zh = append(zh, c.Name+" 原为 "+short(v)+"，现未设置")
		}
	}
	if len(en) == 0 {
		return nil
	}
	return fail.New(fail.Refused, msg.Text{"the answers saved here were made otherwise: %s", "此处保存的回答是在不同条件下得到的：%s"},
		msg.Text{strings.Join(en, "; "), strings.Join(zh, "；")}).
		Hint(msg.Text{"name another work folder, or start over with --fresh", "请换一个工作目录，或用 --fresh 重新开始"})
}

// bothBuiltin reports whether the answers there and the ones to come are a
// baseline's.
func bothBuiltin(old []byte, now []Condition) bool {
	var f runFile
	if json.Unmarshal(old, &f) != nil {
		return false
	}
	builtin := Condition{"endpoint", "builtin"}
	return slices.Contains(f.Conditions, builtin) && slices.Contains(now, builtin)
}

func short(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	if s == "" {
		return "—"
	}
	return s
}

// repair reads the log and, when its end is torn or a line is bad, writes it
// anew with the whole rows only. What is left out is asked again.
func repair(path string) ([]evalscope.Row, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	kind, rows, problems := evalscope.Read(data)
	if kind != evalscope.KindPredictions {
		rows = nil
	}
	if len(problems) == 0 && (len(rows) > 0 || len(data) == 0) {
		return rows, nil
	}
	var out []byte
	for _, r := range rows {
		if r.Error != "" || r.Reply == nil {
			continue
		}
		out = evalscope.AppendPrediction(out, &evalscope.Prediction{
			Index: r.Index, Model: r.Model, Served: r.Served, ID: r.ID, Reply: *r.Reply, Usage: r.Usage,
		})
	}
	return rows, atomicfile.WriteFile(path, out)
}

// append writes one row with one write.
func (l *rowLog) append(p *evalscope.Prediction) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf = evalscope.AppendPrediction(l.buf[:0], p)
	if _, err := l.f.Write(l.buf); err != nil {
		return err
	}
	if l.unsynced++; l.unsynced >= syncEvery {
		l.unsynced = 0
		return l.f.Sync()
	}
	return nil
}

func (l *rowLog) close() error {
	err := l.f.Sync()
	return errors.Join(err, l.f.Close())
}
