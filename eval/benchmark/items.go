package benchmark

import (
	"bytes"
	"errors"
	"io/fs"
	"strconv"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/textnorm"
)

// maxFindings is how many bad rows are told in full; the rest are counted.
const maxFindings = 20

// ErrNoItems is the cause of the error of a folder in which nothing is named as
// items are.
var ErrNoItems = errors.New("no items")

// ItemFiles are the names a benchmark folder is searched for, in order: ours,
// then what EvalScope 1.4.2 takes offline. Parquet is read where the file system
// gives such a file as its rows, one JSON object a line.
func ItemFiles() []string {
	return []string{
		"items.jsonl", "items.json", "items.csv", "items.parquet",
		"test.jsonl", "test.json", "test.csv", "test.parquet",
		"maritimebench_test.json", "default/test.jsonl", "data/test.jsonl",
	}
}

func readItemFile(pack fs.FS) (name string, data []byte, err error) {
	for _, name := range ItemFiles() {
		data, err := fs.ReadFile(pack, name)
		if err == nil {
			return name, data, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return name, nil, err
		}
	}
	return "", nil, fail.New(fail.Usage, msg.Text{"the folder holds no items", "文件夹中没有题目"}).Because(ErrNoItems).
		Hint(msg.Text{"looked for %s", "已查找 %s"}, msg.List(ItemFiles())).
		Hint(msg.Text{"and for a data set whose files are named after their split, such as data/test-00000-of-00001.parquet", "以及文件按划分命名的数据集，例如 data/test-00000-of-00001.parquet"})
}

// ReadItems reads a benchmark's items from the bytes of a file: a JSON array of
// objects, JSON objects one after another (JSONL), or CSV or TSV with a header. A row
// has question and answer (or input and target), options A, B, C, D — or a list
// choices —, and may have index, id and tags. A null or empty option is left
// out and the others take letters by position, as EvalScope does. name is used
// in errors, which list every bad row with its line.
func ReadItems(name string, data []byte) ([]Item, error) {
	return readItems(name, data, 4, false)
}

// ReadItems is the function [ReadItems] for items with as many options and answers
// as the benchmark allows.
func (c *Choice) ReadItems(name string, data []byte) ([]Item, error) {
	return readItems(name, data, c.maxOptions, c.several)
}

func readItems(name string, data []byte, most int, several bool) ([]Item, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if i := textnorm.InvalidUTF8(data); i >= 0 {
		return nil, notUTF8(name, data, i)
	}
	rd := &itemReader{name: name, most: most, several: several}
	body := bytes.TrimLeft(data, " \t\r\n")
	switch {
	case len(body) == 0:
		return nil, fail.New(fail.Config, msg.Text{"the file is empty", "文件为空"}).At(fail.Where{File: name})
	case body[0] == '[' || body[0] == '{':
		rd.readJSON(data)
	default:
		rd.readTable(data)
	}
	rd.checkIndexes()
	if err := rd.err(); err != nil {
		return nil, err
	}
	return rd.items, nil
}

// notUTF8 says where a file stops being UTF-8.
func notUTF8(name string, data []byte, at int) error {
	return fail.New(fail.Config, msg.Text{"the file is not UTF-8", "文件不是 UTF-8 编码"}).
		At(fail.Where{File: name, Line: 1 + bytes.Count(data[:at], []byte{'\n'})}).
		Hint(msg.Text{"save it as UTF-8; Excel: “CSV UTF-8”", "请另存为 UTF-8；Excel 选“CSV UTF-8”"})
}

// A row is one record before it is understood. Absent and null fields are not
// in it.
type row struct {
	line   int
	raw    []byte
	text   map[string]string
	list   map[string][]string // arrays of text
	broken map[string]bool     // fields of a type no item has
}

type itemReader struct {
	name     string
	most     int  // options of an item
	several  bool // options may be right
	any      bool // any question or prompt will do: see ReadPrompts
	rows     int  // read, bad ones among them
	items    []Item
	lines    []int
	own      []bool // the item brought its own index
	findings fail.List
	more     int
}

