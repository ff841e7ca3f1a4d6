package format_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/internal/parallel"
)

// fedRows are the rows of a file and their lines, read by a feed on several
// goroutines, and by its units.
func fedRows(t *testing.T, text string) (fed, cut []string, feed *format.Feed) {
	t.Helper()
	f, kind, err := format.Open(nil, fileOf(t, "f.jsonl", []byte(text)), format.Options{}, nil)
	ok(t, err)
	rowsOf := func(u format.Unit) (rows []string) {
		for b, err := range kind.Document(u, nil).Blocks(t.Context()) {
			if err != nil {
				rows = append(rows, err.Error())
				continue
			}
			rows = append(rows, fmt.Sprintf("%d %x", b.At.Line, sha256.Sum256(b.Raw)))
		}
		return rows
	}
	units, err := kind.Units(t.Context(), f)
	ok(t, err)
	for _, u := range units {
		cut = append(cut, rowsOf(u)...)
	}
	feed, err = kind.Feed(f)
	ok(t, err)
	if feed == nil {
		t.Fatal("no feed")
	}
	t.Cleanup(feed.Close)
	parts := make([][]string, feed.Most())
	firsts := make([]string, feed.Most()) // of the unit behind
	err = parallel.Each(t.Context(), 4, feed.Most(), func(ctx context.Context, i int) error {
		u, behind, err := feed.Unit(ctx, i)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		defer feed.Done(u)
		parts[i] = rowsOf(u)
		if behind.End > 0 {
			firsts[i] = rowsOf(behind)[0]
		}
		return nil
	})
	ok(t, err)
	for i, rows := range parts {
		if i > 0 && len(rows) > 0 && firsts[i-1] != rows[0] {
			t.Errorf("unit %d begins with %s, the one before saw %s behind it", i, rows[0], firsts[i-1])
		}
		fed = append(fed, rows...)
	}
	return fed, cut, feed
}

func TestFeed(t *testing.T) {
	t.Parallel()
	row := func(n int) string { return `{"text":"` + strings.Repeat("锚", n/3) + `"}` + "\n" }
	var many strings.Builder
	for n := 0; many.Len() < 5<<20; n++ {
		many.WriteString(row(n % 9000))
	}
	for name, text := range map[string]string{
		"one row":          row(10),
		"no line end":      strings.TrimSpace(row(10)),
		"many":             many.String(),
		"torn at the end":  many.String() + `{"text":`,
		"with a mark":      "\xEF\xBB\xBF" + many.String(),
		"ends at a border": strings.Repeat(row(1<<10-13), 1<<20/(1<<10-1)) + "\n\n",
		"long rows":        row(300<<10) + row(3<<20) + row(9<<20) + row(20) + row(5<<20) + row(6<<20),
		"one long row":     row(7 << 20),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fed, cut, feed := fedRows(t, text)
			if d := cmp.Diff(cut, fed); d != "" {
				t.Error(d)
			}
			sum := sha256.Sum256([]byte(text))
			if got := feed.SHA256(); got != hex.EncodeToString(sum[:]) {
				t.Errorf("the hash is %q", got)
			}
		})
	}
}

// Files that are not cut by their bytes have no feed.
func TestNoFeed(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"u.jsonl": "\xFF\xFE{\x00}\x00\n\x00",
		"g.jsonl": "{\"a\":\"" + strings.Repeat("\xc4\xe3\xba\xc3", 400) + "\"}\n", // GB18030
		"a.json":  `[{"a":1}]`,
		"t.txt":   "text\n",
	} {
		f, kind, err := format.Open(nil, fileOf(t, name, []byte(text)), format.Options{}, nil)
		ok(t, err)
		if feed, err := kind.Feed(f); feed != nil || err != nil {
			t.Errorf("%s: a feed, %v", name, err)
		}
	}
}

// A file that becomes shorter is an error, once; what waits is not left waiting when
// its turn cannot come.
func TestFeedErrors(t *testing.T) {
	t.Parallel()
	path := fileOf(t, "f.jsonl", bytes.Repeat([]byte(`{"a":"锚"}`+"\n"), 300_000))
	f, kind, err := format.Open(nil, path, format.Options{}, nil)
	ok(t, err)
	feed, err := kind.Feed(f)
	ok(t, err)
	defer feed.Close()
	ok(t, os.Truncate(path, 2<<20))
	var said []string
	for i := range feed.Most() {
		if _, _, err := feed.Unit(t.Context(), i); err != nil {
			said = append(said, err.Error())
		}
	}
	if len(said) < 2 || said[0] == io.EOF.Error() || said[1] != io.EOF.Error() || feed.SHA256() != "" {
		t.Errorf("said %q, hash %q", said, feed.SHA256())
	}
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	waits := parallel.Go(func() error {
		_, _, err := feed.Unit(ctx, 1000)
		return err
	})
	cancel(stop)
	if err := waits.Wait(); !errors.Is(err, stop) {
		t.Errorf("waiting ended with %v", err)
	}
}
