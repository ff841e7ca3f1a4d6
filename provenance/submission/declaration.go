package submission

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/spec"
)

// Schema names the shape of submission.yaml.
const Schema = "drydock.submission/1"

// The names at the root of a package.
const (
	declarationName = "submission.yaml"
	manifestName    = "MANIFEST.sha256"
	reportName      = "drydock-report.json"
)

// A Declaration is what submission.yaml says.
type Declaration struct {
	Schema    string    `yaml:"schema" help:"Version of this file's shape." zh:"本文件的格式版本。"`
	Team      string    `yaml:"team" help:"Name of the team; the package is TEAM_submission.zip." zh:"队名；提交包名为“队名_submission.zip”。"`
	Methods   []string  `yaml:"methods" help:"What was done: sft, lora, qlora, cpt, dpo, rag, graphrag, agent, workflow." zh:"所用方法：sft、lora、qlora、cpt、dpo、rag、graphrag、agent、workflow。"`
	BaseModel string    `yaml:"base_model" help:"The model that was started from." zh:"基座模型。"`
	Benchmark Benchmark `yaml:"benchmark" help:"What the results are for." zh:"结果所针对的评测集。"`
	Results   Results   `yaml:"results" help:"Where the results lie." zh:"结果文件的位置。"`
	Report    string    `yaml:"report" help:"The technical report." zh:"技术报告。"`
	Train     Train     `yaml:"train" help:"Where the training data and its papers lie." zh:"训练数据及其说明文件的位置。"`
}

// Benchmark names what was evaluated. Gates that count items take n from here,
// or from the benchmark itself where drydock knows it.
type Benchmark struct {
	Name     string `yaml:"name" help:"Name of the benchmark." zh:"评测集名称。"`
	Revision string `yaml:"revision" help:"Which prompt and rules." zh:"提示模板与规则的版本。"`
	N        int    `yaml:"n" help:"How many items it has." zh:"题目数。"`
	SHA256   string `yaml:"sha256" help:"Canonical hash of the items." zh:"题目的规范哈希。"`
	Rule     string `yaml:"rule" help:"How the answer is read." zh:"抽取答案的规则。"`
}

// Results names the files of the graded evaluation.
type Results struct {
	Model       string `yaml:"model" help:"The model as it was asked for." zh:"评测所用的模型名。"`
	Reviews     string `yaml:"reviews" help:"The graded reviews file (JSONL)." zh:"用于评分的 reviews 文件（JSONL）。"`
	Predictions string `yaml:"predictions" help:"The predictions file (JSONL)." zh:"predictions 文件（JSONL）。"`
	Report      string `yaml:"report" help:"The evaluation report (JSON)." zh:"评测报告（JSON）。"`
}

// Train names the training data and what describes it.
type Train struct {
	Data       []string `yaml:"data" help:"Training files." zh:"训练数据文件。"`
	Sidecars   []string `yaml:"sidecars" help:"Files that go with the training files, keyed by row id." zh:"与训练数据配套、按行编号对应的文件。"`
	Fields     string   `yaml:"fields" help:"What each key means." zh:"字段说明。"`
	Sources    string   `yaml:"sources" help:"Where the data comes from." zh:"数据来源说明。"`
	Scripts    string   `yaml:"scripts" help:"Scripts or a description of the process: a folder or a file." zh:"处理脚本或过程说明：文件夹或文件。"`
	Provenance string   `yaml:"provenance" help:"Folder of the ledgers." zh:"账本文件夹。"`
}

// methods are the ways a declaration can name; true for those that train.
func methods() map[string]bool {
	return map[string]bool{
		"sft": true, "lora": true, "qlora": true, "cpt": true, "dpo": true,
		"rag": false, "graphrag": false, "agent": false, "workflow": false,
	}
}

// Trains reports whether any declared method trains the model.
func (d *Declaration) Trains() bool {
	return slices.ContainsFunc(d.Methods, func(m string) bool { return methods()[m] })
}

// ParseDeclaration reads submission.yaml and returns every finding at once.
func ParseDeclaration(file string, src []byte) (Declaration, fail.List) {
	var d Declaration
	doc := spec.Parse(file, src)
	if doc.Root != nil {
		doc.Decode(doc.Root, &d, msg.Text{"a submission", "提交声明"})
	}
	list := doc.Findings()
	if len(list) > 0 {
		d.Benchmark.Name = ""
		return d, list
	}
	bad := func(t msg.Text, args ...any) {
		list = append(list, fail.New(fail.Submission, t, args...).At(fail.Where{File: file}))
	}
	if d.Schema != Schema {
		bad(msg.Text{"schema is %q, this program reads %q", "schema 为 %q，本程序读取 %q"}, d.Schema, Schema)
	}
	if d.Team == "" {
		bad(msg.Text{"no team", "未写队名（team）"})
	}
	if len(d.Methods) == 0 {
		bad(msg.Text{"no methods", "未写方法（methods）"})
	}
	if _, err := benchmark.ParseRef(d.Benchmark.Name); err != nil {
		bad(msg.Text{"benchmark.name: %v", "benchmark.name：%v"}, err)
		d.Benchmark.Name = "" // it must not name a file of this machine
	}
	for _, m := range d.Methods {
		if _, ok := methods()[m]; !ok {
			bad(msg.Text{"unknown method %q", "未知的方法 %q"}, m)
		}
	}
	return d, list
}

// Append writes the declaration as YAML. Strings are JSON strings, which every
// YAML reader takes as they are.
func (d *Declaration) Append(dst []byte) []byte {
	b := bytes.NewBuffer(dst)
	str := func(indent, key, v string) {
		if v != "" {
			fmt.Fprintf(b, "%s%s: %s\n", indent, key, drydock.AppendJSONString(nil, v))
		}
	}
	list := func(indent, key string, v []string) {
		if len(v) == 0 {
			return
		}
		var parts []string
		for _, s := range v {
			parts = append(parts, string(drydock.AppendJSONString(nil, s)))
		}
		fmt.Fprintf(b, "%s%s: [%s]\n", indent, key, strings.Join(parts, ", "))
	}
	str("", "schema", Schema)
	str("", "team", d.Team)
	list("", "methods", d.Methods)
	str("", "base_model", d.BaseModel)
	b.WriteString("benchmark:\n")
	str("  ", "name", d.Benchmark.Name)
	str("  ", "revision", d.Benchmark.Revision)
	fmt.Fprintf(b, "  n: %d\n", d.Benchmark.N)
	str("  ", "sha256", d.Benchmark.SHA256)
	str("  ", "rule", d.Benchmark.Rule)
	b.WriteString("results:\n")
	str("  ", "model", d.Results.Model)
	str("  ", "reviews", d.Results.Reviews)
	str("  ", "predictions", d.Results.Predictions)
	str("  ", "report", d.Results.Report)
	str("", "report", d.Report)
	if t := d.Train; len(t.Data) > 0 {
		b.WriteString("train:\n")
		list("  ", "data", t.Data)
		list("  ", "sidecars", t.Sidecars)
		str("  ", "fields", t.Fields)
		str("  ", "sources", t.Sources)
		str("  ", "scripts", t.Scripts)
		str("  ", "provenance", t.Provenance)
	}
	return b.Bytes()
}
