package pipeline

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/runstore"
)

// eachLine calls do with every line of a file, line end included. The line is
// valid until the next.
func eachLine(path string, do func(line []byte) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 256<<10)
	var long []byte
	for {
		line, err := r.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			long = append(long, line...)
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return err
		}
		if long != nil {
			long = append(long, line...)
			line, long = long, nil
		}
		if len(line) > 0 {
			if err := do(line); err != nil {
				return err
			}
		}
		if err != nil {
			return nil
		}
	}
}

// dropStep reads the step of a drop row without decoding the rest.
func dropStep(line []byte) (string, error) {
	var row struct {
		Step string `json:"step"`
	}
	err := json.Unmarshal(line, &row)
	return row.Step, err
}

// partNumber reads the number of part-000123.something.
func partNumber(name string, n *int) bool {
	_, err := fmt.Sscanf(name, "part-%06d.", n)
	return err == nil
}

// writeStats writes a stage's stats.json: exactly its sums.
func writeStats(s runstore.Stage, sums drydock.Sums) error {
	if sums.Dropped == nil {
		sums.Dropped = map[string]int{}
	}
	b, err := json.MarshalIndent(sums, "", " ")
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(s.Path("stats.json"), append(b, '\n'))
}

// counts writes reasons with their counts, commonest first.
func counts(m map[string]int) msg.List {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int {
		if m[a] != m[b] {
			return m[b] - m[a]
		}
		return strings.Compare(a, b)
	})
	for i, k := range keys {
		keys[i] = fmt.Sprintf("%s %d", k, m[k])
	}
	return keys
}

// concat joins chunks in order into one file and removes them. It returns what
// the file holds. After a crash the chunks are made again.
func concat(to string, chunks []string) (size int64, rows int, err error) {
	err = atomicfile.Write(to, func(w io.Writer) error {
		cw := &lineCounter{w: w}
		for _, c := range chunks {
			f, err := os.Open(c)
			if err != nil {
				return err
			}
			_, err = io.Copy(cw, f)
			f.Close()
			if err != nil {
				return err
			}
		}
		size, rows = cw.n, cw.lines
		return nil
	})
	if err != nil {
		return 0, 0, err
	}
	for _, c := range chunks {
		if err := os.Remove(c); err != nil {
			return size, rows, err
		}
	}
	return size, rows, nil
}

type lineCounter struct {
	w     io.Writer
	n     int64
	lines int
}

func (c *lineCounter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	c.lines += bytes.Count(b[:n], []byte{'\n'})
	return n, err
}
