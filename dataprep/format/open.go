package format

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// Open looks at the file at path and finds its format by content. What meta
// says of the file is used in messages and handed to the records; its Name may
// be empty. note may be nil; it is told of a wrong extension. Errors are of
// kind [fail.Partial]: one unreadable input does not stop the others.
func Open(meta *drydock.File, path string, o Options, note func(Note)) (*File, *Format, error) {
	f := &File{File: meta, Path: path, Options: o}
	if f.File == nil {
		f.File = &drydock.File{Name: filepath.ToSlash(path)}
	}
	head, size, err := readHead(path)
	if err != nil {
		return nil, nil, cannotOpen(f, err)
	}
	if f.Size = size; size == 0 {
		return nil, nil, emptyFile(f)
	}
	kind, wrongExt, err := Detect(head, path)
	if err != nil {
		var e *fail.Error
		if errors.As(err, &e) {
			e.At(fail.Where{File: f.name()})
		}
		return nil, nil, err
	}
	if wrongExt && note != nil {
		note(Note{Code: "wrong_extension", Text: msg.Text{
			"%s: the content is %s, whatever the extension %s says; it is read as %s",
			"%s：内容是 %s，与扩展名 %s 不符；按 %s 读取",
		}, Args: []any{f.name(), kind.Name, filepath.Ext(path), kind.Name}})
	}
	return f, kind, nil
}

// errDirectory and errSpecial are what readHead says of a path that is no
// regular file.
var (
	errDirectory = errors.New("is a directory")
	errSpecial   = errors.New("is no regular file")
)

// readHead returns the first bytes of a file and its size.
func readHead(path string) ([]byte, int64, error) {
	// before opening: opening a named pipe would wait for its writer
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, 0, err
	case info.IsDir():
		return nil, 0, errDirectory
	case !info.Mode().IsRegular():
		return nil, 0, errSpecial
	}
	r, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer r.Close()
	head, err := io.ReadAll(io.LimitReader(r, HeadSize))
	return head, info.Size(), err
}

// cannotOpen says in words why a file cannot be read at all.
func cannotOpen(f *File, err error) *fail.Error {
	e := func(t msg.Text, args ...any) *fail.Error {
		return fail.New(fail.Partial, t, args...).At(fail.Where{File: f.name()}).Because(err)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return e(msg.Text{"no such file", "文件不存在"}).
			Hint(msg.Text{"check the path; it is taken from the current folder: %s", "请检查路径；相对路径从当前目录算起：%s"}, f.Path)
	case errors.Is(err, fs.ErrPermission):
		return e(msg.Text{"no permission to read it", "没有读取权限"}).
			Hint(msg.Text{"give yourself read permission on %s", "请为 %s 加上读取权限"}, f.Path)
	case errors.Is(err, errDirectory):
		return e(msg.Text{"this is a folder, not a file", "这是文件夹，不是文件"}).
			Hint(msg.Text{"name the files in it, for example %s", "请给出其中的文件，例如 %s"}, filepath.Join(f.Path, "*.pdf"))
	case errors.Is(err, errSpecial):
		return e(msg.Text{"this is a pipe or a device, not a file", "这是管道或设备，不是普通文件"}).
			Hint(msg.Text{"save the data to a file first", "请先把数据存成文件"})
	}
	return e(msg.Text{"cannot be read: %v", "无法读取：%v"}, err)
}

func emptyFile(f *File) *fail.Error {
	return fail.New(fail.Partial, msg.Text{"the file is empty (0 bytes)", "文件是空的（0 字节）"}).
		At(fail.Where{File: f.name()}).
		Hint(msg.Text{"it may be an interrupted download or copy; get it again", "可能是下载或复制中断所致；请重新获取"})
}

// unreadable is the error that ends a file.
func unreadable(f *File, text msg.Text, args ...any) *fail.Error {
	return fail.New(fail.Partial, text, args...).At(fail.Where{File: f.name()})
}

// A signature tells a kind of file that is not read, so that its error can say
// what to do.
type signature struct {
	magic string
	name  msg.Text
	hint  msg.Text
}

