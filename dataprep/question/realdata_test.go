package question_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/question"
	"github.com/drydock-ml/drydock/internal/golden"
)

// result is everything a parser gave.
type result struct {
	records []*drydock.Record
	drops   []*drydock.Drop
	notes   []question.Note
}

func (r result) reasons() map[string]int {
	m := map[string]int{}
	for _, d := range r.drops {
		m[d.Reason]++
	}
	return m
}

func parse(t testing.TB, doc *drydock.Document) result {
	t.Helper()
	var out result
	p := question.New(question.Options{Note: func(n question.Note) { out.notes = append(out.notes, n) }})
	for r, err := range p.Parse(context.Background(), doc) {
		var d *drydock.Drop
		switch {
		case errors.As(err, &d):
			if d.Reason == "" || d.Record == nil || d.Record.Passage == nil {
				t.Fatalf("drop without reason or passage: %+v", d)
			}
			out.drops = append(out.drops, d)
		case err != nil:
			t.Fatal(err)
		default:
			out.records = append(out.records, r)
		}
	}
	return out
}

// document makes a document of blocks.
func document(blocks []drydock.Block) *drydock.Document {
	return &drydock.Document{
		File: &drydock.File{Source: "test", Name: "bank"},
		Blocks: func(context.Context) iter.Seq2[drydock.Block, error] {
			return func(yield func(drydock.Block, error) bool) {
				for _, b := range blocks {
					if !yield(b, nil) {
						return
					}
				}
			}
		},
	}
}

// text makes a document of lines.
func text(s string) *drydock.Document {
	var blocks []drydock.Block
	for i, l := range strings.Split(s, "\n") {
		blocks = append(blocks, drydock.Block{Text: l, At: drydock.Locator{Line: i + 1}})
	}
	return document(blocks)
}

// letters keeps what two copies of a text have in common: no punctuation, no
// blanks.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Nl, r) {
			return r
		}
		return -1
	}, s)
}

// alike holds for texts that differ in a character or two: the gold has a few
// misprints put right and a running number added to stems that repeat.
func alike(a, b string) bool {
	if i := strings.Index(b, "（第"); i >= 0 && strings.HasSuffix(b, "题）") {
		b = b[:i]
	}
	x, y := []rune(letters(a)), []rune(letters(b))
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range x {
		diag := row[0]
		row[0] = i + 1
		for j, s := range y {
			cost := diag
			if r != s {
				cost++
			}
			diag = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(y)] <= 2+len(y)/40
}

type goldItem struct {
	Chapter, Article, Question, Answer string
	N                                  int
	Options                            map[string]string
}

func readGold(t *testing.T) []goldItem {
	t.Helper()
	f, err := os.Open(golden.RealData(t, "colreg-bank-zh", "gold_corrected_ch1-3.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []goldItem
	for sc := bufio.NewScanner(f); sc.Scan(); {
		var g goldItem
		if err := json.Unmarshal(sc.Bytes(), &g); err != nil {
			t.Fatal(err)
		}
		out = append(out, g)
	}
	return out
}

// compareGold checks records against the gold items, in order, and returns how
// many are wholly right.
func compareGold(t *testing.T, records []*drydock.Record, gold []goldItem) int {
	t.Helper()
	right := 0
	for i, g := range gold {
		if i >= len(records) {
			t.Errorf("gold %s %d is missing", g.Article, g.N)
			continue
		}
		q := records[i].Question
		ok := alike(q.Stem, g.Question) && len(q.Options) == len(g.Options)
		for _, o := range q.Options {
			ok = ok && alike(o.Text, g.Options[o.Label])
		}
		ok = ok && len(q.Answer) == 1 && q.Answer[0] == g.Answer
		if !ok {
			t.Errorf("%s: gold %s %d %q %v %s\ngot %q %v %v", records[i].Origin.At, g.Article, g.N, g.Question, g.Options, g.Answer, q.Stem, q.Options, q.Answer)
			continue
		}
		right++
	}
	return right
}

func TestColregText(t *testing.T) {
	t.Parallel()
	gold := readGold(t)
	right := 0
	for chapter, name := range map[string]string{"一": "第一章.txt", "二": "第二章.txt", "三": "第三章.txt"} {
		b, err := os.ReadFile(golden.RealData(t, "colreg-bank-zh", "选择题题库", name))
		if err != nil {
			t.Fatal(err)
		}
		var part []goldItem
		for _, g := range gold {
			if g.Chapter == chapter {
				part = append(part, g)
			}
		}
		got := parse(t, text(string(b)))
		if len(got.records) != len(part) {
			t.Errorf("chapter %s: %d questions, want %d", chapter, len(got.records), len(part))
		}
		for _, d := range got.drops {
			t.Logf("%s", d)
		}
		right += compareGold(t, got.records, part)
	}
	if right != len(gold) || len(gold) != 145 {
		t.Errorf("%d of %d right, want all 145", right, len(gold))
	}
}
