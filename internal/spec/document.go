package spec

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"

	"go.yaml.in/yaml/v3"
)

// Aliases are expanded this often and nodes nested this deep before a file is
// refused: more is an attack or a mistake, never a configuration.
const (
	maxExpanded = 100_000
	maxDepth    = 64
)

// A Document is one YAML file being decoded. It collects findings instead of
// stopping at the first.
type Document struct {
	File     string     // as findings name it
	Root     *yaml.Node // the top mapping; nil when the file could not be parsed
	lines    []string
	findings fail.List
	expanded int
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)`)

// Parse reads a YAML file with exactly one document. Syntax errors become the
// document's only finding.
func Parse(file string, src []byte) *Document {
	d := &Document{File: file, lines: strings.Split(strings.ReplaceAll(string(src), "\r\n", "\n"), "\n")}
	dec := yaml.NewDecoder(bytes.NewReader(src))
	var n yaml.Node
	err := dec.Decode(&n)
	if errors.Is(err, io.EOF) {
		d.findings = append(d.findings, fail.New(fail.Config, msg.Text{"the file is empty", "文件为空"}).
			At(fail.Where{File: file}).
			Hint(msg.Text{"drydock init writes a first one", "drydock init 会写出一份示例"}))
		return d
	}
	if err != nil {
		m := yamlLine.FindStringSubmatch(err.Error())
		w := fail.Where{File: file}
		text := err.Error()
		if m != nil {
			w.Line, _ = strconv.Atoi(m[1])
			text = m[2]
		}
		d.place(&w)
		d.findings = append(d.findings, fail.New(fail.Config, msg.Text{"not valid YAML: %s", "不是有效的 YAML：%s"}, text).At(w))
		return d
	}
	var second yaml.Node
	if err := dec.Decode(&second); err == nil {
		d.Report(&second, msg.Text{"a second YAML document begins here; only one is read", "此处开始第二个 YAML 文档；只读取一个"})
	}
	d.Root = n.Content[0]
	return d
}

// Findings returns what was found so far, in the order of their places.
func (d *Document) Findings() fail.List {
	slices.SortStableFunc(d.findings, func(a, b *fail.Error) int {
		return cmp.Or(cmp.Compare(a.Where.Line, b.Where.Line), cmp.Compare(a.Where.Column, b.Where.Column))
	})
	return d.findings
}

// Where returns the place of a node, with its line for the caret.
func (d *Document) Where(n *yaml.Node) fail.Where {
	w := fail.Where{File: d.File}
	if n == nil {
		return w
	}
	w.Line, w.Column = n.Line, n.Column
	if n.Kind == yaml.ScalarNode && !strings.Contains(n.Value, "\n") {
		w.Length = len([]rune(n.Value))
		if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
			w.Length += 2
		}
	}
	d.place(&w)
	return w
}

func (d *Document) place(w *fail.Where) {
	if w.Line > 0 && w.Line <= len(d.lines) {
		w.Excerpt = d.lines[w.Line-1]
	}
}

// Report adds a finding at a node.
func (d *Document) Report(n *yaml.Node, text msg.Text, args ...any) *fail.Error {
	e := fail.New(fail.Config, text, args...).At(d.Where(n))
	d.findings = append(d.findings, e)
	return e
}

// ReportError adds a finding made elsewhere, at a node.
func (d *Document) ReportError(n *yaml.Node, e *fail.Error) {
	d.findings = append(d.findings, e.At(d.Where(n)))
}

// A Pair is one key of a mapping and its value, aliases and merges resolved.
type Pair struct{ Key, Value *yaml.Node }

// Pairs returns the entries of a mapping in order. Duplicate keys and anything
// that is no mapping are findings; what names the thing in them.
func (d *Document) Pairs(n *yaml.Node, what any) []Pair {
	n = d.resolve(n)
	if n == nil || isNull(n) {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		d.Report(n, msg.Text{"%s must be a mapping (key: value), not %s", "%s 必须是映射（键：值），而不是%s"}, what, kindOf(n))
		return nil
	}
	var out []Pair
	first := map[string]*yaml.Node{}
	var merged []Pair
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], d.resolve(n.Content[i+1])
		if v == nil {
			continue
		}
		if k.Tag == "!!merge" {
			merged = append(merged, d.Pairs(v, what)...)
			continue
		}
		if was, dup := first[k.Value]; dup {
			d.Report(k, msg.Text{"%q stands twice; first in line %d", "%q 重复出现；首次在第 %d 行"}, k.Value, was.Line).
				Hint(msg.Text{"remove one of the two", "请删除其中一个"})
			continue
		}
		first[k.Value] = k
		out = append(out, Pair{k, v})
	}
	for _, p := range merged {
		if first[p.Key.Value] == nil {
			first[p.Key.Value] = p.Key
			out = append(out, p)
		}
	}
	return out
}

// Items returns the elements of a sequence. A single value where a list is
// wanted is a list of one when scalarOK.
func (d *Document) Items(n *yaml.Node, what any, scalarOK bool) []*yaml.Node {
	n = d.resolve(n)
	if n == nil || isNull(n) {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		if scalarOK && n.Kind == yaml.ScalarNode {
			return []*yaml.Node{n}
		}
		d.Report(n, msg.Text{"%s must be a list, not %s", "%s 必须是列表，而不是%s"}, what, kindOf(n)).
			Hint(msg.Text{"begin each entry with a dash: \"- …\"", "每一项以短横线开头：\"- …\""})
		return nil
	}
	var out []*yaml.Node
	for _, c := range n.Content {
		if r := d.resolve(c); r != nil {
			out = append(out, r)
		}
	}
	return out
}

// resolve follows an alias, within bounds.
func (d *Document) resolve(n *yaml.Node) *yaml.Node {
	for depth := 0; n != nil && n.Kind == yaml.AliasNode; depth++ {
		d.expanded++
		if depth > maxDepth || d.expanded > maxExpanded {
			if d.expanded != maxExpanded+2 { // said once
				d.expanded = maxExpanded + 1
				d.Report(n, msg.Text{"too many aliases", "别名过多"})
			}
			return nil
		}
		n = n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// kindOf says in words what a node is.
func kindOf(n *yaml.Node) msg.Localizer {
	switch n.Kind {
	case yaml.MappingNode:
		return msg.Text{"a mapping", "映射"}
	case yaml.SequenceNode:
		return msg.Text{"a list", "列表"}
	}
	switch n.Tag {
	case "!!null":
		return msg.Text{"nothing", "空值"}
	case "!!bool":
		return msg.Text{"the truth value " + n.Value, "布尔值 " + n.Value}
	case "!!int", "!!float":
		return msg.Text{"the number " + n.Value, "数字 " + n.Value}
	}
	return msg.Text{fmt.Sprintf("the text %q", n.Value), fmt.Sprintf("文本 %q", n.Value)}
}
