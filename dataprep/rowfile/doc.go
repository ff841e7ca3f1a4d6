// Package rowfile writes rows, each a JSON object, as files: JSON Lines, JSON,
// Parquet and Arrow, and as the two folders Hugging Face's datasets opens, the
// one for load_dataset (hub) and the one for load_from_disk (disk).
//
// A column of a table has one type, and readers of JSON Lines guess it from the
// first rows. So a [Schema] is made of all rows before the first is written, and a
// row that does not fit the rows before it is named with the place in it.
package rowfile

import (
	"path/filepath"
	"strings"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// A Kind says how rows stand on disk.
type Kind string

// The kinds of files and folders.
const (
	JSONL   Kind = "jsonl"   // one object a line
	JSON    Kind = "json"    // one array
	Parquet Kind = "parquet" // snappy, row groups of about 32 MB
	Arrow   Kind = "arrow"   // an IPC stream, as datasets keeps its sets
	Hub     Kind = "hub"     // a folder: README.md and data/*.parquet
	Disk    Kind = "disk"    // a folder as save_to_disk writes it
)

// Layouts lists the kinds that are folders.
func Layouts() []string { return []string{string(Hub), string(Disk)} }

// Columns reports whether the rows become a table, whose columns have a type.
func (k Kind) Columns() bool { return k != JSONL && k != JSON }

// Folder reports whether the rows become a folder.
func (k Kind) Folder() bool { return k == Hub || k == Disk }

// KindOf says how rows are written to path: by layout, where one is named, else
// by the extension. The error is of kind usage.
func KindOf(path, layout string) (Kind, error) {
	ext := strings.ToLower(filepath.Ext(path))
	switch k := Kind(layout); {
	case k.Folder():
		if _, err := KindOf(path, ""); err == nil {
			return "", fail.New(fail.Usage, msg.Text{
				"%s: the layout %s is a folder, and a name ending in %s is a file's", "%s：布局 %s 为文件夹，而以 %s 结尾的是文件名",
			}, path, layout, ext)
		}
		return k, nil
	case layout != "":
		return "", fail.New(fail.Usage, msg.Text{"there is no layout %q", "不存在布局 %q"}, layout).
			Hint(msg.Text{"known: %s", "可用：%s"}, msg.List(Layouts()))
	}
	switch k := Kind(strings.TrimPrefix(ext, ".")); k {
	case JSONL, JSON, Parquet, Arrow:
		return k, nil
	}
	return "", fail.New(fail.Usage, msg.Text{
		"%s: rows are written as .jsonl, .json, .parquet or .arrow", "%s：数据行只能写成 .jsonl、.json、.parquet 或 .arrow",
	}, path).Hint(msg.Text{"a folder for Hugging Face's datasets needs a layout: %s", "供 Hugging Face datasets 使用的文件夹需指定布局：%s"}, msg.List(Layouts()))
}
