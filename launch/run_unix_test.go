//go:build !windows

package launch_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/launch"
)

// playMore acts what only Unix processes do.
func playMore(mode string, args []string) int {
	self, err := os.Executable()
	if err != nil {
		return 9
	}
	switch mode {
	case "deaf": // does not end when asked to
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("pid", os.Getpid())
		time.Sleep(time.Minute)
	case "polite": // saves on SIGTERM
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGTERM)
		fmt.Println("pid", os.Getpid())
		<-c
		fmt.Println("saved")
		return 7
	case "parent", "leaver": // starts a child that holds the output; a leaver ends at once
		child := exec.Command(self, append([]string{"play"}, args...)...)
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: strings.HasPrefix(args[0], "deaf")}
		if err := child.Start(); err != nil {
			return 9
		}
		if mode == "parent" {
			_ = child.Wait()
		} else {
			time.Sleep(300 * time.Millisecond) // let it speak
		}
	default:
		return 9
	}
	return 0
}

// pidOf reads the pid a part printed.
func pidOf(l launch.Line) int {
	s, ok := strings.CutPrefix(l.Text, "pid ")
	if !ok {
		return 0
	}
	n, _ := strconv.Atoi(s)
	return n
}

// runs reports whether a process is there and no zombie.
func runs(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return runtime.GOOS != "linux"
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

func TestRunKillsTheDeafAfterTheGrace(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	pid := 0
	began := time.Now()
	res, _, err := run(t, ctx, planOf(t, "deaf"), launch.Options{
		Grace:  300 * time.Millisecond,
		OnLine: func(l launch.Line) { pid = pidOf(l); cancel() },
	})
	if fail.Code(err) != 130 || res.ExitCode != -1 || runs(pid) {
		t.Errorf("%v, %+v, still there: %v", err, res, runs(pid))
	}
	if d := time.Since(began); d < 300*time.Millisecond {
		t.Errorf("no grace was given: %v", d)
	}
}

func TestRunNowEndsTheGrace(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	now := make(chan struct{})
	close(now)
	began := time.Now()
	_, _, err := run(t, ctx, planOf(t, "deaf"), launch.Options{
		Grace: time.Minute, Now: now,
		OnLine: func(launch.Line) { cancel() },
	})
	if fail.Code(err) != 130 || time.Since(began) > 30*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}

func TestRunLetsTheProgramSave(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last string
	res, _, err := run(t, ctx, planOf(t, "polite"), launch.Options{
		Grace:  20 * time.Second,
		OnLine: func(l launch.Line) { last = l.Text; cancel() },
	})
	if fail.Code(err) != 130 || res.ExitCode != 7 || last != "saved" {
		t.Errorf("%v, %+v, last line %q", err, res, last)
	}
}

// What the program started ends with it: a child in its group, and a daemon with
// a session of its own that ignores SIGTERM and holds the output.
func TestRunLeavesNoOrphans(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		part   []string
		cancel bool
	}{
		{"child, cancelled", []string{"parent", "sleep"}, true},
		{"child, left behind", []string{"leaver", "sleep"}, false},
		{"daemon, cancelled", []string{"parent", "deaf"}, true},
		{"daemon, left behind", []string{"leaver", "deaf"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.part[1] == "deaf" && runtime.GOOS != "linux" {
				t.Skip("a daemon in its own session can only be found through /proc")
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			pid := 0
			began := time.Now()
			_, _, err := run(t, ctx, planOf(t, c.part[0], c.part[1:]...), launch.Options{
				Grace: 400 * time.Millisecond,
				OnLine: func(l launch.Line) {
					if p := pidOf(l); p != 0 {
						pid = p
						if c.cancel {
							cancel()
						}
					}
				},
			})
			if want := map[bool]int{true: 130, false: 0}[c.cancel]; fail.Code(err) != want {
				t.Errorf("%v, want code %d", err, want)
			}
			if pid == 0 {
				t.Fatal("the child never spoke")
			}
			if runs(pid) {
				t.Errorf("process %d is still there", pid)
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			if time.Since(began) > 20*time.Second {
				t.Errorf("took %v", time.Since(began))
			}
		})
	}
}
