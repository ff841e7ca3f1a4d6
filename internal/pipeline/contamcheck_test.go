package pipeline

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/eval/benchmark"
)

var checkStems = []string{
	"船舶在浓雾中抛锚等候引航员时，值班驾驶员首先应当核实______。",
	"下列关于救生艇降落操作的说法，哪一项最容易造成人员受伤？",
	"Before the boiler is blown down the engineer on watch should first make sure that ______.",
}

func checkBench(t testing.TB) *Bench {
	t.Helper()
	b := &Bench{Name: "quay", Benchmark: nil}
	for i, stem := range checkStems {
		q := drydock.Question{Kind: drydock.Single, Stem: stem, Answer: []string{"A"}}
		for k, o := range []string{"锚链受力的方向" + stem[:6], "甲板照明是否打开", "第三种说法完全不同"} {
			q.Options = append(q.Options, drydock.Option{Label: string(rune('A' + k)), Text: o})
		}
		b.Items = append(b.Items, benchmark.Item{Index: i, Question: q})
	}
	pack, err := benchmark.LikePack("quay", "maritime_bench", b.Items).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	p, err := benchmark.ParsePack("quay", pack, benchmark.ShippedPack)
	if err != nil {
		t.Fatal(err)
	}
	if b.Benchmark, err = benchmark.NewChoice(p); err != nil {
		t.Fatal(err)
	}
	return b
}

// checkFiles checks files below a folder and gives what was found, as
// "file place item", the totals and what was said.
func checkFiles(t testing.TB, c *ContamCheck, dir string, names ...string) (found []string, totals *ContamTotals, said string) {
	t.Helper()
	b := checkBench(t)
	ix, err := contam.NewIndex(b.Items, b.Benchmark.Ref(), contam.Config{})
	if err != nil {
		t.Fatal(err)
	}
	c.Index, c.Benches = ix, []*Bench{b}
	c.Hit = func(h *ContamHit) error {
		if h.Fail {
			file := strings.TrimPrefix(h.Record.File, filepath.ToSlash(dir)+"/")
			found = append(found, fmt.Sprintf("%s|%s|%d", file, h.Record.Locator, h.Item.Index))
			if len(h.Fields) == 0 || h.BenchItem == nil {
				t.Errorf("nothing to show of %+v", h)
			}
		}
		return nil
	}
	paths := make([]string, len(names))
	for i, n := range names {
		paths[i] = filepath.Join(dir, n)
	}
	if totals, err = c.Files(context.Background(), paths); err != nil {
		t.Fatal(err)
	}
	var b2 strings.Builder
	for _, e := range totals.Bad {
		fmt.Fprintf(&b2, "%s: %v\n", strings.TrimPrefix(e.Where.File, filepath.ToSlash(dir)+"/"), e)
	}
	return found, totals, b2.String()
}

func write(t testing.TB, dir, name string, b []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), b, 0o666); err != nil {
		t.Fatal(err)
	}
}

type packed struct {
	name string
	data []byte
}

