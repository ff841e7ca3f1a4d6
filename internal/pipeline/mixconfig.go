package pipeline

import (
	"maps"
	"math"
	"slices"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/spec"

	"go.yaml.in/yaml/v3"
)

// MixConfig says how much of what the outputs are to hold. Records are only ever
// left out, never repeated.
type MixConfig struct {
	spec.Place
	Size    int        `yaml:"size" help:"At most so many records in all; 0: as many as weights and quotas allow." zh:"记录总数上限；0：在权重与配额允许下尽可能多。"`
	Weights MixWeights `yaml:"weights" help:"How much of each there is to be, relative to the others; names that are not listed are one group, \"*\", of weight 1 unless it is given." zh:"各组之间的相对比例；未列出的名称合为一组 \"*\"，未指定时权重为 1。"`
	Quotas  MixQuotas  `yaml:"quotas" help:"At most so many records of each; \"*\" is all that is not listed." zh:"每组的记录数上限；\"*\" 表示其余全部。"`
}

// MixWeights are shares by what a record is; a name that is missing from a
// record's source, subject, language or kind belongs to "*".
type MixWeights struct {
	spec.Place
	Source  map[string]float64 `yaml:"source" help:"By source." zh:"按来源。"`
	Subject map[string]float64 `yaml:"subject" help:"By subject: any part of a question's chapter or a passage's headings." zh:"按主题：题目章节或段落标题路径中的任意一级。"`
	Lang    map[string]float64 `yaml:"lang" help:"By language, BCP 47." zh:"按语言，BCP 47。"`
	Kind    map[string]float64 `yaml:"kind" help:"By kind: single, multiple, judge, blank, short, matching, passage, chat." zh:"按类型：single、multiple、judge、blank、short、matching、passage、chat。"`
}

// MixQuotas are most numbers by what a record is.
type MixQuotas struct {
	spec.Place
	Source  map[string]int `yaml:"source" help:"By source." zh:"按来源。"`
	Subject map[string]int `yaml:"subject" help:"By subject: any part of a question's chapter or a passage's headings." zh:"按主题：题目章节或段落标题路径中的任意一级。"`
	Lang    map[string]int `yaml:"lang" help:"By language, BCP 47." zh:"按语言，BCP 47。"`
	Kind    map[string]int `yaml:"kind" help:"By kind: single, multiple, judge, blank, short, matching, passage, chat." zh:"按类型：single、multiple、judge、blank、short、matching、passage、chat。"`
}

// SplitConfig says what part of the records is kept from training.
type SplitConfig struct {
	spec.Place
	Dev float64 `yaml:"dev" help:"How much goes to the dev files: a share below 1, or a number of records." zh:"划入 dev 文件的数量：小于 1 为比例，否则为记录数。" required:"true"`
	By  string  `yaml:"by" help:"What is never divided, besides near duplicates, questions of one stem and what was made from one record: nothing more (item), a chapter (subject), a file, a source." zh:"除近似重复、同一题干的题目以及由同一记录生成的内容外，还有什么不可拆分：无（item）、一个章节（subject）、一个文件（file）、一个来源（source）。" enum:"item,subject,file,source"`
}

// rest is the name of all that a mix does not list.
const rest = "*"

// The dimensions of a mix, in the order they are reported.
const (
	bySource = iota
	bySubject
	byLang
	byKind
	mixDimensions
)

// mixNames are the dimensions' names in drydock.yaml.
func mixNames() [mixDimensions]string {
	return [mixDimensions]string{"source", "subject", "lang", "kind"}
}

func (w MixWeights) all() [mixDimensions]map[string]float64 {
	return [mixDimensions]map[string]float64{w.Source, w.Subject, w.Lang, w.Kind}
}

func (q MixQuotas) all() [mixDimensions]map[string]int {
	return [mixDimensions]map[string]int{q.Source, q.Subject, q.Lang, q.Kind}
}

// listed reports the names that a mix gives a dimension.
func (m *MixConfig) listed(dimension int) map[string]bool {
	out := map[string]bool{}
	if m == nil {
		return out
	}
	for name := range m.Weights.all()[dimension] {
		out[name] = true
	}
	for name := range m.Quotas.all()[dimension] {
		out[name] = true
	}
	return out
}

// mixKinds are the kinds a record can have.
func mixKinds() []string {
	return []string{
		string(drydock.Single), string(drydock.Multiple), string(drydock.Judge), string(drydock.Blank),
		string(drydock.Short), string(drydock.Matching), string(drydock.KindPassage), string(drydock.KindChat),
	}
}

// lintMix finds names that nothing can have, and numbers that say nothing.
func (c *Config) lintMix(d *spec.Document) {
	if m := c.Mix; m != nil {
		if m.Size < 0 {
			d.Report(spec.ValueOf(m.Node, "size"), msg.Text{"size cannot be negative", "size 不能为负"})
		}
		for i, name := range mixNames() {
			weights, quotas := m.Weights.all()[i], m.Quotas.all()[i]
			at := spec.ValueOf(m.Weights.Node, name)
			sum := 0.0
			for _, k := range slices.Sorted(maps.Keys(weights)) {
				if weights[k] < 0 {
					d.Report(spec.ValueOf(at, k), msg.Text{"a weight cannot be negative", "权重不能为负"})
				}
				sum += weights[k]
			}
			if weights != nil && sum == 0 {
				d.Report(at, msg.Text{"no weight is above 0: nothing would be left", "没有大于 0 的权重：不会剩下任何记录"})
			}
			c.lintMixNames(d, at, i, slices.Sorted(maps.Keys(weights)))
			at = spec.ValueOf(m.Quotas.Node, name)
			for _, k := range slices.Sorted(maps.Keys(quotas)) {
				if quotas[k] < 0 {
					d.Report(spec.ValueOf(at, k), msg.Text{"a quota cannot be negative", "配额不能为负"})
				}
			}
			c.lintMixNames(d, at, i, slices.Sorted(maps.Keys(quotas)))
		}
	}
	if s := c.Split; s != nil && (s.Dev <= 0 || s.Dev >= 1 && s.Dev != math.Trunc(s.Dev)) {
		d.Report(spec.ValueOf(s.Node, "dev"), msg.Text{"dev is a share between 0 and 1, or a whole number of records", "dev 为 0 与 1 之间的比例，或整数条记录"})
	}
}

func (c *Config) lintMixNames(d *spec.Document, at *yaml.Node, dimension int, names []string) {
	var known []string
	switch dimension {
	case bySource:
		for i := range c.Sources {
			known = append(known, c.Sources[i].Name)
		}
	case byKind:
		known = mixKinds()
	default:
		return
	}
	for _, name := range names {
		if name == rest || slices.Contains(known, name) {
			continue
		}
		d.Report(keyOf(at, name), msg.Text{"there is no %s %q", "不存在 %s %q"}, mixNames()[dimension], name).
			NearOr(name, known, msg.Text{"known: %s", "可用：%s"})
	}
}

// keyOf returns a key of a mapping, for a finding about the name itself.
func keyOf(n *yaml.Node, name string) *yaml.Node {
	if n != nil && n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == name {
				return n.Content[i]
			}
		}
	}
	return n
}
