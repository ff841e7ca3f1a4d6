package ui

import (
	"os"

	"golang.org/x/term"
)

// IsTerminal reports whether f is a terminal that understands escape
// sequences; on Windows it switches them on.
func IsTerminal(f *os.File) bool {
	return term.IsTerminal(int(f.Fd())) && enableEscapes(f)
}

// Columns returns how wide the terminal f is; 0 when it is none.
func Columns(f *os.File) int {
	w, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return w
}
