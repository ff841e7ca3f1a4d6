package cli

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/pipeline"
	"github.com/drydock-ml/drydock/launch"
)

// isConfig reports a file that configures something, where others hold rows.
func isConfig(name string) bool {
	ext := strings.ToLower(filepath.Ext(name))
	return ext == ".yaml" || ext == ".yml" || filepath.Base(name) == emit.DatasetInfoName
}

// lintConfig finds what is wrong with one configuration: drydock.yaml, a trainer's
// own training file, or LLaMA-Factory's dataset_info.json. trainer is the one that
// was named; "": found by what the file says.
func (a *app) lintConfig(name, trainer, home string) (launch.Findings, error) {
	if filepath.Base(name) == emit.DatasetInfoName {
		if trainer != "" && trainer != "llamafactory" {
			return nil, fail.New(fail.Usage, msg.Text{"%s is a file of LLaMA-Factory, not of %s", "%s 是 LLaMA-Factory 的文件，不是 %s 的"}, name, trainer)
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return nil, a.cannotRead(name, err)
		}
		return launch.LintDatasetInfo(name, src), nil
	}
	src, err := os.ReadFile(name)
	if trainer != "" && err != nil {
		return nil, a.cannotRead(name, err)
	}
	if trainer == "" && err == nil && filepath.Base(name) != pipeline.ConfigName {
		trainer = trainerOf(src)
	}
	if trainer != "" {
		return launch.CheckConfig(trainer, "", name, src), nil
	}
	var out launch.Findings
	_, found := pipeline.LoadFor(name, home)
	for _, e := range found {
		out = append(out, launch.Finding{Error: e})
	}
	return out, nil
}

// trainerOf says whose training file a YAML file is; "" for one of drydock's, which
// has a version and sources.
func trainerOf(src []byte) string {
	for line := range strings.Lines(string(src)) {
		if strings.HasPrefix(line, "sources:") || strings.HasPrefix(line, "version:") {
			return ""
		}
	}
	return launch.TrainerOf(src)
}
