package question_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/question"
)

// A key that lacks some of its numbers answers the others; a question without its
// answer is reported, and so is an answer without its question.
func TestKeyLacksNumbers(t *testing.T) {
	t.Parallel()
	const questions = 50
	letter := func(n int) string { return string("ABCD"[n*7%4]) }
	row := func(skip ...int) func(int) string {
		return func(n int) string {
			if slices.Contains(skip, n) {
				return ""
			}
			return fmt.Sprintf("%d.%s ", n, letter(n))
		}
	}
	for name, c := range map[string]struct {
		key      func(n int) string
		from, to int
		lost     []int // questions without an answer
		over     int   // answers without a question
	}{
		"first and last":    {row(1, 50), 1, 50, []int{1, 50}, 0},
		"first":             {row(1), 1, 50, []int{1}, 0},
		"last":              {row(50), 1, 50, []int{50}, 0},
		"last three":        {row(48, 49, 50), 1, 50, []int{48, 49, 50}, 0},
		"inside":            {row(20, 31), 1, 50, []int{20, 31}, 0},
		"two answers more":  {row(), 1, 52, nil, 2},
		"one before":        {row(), 0, 50, nil, 0},
		"many":              {row(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 50), 1, 50, nil, -1},
		"of something else": {row(), 101, 148, nil, -1},
	} {
		for _, table := range []bool{false, true} {
			var s, nums, keys strings.Builder
			for n := 1; n <= questions; n++ {
				fmt.Fprintf(&s, "%d. 第%d种船舶的右舷灯为\nA. 绿\nB. 红\nC. 白\nD. 黄\n", n, n)
			}
			s.WriteString("参考答案\n")
			for n := max(c.from, 1); n <= c.to; n++ {
				if k := c.key(n); k != "" && table {
					fmt.Fprintf(&nums, "\t%d", n)
					fmt.Fprintf(&keys, "\t%s", letter(n))
				} else {
					s.WriteString(k)
				}
			}
			if table {
				s.WriteString("题号" + nums.String() + "\n答案" + keys.String())
			}
			right, lost, over := 0, []int{}, 0
			for r, err := range question.New(question.Options{}).Parse(context.Background(), text(s.String()+"\n")) {
				var d *drydock.Drop
				n := 0
				switch {
				case errors.As(err, &d) && d.Reason == "key_unused":
					over++
				case errors.As(err, &d):
					fmt.Sscanf(d.Record.Passage.Text, "%d.", &n)
					lost = append(lost, n)
				case err != nil:
					t.Fatal(err)
				default:
					fmt.Sscanf(r.Question.Stem, "第%d种", &n)
					if !slices.Equal(r.Question.Answer, []string{letter(n)}) {
						t.Errorf("%s: question %d has answer %v", name, n, r.Question.Answer)
					}
					right++
				}
			}
			switch {
			case c.over < 0 && right > 0:
				t.Errorf("%s, table %v: %d answers were believed", name, table, right)
			case c.over >= 0 && (right != questions-len(c.lost) || !slices.Equal(lost, append([]int{}, c.lost...))):
				t.Errorf("%s, table %v: %d right, without answer %v", name, table, right, lost)
			case c.over > 0 && over != 1:
				t.Errorf("%s, table %v: %d keys reported", name, table, over)
			}
		}
	}
}
