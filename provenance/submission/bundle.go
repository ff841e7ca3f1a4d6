package submission

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/drydock-ml/drydock/internal/msg"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// Bounds on a package: beyond them it is not read. A zip of 42 kB can unpack to
// petabytes.
const (
	maxEntries = 200_000
	maxEntry   = 64 << 30 // bytes unpacked
	maxTotal   = 256 << 30
	maxRatio   = 300      // unpacked : packed, of an entry or the whole; deflate reaches 1,032
	ratioFrom  = 64 << 20 // below, any ratio: small files may be all zeros
)

// an entry is one file of a package.
type entry struct {
	name string // slashes, without a folder around the whole package
	size int64
	open func() (io.ReadCloser, error)
}

// a bundle is a package as a list of files, from a zip, a folder or the parts
// that are about to be packed. What was wrong with the container itself is kept
// for the gates that ask about it.
type bundle struct {
	base    string // file or folder name
	zipped  bool
	entries []entry // sorted by name
	index   map[string]int
	unsafe  []Finding // P03
	names   []Finding // P04
	broken  bool      // could not be read at all
	close   func() error
}

func (b *bundle) find(name string) (entry, bool) {
	i, ok := b.index[name]
	if !ok {
		return entry{}, false
	}
	return b.entries[i], true
}

// under lists the files below a folder, or the file itself.
func (b *bundle) under(dir string) []entry {
	dir = strings.TrimSuffix(dir, "/")
	var out []entry
	for _, e := range b.entries {
		if e.name == dir || strings.HasPrefix(e.name, dir+"/") {
			out = append(out, e)
		}
	}
	return out
}

// read returns a small file whole.
func (e entry) read(limit int64) ([]byte, error) {
	if e.size > limit {
		return nil, fmt.Errorf("%s: %d bytes, more than the %d that are read", e.name, e.size, limit)
	}
	r, err := e.open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("%s: more than %d bytes", e.name, limit)
	}
	return b, err
}

func (b *bundle) sort() {
	slices.SortFunc(b.entries, func(x, y entry) int { return strings.Compare(x.name, y.name) })
	b.index = make(map[string]int, len(b.entries))
	for i, e := range b.entries {
		b.index[e.name] = i
	}
}

// openBundle reads the list of files of a zip or a folder. The error is for a
// path that is not there; a broken zip is a bundle that says so.
func openBundle(name string) (*bundle, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return openFolder(name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	b, err := openZip(f, info.Size())
	if err != nil {
		f.Close()
		return nil, err
	}
	b.base, b.close = filepath.Base(name), f.Close
	return b, nil
}

func openZip(r io.ReaderAt, size int64) (*bundle, error) {
	b := &bundle{zipped: true, close: func() error { return nil }}
	z, err := zip.NewReader(r, size)
	// entries with insecure names are looked at one by one below
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		b.broken = true
		b.unsafe = append(b.unsafe, finding(at("", 0).fix(msg.Text{"pack it again; a file cut short by an upload looks like this", "请重新打包；上传中断的文件会出现此情况"}),
			msg.Text{"not a readable zip: %v", "不是可读取的 zip：%v"}, err))
		b.sort()
		return b, nil
	}
	if len(z.File) > maxEntries {
		b.broken = true
		b.unsafe = append(b.unsafe, finding(at("", 0).want(maxEntries, len(z.File)), msg.Text{"%d {entry|entries}", "共 %d 个条目"}, len(z.File)))
		b.sort()
		return b, nil
	}
	var total uint64
	for _, f := range z.File {
		name := b.zipName(f)
		if strings.HasSuffix(name, "/") && f.UncompressedSize64 == 0 {
			b.checkName(strings.TrimSuffix(name, "/"), f.Mode()&^fs.ModeDir)
			continue
		}
		ok := b.checkName(name, f.Mode())
		ok = b.checkEntry(f, name, total+f.UncompressedSize64, uint64(size)) && ok
		if ok {
			total += f.UncompressedSize64
			b.entries = append(b.entries, entry{name: name, size: int64(f.UncompressedSize64), open: f.Open})
		}
	}
	b.finish()
	return b, nil
}

