package runstore

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// A Holder says who holds a project's lock.
type Holder struct {
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Start time.Time `json:"start"`
}

// A Lock is held until Close or the end of the process.
type Lock struct {
	f    *os.File
	name string // who holds it, beside the lock file
}

// errLocked is what the system twins of tryLock return when another process
// holds the file.
var errLocked = errors.New("locked")

// Acquire takes the project's lock. When another process has it, Acquire waits
// up to wait and then refuses, naming the holder.
func (p Project) Acquire(ctx context.Context, me Holder, wait time.Duration) (*Lock, error) {
	path := filepath.Join(p.Dir, ".drydock", "lock")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	const pause = 100 * time.Millisecond
	for {
		err = tryLock(f)
		if !errors.Is(err, errLocked) {
			break
		}
		if wait <= 0 {
			f.Close()
			return nil, lockedBy(p)
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, context.Cause(ctx)
		case <-time.After(pause):
			wait -= pause
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	b, err := drydock.MarshalJSON(me)
	if err == nil {
		// beside the lock file: Windows forbids others to read a locked range
		err = os.WriteFile(path+".json", b, 0o644)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &Lock{f, path + ".json"}, nil
}

// Held reports whether a process has the project's lock now. It makes nothing;
// where the lock cannot be tried, it says no.
func (p Project) Held() bool {
	f, err := os.OpenFile(filepath.Join(p.Dir, ".drydock", "lock"), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close() // which gives it back at once
	return errors.Is(tryLock(f), errLocked)
}

func lockedBy(p Project) error {
	var h Holder
	if b, err := os.ReadFile(filepath.Join(p.Dir, ".drydock", "lock.json")); err == nil {
		_ = json.Unmarshal(b, &h) // an unreadable name only makes the message poorer
	}
	return fail.New(fail.Refused,
		msg.Text{
			"another drydock run is using this project: process %d on %s, since %s",
			"另一个 drydock 正在使用此项目：进程 %d，主机 %s，开始于 %s",
		}, h.PID, h.Host, h.Start.Format(time.RFC3339)).
		Hint(msg.Text{"wait until it ends, or stop that process", "请等待其结束，或停止该进程"})
}

// Close gives the lock back. The holder's name goes with it: hosts and clock
// times stay only where runs are recorded.
func (l *Lock) Close() error {
	err := os.Remove(l.name)
	if os.IsNotExist(err) {
		err = nil
	}
	return errors.Join(err, l.f.Close())
}
