package pipeline

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/runstore"
	"github.com/drydock-ml/drydock/internal/training"
)

// childEnv makes this test binary run a project instead of its tests, so that a
// test can kill it.
const childEnv = "DRYDOCK_TEST_RUN_PROJECT"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		_, err := runProject(context.Background(), dir, Options{Workers: 2})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(fail.Code(err))
	}
	os.Exit(m.Run())
}

func testEnv(home string) Env {
	return Env{
		Env:      training.Env{Now: time.Now, Host: "test", PID: os.Getpid(), Tool: runstore.Tool{Version: "test", Program: "test"}},
		Home:     home,
		HTTP:     http.DefaultClient,
		CacheDir: filepath.Join(os.TempDir(), "drydock-test-pdf"), // compiling takes seconds
	}
}

func runProject(ctx context.Context, dir string, o Options) (*Result, error) {
	cfg, findings := Load(filepath.Join(dir, ConfigName))
	if len(findings) > 0 {
		return &Result{}, findings
	}
	return Run(ctx, cfg, testEnv(dir), o)
}

// bankText writes n questions about things that only numbers tell apart, so
// that none is like another.
func bankText(seed, n int) string {
	r := rand.New(rand.NewPCG(uint64(seed), 1))
	nouns := []string{"系船缆", "舱口盖", "压载泵", "舵机油位", "雷达天线", "救生艇架", "锚机离合器", "应急发电机", "测深仪探头", "货舱通风筒"}
	acts := []string{"检查周期", "允许误差", "工作压力", "更换期限", "试验载荷", "安装高度", "绝缘电阻", "启动时间"}
	var b strings.Builder
	b.WriteString("练习题\n\n")
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "%d、第%d号%s的%s在本船手册第%d页中规定为（  ）\n", i, r.IntN(900)+100, nouns[r.IntN(len(nouns))], acts[r.IntN(len(acts))], r.IntN(800)+1)
		at := r.IntN(4)
		for j := range 4 {
			fmt.Fprintf(&b, "%c．%d个单位\n", 'A'+j, 10*j+r.IntN(9)+1)
		}
		fmt.Fprintf(&b, "答案：%c\n\n", 'A'+at)
	}
	return b.String()
}

// newProject makes a project with a few text banks, rows and a benchmark, one
// of whose items stands in a bank.
func newProject(t *testing.T, files, questions int) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for i := range files {
		write(fmt.Sprintf("raw/bank%02d.txt", i), bankText(i, questions))
	}
	write("raw/twin.txt", bankText(0, min(questions, 3))) // repeats the first of bank00
	write("raw/leak.txt", "题库\n\n1、拖轮顶推大船时，拖缆与船首尾线的夹角一般不宜小于（  ）\nA．约三十度\nB．与首尾线平行\nC．不足五度\nD．任意角度均可\n答案：A\n\n"+
		"2、拖轮协助大船掉头时，应优先注意的是（  ）\nA．大船的余速\nB．拖轮的颜色\nC．码头的编号\nD．引航员的姓名\n答案：A\n")
	write("raw/text.md", "# 第一章 系泊\n\n系泊缆绳应定期检查，发现断丝超过规定数量时立即更换，并在缆绳记录簿中登记更换的日期与原因。\n")
	write("raw/rows.jsonl", `{"messages":[{"role":"user","content":"怎样检查锚链？"},{"role":"assistant","content":"逐节敲击，听声音并测量直径。"}]}`+"\n")
	write("bench.json", `[{"index":0,"question":"拖轮顶推大船时，拖缆与船首尾线的夹角一般不宜小于______。","answer":"B","A":"与首尾线平行","B":"约三十度","C":"不足五度","D":"任意角度均可"},
{"index":1,"question":"The heaving line is thrown from the ______.","answer":"A","A":"forecastle","B":"funnel","C":"galley","D":null}]`)
	write(ConfigName, `version: 1
sources:
  - {name: bank, path: "raw/*.txt", lang: zh, license: CC0-1.0}
  - {name: text, path: raw/text.md, license: CC0-1.0}
  - {name: rows, path: raw/rows.jsonl, license: CC0-1.0}
steps:
  - tidy_text
  - parse_questions
  - split_sections: {max_runes: 400}
  - drop_short: {min_runes: 5}
benchmarks:
  - {name: own_bench, path: bench.json, like: maritime_bench}
contamination: {against: [own_bench]}
output:
  - qwen3_chat: {path: build/train.jsonl}
  - passage: {path: build/text.jsonl}
eval: {benchmarks: [own_bench], endpoints: ["builtin:majority", "builtin:lookup"]}
`)
	return dir
}

