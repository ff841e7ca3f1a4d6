package runstore

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/atomicfile"
)

// A Project is a folder with a drydock.yaml.
type Project struct {
	Dir string // where drydock.yaml lies
}

// Runs is the folder of the project's runs.
func (p Project) Runs() string { return filepath.Join(p.Dir, "runs") }

// Path is the place of a file that a configuration names, with slashes: a
// relative one starts at the project.
func (p Project) Path(name string) string {
	name = filepath.FromSlash(name)
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(p.Dir, name)
}

// A Stage is the folder of one stage.
type Stage struct {
	Dir string // .drydock/stages/NN-name
}

// Stage returns the folder of the n-th stage; it need not exist.
func (p Project) Stage(n int, name string) Stage {
	return Stage{filepath.Join(p.Dir, ".drydock", "stages", fmt.Sprintf("%02d-%s", n, name))}
}

// Path joins a name to the stage's folder.
func (s Stage) Path(name string) string { return filepath.Join(s.Dir, name) }

// Key hashes what decides the outcome of a stage, or of a training. Each part is
// hashed by itself first, so that no two lists of parts give the same bytes.
func Key(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		s := sha256.Sum256([]byte(p))
		h.Write(s[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Done is the content of a stage's DONE file.
type Done struct {
	Key string `json:"key"`
	// Files maps a path, relative to the project and with slashes, to the
	// sha256 of its bytes.
	Files map[string]string `json:"files"`
}

// Done reads DONE. ok is false when the stage did not finish.
func (s Stage) Done() (d Done, ok bool) {
	b, err := os.ReadFile(s.Path("DONE"))
	if err != nil || json.Unmarshal(b, &d) != nil {
		return Done{}, false
	}
	return d, true
}

// Finish writes DONE; files are hashed here, as they are on disk.
func (s Stage) Finish(p Project, key string, files []string) (Done, error) {
	d := Done{Key: key, Files: map[string]string{}}
	for _, f := range files {
		sum, err := HashFile(f)
		if err != nil {
			return d, err
		}
		rel, err := filepath.Rel(p.Dir, f)
		if err != nil {
			rel = f
		}
		d.Files[filepath.ToSlash(rel)] = sum
	}
	return d, writeJSON(s.Path("DONE"), d)
}

// writeJSON writes v as a whole file that people can read.
func writeJSON(path string, v any) error {
	line, err := drydock.MarshalJSON(v)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, line, "", " "); err != nil {
		return err
	}
	b.WriteByte('\n')
	return atomicfile.WriteFile(path, b.Bytes())
}

// Intact reports whether the files DONE names are still as they were; if not,
// which one changed.
func (d Done) Intact(p Project) (changed string, ok bool) {
	for name, want := range d.Files {
		if got, err := HashFile(filepath.Join(p.Dir, filepath.FromSlash(name))); err != nil || got != want {
			return name, false
		}
	}
	return "", true
}

// Reset removes DONE first, so that a stage cut in the middle never looks
// finished, and makes the folder.
func (s Stage) Reset() error {
	if err := os.Remove(s.Path("DONE")); err != nil && !os.IsNotExist(err) {
		return err
	}
	return os.MkdirAll(s.Dir, 0o755)
}

// Sweep removes temporary files and folders that a killed process left in dir.
func Sweep(dir string) error {
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".tmp-") {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// SweepTree is [Sweep] for dir and every folder below it.
func SweepTree(dir string) error {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = Sweep(path)
		}
		if os.IsNotExist(err) {
			return nil // swept, or never there
		}
		return err
	})
	return err
}

// HashFile returns the sha256 of a file's bytes as hex.
func HashFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
