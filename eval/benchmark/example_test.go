package benchmark_test

import (
	"fmt"

	"github.com/drydock-ml/drydock/eval/benchmark"
)

func ExampleLookup() {
	b, err := benchmark.Lookup("maritime_bench")
	if err != nil {
		fmt.Println(err)
		return
	}
	items, err := benchmark.ReadItems("items.jsonl", []byte(`{"question":"右舷灯的颜色是______。","answer":"B","A":"红","B":"绿","C":"白"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	g := b.Grade(items[0], benchmark.Reply{Text: "[A] 是左舷灯，答案是[B]"})
	fmt.Println(b.Ref(), g.Verdict, g.Extracted, g.Rule)
	fmt.Println("by", g.OtherRule, "it were", g.Other, g.OtherVerdict)
	// Output:
	// maritime_bench@evalscope-1.4.2 wrong A bracket_first@1
	// by bracket_last@1 it were B correct
}

func ExampleSplitThink() {
	text, reasoning, _ := benchmark.SplitThink("<think>\n左红右绿。\n</think>\n\n[B]")
	fmt.Printf("%q after %q\n", text, reasoning)
	// Output: "[B]" after "左红右绿。"
}

func ExampleReadItems() {
	_, err := benchmark.ReadItems("items.jsonl", []byte(`{"question":"q","answer":"A","A":"a","B":"b"}
{"question":"q","answer":"AB","A":"a","B":"b"}`))
	fmt.Println(err)
	// Output: items.jsonl:2: row 2: answer "AB" is not one letter
}
