package launch

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/spec"

	"go.yaml.in/yaml/v3"
)

// What data/parser.py of LLaMA-Factory 0.9.5 reads of an entry. It ignores every
// other key without a word.
func datasetKeys() []string {
	return []string{
		"file_name", "hf_hub_url", "ms_hub_url", "om_hub_url", "script_url", "cloud_file_name",
		"formatting", "ranking", "subset", "split", "folder", "num_samples", "columns", "tags",
	}
}

func datasetColumns() []string {
	return []string{"prompt", "query", "response", "history", "messages", "system", "tools", "images", "videos", "audios", "chosen", "rejected", "kto_tag"}
}

func datasetTags() []string {
	return []string{"role_tag", "content_tag", "user_tag", "assistant_tag", "observation_tag", "function_tag", "system_tag"}
}

// datasetExtensions are the files its loader knows (data/data_utils.py, FILEEXT2TYPE).
func datasetExtensions() []string { return []string{"arrow", "csv", "json", "jsonl", "parquet", "txt"} }

// LintDatasetInfo finds what LLaMA-Factory would not tell of a dataset_info.json:
// names it ignores, columns that fall away, roles the data do not have, files that
// are not there. Of the data only the first rows are read, and only of JSON.
func LintDatasetInfo(file string, src []byte) Findings {
	l := &infoLint{file: file}
	var any json.RawMessage
	if err := json.Unmarshal(src, &any); err != nil {
		var s *json.SyntaxError
		at := fail.Where{File: filepath.ToSlash(file)}
		if errors.As(err, &s) {
			before := src[:min(int(s.Offset), len(src))]
			at.Line, at.Column = 1+bytes.Count(before, []byte{'\n'}), len(before)-bytes.LastIndexByte(before, '\n')-1
		}
		return Findings{{ID: "json", Error: fail.New(fail.Config, msg.Text{"not valid JSON: %v", "不是有效的 JSON：%v"}, err).At(at)}}
	}
	// JSON is YAML, but for tabs, and so its places are known
	l.doc = spec.Parse(filepath.ToSlash(file), bytes.ReplaceAll(src, []byte{'\t'}, []byte{' '}))
	if l.doc.Root == nil {
		for _, e := range l.doc.Findings() {
			l.found = append(l.found, Finding{ID: "json", Error: e})
		}
		return l.found
	}
	if i := bytes.IndexFunc(src, func(r rune) bool { return r > 0x7f }); i >= 0 {
		at := fail.Where{File: filepath.ToSlash(file), Line: 1 + bytes.Count(src[:i], []byte{'\n'})}
		l.found = append(l.found, Finding{ID: "not_ascii", Warning: true, Error: fail.New(fail.Config, msg.Text{
			"it holds characters beyond ASCII, and LLaMA-Factory reads it in the encoding of the machine's locale",
			"含有 ASCII 以外的字符，而 LLaMA-Factory 按系统区域设置的编码读取",
		}).At(at).Hint(msg.Text{`write \uXXXX, as json.dumps does`, `请写成 \uXXXX，与 json.dumps 相同`})})
	}
	for _, p := range l.doc.Pairs(l.doc.Root, emit.DatasetInfoName) {
		l.entry(p.Key.Value, p.Value)
	}
	for _, e := range l.doc.Findings() {
		l.found = append(l.found, Finding{ID: "json", Error: e})
	}
	return l.found
}

type infoLint struct {
	file  string
	doc   *spec.Document
	found Findings
}

func (l *infoLint) add(id string, warning bool, n *yaml.Node, text msg.Text, args ...any) *fail.Error {
	e := fail.New(fail.Config, text, args...).At(l.doc.Where(n))
	l.found = append(l.found, Finding{ID: id, Warning: warning, Error: e})
	return e
}

// An infoEntry is one data set as it is written.
type infoEntry struct {
	name                string
	node, columns, tags *yaml.Node // nil: not given
	formatting          string
}

// text is a value of a mapping; "" for none and for null.
func text(n *yaml.Node, key string) string {
	v := spec.ValueOf(n, key)
	if v == nil || v == n || v.Kind != yaml.ScalarNode || v.Tag == "!!null" {
		return ""
	}
	return v.Value
}

func has(n *yaml.Node, key string) bool { return n != nil && spec.ValueOf(n, key) != n }

