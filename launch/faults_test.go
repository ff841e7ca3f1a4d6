package launch_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/launch"
)

// playFault acts a trainer that fails in one of the ways they fail.
func playFault(mode string) (code int, played bool) {
	step := func(n int) { fmt.Printf("{'loss': %g, 'epoch': %g}\n", 2/float64(n), float64(n)/10) }
	switch mode {
	case "dies-at-start":
		fmt.Fprintln(os.Stderr, "Traceback (most recent call last):\nModuleNotFoundError: No module named 'peft'")
		return 1, true
	case "dies-mid-step":
		step(1)
		step(2)
		fmt.Fprintln(os.Stderr, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB.")
		for i := range 300 { // the launcher's summary comes behind
			fmt.Fprintln(os.Stderr, "frame", i)
		}
		return 1, true
	case "launcher-247": // a launcher in Python whose child was killed
		step(1)
		return 247, true
	case "hangs":
		step(1)
		time.Sleep(time.Minute)
	case "floods": // redraws its bar without a line end, and fails
		for i := range 200_000 {
			fmt.Fprintf(os.Stderr, "\r%3d%%|####      | %d/200000 [00:01<00:02, 9.9it/s]", i/2000, i)
		}
		fmt.Fprint(os.Stderr, "\nNo space left on device")
		return 1, true
	case "half-line": // is cut while it writes its log
		if err := os.MkdirAll("output", 0o755); err != nil {
			return 9, true
		}
		if err := os.WriteFile("output/log.jsonl", []byte("{\"current_steps\": 1, \"total_steps\": 9, \"loss\": 1.5}\n{\"current_steps\": 2, \"total_st"), 0o644); err != nil {
			return 9, true
		}
		return 137, true
	case "barless": // prints no bar; its checkpoint knows the step
		step(4)
		if err := os.MkdirAll("output/checkpoint-2", 0o755); err != nil {
			return 9, true
		}
		if err := os.WriteFile("output/checkpoint-2/trainer_state.json", []byte(`{"global_step": 2, "max_steps": 2, "log_history": [{"step": 2, "loss": 0.5}]}`), 0o644); err != nil {
			return 9, true
		}
	case "bad-data":
		fmt.Fprintln(os.Stderr, "datasets.exceptions.DatasetGenerationError: An error occurred while generating the dataset")
		return 1, true
	case "saves": // writes a checkpoint when its file appears
		fmt.Println("pid", os.Getpid())
		for range 500 {
			if _, err := os.Stat("output/save.now"); err == nil {
				_ = os.Remove("output/save.now")
				if err := writeCheckpoint("output", 7); err != nil {
					fmt.Println(err)
					return 9, true
				}
				time.Sleep(time.Minute)
			}
			time.Sleep(20 * time.Millisecond)
		}
	default:
		return 0, false
	}
	return 0, true
}

// cause runs a part and returns what it came to.
func cause(t *testing.T, p launch.Plan, o launch.Options) (launch.Result, string, error) {
	t.Helper()
	if o.Clock == nil {
		o.Clock = time.Now
	}
	res, _, err := run(t, t.Context(), p, o)
	if res.Cause == nil {
		return res, "", err
	}
	if !strings.Contains(err.Error(), res.Cause.What.In(msg.En)) {
		t.Errorf("the error does not name the cause: %v", err)
	}
	return res, res.Cause.ID, err
}

// Whatever way a trainer fails, the run ends with code 21 and the cause's name.
func TestFaults(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "train.jsonl")
	if err := os.WriteFile(data, []byte("{\"messages\":[]}\n{\"messages\":[}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		mode, cause, says string
		exit              int
	}{
		{"dies-at-start", "module", "peft", 1},
		{"dies-mid-step", "gpu_memory", "memory is full", 1},
		{"launcher-247", "host_memory", "", 247},
		{"floods", "disk", "disk is full", 1},
		{"half-line", "host_memory", "", 137},
		{"bad-data", "data", "train.jsonl:2: invalid character", 1},
	} {
		t.Run(c.mode, func(t *testing.T) {
			t.Parallel()
			p := planOf(t, c.mode)
			p.Follow, p.Output = []string{"output/log.jsonl"}, "output"
			res, id, err := cause(t, p, launch.Options{Data: data})
			if fail.Code(err) != 21 || id != c.cause || res.ExitCode != c.exit || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%q, exit %d: %v", id, res.ExitCode, err)
			}
		})
	}
}

