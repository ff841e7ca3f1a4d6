package pipeline

import (
	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/spec"

	"go.yaml.in/yaml/v3"
)

// ThresholdsConfig holds the settings of the contamination check, as drydock.yaml
// has them under contamination.thresholds and as a file of their own.
type ThresholdsConfig struct {
	spec.Place
	contam.Config
}

// ReadThresholds reads a file of thresholds, YAML or JSON. The name is that of
// messages.
func ReadThresholds(file string, src []byte) (contam.Config, fail.List) {
	d := spec.Parse(file, src)
	if d.Root == nil {
		return contam.Config{}, d.Findings()
	}
	var t ThresholdsConfig
	d.Decode(d.Root, &t, msg.Text{"the file", "该文件"})
	t.check(d, d.Root)
	return t.Config, d.Findings()
}

// check reports values that no check can have.
func (t *ThresholdsConfig) check(d *spec.Document, n *yaml.Node) {
	if len(d.Findings()) > 0 {
		return
	}
	if err := t.Config.Check(); err != nil {
		reportErr(d, n, err)
	}
}