func (l *infoLint) entry(name string, n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		l.add("not_an_entry", false, n, msg.Text{"%s: an entry is an object with file_name", "%s：每个条目是含 file_name 的对象"}, name)
		return
	}
	e := &infoEntry{name: name, node: n, formatting: text(n, "formatting")}
	l.names(n, name, datasetKeys())
	if has(n, "columns") {
		e.columns = spec.ValueOf(n, "columns")
		l.names(e.columns, name+".columns", datasetColumns())
	}
	if has(n, "tags") {
		e.tags = spec.ValueOf(n, "tags")
		l.names(e.tags, name+".tags", datasetTags())
	}
	l.format(e)
	path := l.rowsOf(e)
	if path == "" {
		return
	}
	rows := firstRows(path)
	if len(rows) > 0 {
		l.compare(e, rows)
	}
}

// names reports the keys that nobody reads.
func (l *infoLint) names(n *yaml.Node, what string, known []string) {
	if n.Kind != yaml.MappingNode {
		l.add("not_an_object", false, n, msg.Text{"%s must be an object", "%s 必须是对象"}, what)
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if slices.Contains(known, key.Value) {
			continue
		}
		l.add("unknown_key", false, key, msg.Text{"%s has the key %q, which LLaMA-Factory ignores", "%s 中的键 %q 会被 LLaMA-Factory 忽略"}, what, key.Value).
			NearOr(key.Value, known, msg.Text{"it reads: %s", "可用的键：%s"})
	}
}

// format checks formatting and what it needs. Where columns or tags are given at
// all, what they leave out is not there, whatever the default is.
func (l *infoLint) format(e *infoEntry) {
	at := spec.ValueOf(e.node, "formatting")
	switch e.formatting {
	case "", "alpaca", "sharegpt":
	case "openai":
		l.add("S1", false, at, msg.Text{
			"%s: formatting openai puts %q into the system turn of every row without tools", "%s：formatting 为 openai 时，每条无工具的数据都会在 system 中加入 %q",
		}, e.name, thinkingOff).Hint(msg.Text{`write "formatting": "sharegpt" with tags role, content, user, assistant, system`, `请写 "formatting": "sharegpt"，并在 tags 中写 role、content、user、assistant、system`})
	default:
		l.add("bad_value", false, at, msg.Text{"%s: formatting %q is none of alpaca, sharegpt, openai", "%s：formatting %q 不是 alpaca、sharegpt、openai 之一"}, e.name, e.formatting)
		return
	}
	need := func(n *yaml.Node, what string, keys ...string) {
		for _, k := range keys {
			if n != nil && n.Kind == yaml.MappingNode && text(n, k) == "" {
				l.add("left_out", false, n, msg.Text{"%s: %s is given and leaves out %q, which then is nothing", "%s：给出了 %s 但缺少 %q，该项将为空"}, e.name, what, k)
			}
		}
	}
	if e.formatting == "sharegpt" || e.formatting == "openai" {
		need(e.columns, "columns", "messages")
		need(e.tags, "tags", "role_tag", "content_tag", "user_tag", "assistant_tag")
		return
	}
	need(e.columns, "columns", "prompt")
	if text(e.columns, "prompt") != "text" { // rows of running text have nothing else
		need(e.columns, "columns", "response")
	}
}

// rowsOf returns the file with the rows of an entry; "" when they are elsewhere or
// not to be found, which is then said.
func (l *infoLint) rowsOf(e *infoEntry) string {
	for _, k := range datasetKeys()[1:6] {
		if has(e.node, k) {
			return ""
		}
	}
	name, at := text(e.node, "file_name"), spec.ValueOf(e.node, "file_name")
	if name == "" {
		l.add("no_file", false, e.node, msg.Text{"%s names no file_name, and no other place", "%s 没有 file_name，也没有其他来源"}, e.name)
		return ""
	}
	path := filepath.Join(filepath.Dir(l.file), filepath.FromSlash(name))
	info, err := os.Stat(path)
	if err != nil {
		l.add("no_file", false, at, msg.Text{"%s: %s is not there", "%s：%s 不存在"}, e.name, name)
		return ""
	}
	if info.IsDir() {
		return l.folder(e, at, path)
	}
	if ext := strings.TrimPrefix(filepath.Ext(name), "."); !slices.Contains(datasetExtensions(), ext) {
		l.add("bad_extension", false, at, msg.Text{"%s: LLaMA-Factory goes by the extension and does not know .%s", "%s：LLaMA-Factory 按扩展名识别，不支持 .%s"}, e.name, ext).
			Hint(msg.Text{"it knows: %s", "可用：%s"}, msg.List(datasetExtensions()))
		return ""
	}
	return path
}

