package submission

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/provenance"
)

func trainGates() []gate {
	return []gate{
		{"T01", Rule, roleTrain, msg.Text{"data, fields, sources and scripts are all there", "数据、字段说明、来源说明与脚本齐全"}, gateT01},
		{"T02", Rule, roleTrain, msg.Text{"every training row is a conversation a trainer can use", "每条训练数据都是可用于训练的对话"}, gateT02},
		{"T03", Rule, roleTrain, msg.Text{"fields.md describes the keys that the data has", "fields.md 与数据中的字段一致"}, gateT03},
		{"T04", Rule, roleTrain, msg.Text{"every row is traced to a source, and the sums of all steps close", "每行均可追溯到来源，且各步骤收支相符"}, gateT04},
		{"C01", Rule, roleTrain, msg.Text{"the training data holds no benchmark item", "训练数据不含评测集题目"}, gateC01},
	}
}

// noTraining skips a gate when nothing was trained, or no data is there.
func (c *check) noTraining() bool {
	switch {
	case c.declared && !c.decl.Trains():
		c.skips(nil, msg.Text{"no declared method trains the model", "所声明的方法均不训练模型"})
	case len(c.trainFiles()) == 0 && c.gate.id != "T01":
		c.skips(nil, msg.Text{"there are no training files (T01)", "没有训练数据文件（见 T01）"})
	default:
		return false
	}
	return true
}

// trainFiles are the declared training files that are there.
func (s *state) trainFiles() []entry {
	var out []entry
	for _, name := range s.decl.Train.Data {
		if e, ok := s.bundle.find(name); ok {
			out = append(out, e)
		}
	}
	return out
}

func gateT01(c *check) error {
	if c.noTraining() {
		return nil
	}
	t := c.decl.Train
	parts := []struct {
		what  msg.Text
		names []string
	}{
		{msg.Text{"training data", "训练数据"}, t.Data},
		{msg.Text{"the description of fields", "字段说明"}, []string{t.Fields}},
		{msg.Text{"the description of sources", "来源说明"}, []string{t.Sources}},
		{msg.Text{"scripts or a description of the process", "脚本或过程说明"}, []string{t.Scripts}},
	}
	for _, p := range parts {
		if len(p.names) == 0 {
			c.fails(at("train/", 0), msg.Text{"%s: there is none", "缺少%s"}, p.what)
		}
		for _, name := range p.names {
			var size int64
			files := c.bundle.under(name)
			for _, e := range files {
				size += e.size
			}
			switch {
			case len(files) == 0:
				c.fails(at(name, 0), msg.Text{"%s: there is no %s", "缺少%s：没有 %s"}, p.what, name)
			case size == 0:
				c.fails(at(name, 0), msg.Text{"%s: %s is empty", "%s：%s 为空"}, p.what, name)
			}
		}
	}
	c.passes(msg.Text{"training files: %d", "共 %d 个训练数据文件"}, len(t.Data))
	return nil
}

func gateT02(c *check) error {
	if c.noTraining() {
		return nil
	}
	rows := 0
	checker := rowChecker{methods: c.decl.Methods}
	for _, e := range c.trainFiles() {
		if !isJSONL(e.name) {
			c.warns(at(e.name, 0), msg.Text{"%s was not checked: this version reads JSONL", "未检查 %s：本版本仅读取 JSONL"}, e.name)
			continue
		}
		before := rows
		err := eachLine(c.ctx, e, func(line []byte, n int) {
			rows++
			if p := checker.check(line); p != nil {
				c.fails(at(e.name, n).pointer(p.pointer), p.text, p.args...)
			}
		})
		if err != nil {
			return err
		}
		if rows == before {
			c.fails(at(e.name, 0), msg.Text{"%s has no row", "%s 没有任何行"}, e.name)
		}
	}
	c.passes(msg.Text{"%d {row|rows}", "共 %d 行"}, rows)
	return nil
}

