package launch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock/internal/msg"
)

// A Plan is a training run before it starts: the same job and version give the
// same plan, byte for byte, on any machine.
type Plan struct {
	Trainer string   `json:"trainer"`
	Version string   `json:"version"` // of the trainer, that the plan is made for
	Dir     string   `json:"dir"`     // where the program runs; the other paths count from there
	Argv    []string `json:"argv"`
	Env     []string `json:"env"`    // names of the variables the program reads; values are never shown
	Set     []string `json:"set"`    // NAME=value pairs set for the program
	Files   []File   `json:"files"`  // written before the start
	Follow  []string `json:"follow"` // files the program appends figures to
	Output  string   `json:"output"` // folder of checkpoints; "" when the trainer decides
	// SaveFile is a file whose appearance asks the trainer for a checkpoint, and
	// which the trainer removes when it begins to write one; "" when it has none.
	SaveFile string `json:"save_file,omitempty"`
	// Rows says what the training file must hold; "" when only the program knows.
	Rows RowKind `json:"rows,omitempty"`
	// Derived are files made of the training file before the start.
	Derived []Derived `json:"derived,omitempty"`
	Limit   int       `json:"-"` // tokens of a row that the trainer takes; 0: not known
	Port    int       `json:"-"` // where its processes meet on several cards; 0: it looks for a free one
	Load    *Load     `json:"-"` // what decides the memory it takes; nil: not known
	Notes   []Note    `json:"-"`
}

// A File is written before the program starts.
type File struct {
	Name    string `json:"name"`
	Content string `json:"content"`
}

// A Note is something the user should know about a plan.
type Note struct{ msg.Phrase }

// Text writes the plan for people: what runs, where, with what, and the files in
// full.
func (p Plan) Text(l msg.Lang) string {
	var b strings.Builder
	line := func(name msg.Text, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s%s %s\n", name.In(l), strings.Repeat(" ", max(0, 10-width(name.In(l)))), value)
		}
	}
	line(msg.Text{"trainer", "训练器"}, strings.TrimSpace(p.Trainer+" "+p.Version))
	line(msg.Text{"directory", "目录"}, p.Dir)
	line(msg.Text{"command", "命令"}, Shell(p.Argv))
	line(msg.Text{"reads env", "读取变量"}, strings.Join(p.Env, " "))
	line(msg.Text{"sets env", "设置变量"}, strings.Join(p.Set, " "))
	line(msg.Text{"follows", "跟踪"}, strings.Join(p.Follow, " "))
	line(msg.Text{"output", "输出"}, p.Output)
	for _, d := range p.Derived {
		line(msg.Text{"makes", "生成"}, d.In(l))
	}
	for _, n := range p.Notes {
		line(msg.Text{"note", "注意"}, n.In(l))
	}
	for _, f := range p.Files {
		line(msg.Text{"writes", "写入"}, f.Name)
		for s := range strings.Lines(f.Content) {
			b.WriteString("    " + s)
		}
		if !strings.HasSuffix(f.Content, "\n") {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// width counts terminal columns of our own labels: ideographs take two.
func width(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r >= 0x2e80 {
			n++
		}
	}
	return n
}

// Shell writes a command as a POSIX shell reads it.
func Shell(argv []string) string {
	out := make([]string, len(argv))
	for i, a := range argv {
		out[i] = a
		if a == "" || strings.ContainsFunc(a, needsQuotes) {
			out[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}

func needsQuotes(r rune) bool {
	plain := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r >= 0x80 || strings.ContainsRune("-_./:=,+@%", r)
	return !plain
}

// reads returns the names of variables every trainer on top of PyTorch and the
// Hugging Face libraries reads, and more.
func reads(more ...string) []string {
	names := append([]string{"CUDA_VISIBLE_DEVICES", "HF_ENDPOINT", "HF_HOME", "HF_HUB_OFFLINE", "HF_TOKEN", "PATH"}, more...)
	slices.Sort(names)
	return slices.Compact(names)
}

// unbuffered makes Python write each line at once although its output is a pipe.
const unbuffered = "PYTHONUNBUFFERED=1"