func (rd *itemReader) report(line int, text msg.Text, args ...any) *fail.Error {
	e := fail.New(fail.Config, text, args...).At(fail.Where{File: rd.name, Line: line})
	if len(rd.findings) < maxFindings {
		rd.findings = append(rd.findings, e)
	} else {
		rd.more++
	}
	return e
}

func (rd *itemReader) err() error {
	if rd.more > 0 {
		rd.findings = append(rd.findings, fail.New(fail.Config, msg.Text{"and %d more bad rows", "另有 %d 行有误"}, rd.more).At(fail.Where{File: rd.name}))
	}
	if len(rd.findings) == 0 && len(rd.items) == 0 {
		return fail.New(fail.Config, msg.Text{"the file holds no items", "文件中没有题目"}).At(fail.Where{File: rd.name})
	}
	return rd.findings.OrNil()
}

// tagFields are the columns kept as tags.
func tagFields() []string {
	return []string{"category", "subject", "sub_subject", "topic", "level", "type", "source", "lang"}
}

// add understands one row.
func (rd *itemReader) add(r row) {
	rd.rows++
	no := rd.rows
	if rd.any {
		rd.addPrompt(r, no)
		return
	}
	stem, ok := rd.field(r, no, "question", "input", "stem")
	if !ok {
		return
	}
	it := Item{Raw: r.raw, Question: drydock.Question{Kind: drydock.Single, Stem: stem, Explanation: r.text["explanation"]}}
	if rd.several {
		it.Question.Kind = drydock.Multiple
	}
	if it.Gold, ok = rd.keys(r, no); !ok {
		return
	}
	if !rd.options(r, no, &it) {
		return
	}
	rd.number(r, no, it)
}

// number gives an item its index, id and tags, and takes it up.
func (rd *itemReader) number(r row, no int, it Item) {
	it.Index = len(rd.items)
	own := false
	if s, has := r.text["index"]; has && s != "" {
		n, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil || n < 0 {
			rd.report(r.line, msg.Text{"row %d: index %q is not a whole number from 0", "第 %d 条：index %q 不是从 0 起的整数"}, no, s)
			return
		}
		it.Index, own = n, true
	}
	it.ID = strconv.Itoa(it.Index)
	if s := r.text["id"]; s != "" {
		it.ID = s
	}
	for _, name := range tagFields() {
		if s := r.text[name]; s != "" {
			if it.Tags == nil {
				it.Tags = map[string]string{}
			}
			it.Tags[name] = s
		}
	}
	rd.items = append(rd.items, it)
	rd.lines = append(rd.lines, r.line)
	rd.own = append(rd.own, own)
}

// field finds a text by the first of the names the row has.
func (rd *itemReader) field(r row, no int, names ...string) (string, bool) {
	for _, name := range names {
		if r.broken[name] || r.list[name] != nil {
			rd.report(r.line, msg.Text{"row %d: %s is not text", "第 %d 条：%s 不是文本"}, no, name)
			return "", false
		}
		if s, ok := r.text[name]; ok && strings.TrimSpace(s) != "" {
			return s, true
		}
	}
	rd.report(r.line, msg.Text{"row %d: no %s", "第 %d 条：缺少 %s"}, no, names[0])
	return "", false
}

