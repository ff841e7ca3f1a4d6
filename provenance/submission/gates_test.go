package submission

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/eval/evalscope"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// a mutation breaks one thing in a good package; exactly the gates named must
// notice.
type mutation struct {
	name  string
	parts func(p *parts)          // before packing
	files func(map[string][]byte) // after packing; the manifest is made anew
	loose bool                    // the manifest is left as it is
	base  string                  // another name for the package
	want  map[string]Status       // gates that are not a pass
	says  string                  // what the first of them must say
	place string                  // and where
}

func mutations() []mutation {
	one := func(id string, s Status) map[string]Status { return map[string]Status{id: s} }
	return []mutation{
		{name: "no declaration", files: func(m map[string][]byte) { delete(m, declarationName) }, want: one("P01", Fail), says: "no submission.yaml"},
		{name: "EvalScope's folders, nothing declared", files: func(m map[string][]byte) {
			for from, to := range map[string]string{
				gradedName: "results/reviews/lookup/mini_bench_default.jsonl", "results/reports/mini_bench.json": "results/reports/lookup/mini_bench.json",
				"report/report.docx": "技术报告.docx",
			} {
				m[to] = m[from]
				delete(m, from)
			}
			m["results/predictions/lookup/mini_bench_default.jsonl"] = []byte("{}\n")
			delete(m, declarationName)
		}, want: one("P01", Fail), says: "no submission.yaml"},
		{name: "unknown key declared", files: func(m map[string][]byte) {
			m[declarationName] = append(m[declarationName], "taem: x\n"...)
		}, want: one("P01", Fail), says: "taem"},
		{name: "adapter not declared", parts: func(p *parts) { p.extra["model/adapter_config.json"] = `{"r":8}` }, want: one("P01", Fail), says: "not declared (lora)", place: "model/adapter_config.json"},
		{name: "knowledge base not declared", parts: func(p *parts) { p.extra["kb/chunks.jsonl"] = `{"id":"1"}` }, want: one("P01", Fail), says: "(rag)"},
		{name: "agent declared", parts: func(p *parts) { p.methods = []string{"sft", "agent"}; p.extra["agent/RUN.md"] = "run" }, want: one("P01", Warn), says: "no gates of its own"},
		{name: "other name", base: "demo.zip", want: one("P02", Warn), says: "_submission.zip"},
		{name: "other team", base: "else_submission.zip", want: one("P02", Warn), says: `team "else"`},
		{name: "name that leads out", files: func(m map[string][]byte) { m["../evil.txt"] = []byte("x") }, want: map[string]Status{"P03": Fail, "P06": Fail}, says: "leads out"},
		{name: "absolute name", loose: true, files: func(m map[string][]byte) { m["/etc/x"] = []byte("x") }, want: one("P03", Fail), says: "absolute"},
		{name: "names differ in case", files: func(m map[string][]byte) { m["train/FIELDS.md"] = m["train/fields.md"] }, want: one("P03", Fail), says: "differ only in case"},
		{name: "name Windows refuses", files: func(m map[string][]byte) { m["train/aux.txt"] = []byte("x") }, want: one("P03", Warn), says: "Windows"},
		{name: "UTF-16 text", files: func(m map[string][]byte) { m["train/notes.txt"] = []byte("\xff\xfea\x00") }, want: one("P05", Fail), says: "UTF-16"},
		{name: "GB18030 text", files: func(m map[string][]byte) { m["train/notes.txt"] = gb("line\n中文\n") }, want: one("P05", Fail), says: "offset 5", place: "train/notes.txt:2"},
		{name: "mark in front of JSON", files: func(m map[string][]byte) { m["train/x.json"] = []byte("\ufeff{}") }, want: one("P05", Fail), says: "byte order mark"},
		{name: "lost character", files: func(m map[string][]byte) { m["train/x.md"] = []byte("a\nb\ufffd") }, want: one("P05", Fail), says: "lost character", place: "train/x.md:2"},
		{name: "lost character in a reply", parts: func(p *parts) { p.replies[1] = "\ufffd[B]" }, want: map[string]Status{"P05": Warn, "G05": Warn}},
		{name: "no manifest", loose: true, files: func(m map[string][]byte) { delete(m, manifestName) }, want: one("P06", Fail), says: "no MANIFEST"},
		{name: "file not listed", loose: true, files: func(m map[string][]byte) { m["train/x.md"] = []byte("x") }, want: one("P06", Fail), says: "not listed", place: "train/x.md"},
		{name: "listed file gone", loose: true, files: func(m map[string][]byte) { delete(m, reportName) }, want: one("P06", Fail), says: "not in the package"},
		{name: "file changed", loose: true, files: func(m map[string][]byte) { m["train/sources.md"] = []byte("other") }, want: one("P06", Fail), says: "not the file that was listed"},
		{name: "key in a script", files: func(m map[string][]byte) {
			m["train/scripts/gen.py"] = []byte("import os\nKEY = \"" + "sk-" + "a8Kd93jfLq02mZx81Pqr7Tt5" + "\"\n")
		}, want: one("P07", Fail), says: "API key: sk-a8K…", place: "train/scripts/gen.py:2"},
		{name: "token in a configuration", files: func(m map[string][]byte) {
			m["train/scripts/c.yaml"] = []byte("api_token: Zk39vLq81mXw72Pd55Rt\n")
		}, want: one("P07", Fail), says: "API key: Zk39vL…"},
		{name: "private key", files: func(m map[string][]byte) {
			m["train/scripts/k.txt"] = []byte("-----BEGIN RSA " + "PRIVATE KEY-----\n")
		}, want: one("P07", Fail), says: "private key"},
		{name: "home path", files: func(m map[string][]byte) { m["train/scripts/a.sh"] = []byte("cd /home/" + "li/ship\n") }, want: one("P07", Fail), says: "somebody's machine"},
		{name: "stray folder", files: func(m map[string][]byte) { m["train/scripts/__pycache__/a.pyc"] = []byte{1} }, want: one("P07", Fail), says: "__pycache__"},
		{name: "no report", files: func(m map[string][]byte) { delete(m, "report/report.docx") }, want: map[string]Status{"R01": Fail, "R02": Skip}, says: "no report/report.docx"},
		{name: "broken report", parts: func(p *parts) { p.report = p.report[:60] }, want: map[string]Status{"R01": Fail, "R02": Skip}, says: "does not open"},
		{name: "report without text", parts: func(p *parts) { p.report = docx("", " ") }, want: map[string]Status{"R01": Fail, "R02": Warn}, says: "no text"},
		{name: "other document", parts: func(p *parts) { p.ext = ".odt" }, want: map[string]Status{"R01": Fail, "R02": Skip}, says: "neither"},
		{name: "report in PDF", parts: func(p *parts) { p.ext, p.report = ".pdf", pdf("BT (text) Tj ET") }, want: one("R02", Skip)},
		{name: "PDF of pictures", parts: func(p *parts) { p.ext, p.report = ".pdf", pdf("q /Im0 Do Q") }, want: map[string]Status{"R01": Fail, "R02": Skip}, says: "no text"},
		{name: "PDF cut short", parts: func(p *parts) { p.ext, p.report = ".pdf", pdf("BT (text) Tj ET")[:40] }, want: map[string]Status{"R01": Fail, "R02": Skip}, says: "cut short"},
		{name: "report says no score", parts: func(p *parts) { p.report = docx("方法", "来源", "训练", "结果", "合规") }, want: one("R02", Warn), says: "accuracy"},
		{name: "no graded file", files: func(m map[string][]byte) { delete(m, gradedName) }, want: graded(Fail, Skip, Skip, Skip, Skip, Skip), says: "no results/"},
		{name: "a row is missing", files: func(m map[string][]byte) { m[gradedName] = dropLine(m[gradedName], 3) }, want: map[string]Status{"G01": Fail, "G02": Fail}, says: "11 rows"},
		{name: "a later schema", parts: func(p *parts) {
			p.rows = func(list []evalscope.Review) [][]byte {
				var out [][]byte
				for i := range list {
					out = append(out, evalscope.AppendReview(nil, &list[i]))
				}
				out[2] = bytes.Replace(out[2], []byte(`"acc"`), []byte(`"accuracy"`), 1)
				return out
			}
		}, want: map[string]Status{"G01": Fail, "G06": Skip}, says: "later EvalScope", place: gradedName + ":3"},
		{name: "a key too many", files: replaceIn(gradedName, `"sample_id"`, `"extra": 1, "sample_id"`), want: one("G01", Fail), says: "extra"},
		{name: "a key too few", files: replaceIn(gradedName, `"explanation": null, `, ``), want: one("G01", Fail), says: "explanation is missing"},
		{name: "index twice", parts: func(p *parts) { p.edit = func(i int, r *evalscope.Review) { r.Index = min(r.Index, 10) } }, want: one("G02", Fail), says: "index 10 stands in line 11, too"},
		{name: "index negative", parts: func(p *parts) {
			p.edit = func(i int, r *evalscope.Review) {
				if i == 11 {
					r.Index = -1
				}
			}
		}, want: one("G02", Fail), says: "index -1 is outside"},
		{name: "other prompt", parts: func(p *parts) {
			p.edit = func(i int, r *evalscope.Review) {
				if i == 4 {
					r.Input = strings.Replace(r.Input, "直接输出答案", "先想后答", 1)
				}
			}
		}, want: one("G03", Fail), says: "prompt of index 4", place: gradedName + ":5"},
		{name: "other key, scored by it", parts: func(p *parts) {
			p.edit = func(i int, r *evalscope.Review) {
				if i == 4 {
					r.Target = "A"
					r.Extracted, r.Prediction, r.Acc = "D", "[D]", 0
				}
			}
		}, want: one("G03", Fail), says: "key of index 4"},
		{name: "other letter extracted", parts: func(p *parts) {
			p.edit = func(i int, r *evalscope.Review) {
				if i == 2 { // wrong either way: the score stays
					r.Extracted = "D"
				}
			}
		}, want: one("G04", Fail), says: `extracts "A", the file says "D"`},
		{name: "score by the last letter", parts: func(p *parts) { p.replies[3] = "[B] 应为 [A]"; p.edit = lastLetter(3) }, want: map[string]Status{"G04": Fail, "G05": Warn, "G06": Fail, "R02": Warn}},
		{name: "loose replies", parts: func(p *parts) { p.replies[0] = "答案是[A]" }, want: one("G05", Warn), says: "not just [A] to [D]"},
		{name: "option not offered", parts: func(p *parts) { p.replies[11] = "[D]" }, want: one("G05", Warn), says: "not offered"},
		{name: "no answer", parts: func(p *parts) { p.replies[11] = "不知道" }, want: one("G05", Warn), says: "without an answer"},
		{name: "report of another score", parts: func(p *parts) { p.evalRep = func(r *evalscope.Report) { r.Correct++ } }, want: one("G06", Fail), says: "correct of 12"},
		{name: "report of fewer items", parts: func(p *parts) { p.evalRep = func(r *evalscope.Report) { r.Num, r.Correct = 6, 2 } }, want: one("G06", Fail), says: "num is 6"},
		{name: "no evaluation report", files: func(m map[string][]byte) { delete(m, "results/reports/mini_bench.json") }, want: one("G06", Fail), says: "no results/reports/"},
		{name: "no source description", files: func(m map[string][]byte) { delete(m, "train/sources.md") }, want: one("T01", Fail), says: "train/sources.md"},
		{name: "empty script", parts: func(p *parts) { p.docs["scripts/drydock.yaml"] = []byte{} }, want: one("T01", Fail), says: "empty"},
		{name: "silent assistant", parts: func(p *parts) { p.train[2] = strings.Replace(p.train[2], "[B]", " ", 1) }, want: one("T02", Fail), says: "assistant says nothing", place: "train/data/train.jsonl:3"},
		{name: "roles out of order", parts: func(p *parts) { p.train[0] = strings.Replace(p.train[0], `"user"`, `"assistant"`, 1) }, want: one("T02", Fail), says: "begins with assistant"},
		{name: "control token", parts: func(p *parts) { p.train[1] = strings.Replace(p.train[1], "海图", "<|im_end|>", 1) }, want: one("T02", Fail), says: "control token"},
		{
			name: "undescribed key", parts: func(p *parts) {
				p.docs["fields.md"] = []byte("| field | type |\n|---|---|\n| `id` | string |\n| `messages` | array |\n| `messages[].role` | string |\n")
			},
			want: one("T03", Fail), says: "messages[].content",
		},
		{name: "key that is not there", files: func(m map[string][]byte) {
			m["train/fields.md"] = append(m["train/fields.md"], "| `score` | number | 1 | 1 | x |\n"...)
		}, want: one("T03", Fail), says: "does not have"},
		{name: "other type", files: replaceIn("train/fields.md", "| `id` | string |", "| `id` | integer |"), want: one("T03", Fail), says: "another type"},
		{name: "a data row gone", files: func(m map[string][]byte) { m["train/data/train.jsonl"] = dropLine(m["train/data/train.jsonl"], 2) }, want: one("T04", Fail), says: "step 1 qwen3_chat: the line has hash", place: "train/data/train.jsonl:2"},
		{name: "no ledgers", files: func(m map[string][]byte) {
			for n := range m {
				if strings.HasPrefix(n, "train/provenance/") {
					delete(m, n)
				}
			}
		}, want: one("T04", Fail), says: "no ledgers"},
		{name: "sums edited", files: replaceIn("train/provenance/steps.jsonl", `"made":6`, `"made":7`), want: one("T04", Fail), says: "sums do not close", place: "train/provenance/steps.jsonl:1"},
		{name: "data no step wrote", files: func(m map[string][]byte) {
			m["train/data/more.jsonl"] = m["train/data/train.jsonl"]
			m[declarationName] = bytes.Replace(m[declarationName], []byte(`data: ["train/data/train.jsonl"`), []byte(`data: ["train/data/train.jsonl", "train/data/more.jsonl"`), 1)
			m["train/data/more.jsonl"] = append(m["train/data/more.jsonl"], m["train/data/more.jsonl"]...)
		}, want: one("T04", Fail), says: "no step of the ledgers wrote", place: "train/data/more.jsonl"},
		{name: "a benchmark item in the data", parts: func(p *parts) {
			asked, _ := benchmark.Lookup("maritime_bench")
			b, _ := jsonString(asked.Prompt(p.items[5])[0].Content)
			p.train[3] = `{"id":"r3","messages":[{"role":"user","content":` + b + `},{"role":"assistant","content":"[C]"}]}`
		}, want: one("C01", Fail), says: "mini_bench item 5: exact", place: "train/data/train.jsonl:4"},
		{name: "an item in a chunk", parts: leakIn("kb/chunks.jsonl", `{"id":"c1","text":"`, `"}`), want: map[string]Status{"P01": Warn, "C02": Fail}, says: "kb/chunks.jsonl", place: "kb/chunks.jsonl"},
		{name: "an item in a vector index", parts: leakIn("kb/index.pkl", "\x80\x04\x95\x00X\x60\x00\x00\x00", "\x94."), want: map[string]Status{"P01": Warn, "C02": Fail}, says: "kb/index.pkl @0x9 utf-8 holds mini_bench item 5: stem_only", place: "kb/index.pkl"},
		{name: "a harmless knowledge base", parts: func(p *parts) {
			p.methods, p.extra["kb/index.pkl"] = []string{"sft", "rag"}, "\x80\x04X\x10\x00\x00\x00锚泊须知"
		}, want: one("P01", Warn)},
		{name: "an item among the examples", parts: leakIn("train/scripts/few_shot.py", `SHOTS = ["`, `"]`), want: one("C03", Fail), says: "item 5", place: "train/scripts/few_shot.py"},
		{name: "the official example", parts: func(p *parts) {
			p.extra["train/scripts/prompt.txt"] = benchmark.TemplateOf(p.bench)
		}, want: map[string]Status{}},
		{name: "an item in UTF-16 in some other file", parts: func(p *parts) {
			p.extra["model/notes.bin"] = "\x00\x01\x02" + string(utf16le(p.items[5].Question.Stem)) + "\x00\x00"
		}, want: one("C04", Fail), says: "model/notes.bin @0x3 utf-16le"},
		{name: "an item in GB18030", parts: func(p *parts) {
			p.extra["model/notes.dat"] = "\x00\x01" + string(gb(p.items[5].Question.Stem)) + "\x00"
		}, want: one("C04", Fail), says: "gb18030"},
		{name: "hashes of stems", parts: func(p *parts) {
			sum := md5.Sum([]byte(p.items[5].Question.Stem))
			p.extra["model/cache.json"] = `{"` + hex.EncodeToString(sum[:]) + `": "C"}`
		}, want: one("C05", Fail), says: "hashes of 1 stem of the benchmark (md5)", place: "model/cache.json:1"},
		{name: "a letter when all else fails", parts: func(p *parts) {
			p.extra["train/scripts/ask.py"] = "def answer(text):\n    m = find(text)\n    return m or 'A'\n"
		}, want: one("C05", Warn), says: "or 'A'", place: "train/scripts/ask.py:3"},
		{name: "nobody has the benchmark", parts: func(p *parts) { p.opts = func(o *Options) { o.Benchmark = nil } }, want: compared(Skip), says: "no copy of mini_bench"},
		{name: "the registered copy cannot be read", parts: func(p *parts) {
			p.opts = func(o *Options) {
				o.Benchmark = func(context.Context, string) (Registered, error) { return Registered{}, errors.New("line 3 is torn") }
			}
		}, want: compared(Error), says: "line 3 is torn"},
		{name: "another copy is registered", parts: func(p *parts) {
			q := newItems(p)
			p.opts = func(o *Options) {
				o.Benchmark = func(context.Context, string) (Registered, error) { return Registered{p.bench, q}, nil }
			}
		}, want: one("G03", Fail), says: "not the one registered here"},
		{name: "nothing was trained", parts: func(p *parts) { p.methods = []string{"rag"} }, files: func(m map[string][]byte) {
			for n := range m {
				if strings.HasPrefix(n, "train/") {
					delete(m, n)
				}
			}
		}, want: map[string]Status{"P01": Warn, "T01": Skip, "T02": Skip, "T03": Skip, "T04": Skip, "C01": Skip}},
	}
}

