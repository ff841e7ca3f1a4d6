package cli_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// fakeSteps trains as the Hugging Face trainer does, as far as drydock sees it:
//
//	fakesteps RESUME STEPS [MODE [N]]
//
// It goes on from the checkpoint RESUME, if that is not empty, prints a bar and a
// loss a step, and writes a checkpoint every fifth. MODE says what goes wrong:
//
//	die N      an error of CUDA at step N
//	hang N     silence from step N on, the file hanging beside the checkpoints
//	forget     begins at step 1 although it is to go on
//	jump       a loss as if nothing had been learnt
//	nan        a loss that is no number from step 3 on
func fakeSteps() {
	from, total, mode, at := os.Args[1], number(os.Args[2]), "", 0
	if len(os.Args) > 3 {
		mode = os.Args[3]
	}
	if len(os.Args) > 4 {
		at = number(os.Args[4])
	}
	begin := 0
	if _, after, found := strings.Cut(from, "checkpoint-"); found && mode != "forget" {
		begin = number(after)
	}
	for step := begin + 1; step <= total; step++ {
		if step == at {
			switch mode {
			case "die":
				fmt.Fprintln(os.Stderr, "torch.OutOfMemoryError: CUDA out of memory.")
				os.Exit(1)
			case "hang":
				_ = os.WriteFile("hanging", nil, 0o644)
				time.Sleep(time.Minute)
			}
		}
		loss := strconv.FormatFloat(2/float64(step), 'g', 4, 64)
		switch {
		case mode == "jump" && begin > 0:
			loss = "9.5"
		case mode == "nan" && step >= 3:
			loss = "nan"
		}
		fmt.Fprintf(os.Stderr, "\r%3d%%|##  | %d/%d [00:01<00:01, 1.0it/s]", 100*step/total, step, total)
		fmt.Printf("\n{'loss': '%s', 'learning_rate': '1e-05', 'epoch': '%.2f'}\n", loss, float64(step)/10)
		if step%5 == 0 {
			if err := fakeCheckpoint(filepath.Join("output", "checkpoint-"+strconv.Itoa(step)), step, total); err != nil {
				fmt.Println(err)
				os.Exit(9)
			}
		}
	}
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		fmt.Println(err)
		os.Exit(9)
	}
	return n
}

// fakeCheckpoint writes what drydock looks at, the state last.
func fakeCheckpoint(dir string, step, total int) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	history := make([]string, step)
	for i := range history {
		history[i] = fmt.Sprintf(`{"step":%d,"loss":%g}`, i+1, 2/float64(i+1))
	}
	header := `{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`
	var errs []error
	for _, f := range [][2]string{
		{"adapter_config.json", `{"peft_type":"LORA","r":1,"lora_alpha":1,"target_modules":["w"]}`},
		{"adapter_model.safetensors", string([]byte{byte(len(header)), 0, 0, 0, 0, 0, 0, 0}) + header + string([]byte{byte(step), 0, 0, 0})},
		{"optimizer.pt", "PK\x05\x06" + strings.Repeat("\x00", 18)},
		{"trainer_state.json", fmt.Sprintf(`{"global_step":%d,"max_steps":%d,"log_history":[%s]}`, step, total, strings.Join(history, ","))},
	} {
		errs = append(errs, os.WriteFile(filepath.Join(dir, f[0]), []byte(f[1]), 0o644))
	}
	return errors.Join(errs...)
}
