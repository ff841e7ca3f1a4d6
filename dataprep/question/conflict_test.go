package question_test

import (
	"testing"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/question"
)

func TestContradicts(t *testing.T) {
	t.Parallel()
	q := func(stem, answer string, options ...string) *drydock.Question {
		out := &drydock.Question{Kind: drydock.Single, Stem: stem, Answer: []string{answer}}
		for i, o := range options {
			out.Options = append(out.Options, drydock.Option{Label: string(rune('A' + i)), Text: o})
		}
		return out
	}
	judge := func(answer string) *drydock.Question {
		return &drydock.Question{Kind: drydock.Judge, Stem: "锚灯为白。", Answer: []string{answer}}
	}
	for _, c := range []struct {
		name string
		a, b *drydock.Question
		want bool
	}{
		{"the same answer in another order", q("灯色为", "A", "红", "绿", "白"), q("灯色为：", "C", "白", "绿", "红"), false},
		{"another answer", q("灯色为", "A", "红", "绿", "白"), q("灯色为：", "A", "白", "绿", "红"), true},
		{"another stem", q("灯色为", "A", "红", "绿"), q("灯色不为", "B", "红", "绿"), false},
		{"other options", q("正确的是", "A", "红", "绿", "白"), q("正确的是", "B", "左", "右", "前"), false},
		{"one option changed", q("灯色为", "A", "红", "绿", "白", "黄"), q("灯色为", "B", "红", "绿", "白", "蓝"), true},
		{"what is above differs", q("正确的是", "D", "红", "绿", "A和B都对", "A和B都不对"), q("正确的是", "C", "黄", "绿", "A和B都对", "A和B都不对"), false},
		{"signs that are the text", q("为", "A", "√", "×"), q("为", "B", "√", "×"), true},
		{"true and false", judge("true"), judge("false"), true},
		{"true and true", judge("true"), judge("true"), false},
	} {
		a, _ := question.DigestOf(c.a)
		b, _ := question.DigestOf(c.b)
		if a.Contradicts(b) != c.want || b.Contradicts(a) != c.want {
			t.Errorf("%s: %v, want %v", c.name, a.Contradicts(b), c.want)
		}
	}
	figure := q("此船为", "A", "渔船", "帆船")
	figure.NeedsFigure = true
	other := q("此船为", "B", "渔船", "帆船")
	other.NeedsFigure = true
	a, _ := question.DigestOf(figure)
	if b, _ := question.DigestOf(other); a.Contradicts(b) {
		t.Error("two figures that are not named may differ")
	}
	if _, ok := question.DigestOf(&drydock.Question{Kind: drydock.Short, Answer: []string{"x"}}); ok {
		t.Error("an answer in own words contradicts nothing")
	}
}
