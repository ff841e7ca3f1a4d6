package ui

import (
	"os"

	"golang.org/x/sys/windows"
)

// enableEscapes switches escape sequences on. A console too old for them is
// treated as a pipe. Standard input has no such mode and is a terminal anyway.
func enableEscapes(f *os.File) bool {
	if f == os.Stdin {
		return true
	}
	h := windows.Handle(f.Fd())
	var mode uint32
	if windows.GetConsoleMode(h, &mode) != nil {
		return false
	}
	return windows.SetConsoleMode(h, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
