package contam_test

import (
	"fmt"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/eval/benchmark"
)

const quiz = `[{"question": "锅炉给水中溶解氧含量过高会加剧______。", "answer": "A",
  "A": "炉管的点状腐蚀", "B": "炉膛的积灰", "C": "蒸汽的过热", "D": "燃油的雾化不良"}]`

func quizIndex() (*contam.Index, error) {
	items, err := benchmark.ReadItems("quiz.json", []byte(quiz))
	if err != nil {
		return nil, err
	}
	return contam.NewIndex(items, benchmark.Ref{Name: "quiz"}, contam.Config{})
}

// A row of any shape is read as one text: traditional characters, other numbering
// and another order of the options do not hide an item.
func ExampleScanner_Row() {
	ix, err := quizIndex()
	if err != nil {
		fmt.Println(err)
		return
	}
	s := ix.Scanner()
	found, err := s.Row([]byte(`{"id": "t1", "prompt": "鍋爐給水中溶解氧含量過高會加劇（ ）。\n①燃油的霧化不良 ②爐膛的積灰 ③蒸汽的過熱 ④爐管的點狀腐蝕"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range found {
		fmt.Println(f.Record.ID, f.Record.Pointer, f.Item.Index, f.Verdict, f.Fail)
	}
	// Output: t1 /prompt 0 shuffled true
}

// A record of the pipeline is checked before it becomes a row.
func ExampleScanner_Record() {
	ix, err := quizIndex()
	if err != nil {
		fmt.Println(err)
		return
	}
	s := ix.Scanner()
	for _, text := range []string{"风力六级时，船长应检查系缆。", "锅炉给水中溶解氧含量过高会加剧炉管的点状腐蚀。"} {
		found := s.Record(&drydock.Record{RowID: "p1", Passage: &drydock.Passage{Text: text}})
		fmt.Println(len(found), "found")
		for _, f := range found {
			fmt.Println(f.Record.ID, f.Record.Pointer, f.Spans[0].Start, f.Spans[0].End, f.Verdict, f.Fail)
		}
	}
	// Output:
	// 0 found
	// 1 found
	// p1 /text 0 22 near true
}