// folder checks that a folder has files of one kind only, as its loader asserts.
func (l *infoLint) folder(e *infoEntry, at *yaml.Node, path string) string {
	list, err := os.ReadDir(path)
	if err != nil {
		l.add("no_file", false, at, msg.Text{"%s: %v", "%s：%v"}, e.name, err)
		return ""
	}
	kinds := map[string]bool{}
	first := ""
	for _, f := range list {
		kinds[strings.TrimPrefix(filepath.Ext(f.Name()), ".")] = true
		if first == "" {
			first = filepath.Join(path, f.Name())
		}
	}
	if len(kinds) != 1 || !slices.Contains(datasetExtensions(), strings.TrimPrefix(filepath.Ext(first), ".")) {
		l.add("mixed_folder", false, at, msg.Text{"%s: a folder must hold data files of one extension only", "%s：文件夹只能包含同一扩展名的数据文件"}, e.name).
			Hint(msg.Text{"a folder of save_to_disk is none: name the files", "save_to_disk 的文件夹不适用：请直接指定文件"})
		return ""
	}
	return first
}

// lintedRows is how many rows of a file are looked at.
const lintedRows = 200

// firstRows reads the first rows of a JSON file; nil for what is none.
func firstRows(path string) []map[string]json.RawMessage {
	if ext := filepath.Ext(path); ext != ".json" && ext != ".jsonl" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	in := bufio.NewReader(f)
	head, _ := in.Peek(64)
	d := json.NewDecoder(in)
	if bytes.HasPrefix(bytes.TrimSpace(head), []byte{'['}) {
		if _, err := d.Token(); err != nil {
			return nil
		}
	}
	var rows []map[string]json.RawMessage
	for len(rows) < lintedRows && d.More() {
		var row map[string]json.RawMessage
		if d.Decode(&row) != nil {
			break
		}
		rows = append(rows, row)
	}
	return rows
}

// compare holds the columns and roles of an entry to the first rows.
func (l *infoLint) compare(e *infoEntry, rows []map[string]json.RawMessage) {
	column := func(key, missing string) (string, *yaml.Node) {
		if e.columns == nil {
			return missing, e.node
		}
		return text(e.columns, key), spec.ValueOf(e.columns, key)
	}
	if e.formatting == "sharegpt" || e.formatting == "openai" {
		messages, at := column("messages", "conversations")
		if messages == "" {
			return
		}
		if !inAny(rows, messages) {
			l.noColumn(e, at, messages, rows)
			return
		}
		l.roles(e, rows, messages)
	} else {
		for _, k := range [][2]string{{"prompt", "instruction"}, {"response", "output"}} {
			if name, at := column(k[0], k[1]); name != "" && !inAny(rows, name) {
				l.noColumn(e, at, name, rows)
			}
		}
		// the third is the default where there are no columns
		for _, k := range [][3]string{{"query", "input", "input"}, {"system", "system", ""}, {"history", "history", ""}} {
			if name, _ := column(k[0], k[2]); name == "" && filled(rows, k[1]) > 0 {
				l.add("left_out", false, orNode(e.columns, e.node), msg.Text{
					"%s: columns leaves out %q, so what row %d has in %q disappears", "%s：columns 缺少 %q，第 %d 行 %q 中的内容会丢失",
				}, e.name, k[0], filled(rows, k[1]), k[1]).Hint(msg.Text{`add "%s": "%s"`, `请加入 "%s": "%s"`}, k[0], k[1])
			}
		}
	}
	l.preference(e, rows)
}

func orNode(n, other *yaml.Node) *yaml.Node {
	if n == nil {
		return other
	}
	return n
}

func inAny(rows []map[string]json.RawMessage, name string) bool {
	return slices.ContainsFunc(rows, func(r map[string]json.RawMessage) bool { _, ok := r[name]; return ok })
}

