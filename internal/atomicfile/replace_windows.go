package atomicfile

import (
	"time"

	"golang.org/x/sys/windows"
)

// Replace renames from to to, replacing it. A virus scanner or an indexer may
// hold the target for a moment, so a sharing violation is tried again.
func Replace(from, to string) error {
	f, err := windows.UTF16PtrFromString(from)
	if err != nil {
		return err
	}
	t, err := windows.UTF16PtrFromString(to)
	if err != nil {
		return err
	}
	for try := 0; ; try++ {
		err = windows.MoveFileEx(f, t, windows.MOVEFILE_REPLACE_EXISTING|windows.MOVEFILE_WRITE_THROUGH)
		if err == nil || try == 5 || (err != windows.ERROR_SHARING_VIOLATION && err != windows.ERROR_ACCESS_DENIED) {
			return err
		}
		time.Sleep(20 * time.Millisecond << try)
	}
}
