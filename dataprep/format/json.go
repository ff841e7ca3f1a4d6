package format

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"strings"

	"github.com/valyala/fastjson"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

const jsonName = "json"

// jsonFormat reads one JSON document as rows, one at a time: the elements of an
// array, of the arrays inside an object ({"data": […]}, a map of chapters), or
// of a map from id to row. See [jsonWalk].
func jsonFormat() Format {
	return Format{
		Name:    jsonName,
		Exts:    []string{".json"},
		Summary: msg.Text{"a JSON document: an array of rows, also inside an object", "JSON 文档：由多行组成的数组，也可在对象之内"},
		Sniff:   sniffJSON,
		Read:    readJSON,
	}
}

// sniffJSON wants an object or an array to begin: a bracket alone may also
// begin a line of text.
func sniffJSON(head []byte, name string) bool {
	if !looksText(head) {
		return false
	}
	b := bytes.TrimLeft(decodeHead(head), " \t\r\n")
	if len(b) == 0 {
		return false
	}
	if strings.EqualFold(filepath.Ext(name), ".json") {
		return b[0] == '{' || b[0] == '['
	}
	rest := bytes.TrimLeft(b[1:], " \t\r\n")
	if len(rest) == 0 {
		return false
	}
	switch b[0] {
	case '{':
		return rest[0] == '"' || rest[0] == '}'
	case '[':
		// [1] and ["…"] open lines of plain text, too
		if rest[0] == '{' {
			rest = bytes.TrimLeft(rest[1:], " \t\r\n")
			return len(rest) > 0 && (rest[0] == '"' || rest[0] == '}')
		}
		return (rest[0] == '[' || rest[0] == '"') && json.Valid(b)
	}
	return false
}

// readJSON gives the rows of a document.
func readJSON(ctx context.Context, u Unit, note func(Note)) iter.Seq2[drydock.Block, error] {
	return func(yield func(drydock.Block, error) bool) {
		r, err := openText(u, note)
		if err != nil {
			yield(drydock.Block{}, err)
			return
		}
		defer r.Close()
		w := &jsonWalk{
			ctx: ctx, unit: u, note: note, yield: yield,
			in: newJSONStream(r), damage: damaged{encoding: r.encoding},
		}
		if err := w.document(); err != nil && !errors.Is(err, errStop) {
			yield(drydock.Block{}, err)
		}
	}
}

// errStop ends a walk whose consumer wants no more.
var errStop = errors.New("stop")

// A jsonWalk finds the rows of a document in one pass and constant memory:
//
//   - each element of a top-level array is a row;
//   - of a top-level object, the elements of every array of objects or arrays
//     inside it are rows, at any depth of objects;
//   - an object with no such array, or with a field only rows have
//     ("question", "messages", "题目" …), is one row: so a map from id to
//     question gives its questions, and a file with one question that one.
//
// Rows are numbered through the file (At.Row). The names of objects and arrays
// on the way that are no mere identifier ("第一章", "Rule 5") come as headings.
// Fields beside the arrays are told in a note; Options.Aside has their words given
// as text.
type jsonWalk struct {
	ctx      context.Context
	unit     Unit
	note     func(Note)
	yield    func(drydock.Block, error) bool
	in       *jsonStream
	check    jsonChecker
	row      int // rows given or dropped so far
	headings int
	aside    []string // names of fields that are no rows
	mend     jsonMender
	oddComma bool // told
	damage   damaged
}

// document reads the whole text, which may hold several values one behind the
// other, as a JSON Lines file under the wrong name does.
func (w *jsonWalk) document() error {
	for n := 0; ; n++ {
		c, ok := w.in.space()
		if !ok {
			if w.in.err != nil {
				return cannotOpen(w.unit.File, w.in.err)
			}
			if n == 0 {
				return unreadable(w.unit.File, msg.Text{"there is no JSON in the file, only white space", "文件中没有 JSON，只有空白"})
			}
			return w.finish()
		}
		if n == 1 {
			w.note(Note{Code: "several_documents", Text: msg.Text{
				"%s: several JSON values stand one behind the other; all of them are read",
				"%s：文件中有多个相连的 JSON 值；全部读取",
			}, Args: []any{w.unit.File.name()}})
		}
		var err error
		switch c {
		case '[':
			err = w.array()
		case '{':
			err = w.object(0)
		default:
			err = w.syntax(w.in.pos, msg.Text{
				"%s where '[' or '{' should stand", "此处是 %s，应为 '[' 或 '{'",
			}, quoteByte(c))
		}
		if err != nil {
			return err
		}
	}
}

