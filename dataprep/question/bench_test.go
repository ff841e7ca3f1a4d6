package question_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/dataprep/question"
	"github.com/drydock-ml/drydock/internal/meter"
)

// benchBank is a bank with keys at the end of each chapter.
func benchBank(chapters int) string {
	var b strings.Builder
	for c := 1; c <= chapters; c++ {
		fmt.Fprintf(&b, "第%d章 习题集\n", c)
		for a := 1; a <= 4; a++ {
			fmt.Fprintf(&b, "第%d条 灯号\n", a)
			for n := 1; n <= 25; n++ {
				fmt.Fprintf(&b, "%d. 在第%d条规定的水域内航行的机动船，下列说法正确的是：I、应当显示桅灯；II、应当显示舷灯；III、可以显示锚灯\nA．I\nB．I、II\nC．II、III\nD．I、II、III\n", n, a)
			}
		}
		b.WriteString("习题集答案\n")
		for a := 1; a <= 4; a++ {
			fmt.Fprintf(&b, "第%d条 1-5、CCDDD 6-10、BDCDD 11-15、DABDD 16-20、DCDAD 21-25、CAACB\n", a)
		}
	}
	return b.String()
}

func BenchmarkText(b *testing.B) {
	s := benchBank(40)
	doc := text(s)
	p := question.New(question.Options{})
	defer meter.CPU(b, len(s))()
	for b.Loop() {
		n := 0
		for r, err := range p.Parse(context.Background(), doc) {
			if err != nil || len(r.Question.Answer) != 1 {
				b.Fatal(r, err)
			}
			n++
		}
		if n != 4000 {
			b.Fatal(n)
		}
	}
}

func BenchmarkEnglish(b *testing.B) {
	var s strings.Builder
	for n := 1; n <= 4000; n++ {
		fmt.Fprintf(&s, "%d. INLAND ONLY You are proceeding in a narrow channel and see a vessel ahead of you. What signal should you sound?\nA) One short blast of the whistle\nB) Two short blasts of the whistle\nC) One prolonged blast of the whistle\nD) Five short and rapid blasts\nAnswer: C\n\n", n)
	}
	doc := text(s.String())
	p := question.New(question.Options{})
	defer meter.CPU(b, s.Len())()
	for b.Loop() {
		n := 0
		for _, err := range p.Parse(context.Background(), doc) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != 4000 {
			b.Fatal(n)
		}
	}
}

func BenchmarkTable(b *testing.B) {
	rows := [][]string{{"id", "题目", "A", "B", "C", "D", "答案"}}
	size := 0
	for n := 1; n <= 4000; n++ {
		row := []string{fmt.Sprint(n), "在规定的水域内航行的机动船，夜间应当显示的号灯是", "桅灯和舷灯", "锚灯", "甲板灯", "桅灯、舷灯和尾灯", "D"}
		for _, c := range row {
			size += len(c)
		}
		rows = append(rows, row)
	}
	doc := rowsDocument(rows)
	p := question.New(question.Options{})
	defer meter.CPU(b, size)()
	for b.Loop() {
		for _, err := range p.Parse(context.Background(), doc) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkJSON(b *testing.B) {
	var s strings.Builder
	for n := 1; n <= 4000; n++ {
		fmt.Fprintf(&s, `{"id":%d,"question":"在规定的水域内航行的机动船，夜间应当显示的号灯是","options":{"A":"桅灯和舷灯","B":"锚灯","C":"甲板灯","D":"桅灯、舷灯和尾灯"},"answer":"D"}`+"\n", n)
	}
	doc := jsonDocument(b, []byte(s.String()))
	p := question.New(question.Options{})
	defer meter.CPU(b, s.Len())()
	for b.Loop() {
		for _, err := range p.Parse(context.Background(), doc) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}
