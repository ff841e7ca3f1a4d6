package pipeline

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dataprep/rowfile"
	"github.com/drydock-ml/drydock/dedup"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/spec"

	"go.yaml.in/yaml/v3"
)

// lint finds what the decoder cannot: names that clash, files that are not
// there, parts that need each other.
func (c *Config) lint(d *spec.Document) {
	if c.Version != 0 && c.Version != 1 {
		d.Report(spec.ValueOf(d.Root, "version"), msg.Text{"version %d is not known; this drydock reads version 1", "未知版本 %d；此 drydock 读取版本 1"}, c.Version)
	}
	c.lintOutput(d, c.lintSources(d))
	c.lintDedup(d)
	c.lintMix(d)
	c.lintBenchmarks(d)
	c.lintEval(d)
	c.lintSubmission(d)
}

// lintSources returns the paths of the source files.
func (c *Config) lintSources(d *spec.Document) map[string]bool {
	seen, inputs := map[string]bool{}, map[string]bool{}
	for i := range c.Sources {
		s := &c.Sources[i]
		if s.Name != "" && seen[s.Name] {
			d.Report(spec.ValueOf(s.Node, "name"), msg.Text{"two sources are called %q", "有两个来源都叫 %q"}, s.Name)
		}
		seen[s.Name] = true
		if strings.ContainsAny(s.Name, "/\\") {
			d.Report(spec.ValueOf(s.Node, "name"), msg.Text{"a source's name cannot hold / or \\", "来源名称不能包含 / 或 \\"})
		}
		if len(s.Path) > 0 {
			files, err := s.find(c.Dir)
			if err != nil {
				d.Report(spec.ValueOf(s.Node, "path"), msg.Text{"%v", "%v"}, err)
			} else if len(files) == 0 {
				d.Report(spec.ValueOf(s.Node, "path"), msg.Text{"no file matches %s", "没有文件匹配 %s"}, msg.List(s.Path))
			}
			for _, f := range files {
				inputs[f.path] = true
			}
		}
		for _, f := range []struct{ key, path string }{{"key", s.Key}, {"password_file", s.PasswordFile}} {
			if f.path != "" {
				c.needFile(d, spec.ValueOf(s.Node, f.key), f.path)
			}
		}
		if s.OCRCommand != "" {
			if _, err := format.ParseOCR(s.OCRCommand); err != nil {
				d.Report(spec.ValueOf(s.Node, "ocr_command"), msg.Text{"%v", "%v"}, err)
			}
		}
		if s.As != "" && !c.hasParser(s.As == "question") {
			d.Report(spec.ValueOf(s.Node, "as"), msg.Text{"no step in steps makes a %s", "steps 中没有产生 %s 的步骤"}, s.As).
				Hint(msg.Text{"add parse_questions or split_sections to steps", "请在 steps 中加入 parse_questions 或 split_sections"})
		}
	}
	return inputs
}

func (c *Config) hasParser(questions bool) bool {
	return slices.ContainsFunc(c.Steps, func(s namedStep) bool {
		return s.parser != nil && (s.name == "parse_questions") == questions
	})
}

func (c *Config) needFile(d *spec.Document, n *yaml.Node, path string) {
	info, err := os.Stat(inside(c.Dir, path))
	if err == nil && info.IsDir() {
		d.Report(n, msg.Text{"%s is a folder, not a file", "%s 是文件夹，不是文件"}, path)
	} else if errors.Is(err, fs.ErrNotExist) {
		d.Report(n, msg.Text{"%s: no such file", "%s：文件不存在"}, path)
	} else if err != nil {
		d.Report(n, msg.Text{"%v", "%v"}, err)
	}
}

