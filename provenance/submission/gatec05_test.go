package submission

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval/benchmark"
)

// keyOf makes a benchmark of n items whose answers are drawn by seed.
func keyOf(n int, seed uint64) []benchmark.Item {
	r := rand.New(rand.NewPCG(seed, 1))
	items := make([]benchmark.Item, n)
	for i := range items {
		items[i] = benchmark.Item{Index: i, Question: drydock.Question{
			Stem: fmt.Sprintf("第%d号泊位的系缆顺序是______。", i*7919), Answer: []string{string(rune('A' + r.IntN(4)))},
		}}
	}
	return items
}

// The bars are those of the binomial tail at chance 0.30 below 1e-8.
func TestTail(t *testing.T) {
	t.Parallel()
	for n, ok := range map[int]int{30: 25, 50: 35, 100: 58, 200: 99, 1888: 681} {
		if p, q := tail(n, ok), tail(n, ok-1); p >= luck || q < luck {
			t.Errorf("%d of %d: %g, one less %g", ok, n, p, q)
		}
	}
}

func TestAnswerKeys(t *testing.T) {
	t.Parallel()
	items := keyOf(400, 3)
	letters := func(from, to int, sep string, wrong int) string {
		var out []string
		for i := from; i < to; i++ {
			l := items[i].Question.Answer[0]
			if wrong > 0 && i%wrong == 0 {
				l = string("BCDA"[l[0]-'A'])
			}
			out = append(out, l)
		}
		return strings.Join(out, sep)
	}
	pairs := func(n, base int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i*3+base, items[i*3].Question.Answer[0])
		}
		return b.String()
	}
	list, _ := json.Marshal(strings.Split(letters(0, 400, ",", 0), ","))
	other := keyOf(400, 4)
	var strange, crc strings.Builder
	for i := range other {
		strange.WriteString(other[i].Question.Answer[0])
		if i < 3 {
			fmt.Fprintf(&crc, "0x%08X,", crc32.ChecksumIEEE([]byte(items[i].Question.Stem)))
		}
	}
	for _, c := range []struct {
		name, text, want string
	}{
		{"JSON map", "{\n" + pairs(60, 0, `"%d": "%s",`+"\n") + "}", "map:2"},
		{"from one", pairs(60, 1, "%d,%s\n"), "map:1"},
		{"Python dict", "ANS = {" + pairs(40, 0, "%d: '%s', ") + "}", "map:1"},
		{"rows", pairs(60, 0, `{"index": %d, "answer": "%s"}`+"\n"), "map:1"},
		{"a table", pairs(60, 0, "| %d | %s |\n"), "map:1"},
		{"too few pairs", pairs(29, 0, "%d: %s\n"), ""},
		{"a string", "\n\nKEY='" + letters(0, 400, "", 0) + "'", "run:3"},
		{"a part of it", "KEY='" + letters(100, 140, "", 0) + "'", "run:1"},
		{"a list", string(list), "run:1"},
		{"a letter a line", letters(20, 300, "\n", 3), "run:1"},
		{"longer than the key", strings.Repeat("CABD", 30) + letters(0, 400, "", 0), "run:1"},
		{"too short", "KEY='" + letters(0, 29, "", 0) + "'", ""},
		{"another exam's key", "KEY='" + strange.String() + "'", ""},
		{"prose", "A ship. B plan, and C deck ABCD " + strings.Repeat("BAD CAFE FACADE DECK ", 40), ""},
		{"three short hashes", crc.String(), "hashes:1"},
		{"colours", "#a1b2c3d4 #ffffffff 0xdeadbeef", ""},
		{"default letter", "x = parse(s)\nif not x:\n    return \"[A]\"  # give up\n", "fallback:3"},
		{"default letter in script", "const a = m ? m[1] : null;\nconst b = a ?? 'C';", "fallback:2"},
		{"letters that are no default", "if x == 'A':\n    return x\nOPTIONS = ['A', 'B']\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := ""
			for _, a := range newAnswerKey(items).search(context.Background(), strings.NewReader(c.text), true) {
				got += fmt.Sprintf("%s:%d", a.kind, a.line)
			}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// A key is found wherever the chunks of a long file are cut.
func TestAnswerKeysInLongFiles(t *testing.T) {
	t.Parallel()
	items := keyOf(100, 5)
	var run strings.Builder
	for i := range items {
		run.WriteString(items[i].Question.Answer[0])
	}
	key := newAnswerKey(items)
	key.chunk = 2 * answersFirst
	for _, border := range []int{answersFirst, answersFirst + key.chunk, answersFirst + 2*key.chunk} {
		for _, back := range []int{0, 1, 50, 99} {
			text := strings.Repeat("no answers here\n", (border-back)/16)
			text += strings.Repeat("-", border-back-len(text)) + run.String() + "\n"
			end := strings.Count(text, "\n")
			text += strings.Repeat("nor here\n", key.chunk/9)
			got := key.search(context.Background(), strings.NewReader(text), false)
			if len(got) != 1 || got[0].kind != "run" || got[0].line != end {
				t.Errorf("%d before the border at %d: %+v", back, border, got)
			}
		}
	}
}

func FuzzAnswerKeys(f *testing.F) {
	key := newAnswerKey(keyOf(50, 6))
	f.Add([]byte("1: A\n2: B"), true)
	f.Add([]byte(strings.Repeat("ABCD", 40)), false)
	f.Add([]byte("return 'A'"), true)
	f.Fuzz(func(t *testing.T, b []byte, code bool) {
		for _, a := range key.search(context.Background(), strings.NewReader(string(b)), code) {
			if a.line < 1 || a.ok > a.n {
				t.Errorf("%+v", a)
			}
		}
	})
}
