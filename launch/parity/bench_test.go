package parity_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/meter"
	"github.com/drydock-ml/drydock/launch/feed"
	"github.com/drydock-ml/drydock/launch/parity"
)

// rows makes n training rows of a single choice question each, no two alike.
func rows(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, `{"id":"r%d","messages":[{"role":"user","content":"请回答单选题，只输出选项。\n\n第%d题：船舶在能见度不良的水域中航行时，若与他船的距离为 %d 海里，应当采取什么行动？\n选项：\nA. 立即停车并鸣放一长声\nB. 以安全航速行驶，保持正规瞭望\nC. 向左转向 %d 度\nD. 加速通过该水域"},{"role":"assistant","content":"<think>\n\n</think>\n\n[B]"}]}`+"\n", i, i*7%1000, i%13, i%90)
	}
	return b.Bytes()
}

// One core: MB/s of rows with exact counts, all that check does.
func BenchmarkCheck(b *testing.B) {
	data := rows(20000)
	for _, trainer := range feed.Trainers() {
		b.Run(trainer, func(b *testing.B) {
			s, err := feed.For(trainer, emit.EmptyThink)
			if err != nil {
				b.Fatal(err)
			}
			defer meter.CPU(b, len(data))()
			for b.Loop() {
				r, err := parity.Check(context.Background(), "rows.jsonl", bytes.NewReader(data), parity.Options{Settings: s, Contract: emit.EmptyThink, Workers: 1})
				if err != nil || r.Matching != 20000 {
					b.Fatal(err, r.Matching, r.Findings)
				}
			}
		})
	}
}
