package question_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/question"
)

// Lines made to hurt are read in time that grows with their length only.
func TestHostileLines(t *testing.T) {
	t.Parallel()
	for _, piece := range []string{
		"A.", "A. ", "（A）", "（", "I、", "①", "②", "1-", "1-5 A ", "答案", "答案：A ", "【", "第", "____（", "A.x B.y ", "1.", "解析：", "（A", "Answer: ", "图", "无", "#", " ", "一、", "正确答案是", "x\n", "1. x\n", "A. x\n", "答案：A\n", "1. x\nA. y\nB. z\n", "1-2 AB\n", "答案\n1. A\n", "解析：x\n", "第1章 x\n", "1、x\n1. y\n", "答案：\n",
	} {
		s := "1. 甲" + strings.Repeat(piece, 100_000/len(piece))
		start := time.Now()
		for _, doc := range []*drydock.Document{text(s), rowsDocument([][]string{{"题目", "选项", "答案"}, {s, s, s}})} {
			for range question.New(question.Options{}).Parse(context.Background(), doc) {
			}
			if _, err := question.Accepts(context.Background(), doc); err != nil {
				t.Fatal(err)
			}
		}
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("%q: %v", piece, d)
		} else if d > 150*time.Millisecond {
			t.Logf("%q: %v", piece, d)
		}
	}
}
