package dedup_test

import (
	"context"
	"fmt"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dedup"
)

// Records are sketched while they are first read, settled once, and dropped when
// they come by again. Width, spaces and the order of options make no difference.
func ExampleRemover() {
	ctx := context.Background()
	question := func(id byte, stem, answer string, options ...string) *drydock.Record {
		q := &drydock.Question{Kind: drydock.Single, Stem: stem, Answer: []string{answer}}
		for i, o := range options {
			q.Options = append(q.Options, drydock.Option{Label: string(rune('A' + i)), Text: o})
		}
		return &drydock.Record{ID: drydock.ID{id}, Question: q}
	}
	records := []*drydock.Record{
		question(1, "右舷灯的颜色是______。", "B", "红色", "绿色"),
		question(2, "右舷灯的颜色是（　）。", "A", "绿色", "红色"),
		question(3, "右舷灯的颜色是______。", "A", "红色", "绿色"),
		question(4, "左舷灯的颜色是______。", "A", "红色", "绿色"),
	}
	e := dedup.New(dedup.Options{Threshold: dedup.DefaultThreshold})
	if err := e.Sketch(0)(ctx, records); err != nil {
		fmt.Println(err)
		return
	}
	if err := e.Decide(ctx); err != nil {
		fmt.Println(err)
		return
	}
	kept, dropped, err := e.Do(ctx, records)
	fmt.Println(len(kept), err)
	for _, d := range dropped {
		fmt.Println(d.Record.ID.String()[:2], d.Reason)
	}
	for _, p := range e.Pairs() {
		if p.Listed {
			fmt.Println(p.Removed.ID.String()[:2], p.Reason, p.Differs)
		}
	}
	// Output:
	// 2 <nil>
	// 02 duplicate_exact
	// 03 conflicting_answer
	// 04 variant_polarity 右→左
}
