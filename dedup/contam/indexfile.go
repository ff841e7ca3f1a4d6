package contam

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// indexSchema names the shape of an index file: a line that names it and the
// SHA-256 of the rest, then the items and settings as one line of JSON. The
// tables are built anew, which takes less than reading them would.
const indexSchema = "drydock.contam.index/1"

type indexHead struct {
	Schema string `json:"schema"`
	Rules  string `json:"rules"`
	SHA256 string `json:"sha256"` // of the body
}

type indexBody struct {
	Config Config     `json:"config"`
	Sets   []indexSet `json:"sets"`
}

type indexSet struct {
	Name     string      `json:"name"`
	Revision string      `json:"revision,omitempty"`
	Items    []indexItem `json:"items"`
}

type indexItem struct {
	ID       string           `json:"id"`
	Index    int              `json:"index"`
	Question drydock.Question `json:"question"`
	Gold     []string         `json:"gold,omitempty"`
}

// File returns the index as a file that [ReadIndex] takes. The same items and
// settings give the same bytes. It holds the items themselves: whoever may not
// see the benchmark must not get it.
func (ix *Index) File() ([]byte, error) {
	body := indexBody{Config: ix.config}
	for _, s := range ix.sets {
		set := indexSet{Name: s.Ref.Name, Revision: s.Ref.Revision}
		for i := range s.Items {
			it := &s.Items[i]
			set.Items = append(set.Items, indexItem{it.ID, it.Index, it.Question, it.Gold})
		}
		body.Sets = append(body.Sets, set)
	}
	b, err := drydock.MarshalJSON(body)
	if err != nil {
		return nil, err
	}
	b = append(bytes.TrimRight(b, "\n"), '\n')
	sum := sha256.Sum256(b)
	head, err := drydock.MarshalJSON(indexHead{indexSchema, rules, hex.EncodeToString(sum[:])})
	if err != nil {
		return nil, err
	}
	return append(append(bytes.TrimRight(head, "\n"), '\n'), b...), nil
}

// ReadIndex builds the index that [Index.File] wrote. A file that is torn,
// changed, or made for other rules is an error of kind refused.
func ReadIndex(file []byte) (*Index, error) {
	refuse := func(text msg.Text, args ...any) error {
		return fail.New(fail.Refused, text, args...).Hint(msg.Text{"make it again: drydock worker index --against REF -o DIR", "请重新生成：drydock worker index --against 名称 -o 目录"})
	}
	first, rest, _ := bytes.Cut(file, []byte("\n"))
	var head indexHead
	if err := json.Unmarshal(first, &head); err != nil || head.Schema != indexSchema {
		return nil, refuse(msg.Text{"this is no index of contamination checks", "这不是污染检查的索引"})
	}
	if head.Rules != rules {
		return nil, refuse(msg.Text{"the index is for the rules %s, this program has %s", "索引对应规则 %s，本程序为 %s"}, head.Rules, rules)
	}
	if sum := sha256.Sum256(rest); hex.EncodeToString(sum[:]) != head.SHA256 {
		return nil, refuse(msg.Text{"the index is torn or was changed: its sha256 is another", "索引不完整或已被改动：sha256 不符"})
	}
	var body indexBody
	if err := json.Unmarshal(rest, &body); err != nil {
		return nil, refuse(msg.Text{"the index cannot be read: %v", "索引无法读取：%v"}, err)
	}
	var sets []Set
	for _, s := range body.Sets {
		set := Set{Ref: benchmark.Ref{Name: s.Name, Revision: s.Revision}}
		for _, it := range s.Items {
			set.Items = append(set.Items, benchmark.Item{ID: it.ID, Index: it.Index, Question: it.Question, Gold: it.Gold})
		}
		sets = append(sets, set)
	}
	return NewIndexOf(sets, body.Config)
}