// compared is what the gates that need the benchmark's items come to.
func compared(s Status) map[string]Status {
	return map[string]Status{"G03": s, "C01": s, "C02": s, "C03": s, "C04": s, "C05": s}
}

// leakIn puts the stem of item 5 into a file of the package.
func leakIn(name, before, after string) func(*parts) {
	return func(p *parts) {
		if strings.HasPrefix(name, "kb/") {
			p.methods = []string{"sft", "rag"}
		}
		p.extra[name] = before + p.items[5].Question.Stem + after
	}
}

func utf16le(s string) (b []byte) {
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return b
}

const gradedName = "results/mini_bench_default.jsonl"

func graded(s ...Status) map[string]Status {
	m := map[string]Status{}
	for i, st := range s {
		m["G0"+string(rune('1'+i))] = st
	}
	return m
}

func gb(s string) []byte {
	b, err := simplifiedchinese.GB18030.NewEncoder().Bytes([]byte(s))
	if err != nil {
		panic(err)
	}
	return b
}

func dropLine(b []byte, n int) []byte {
	lines := bytes.SplitAfter(b, []byte("\n"))
	return bytes.Join(slices.Delete(lines, n-1, n), nil)
}

func replaceIn(name, from, to string) func(map[string][]byte) {
	return func(m map[string][]byte) {
		if !bytes.Contains(m[name], []byte(from)) {
			panic(name + " has no " + from)
		}
		m[name] = bytes.Replace(m[name], []byte(from), []byte(to), 1)
	}
}

