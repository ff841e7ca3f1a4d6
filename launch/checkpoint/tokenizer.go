package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock/internal/msg"
)

// The files of a tokenizer.
const (
	tokenizerFile   = "tokenizer.json"
	tokenizerConfig = "tokenizer_config.json"
	templateFile    = "chat_template.jinja"
)

// tokenizerFiles are those that are restored together.
var tokenizerFiles = [...]string{tokenizerFile, tokenizerConfig, "vocab.json", "merges.txt", "special_tokens_map.json", "added_tokens.json", templateFile}

// A tokenizer is what decides the ids of a text in tokenizer.json.
type tokenizer struct {
	Truncation json.RawMessage `json:"truncation"`
	Padding    json.RawMessage `json:"padding"`
	Added      []addedToken    `json:"added_tokens"`
	Normalizer any             `json:"normalizer"`
	Pre        any             `json:"pre_tokenizer"`
	Post       any             `json:"post_processor"`
	Decoder    any             `json:"decoder"`
	Model      struct {
		Type   string            `json:"type"`
		Vocab  json.RawMessage   `json:"vocab"`
		Merges []json.RawMessage `json:"merges"`
	} `json:"model"`
}

type addedToken struct {
	ID      int    `json:"id"`
	Content string `json:"content"`
	Special bool   `json:"special"`
}

func readTokenizer(path string) (*tokenizer, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	t := &tokenizer{}
	if err := decodeJSON(raw, t); err != nil {
		return nil, err
	}
	slices.SortFunc(t.Added, func(a, b addedToken) int { return a.ID - b.ID })
	return t, nil
}

// sameMerges compares the merges, which are written "a b" or ["a","b"].
func sameMerges(a, b []json.RawMessage) bool {
	return slices.EqualFunc(a, b, func(x, y json.RawMessage) bool {
		return bytes.Equal(x, y) || mergeOf(x) == mergeOf(y)
	})
}

func mergeOf(raw json.RawMessage) string {
	var pair []string
	if json.Unmarshal(raw, &pair) == nil {
		return strings.Join(pair, " ")
	}
	var s string
	_ = json.Unmarshal(raw, &s) // what is neither is equal to nothing but itself
	return s
}

// sameVocab compares two vocabularies by value, whatever their order.
func sameVocab(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var x, y map[string]int
	if json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil {
		return reflect.DeepEqual(x, y)
	}
	return false
}

// tokenizers compares tokenizer.json by what it does.
func (l *findings) tokenizers(dir, baseDir string) {
	base, err := readTokenizer(filepath.Join(baseDir, tokenizerFile))
	if err != nil {
		if !errors.Is(err, os.ErrNotExist) {
			l.add("base_unreadable", Error, "", msg.Text{"the base's tokenizer.json: %v", "基座的 tokenizer.json：%v"}, err)
		}
		return
	}
	t, err := readTokenizer(filepath.Join(dir, tokenizerFile))
	bad := func(id string, s Severity, text msg.Text, args ...any) {
		l.add(id, s, tokenizerFile, text, args...).trap("S13").fixable()
	}
	switch {
	case errors.Is(err, os.ErrNotExist):
		bad("tokenizer_missing", Error, msg.Text{"it is missing", "缺少该文件"})
		return
	case err != nil:
		bad("tokenizer_unreadable", Error, msg.Text{"%v", "%v"}, err)
		return
	}
	if present(t.Truncation) && !present(base.Truncation) {
		bad("tokenizer_truncation", Error, msg.Text{"it cuts every text, as the training did: truncation %s", "它会像训练时那样截断所有文本：truncation %s"}, compact(t.Truncation))
	}
	if present(t.Padding) && !present(base.Padding) {
		bad("tokenizer_padding", Warning, msg.Text{"it pads texts, as the training did: padding %s", "它会像训练时那样填充文本：padding %s"}, compact(t.Padding))
	}
	if t.Model.Type != base.Model.Type || !sameVocab(t.Model.Vocab, base.Model.Vocab) || !sameMerges(t.Model.Merges, base.Model.Merges) {
		bad("tokenizer_vocab", Error, msg.Text{"vocabulary or merges are not the base's: texts get other ids", "词表或合并规则与基座不同：文本会得到不同的 id"})
	}
	if !slices.Equal(t.Added, base.Added) {
		bad("tokenizer_added", Error, msg.Text{"its added tokens are not the base's: %s", "附加 token 与基座不同：%s"}, addedDifference(t.Added, base.Added))
	}
	if !reflect.DeepEqual([]any{t.Normalizer, t.Pre}, []any{base.Normalizer, base.Pre}) {
		bad("tokenizer_rules", Error, msg.Text{"it takes texts apart by other rules than the base's", "其分词规则与基座不同"})
	}
	if !reflect.DeepEqual([]any{t.Post, t.Decoder}, []any{base.Post, base.Decoder}) {
		bad("tokenizer_rules", Warning, msg.Text{"its post_processor or decoder is not the base's", "post_processor 或 decoder 与基座不同"})
	}
}