func (c *Config) lintOutput(d *spec.Document, inputs map[string]bool) {
	seen := map[string]bool{}
	for _, o := range c.Output {
		at := spec.ValueOf(o.node, "path")
		p := filepath.ToSlash(filepath.Clean(filepath.FromSlash(o.path())))
		if seen[p] {
			d.Report(at, msg.Text{"two outputs write %s", "有两个输出都写入 %s"}, o.path())
		}
		seen[p] = true
		if _, err := rowfile.KindOf(o.path(), o.builder.Layout()); err != nil {
			e := d.Report(at, msg.Text{"%s", "%s"}, err)
			if o.builder.Layout() == "" {
				e.Hint(msg.Text{"a folder for Hugging Face's datasets needs layout: hub or layout: disk", "供 Hugging Face datasets 使用的文件夹需写 layout: hub 或 layout: disk"})
			}
		}
		if !filepath.IsLocal(filepath.FromSlash(o.path())) {
			d.Report(at, msg.Text{"%s lies outside the project", "%s 位于项目之外"}, o.path())
		}
		if inputs[inside(c.Dir, o.path())] {
			d.Report(at, msg.Text{"%s is also a source: the run would read what it writes", "%s 同时是来源：运行会读取自己写出的内容"}, o.path())
		}
	}
}

// lintDedup also fills in the threshold of "near: {}".
func (c *Config) lintDedup(d *spec.Document) {
	names := make([]string, len(c.Sources))
	for i := range c.Sources {
		names[i] = c.Sources[i].Name
	}
	for _, p := range c.Dedup.Prefer {
		if slices.Contains(names, p) {
			continue
		}
		d.Report(spec.ValueOf(c.Dedup.Node, "prefer"), msg.Text{"there is no source %q", "没有来源 %q"}, p).Near(p, names)
	}
	near := c.Dedup.Near
	if near == nil {
		return
	}
	if !c.Dedup.Exact {
		d.Report(spec.ValueOf(c.Dedup.Node, "exact"), msg.Text{"near removes equal records, too: exact cannot be false beside it", "near 也会去除相同的记录：exact 不能同时为 false"})
	}
	at := spec.ValueOf(near.Node, "threshold")
	switch {
	case at == near.Node:
		near.Threshold = dedup.DefaultThreshold
	case !(near.Threshold > 0.5 && near.Threshold < 1):
		d.Report(at, msg.Text{"threshold %v is not above 0.5 and below 1", "threshold %v 不在 0.5 与 1 之间（不含两端）"}, near.Threshold)
	}
}

func (c *Config) lintBenchmarks(d *spec.Document) {
	seen := map[string]bool{}
	for _, b := range c.Benchmarks {
		if b.Name != "" && seen[b.Name] {
			d.Report(spec.ValueOf(b.Node, "name"), msg.Text{"two benchmarks are called %q", "有两个评测集都叫 %q"}, b.Name)
		}
		seen[b.Name] = true
		if b.Path == "" {
			continue
		}
		if _, err := readBench(b.Name, b.Like, inside(c.Dir, b.Path)); err != nil {
			reportErr(d, spec.ValueOf(b.Node, "path"), err)
		}
	}
}

func (c *Config) lintEval(d *spec.Document) {
	n := c.Eval.Node
	for i, e := range c.Eval.Endpoints {
		if !strings.HasPrefix(e, "builtin:") && !strings.Contains(e, "://") {
			d.Report(item(spec.ValueOf(n, "endpoints"), i), msg.Text{"%q is no endpoint", "%q 不是端点"}, e).
				Hint(msg.Text{"builtin:majority, builtin:lookup, or a URL that ends in /v1", "builtin:majority、builtin:lookup，或以 /v1 结尾的地址"})
		} else if strings.HasPrefix(e, "builtin:") && e != "builtin:majority" && e != "builtin:lookup" {
			d.Report(item(spec.ValueOf(n, "endpoints"), i), msg.Text{"there is no %s", "不存在 %s"}, e).
				Near(e, []string{"builtin:majority", "builtin:lookup"})
		}
	}
	if len(c.Eval.Benchmarks) > 0 && len(c.endpoints()) == 0 {
		d.Report(spec.ValueOf(n, "benchmarks"), msg.Text{"eval has benchmarks but nobody to ask", "eval 指定了评测集，但没有要提问的对象"}).
			Hint(msg.Text{"add endpoints: [\"builtin:lookup\"] or base_url", "请加入 endpoints: [\"builtin:lookup\"] 或 base_url"})
	}
	if len(c.Eval.Benchmarks) == 0 && len(c.endpoints()) > 0 {
		d.Report(n, msg.Text{"eval has endpoints but no benchmarks", "eval 指定了端点，但没有评测集"})
	}
	if c.Eval.Model == "" && slices.ContainsFunc(c.endpoints(), func(e string) bool { return strings.Contains(e, "://") }) {
		d.Report(n, msg.Text{"eval asks a server but names no model", "eval 要询问服务器，但未指定模型"}).
			Hint(msg.Text{"add model: NAME, as the server lists it under /v1/models", "请加入 model: 名称，与服务器 /v1/models 所列一致"})
	}
	if c.Eval.MinAcc < 0 || c.Eval.MinAcc > 1 {
		d.Report(spec.ValueOf(n, "min_acc"), msg.Text{"min_acc lies between 0 and 1", "min_acc 介于 0 与 1 之间"})
	}
}