func lastLetter(i int) func(int, *evalscope.Review) {
	return func(j int, r *evalscope.Review) {
		if i == j {
			r.Extracted, r.Acc = "A", 1
		}
	}
}

func newItems(p *parts) []benchmark.Item {
	q := slices.Clone(p.items)
	q[0].Question.Stem += "？"
	return q
}

// TestGates is the mutation table: what each gate is for, and that no other
// gate cries with it.
func TestGates(t *testing.T) {
	t.Parallel()
	covered := map[string]bool{}
	good, _ := newParts(t).pack(t)
	for _, m := range mutations() {
		for id, s := range m.want {
			covered[id] = covered[id] || s != Skip
		}
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			p := newParts(t)
			name, r := good, Report{}
			if m.parts != nil {
				m.parts(p)
				name, r = p.pack(t)
			}
			if m.files != nil || m.base != "" {
				files := unpack(t, name)
				if m.files != nil {
					m.files(files)
				}
				base := m.base
				if base == "" {
					base = filepath.Base(name)
				}
				var err error
				if r, err = Verify(context.Background(), repack(t, files, base, !m.loose), p.options()); err != nil {
					t.Fatal(err)
				}
			}
			if d := cmp.Diff(m.want, statuses(r)); d != "" {
				t.Errorf("gates (-want +got):\n%s\n%s", d, explain(r))
			}
			if len(m.want) == 0 {
				return
			}
			first := slices.Sorted(maps.Keys(m.want))[0]
			for _, v := range r.Gates {
				if v.ID != first {
					continue
				}
				if text := v.Reason.In(msg.En); !strings.Contains(text, m.says) {
					t.Errorf("%s says %q, want %q", v.ID, text, m.says)
				}
				if m.place != "" && v.First.Place() != m.place {
					t.Errorf("%s points to %q, want %q", v.ID, v.First.Place(), m.place)
				}
				if zh := v.Reason.In(msg.Zh); strings.Contains(zh, "%!") {
					t.Errorf("%s in Chinese: %q", v.ID, zh)
				}
			}
		})
	}
	for _, g := range gates() {
		if !covered[g.id] && g.id != "P04" { // P04 has a test of its own
			t.Errorf("no mutation trips %s", g.id)
		}
	}
}

