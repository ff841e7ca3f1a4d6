//go:build !windows

package launch_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/launch"
)

// playFaultUnix acts what only Unix processes do.
func playFaultUnix(mode string) (code int, played bool) {
	switch mode {
	case "dies-by": // SIGKILL, as the system does when memory is full
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		time.Sleep(time.Minute)
	case "crashes": // as native code does; Go's own runtime would catch it
		_ = syscall.Exec("/bin/sh", []string{"sh", "-c", "kill -SEGV $$"}, nil)
		return 9, true
	case "told-to-end":
		_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
		time.Sleep(time.Minute)
	case "fills-the-disk": // with a limit on the size of files in the disk's place
		limit := syscall.Rlimit{Cur: 4096, Max: 4096}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			return 9, true
		}
		if err := os.MkdirAll("output/checkpoint-1", 0o755); err != nil {
			return 9, true
		}
		err := os.WriteFile("output/checkpoint-1/optimizer.pt", make([]byte, 1<<16), 0o644)
		var errno syscall.Errno
		if !errors.As(err, &errno) {
			return 9, true
		}
		text := errno.Error()
		fmt.Printf("OSError: [Errno %d] %s%s: 'output/checkpoint-1/optimizer.pt'\n", int(errno), strings.ToUpper(text[:1]), text[1:])
		return 1, true
	default:
		return 0, false
	}
	return 0, true
}

func TestFaultsBySignal(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{
		"dies-by": "host_memory", "crashes": "crash", "told-to-end": "terminated", "fills-the-disk": "disk",
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			res, id, err := cause(t, planOf(t, mode), launch.Options{Root: root})
			if fail.Code(err) != 21 || id != want {
				t.Errorf("%q, want %q, %+v: %v", id, want, res, err)
			}
			if mode == "fills-the-disk" {
				c, broken := launch.LastCheckpoint(filepath.Join(root, "run", "output"))
				if c != nil || len(broken) != 1 {
					t.Errorf("the checkpoint it was writing: %+v, %v", c, broken)
				}
			}
		})
	}
}
