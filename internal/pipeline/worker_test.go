package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/drydock-ml/drydock/dedup/contam"
)

func testWorker(t testing.TB) *WorkerScan {
	t.Helper()
	b := checkBench(t)
	ix, err := contam.NewIndex(b.Items, b.Benchmark.Ref(), contam.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return &WorkerScan{Index: ix, IndexSHA256: "i", Program: "p"}
}

// nastyRows are lines that line readers and JSON readers trip over.
func nastyRows(t testing.TB) [][]byte {
	rows := [][]byte{
		rowOf(t, checkStems[0]), rowOf(t, "无关"), []byte("{\"torn\":\n"), []byte("\xff\xfe{}\n"), []byte("\n"),
		[]byte("{\"a\":1}\r\n"), []byte("{\"a\":\r1}\n"), []byte("{\"a\":\"x\u2028y\u0085z\"}\n"), rowOf(t, checkStems[0]),
		rowOf(t, strings.Repeat("长", 2<<20)+checkStems[1]),
	}
	return append(rows, []byte(`{"last":"`+checkStems[2]+`"}`)) // without a line end
}

type workerCount struct {
	T                          string
	Rows, OK, Bad, Hit, Bytes  int64
	Digest, SHA256, Path, Line string
}

// However the lines are dealt out, the lines that come back are the same and the
// counts add up.
func TestWorkerScanAddsUp(t *testing.T) {
	t.Parallel()
	w := testWorker(t)
	rows := nastyRows(t)
	scan := func(part [][]byte) (lines []string, c workerCount) {
		var out bytes.Buffer
		if err := w.Scan(context.Background(), bytes.NewReader(bytes.Join(part, nil)), "", &out); err != nil {
			t.Fatal(err)
		}
		all := strings.SplitAfter(strings.TrimSuffix(out.String(), "\n"), "\n")
		if err := json.Unmarshal([]byte(all[len(all)-1]), &c); err != nil || c.T != "count" {
			t.Fatalf("%v: the last line is %q", err, all[len(all)-1])
		}
		return all[:len(all)-1], c
	}
	lines, whole := scan(rows)
	if whole.Rows != 11 || whole.Bad != 3 || whole.OK != 8 || whole.Hit != 4 {
		t.Errorf("%+v", whole)
	}
	for _, l := range lines {
		if !json.Valid([]byte(l)) {
			t.Errorf("no JSON: %s", l)
		}
	}
	slices.Sort(lines)
	for _, n := range []int{2, 3, 11} {
		var parts []string
		var sum workerCount
		digest := new(big.Int)
		for i := range n {
			var part [][]byte
			for k := i; k < len(rows); k += n {
				r := rows[k]
				if !bytes.HasSuffix(r, []byte("\n")) && k+n < len(rows) {
					r = append(r, '\n')
				}
				part = append(part, r)
			}
			l, c := scan(part)
			for _, s := range l {
				parts = append(parts, strings.TrimSuffix(s, "\n")+"\n")
			}
			sum.Rows, sum.OK, sum.Bad, sum.Hit, sum.Bytes = sum.Rows+c.Rows, sum.OK+c.OK, sum.Bad+c.Bad, sum.Hit+c.Hit, sum.Bytes+c.Bytes
			d, _ := new(big.Int).SetString(c.Digest, 16)
			digest.Add(digest, d)
		}
		slices.Sort(parts)
		for i := range lines {
			lines[i] = strings.TrimSuffix(lines[i], "\n") + "\n"
		}
		slices.Sort(lines)
		digest.And(digest, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1)))
		if !slices.Equal(parts, lines) || sum.Rows != whole.Rows || sum.Bytes != whole.Bytes || sum.Hit != whole.Hit || fmt.Sprintf("%064x", digest) != whole.Digest {
			t.Errorf("%d parts: %+v, want %+v", n, sum, whole)
		}
	}
}

// A shard may be compressed; its own hash and its lines' numbers are told.
func TestWorkerPath(t *testing.T) {
	t.Parallel()
	w := testWorker(t)
	dir := t.TempDir()
	text := bytes.Join(nastyRows(t), nil)
	var gz bytes.Buffer
	z := gzip.NewWriter(&gz)
	z.Write(text)
	z.Close()
	var outs []string
	for name, data := range map[string][]byte{"a.jsonl": text, "a.jsonl.gz": gz.Bytes()} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := w.Path(context.Background(), path, &out); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), `"line":9`) || !strings.Contains(out.String(), `"sha256":"`) {
			t.Errorf("%s: %s", name, out.String())
		}
		quoted, _ := json.Marshal(path)
		outs = append(outs, strings.ReplaceAll(out.String(), string(quoted), `"P"`))
	}
	if outs[0] != outs[1] {
		t.Error("the compressed shard gives other lines")
	}
	if err := w.Path(context.Background(), filepath.Join(dir, "none"), new(bytes.Buffer)); err == nil {
		t.Error("a missing shard ends well")
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, fmt.Errorf("pipe") }

func TestWorkerWriteError(t *testing.T) {
	t.Parallel()
	if err := testWorker(t).Scan(context.Background(), strings.NewReader("{}\n"), "", brokenWriter{}); err == nil {
		t.Error("a broken pipe ends well")
	}
}
