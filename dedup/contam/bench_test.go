package contam

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval/benchmark/benchtest"
	"github.com/drydock-ml/drydock/internal/golden"
)

// The benchmarks read the same text, so that their ratio means something on a
// busy machine, too: BenchmarkByteHash is a loop that does nothing but hash
// every byte.
//
// The domain text is sentences of question banks and rules with about two
// characters in a hundred replaced, in rows {"id", "text"} of 150–3,000
// characters, as scripts for other tools have it.

func BenchmarkScan(b *testing.B) {
	ix, _ := realIndex(b)
	for _, kind := range []string{"zh-domain", "zh-neutral", "en-domain"} {
		b.Run(kind, func(b *testing.B) {
			rows := bulk(b, kind)
			s := ix.Scanner()
			b.SetBytes(int64(len(rows)))
			b.ReportAllocs()
			found := 0
			scan := func() {
				found = 0
				for data := rows; len(data) > 0; {
					line, rest, _ := bytes.Cut(data, []byte("\n"))
					fs, err := s.Row(line)
					if err != nil {
						b.Fatal(err)
					}
					found += len(fs)
					data = rest
				}
			}
			scan() // the scanner's buffers grow to what these rows need
			s.verified = 0
			for b.Loop() {
				scan()
			}
			b.ReportMetric(float64(found), "findings")
			b.ReportMetric(float64(s.verified)/float64(b.N), "candidates")
		})
	}
}

// BenchmarkFindings is what is done for a finding: the row read again with its
// pointers, the verdict and the evidence, without the search before.
func BenchmarkFindings(b *testing.B) {
	ix, _ := realIndex(b)
	for _, kind := range []string{"zh-domain", "en-domain"} {
		b.Run(kind, func(b *testing.B) {
			s := ix.Scanner()
			var rows [][]byte
			found := 0
			for row := range bytes.Lines(bulk(b, kind)) {
				fs, err := s.Row(row)
				if err != nil {
					b.Fatal(err)
				}
				if found += len(fs); len(fs) > 0 {
					rows = append(rows, row)
				}
			}
			var spent time.Duration
			b.ReportAllocs()
			for b.Loop() {
				for _, row := range rows {
					if err := s.search(row); err != nil {
						b.Fatal(err)
					}
					begun := time.Now()
					if _, err := s.foundIn(row); err != nil {
						b.Fatal(err)
					}
					spent += time.Since(begun)
				}
			}
			b.ReportMetric(float64(spent)/float64(b.N)/float64(found), "ns/finding")
		})
	}
}

// BenchmarkSeams is BenchmarkScan with the seams between the rows looked at.
func BenchmarkSeams(b *testing.B) {
	ix, _ := realIndex(b)
	for _, kind := range []string{"zh-domain", "zh-neutral", "en-domain"} {
		b.Run(kind, func(b *testing.B) {
			rows := bulk(b, kind)
			s := ix.Scanner()
			s.Break()
			b.SetBytes(int64(len(rows)))
			b.ReportAllocs()
			found := 0
			for b.Loop() {
				found = 0
				for data := rows; len(data) > 0; {
					line, rest, _ := bytes.Cut(data, []byte("\n"))
					if _, err := s.Row(line); err != nil {
						b.Fatal(err)
					}
					found += len(s.Seam())
					data = rest
				}
			}
			b.ReportMetric(float64(found), "findings")
		})
	}
}

func BenchmarkByteHash(b *testing.B) {
	for _, kind := range []string{"zh-domain", "zh-neutral", "en-domain"} {
		b.Run(kind, func(b *testing.B) {
			rows := bulk(b, kind)
			b.SetBytes(int64(len(rows)))
			for b.Loop() {
				h := uint64(14695981039346656037)
				for _, c := range rows {
					h = (h ^ uint64(c)) * 1099511628211
				}
				sink = h
			}
		})
	}
}

var sink uint64 //nolint:gochecknoglobals // keeps the loop from being removed

func BenchmarkRecord(b *testing.B) {
	ix := testIndex(b)
	s := ix.Scanner()
	r := &drydock.Record{Passage: &drydock.Passage{Text: strings.Repeat("船员在甲板上检查缆绳。", 40)}}
	b.SetBytes(int64(len(r.Passage.Text)))
	b.ReportAllocs()
	for b.Loop() {
		s.Record(r)
	}
}

