package question_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/question"
)

// counted makes a document of lines and counts how many its first reading took.
func counted(lines []string, read *int) *drydock.Document {
	calls := 0
	return &drydock.Document{
		File: &drydock.File{Source: "test", Name: "bank"},
		Blocks: func(context.Context) iter.Seq2[drydock.Block, error] {
			calls++
			first := calls == 1
			return func(yield func(drydock.Block, error) bool) {
				for i, l := range lines {
					if first {
						*read = i + 1
					}
					if !yield(drydock.Block{Text: l, At: drydock.Locator{Line: i + 1}}, nil) {
						return
					}
				}
			}
		},
	}
}

func longBank(n int, stem string, answers bool) []string {
	var lines []string
	for i := 1; i <= n; i++ {
		lines = append(lines, fmt.Sprintf("%d. %s", i, stem), "A. 红", "B. 绿")
		if answers {
			lines = append(lines, "答案："+string(rune('A'+i%2)))
		}
	}
	return lines
}

// A bank with its answers beside the questions is not held whole.
func TestAnsweredItemsLeaveEarly(t *testing.T) {
	t.Parallel()
	lines := longBank(4000, "灯色为", true)
	read, n := 0, 0
	for r, err := range question.New(question.Options{}).Parse(t.Context(), counted(lines, &read)) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 1 && read > len(lines)/4 {
			t.Errorf("the first question came after %d of %d lines", read, len(lines))
		}
		if want := string(rune('A' + n%2)); r.Question.Answer[0] != want {
			t.Fatalf("question %d: %v, want %s", n, r.Question.Answer, want)
		}
	}
	if n != 4000 {
		t.Errorf("%d questions", n)
	}
}

// A long bank whose key stands at the very end gets all its answers.
func TestKeyFarBehind(t *testing.T) {
	t.Parallel()
	lines := append(longBank(3000, "灯色为", false), "参考答案")
	for i := 1; i <= 3000; i += 10 {
		lines = append(lines, fmt.Sprintf("%d-%d BABABABABA", i, i+9))
	}
	got := parse(t, text(strings.Join(lines, "\n")))
	for i, r := range got.records {
		if want := string(rune('A' + (i+1)%2)); len(r.Question.Answer) != 1 || r.Question.Answer[0] != want {
			t.Fatalf("question %d: %v, want %s", i+1, r.Question.Answer, want)
		}
	}
	if len(got.records) != 3000 || len(got.drops) != 0 {
		t.Errorf("%d questions, drops %v", len(got.records), got.reasons())
	}
}

// A bank without any answers is let go once much is held; one with a key at the
// end is not.
func TestHeldTextIsBounded(t *testing.T) {
	t.Parallel()
	stem := strings.Repeat("能见度不良时", 200)
	lines := longBank(3400, stem, false)
	read, n, first := 0, 0, 0
	for _, err := range question.New(question.Options{}).Parse(t.Context(), counted(lines, &read)) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 1 {
			first = read
		}
	}
	if n != 3400 || first == len(lines) {
		t.Errorf("%d questions, the first after %d of %d lines", n, first, len(lines))
	}
	lines = append(lines, "答案")
	for i := 1; i <= 3400; i += 100 {
		lines = append(lines, fmt.Sprintf("%d-%d %s", i, i+99, strings.Repeat("AB", 50)))
	}
	got := parse(t, text(strings.Join(lines, "\n")))
	for _, r := range got.records {
		if len(r.Question.Answer) != 1 {
			t.Fatalf("%s has no answer", r.Origin.At)
		}
	}
	if len(got.records) != 3400 || len(got.drops) != 0 {
		t.Errorf("%d questions, drops %v", len(got.records), got.reasons())
	}
}
