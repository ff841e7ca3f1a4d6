package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/ui"
	"github.com/drydock-ml/drydock/launch"
)

func newDoctorCommand(a *app) *cobra.Command {
	return a.command("doctor", about{
		short: msg.Text{"Check what this installation can do, and say how to mend the rest.", "检查当前安装能做什么，并说明如何补齐其余部分。"},
		long: msg.Text{
			"Nothing is installed, started on a network or changed. What is only missing for some commands is no failure; what no command can do without is one.",
			"不会安装任何东西，不访问网络，也不做任何更改。仅影响部分命令的缺失不算失败；任何命令都离不开的缺失才算失败。",
		},
		examples: []example{{msg.Text{"for a bug report", "用于问题报告"}, "drydock doctor --json"}},
	}, func(cmd *cobra.Command, _ []string) error { return runDoctor(cmd.Context(), a) })
}

// The findings of doctor.
const (
	checkOK      = "ok"
	checkMissing = "missing" // some commands cannot be used
	checkBroken  = "broken"  // none can
)

// check is one line of doctor's answer.
type check struct {
	Name   string   `json:"name"`
	Status string   `json:"status"`
	Found  string   `json:"found,omitempty"`
	For    string   `json:"for,omitempty"` // what it is needed for
	Fixes  []string `json:"fixes,omitempty"`
}

type doctorAnswer struct {
	Schema  string  `json:"schema"`
	Version string  `json:"version"`
	Checks  []check `json:"checks"`
}

func runDoctor(ctx context.Context, a *app) error {
	ans := doctorAnswer{Schema: "drydock.doctor/1", Version: buildVersion().Version}
	ans.Checks = append(ans.Checks, a.checkHome(), a.checkCache())
	ans.Checks = append(ans.Checks, a.checkBenches()...)
	ans.Checks = append(ans.Checks, a.checkTrainers(ctx)...)
	ans.Checks = append(ans.Checks, a.checkGPU())
	if err := a.answer(ans); err != nil {
		return err
	}
	for _, c := range ans.Checks {
		if c.Status == checkBroken {
			return fail.New(fail.Failed, msg.Text{"%s is broken: %s", "%s 不可用：%s"}, c.Name, c.Found)
		}
	}
	return ctx.Err()
}

func (d doctorAnswer) text(t *ui.Terminal) {
	tb := t.Table(
		ui.Column{Title: msg.Text{"what", "项目"}}, ui.Column{Title: msg.Text{"status", "状态"}},
		ui.Column{Title: msg.Text{"found", "发现"}},
	).Wrapped()
	for _, c := range d.Checks {
		tb.Row(c.Name, statusText(t, c.Status), c.Found)
	}
	tb.Print()
	for _, c := range d.Checks {
		if c.Status == checkOK {
			continue
		}
		t.Println("")
		line := t.Bold(c.Name)
		if c.For != "" {
			line += t.Say(msg.Text{": needed for %s", "，用途：%s"}, c.For)
		}
		t.Prose(line)
		for _, fix := range c.Fixes {
			t.Println("  " + fix)
		}
	}
}

func statusText(t *ui.Terminal, s string) string {
	switch s {
	case checkOK:
		return t.Say(msg.Text{"ok", "正常"})
	case checkMissing:
		return t.Say(msg.Text{"missing", "缺失"})
	}
	return t.Say(msg.Text{"broken", "损坏"})
}

// checkHome tries to write where benchmarks are registered.
func (a *app) checkHome() check {
	c := check{Name: "DRYDOCK_HOME", For: a.say(msg.Text{"registered benchmarks", "登记评测集"})}
	dir, err := a.host.home()
	if err == nil {
		c.Found, err = dir, writable(dir)
	}
	if err != nil {
		c.Status, c.Found = checkBroken, fail.Describe(err, a.lang)
		c.Fixes = []string{a.say(msg.Text{"set DRYDOCK_HOME to a folder you may write to", "将 DRYDOCK_HOME 设为可写目录"})}
		return c
	}
	c.Status = checkOK
	return c
}

