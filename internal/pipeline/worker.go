package pipeline

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"math/big"
	"os"
	"strconv"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/internal/archive"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// A WorkerScan checks lines of JSON for an engine that deals them out: typed
// lines come back, hit and bad as they are met, and one count line at the end,
// without which the output is torn. Nothing in it depends on how the lines were
// dealt, on the clock or on the machine.
type WorkerScan struct {
	Index       *contam.Index
	IndexSHA256 string // of the index file
	Program     string // names the program's own bytes
}

// badHead bytes of a line that is no JSON are shown.
const badHead = 64

// Scan reads lines that end with LF, and nothing but LF, until the stream ends.
// path, in hits and the count, is empty for lines that are dealt out one by one.
func (w *WorkerScan) Scan(ctx context.Context, in io.Reader, path string, out io.Writer) error {
	t := workerTally{digest: new(big.Int)}
	scanner := w.Index.Scanner()
	whole := sha256.New()
	r := bufio.NewReaderSize(io.TeeReader(in, whole), 256<<10)
	var buf, long []byte
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		line, err := r.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			long = append(long, line...)
			continue
		case err != nil && err != io.EOF:
			return err
		}
		if len(long) > 0 {
			long = append(long, line...)
			line, long = long, long[:0]
		}
		if len(line) > 0 {
			buf = t.line(buf[:0], scanner, bytes.TrimSuffix(line, []byte("\n")), path)
			if _, err := out.Write(buf); err != nil {
				return err
			}
		}
		if err == io.EOF {
			break
		}
	}
	buf = t.count(buf[:0], w, path, hex.EncodeToString(whole.Sum(nil)))
	_, err := out.Write(buf)
	return err
}

// Path checks one shard: a file of lines, which may be compressed.
func (w *WorkerScan) Path(ctx context.Context, path string, out io.Writer) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 64<<10)
	head, _ := r.Peek(archive.HeadSize)
	k := archive.Detect(head)
	if !k.Compressor() {
		return w.Scan(ctx, r, path, out)
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return archive.NewBudget(archive.DefaultLimits()).Walk(k, archive.Source{Reader: r, Size: info.Size()}, 1, func(m archive.Member) error {
		return w.Scan(ctx, m.Reader, path, out)
	}, nil)
}

// workerTally counts lines.
type workerTally struct {
	rows, ok, bad, hit int
	bytes              int64
	digest             *big.Int // sum of the lines' SHA-256
}

// line checks one line and appends what is to be said of it.
func (t *workerTally) line(dst []byte, s *contam.Scanner, line []byte, path string) []byte {
	t.rows++
	t.bytes += int64(len(line))
	sum := sha256.Sum256(line)
	t.digest.Add(t.digest, new(big.Int).SetBytes(sum[:]))
	name := hex.EncodeToString(sum[:16])
	found, err := s.Row(line)
	if err != nil {
		t.bad++
		dst = append(dst, `{"t":"bad"`...)
		dst = appendWorkerPlace(dst, name, path, t.rows)
		dst = strconv.AppendInt(append(dst, `,"len":`...), int64(len(line)), 10)
		dst = drydock.AppendJSONString(append(dst, `,"err":`...), err.Error())
		dst = append(dst, `,"head":"`...)
		dst = base64.StdEncoding.AppendEncode(dst, line[:min(len(line), badHead)])
		return append(dst, "\"}\n"...)
	}
	t.ok++
	if len(found) > 0 {
		t.hit++
	}
	for i := range found {
		f := &found[i]
		dst = append(dst, `{"t":"hit"`...)
		dst = appendWorkerPlace(dst, name, path, t.rows)
		dst = append(dst, `,"finding":`...)
		dst = f.Append(dst)
		dst = append(dst[:len(dst)-1], "}\n"...) // its line end goes behind
	}
	return dst
}

// appendWorkerPlace names a line: by its hash, and in a shard by its number.
func appendWorkerPlace(dst []byte, sum, path string, n int) []byte {
	dst = append(append(append(dst, `,"sha":"`...), sum...), '"')
	if path == "" {
		return dst
	}
	dst = drydock.AppendJSONString(append(dst, `,"path":`...), path)
	return strconv.AppendInt(append(dst, `,"line":`...), int64(n), 10)
}

func (t *workerTally) count(dst []byte, w *WorkerScan, path, whole string) []byte {
	dst = append(dst, `{"t":"count"`...)
	if path != "" {
		dst = drydock.AppendJSONString(append(dst, `,"path":`...), path)
		dst = append(append(append(dst, `,"sha256":"`...), whole...), '"')
	}
	for _, n := range []struct {
		name string
		n    int64
	}{{"rows", int64(t.rows)}, {"ok", int64(t.ok)}, {"bad", int64(t.bad)}, {"hit", int64(t.hit)}, {"bytes", t.bytes}} {
		dst = append(append(append(dst, `,"`...), n.name...), `":`...)
		dst = strconv.AppendInt(dst, n.n, 10)
	}
	digest := new(big.Int).And(t.digest, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1)))
	sum := make([]byte, 32)
	dst = append(dst, `,"digest":"`...)
	dst = hex.AppendEncode(dst, digest.FillBytes(sum))
	dst = drydock.AppendJSONString(append(dst, `","index":`...), w.IndexSHA256)
	dst = drydock.AppendJSONString(append(dst, `,"config":`...), w.Index.ConfigHash())
	dst = drydock.AppendJSONString(append(dst, `,"program":`...), w.Program)
	return append(dst, "}\n"...)
}

// ReadIndexFile reads an index file and returns its SHA-256 beside it.
func ReadIndexFile(path string) (*contam.Index, string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, "", fail.New(fail.Usage, msg.Text{"%v", "%v"}, err)
	}
	ix, err := contam.ReadIndex(b)
	if err != nil {
		var e *fail.Error
		if errors.As(err, &e) {
			e.At(fail.Where{File: path})
		}
		return nil, "", err
	}
	sum := sha256.Sum256(b)
	return ix, hex.EncodeToString(sum[:]), nil
}
