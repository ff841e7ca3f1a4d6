//go:build unix

package launch

import (
	"os"

	"golang.org/x/sys/unix"
)

// FreeSpace says how many bytes this user may still write below dir; a folder
// that does not exist yet counts as its nearest one that does.
func FreeSpace(dir string) (int64, error) {
	var s unix.Statfs_t
	err := unix.Statfs(existing(dir), &s)
	if err != nil {
		return 0, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return int64(s.Bavail) * int64(s.Bsize), nil // the fields have other types on other systems
}