// zipName returns an entry's name as UTF-8 and notes when it is not.
func (b *bundle) zipName(f *zip.File) string {
	if utf8.ValidString(f.Name) {
		if f.NonUTF8 && !isASCII(f.Name) {
			b.names = append(b.names, finding(at(f.Name, 0).fix(msg.Text{"pack with a tool that sets the UTF-8 flag: drydock submit pack", "请用会设置 UTF-8 标志的工具打包：drydock submit pack"}),
				msg.Text{"name %q lacks the UTF-8 flag; Windows shows it garbled", "文件名 %q 缺少 UTF-8 标志，在 Windows 上会显示为乱码"}, f.Name))
		}
		return f.Name
	}
	name, err := simplifiedchinese.GB18030.NewDecoder().String(f.Name)
	what := msg.Text{"name %q is GB18030, not UTF-8", "文件名 %q 为 GB18030 编码，而非 UTF-8"}
	if err != nil || strings.ContainsRune(name, utf8.RuneError) {
		name = strings.ToValidUTF8(f.Name, "_")
		what = msg.Text{"name %q is not UTF-8", "文件名 %q 不是 UTF-8"}
	}
	b.names = append(b.names, finding(at(name, 0).fix(msg.Text{"pack again with drydock submit pack, or zip with -UN=UTF8", "请用 drydock submit pack 重新打包，或为 zip 加 -UN=UTF8"}), what, name))
	return name
}

// checkEntry refuses what must not be unpacked.
func (b *bundle) checkEntry(f *zip.File, name string, total, packed uint64) bool {
	bad := func(t msg.Text, args ...any) bool {
		b.unsafe = append(b.unsafe, finding(at(name, 0), t, args...))
		return false
	}
	switch {
	case f.Flags&1 != 0:
		return bad(msg.Text{"%s is encrypted", "%s 已加密"}, name)
	case f.Method != zip.Store && f.Method != zip.Deflate:
		return bad(msg.Text{"%s uses compression method %d; only store and deflate open everywhere", "%s 使用压缩方法 %d；只有 store 和 deflate 处处可解"}, name, f.Method)
	case f.UncompressedSize64 > maxEntry || total > maxTotal:
		return bad(msg.Text{"%s unpacks to %d {byte|bytes}, more than is read", "%s 解压后为 %d 字节，超出读取上限"}, name, f.UncompressedSize64)
	case f.UncompressedSize64 > ratioFrom && f.UncompressedSize64/max(f.CompressedSize64, 1) > maxRatio:
		return bad(msg.Text{"%s unpacks to %d times its size", "%s 解压后为原大小的 %d 倍"}, name, f.UncompressedSize64/max(f.CompressedSize64, 1))
	case total > ratioFrom && total/max(packed, 1) > maxRatio: // entries that share their bytes
		return bad(msg.Text{"with %s the package unpacks to %d times its size", "加上 %s，提交包解压后为原大小的 %d 倍"}, name, total/max(packed, 1))
	}
	return true
}

