package submission

import (
	"context"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/parallel"
)

// A FileScanner looks for benchmark items in files of a package. It is safe for
// several goroutines.
type FileScanner interface {
	// Scan reads one file of the package to its end, unpacks what it can and
	// calls found for every item, in the order of the file; the finding's record
	// names file, member (package.zip!inner) and place. bad is what could not be
	// looked into.
	Scan(ctx context.Context, name string, r io.Reader, found func(contam.Finding)) (bad fail.List, err error)
	Close() error
}

// bytesScanner is the scanner of a caller that hands in none: every file as
// bytes, without unpacking.
type bytesScanner struct{ raw *contam.Raw }

func (s bytesScanner) Scan(ctx context.Context, name string, r io.Reader, found func(contam.Finding)) (fail.List, error) {
	hits, _, err := s.raw.Scan(ctx, r, 1)
	for _, h := range hits {
		h.Record.File = name
		found(h.Finding)
	}
	return nil, err
}

func (s bytesScanner) Close() error { return nil }

func contaminationGates() []gate {
	return []gate{
		{"C02", Rule, rolePackage, msg.Text{"no benchmark item is in the knowledge base", "知识库不含评测题目"}, gateC02},
		{"C03", Rule, rolePackage, msg.Text{"no benchmark item is in prompts, examples, code or workflows", "提示词、示例、代码与工作流不含评测题目"}, gateC03},
		{"C04", Rule, rolePackage, msg.Text{"no benchmark item is in any other file", "其他文件均不含评测题目"}, gateC04},
		{"C05", Rule, rolePackage, msg.Text{"no answers are written down", "未写入固定答案"}, gateC05},
	}
}

// part is the share of a package that one of the gates C01 to C04 looks at.
type part int

const (
	partTrain   part = iota // C01
	partKB                  // C02
	partPrompt              // C03
	partOther               // C04
	partResults             // holds the questions and answers by its nature
)

// partOf says which gate a file belongs to.
func (s *state) partOf(name string) part {
	d := &s.decl
	low := strings.ToLower(name)
	under := func(dirs ...string) bool {
		return slices.ContainsFunc(dirs, func(d string) bool { return strings.HasPrefix(low, d+"/") })
	}
	switch {
	case slices.Contains(d.Train.Data, name):
		return partTrain
	case under("results"), name == d.Results.Reviews, name == d.Results.Predictions, name == d.Results.Report:
		return partResults
	case under("kb", "rag", "knowledge", "vectorstore", "index_input"):
		return partKB
	case under("agent", "prompts", "prompt", "workflow", "train/scripts"),
		slices.Contains([]string{".py", ".ipynb", ".js", ".ts", ".go", ".java", ".sh", ".ps1", ".bat", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".j2", ".jinja", ".jinja2", ".tmpl", ".prompt"}, path.Ext(low)),
		strings.Contains(path.Base(low), "prompt"), strings.Contains(path.Base(low), "few_shot"), strings.Contains(path.Base(low), "fewshot"):
		return partPrompt
	}
	return partOther
}

// ready skips a gate that needs the benchmark's items when there is no copy.
func (c *check) ready() (bool, error) {
	if c.itemsErr != nil {
		return false, c.itemsErr
	}
	if c.bundle.broken {
		c.skips(nil, msg.Text{"the package cannot be read (P03)", "提交包无法读取（见 P03）"})
		return false, nil
	}
	if c.items == nil {
		name := c.decl.Benchmark.Name
		c.skips(said(msg.Text{"drydock bench add %s FILE registers your copy", "用 drydock bench add %s 文件 登记您的副本"}, name),
			msg.Text{"no copy of %s is registered here, so nothing was compared", "本机未登记 %s，因此未作比对"}, name)
		return false, nil
	}
	return true, nil
}

// newIndex indexes the user's copy of the benchmark.
func (s *state) newIndex() (*contam.Index, error) {
	ref := benchmark.Ref{Name: s.decl.Benchmark.Name}
	if s.bench != nil {
		ref = s.bench.Ref()
	}
	return contam.NewIndex(s.items, ref, contam.DefaultConfig())
}

// newScanner makes the scanner the caller hands in.
func (s *state) newScanner(ix *contam.Index) (FileScanner, error) {
	if s.opts.Scanner != nil {
		return s.opts.Scanner(ix)
	}
	return bytesScanner{ix.Raw()}, nil
}

func gateC02(c *check) error { return c.leaks(partKB) }
func gateC03(c *check) error { return c.leaks(partPrompt) }
func gateC04(c *check) error { return c.leaks(partOther) }

// leaks looks for items in every file of a part.
func (c *check) leaks(p part) error {
	if ok, err := c.ready(); !ok {
		return err
	}
	var files []entry
	for _, e := range c.bundle.entries {
		if c.partOf(e.name) == p {
			files = append(files, e)
		}
	}
	if len(files) == 0 {
		c.passes(msg.Text{"there are no such files", "没有此类文件"})
		return nil
	}
	ix, err := c.index()
	if err != nil {
		return err
	}
	shown, err := c.scan(ix, files)
	if err != nil {
		return err
	}
	c.passes(msg.Text{"%d {file|files} compared with %d {item|items}; %d {item looks|items look} alike without being a leak", "已将 %d 个文件与 %d 道题比对；%d 处相似但不属泄漏"}, len(files), ix.Items(), shown)
	return nil
}

// scan looks into files, several at once, and says what they hold in their
// order. It returns how many findings are no leaks.
func (c *check) scan(ix *contam.Index, files []entry) (shown int, err error) {
	if len(files) == 0 {
		return 0, nil
	}
	scanner, err := c.newScanner(ix)
	if err != nil {
		return 0, err
	}
	defer scanner.Close()
	type result struct {
		found []contam.Finding
		bad   fail.List
	}
	results := make([]result, len(files))
	return shown, parallel.InOrder(c.ctx, 0, len(files), func(ctx context.Context, i int) error {
		r, err := files[i].open()
		if err != nil {
			return nil // P03 says so
		}
		defer r.Close()
		out := &results[i]
		out.bad, err = scanner.Scan(ctx, files[i].name, r, func(f contam.Finding) { out.found = append(out.found, f) })
		if ctx.Err() == nil && err != nil {
			out.bad = append(out.bad, fail.All(err)...)
			err = nil
		}
		return err
	}, func(i int) error {
		for _, f := range results[i].found {
			if f.Fail {
				c.leak(files[i].name, &f)
			} else {
				shown++
			}
		}
		for _, e := range results[i].bad {
			c.warns(at(files[i].name, e.Where.Line), msg.Text{"%s: not all of it was looked into: %s", "%s：未能全部检查：%s"}, e.Where.File, message{e})
		}
		results[i] = result{}
		return nil
	})
}

// leak says which item stands in which file, member and place.
func (c *check) leak(name string, f *contam.Finding) {
	fd := at(name, f.Record.Line).pointer(f.Record.Pointer)
	where := f.Record.File
	if p := f.Record.Locator; p != "" {
		fd.Pointer, where = p, where+" "+p
	} else if f.Record.Line == 0 && f.Record.ID != "" {
		where += " " + f.Record.ID
	}
	c.fails(fd.fix(msg.Text{"take the item out, and build again what was made of this file", "请移除该题，并重新生成由此文件得到的内容"}),
		msg.Text{"%s holds %s item %d: %s, score %.2f", "%s 含有 %s 第 %d 题：%s，得分 %.2f"}, where, f.Item.Benchmark, f.Item.Index, string(f.Verdict), f.Score)
}