func (w *jsonWalk) finish() error {
	w.damage.tell(w.unit.File, w.note)
	if w.row == 0 {
		w.note(Note{Code: "no_rows", Damage: true, Text: msg.Text{
			"%s: there are no rows in the JSON document", "%s：JSON 文档中没有任何行",
		}, Args: []any{w.unit.File.name()}})
	}
	if len(w.aside) > 0 && w.row > 0 {
		w.note(Note{Code: "fields_beside_rows", Text: msg.Text{
			"%s: fields beside the rows are not read: %s", "%s：行以外的字段不读取：%s",
		}, Args: []any{w.unit.File.name(), msg.List(w.aside)}})
	}
	return nil
}

// array gives the elements as rows; the next byte is '['.
func (w *jsonWalk) array() error {
	w.in.pos++
	for comma := true; ; {
		c, ok := w.in.space()
		switch {
		case !ok:
			return w.cut(msg.Text{"the file ends inside an array, after row %d: it is incomplete", "文件在数组中间结束（第 %d 行之后）：内容不完整"}, w.row)
		case c == ']':
			if comma && w.row > 0 {
				w.commas()
			}
			w.in.pos++
			return nil
		case c == ',' && !comma:
			w.in.pos++
			comma = true
		case c == ',' || c == '}' || c == ':':
			return w.syntax(w.in.pos, msg.Text{"%s where a row should begin", "此处是 %s，应为一行的开头"}, quoteByte(c))
		default:
			if !comma {
				w.commas()
			}
			if err := w.element(); err != nil {
				return err
			}
			comma = false
		}
	}
}

// commas tells once that a comma is missing or too many; the rows are whole all
// the same.
func (w *jsonWalk) commas() {
	if w.oddComma {
		return
	}
	w.oddComma = true
	line, col, _ := w.in.place(w.in.pos)
	w.note(Note{Code: "array_commas", Text: msg.Text{
		"%s:%d:%d: a comma between rows is missing or too many; the rows are read all the same",
		"%s:%d:%d：行之间缺少逗号或逗号多余；各行仍照常读取",
	}, Args: []any{w.unit.File.name(), line, col}})
}

// element captures one value and gives it as a row.
func (w *jsonWalk) element() error {
	if w.row&63 == 0 && w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	w.in.keep = w.in.pos
	err := w.in.skipValue()
	return w.give(err)
}

// give yields what lies between keep and pos as the next row. err is what ended
// its capture.
func (w *jsonWalk) give(err error) error {
	raw, start := w.in.buf[w.in.keep:w.in.pos], w.in.keep
	w.in.keep = -1
	w.row++
	at := drydock.Locator{Row: w.row}
	f := w.check.check(raw)
	switch {
	case err != nil && w.in.err != nil:
		return cannotOpen(w.unit.File, w.in.err)
	case errors.Is(err, errLongValue):
		return w.syntax(start, msg.Text{"row %d is longer than %d MiB; a bracket or quote may be missing in it", "第 %d 行超过 %d MiB；其中可能缺少括号或引号"}, w.row, maxRow>>20)
	case err != nil && f != nil:
		if len(raw) > 0 && f.Offset >= len(raw)-utf8Max {
			return w.syntax(start, msg.Text{"the file ends inside row %d, which begins here: it is incomplete", "文件在第 %d 行（自此处开始）中间结束：内容不完整"}, w.row)
		}
		return w.syntax(start+f.Offset, msg.Text{"row %d is broken: %s", "第 %d 行有错：%s"}, w.row, f.Text)
	case f != nil:
		line, col, _ := w.in.place(start + f.Offset)
		detail := fmt.Sprintf("line %d, column %d: %s", line, col, f.Text)
		if !w.yield(drydock.Block{}, badBlock(w.unit.File, at, f.Reason, detail, string(raw))) {
			return errStop
		}
		return nil
	}
	if !w.damage.encoding.plain() && bytes.Contains(raw, []byte(replacement)) {
		line, _, _ := w.in.place(start)
		w.damage.mend(raw, line)
	}
	if !w.yield(drydock.Block{Raw: w.mend.row(raw, &w.check, at, w.note), At: at}, nil) {
		return errStop
	}
	return nil
}