func TestNamesInGB18030(t *testing.T) {
	t.Parallel()
	p := newParts(t)
	name, _ := p.pack(t)
	files := unpack(t, name)
	path := filepath.Join(t.TempDir(), filepath.Base(name))
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	add := func(h *zip.FileHeader, data []byte) {
		w, err := z.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	files[manifestName] = append(files[manifestName], (hexOf([]byte("说明")) + "  train/说明.txt\n")...)
	for _, n := range slices.Sorted(maps.Keys(files)) {
		add(&zip.FileHeader{Name: n}, files[n])
	}
	add(&zip.FileHeader{Name: string(gb("train/说明.txt")), NonUTF8: true}, []byte("说明"))
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	r, err := Verify(context.Background(), path, p.options())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]Status{"P04": Fail}, statuses(r)); d != "" {
		t.Errorf("gates:\n%s\n%s", d, explain(r))
	}
	if s := explain(r); !strings.Contains(s, "train/说明.txt") || !strings.Contains(s, "GB18030") {
		t.Errorf("the name is not read back:\n%s", s)
	}
}

func TestFolderIsVerifiedToo(t *testing.T) {
	t.Parallel()
	p := newParts(t)
	name, _ := p.pack(t)
	dir := filepath.Join(t.TempDir(), "demo_submission")
	for n, b := range unpack(t, name) {
		path := filepath.Join(dir, filepath.FromSlash(n))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Verify(context.Background(), dir, p.options())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]Status{}, statuses(r)); d != "" {
		t.Errorf("gates:\n%s\n%s", d, explain(r))
	}
	if err := os.Symlink("submission.yaml", filepath.Join(dir, "link.yaml")); err != nil {
		t.Skip("no symbolic links here")
	}
	if r, err = Verify(context.Background(), dir, p.options()); err != nil || statuses(r)["P03"] != Fail {
		t.Errorf("a symbolic link: %v, %v", statuses(r), err)
	}
}