// filled returns the first row, from 1, whose field holds something; 0 for none.
func filled(rows []map[string]json.RawMessage, name string) int {
	for i, r := range rows {
		switch v := string(r[name]); v {
		case "", "null", `""`, "[]":
		default:
			return i + 1
		}
	}
	return 0
}

func (l *infoLint) noColumn(e *infoEntry, at *yaml.Node, name string, rows []map[string]json.RawMessage) {
	var names []string
	for k := range rows[0] {
		names = append(names, k)
	}
	slices.Sort(names)
	l.add("no_column", false, at, msg.Text{"%s: no row has the column %q", "%s：没有任何行含列 %q"}, e.name, name).
		Hint(msg.Text{"row 1 has: %s", "第 1 行有：%s"}, msg.List(names))
}

// roles holds the tags to the turns of the first rows: rows with a role that no tag
// names are left out.
func (l *infoLint) roles(e *infoEntry, rows []map[string]json.RawMessage, messages string) {
	tag := func(key string) string {
		if e.tags != nil {
			return text(e.tags, key)
		}
		return map[string]string{
			"role_tag": "from", "content_tag": "value", "user_tag": "human", "assistant_tag": "gpt",
			"observation_tag": "observation", "function_tag": "function_call", "system_tag": "system",
		}[key]
	}
	known := map[string]string{}
	for _, k := range datasetTags()[2:] {
		if v := tag(k); v != "" {
			known[v] = k
		}
	}
	told := map[string]bool{}
	for i, r := range rows {
		var turns []map[string]json.RawMessage
		if json.Unmarshal(r[messages], &turns) != nil {
			continue
		}
		for _, t := range turns {
			for _, k := range []string{"role_tag", "content_tag"} {
				if _, ok := t[tag(k)]; !ok && tag(k) != "" && !told[k] {
					told[k] = true
					l.add("no_column", false, l.tagNode(e, k), msg.Text{"%s: %s is %q, which the turns of row %d do not have", "%s：%s 为 %q，但第 %d 行的消息没有该字段"}, e.name, k, tag(k), i+1)
				}
			}
			var role string
			if json.Unmarshal(t[tag("role_tag")], &role) != nil || told[role] || known[role] != "" {
				continue
			}
			told[role] = true
			key := tagFor(role)
			l.add("wrong_tag", false, l.tagNode(e, key), msg.Text{
				"%s: %s is %q, and row %d has the role %q: such rows are left out", "%s：%s 为 %q，而第 %d 行的角色是 %q：此类数据会被丢弃",
			}, e.name, key, tag(key), i+1, role).Hint(msg.Text{`write "%s": %q`, `请写 "%s": %q`}, key, role)
		}
	}
}

// tagNode is where a tag is written, or would be.
func (l *infoLint) tagNode(e *infoEntry, key string) *yaml.Node {
	if has(e.tags, key) {
		return spec.ValueOf(e.tags, key)
	}
	return orNode(e.tags, e.node)
}

// tagFor guesses which tag a role of the data belongs to.
func tagFor(role string) string {
	switch strings.ToLower(role) {
	case "gpt", "assistant", "bot", "model", "ai":
		return "assistant_tag"
	case "system":
		return "system_tag"
	case "tool", "observation", "tool_response":
		return "observation_tag"
	case "function_call", "tool_call", "function":
		return "function_tag"
	}
	return "user_tag"
}

// preference checks that pairs and labels are announced.
func (l *infoLint) preference(e *infoEntry, rows []map[string]json.RawMessage) {
	ranking := text(e.node, "ranking") == "true"
	pairs := filled(rows, "chosen") > 0 && filled(rows, "rejected") > 0
	switch {
	case pairs && !ranking:
		l.add("left_out", false, e.node, msg.Text{"%s: its rows are preference pairs, and ranking is not true", "%s：数据是偏好对，但 ranking 不为 true"}, e.name).
			Hint(msg.Text{`add "ranking": true and the columns chosen and rejected`, `请加入 "ranking": true，以及 columns 中的 chosen 与 rejected`})
	case ranking:
		for _, k := range []string{"chosen", "rejected"} {
			if name := text(e.columns, k); name == "" || !inAny(rows, name) {
				l.add("no_column", false, orNode(e.columns, e.node), msg.Text{"%s: ranking needs the column %s, and no row has %q", "%s：ranking 需要列 %s，但没有任何行含 %q"}, e.name, k, name)
			}
		}
	}
}
