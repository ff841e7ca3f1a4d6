package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/data"
	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/runstore"
	"github.com/drydock-ml/drydock/internal/ui"
)

// InitOptions are the flags of init.
type InitOptions struct {
	Dir        string
	FromSample bool
	Force      bool
	DryRun     bool
}

func newInitCommand(a *app) *cobra.Command {
	var o InitOptions
	c := a.command("init", about{
		use: "[DIR]", args: maybeArg("DIR"),
		short: msg.Text{"Begin a project: drydock.yaml, a folder for sources, .gitignore.", "新建项目：drydock.yaml、来源目录和 .gitignore。"},
		long: msg.Text{
			"Put the sources into raw/, say in drydock.yaml where they come from and under which terms, then run drydock lint and drydock run. A file that is there already is left alone unless --force is given.",
			"将来源文件放入 raw/，在 drydock.yaml 中注明出处和许可，然后运行 drydock lint 和 drydock run。除非使用 --force，已有文件不会改动。",
		},
		examples: []example{
			{msg.Text{"in a new folder", "新目录"}, "drydock init bank"},
			{msg.Text{"here", "当前目录"}, "drydock init"},
			{msg.Text{"the sample, to try the whole road", "示例项目，体验完整流程"}, "drydock init sample --from-sample && drydock run -C sample"},
		},
	}, nil)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		o.Dir = "."
		if len(args) > 0 {
			o.Dir = args[0]
		}
		return runInit(cmd.Context(), a, o)
	}
	f := a.flags(c.Flags())
	f.bool(&o.FromSample, "from-sample", "", msg.Text{"write the sample project: sources, a benchmark with planted leaks, a report", "写出示例项目：来源、埋有泄漏的评测集和报告"})
	f.gate(&o.Force, "force", "", msg.Text{"overwrite the files that are there", "覆盖已有文件"})
	f.dryRun(&o.DryRun)
	return c
}

// initAnswer lists what was written.
type initAnswer struct {
	Schema string   `json:"schema"`
	Dir    string   `json:"dir"`
	Files  []string `json:"files"`
	DryRun bool     `json:"dry_run,omitempty"`
}

func runInit(_ context.Context, a *app, o InitOptions) error {
	files, err := a.initFiles(o)
	if err != nil {
		return err
	}
	ans := initAnswer{Schema: "drydock.init/1", Dir: filepath.ToSlash(o.Dir), DryRun: o.DryRun}
	var taken []string
	for _, f := range files {
		path := filepath.Join(o.Dir, filepath.FromSlash(f.name))
		if _, err := os.Lstat(path); err == nil && !o.Force {
			taken = append(taken, f.name)
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		ans.Files = append(ans.Files, f.name)
	}
	if len(taken) > 0 {
		return fail.New(fail.Refused, msg.Text{"%s: there already", "%s：已存在"}, msg.List(taken)).
			Hint(msg.Text{"name another folder, or give --force to overwrite", "请换一个目录，或用 --force 覆盖"})
	}
	if !o.DryRun {
		for _, f := range files {
			if err := atomicfile.WriteFile(filepath.Join(o.Dir, filepath.FromSlash(f.name)), f.data); err != nil {
				return err
			}
		}
	}
	if err := a.answer(ans); err != nil {
		return err
	}
	cd := ""
	if o.Dir != "." {
		dir := o.Dir
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(a.global.Dir, dir)
		}
		cd = " -C " + shellWord(filepath.ToSlash(dir))
	}
	a.term.Next("drydock lint" + cd + " && drydock run" + cd)
	return nil
}

// newFile is a file init writes.
type newFile struct {
	name string // with slashes
	data []byte
}

func (a *app) initFiles(o InitOptions) ([]newFile, error) {
	ignore := newFile{".gitignore", []byte("/.drydock/\n/build/\n/runs/\n")}
	if o.FromSample {
		files, err := sampleFiles("samples/colreg")
		return append(files, ignore), err
	}
	home, err := a.host.home()
	if err != nil {
		return nil, err
	}
	_, registered, err := runstore.FindBenchmark(home, "maritime_bench")
	if err != nil {
		return nil, err
	}
	return []newFile{{"drydock.yaml", []byte(a.starterConfig(registered))}, ignore, {"raw/.gitkeep", nil}}, nil
}

// sampleFiles reads a sample that ships inside the program.
func sampleFiles(root string) (files []newFile, err error) {
	err = fs.WalkDir(data.Samples, root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(data.Samples, p)
		files = append(files, newFile{strings.TrimPrefix(p, root+"/"), b})
		return err
	})
	return files, err
}

func (i initAnswer) text(t *ui.Terminal) {
	for _, f := range i.Files {
		t.Println(filepath.ToSlash(filepath.Join(i.Dir, f)))
	}
}

// starterConfig is a drydock.yaml that works once there are files in raw/. The
// check against maritime_bench is on when the user has a copy to check against.
func (a *app) starterConfig(registered bool) string {
	lines := []struct {
		text    string
		comment msg.Text
	}{
		{"", msg.Text{"From source files to a checked result. drydock lint checks this file,", "从来源文件到经过检验的结果。drydock lint 检查本文件，drydock plan"}},
		{"", msg.Text{"drydock plan says what would run, drydock run does it. All options:", "说明将运行什么，drydock run 执行。全部选项见"}},
		{"", msg.Text{"drydock steps list.", "drydock steps list。"}},
		{"version: 1", msg.Text{}},
		{"seed: 1", msg.Text{}},
		{"sources:", msg.Text{}},
		{"  - name: raw", msg.Text{}},
		{"    path: raw/**", msg.Text{}},
		{`    license: ""`, msg.Text{"SPDX id or the terms in words; empty: unknown, and said so", "SPDX 标识或许可说明；留空即未知，数据卡会注明"}},
		{"steps:", msg.Text{}},
		{"  - parse_questions:", msg.Text{"numbered stems with options become questions", "带编号和选项的题干成为题目"}},
		{"  - split_sections:", msg.Text{"all other text becomes passages", "其余文本成为段落"}},
		{"  - tidy_text:", msg.Text{}},
		{"  - drop_short:", msg.Text{}},
		{"  - drop_duplicate_options:", msg.Text{}},
		{"dedup: {near: {threshold: 0.85}}", msg.Text{"equal and near records", "相同及近似的记录"}},
	}
	hash := "# "
	if registered {
		hash = ""
	} else {
		lines = append(lines, struct {
			text    string
			comment msg.Text
		}{"", msg.Text{"register your copy first: drydock bench add maritime_bench FILE", "请先登记副本：drydock bench add maritime_bench FILE"}})
	}
	lines = append(lines, []struct {
		text    string
		comment msg.Text
	}{
		{hash + "contamination: {against: [maritime_bench], on_hit: drop}", msg.Text{}},
		{"output:", msg.Text{}},
		{"  - qwen3_chat: {path: build/train.jsonl}", msg.Text{}},
	}...)
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.text)
		if c := a.say(l.comment); c != "" {
			if l.text != "" {
				b.WriteString("  ")
			}
			b.WriteString("# " + c)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