func zipOf(t testing.TB, files ...packed) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		w, err := z.Create(f.name)
		if err != nil {
			t.Fatal(err)
		}
		w.Write(f.data)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func tarGz(t testing.TB, files ...packed) []byte {
	t.Helper()
	var b bytes.Buffer
	g := gzip.NewWriter(&b)
	w := tar.NewWriter(g)
	for _, f := range files {
		if err := w.WriteHeader(&tar.Header{Name: f.name, Size: int64(len(f.data)), Mode: 0o644, Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		w.Write(f.data)
	}
	w.Close()
	g.Close()
	return b.Bytes()
}

func docxOf(t testing.TB, text string, more ...packed) []byte {
	body := `<?xml version="1.0" encoding="UTF-8"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>` + text + `</w:t></w:r></w:p></w:body></w:document>`
	return zipOf(t, append([]packed{
		{"[Content_Types].xml", []byte(`<?xml version="1.0" encoding="UTF-8"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`)},
		{"_rels/.rels", []byte(`<?xml version="1.0" encoding="UTF-8"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`)},
		{"word/document.xml", []byte(body)},
	}, more...)...)
}

func rowOf(t testing.TB, text string) []byte {
	t.Helper()
	b, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		t.Fatal(err)
	}
	return append(b, '\n')
}

func utf16Of(s string) (b []byte) {
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return b
}

// pickleOf is a list of strings in pickle protocol 4.
func pickleOf(texts ...string) []byte {
	b := []byte("\x80\x04]\x94(")
	for _, s := range texts {
		b = binary.LittleEndian.AppendUint32(append(b, 'X'), uint32(len(s)))
		b = append(append(b, s...), 0x94)
	}
	return append(b, 'e', '.')
}

// Whatever a file is, and however deep it lies, what is in it is found, and
// the file is counted by how it was read.
func TestContamEveryKindOfFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	zw, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	// one column packed by Snappy, under a footer that lacks what a reader needs
	column, err := os.ReadFile(filepath.Join("testdata", "column.snappy.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	// tables as pyarrow 26 writes them, packed by zstd and LZ4
	table := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	harmless := bytes.Repeat([]byte{0, 1, 2, 0xFF}, 400)
	npy := append([]byte("\x93NUMPY\x01\x00v\x00{'descr': '<U40', 'fortran_order': False, 'shape': (1,), }\n"), func() (b []byte) {
		for _, r := range checkStems[1] {
			b = binary.LittleEndian.AppendUint32(b, uint32(r))
		}
		return append(b, make([]byte, 40)...)
	}()...)
	for _, c := range []struct {
		name    string
		data    []byte
		want    []string
		readAs  ReadAs
		members map[ReadAs]int
		said    string // what the reader could not do; the bytes are checked all the same
	}{
		{"index.pkl", pickleOf(checkStems...), []string{"index.pkl|@0xa utf-8|0", "index.pkl|@0x67 utf-8|1", "index.pkl|@0xc1 utf-8|2"}, ReadRaw, nil, ""},
		{"old.xls", append(append([]byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"), harmless...), utf16Of(checkStems[0])...), []string{"old.xls|@0x648 utf-16le|0"}, ReadText, nil, "the reader gave up; the rest was checked as bytes"},
		{"a.npz", zipOf(t, packed{"q.npy", npy}), []string{"a.npz!q.npy|@0x45 utf-32le|1"}, ReadArchive, map[ReadAs]int{ReadRaw: 1}, ""},
		{"deep.zip", zipOf(t, packed{"inner.zip", zipOf(t, packed{"题.docx", docxOf(t, checkStems[0])})}), []string{"deep.zip!inner.zip!题.docx||0"}, ReadArchive, map[ReadAs]int{ReadArchive: 1, ReadText: 1}, ""},
		{"kb.tar.gz", tarGz(t, packed{"a/rows.jsonl", rowOf(t, checkStems[2])}, packed{"b.bin", harmless}, packed{"n.txt", []byte("前言\n" + checkStems[1] + "\n")}), []string{"kb.tar.gz!a/rows.jsonl||2", "kb.tar.gz!n.txt||1"}, ReadArchive, map[ReadAs]int{ReadRows: 1, ReadRaw: 1, ReadText: 1}, ""},
		{"rows.jsonl.zst", zw.EncodeAll(append(rowOf(t, "无关"), rowOf(t, checkStems[1])...), nil), []string{"rows.jsonl.zst||1"}, ReadArchive, map[ReadAs]int{ReadRows: 1}, ""},
		{"props.docx", docxOf(t, "正文没有题目", packed{"docProps/custom.xml", []byte("<p>" + checkStems[0] + "</p>")}), []string{"props.docx!docProps/custom.xml|@0x3 utf-8|0"}, ReadText, nil, ""},
		{"page.html", []byte("<html><body><p>没有题目</p><script>var q = \"" + jsEscape(checkStems[1]) + "\";</script></body></html>"), []string{"page.html|@0x30 utf-8|1"}, ReadText, nil, ""},
		{"model.bin", harmless, nil, ReadRaw, nil, ""},
		{"column.parquet", column, []string{"column.parquet|message.text group 0 page 0 @0x18 utf-8|2"}, ReadRaw, nil, "not a Parquet file that can be read"},
		{"tables.zip", zipOf(t, packed{"a.parquet", column}), []string{"tables.zip!a.parquet|message.text group 0 page 0 @0x18 utf-8|2"}, ReadArchive, map[ReadAs]int{ReadRaw: 1}, "not a Parquet file that can be read"},
		{"plain.arrow", append([]byte("ARROW1\x00\x00"), pickleOf(checkStems[0])...), []string{"plain.arrow|@0x12 utf-8|0"}, ReadRows, nil, "not an Arrow file that can be read"},
		{"rows.parquet", table("rows.parquet"), []string{"rows.parquet||2"}, ReadRows, nil, ""},
		{"rows.zip", zipOf(t, packed{"x/rows.arrow", table("rows.arrow")}), []string{"rows.zip!x/rows.arrow||2"}, ReadArchive, map[ReadAs]int{ReadRows: 1}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			write(t, dir, c.name, c.data)
			found, totals, said := checkFiles(t, &ContamCheck{Workers: 2}, dir, c.name)
			if (said == "") != (c.said == "") || !strings.Contains(said, c.said) {
				t.Error(said)
			}
			if d := cmp.Diff(c.want, found); d != "" {
				t.Error(d)
			}
			if in := totals.Inputs[0]; in.ReadAs != c.readAs || cmp.Diff(c.members, in.Members) != "" || in.Bytes != int64(len(c.data)) || len(in.SHA256) != 64 {
				t.Errorf("%+v", in)
			}
			if (totals.Failed > 0) != (len(c.want) > 0) {
				t.Errorf("%d records fail", totals.Failed)
			}
		})
	}
}

func jsEscape(s string) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(s)) {
		fmt.Fprintf(&b, `\u%04x`, u)
	}
	return b.String()
}

// What cannot be opened is said, and the rest is checked.
func TestContamSaysWhatItCannotSee(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	torn := tarGz(t, packed{"a.bin", bytes.Repeat([]byte(checkStems[0]+"\x00"), 40_000)}, packed{"b.bin", []byte("b")})
	for _, c := range []struct {
		name, said string
		data       []byte
		want       int
	}{
		{"x.7z", "what is packed in it (7-Zip) was not looked into", []byte("7z\xbc\xaf\x27\x1c\x00\x04garbage"), 0},
		{"torn.tar.gz", "damaged", torn[:len(torn)-20], 1},
		{"bad.docx", "checked as bytes", append(docxOf(t, checkStems[1])[:300], pickleOf(checkStems[0])...), 1},
		{"empty.bin", "empty", nil, 0},
		{"lz4.arrow", "compressed columns", append([]byte("ARROW1\x00\x00\x04\x22\x4d\x18"), pickleOf(checkStems[0])...), 1},
		{"cut.parquet", "damaged", append([]byte("PAR1"), pickleOf(checkStems[0])...), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			write(t, dir, c.name, c.data)
			found, _, said := checkFiles(t, &ContamCheck{Workers: 1}, dir, c.name)
			if !strings.Contains(said, c.said) || len(found) != c.want {
				t.Errorf("said %q, found %q", said, found)
			}
		})
	}
	found, totals, said := checkFiles(t, &ContamCheck{}, dir, "gone", "x.7z")
	if !strings.Contains(said, "no such file") || len(found) != 0 || len(totals.Inputs) != 1 {
		t.Errorf("%q %q", said, found)
	}
}

// Shards together find what one check finds; each unit is one shard's.
func TestContamShards(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	names := []string{"a.jsonl", "b.pkl", "c.zip", "d.txt"}
	write(t, dir, names[0], bytes.Repeat(append(rowOf(t, checkStems[0]), rowOf(t, strings.Repeat("无关内容", 20_000))...), 60))
	write(t, dir, names[1], pickleOf(checkStems[1]))
	write(t, dir, names[2], zipOf(t, packed{"x.pkl", pickleOf(checkStems[2])}))
	write(t, dir, names[3], []byte(checkStems[0]+"\n"))
	whole, one, _ := checkFiles(t, &ContamCheck{Workers: 2}, dir, names...)
	if len(whole) != 63 || one.Failed != 63 {
		t.Fatalf("%d hits, %d fail", len(whole), one.Failed)
	}
	for _, n := range []int{1, 2, 3, 7} {
		var all []string
		records, failed, bytes := 0, 0, int64(0)
		for i := range n {
			found, totals, _ := checkFiles(t, &ContamCheck{Workers: 2, Shard: ContamShard{i + 1, n}}, dir, names...)
			all = append(all, found...)
			records, failed, bytes = records+totals.Records, failed+totals.Failed, bytes+totals.Bytes
			for k, in := range totals.Inputs {
				if in.File != one.Inputs[k].File || in.SHA256 != one.Inputs[k].SHA256 || in.ReadAs != one.Inputs[k].ReadAs {
					t.Errorf("%+v", in)
				}
			}
		}
		slices.Sort(all)
		want := slices.Sorted(slices.Values(whole))
		if d := cmp.Diff(want, all); d != "" || records != one.Records || failed != one.Failed || bytes != one.Bytes {
			t.Errorf("%d shards: %d records, %d fail, %d bytes\n%s", n, records, failed, bytes, d)
		}
	}
}

// Only what is shown gets its texts: of each unit the first findings that fail.
func TestContamCheckShown(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := checkBench(t)
	var rows strings.Builder
	for n := range 3 {
		fmt.Fprintf(&rows, "{\"id\":\"%d\",\"text\":%q}\n", n, checkStems[n])
	}
	write(t, dir, "rows.jsonl", []byte(rows.String()))
	ix, err := contam.NewIndex(b.Items, b.Benchmark.Ref(), contam.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for shown, want := range []int{3, 1, 2, 3, 3} {
		got, hits := 0, 0
		c := ContamCheck{Index: ix, Benches: []*Bench{b}, Shown: shown, Hit: func(h *ContamHit) error {
			if hits++; len(h.Fields) > 0 {
				got++
			}
			if len(h.Fields) == 0 && got < want {
				t.Errorf("Shown %d: finding %d has no texts", shown, hits)
			}
			return nil
		}}
		if _, err := c.Files(t.Context(), []string{filepath.Join(dir, "rows.jsonl")}); err != nil {
			t.Fatal(err)
		}
		if got != want || hits != 3 {
			t.Errorf("Shown %d: %d of %d findings have texts, want %d of 3", shown, got, hits, want)
		}
	}
}
