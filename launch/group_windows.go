package launch

import (
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
// sent to it alone.
func newGroup(cmd *exec.Cmd, _ string) *group {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
	return &group{}
}

// started puts the process into the job. What it started before that is not in
// it; Windows offers no earlier moment through os/exec.
func (g *group) started(cmd *exec.Cmd) error {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return err
	}
	g.job, g.pid = job, uint32(cmd.Process.Pid)
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))); err != nil {
		return err
	}
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, g.pid)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(h)
	return windows.AssignProcessToJobObject(job, h)
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
