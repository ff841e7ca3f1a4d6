package launch

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"github.com/drydock-ml/drydock/internal/parallel"

	"golang.org/x/sys/windows"
)

// markerName names a run in its processes' environment.
const markerName = "DRYDOCK_RUN"

// A group is a program and everything it starts: on Windows a job object, which
// ends with all its processes when its last handle is closed, even when drydock
// itself is killed.
type group struct {
	job windows.Handle
	pid uint32
}

// newGroup makes cmd start in a console group of its own, so that a break can be
// sent to it alone, and with its first thread held, so that it starts nothing before
// it is in the job.
func newGroup(cmd *exec.Cmd, _ string) *group {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_SUSPENDED}
	return &group{}
}

// started puts the process into the job and lets it run. One that cannot be put
// there never runs: it is ended.
func (g *group) started(cmd *exec.Cmd) (err error) {
	defer func() {
		if err != nil {
			_ = cmd.Process.Kill() // it may be held, and in no job
		}
	}()
	g.pid = uint32(cmd.Process.Pid)
	if g.job, err = windows.CreateJobObject(nil, nil); err != nil {
		return fmt.Errorf("create a job object: %w", err)
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	if _, err := windows.SetInformationJobObject(g.job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))); err != nil {
		return fmt.Errorf("limit the job object: %w", err)
	}
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, g.pid)
	if err != nil {
		return fmt.Errorf("open process %d: %w", g.pid, err)
	}
	defer windows.CloseHandle(h)
	if err := windows.AssignProcessToJobObject(g.job, h); err != nil {
		return fmt.Errorf("put process %d into its job: %w", g.pid, err)
	}
	return resume(g.pid)
}

// resume lets a process run that was started with CREATE_SUSPENDED. os/exec keeps
// no handle of its thread, so that it is looked for; resuming one that is not held
// does nothing.
func resume(pid uint32) error {
	threads, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return fmt.Errorf("list threads: %w", err)
	}
	defer windows.CloseHandle(threads)
	resumed := false
	entry := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	for err = windows.Thread32First(threads, &entry); err == nil; err = windows.Thread32Next(threads, &entry) {
		if entry.OwnerProcessID != pid {
			continue
		}
		h, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, entry.ThreadID)
		if err != nil {
			return fmt.Errorf("open thread %d of process %d: %w", entry.ThreadID, pid, err)
		}
		_, err = windows.ResumeThread(h)
		_ = windows.CloseHandle(h)
		if err != nil {
			return fmt.Errorf("resume thread %d of process %d: %w", entry.ThreadID, pid, err)
		}
		resumed = true
	}
	if !errors.Is(err, windows.ERROR_NO_MORE_FILES) {
		return fmt.Errorf("list threads: %w", err)
	}
	if !resumed {
		return fmt.Errorf("process %d has no thread to resume", pid)
	}
	return nil
}

// terminate sends a break, which Python and most others take as a request to
// end. A program without a console gets none and is killed after the grace.
func (g *group) terminate() {
	_ = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, g.pid)
}

// kill ends every process of the job.
func (g *group) kill() {
	if g.job != 0 {
		_ = windows.TerminateJobObject(g.job, 1)
	}
}

func (g *group) close() {
	if g.job != 0 {
		_ = windows.CloseHandle(g.job)
	}
}

// accounting is JOBOBJECT_BASIC_ACCOUNTING_INFORMATION.
type accounting struct {
	times                                     [4]int64
	pageFaults, processes, active, terminated uint32
}

// alive reports whether the leader or anything it started still runs.
func (g *group) alive(leader *parallel.Task) bool {
	select {
	case <-leader.Done():
	default:
		return true
	}
	var a accounting
	err := windows.QueryInformationJobObject(g.job, windows.JobObjectBasicAccountingInformation, uintptr(unsafe.Pointer(&a)), uint32(unsafe.Sizeof(a)), nil)
	return err == nil && a.active > 0
}

// signalOf returns 0: on Windows no process ends by a signal.
func signalOf(*os.ProcessState) int { return 0 }
