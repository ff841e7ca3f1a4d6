package preset

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// A Rule is somebody's published way to tell contamination.
type Rule struct {
	Name    string // as --preset takes it
	Version string // of the program, or of the text, it was written from
	Source  string // where that is
	Title   msg.Text
	// Differs says where this cannot be, or is not, the same.
	Differs []msg.Text
	build   func([]contam.Set) matcher
}

// ID is how findings name the rule: preset:decon@0.3.0.
func (r *Rule) ID() string { return "preset:" + r.Name + "@" + r.Version }

// Rules returns all rules.
func Rules() []Rule {
	itemText := msg.Text{
		"the text of an item is its stem and its options, a line each, lettered as in print: the rule leaves that to each task",
		"题目文本取题干与各选项，每行一个，按印刷字母编号：该规则将其留给各任务自定",
	}
	qa := msg.Text{
		"an item is the stem as question and the right option as answer, as its documentation has it for questions and answers",
		"题目以题干为问题、正确选项为答案，与其文档对问答数据的做法一致",
	}
	spacy := msg.Text{
		"words are told apart by the main rules of spaCy's blank English tokenizer, not by spaCy: white space, symbols at the edges, units behind a number, “cannot”",
		"分词采用 spaCy 英文空白分词器的主要规则，而非 spaCy 本身：空白、首尾符号、数字后的单位、“cannot”",
	}
	deconTitle := msg.Text{"weight of the shared runs of 5 tokens in stem and option, every tenth token sampled", "题干与选项中相同 5 词串的权重，每十个词抽样一次"}
	choicesText := msg.Text{
		"an item is one reference for each option, as its expand_choices makes them, without passages",
		"每个选项一条参考，与其 expand_choices 一致，不含材料",
	}
	return []Rule{
		{
			Name: "gpt3", Version: "arxiv-2005.14165v4", Source: "https://arxiv.org/abs/2005.14165 (appendix C)",
			Title: msg.Text{"13 words in a row: lower case, cut at white space, without punctuation", "连续 13 个词相同：小写、按空白切分、去除标点"},
			Differs: []msg.Text{itemText, {
				"13 words that stand in more than ten training documents count, too: that rule needs the whole corpus at once",
				"在十篇以上训练文档中出现的 13 词串也计入：原规则需要一次看到全部语料",
			}},
			build: newGPT3,
		},
		{
			Name: "lm-eval", Version: "0.4.13", Source: "https://github.com/EleutherAI/lm-evaluation-harness (lm_eval/decontamination/janitor.py)",
			Title: msg.Text{"13 words in a row, as the Janitor compares them", "连续 13 个词相同，与 Janitor 的比较方式一致"},
			Differs: []msg.Text{itemText, {
				"the Janitor in Python, which its package installs; the C++ module cuts words after eleven bytes and stops at Chinese",
				"对应其软件包安装的 Python 版 Janitor；C++ 模块在十一字节后截断单词，遇中文即出错",
			}},
			build: newJanitor,
		},
		{
			Name: "datatrove", Version: "0.10.1", Source: "https://github.com/huggingface/datatrove (pipeline/decont/n_grams.py)",
			Title:   msg.Text{"12 words in a row of the answer, or of the end of the question with the answer", "答案、或题干末尾连同答案的连续 12 个词相同"},
			Differs: []msg.Text{qa, spacy},
			build:   func(s []contam.Set) matcher { return newDatatrove(s, false) },
		},
		{
			Name: "datatrove-query", Version: "0.10.1", Source: "https://github.com/huggingface/datatrove (find_query_ngrams=True)",
			Title:   msg.Text{"the same, and 12 words in a row of the question", "同上，另加题干的连续 12 个词"},
			Differs: []msg.Text{qa, spacy},
			build:   func(s []contam.Set) matcher { return newDatatrove(s, true) },
		},
		{
			Name: "decon", Version: "0.3.0", Source: "https://github.com/allenai/decon (decon detect --tokenizer uniseg)",
			Title: deconTitle,
			Differs: []msg.Text{
				{
					"tokens are words of Unicode 15 (its --tokenizer uniseg has 16); its default, cl100k, is decon-cl100k here",
					"词元为 Unicode 15 的单词（其 --tokenizer uniseg 用 16）；其默认的 cl100k 见 decon-cl100k",
				},
				choicesText,
			},
			build: func(s []contam.Set) matcher { return newDecon(s, unisegTokens) },
		},
		{
			Name: "decon-cl100k", Version: "0.3.0", Source: "https://github.com/allenai/decon (decon detect)",
			Title: deconTitle,
			Differs: []msg.Text{
				{
					"the vocabulary cl100k is not in drydock: tokens are the words that its pattern cuts, long ones halved; three to four records in a hundred come out otherwise",
					"drydock 不含词表 cl100k：词元取其正则切出的单词，长词折半；每百条记录约有三四条结果不同",
				},
				choicesText,
			},
			build: func(s []contam.Set) matcher { return newDecon(s, cl100kPieces) },
		},
	}
}

// A matcher holds the items of a rule. It is read-only once built.
type matcher interface {
	// match reports the items found in a text, each once, with the place in
	// characters and a score of 0–1.
	match(text []rune) []match
	// blind returns the positions of items no text can be found to hold.
	blind() []bool
}

// A match is an item found in a text.
type match struct {
	item     int // position over all sets
	from, to int // characters
	score    float64
}

// An Index holds benchmark items ready for checking by one rule. It is
// read-only and safe for any number of scanners.
type Index struct {
	rule  Rule
	hash  string
	refs  []contam.ItemRef
	match matcher
}

// New prepares the items of the sets for the rule of that name.
func New(name string, sets []contam.Set) (*Index, error) {
	rules := Rules()
	at := slices.IndexFunc(rules, func(r Rule) bool { return r.Name == name })
	if at < 0 {
		return nil, fail.New(fail.Usage, msg.Text{"unknown preset %q", "未知的预设 %q"}, name).
			Hint(msg.Text{"drydock contam presets lists them", "drydock contam presets 列出全部预设"})
	}
	h := sha256.Sum256([]byte(rules[at].ID()))
	ix := &Index{rule: rules[at], hash: "sha256:" + hex.EncodeToString(h[:])}
	for _, s := range sets {
		for i := range s.Items {
			ix.refs = append(ix.refs, contam.ItemRef{Benchmark: s.Ref.Name, Index: s.Items[i].Index})
		}
	}
	if len(ix.refs) == 0 {
		return nil, fail.New(fail.Usage, msg.Text{"no benchmark items to check against", "没有可供比对的评测题目"})
	}
	ix.match = ix.rule.build(sets)
	return ix, nil
}

// Items returns how many items the index holds.
func (ix *Index) Items() int { return len(ix.refs) }

// ConfigHash names the rule in the form of a settings hash, so that reports by
// different rules are told apart.
func (ix *Index) ConfigHash() string { return ix.hash }

// Blind returns the items that the rule keeps no reference of, so that no copy
// of them can be found.
func (ix *Index) Blind() []contam.ItemRef {
	var out []contam.ItemRef
	for i, b := range ix.match.blind() {
		if b {
			out = append(out, ix.refs[i])
		}
	}
	return out
}
