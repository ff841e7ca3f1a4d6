//go:build !windows

package atomicfile

import (
	"os"
	"path/filepath"
)

// Replace renames from to to, replacing it, and syncs the directory so that
// the new name survives a power cut.
func Replace(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	if d, err := os.Open(filepath.Dir(to)); err == nil {
		// some file systems cannot sync a directory; the rename has happened
		_ = d.Sync()
		d.Close()
	}
	return nil
}