// tree hashes every file below dir, but for what may hold clock times.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		b, err := os.ReadFile(p)
		out[filepath.ToSlash(rel)] = fmt.Sprintf("%x", sha256.Sum256(b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// made is what a run leaves that must not depend on how it ran: the outputs and
// the stages. The evaluation's own log is append-only and in order of arrival.
func made(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, sub := range []string{"build", ".drydock/stages"} {
		for k, v := range tree(t, filepath.Join(dir, filepath.FromSlash(sub))) {
			if strings.Contains(k, ".drydock/") || strings.HasSuffix(k, "lock") || strings.HasSuffix(k, "lock.json") {
				continue
			}
			out[sub+"/"+k] = v
		}
	}
	return out
}

func mustRun(t *testing.T, dir string, o Options) *Result {
	t.Helper()
	res, err := runProject(context.Background(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestRun(t *testing.T) {
	t.Parallel()
	dir := newProject(t, 2, 30)
	res := mustRun(t, dir, Options{})
	want := map[string]drydock.Sums{
		StageSources: {Made: 67, Out: 67},
		StageSteps:   {In: 67, Out: 67},
		StageDedup:   {In: 67, Out: 64, Dropped: map[string]int{"duplicate_exact": 3}},
		StageContam:  {In: 64, Out: 63, Dropped: map[string]int{"contam_shuffled": 1}},
		StageOutput:  {In: 63, Out: 63},
	}
	for name, w := range want {
		got := *res.Stage(name).Sums
		if len(got.Dropped) == 0 {
			got.Dropped = nil
		}
		if d := cmp.Diff(w, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
	checkDropLines(t, dir, res)
	again := mustRun(t, dir, Options{})
	for _, s := range again.Stages {
		if s.Status != StatusCached && s.Status != StatusSkipped && s.Name != StageCard {
			t.Errorf("second run: stage %s is %s (%s)", s.Name, s.Status, s.Reason)
		}
	}
	runs, bad, err := runstore.List(filepath.Join(dir, "runs"))
	if err != nil || len(bad) > 0 || len(runs) != 2 || runs[0].Status != runstore.Success {
		t.Errorf("runs %+v %v %v", runs, bad, err)
	}
}

// checkDropLines proves that every counted drop stands in its stage's file.
func checkDropLines(t *testing.T, dir string, res *Result) {
	t.Helper()
	for _, name := range []string{StageSources, StageSteps, StageDedup, StageContam, StageOutput} {
		stage := stageOf(runstore.Project{Dir: dir}, name)
		got := map[string]int{}
		err := eachLine(stage.Path("dropped.jsonl"), func(line []byte) error {
			var row dropRow
			err := json.Unmarshal(line, &row)
			got[row.Reason]++
			if row.ID == "" || row.Text == "" || row.Origin == nil {
				t.Errorf("%s: poor row %s", name, line)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		want := res.Stage(name).Sums.Dropped
		if len(want) == 0 {
			want = map[string]int{}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: dropped.jsonl (-sums +file):\n%s", name, d)
		}
		var sums drydock.Sums
		b, err := os.ReadFile(stage.Path("stats.json"))
		if err == nil {
			err = json.Unmarshal(b, &sums)
		}
		if err == nil {
			err = sums.Close()
		}
		if err != nil {
			t.Errorf("%s: stats.json: %v", name, err)
		}
	}
}

func TestSameBytesAtAnyWorkerCount(t *testing.T) {
	t.Parallel()
	dir := withNear(t, newProject(t, 5, 60))
	mustRun(t, dir, Options{Workers: 1})
	one := made(t, dir)
	mustRun(t, dir, Options{Workers: 8, Fresh: true})
	if d := cmp.Diff(one, made(t, dir)); d != "" {
		t.Errorf("1 worker against 8 (-1 +8):\n%s", d)
	}
	if len(one) < 20 {
		t.Errorf("only %d files were compared", len(one))
	}
}

// TestKilledAndResumed kills a run at random moments until it gets through, and
// wants the bytes of one that was left in peace.
func TestKilledAndResumed(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts processes")
	}
	peace := withNear(t, newProject(t, 8, 200))
	start := time.Now()
	mustRun(t, peace, Options{Workers: 2})
	whole := time.Since(start)
	dir := withNear(t, newProject(t, 8, 200))
	r := rand.New(rand.NewPCG(uint64(start.UnixNano()), 2))
	killed := 0
	for i := range 5 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childEnv+"="+dir)
		var said bytes.Buffer
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if i < 4 {
			// the child also has to start, so reach a little past the whole run
			time.Sleep(time.Duration(r.Int64N(int64(whole)*5/4 + 1)))
			if cmd.Process.Kill() == nil {
				killed++
			}
		}
		err := cmd.Wait()
		if i == 4 && err != nil {
			t.Fatalf("the last run: %v: %s", err, said.Bytes())
		}
	}
	if d := cmp.Diff(made(t, peace), made(t, dir)); d != "" {
		t.Errorf("undisturbed against killed %d times (-undisturbed +killed):\n%s", killed, d)
	}
	left, err := filepath.Glob(filepath.Join(dir, "build", ".tmp-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v %v", left, err)
	}
}

func TestInterruptedRunSaysHowToGoOn(t *testing.T) {
	t.Parallel()
	dir := newProject(t, 3, 40)
	ctx, cancel := context.WithCancel(context.Background())
	seen := 0
	_, err := runProject(ctx, dir, Options{Workers: 1, Observe: func(e Event) {
		if e.Type == "progress" {
			if seen++; seen == 2 {
				cancel()
			}
		}
	}})
	if fail.Code(err) != 130 {
		t.Fatalf("got %v", err)
	}
	runs, _, lerr := runstore.List(filepath.Join(dir, "runs"))
	if lerr != nil || len(runs) != 1 || runs[0].Status != runstore.Cancelled || runs[0].Exit != 130 {
		t.Errorf("runs %+v %v", runs, lerr)
	}
	mustRun(t, dir, Options{})
	peace := newProject(t, 3, 40)
	mustRun(t, peace, Options{})
	if d := cmp.Diff(made(t, peace), made(t, dir)); d != "" {
		t.Errorf("(-undisturbed +interrupted):\n%s", d)
	}
}

func TestSecondRunOnTheSameFolderIsRefused(t *testing.T) {
	t.Parallel()
	dir := newProject(t, 1, 5)
	lock, err := runstore.Project{Dir: dir}.Acquire(context.Background(), runstore.Holder{PID: 4711, Host: "bridge"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = runProject(context.Background(), dir, Options{})
	if fail.Code(err) != 1 || !strings.Contains(err.Error(), "process 4711 on bridge") {
		t.Errorf("got %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	mustRun(t, dir, Options{})
}

func TestBadInputsAreReportedAndTheRestGoesOn(t *testing.T) {
	t.Parallel()
	dir := newProject(t, 1, 10)
	for name, text := range map[string]string{
		"raw/empty.txt":   "",
		"raw/broken.pdf":  "%PDF-1.7\n1 0 obj\n<< /Type",
		"raw/torn.docx":   "PK\x03\x04 torn",
		"raw/rows2.jsonl": strings.Repeat(`{"messages":[{"role":"user","content":"a?"},{"role":"assistant","content":"b"}]}`+"\n", 6) + "{broken\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := os.ReadFile(filepath.Join(dir, ConfigName))
	if err != nil {
		t.Fatal(err)
	}
	cfg = bytes.Replace(cfg, []byte(`path: "raw/*.txt"`), []byte(`path: ["raw/*.txt", "raw/*.pdf", "raw/*.docx", "raw/rows2.jsonl"]`), 1)
	if err := os.WriteFile(filepath.Join(dir, ConfigName), cfg, 0o644); err != nil {
		t.Fatal(err)
	}
	res, err := runProject(context.Background(), dir, Options{})
	if fail.Code(err) != 3 {
		t.Fatalf("code %d: %v", fail.Code(err), err)
	}
	for _, want := range []string{"empty.txt", "broken.pdf", "torn.docx", "rows2.jsonl"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s is not named in:\n%v", want, err)
		}
		for _, e := range fail.All(err) {
			if zh := e.In(msg.Zh); zh == e.In(msg.En) {
				t.Errorf("no Chinese for %s", zh)
			}
		}
	}
	if got := res.Stage(StageOutput).Output[0].Rows; got < 12 {
		t.Errorf("%d rows: the good inputs were lost", got)
	}
	checkDropLines(t, dir, res)
	torn := false
	_ = eachLine(stageOf(runstore.Project{Dir: dir}, StageSources).Path("dropped.jsonl"), func(line []byte) error {
		torn = torn || bytes.Contains(line, []byte(`"locator":"l7"`)) && bytes.Contains(line, []byte("{broken"))
		return nil
	})
	if !torn {
		t.Error("the broken line 7 is not in dropped.jsonl with its place and text")
	}
}

func TestOutputFolderThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	dir := newProject(t, 1, 5)
	if err := os.WriteFile(filepath.Join(dir, "build"), []byte("a file"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := runProject(context.Background(), dir, Options{})
	if fail.Code(err) != 1 || !strings.Contains(err.Error(), "build") {
		t.Errorf("code %d: %v", fail.Code(err), err)
	}
	if err := os.Remove(filepath.Join(dir, "build")); err != nil {
		t.Fatal(err)
	}
	mustRun(t, dir, Options{})
}

func TestChangedOutputIsMadeAgain(t *testing.T) {
	t.Parallel()
	dir := newProject(t, 1, 20)
	mustRun(t, dir, Options{})
	before := made(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "build", "train.jsonl"), []byte("{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	warned := ""
	_, err := runProject(context.Background(), dir, Options{Observe: func(e Event) {
		if e.Type == "warning" {
			warned += e.Text.In(msg.En)
		}
	}})
	if err != nil || !strings.Contains(warned, "train.jsonl") {
		t.Errorf("warning %q, error %v", warned, err)
	}
	if d := cmp.Diff(before, made(t, dir)); d != "" {
		t.Errorf("(-before +after):\n%s", d)
	}
}

func TestAnnotateEndsWithContamination(t *testing.T) {
	t.Parallel()
	dir := newProject(t, 1, 5)
	p := filepath.Join(dir, ConfigName)
	b, err := os.ReadFile(p)
	if err != nil {
		t.Fatal(err)
	}
	b = bytes.Replace(b, []byte("against: [own_bench]"), []byte("against: [own_bench], on_hit: annotate"), 1)
	if err := os.WriteFile(p, b, 0o644); err != nil {
		t.Fatal(err)
	}
	res, err := runProject(context.Background(), dir, Options{})
	if fail.Code(err) != 10 {
		t.Errorf("code %d: %v", fail.Code(err), err)
	}
	if s := res.Stage(StageContam); s.Sums.DroppedTotal() != 0 || s.Contam[0].Leaks != 1 {
		t.Errorf("%+v", s)
	}
}

// A panicking step must name the record and end with 70.
type panicStep struct{}

func (panicStep) Do(_ context.Context, in []*drydock.Record) ([]*drydock.Record, []drydock.Drop, error) {
	for _, r := range in {
		if r.Question != nil && strings.Contains(r.Question.Stem, "掉头") {
			panic(errors.New("boom"))
		}
	}
	return in, nil, nil
}

// vanishStep breaks law 1.
type vanishStep struct{}

func (vanishStep) Do(_ context.Context, in []*drydock.Record) ([]*drydock.Record, []drydock.Drop, error) {
	return in[1:], nil, nil
}

func TestBrokenStepsAreBugs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		step drydock.Step
		want string
	}{
		"panic":  {panicStep{}, "leak.txt"},
		"vanish": {vanishStep{}, "disappeared"},
	} {
		dir := newProject(t, 1, 3)
		cfg, findings := Load(filepath.Join(dir, ConfigName))
		if len(findings) > 0 {
			t.Fatal(findings)
		}
		cfg.Steps = append(cfg.Steps, namedStep{name: name, step: c.step})
		_, err := Run(context.Background(), cfg, testEnv(dir), Options{})
		if fail.Code(err) != 70 || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: code %d: %v", name, fail.Code(err), err)
		}
	}
}

func TestRowIDs(t *testing.T) {
	t.Parallel()
	rec := func(source, row string, n byte) *drydock.Record {
		return &drydock.Record{ID: drydock.ID{n}, RowID: row, Origin: drydock.Origin{File: &drydock.File{Source: source}}}
	}
	recs := []*drydock.Record{rec("a", "1", 1), rec("a", "2", 2), rec("b", "2", 3), rec("a", "3", 4), rec("a", "3", 5), rec("a", "", 6)}
	// two parts, so that ids meet across files
	var sketches []string
	for i, part := range [][]*drydock.Record{recs[:2], recs[2:]} {
		var buf bytes.Buffer
		sketch := rowIDSketch{w: &buf}
		for _, r := range part {
			if err := sketch.add(r); err != nil {
				t.Fatal(err)
			}
		}
		path := filepath.Join(t.TempDir(), fmt.Sprint(i))
		if err := os.WriteFile(path, buf.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		sketches = append(sketches, path)
	}
	ids, err := newRowIDs(sketches)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(sketches[0]); !os.IsNotExist(err) {
		t.Errorf("the sketch is still there: %v", err)
	}
	want := []string{"1", "a/2", "b/2", recs[3].ID.String(), recs[4].ID.String(), recs[5].ID.String()}
	for i, r := range recs {
		if got := ids.name(r); got != want[i] {
			t.Errorf("%d: %q, want %q", i, got, want[i])
		}
	}
}
