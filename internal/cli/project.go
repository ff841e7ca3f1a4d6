package cli

import (
	"os"
	"strings"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/pipeline"
	"github.com/drydock-ml/drydock/internal/runstore"
	"github.com/drydock-ml/drydock/internal/training"
)

// loadProject reads the drydock.yaml in use. All its findings come back as one
// error.
func (a *app) loadProject() (*pipeline.Config, error) {
	cfg, findings := pipeline.Load(a.configFile())
	return cfg, findings.OrNil()
}

// runEnv is what the machine gives a run whose stages are kept: they belong to
// this very program, whose bytes are hashed.
func (a *app) runEnv() (pipeline.Env, error) {
	env, err := a.pipelineEnv()
	if err == nil {
		env.Tool = pipeline.Program(buildVersion().Version)
	}
	return env, err
}

// pipelineEnv is what the machine gives work that keeps no stages.
func (a *app) pipelineEnv() (pipeline.Env, error) {
	home, err := a.host.home()
	if err != nil {
		return pipeline.Env{}, err
	}
	host := ""
	if a.host.Hostname != nil {
		host, _ = a.host.Hostname() // a machine without a name is no reason to stop
	}
	return pipeline.Env{
		Env: training.Env{
			Now: a.host.Now, Environ: a.programEnv(), Programs: a.host.Trainers, Host: host, PID: a.host.PID,
			Tool: runstore.Tool{Version: buildVersion().Version},
		},
		Home: home, CacheDir: a.host.cache(), HTTP: a.host.HTTP, APIKey: a.host.Getenv("DRYDOCK_API_KEY"),
		Password: a.host.Getenv("DRYDOCK_PASSWORD"),
	}, nil
}

// programEnv is the environment of started programs: ours without the
// secrets, which none of them needs.
func (a *app) programEnv() []string {
	if a.host.Environ == nil {
		return nil
	}
	var env []string
	for _, kv := range a.host.Environ() {
		if !strings.HasPrefix(kv, "DRYDOCK_API_KEY=") && !strings.HasPrefix(kv, "DRYDOCK_PASSWORD=") {
			env = append(env, kv)
		}
	}
	return env
}

// apiKey reads the key from a file, else from the environment.
func (a *app) apiKey(file string) (string, error) {
	if file == "" {
		return a.host.Getenv("DRYDOCK_API_KEY"), nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return "", fail.New(fail.Usage, msg.Text{"--api-key-file: %v", "--api-key-file：%v"}, err)
	}
	key := strings.TrimSpace(string(b))
	if key == "" || strings.ContainsAny(key, "\r\n") {
		return "", fail.New(fail.Usage, msg.Text{"--api-key-file %s: want one line with the key", "--api-key-file %s：应为一行密钥"}, file)
	}
	return key, nil
}