func gateT03(c *check) error {
	if c.noTraining() {
		return nil
	}
	e, ok := c.bundle.find(c.decl.Train.Fields)
	if !ok {
		c.skips(nil, msg.Text{"there is no %s (T01)", "没有 %s（见 T01）"}, c.decl.Train.Fields)
		return nil
	}
	data, err := e.read(16 << 20)
	if err != nil {
		return err
	}
	described := provenance.ReadFieldsMD(data)
	checked := 0
	for _, f := range append(c.trainFiles(), c.sidecars()...) {
		if !isJSONL(f.name) {
			continue
		}
		r, err := f.open()
		if err != nil {
			return err
		}
		s, err := provenance.ReadSchema(r)
		r.Close()
		if err != nil {
			c.warns(at(f.name, 0), msg.Text{"%s: its fields cannot be listed: %v", "%s：无法列出字段：%v"}, f.name, err)
			continue
		}
		checked++
		c.compareFields(f.name, s.Fields(), fieldsFor(described, f.name))
	}
	c.passes(msg.Text{"files: %d", "共 %d 个文件"}, checked)
	return nil
}

func (s *state) sidecars() []entry {
	var out []entry
	for _, name := range s.decl.Train.Sidecars {
		if e, ok := s.bundle.find(name); ok {
			out = append(out, e)
		}
	}
	return out
}

// fieldsFor picks the description of one file: the table under its name, or the
// only table there is. One without a heading of its own serves all files.
func fieldsFor(described []provenance.FileFields, name string) []provenance.Field {
	for _, same := range []func(string) bool{
		func(p string) bool { return p == name },
		func(p string) bool { return p != "" && path.Base(p) == path.Base(name) },
	} {
		for _, f := range described {
			if same(f.Path) {
				return f.Fields
			}
		}
	}
	if len(described) == 1 {
		return described[0].Fields
	}
	return nil
}

func (c *check) compareFields(file string, have, described []provenance.Field) {
	fields := c.decl.Train.Fields
	if described == nil {
		c.fails(at(fields, 0), msg.Text{"%s does not describe %s", "%s 未说明 %s"}, fields, file)
		return
	}
	by := map[string]provenance.Field{}
	for _, f := range described {
		by[f.Path] = f
	}
	for _, f := range have {
		d, ok := by[f.Path]
		delete(by, f.Path)
		switch {
		case !ok:
			c.fails(at(fields, 0), msg.Text{"%s has the key %s, %s does not describe it", "%s 含字段 %s，而 %s 未说明"}, file, f.Path, fields)
		case !typesAgree(f.Types, d.Types):
			c.fails(at(fields, 0).want(strings.Join(f.Types, ", "), strings.Join(d.Types, ", ")), msg.Text{"key %s of %s has another type than described", "字段 %s（%s）的类型与说明不符"}, f.Path, file)
		}
	}
	for _, f := range described {
		if _, left := by[f.Path]; left {
			c.fails(at(fields, 0), msg.Text{"%s describes the key %s, which %s does not have", "%s 说明了字段 %s，但 %s 中没有"}, fields, f.Path, file)
		}
	}
}

// typesAgree compares types as people write them: a description in words that
// are no types of ours is taken as it is.
func typesAgree(have, said []string) bool {
	known := map[string]string{
		"string": "string", "str": "string", "text": "string", "字符串": "string", "文本": "string",
		"integer": "integer", "int": "integer", "整数": "integer", "number": "number", "float": "number", "数字": "number", "浮点数": "number",
		"boolean": "boolean", "bool": "boolean", "布尔": "boolean", "布尔值": "boolean", "array": "array", "list": "array", "列表": "array", "数组": "array",
		"object": "object", "dict": "object", "对象": "object", "null": "null", "空": "null",
	}
	var list []string
	for _, s := range said {
		t, ok := known[strings.ToLower(s)]
		if !ok {
			return true
		}
		list = append(list, t)
	}
	for _, h := range have {
		if !slices.Contains(list, h) && !(h == "integer" && slices.Contains(list, "number")) {
			return false
		}
	}
	return true
}

