package launch

import (
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/windows"
)

// A program does nothing before it is in its job, and runs from then on.
func TestHeldUntilItIsInTheJob(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^$") // no test: it ends at once
	g := newGroup(cmd, "")
	defer g.close()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	defer windows.CloseHandle(h)
	if event, err := windows.WaitForSingleObject(h, 500); err != nil || event != uint32(windows.WAIT_TIMEOUT) {
		t.Errorf("it ended before it was in the job: %d, %v", event, err)
	}
	if err := g.started(cmd); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
