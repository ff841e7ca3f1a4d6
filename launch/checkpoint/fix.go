package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// A Change is one file that a fix writes or takes away.
type Change struct {
	File   string `json:"file"`
	Action string `json:"action"`           // write, copy (from the base) or remove
	Backup string `json:"backup,omitempty"` // what was there; "" when nothing was
	data   []byte
}

// A FixPlan is how a model is mended. It touches no weights.
type FixPlan struct {
	Findings []Finding // what it mends
	Changes  []Change  // in the order they are made
	dir      string
}

// PlanFix says how a merged or fully trained model is given what its base has:
// config.json in both spellings, the tokenizer's files, the chat template, the
// stop tokens. A model with a fault of another kind is refused: mended halves
// look whole.
func PlanFix(dir, base string) (*FixPlan, error) {
	if IsAdapter(dir) {
		return nil, fail.New(fail.Refused, msg.Text{"%s is an adapter: nothing of it is mended; its base's own files are served", "%s 是适配器：无需修复；部署时使用基座自己的文件"}, dir)
	}
	p := &FixPlan{dir: dir}
	for _, f := range CheckModel(dir, base) {
		switch {
		case f.Fixable:
			p.Findings = append(p.Findings, f)
		case f.Severity == Error:
			e := f.Err()
			return nil, e.Hint(msg.Text{"this cannot be mended from the base; nothing was changed", "此问题无法由基座修复；未做任何更改"})
		}
	}
	if len(p.Findings) == 0 {
		return p, nil
	}
	return p, p.plan(base)
}

// touches reports whether a finding is about one of some files.
func (p *FixPlan) touches(files ...string) bool {
	return slices.ContainsFunc(p.Findings, func(f Finding) bool { return slices.Contains(files, f.File) })
}

func (p *FixPlan) plan(base string) error {
	if p.touches(configFile) {
		c, err := readObject(filepath.Join(p.dir, configFile))
		if err != nil {
			return err
		}
		b, err := readObject(filepath.Join(base, configFile))
		if err != nil {
			return err
		}
		data, err := mendConfig(c, b)
		if err != nil {
			return err
		}
		if err := p.put(configFile, "write", data); err != nil {
			return err
		}
	}
	var restore []string
	if p.touches(tokenizerFiles[:]...) {
		restore = append(restore, tokenizerFiles[:]...)
	}
	if p.touches(generationFile) {
		restore = append(restore, generationFile)
	}
	for _, name := range restore {
		data, err := os.ReadFile(filepath.Join(base, name))
		switch {
		case errors.Is(err, os.ErrNotExist) && name == templateFile:
			// the base's template stands in tokenizer_config.json; a file would win
			err = p.put(name, "remove", nil)
		case errors.Is(err, os.ErrNotExist):
			err = nil // trainers write more files than the base has; they say the same
		case err == nil:
			err = p.put(name, "copy", data)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// put adds a change unless the file is so already.
func (p *FixPlan) put(name, action string, data []byte) error {
	old, err := os.ReadFile(filepath.Join(p.dir, name))
	there := err == nil
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if there == (action != "remove") && bytes.Equal(old, data) {
		return nil
	}
	if !there && action == "remove" {
		return nil
	}
	c := Change{File: name, Action: action, data: data}
	if there {
		sum := sha256.Sum256(old)
		c.Backup = name + ".before-fix-" + hex.EncodeToString(sum[:4])
	}
	p.Changes = append(p.Changes, c)
	return nil
}

// Apply makes the changes. Each file is replaced whole, after what was there is
// kept under a name with its hash; a run that is cut leaves files that are old
// or new, and a second run does the rest.
func (p *FixPlan) Apply() error {
	for _, c := range p.Changes {
		path := filepath.Join(p.dir, c.File)
		if c.Backup != "" {
			old, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if err := atomicfile.WriteFile(filepath.Join(p.dir, c.Backup), old); err != nil {
				return err
			}
		}
		if c.Action == "remove" {
			if err := os.Remove(path); err != nil {
				return err
			}
			continue
		}
		if err := atomicfile.WriteFile(path, c.data); err != nil {
			return err
		}
	}
	return nil
}