// BenchmarkHostile reads texts made of nothing but the beginnings of markup and
// escapes. The cost of each must grow as its length does.
func BenchmarkHostile(b *testing.B) {
	ix := testIndex(b)
	for _, unit := range []string{
		`\`, "&amp;", "&lt;", "<", "<a b='", "<!--", "<![CDATA[", "%", "%25", "=", "=\r\n", "=E8", `\x`, `\u`, `\u{`, "$", `\frac{`, "{", "(", "①", "　",
	} {
		for _, size := range []int{1 << 14, 1 << 18} {
			b.Run(fmt.Sprintf("%q/%d", unit, size), func(b *testing.B) {
				s := ix.Scanner()
				text := []byte(strings.Repeat(unit, size/len(unit)))
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					s.Text(text)
				}
			})
		}
	}
}

func BenchmarkNewIndex(b *testing.B) {
	items := benchtest.RealItems(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := NewIndex(items, testRef, Config{}); err != nil {
			b.Fatal(err)
		}
	}
}

// bulk makes about 8 MB of rows.
func bulk(b *testing.B, kind string) []byte {
	b.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	base := sentences(b, kind)
	var alphabet []rune
	for _, s := range base {
		alphabet = append(alphabet, []rune(s)...)
	}
	var pool []string
	for range 8 {
		for _, s := range base {
			r := []rune(s)
			for range max(1, len(r)/50) {
				r[rng.IntN(len(r))] = alphabet[rng.IntN(len(alphabet))]
			}
			pool = append(pool, string(r))
		}
	}
	sep := ""
	if kind == "en-domain" {
		sep = " "
	}
	var out []byte
	for n := 0; len(out) < 8<<20; n++ {
		want, got := 150+rng.IntN(1500), 0
		var parts []string
		for got < want {
			s := pool[rng.IntN(len(pool))]
			parts = append(parts, s)
			got += utf8.RuneCountInString(s)
		}
		out = fmt.Appendf(out, `{"id": %d, "text": `, n)
		out = drydock.AppendJSONString(out, strings.Join(parts, sep))
		out = append(out, "}\n"...)
	}
	return out
}

func sentences(b *testing.B, kind string) []string {
	b.Helper()
	read := func(parts ...string) string {
		data, err := os.ReadFile(golden.RealData(b, parts...))
		if err != nil {
			b.Fatal(err)
		}
		return string(data)
	}
	var out []string
	add := func(s string) {
		if n := utf8.RuneCountInString(s); n >= 6 && n <= 400 {
			out = append(out, s)
		}
	}
	if kind == "en-domain" {
		r := csv.NewReader(strings.NewReader(read("uscg-rules-bank", "nav_rules_first640_no_explanations.csv")))
		recs, err := r.ReadAll()
		if err != nil {
			b.Fatal(err)
		}
		for _, rec := range recs[1:] {
			for _, c := range rec {
				add(c)
			}
		}
		return out
	}
	for _, s := range strings.FieldsFunc(strings.ReplaceAll(read("debian-docs-zh", "debian-faq.zh-cn.txt"), "\n", ""), func(r rune) bool { return strings.ContainsRune("。；：？！", r) }) {
		add(s + "。")
	}
	if kind == "zh-neutral" {
		return out
	}
	r := csv.NewReader(strings.NewReader(read("ham-radio-zh", "class_a.csv")))
	r.FieldsPerRecord = -1
	recs, err := r.ReadAll()
	if err != nil {
		b.Fatal(err)
	}
	for _, rec := range recs[1:] {
		for _, c := range rec {
			add(c)
		}
	}
	for _, line := range strings.Split(strings.TrimSpace(read("colreg-bank-zh", "gold_corrected_ch1-3.jsonl")), "\n") {
		var q struct {
			Question string            `json:"question"`
			Options  map[string]string `json:"options"`
		}
		if err := json.Unmarshal([]byte(line), &q); err != nil {
			b.Fatal(err)
		}
		add(q.Question)
		for _, l := range "ABCD" {
			add(q.Options[string(l)])
		}
	}
	return out
}