// gateT04 proves the ledgers and that they speak of these very files.
func gateT04(c *check) error {
	if c.noTraining() {
		return nil
	}
	dir := c.decl.Train.Provenance
	if len(c.bundle.under(dir)) == 0 {
		c.fails(at(dir, 0).fix(msg.Text{"drydock run writes the ledgers; pack with drydock submit pack", "drydock run 会写出账本；请用 drydock submit pack 打包"}), msg.Text{"there are no ledgers under %s", "%s 下没有账本"}, dir)
		return nil
	}
	traced := map[string]bool{}
	var elsewhere []string
	sum, list, err := provenance.Check(c.ctx, bundleFS{c.bundle, dir}, provenance.Options{Data: func(a provenance.Artifact) (io.ReadCloser, error) {
		e, ok := c.artifact(a)
		if !ok {
			if a.Role == provenance.RoleData { // sidecars and reports may stay at home
				elsewhere = append(elsewhere, a.Path)
			}
			return nil, nil
		}
		if a.Role == provenance.RoleData {
			traced[e.name] = true
		}
		return e.open()
	}})
	if errors.Is(err, fs.ErrNotExist) {
		c.fails(at(dir, 0), msg.Text{"the ledgers are not complete: %v", "账本不完整：%v"}, err)
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range list {
		c.fails(at(c.inPackage(dir, e.Where.File), e.Where.Line), msg.Text{"%s", "%s"}, message{e})
	}
	for _, e := range c.trainFiles() {
		if !traced[e.name] {
			c.fails(at(e.name, 0), msg.Text{"no step of the ledgers wrote %s", "账本中没有任何步骤写出 %s"}, e.name)
		}
	}
	if len(elsewhere) > 0 {
		c.passes(msg.Text{"every row is traced; the ledgers also speak of %s, which is not in the package", "每行均可追溯；账本还提到不在提交包内的 %s"}, msg.List(elsewhere))
		return nil
	}
	c.passes(msg.Text{"rows traced: %d, steps: %d, sources: %d", "%d 行，经 %d 个步骤，追溯到 %d 个来源"}, sum.Profile.Rows, len(sum.Steps), len(sum.Sources))
	return nil
}

// inPackage turns a file a finding names into its path in the package.
func (c *check) inPackage(dir, name string) string {
	if _, ok := c.bundle.find(path.Join(dir, name)); ok {
		return path.Join(dir, name)
	}
	if e, ok := c.artifact(provenance.Artifact{Path: name}); ok {
		return e.name
	}
	return name
}

// artifact finds what a step wrote: by its hash, or by its name when it was
// changed since.
func (s *state) artifact(a provenance.Artifact) (entry, bool) {
	files := append(s.trainFiles(), s.sidecars()...)
	for _, e := range files {
		if f, _ := s.factsOf(e.name); f.sha256 == a.SHA256 {
			return e, true
		}
	}
	for _, e := range files {
		if path.Base(e.name) == path.Base(a.Path) {
			return e, true
		}
	}
	return entry{}, false
}

// bundleFS is a folder of a package as a file system.
type bundleFS struct {
	b   *bundle
	dir string
}

// Open implements [fs.FS]; the file it returns cannot tell its size.
func (f bundleFS) Open(name string) (fs.File, error) {
	e, ok := f.b.find(path.Join(f.dir, name))
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: path.Join(f.dir, name), Err: fs.ErrNotExist}
	}
	r, err := e.open()
	if err != nil {
		return nil, err
	}
	return bundleFile{r}, nil
}

type bundleFile struct{ io.ReadCloser }

func (bundleFile) Stat() (fs.FileInfo, error) { return nil, errors.New("a packed file has no details") }

func isJSONL(name string) bool { return strings.EqualFold(path.Ext(name), ".jsonl") }

// maxLine bounds one row of training data.
const maxLine = 64 << 20

// eachLine reads a JSONL file of the package; blank lines are left out, lines
// count from 1.
func eachLine(ctx context.Context, e entry, do func(line []byte, n int)) error {
	r, err := e.open()
	if err != nil {
		return err
	}
	defer r.Close()
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 256<<10), maxLine)
	n := 0
	for s.Scan() {
		n++
		if n&1023 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if len(bytes.TrimSpace(s.Bytes())) > 0 {
			do(s.Bytes(), n)
		}
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("%s line %d: %w", e.name, n+1, err)
	}
	return nil
}
