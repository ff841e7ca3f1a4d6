package runstore

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/drydock-ml/drydock"
)

// A Query is one run that asked a model a benchmark's items. Choosing among
// models by the items they are judged on biases the judgement, so it is counted
// how often that was possible.
type Query struct {
	Benchmark string `json:"benchmark"` // name@revision
	Items     string `json:"items"`     // hash of the items
	Model     string `json:"model"`
	Run       string `json:"run"` // hash of everything the answers depend on
}

// CountQuery notes a query in a file, one a line, and returns how many of its
// items there are now. A run that goes on where it stopped is the same query;
// again has it counted all the same.
func CountQuery(path string, q Query, again bool) (int, error) {
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	n, known := 0, false
	for line := range bytes.Lines(data) {
		var old Query
		if json.Unmarshal(line, &old) != nil || old.Items != q.Items {
			continue
		}
		n++
		known = known || old == q
	}
	if known && !again {
		return n, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return 0, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return 0, err
	}
	row, err := drydock.MarshalJSON(q)
	if err != nil {
		return 0, errors.Join(err, f.Close())
	}
	if len(data) > 0 && data[len(data)-1] != '\n' {
		row = append([]byte{'\n'}, row...)
	}
	_, err = f.Write(append(row, '\n'))
	return n + 1, errors.Join(err, f.Close())
}