// endpoints returns all that eval asks, base_url last.
func (c *Config) endpoints() []string {
	out := slices.Clone(c.Eval.Endpoints)
	if c.Eval.BaseURL != "" {
		out = append(out, c.Eval.BaseURL)
	}
	return out
}

func (c *Config) lintSubmission(d *spec.Document) {
	s := &c.Submission
	if s.Node == nil {
		return
	}
	if s.Team == "" {
		d.Report(s.Node, msg.Text{"submission needs a team", "submission 缺少 team"})
	}
	known := []string{"sft", "lora", "qlora", "cpt", "dpo", "rag", "graphrag", "agent", "workflow"}
	for i, m := range s.Methods {
		if !slices.Contains(known, m) {
			e := d.Report(item(spec.ValueOf(s.Node, "methods"), i), msg.Text{"%q is no method of the challenge", "%q 不是竞赛规定的方法"}, m)
			e.Hint(msg.Text{"known: %s", "可用：%s"}, msg.List(known))
		}
	}
	if s.Report == "" {
		d.Report(s.Node, msg.Text{"submission needs a report, DOCX or PDF", "submission 缺少技术报告（DOCX 或 PDF）"})
	} else {
		c.needFile(d, spec.ValueOf(s.Node, "report"), s.Report)
	}
	switch {
	case len(c.Eval.Benchmarks) == 0:
		d.Report(s.Node, msg.Text{"a submission needs an evaluation: eval is missing", "提交需要评测结果：缺少 eval"})
	case s.Results == "":
		d.Report(s.Node, msg.Text{"submission needs results: which endpoint of eval is graded", "submission 缺少 results：由 eval 的哪个端点参与评分"})
	case !slices.Contains(c.endpoints(), s.Results):
		d.Report(spec.ValueOf(s.Node, "results"), msg.Text{"%s is not among the endpoints of eval", "%s 不在 eval 的端点之中"}, s.Results)
	}
}

// Resolve finds every benchmark the configuration names. It is the part of the
// check that looks outside the project, at the registered benchmarks.
func (c *Config) Resolve(home string) (map[string]*Bench, fail.List) {
	d := spec.Parse(c.File, c.Source)
	out := map[string]*Bench{}
	find := func(n *yaml.Node, refs []string) {
		for i, ref := range refs {
			if out[ref] != nil {
				continue
			}
			b, err := FindBench(ref, c.Dir, home, c.Benchmarks)
			if err != nil {
				reportErr(d, item(n, i), err)
				continue
			}
			out[ref] = b
		}
	}
	find(spec.ValueOf(c.Contamination.Node, "against"), c.Contamination.Against)
	find(spec.ValueOf(c.Eval.Node, "benchmarks"), c.Eval.Benchmarks)
	return out, d.Findings()
}

// reportErr places an error of ours at a node, in its own words.
func reportErr(d *spec.Document, n *yaml.Node, err error) {
	for _, e := range fail.All(err) {
		r := d.Report(n, msg.Text{"%v", "%v"}, e)
		for i, h := range e.Hints(msg.En) {
			r.Hint(msg.Text{"%s", "%s"}, msg.Text{h, e.Hints(msg.Zh)[i]})
		}
	}
}

func item(n *yaml.Node, i int) *yaml.Node {
	if n != nil && n.Kind == yaml.SequenceNode && i < len(n.Content) {
		return n.Content[i]
	}
	return n
}
