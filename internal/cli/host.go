package cli

import (
	"io"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/drydock-ml/drydock/internal/llm"
	"github.com/drydock-ml/drydock/internal/ui"
	"github.com/drydock-ml/drydock/launch"
)

// A Host is what the program sees of the machine. Everything the outside can
// change passes through it, so that a test can set it.
type Host struct {
	In       io.Reader
	Out, Err io.Writer
	InTTY    bool
	OutTTY   bool
	ErrTTY   bool
	Width    int // columns; 0: no terminal

	Getenv func(string) string
	Locale string // the system's own language tag; empty: only the environment says one
	Now    func() time.Time
	Chdir  func(dir string) error
	// ConfigDir and CacheDir are the user's folders for all programs.
	ConfigDir func() (string, error)
	CacheDir  func() (string, error)
	// Signals delivers requests to stop until stop is called.
	Signals func() (c <-chan os.Signal, stop func())
	// HTTP makes the requests of the commands that are given an address.
	HTTP *http.Client
	// Trainers is how programs are looked for.
	Trainers launch.Host
	// Environ is the environment started programs get; nil: an empty one.
	Environ  func() []string
	Hostname func() (string, error) // nil: none
	PID      int
	// Exit ends the process at once; the second ^C calls it.
	Exit func(code int)
	// Executable is where this program lies, to be started again for work that
	// goes on without a terminal; nil: it cannot be.
	Executable func() (string, error)
}

// connections is how many connections to one server are kept open.
const connections = 256

// OS returns the real machine.
func OS() Host {
	h := Host{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InTTY: ui.IsTerminal(os.Stdin), OutTTY: ui.IsTerminal(os.Stdout), ErrTTY: ui.IsTerminal(os.Stderr),
		Getenv:    os.Getenv,
		Locale:    systemLocale(),
		Now:       time.Now,
		Chdir:     os.Chdir,
		ConfigDir: os.UserConfigDir,
		CacheDir:  os.UserCacheDir,
		Signals: func() (<-chan os.Signal, func()) {
			c := make(chan os.Signal, 2)
			signal.Notify(c, os.Interrupt, syscall.SIGTERM)
			if !signal.Ignored(syscall.SIGHUP) { // as under nohup
				signal.Notify(c, syscall.SIGHUP)
			}
			return c, func() { signal.Stop(c) }
		},
		HTTP:     &http.Client{Transport: llm.Transport(connections)},
		Trainers: launch.Local(),
		Environ:  os.Environ,
		Hostname: os.Hostname,
		PID:      os.Getpid(),
		Exit:     os.Exit,

		Executable: os.Executable,
	}
	if h.OutTTY {
		h.Width = ui.Columns(os.Stdout)
	} else if h.ErrTTY {
		h.Width = ui.Columns(os.Stderr)
	}
	return h
}

// home returns DRYDOCK_HOME, where registered benchmarks and runs outside a
// project live.
func (h Host) home() (string, error) {
	if dir := h.Getenv("DRYDOCK_HOME"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := h.ConfigDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "drydock"), nil
}

// cache returns where things that can be made again are kept; empty when the
// user has no such folder, since a cache is never needed.
func (h Host) cache() string {
	if dir := h.Getenv("DRYDOCK_HOME"); dir != "" {
		return filepath.Join(dir, "cache")
	}
	dir, err := h.CacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "drydock")
}