// keys finds the answer and checks that it is one letter, or several where these
// may be right: "AC", "A,C", ["A","C"].
func (rd *itemReader) keys(r row, no int) ([]string, bool) {
	var keys []string
	for _, name := range []string{"answer", "target"} {
		switch l := r.list[name]; {
		case len(l) == 1:
			r.text[name] = l[0]
			delete(r.list, name)
		case len(l) > 1 && !rd.several:
			rd.report(r.line, msg.Text{"row %d: %d answers; this kind of benchmark takes one", "第 %d 条：有 %d 个答案；此类评测集只取一个"}, no, len(l))
			return nil, false
		case len(l) > 1 && keys == nil:
			keys = l
		}
	}
	if keys == nil {
		s, ok := rd.field(r, no, "answer", "target")
		if !ok {
			return nil, false
		}
		keys = []string{s}
		if rd.several {
			keys = splitLetters(s)
		}
	}
	for _, s := range keys {
		if t := strings.ToUpper(strings.TrimSpace(s)); len(t) != 1 || t[0] < 'A' || t[0] > 'Z' {
			rd.report(r.line, msg.Text{"row %d: answer %q is not one letter", "第 %d 条：答案 %q 不是单个字母"}, no, s)
			return nil, false
		}
	}
	return keys, true
}

// splitLetters takes letters apart, whatever stands between them; a text of other
// things comes back whole.
func splitLetters(s string) []string {
	var out []string
	for _, r := range s {
		switch {
		case r >= 'A' && r <= 'Z', r >= 'a' && r <= 'z':
			out = append(out, string(r))
		case strings.ContainsRune(" ,，、;；/", r):
		default:
			return []string{s}
		}
	}
	if out == nil {
		return []string{s}
	}
	return out
}

// options fills the question's options and answer label.
func (rd *itemReader) options(r row, no int, it *Item) bool {
	gold := map[string]bool{}
	for _, g := range it.Gold {
		gold[strings.ToUpper(strings.TrimSpace(g))] = true
	}
	take := func(letter, text string) {
		if text == "" {
			return
		}
		label := string(rune('A' + len(it.Question.Options)))
		it.Question.Options = append(it.Question.Options, drydock.Option{Label: label, Text: text})
		if gold[letter] {
			it.Question.Answer = append(it.Question.Answer, label)
		}
	}
	choices, hasList := r.list["choices"]
	if hasList && len(choices) > maxOptions {
		rd.report(r.line, msg.Text{"row %d: %d choices", "第 %d 条：有 %d 个选项"}, no, len(choices))
		return false
	}
	for i, text := range choices {
		take(string(rune('A'+i)), text)
	}
	for c := 'A'; c <= 'Z' && !hasList; c++ {
		letter := string(c)
		if r.broken[letter] || r.list[letter] != nil {
			rd.report(r.line, msg.Text{"row %d: option %s is not text", "第 %d 条：选项 %s 不是文本"}, no, letter)
			return false
		}
		take(letter, r.text[letter])
	}
	if n := len(it.Question.Options); n < 2 {
		rd.report(r.line, msg.Text{"row %d: %d {option|options}; at least two are needed", "第 %d 条：有 %d 个选项；至少需要两个"}, no, n)
		return false
	}
	if n := len(it.Question.Options); n > rd.most {
		last := string(rune('A' + rd.most - 1))
		rd.report(r.line, msg.Text{"row %d: %d options; this kind of benchmark has A to %s", "第 %d 条：有 %d 个选项；此类评测集为 A 至 %s"}, no, n, last).
			Hint(msg.Text{"a pack of your own can say max_options: %d", "自有评测集可写 max_options: %d"}, n)
		return false
	}
	return true
}

// checkIndexes demands that either no row brings an index, or all do, each its
// own: findings are joined to items by it.
func (rd *itemReader) checkIndexes() {
	n := 0
	for _, own := range rd.own {
		if own {
			n++
		}
	}
	if n == 0 || len(rd.findings) > 0 {
		return
	}
	seen := make(map[int]int, len(rd.items))
	for i, it := range rd.items {
		if !rd.own[i] {
			rd.report(rd.lines[i], msg.Text{"row %d has no index, other rows have one", "第 %d 条没有 index，而其他行有"}, i+1)
			continue
		}
		if first, dup := seen[it.Index]; dup {
			rd.report(rd.lines[i], msg.Text{"row %d: index %d stands in line %d, too", "第 %d 条：index %d 在第 %d 行已出现"}, i+1, it.Index, first)
			continue
		}
		seen[it.Index] = rd.lines[i]
	}
}
