package archtest

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// banned calls, each with the packages that may make it. Tests and scripts are
// free.
var banned = []struct {
	pkg, name string
	only      []string
	instead   string
}{
	{"os", "Getenv", []string{"internal/cli"}, "pass it in"},
	{"os", "LookupEnv", []string{"internal/cli"}, "pass it in"},
	{"os", "Environ", []string{"internal/cli"}, "pass it in"},
	{"time", "Now", []string{"internal/cli"}, "pass the clock in"},
	{"os", "Exit", []string{"cmd/drydock", "cmd/gendocs", "internal/cli"}, "return an error"},
	{"fmt", "Print", nil, "write to the stream you were given"},
	{"fmt", "Println", nil, "write to the stream you were given"},
	{"fmt", "Printf", nil, "write to the stream you were given"},
	{"log", "Printf", nil, "return an error"},
	{"log", "Fatal", nil, "return an error"},
	{"rand", "Int", nil, "derive it from the seed and the record's id"},
	{"rand", "Intn", nil, "derive it from the seed and the record's id"},
	{"rand", "Shuffle", nil, "derive it from the seed and the record's id"},
}

func TestCallsStayInTheirRoom(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if s.test || strings.HasPrefix(s.pkg, "scripts") || s.pkg == "internal/golden" || strings.HasSuffix(s.pkg, "test") {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				if s.pkg != "internal/parallel" {
					t.Errorf("%s: goroutines start in internal/parallel only, which recovers their panics", fset.Position(n.Pos()))
				}
			case *ast.FuncDecl:
				if n.Name.Name == "init" && n.Recv == nil {
					t.Errorf("%s: no init()", fset.Position(n.Pos()))
				}
			case *ast.SelectorExpr:
				x, ok := n.X.(*ast.Ident)
				if !ok {
					return true
				}
				for _, b := range banned {
					if x.Name == b.pkg && n.Sel.Name == b.name && !slices.Contains(b.only, s.pkg) {
						t.Errorf("%s: %s.%s: %s", fset.Position(n.Pos()), b.pkg, b.name, b.instead)
					}
				}
			}
			return true
		})
	}
}

// badNames are packages that say nothing.
var badNames = []string{"util", "utils", "common", "helper", "helpers", "misc", "base", "core", "manager"}

func TestPackages(t *testing.T) {
	t.Parallel()
	documented := map[string]bool{}
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		if slices.Contains(badNames, s.ast.Name.Name) {
			t.Errorf("%s: a package called %s says nothing", s.path, s.ast.Name.Name)
		}
		documented[s.pkg] = documented[s.pkg] || s.ast.Doc != nil
	}
	for pkg, ok := range documented {
		if !ok {
			t.Errorf("%s: no file opens with what the package is", pkg)
		}
	}
}

var verb = regexp.MustCompile(`%[-+# 0]*(?:\[\d+\])?[*\d]*(?:\.[*\d]+)?([a-zA-Z%])`)

func verbs(s string) string {
	var out []string
	for _, m := range verb.FindAllStringSubmatch(s, -1) {
		if m[1] != "%" {
			out = append(out, m[1])
		}
	}
	return strings.Join(out, " ")
}

// TestMessagesSpeakBothLanguages demands of every msg.Text literal two texts
// with the same verbs in the same order.
func TestMessagesSpeakBothLanguages(t *testing.T) {
	t.Parallel()
	seen := 0
	check := func(lit *ast.CompositeLit) {
		if len(lit.Elts) == 0 {
			return
		}
		if len(lit.Elts) != 2 {
			t.Errorf("%s: msg.Text needs English and Chinese", fset.Position(lit.Pos()))
			return
		}
		en, ok1 := literal(lit.Elts[0])
		zh, ok2 := literal(lit.Elts[1])
		if !ok1 || !ok2 {
			return // built elsewhere, from texts that are checked there
		}
		seen++
		if strings.TrimSpace(en) == "" || strings.TrimSpace(zh) == "" {
			t.Errorf("%s: one language is empty", fset.Position(lit.Pos()))
		}
		if a, b := verbs(en), verbs(zh); a != b {
			t.Errorf("%s: verbs differ: %q in English, %q in Chinese", fset.Position(lit.Pos()), a, b)
		}
		if full := regexp.MustCompile(`[\p{Han}][,;:!?]`).FindString(zh); full != "" {
			t.Errorf("%s: Chinese takes full-width punctuation: %q", fset.Position(lit.Pos()), full)
		}
	}
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			if isText(lit.Type, s.pkg) {
				check(lit)
			}
			// []msg.Text{{…}, {…}} and map[…]msg.Text
			var elem ast.Expr
			switch typ := lit.Type.(type) {
			case *ast.ArrayType:
				elem = typ.Elt
			case *ast.MapType:
				elem = typ.Value
			}
			if elem != nil && isText(elem, s.pkg) {
				for _, e := range lit.Elts {
					if kv, ok := e.(*ast.KeyValueExpr); ok {
						e = kv.Value
					}
					if inner, ok := e.(*ast.CompositeLit); ok && inner.Type == nil {
						check(inner)
					}
				}
			}
			return true
		})
	}
	if seen < 100 {
		t.Errorf("only %d messages found; the search is broken", seen)
	}
}

func isText(e ast.Expr, pkg string) bool {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		x, ok := e.X.(*ast.Ident)
		return ok && x.Name == "msg" && e.Sel.Name == "Text"
	case *ast.Ident:
		return pkg == "internal/msg" && e.Name == "Text"
	}
	return false
}

// literal folds a string literal or a concatenation of them.
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return s, e.Kind == token.STRING && err == nil
	case *ast.BinaryExpr:
		a, ok1 := literal(e.X)
		b, ok2 := literal(e.Y)
		return a + b, ok1 && ok2
	case *ast.ParenExpr:
		return literal(e.X)
	}
	return "", false
}

// TestHelpTagsSpeakBothLanguages demands zh beside every help tag.
func TestHelpTagsSpeakBothLanguages(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			f, ok := n.(*ast.Field)
			if !ok || f.Tag == nil {
				return true
			}
			tag := f.Tag.Value
			if strings.Contains(tag, `help:"`) != strings.Contains(tag, `zh:"`) {
				t.Errorf("%s: help and zh go together", fset.Position(f.Pos()))
			}
			return true
		})
	}
}