// checkCache tries to write where compiled code of the PDF reader is kept.
func (a *app) checkCache() check {
	c := check{Name: a.say(msg.Text{"PDF reader's cache", "PDF 读取器缓存"}), Status: checkOK, For: a.say(msg.Text{"a quick start with PDF files", "快速读取 PDF 文件"})}
	dir := a.host.cache()
	if dir == "" {
		c.Status, c.Found = checkMissing, a.say(msg.Text{"there is no user cache folder", "没有用户缓存目录"})
	} else if err := writable(dir); err != nil {
		c.Status, c.Found = checkMissing, fail.Describe(err, a.lang)
	}
	if c.Status != checkOK {
		c.Fixes = []string{a.say(msg.Text{"set DRYDOCK_HOME; without a cache every run that reads PDF starts some seconds later", "设置 DRYDOCK_HOME；没有缓存时，每次读取 PDF 的运行都会晚几秒开始"})}
		return c
	}
	c.Found = a.say(msg.Text{"%s, empty: filled by the first PDF", "%s，空：读取第一个 PDF 时写入"}, dir)
	var size int64
	_ = filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				size += info.Size()
			}
		}
		return nil
	})
	if size > 0 {
		c.Found = fmt.Sprintf("%s, %s", dir, ui.Size(size))
	}
	return c
}

// writable makes dir and a file in it, and removes the file.
func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

func (a *app) checkBenches() []check {
	if _, err := a.host.home(); err != nil {
		return nil // checkHome has said it
	}
	rows, err := a.benchRows()
	if err != nil {
		return []check{{
			Name: "drydock bench list", Status: checkBroken, Found: fail.Describe(err, a.lang), For: "drydock contam check, drydock eval",
			Fixes: []string{"drydock bench add NAME FILE"},
		}}
	}
	var out []check
	for _, r := range rows {
		if !r.Registered && !r.Project && r.Expected == 0 {
			continue // a layout for questions of one's own: nothing is published to have a copy of
		}
		c := check{Name: r.Name, Status: checkMissing, For: "drydock contam check, drydock eval", Found: a.say(msg.Text{"no copy registered", "未登记副本"})}
		c.Fixes = []string{"drydock bench add " + r.Name + " FILE"}
		if r.Registered || r.Project && r.SHA256 != "" {
			c = check{Name: r.Name, Status: checkOK, Found: a.say(msg.Text{"%d {item|items}", "%d 题"}, r.Items)}
		}
		out = append(out, c)
	}
	return out
}

// checkTrainers asks every trainer that needs no options what it lacks.
func (a *app) checkTrainers(ctx context.Context) []check {
	var out []check
	for _, s := range launch.Trainers() {
		trainer, err := s.Default()
		if err != nil {
			continue // command: which program is said in drydock.yaml
		}
		c := check{Name: s.Name, Status: checkOK, For: "drydock train"}
		found, problems := trainer.Check(ctx, a.host.Trainers)
		c.Found = strings.TrimSpace(found.Binary + " " + found.Version)
		for _, p := range problems {
			if !p.Fatal {
				c.Found = strings.TrimLeft(c.Found+"; "+p.In(a.lang), "; ")
				continue
			}
			c.Status = checkMissing
			c.Found = p.In(a.lang)
			c.Fixes = append(c.Fixes, p.Hints(a.lang)...)
		}
		out = append(out, c)
	}
	return out
}

// checkGPU looks for NVIDIA's tool; nothing is started.
func (a *app) checkGPU() check {
	c := check{Name: "nvidia-smi", For: a.say(msg.Text{"training and serving on this machine; preparing data, checks and eval against an endpoint do without", "在本机训练和部署；数据准备、检查以及对端点的评测不需要它"})}
	path, err := a.host.Trainers.LookPath("nvidia-smi")
	if err != nil {
		c.Status, c.Found = checkMissing, a.say(msg.Text{"no NVIDIA driver found", "未找到 NVIDIA 驱动"})
		c.Fixes = []string{a.say(msg.Text{"train elsewhere: drydock train -n prints the command and writes nothing", "可在其他机器训练：drydock train -n 只输出命令，不写文件"})}
		return c
	}
	c.Status, c.Found = checkOK, path
	return c
}
