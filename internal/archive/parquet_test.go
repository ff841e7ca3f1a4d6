package archive

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/snappy"

	"github.com/drydock-ml/drydock/internal/golden"
)

// thriftWriter writes the compact protocol for tests: fields of one structure.
type thriftWriter struct {
	b    []byte
	last int
}

func (w *thriftWriter) field(n int, kind byte) {
	w.b = append(w.b, byte(n-w.last)<<4|kind)
	w.last = n
}

func (w *thriftWriter) int(n int, v int64) *thriftWriter {
	w.field(n, 6)
	for u := uint64(v<<1) ^ uint64(v>>63); ; u >>= 7 {
		if u < 0x80 {
			w.b = append(w.b, byte(u))
			return w
		}
		w.b = append(w.b, byte(u)|0x80)
	}
}

func (w *thriftWriter) sub(n int, s *thriftWriter) *thriftWriter {
	w.field(n, 12)
	w.b = append(append(w.b, s.b...), 0)
	return w
}

func (w *thriftWriter) structs(n int, list ...*thriftWriter) *thriftWriter {
	w.field(n, 9)
	w.b = append(w.b, byte(len(list))<<4|12)
	for _, s := range list {
		w.b = append(append(w.b, s.b...), 0)
	}
	return w
}

func (w *thriftWriter) names(n int, list ...string) *thriftWriter {
	w.field(n, 9)
	w.b = append(w.b, byte(len(list))<<4|8)
	for _, s := range list {
		w.b = append(append(w.b, byte(len(s))), s...)
	}
	return w
}

// parquetOf is a file of one column with one page, packed by a codec.
func parquetOf(codec int64, text string, packed []byte) []byte {
	b := []byte("PAR1")
	head := new(thriftWriter).int(1, 0).int(2, int64(len(text))).int(3, int64(len(packed))).sub(5, new(thriftWriter).int(1, 1))
	page := append(append(head.b, 0), packed...)
	column := new(thriftWriter).int(1, 6).names(3, "message", "text").int(4, codec).int(7, int64(len(page))).int(9, int64(len(b)))
	b = append(b, page...)
	meta := new(thriftWriter).int(1, 2).structs(4, new(thriftWriter).structs(1, new(thriftWriter).sub(3, column)))
	foot := append(meta.b, 0)
	return append(append(append(b, foot...), byte(len(foot)), byte(len(foot)>>8), 0, 0), "PAR1"...)
}

func pages(b []byte) (seen []string) {
	budget := NewBudget(DefaultLimits())
	err := budget.Parquet(bytes.NewReader(b), int64(len(b)), func(p Page) error {
		seen = append(seen, p.Column+"="+string(p.Data))
		return nil
	}, func(column string, err error) { seen = append(seen, column+": "+err.Error()) })
	if err != nil {
		seen = append(seen, err.Error())
	}
	return seen
}

func TestParquet(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("锚泊须知", 20)
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"plain":   {parquetOf(0, text, []byte(text)), "message.text=" + text},
		"snappy":  {parquetOf(1, text, snappy.Encode(nil, []byte(text))), "message.text=" + text},
		"gzip":    {parquetOf(2, text, gzipOf([]byte(text))), "message.text=" + text},
		"zstd":    {parquetOf(6, text, zstdOf(t, []byte(text))), "message.text=" + text},
		"brotli":  {parquetOf(4, text, []byte("x")), "message.text: column message.text is packed by Brotli and was not looked into"},
		"torn":    {parquetOf(1, text, []byte("\xff\xff\xff\xff\xff")), "message.text: the parquet archive is damaged"},
		"no foot": {[]byte("PAR1 and no more of it"), "the parquet archive is damaged"},
	} {
		if got := strings.Join(pages(c.data), "|"); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Real files of other writers: every page of the codecs that are opened is.
func TestRealParquet(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(golden.RealData(t, "parquet-testing"), "*", "*.parquet"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v: no files", err)
	}
	whole := 0
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		seen := pages(b)
		bad := ""
		for _, s := range seen {
			if !strings.Contains(s, "=") || strings.Contains(s, "damaged") || strings.Contains(s, "packed by") {
				bad = s
			}
		}
		if bad == "" && len(seen) > 0 {
			whole++
		} else {
			t.Logf("%s: %d pages, %.80q", filepath.Base(f), len(seen), bad)
		}
	}
	t.Logf("%d of %d files whole", whole, len(files))
	if whole < len(files)/2 {
		t.Errorf("only %d of %d files could be opened", whole, len(files))
	}
}

func FuzzParquet(f *testing.F) {
	f.Add(parquetOf(0, "text", []byte("text")))
	f.Add(parquetOf(1, "text", snappy.Encode(nil, []byte("text"))))
	f.Add(parquetOf(6, "text", zstdOf(f, []byte("text"))))
	f.Fuzz(func(_ *testing.T, b []byte) { pages(b) })
}
