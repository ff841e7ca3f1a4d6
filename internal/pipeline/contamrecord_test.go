package pipeline

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dedup/contam"
)

// onHitProject is a project with a leak in a bank and one in a conversation.
func onHitProject(t *testing.T, onHit string) string {
	t.Helper()
	dir := newProject(t, 1, 5)
	p := filepath.Join(dir, ConfigName)
	b, err := os.ReadFile(p)
	if err != nil {
		t.Fatal(err)
	}
	b = bytes.Replace(b, []byte("against: [own_bench]"), []byte("against: [own_bench], on_hit: "+onHit), 1)
	if err := os.WriteFile(p, b, 0o644); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "raw/rows.jsonl", []byte(`{"messages":[{"role":"user","content":"请解释这道题：\n拖轮顶推大船时，拖缆与船首尾线的夹角一般不宜小于______。\n谢谢。"},{"role":"assistant","content":"夹角太小会使横向力不足。"}]}`+"\n"))
	return dir
}

// A masked record stays without the leak, and one of which nothing would be left
// goes; the sums close, and the output is clean.
func TestRunMasks(t *testing.T) {
	t.Parallel()
	dir := onHitProject(t, OnHitMask)
	res := mustRun(t, dir, Options{})
	s := res.Stage(StageContam)
	if c := s.Contam[0]; c.Leaks != 2 || c.Removed != 2 || c.Masked != 1 || s.Sums.DroppedTotal() != 1 {
		t.Errorf("%+v, sums %+v", c, s.Sums)
	}
	out, err := os.ReadFile(filepath.Join(dir, "build/train.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out), `请解释这道题：\n…\n谢谢。`) && !strings.Contains(string(out), `请解释这道题：\n…______。\n谢谢。`) {
		t.Errorf("no masked conversation in %s", out)
	}
	if strings.Contains(string(out), "拖轮顶推") {
		t.Errorf("the leak is still there: %s", out)
	}
	once := made(t, dir)
	again := mustRun(t, dir, Options{Fresh: true, Workers: 3})
	if d := cmp.Diff(once, made(t, dir)); d != "" || again.Stage(StageContam).Contam[0].Masked != 1 {
		t.Errorf("made again (-once +again):\n%s", d)
	}
}

// A quarantined record is dropped and kept whole outside the build.
func TestRunQuarantines(t *testing.T) {
	t.Parallel()
	dir := onHitProject(t, OnHitQuarantine)
	res := mustRun(t, dir, Options{})
	s := res.Stage(StageContam)
	if c := s.Contam[0]; c.Leaks != 2 || c.Removed != 2 || c.Masked != 0 || s.Sums.DroppedTotal() != 2 {
		t.Errorf("%+v, sums %+v", c, s.Sums)
	}
	files, err := filepath.Glob(filepath.Join(dir, ".drydock/stages/*/quarantine.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %v, %v", files, err)
	}
	rows, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(rows)), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], `"question":{`) || !strings.Contains(lines[1], `"chat":{`) {
		t.Errorf("quarantined: %q", lines)
	}
	for _, l := range lines {
		if !strings.Contains(l, `"contamination":[{"benchmark":"own_bench","index":0,"verdict":`) || !strings.Contains(l, "拖轮顶推") {
			t.Errorf("row %s", l)
		}
	}
}

func TestMaskRecord(t *testing.T) {
	t.Parallel()
	at := func(pointer string, start, end int) map[string][]contam.Span {
		return map[string][]contam.Span{pointer: {{Pointer: pointer, Start: start, End: end}}}
	}
	question := func() *drydock.Record {
		return &drydock.Record{Question: &drydock.Question{
			Stem: "先看这题：甲乙丙", Statements: []string{"甲"}, Options: []drydock.Option{{Label: "A", Text: "丁戊"}}, Answer: []string{"A"},
		}}
	}
	chat := &drydock.Record{Chat: &drydock.Chat{
		Messages: []drydock.Message{{Role: "user", Content: "甲乙丙", Reasoning: "丁戊"}}, Tools: drydock.RawJSON(`["甲乙丙"]`),
	}}
	r := question()
	got, ok := maskRecord(r, at("/stem", 5, 8))
	if !ok || got.Question.Stem != "先看这题：…" || got.Question.Statements != nil || r.Question.Stem != "先看这题：甲乙丙" {
		t.Errorf("%+v of %+v, %v", got.Question, r.Question, ok)
	}
	if got, ok := maskRecord(r, at("/options/0/text", 0, 2)); !ok || got.Question.Options[0].Text != "…" || r.Question.Options[0].Text != "丁戊" {
		t.Errorf("%+v, %v", got, ok)
	}
	if got, ok := maskRecord(chat, at("/messages/0/reasoning_content", 0, 1)); !ok || got.Chat.Messages[0].Reasoning != "…戊" {
		t.Errorf("%+v, %v", got, ok)
	}
	if got, ok := maskRecord(&drydock.Record{Passage: &drydock.Passage{Heading: []string{"甲"}, Text: "乙丙"}}, at("/heading/0", 0, 1)); !ok || got.Passage.Heading[0] != "…" {
		t.Errorf("%+v, %v", got, ok)
	}
	for pointer, r := range map[string]*drydock.Record{"/stem": question(), "/tools": chat, "/text": {Passage: &drydock.Passage{Text: "甲"}}} {
		if got, ok := maskRecord(r, at(pointer, 0, 99)); ok {
			t.Errorf("%s: %+v", pointer, got)
		}
	}
	if _, ok := maskRecord(r, nil); ok {
		t.Error("nothing to mask, and masked")
	}
}