// A hang is ended when the user says after how long.
func TestFaultHang(t *testing.T) {
	t.Parallel()
	began := time.Now()
	res, id, err := cause(t, planOf(t, "hangs"), launch.Options{Stall: time.Second, Grace: time.Second})
	if fail.Code(err) != 21 || id != "stalled" || time.Since(began) > 20*time.Second {
		t.Errorf("%q after %v, %+v: %v", id, time.Since(began), res, err)
	}
}

// The figures before a half line are kept, the half line is none.
func TestFaultHalfLine(t *testing.T) {
	t.Parallel()
	p := planOf(t, "half-line")
	p.Follow = []string{"output/log.jsonl"}
	var steps []int
	_, _, err := cause(t, p, launch.Options{OnReport: func(r launch.Report) { steps = append(steps, r.Step) }})
	if fail.Code(err) != 21 || !slices.Equal(steps, []int{1}) {
		t.Errorf("%v: %v", steps, err)
	}
}

// A flood of frames neither fills memory nor the log.
func TestFaultFlood(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	bars := 0
	res, _, err := cause(t, planOf(t, "floods"), launch.Options{Log: &log, OnLine: func(l launch.Line) {
		if l.Bar {
			bars++
		}
	}})
	if fail.Code(err) != 21 || log.Len() > 1000 || bars < 199_000 || res.Event.Step != 199_999 {
		t.Errorf("%d bars, log %q, %+v: %v", bars, log.String(), res.Event, err)
	}
}

// A log that cannot be written stops neither the trainer nor the reading of what
// it says.
func TestFaultOwnDiskFull(t *testing.T) {
	t.Parallel()
	var noted []string
	p := planOf(t, "train")
	p.Follow = []string{"output/log.jsonl"}
	res, _, err := cause(t, p, launch.Options{
		Log: fullDisk{}, OnNote: func(m msg.Localizer) { noted = append(noted, m.In(msg.En)) },
	})
	if err != nil || res.Event.Step != 2 || len(noted) != 1 || !strings.Contains(noted[0], "log is not written") {
		t.Errorf("%v, %+v, notes %q", err, res, noted)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// A trainer that can be asked for a checkpoint is, before it is ended.
func TestStopAsksForACheckpoint(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p, root := planOf(t, "saves"), t.TempDir()
	p.Output, p.SaveFile = "output", "output/save.now"
	var noted []string
	_, _, err := run(t, ctx, p, launch.Options{
		Root: root, Grace: 2 * time.Second, SaveGrace: 30 * time.Second,
		OnLine: func(launch.Line) { cancel() }, OnNote: func(m msg.Localizer) { noted = append(noted, m.In(msg.En)) },
	})
	c, broken := launch.LastCheckpoint(filepath.Join(root, "run", "output"))
	if fail.Code(err) != 130 || c == nil || c.Step != 7 || len(broken) != 0 || !slices.Contains(noted, "checkpoint of step 7 is written") {
		t.Errorf("%v, %+v, %v, notes %q", err, c, broken, noted)
	}
}

// One that does not answer is ended all the same, and not asked again at its next
// start.
func TestStopDoesNotWaitForever(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p, root := planOf(t, "sleep"), t.TempDir()
	p.Output, p.SaveFile = "output", "output/save.now"
	began := time.Now()
	_, _, err := run(t, ctx, p, launch.Options{
		Root: root, Grace: time.Second, SaveGrace: 500 * time.Millisecond, OnLine: func(launch.Line) { cancel() },
	})
	if fail.Code(err) != 130 || time.Since(began) > 20*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
	if _, err := os.Stat(filepath.Join(root, "run", "output", "save.now")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
}

// writeCheckpoint writes a small checkpoint in the layout of the Hugging Face
// trainer, whole.
func writeCheckpoint(output string, step int) error {
	dir := filepath.Join(output, fmt.Sprintf("checkpoint-%d", step))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	header := `{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`
	var errs []error
	for name, text := range map[string]string{
		"adapter_config.json":       `{"peft_type":"LORA","r":1}`,
		"adapter_model.safetensors": string([]byte{byte(len(header)), 0, 0, 0, 0, 0, 0, 0}) + header + "\x00\x00\x00\x00\x00\x00\x80\x3f",
		"optimizer.pt":              emptyZip,
		"trainer_state.json":        fmt.Sprintf(`{"global_step":%d,"max_steps":20,"log_history":[{"step":1,"loss":2.5},{"step":%d,"loss":2.0}]}`, step, step),
	} {
		errs = append(errs, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	return errors.Join(errs...)
}

// emptyZip is an archive without entries.
const emptyZip = "PK\x05\x06" + "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
