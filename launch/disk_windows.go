package launch

import (
	"os"

	"golang.org/x/sys/windows"
)

// FreeSpace says how many bytes this user may still write below dir; a folder
// that does not exist yet counts as its nearest one that does.
func FreeSpace(dir string) (int64, error) {
	name, err := windows.UTF16PtrFromString(existing(dir))
	if err != nil {
		return 0, err
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, nil, nil); err != nil {
		return 0, &os.PathError{Op: "GetDiskFreeSpaceEx", Path: dir, Err: err}
	}
	return int64(free), nil
}
