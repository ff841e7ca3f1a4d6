package benchmark

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/textnorm"
)

// The rules of free answers. Case, width, spaces and punctuation count for nothing.
const (
	RuleContains = "contains@1" // the reply holds one of the answers
	RuleEquals   = "equals@1"   // the reply is one of the answers
)

// WhyNoROUGE says why the measures of EvalScope's general_qa are not computed: its
// words are those of jieba (Chinese) and of NLTK's punkt model (other BLEU), whose
// dictionaries are not shipped, and other words give other figures.
func WhyNoROUGE() msg.Text {
	return msg.Text{
		"EvalScope 1.4.2 measures general_qa by BLEU and ROUGE, which are not computed: they count words as jieba's dictionary and NLTK's punkt model cut them, and neither is shipped; here, and in the files, a reply is right or wrong by contains@1 or equals@1",
		"EvalScope 1.4.2 以 BLEU 和 ROUGE 衡量 general_qa，此处不作计算：其分词依赖 jieba 词典与 NLTK 的 punkt 模型，二者均未附带；此处及所写文件均按 contains@1 或 equals@1 判定对错",
	}
}

// A QA is a benchmark of free questions, declared by a [Pack] of kind qa: rows of
// query and response, question and answer, or messages and response, as EvalScope's
// general_qa takes them. It implements [Benchmark]. EvalScope measures such replies
// by BLEU and ROUGE; here a reply is right or wrong.
type QA struct {
	ref  Ref
	info Info
}

// NewQA builds the benchmark a checked pack declares.
func NewQA(p *Pack) (*QA, error) {
	q := &QA{
		ref: Ref{Name: p.Name, Revision: p.Revision},
		info: Info{
			Title: p.Title, Dataset: p.Dataset, Description: p.Description, Tags: p.Tags,
			Items: p.Items, ItemsSHA256: p.ItemsSHA256, Rule: p.Rule, OtherRule: p.OtherRule,
		},
	}
	if !validName(p.Name) {
		return nil, badName(p.Name)
	}
	for _, r := range []string{p.Rule, p.OtherRule} {
		if r != RuleContains && r != RuleEquals {
			e := fail.New(fail.Config, msg.Text{"no rule %q for free answers", "没有用于自由作答的规则 %q"}, r).
				Hint(msg.Text{"there are: %s, %s", "可用规则：%s、%s"}, RuleContains, RuleEquals)
			if l := strings.ToLower(r); strings.Contains(l, "bleu") || strings.Contains(l, "rouge") {
				e.Hint(WhyNoROUGE())
			}
			return nil, e
		}
	}
	return q, nil
}

// Ref implements [Benchmark].
func (q *QA) Ref() Ref { return q.ref }

// Info implements [Benchmark].
func (q *QA) Info() Info { return q.info }

// Items implements [Benchmark].
func (q *QA) Items(ctx context.Context, pack fs.FS) iter.Seq2[Item, error] {
	return itemsOf(ctx, pack, q.ReadItems)
}

// Prompt implements [Benchmark]: the item's own messages, as they stand in its row.
func (*QA) Prompt(it Item) []drydock.Message {
	var r qaRow
	if json.Unmarshal(it.Raw, &r) == nil {
		if m := r.asked(); len(m) > 0 {
			return m
		}
	}
	return []drydock.Message{{Role: "user", Content: it.Question.Stem}}
}

// Grade implements [Benchmark].
func (q *QA) Grade(it Item, r Reply) Grade {
	g := Grade{Verdict: Wrong, OtherVerdict: Wrong, Rule: q.info.Rule, OtherRule: q.info.OtherRule}
	if text := bare(r.Text); text != "" {
		// there is no letter; what was read is the whole reply
		g.Extracted, g.Other, g.End = r.Text, r.Text, len(r.Text)
		if answers(q.info.Rule, text, it.Gold) {
			g.Verdict, g.Score = Correct, 1
		}
		if answers(q.info.OtherRule, text, it.Gold) {
			g.OtherVerdict = Correct
		}
	}
	return g
}

func answers(rule, reply string, keys []string) bool {
	for _, k := range keys {
		key := bare(k)
		if key != "" && (reply == key || rule == RuleContains && strings.Contains(reply, key)) {
			return true
		}
	}
	return false
}

// bare folds width and case, and leaves letters and digits only.
func bare(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, norm.NFKC.String(s))
}

// Fingerprint implements [Benchmark].
func (q *QA) Fingerprint() string {
	sum := sha256.Sum256([]byte("qa" + q.info.Rule))
	return hex.EncodeToString(sum[:])
}

// A qaRow is a row as EvalScope's general_qa takes it.
type qaRow struct {
	ID       json.RawMessage   `json:"id"`
	System   string            `json:"system"`
	Question string            `json:"question"`
	Query    string            `json:"query"`
	Answer   json.RawMessage   `json:"answer"`
	Response json.RawMessage   `json:"response"`
	Messages []drydock.Message `json:"messages"`

	// what other banks of open questions call a list of accepted answers
	Answers  json.RawMessage `json:"answers"`
	Accepted json.RawMessage `json:"accepted_answers"`
}