// lookahead is how much of an object is held to see what it is; what is longer
// is taken for a container of rows.
const lookahead = 8 << 20

// object gives the object that begins here as a row, or walks what is in it.
func (w *jsonWalk) object(depth int) error {
	if depth > maxJSONDepth {
		return w.syntax(w.in.pos, msg.Text{"nested deeper than %d levels", "嵌套超过 %d 层"}, maxJSONDepth)
	}
	w.in.keep = w.in.pos
	w.in.max = lookahead
	err := w.in.skipValue()
	w.in.max = maxRow
	if err == nil && !holdsRows(w.in.buf[w.in.keep:w.in.pos]) {
		return w.give(nil)
	}
	w.in.pos, w.in.keep = w.in.keep, -1 // a container, or too long, or broken: field by field
	return w.fields(depth)
}

// fields walks a container; the next byte is its '{'.
func (w *jsonWalk) fields(depth int) error {
	w.in.pos++
	for comma := true; ; {
		c, ok := w.in.space()
		switch {
		case !ok:
			return w.cut(msg.Text{"the file ends inside an object, after row %d: it is incomplete", "文件在对象中间结束（第 %d 行之后）：内容不完整"}, w.row)
		case c == '}':
			w.in.pos++
			return nil
		case c == ',' && !comma:
			w.in.pos++
			comma = true
		case c == '"' && comma:
			if err := w.field(depth); err != nil {
				return err
			}
			comma = false
		default:
			return w.syntax(w.in.pos, msg.Text{"%s where a key in double quotes, ',' or '}' should stand", "此处是 %s，应为双引号中的键、',' 或 '}'"}, quoteByte(c))
		}
	}
}

// field reads one key and walks its value.
func (w *jsonWalk) field(depth int) error {
	raw, err := w.in.capture()
	if err != nil {
		return w.cut(msg.Text{"the file ends inside a key, after row %d: it is incomplete", "文件在键名中间结束（第 %d 行之后）：内容不完整"}, w.row)
	}
	var key string
	if json.Unmarshal(raw, &key) != nil {
		key = string(bytes.Trim(raw, `"`))
	}
	if c, ok := w.in.space(); !ok || c != ':' {
		return w.syntax(w.in.pos, msg.Text{"':' is missing after the key %q", "键 %q 之后缺少 ':'"}, key)
	}
	w.in.pos++
	c, ok := w.in.space()
	if !ok {
		return w.cut(msg.Text{"the file ends after a key, after row %d: it is incomplete", "文件在键名之后结束（第 %d 行之后）：内容不完整"}, w.row)
	}
	switch {
	case c == '{':
		if err := w.heading(key, depth); err != nil {
			return err
		}
		return w.object(depth + 1)
	case c == '[' && w.rowsAhead():
		if err := w.heading(key, depth); err != nil {
			return err
		}
		return w.array()
	}
	w.in.keep = w.in.pos
	err = w.in.skipValue()
	value := w.in.buf[w.in.keep:w.in.pos]
	if f := w.check.check(value); f != nil {
		at := w.in.keep + f.Offset
		w.in.keep = -1
		return w.syntax(at, msg.Text{"the value of %q is broken: %s", "%q 的值有错：%s"}, key, f.Text)
	}
	if w.in.keep = -1; err != nil {
		return w.cut(msg.Text{"the file ends inside a value, after row %d: it is incomplete", "文件在值中间结束（第 %d 行之后）：内容不完整"}, w.row)
	}
	return w.besides(key, value)
}

// besides takes a field that stands beside the rows.
func (w *jsonWalk) besides(key string, value []byte) error {
	if !w.unit.File.Options.Aside {
		if len(w.aside) < 20 {
			w.aside = append(w.aside, key)
		}
		return nil
	}
	text := jsonWords(value)
	if !isIdentifier(key) {
		text = strings.TrimSuffix(key+"\n"+text, "\n")
	}
	if strings.TrimSpace(text) == "" {
		return nil
	}
	w.headings++ // counted with them: a line number alone would look like that of a row
	if !w.yield(drydock.Block{Text: text, At: drydock.Locator{Para: w.headings}}, nil) {
		return errStop
	}
	return nil
}

