package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/parallel"
)

// expandInputs lists the files that are meant: folders are walked in the order
// of names, without hidden files. What is not there comes back in bad and does
// not stop the rest.
func expandInputs(names []string) (files []string, bad fail.List, err error) {
	for _, name := range names {
		if err := noStdin(name); err != nil {
			return nil, nil, err
		}
		info, err := os.Stat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			bad = append(bad, fail.New(fail.Partial, msg.Text{"%s: no such file", "%s：文件不存在"}, name))
		case err != nil:
			bad = append(bad, fail.New(fail.Partial, msg.Text{"%v", "%v"}, err))
		case !info.IsDir():
			files = append(files, name)
		default:
			below, err := walkFiles(name, &bad)
			if err != nil {
				return nil, nil, err
			}
			files = append(files, below...)
		}
	}
	if len(files) == 0 && len(bad) == 0 {
		bad = append(bad, fail.New(fail.Partial, msg.Text{"%s: no files in it", "%s：其中没有文件"}, msg.List(names)))
	}
	return files, bad, nil
}

// noStdin refuses - where a file is read twice, or by its parts: stdin can be
// neither.
func noStdin(name string) error {
	if name != "-" {
		return nil
	}
	return fail.New(fail.Usage, msg.Text{"- is stdin, and this command reads files only", "- 表示标准输入，而此命令只读取文件"}).
		Hint(msg.Text{"write it to a file first: … > data.jsonl", "请先写入文件：… > data.jsonl"})
}

func walkFiles(root string, bad *fail.List) (files []string, err error) {
	err = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			*bad = append(*bad, fail.New(fail.Partial, msg.Text{"%v", "%v"}, err))
		case p != root && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return filepath.SkipDir
			}
		case d.IsDir():
			if shards, ok := format.HubSet(p); ok {
				files = append(files, shards...)
				return filepath.SkipDir
			}
			if shards, ok := format.SavedSet(p); ok {
				files = append(files, shards...)
				return filepath.SkipDir
			}
		case d.Type().IsRegular():
			files = append(files, p)
		}
		return nil
	})
	return files, err
}

// keepInputs refuses to write over a file that is read. out may be empty.
func keepInputs(flag, out string, inputs []string) error {
	written, err := os.Stat(out)
	if out == "" || err != nil {
		return nil
	}
	for _, in := range inputs {
		if info, err := os.Stat(in); err == nil && os.SameFile(info, written) {
			return fail.New(fail.Usage, msg.Text{"%s %s is an input, too, and would be lost", "%s %s 同时是输入，会被覆盖"}, flag, out).
				Hint(msg.Text{"write to another file", "请写入另一个文件"})
		}
	}
	return nil
}

// keepApart refuses outputs of one name, and one that would write over an input.
func keepApart(inputs []string, outs ...namedOutput) error {
	if err := distinct(outs...); err != nil {
		return err
	}
	for _, out := range outs {
		if err := keepInputs(out.flag, out.path, inputs); err != nil {
			return err
		}
	}
	return nil
}

// A namedOutput is a file to be written, and the flag that names it.
type namedOutput struct{ flag, path string }

// distinct refuses two outputs under one name. Empty names are no outputs.
func distinct(outs ...namedOutput) error {
	seen := map[string]string{}
	for _, out := range outs {
		if out.path == "" {
			continue
		}
		name := filepath.Clean(out.path)
		if other, twice := seen[name]; twice {
			return fail.New(fail.Usage, msg.Text{"%s and %s name one file: %s", "%s 与 %s 指向同一文件：%s"}, other, out.flag, out.path)
		}
		seen[name] = out.flag
	}
	return nil
}

// inOrder is parallel.InOrder with the workers the user asked for.
func (a *app) inOrder(ctx context.Context, n int, work func(ctx context.Context, i int) error, done func(i int) error) error {
	return parallel.InOrder(ctx, a.workers(), n, work, done)
}

// note tells the user what a format says of a file; a program gets it as a
// warning, since nothing else of the answer has it.
func (a *app) note(n format.Note) {
	if a.term.JSON() {
		a.term.Warn(msg.Text{"%s", "%s"}, n)
		return
	}
	a.term.Note(msg.Text{"%s", "%s"}, n)
}

// readOptions are the flags of commands that read any file.
type readOptions struct {
	Encoding        string
	PasswordFile    string
	AllowRestricted bool

	password string // from the environment
}

func (f flags) read(o *readOptions) {
	o.password = f.a.host.Getenv("DRYDOCK_PASSWORD")
	f.gate(&o.AllowRestricted, "allow-restricted", "", msg.Text{"read PDF files whose owner forbids extraction", "读取所有者禁止提取内容的 PDF"})
	f.str(&o.PasswordFile, "password-file", "", "", msg.Text{"`FILE` with the password of encrypted sources", "含加密来源密码的 `FILE`"})
	f.encoding(&o.Encoding)
}

func (f flags) encoding(p *string) {
	f.str(p, "encoding", "", "", msg.Text{"text encoding `NAME` (default: found)", "文本编码 `NAME`（默认：自动识别）"})
}

// options checks the flags and reads the password.
func (o readOptions) options() (format.Options, error) {
	f := format.Options{Encoding: o.Encoding, AllowRestricted: o.AllowRestricted, Password: o.password, WholePage: true, Aside: true} // a leak may stand in a side column
	if err := format.CheckEncoding(o.Encoding); err != nil {
		return f, err
	}
	if o.PasswordFile == "" {
		return f, nil
	}
	b, err := os.ReadFile(o.PasswordFile)
	if err != nil {
		return f, fail.New(fail.Usage, msg.Text{"--password-file: %v", "--password-file：%v"}, err)
	}
	f.Password = format.FirstLine(b)
	return f, nil
}