func TestOneFolderAroundEverything(t *testing.T) {
	t.Parallel()
	p := newParts(t)
	name, _ := p.pack(t)
	wrapped := map[string][]byte{}
	for n, b := range unpack(t, name) {
		wrapped["demo_submission/"+n] = b
	}
	r, err := Verify(context.Background(), repack(t, wrapped, filepath.Base(name), false), p.options())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]Status{}, statuses(r)); d != "" {
		t.Errorf("gates:\n%s\n%s", d, explain(r))
	}
}

// What cannot be read, and what is not there, must never look like a pass.
func TestNothingCheckedIsAFailure(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good, _ := newParts(t).pack(t)
	b, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"empty.zip": {}, "noise.zip": []byte("not a zip at all"), "cut_submission.zip": b[:len(b)-40], "nothing.zip": []byte("PK\x05\x06" + strings.Repeat("\x00", 18)),
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := Verify(context.Background(), path, Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if r.OK() || statuses(r)["P01"] != Fail {
			t.Errorf("%s passes:\n%s", name, explain(r))
		}
	}
	empty := t.TempDir()
	r, err := Verify(context.Background(), empty, Options{})
	if err != nil || r.OK() {
		t.Errorf("an empty folder: %v, ok %v", err, r.OK())
	}
	if _, err := Verify(context.Background(), filepath.Join(dir, "none.zip"), Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func TestBombsAndEncryptionAreNotUnpacked(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("zeros.txt")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(w, zeros{}, 80<<20); err != nil {
		t.Fatal(err)
	}
	if _, err := z.CreateHeader(&zip.FileHeader{Name: "secret.txt", Flags: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := z.CreateHeader(&zip.FileHeader{Name: "a.txt"}); err != nil {
		t.Fatal(err)
	}
	if _, err := z.CreateHeader(&zip.FileHeader{Name: "a.txt"}); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	bundle, err := openZip(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, f := range bundle.unsafe {
		said = append(said, f.Text.In(msg.En))
	}
	all := strings.Join(said, "\n")
	for _, want := range []string{"zeros.txt unpacks to", "secret.txt is encrypted", "a.txt stands twice"} {
		if !strings.Contains(all, want) {
			t.Errorf("findings:\n%s\nwant %q", all, want)
		}
	}
	if _, ok := bundle.find("zeros.txt"); ok {
		t.Error("the bomb is among the files that are read")
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// A gate that panics is an error, and an error is no pass.
func TestCrashedGateIsAnError(t *testing.T) {
	t.Parallel()
	g := gate{"X01", Rule, rolePackage, msg.Text{"x", "某项"}, func(*check) error { panic("a bug") }}
	v, err := runGate(context.Background(), g, &state{})
	if err != nil || v.Status != Error {
		t.Errorf("status %q, %v", v.Status, err)
	}
	r := newReport(&state{bundle: &bundle{}}, []Verdict{v, {ID: "X02", Status: Pass}})
	if r.OK() || r.Summary.Errors != 1 {
		t.Errorf("a crashed gate passes: %+v", r.Summary)
	}
}

func TestCancelledVerifyIsAnError(t *testing.T) {
	t.Parallel()
	p := newParts(t)
	name, _ := p.pack(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Verify(ctx, name, p.options()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