// checkName refuses names that lead out of the folder, and what is no file.
func (b *bundle) checkName(name string, mode fs.FileMode) bool {
	bad := func(t msg.Text, args ...any) bool {
		b.unsafe = append(b.unsafe, finding(at(name, 0), t, args...))
		return false
	}
	switch {
	case mode&fs.ModeSymlink != 0:
		return bad(msg.Text{"%s is a symbolic link", "%s 是符号链接"}, name)
	case !mode.IsRegular():
		return bad(msg.Text{"%s is not a regular file", "%s 不是普通文件"}, name)
	case name == "" || strings.HasPrefix(name, "/") || strings.Contains(name, `\`) || (len(name) > 1 && name[1] == ':'):
		return bad(msg.Text{"%q is an absolute name, or has back slashes", "%q 是绝对路径，或含反斜杠"}, name)
	case path.Clean(name) != name || name == ".." || strings.HasPrefix(name, "../"):
		return bad(msg.Text{"%q leads out of its folder, or is not written plainly", "%q 越出所在文件夹，或写法不规范"}, name)
	}
	if why, bad := windowsName(name); bad {
		f := finding(at(name, 0), msg.Text{"%s cannot be unpacked on Windows (%s)", "%s 在 Windows 上无法解压（%s）"}, name, why)
		f.warning = true
		b.unsafe = append(b.unsafe, f)
	}
	return true
}

// finish strips a folder around everything and finds names that collide.
func (b *bundle) finish() {
	b.unwrap()
	seen := map[string]string{}
	kept := b.entries[:0]
	for _, e := range b.entries {
		low := strings.ToLower(e.name)
		switch first, dup := seen[low]; {
		case dup && first == e.name:
			b.unsafe = append(b.unsafe, finding(at(e.name, 0), msg.Text{"%s stands twice", "%s 出现两次"}, e.name))
			continue
		case dup:
			b.unsafe = append(b.unsafe, finding(at(e.name, 0), msg.Text{"%s and %s differ only in case: one of them is lost on Windows and macOS", "%s 与 %s 仅大小写不同：在 Windows 和 macOS 上会丢失其一"}, e.name, first))
		}
		seen[low] = e.name
		kept = append(kept, e)
	}
	b.entries = kept
	b.sort()
}

// unwrap drops the one folder that some tools put around everything.
func (b *bundle) unwrap() {
	if len(b.entries) == 0 {
		return
	}
	dir, _, ok := strings.Cut(b.entries[0].name, "/")
	if !ok {
		return
	}
	inside := false
	for _, e := range b.entries {
		if !strings.HasPrefix(e.name, dir+"/") {
			return
		}
		inside = inside || e.name == dir+"/"+declarationName
	}
	if !inside {
		return
	}
	for i := range b.entries {
		b.entries[i].name = b.entries[i].name[len(dir)+1:]
	}
}

func openFolder(dir string) (*bundle, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	b := &bundle{base: filepath.Base(abs), close: func() error { return nil }}
	err = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		if d.IsDir() {
			return nil
		}
		if !b.checkName(name, d.Type()) {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if len(b.entries) >= maxEntries {
			return fmt.Errorf("%s: more than %d files", dir, maxEntries)
		}
		b.entries = append(b.entries, entry{name: name, size: info.Size(), open: func() (io.ReadCloser, error) { return os.Open(p) }})
		return nil
	})
	if err != nil {
		return nil, err
	}
	b.finish()
	return b, nil
}

// windowsName reports whether some part of a name cannot stand on Windows.
func windowsName(name string) (why string, bad bool) {
	for part := range strings.SplitSeq(name, "/") {
		stem, _, _ := strings.Cut(strings.ToUpper(part), ".")
		switch {
		case strings.ContainsAny(part, `<>:"|?*`) || strings.ContainsFunc(part, func(r rune) bool { return r < 0x20 }):
			return "reserved character", true
		case strings.HasSuffix(part, ".") || strings.HasSuffix(part, " "):
			return "ends in a point or a space", true
		case slices.Contains([]string{"CON", "PRN", "AUX", "NUL"}, strings.TrimRight(stem, " ")),
			len(stem) == 4 && (strings.HasPrefix(stem, "COM") || strings.HasPrefix(stem, "LPT")) && stem[3] >= '1' && stem[3] <= '9':
			return "reserved name", true
		}
	}
	return "", false
}

func finding(f Finding, text msg.Text, args ...any) Finding {
	f.Text = said(text, args...)
	return f
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
