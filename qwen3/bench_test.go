package qwen3

import (
	"os"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/internal/meter"
)

// benchText is the file DRYDOCK_BENCH_TEXT names, or a made-up text that repeats
// but, since nothing is remembered from piece to piece, costs as much.
func benchText(b *testing.B) string {
	if name := os.Getenv("DRYDOCK_BENCH_TEXT"); name != "" {
		data, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		return string(data)
	}
	return strings.Repeat("船舶在能见度不良的水域中航行时，应以适合当时环境和情况的安全航速行驶，机动船应将机器作好随时操纵的准备。第19条 (b) Every vessel shall proceed at a safe speed.\n", 2000)
}

func BenchmarkEncode(b *testing.B) {
	text := benchText(b)
	dst := Encode(nil, text)
	defer meter.CPU(b, len(text))()
	for b.Loop() {
		dst = Encode(dst[:0], text)
	}
}

func BenchmarkCount(b *testing.B) {
	lines := strings.SplitAfter(benchText(b), "\n")
	getVocab()
	defer meter.CPU(b, len(benchText(b)))()
	for b.Loop() {
		for _, l := range lines {
			Count(l)
		}
	}
}

// BenchmarkLongRun encodes 300 KB of one character, on which merging pair by
// pair takes time that grows with the square.
func BenchmarkLongRun(b *testing.B) {
	for _, c := range []string{"a", "的", "=", " "} {
		text := strings.Repeat(c, 300_000/len(c))
		b.Run(c, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Count(text)
			}
		})
	}
}

func BenchmarkBuild(b *testing.B) {
	for b.Loop() {
		buildVocab()
	}
}
