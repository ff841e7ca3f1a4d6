package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// fakeSweep trains by writing a checkpoint a step, for a share of right answers
// each: fakesweep 40 60 writes checkpoint-1 and checkpoint-2. "fail" ends it with 9.
func fakeSweep() {
	for i, quality := range os.Args[1:] {
		if quality == "fail" {
			os.Stderr.WriteString("CUDA out of memory\n")
			os.Exit(9)
		}
		step := i + 1
		fmt.Printf("{'loss': %d.5, 'epoch': %d}\n", 9-i, step)
		dir := filepath.Join("output", "checkpoint-"+strconv.Itoa(step))
		must(os.MkdirAll(dir, 0o755))
		must(os.WriteFile(filepath.Join(dir, "quality"), []byte(quality), 0o644))
		// written last, and a log that ends at the step
		must(os.WriteFile(filepath.Join(dir, "trainer_state.json"), fmt.Appendf(nil, `{"global_step": %d, "max_steps": %d, "log_history": []}`, step, len(os.Args)-1), 0o644))
		fmt.Printf("100%%|##| %d/%d [00:01<00:00]\n", step, len(os.Args)-1)
		time.Sleep(50 * time.Millisecond)
	}
	if _, err := os.Stat("wait"); err == nil { // to be ended early
		time.Sleep(time.Minute)
	}
}

// fakeScore scores a checkpoint of fakeSweep on 200 items: fakescore DIR, fakescore
// DIR items, fakescore DIR silent.
func fakeScore() {
	b, err := os.ReadFile(filepath.Join(os.Args[1], "quality"))
	must(err)
	right, err := strconv.Atoi(string(b))
	must(err)
	fmt.Println("asking …")
	switch {
	case len(os.Args) > 2 && os.Args[2] == "silent":
	case len(os.Args) > 2 && os.Args[2] == "items":
		var items []string
		for i := range 200 {
			items = append(items, fmt.Sprintf(`"q%d": %v`, i, i < 2*right))
		}
		fmt.Printf("{\"items\": {%s}}\n", strings.Join(items, ", "))
	default:
		fmt.Printf("{\"correct\": %d, \"n\": 200}\n", 2*right)
	}
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
