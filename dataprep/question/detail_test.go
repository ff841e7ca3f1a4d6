package question_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/drydock-ml/drydock/dataprep/question"
	"github.com/drydock-ml/drydock/internal/msg"
)

func TestDetailMeaning(t *testing.T) {
	t.Parallel()
	for detail, want := range map[string]string{
		"option B stands twice": "选项 B 出现两次",
		"option B follows D":    "选项 B 紧接在 D 之后",
		`the answer "右 is none of the options" is none of the options`:                 `答案 "右 is none of the options" 不在选项之中`,
		"50 questions, 48 answers in the key":                                          "题目 50 道，答案 48 个",
		"the key has no answer for number 50; 50 questions, 48 answers in the key":     "答案表中没有第 50 题；题目 50 道，答案 48 个",
		"3 ids in the key are not in the file, or twice":                               "答案中有 3 个题目编号不在文件中，或出现两次",
		"too much about it is doubtful: no_answer, duplicate_options":                  "存疑之处过多：没有答案、有重复的选项",
		"the answer is number 7, there are 4 options":                                  "答案为第 7 项，但只有 4 个选项",
		"the answer is the number of an option, but no options stand there":            "答案是选项的序号，但没有选项",
		"the row is not JSON: invalid character 'x' looking for beginning of value: %": "该行不是 JSON：invalid character 'x' looking for beginning of value: %",
	} {
		p, ok := question.DetailMeaning(detail)
		if !ok || p.In(msg.Zh) != want {
			t.Errorf("%q: %q", detail, p.In(msg.Zh))
		}
		if p.In(msg.En) != detail {
			t.Errorf("%q came back as %q", detail, p.In(msg.En))
		}
	}
	if _, ok := question.DetailMeaning("the page is empty"); ok {
		t.Error("a detail of something else is known")
	}
}

// Every sentence that the code gives a drop is known in Chinese.
func TestDetailsAreKnown(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 30 {
		t.Fatal(files, err)
	}
	verb := regexp.MustCompile(`%[a-z]`)
	n := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		said := func(e ast.Expr) {
			n++
			detail := verb.ReplaceAllString(sentence(e), "X")
			if strings.Trim(detail, "X") == "" {
				n--
				return
			}
			p, ok := question.DetailMeaning(detail)
			if zh := p.In(msg.Zh); !ok || !strings.ContainsFunc(zh, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
				t.Errorf("%s: %q is not known: add it to details", name, detail)
			}
		}
		ast.Inspect(f, func(node ast.Node) bool {
			switch x := node.(type) {
			case *ast.ReturnStmt:
				if len(x.Results) == 2 && isReason(x.Results[0]) {
					said(x.Results[1])
				}
			case *ast.AssignStmt:
				if len(x.Rhs) == 2 && isReason(x.Rhs[0]) {
					said(x.Rhs[1])
				}
				for i, l := range x.Lhs {
					if s, ok := l.(*ast.SelectorExpr); ok && len(x.Rhs) == len(x.Lhs) && (s.Sel.Name == "mismatch" || s.Sel.Name == "why" || s.Sel.Name == "gap") {
						said(x.Rhs[i])
					}
				}
			case *ast.CallExpr:
				for i, a := range x.Args {
					if isReason(a) && i+1 < len(x.Args) {
						said(x.Args[i+1])
					}
				}
			}
			return true
		})
	}
	if n < 30 {
		t.Errorf("only %d details were found", n)
	}
}

func isReason(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && strings.HasPrefix(id.Name, "reason") && id.Name != "reason"
}

// sentence is the text of an expression, X where it is not written out.
func sentence(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.BasicLit:
		if s, err := strconv.Unquote(x.Value); err == nil {
			return s
		}
	case *ast.BinaryExpr:
		return sentence(x.X) + sentence(x.Y)
	case *ast.CallExpr:
		if len(x.Args) > 0 {
			if lit, ok := x.Args[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
				return sentence(lit)
			}
		}
	}
	return "X"
}