// addedDifference names the first token one has and the other has not.
func addedDifference(a, b []addedToken) string {
	for _, t := range a {
		if !slices.Contains(b, t) {
			return asJSON(t)
		}
	}
	for _, t := range b {
		if !slices.Contains(a, t) {
			return asJSON(t)
		}
	}
	return ""
}

// tokenText reads a token of tokenizer_config.json: a string, or an object with
// its content.
func (o object) tokenText(key string) string {
	switch v := o.value(key).(type) {
	case string:
		return v
	case map[string]any:
		s, _ := v["content"].(string)
		return s
	}
	return ""
}

// tokenizerConfigs compares tokenizer_config.json.
func (l *findings) tokenizerConfigs(c, base object, err error) {
	bad := func(id string, s Severity, text msg.Text, args ...any) *Finding {
		return l.add(id, s, tokenizerConfig, text, args...).trap("S13").fixable()
	}
	switch {
	case err != nil:
		bad("tokenizer_config_unreadable", Error, msg.Text{"%v", "%v"}, err)
		return
	case base == nil:
		return
	case c == nil:
		bad("tokenizer_config_missing", Error, msg.Text{"it is missing", "缺少该文件"})
		return
	}
	if _, list := c.value("extra_special_tokens").([]any); list {
		bad("tokenizer_list", Error, msg.Text{"extra_special_tokens is a list: readers before transformers 5 fail on it ('list' object has no attribute 'keys')", "extra_special_tokens 为列表：transformers 5 之前的读取方会报错（'list' object has no attribute 'keys'）"}).before("5.0")
	}
	if a, b := c.text("tokenizer_class"), base.text("tokenizer_class"); b != "" && strings.TrimSuffix(a, "Fast") != strings.TrimSuffix(b, "Fast") {
		s, release := Warning, ""
		if a == "TokenizersBackend" {
			s, release = Error, "5.0" // transformers before has no such class
		}
		bad("tokenizer_class", s, msg.Text{"tokenizer_class is %q, and the base's is %q", "tokenizer_class 为 %q，而基座为 %q"}, a, b).before(release)
	}
	for _, key := range []string{"eos_token", "pad_token", "bos_token", "unk_token"} {
		if a, b := c.tokenText(key), base.tokenText(key); a != b {
			s := Warning
			if key == "eos_token" {
				s = Error
			}
			bad("special_tokens", s, msg.Text{"%s is %q, and the base's is %q", "%s 为 %q，而基座为 %q"}, key, a, b)
		}
	}
	for _, key := range []string{"add_bos_token", "add_eos_token", "add_prefix_space"} {
		if (c.value(key) == true) != (base.value(key) == true) {
			bad("special_tokens", Error, msg.Text{"%s is %s, and the base's is %s", "%s 为 %s，而基座为 %s"}, key, c.shown(key), base.shown(key))
		}
	}
	if c.text("padding_side") == "left" && base.text("padding_side") != "left" {
		bad("padding_side", Warning, msg.Text{"padding_side is left, as LLaMA-Factory's export sets it; the base pads on the right", "padding_side 为 left（LLaMA-Factory 导出时设置）；基座为右侧填充"})
	}
}

// template reads the chat template of a folder and says which file holds it: the
// file of its own wins, as in transformers.
func template(dir string, c object) (text, file string) {
	if raw, err := os.ReadFile(filepath.Join(dir, templateFile)); err == nil {
		return string(raw), templateFile
	}
	return c.text("chat_template"), tokenizerConfig
}

// templates compares the chat templates, which decide the prompt.
func (l *findings) templates(dir, baseDir string, c, base object) {
	want, _ := template(baseDir, base)
	if want == "" {
		return
	}
	got, file := template(dir, c)
	switch {
	case got == "":
		l.add("template_missing", Error, tokenizerConfig, msg.Text{"there is no chat template, and the base has one", "没有对话模板，而基座有"}).trap("S13").fixable()
	case strings.TrimSpace(got) != strings.TrimSpace(want):
		l.add("template", Error, file, msg.Text{"the chat template is not the base's: the prompt may be another than the one trained on", "对话模板与基座不同：提示可能与训练时不同"}).trap("S13").fixable().
			repair(msg.Text{"drydock checkpoint fix restores the base's; if yours is meant, serve with --chat-template FILE", "drydock checkpoint fix 可恢复基座模板；若确需自定义模板，请以 --chat-template FILE 部署"})
	case file == templateFile && c.text("chat_template") == "" && base.text("chat_template") != "":
		l.add("template_file", Warning, templateFile, msg.Text{"the chat template stands in a file of its own only, where readers before transformers 4.43 do not look", "对话模板只写在单独文件中，transformers 4.43 之前的读取方不会读取"}).trap("S13").before("4.43").fixable()
	}
}