func signatures() []signature {
	office := msg.Text{"save it as DOCX, XLSX or PDF and try again", "请另存为 DOCX、XLSX 或 PDF 后再试"}
	unpack := msg.Text{"unpack it and give the files inside", "请解压后给出其中的文件"}
	image := msg.Text{"turn the picture into text first (OCR)", "请先用 OCR 把图片转成文字"}
	return []signature{
		{"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", msg.Text{"an old Office file (.ppt) or an encrypted new one", "旧版 Office 文件（.ppt）或加密的新版文件"}, office},
		{"PK\x03\x04", msg.Text{"a ZIP archive", "ZIP 压缩包"}, msg.Text{
			"unpack it and give the files inside; a challenge package: drydock submit verify",
			"请解压后给出其中的文件；竞赛提交包请用 drydock submit verify",
		}},
		{"PK\x05\x06", msg.Text{"an empty ZIP archive", "空的 ZIP 压缩包"}, unpack},
		{"Rar!\x1A\x07", msg.Text{"a RAR archive", "RAR 压缩包"}, unpack},
		{"7z\xBC\xAF\x27\x1C", msg.Text{"a 7-Zip archive", "7-Zip 压缩包"}, unpack},
		{"\x1F\x8B", msg.Text{"a gzip file", "gzip 文件"}, unpack},
		{"\x28\xB5\x2F\xFD", msg.Text{"a Zstandard file", "Zstandard 文件"}, unpack},
		{"\x89PNG", msg.Text{"a PNG picture", "PNG 图片"}, image},
		{"\xFF\xD8\xFF", msg.Text{"a JPEG picture", "JPEG 图片"}, image},
		{"GIF8", msg.Text{"a GIF picture", "GIF 图片"}, image},
		{"II*\x00", msg.Text{"a TIFF picture", "TIFF 图片"}, image},
		{"MM\x00*", msg.Text{"a TIFF picture", "TIFF 图片"}, image},
		{"{\\rtf", msg.Text{"an RTF document", "RTF 文档"}, office},
	}
}

// IsOtherDocument reports whether a file is a document in a ZIP archive of a
// kind that is not read, such as slides: what lies in it are its parts.
func IsOtherDocument(head []byte) bool {
	if !bytes.HasPrefix(head, []byte(zipSignature)) {
		return false
	}
	return zipMediaType(head) != "" || slices.Contains(zipNames(head), "[content_types].xml")
}

// notRead is the error of a file no format wants.
func notRead(head []byte, name string) *fail.Error {
	if len(head) == 0 {
		return emptyFile(&File{Path: name})
	}
	at := fail.Where{File: filepath.ToSlash(name)}
	if IsOtherDocument(head) {
		return fail.New(fail.Partial, msg.Text{"not a format we read: this is an Office document, but neither text nor a workbook", "不是可读取的格式：这是 Office 文档，但既不是文字文档也不是工作簿"}).
			At(at).Hint(msg.Text{"save it as DOCX, XLSX or PDF and try again", "请另存为 DOCX、XLSX 或 PDF 后再试"})
	}
	for _, s := range signatures() {
		if bytes.HasPrefix(head, []byte(s.magic)) {
			return fail.New(fail.Partial, msg.Text{"not a format we read: this is %s", "不是可读取的格式：这是%s"}, s.name).
				At(at).Hint(s.hint)
		}
	}
	var names []string
	for _, f := range All() {
		names = append(names, f.Name)
	}
	return fail.New(fail.Partial, msg.Text{"not a format we read: the content is binary data of an unknown kind", "不是可读取的格式：内容是未知的二进制数据"}).
		At(at).Hint(msg.Text{"formats: %s", "可读取的格式：%s"}, msg.List(names))
}

// looksBinaryExt reports whether an extension promises something that is not
// plain text although no format here claims it.
func looksBinaryExt(ext string) bool {
	return slices.Contains([]string{
		".xls", ".ppt", ".pptx", ".zip", ".gz", ".rar", ".7z", ".zst",
		".png", ".jpg", ".jpeg", ".gif", ".tif", ".tiff",
	}, ext)
}
