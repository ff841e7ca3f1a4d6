package eval

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval/evalscope"
	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/parallel"
)

// syncEach is how often the log is synced to the disk while rows come in. A
// killed process loses none of its rows either way; a power cut may lose those
// of so long a time.
const syncEach = time.Second

// rawMost bounds how much of a reply's body is kept with its row, bytes. What is
// longer is kept as its length and sha256: the row itself has the whole text.
const rawMost = 256 << 10

const runSchema = "drydock.eval.run/1"

const preflightSchema = "drydock.eval.preflight/1"

// A rowLog is the append-only file of answers, one prediction row a line. Each
// has what EvalScope's rows have no place for under the key drydock.
type rowLog struct {
	mu    sync.Mutex
	f     *os.File
	looks string // the file of what was seen of the server, a look a line
	buf   []byte
	dirty atomic.Bool // there are rows the disk may not have
	stop  chan struct{}
	syncs *parallel.Task
}

// An extra is what a log row holds besides EvalScope's fields.
type extra struct {
	Attempts  int    `json:"attempts"`
	Millis    int64  `json:"ms"`
	Hedged    bool   `json:"hedged,omitempty"`
	Surrogate bool   `json:"lone_surrogate,omitempty"`
	Server    string `json:"server,omitempty"` // its fingerprint
	Raw       string `json:"raw,omitempty"`    // the body as it came
	RawBytes  int    `json:"raw_bytes,omitempty"`
	// what the model thought most probable: the letter, and its lead on the next
	// one's log probability, if there was a next
	Letter    string   `json:"letter,omitempty"`
	Lead      *float64 `json:"lead,omitempty"`
	RawSHA256 string   `json:"raw_sha256,omitempty"`
}

// preference reads what was saved of the most probable letter.
func (e *extra) preference() preference {
	p := preference{e.Letter, math.Inf(1)}
	if e.Lead != nil {
		p.margin = *e.Lead
	}
	return p
}

// A savedRow is a row of the log: an answer of an earlier run.
type savedRow struct {
	evalscope.Row
	extra extra
}

type runFile struct {
	Schema     string      `json:"schema"`
	Conditions []Condition `json:"conditions"`
}

// openLog opens the log of a layout and returns the rows it holds. The log's
// conditions must be the ones given.
func openLog(at evalscope.Layout, conditions []Condition, fresh bool) (*rowLog, []savedRow, error) {
	base := filepath.Join(at.Dir, ".drydock", "eval", evalscope.ModelID(at.Model), at.Bench)
	path, cond, looks := base+".jsonl", base+".json", base+".preflight.jsonl"
	if fresh {
		for _, p := range []string{path, cond, looks} {
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
			return openLog(at, conditions, true)
		}
		if err != nil {
			return nil, nil, err
		}
	case errors.Is(err, fs.ErrNotExist):
		if err := notOurs(at, fresh); err != nil {
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
	l := &rowLog{f: f, looks: looks, stop: make(chan struct{})}
	l.syncs = parallel.Go(l.sync)
	return l, rows, nil
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
func repair(path string) ([]savedRow, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	kind, rows, _ := evalscope.Read(data)
	if kind != evalscope.KindPredictions {
		rows = nil
	}
	lines := bytes.Split(bytes.TrimPrefix(data, []byte("\ufeff")), []byte{'\n'})
	saved := make([]savedRow, 0, len(rows))
	var whole []byte
	for _, r := range rows {
		if r.Error != "" || r.Reply == nil {
			continue
		}
		line := bytes.TrimRight(lines[r.Line-1], "\r")
		var own struct {
			Extra extra `json:"drydock"`
		}
		if err := json.Unmarshal(line, &own); err != nil {
			continue // not as we write it: ask again
		}
		own.Extra.Raw = "" // it is not needed again
		saved = append(saved, savedRow{r, own.Extra})
		whole = append(append(whole, line...), '\n')
	}
	if len(whole) == len(data) { // every byte belongs to a row
		return saved, nil
	}
	return saved, atomicfile.WriteFile(path, whole)
}

// append writes one row with one write.
func (l *rowLog) append(p *evalscope.Prediction, t trial, prefers preference) error {
	// rounded up: 0 says that no time was taken
	e := extra{Attempts: t.Attempts, Millis: (t.took + time.Millisecond - 1).Milliseconds(), Hedged: t.hedged, Surrogate: t.Surrogate, Server: t.Server}
	if e.Letter = prefers.letter; e.Letter != "" && !math.IsInf(prefers.margin, 0) {
		e.Lead = &prefers.margin
	}
	if len(t.Raw) <= rawMost {
		e.Raw = string(t.Raw)
	} else {
		sum := sha256.Sum256(t.Raw)
		e.RawBytes, e.RawSHA256 = len(t.Raw), hex.EncodeToString(sum[:])
	}
	own, err := drydock.MarshalJSON(e)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	b := evalscope.AppendPrediction(l.buf[:0], p)
	b = append(bytes.TrimSuffix(b, []byte("}\n")), `, "drydock": `...)
	b = append(append(b, own...), "}\n"...)
	l.buf = b
	if cap(l.buf) > 4*rawMost {
		l.buf = nil // one huge reply need not be held for ever
	}
	if _, err := l.f.Write(b); err != nil {
		return err
	}
	l.dirty.Store(true)
	return nil
}

// note keeps what was seen of the server: a run may be begun with one and ended
// with another.
func (l *rowLog) note(p *PreflightReport) error {
	line, err := drydock.MarshalJSON(struct {
		Schema string `json:"schema"`
		*PreflightReport
	}{preflightSchema, p})
	if err != nil {
		return err
	}
	f, err := os.OpenFile(l.looks, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// sync puts rows on the disk now and then, beside the requests, so that no
// answer waits for it.
func (l *rowLog) sync() error {
	tick := time.NewTicker(syncEach)
	defer tick.Stop()
	for {
		select {
		case <-l.stop:
			return nil
		case <-tick.C:
		}
		if l.dirty.Swap(false) {
			if err := l.f.Sync(); err != nil {
				return err
			}
		}
	}
}

// close syncs what is left and says what syncing met.
func (l *rowLog) close() error {
	close(l.stop)
	err := l.syncs.Wait()
	return errors.Join(err, l.f.Sync(), l.f.Close())
}
