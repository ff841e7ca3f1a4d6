package msg

import (
	"errors"
	"io/fs"
)

// pathWords says an error of the file system in a language: the path and what is
// the matter with it, without the system call that found out.
func pathWords(e *fs.PathError, l Lang) string {
	colon, what := ": ", e.Err.Error()
	if l == Zh {
		colon = "："
	}
	for _, k := range []struct {
		is   error
		said Text
	}{
		{fs.ErrNotExist, Text{"no such file or directory", "没有此文件或目录"}},
		{fs.ErrPermission, Text{"permission denied", "没有权限"}},
		{fs.ErrExist, Text{"exists already", "已存在"}},
	} {
		if errors.Is(e.Err, k.is) {
			what = k.said.In(l)
		}
	}
	return e.Path + colon + what
}