// FreeQuestions tells the bytes of a file of free questions by its first row: one
// with a query, as general_qa has it, and with no options.
func FreeQuestions(data []byte) bool {
	return firstHas(data, "query") && !firstHas(data, "question", "A", "choices", "options")
}

// firstHas reports whether the first of JSON objects, one a line, has a field of
// one of the names.
func firstHas(data []byte, names ...string) bool {
	first, _, _ := bytes.Cut(bytes.TrimLeft(bytes.TrimPrefix(data, []byte("\ufeff")), " \t\r\n"), []byte{'\n'})
	var row map[string]json.RawMessage
	return json.Unmarshal(first, &row) == nil && slices.ContainsFunc(names, func(n string) bool { return row[n] != nil })
}

// asked returns the messages of a row; nil when it asks nothing.
func (r *qaRow) asked() []drydock.Message {
	if len(r.Messages) > 0 {
		return r.Messages
	}
	question := r.Question
	if question == "" {
		question = r.Query
	}
	if question == "" {
		return nil
	}
	m := []drydock.Message{{Role: "user", Content: question}}
	if r.System != "" {
		m = append([]drydock.Message{{Role: "system", Content: r.System}}, m...)
	}
	return m
}

// keys returns the accepted answers.
func (r *qaRow) keys() []string {
	for _, v := range []json.RawMessage{r.Answer, r.Response, r.Answers, r.Accepted} {
		if len(v) == 0 {
			continue
		}
		if s, ok := jsonText(v); ok && strings.TrimSpace(s) != "" {
			return []string{s}
		}
		if l, ok := jsonTexts(v); ok && len(l) > 0 {
			return l
		}
	}
	return nil
}

// ReadItems reads items from the bytes of a file, one JSON object a line. name is
// used in errors, which list every bad row with its line.
func (q *QA) ReadItems(name string, data []byte) ([]Item, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if i := textnorm.InvalidUTF8(data); i >= 0 {
		return nil, notUTF8(name, data, i)
	}
	rd := &itemReader{name: name}
	dec := json.NewDecoder(bytes.NewReader(data))
	lines := &lineCounter{data: data}
	for {
		before := int(dec.InputOffset())
		var raw json.RawMessage
		err := dec.Decode(&raw)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			rd.syntax(data, lines, before, err)
			break
		}
		end := int(dec.InputOffset())
		rd.addQA(lines.of(end-len(raw)), data[end-len(raw):end])
	}
	if err := rd.err(); err != nil {
		return nil, err
	}
	return rd.items, nil
}

func (rd *itemReader) addQA(line int, raw []byte) {
	rd.rows++
	no := rd.rows
	var r qaRow
	if err := json.Unmarshal(raw, &r); err != nil {
		rd.report(line, msg.Text{"row %d: %v", "第 %d 条：%v"}, no, err)
		return
	}
	m, keys := r.asked(), r.keys()
	switch {
	case len(m) == 0:
		rd.report(line, msg.Text{"row %d: no %s", "第 %d 条：缺少 %s"}, no, "query")
	case keys == nil:
		rd.report(line, msg.Text{"row %d: no %s", "第 %d 条：缺少 %s"}, no, "response")
	default:
		it := Item{Index: no - 1, ID: strconv.Itoa(no - 1), Gold: keys, Raw: raw}
		if len(r.ID) > 0 {
			if id, ok := jsonText(r.ID); ok && id != "" {
				it.ID = id
			}
		}
		it.Question = drydock.Question{Kind: drydock.Short, Stem: m[len(m)-1].Content, Answer: keys}
		rd.items = append(rd.items, it)
	}
}

// itemsOf yields the items that read makes of a folder's file.
func itemsOf(ctx context.Context, pack fs.FS, read func(string, []byte) ([]Item, error)) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		name, data, err := readItemFile(pack)
		if err != nil {
			yield(Item{}, err)
			return
		}
		items, err := read(name, data)
		if err != nil {
			yield(Item{}, err)
			return
		}
		for _, it := range items {
			if ctx.Err() != nil {
				yield(Item{}, context.Cause(ctx))
				return
			}
			if !yield(it, nil) {
				return
			}
		}
	}
}

func badName(name string) error {
	return fail.New(fail.Config, msg.Text{"%q cannot be a benchmark's name", "%q 不能作为评测集名称"}, name).
		Hint(msg.Text{"letters, digits, _, - and . make a name", "名称由字母、数字、_、- 和 . 组成"})
}

// New builds the benchmark a checked pack declares, whatever its kind.
func New(p *Pack) (Benchmark, error) {
	switch p.Kind {
	case "choice":
		return NewChoice(p)
	case "qa":
		return NewQA(p)
	}
	return nil, fail.Bug(fmt.Sprintf("a pack of kind %q", p.Kind))
}
