package cli_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/drydock-ml/drydock/internal/cli"
	"github.com/drydock-ml/drydock/launch/vllm/vllmtest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"drydock":     func() { os.Exit(cli.Main(os.Args[1:], cli.OS())) },
		"faketrainer": fakeTrainer,
		"fakesteps":   fakeSteps,
		"vllm":        vllmtest.Main,
		"fakesweep":   fakeSweep,
		"fakescore":   fakeScore,
	})
}

// fakeTrainer reports like a trainer and exits with the code it is given.
func fakeTrainer() {
	os.Stdout.WriteString("{'loss': 1.5, 'learning_rate': 1e-05, 'epoch': 0.5}\n{'loss': 0.5, 'learning_rate': 1e-06, 'epoch': 1.0}\n")
	switch os.Args[1] {
	case "fail":
		os.Stderr.WriteString("CUDA out of memory\n")
		os.Exit(9)
	case "wait":
		_ = os.WriteFile("ready", nil, 0o644)
		time.Sleep(time.Minute)
		_ = os.WriteFile("done", nil, 0o644)
	}
}

const scripts = "../../testdata/script"

// TestScripts runs every script of testdata/script, one folder per command.
func TestScripts(t *testing.T) {
	t.Parallel()
	dirs, err := os.ReadDir(scripts)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dirs {
		t.Run(d.Name(), func(t *testing.T) {
			t.Parallel()
			testscript.Run(t, testscript.Params{
				Dir:                 filepath.Join(scripts, d.Name()),
				RequireUniqueNames:  true,
				RequireExplicitExec: true,
				Setup: func(e *testscript.Env) error {
					e.Setenv("DRYDOCK_HOME", filepath.Join(e.WorkDir, ".home"))
					interop, err := filepath.Abs("../../dataprep/format/testdata/interop")
					e.Setenv("INTEROP", interop)
					return err
				},
				Cmds: map[string]func(*testscript.TestScript, bool, []string){
					"code":      cmdCode,
					"jsonout":   cmdJSONOut,
					"samebytes": cmdSameBytes,
					"docx":      cmdDocx,
					"shards":    cmdShards,
					"pack":      cmdPack,
					"waitfile":  cmdWaitFile,
					"serve":     cmdServe,
					"judge":     cmdJudge,

					"safetensors": cmdSafetensors,
					"weights":     cmdWeights,
					"freeport":    cmdFreePort,
					"waittext":    cmdWaitText,
				},
			})
		})
	}
}
