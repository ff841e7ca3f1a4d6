//go:build !windows

package launch_test

import (
	"bufio"
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
	if code, played := playFaultUnix(mode); played {
		return code
	}
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
	case "drydock": // runs a part as drydock does, in the folder given
		tr, _ := build("command", "argv: [a]")
		_, err := launch.Run(context.Background(), tr, launch.Plan{Argv: append([]string{self, "play"}, args[1:]...)}, launch.Options{
			Root: args[0], Grace: time.Second,
			OnLine: func(l launch.Line) { fmt.Println(l.Text) },
		})
		if err != nil {
			return 8
		}
	case "background": // as drydock, with ^C ignored as a shell does for what it puts behind &
		signal.Ignore(syscall.SIGINT)
		return playMore("drydock", args)
	case "hears": // says whether it would hear ^C
		fmt.Println("ignored:", signal.Ignored(syscall.SIGINT))
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
			// it has been killed; who adopted it may still have to look away
			if !goneSoon(pid) {
				t.Errorf("process %d is still there", pid)
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			if time.Since(began) > 20*time.Second {
				t.Errorf("took %v", time.Since(began))
			}
		})
	}
}

// Also a drydock that is killed leaves nothing behind: neither the trainer, nor
// what it started, nor what left its group.
func TestKilledDrydockLeavesNoOrphans(t *testing.T) {
	t.Parallel()
	for name, part := range map[string][]string{"child": {"parent", "sleep"}, "daemon": {"parent", "deaf"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "daemon" && runtime.GOOS != "linux" {
				t.Skip("a daemon in its own session can only be found through /proc")
			}
			cmd := act(t, "drydock", append([]string{t.TempDir()}, part...)...)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			pid := 0
			for lines := bufio.NewScanner(out); pid == 0 && lines.Scan(); {
				pid = pidOf(launch.Line{Text: lines.Text()})
			}
			if pid == 0 {
				t.Fatal("the child never spoke")
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // killed, as we wanted
			if !goneSoon(pid) {
				t.Errorf("process %d is still there", pid)
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		})
	}
}

// goneSoon waits until a process has ended.
func goneSoon(pid int) bool {
	for range 500 {
		if !runs(pid) {
			return true
		}
		time.Sleep(20 * time.Millisecond)
	}
	return false
}

// act starts nothing yet: the test binary in a part.
func act(t *testing.T, mode string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exec.Command(self, append([]string{"play", mode}, args...)...)
}

// What a drydock and its guard, both killed, left behind is found at the next
// start: by the folder, and nowhere else.
func TestSweepOrphans(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux shows the environment of processes")
	}
	dir := t.TempDir()
	var pids []int
	for _, d := range []string{dir, t.TempDir()} {
		cmd := act(t, "sleep")
		cmd.Env = append(os.Environ(), "DRYDOCK_RUN=1:"+d)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		pids = append(pids, cmd.Process.Pid)
	}
	for n := 0; len(launch.SweepOrphans(dir)) == 0; n++ { // the program may not run yet
		if n == 100 {
			t.Fatal("nothing is found")
		}
		time.Sleep(20 * time.Millisecond)
	}
	if !goneSoon(pids[0]) || !runs(pids[1]) {
		t.Errorf("left in the folder: %v, elsewhere: %v", runs(pids[0]), runs(pids[1]))
	}
}

func TestStartedProgramsHearInterrupts(t *testing.T) {
	t.Parallel()
	out, err := act(t, "background", t.TempDir(), "hears").Output()
	if err != nil || string(out) != "ignored: false\n" {
		t.Errorf("%q, %v", out, err)
	}
}
