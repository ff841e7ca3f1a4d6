package launch_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/launch"
)

// The figures of the guide are those of the estimate.
func TestGuideSaysTheEstimate(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"../docs/guide/training.md", "../docs/guide/training.zh.md"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range []launch.Load{
			{Method: "qlora", Rank: 16, BatchSize: 1},
			{Method: "lora", Rank: 16, BatchSize: 1},
			{Method: "lora", Rank: 16, BatchSize: 4},
			{Method: "full", BatchSize: 1},
		} {
			l.Checkpointing = true
			gib := func(tokens int) string {
				l.Tokens = tokens
				return fmt.Sprintf("%.0f GiB", float64(launch.EstimateMemory(l).Total)/(1<<30))
			}
			if row := fmt.Sprintf(" | %s | %s |", gib(512), gib(2048)); !strings.Contains(string(text), row) {
				t.Errorf("%s: %+v is not %q", name, l, row)
			}
		}
	}
}
