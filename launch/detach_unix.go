//go:build !windows

package launch

import (
	"os"
	"syscall"
)

// Detach starts a program that goes on when this one and its terminal are gone:
// in a session of its own, without stdin, both outputs in one file. argv[0] is
// what the program sees as its name.
func Detach(path string, argv, env []string, output *os.File) (*os.Process, error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	return os.StartProcess(path, argv, &os.ProcAttr{
		Env: env, Files: []*os.File{null, output, output}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
}