// jsonWords gives the strings of a JSON value one a line, names of fields
// included; what a strict parser does not take, such as NaN, and all behind it
// as it stands.
func jsonWords(value []byte) string {
	var words []string
	d := json.NewDecoder(bytes.NewReader(value))
	for {
		t, err := d.Token()
		switch s, ok := t.(string); {
		case errors.Is(err, io.EOF):
			return strings.Join(words, "\n")
		case err != nil:
			return strings.Join(append(words, string(value[d.InputOffset():])), "\n")
		case ok:
			words = append(words, s)
		}
	}
}

// rowsAhead reports whether the array that begins here holds objects or arrays.
func (w *jsonWalk) rowsAhead() bool {
	w.in.keep = w.in.pos
	w.in.pos++
	c, _ := w.in.space()
	w.in.pos, w.in.keep = w.in.keep, -1
	return c == '{' || c == '['
}

// heading gives the name of an object or array as a heading, unless it is an
// identifier of a programmer ("data", "train_set") or the id of a single row.
func (w *jsonWalk) heading(key string, depth int) error {
	title := strings.TrimSpace(key)
	if title == "" || isIdentifier(title) {
		return nil
	}
	line, _, _ := w.in.place(w.in.pos)
	w.headings++
	b := drydock.Block{
		Text: title, Level: int8(min(depth+1, 9)),
		At: drydock.Locator{Line: line, Para: w.headings},
	}
	if !w.yield(b, nil) {
		return errStop
	}
	return nil
}

// isIdentifier reports whether s is made of ASCII letters, digits and the signs
// of identifiers and ids.
func isIdentifier(s string) bool {
	for _, c := range []byte(s) {
		if c|0x20 >= 'a' && c|0x20 <= 'z' || c-'0' <= 9 || strings.IndexByte("_-.:/#", c) >= 0 {
			continue
		}
		return false
	}
	return true
}

// holdsRows reports whether an object is a container of rows: see [jsonWalk].
// One that cannot be parsed is: its parts are then looked at one by one.
func holdsRows(b []byte) bool {
	v, err := fastjson.ParseBytes(b)
	return err != nil || containerOf(v)
}

func containerOf(v *fastjson.Value) bool {
	isRow, holds, objects, others := false, false, 0, 0
	v.GetObject().Visit(func(k []byte, m *fastjson.Value) {
		key := strings.ToLower(string(k))
		if rowField(key) || scalarRowField(key) && m.Type() != fastjson.TypeArray && m.Type() != fastjson.TypeObject {
			isRow = true
		}
		switch m.Type() {
		case fastjson.TypeObject:
			objects++
			holds = holds || containerOf(m)
		case fastjson.TypeArray:
			others++
			if a := m.GetArray(); len(a) > 0 && (a[0].Type() == fastjson.TypeObject || a[0].Type() == fastjson.TypeArray) {
				holds = true
			}
		default:
			others++
		}
	})
	return !isRow && (holds || objects > 0 && others == 0)
}

// rowField names fields that only a row has, whatever their value.
func rowField(key string) bool {
	switch key {
	case "messages", "conversations", "options", "choices", "选项", "選項", "chosen", "rejected":
		return true
	}
	return false
}

// scalarRowField names fields that make a row when their value is no container.
func scalarRowField(key string) bool {
	switch key {
	case "question", "stem", "prompt", "instruction", "题目", "题干", "问题", "試題", "題目", "題幹":
		return true
	}
	return false
}

// cut is the error of a text that ends too early.
func (w *jsonWalk) cut(text msg.Text, args ...any) error {
	if w.in.err != nil {
		return cannotOpen(w.unit.File, w.in.err)
	}
	return w.syntax(w.in.pos, text, args...)
}

// syntax is an error at an offset of the buffer.
func (w *jsonWalk) syntax(at int, text msg.Text, args ...any) error {
	line, col, excerpt := w.in.place(min(at, w.in.end))
	e := fail.New(fail.Partial, text, args...)
	e.At(fail.Where{File: w.unit.File.name(), Line: line, Column: col, Excerpt: excerpt, Length: 1})
	return e.Hint(msg.Text{
		"mend the file there, or export it again; the %d rows before this place were read",
		"请修正此处或重新导出；此处之前的 %d 行已读取",
	}, max(w.row, 0))
}

func quoteByte(c byte) string { return fmt.Sprintf("%q", rune(c)) }
