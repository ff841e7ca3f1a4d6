package overlay

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/drydock-ml/drydock"
)

var sum = strings.Repeat("ab", 32)

func question() *drydock.Question {
	return &drydock.Question{
		Kind: drydock.Single, Stem: "右舷灯的颜色是", Options: []drydock.Option{{Label: "A", Text: "红"}, {Label: "B", Text: "绿"}},
		Answer: []string{"A"}, Confidence: 0.5, Doubts: []string{"answer_in_stem"},
	}
}

func ptr[T any](v T) *T { return &v }

func TestApply(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fix  Fix
		q    *drydock.Question
		want *drydock.Question // nil: the fix is incomplete
	}{
		"accept": {Fix{Action: Accept}, question(), &drydock.Question{
			Kind: drydock.Single, Stem: "右舷灯的颜色是", Options: question().Options, Answer: []string{"A"}, Confidence: 1,
		}},
		"another answer": {Fix{Action: Set, Set: &Fields{Answer: []string{"B"}}}, question(), &drydock.Question{
			Kind: drydock.Single, Stem: "右舷灯的颜色是", Options: question().Options, Answer: []string{"B"}, Confidence: 1,
		}},
		"an answer that is not offered": {Fix{Action: Set, Set: &Fields{Answer: []string{"C"}}}, question(), nil},
		"two answers of a single one":   {Fix{Action: Set, Set: &Fields{Answer: []string{"A", "B"}}}, question(), nil},
		"two answers": {Fix{Action: Set, Set: &Fields{Kind: ptr(drydock.Multiple), Answer: []string{"A", "B"}}}, question(), &drydock.Question{
			Kind: drydock.Multiple, Stem: "右舷灯的颜色是", Options: question().Options, Answer: []string{"A", "B"}, Confidence: 1,
		}},
		"a question where none was read": {
			Fix{Action: Set, Set: &Fields{Stem: ptr("左舷灯为红色。"), Answer: []string{"true"}}},
			&drydock.Question{},
			&drydock.Question{Kind: drydock.Judge, Stem: "左舷灯为红色。", Answer: []string{"true"}, Confidence: 1},
		},
		"half a question": {Fix{Action: Set, Set: &Fields{Stem: ptr("左舷灯")}}, &drydock.Question{}, nil},
		"accept nothing":  {Fix{Action: Accept}, &drydock.Question{}, nil},
	} {
		err := c.fix.Apply(c.q)
		if (err != nil) != (c.want == nil) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d := cmp.Diff(c.want, c.q); c.want != nil && d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// A fix is found for the reading it was made of, and for no other.
func TestFind(t *testing.T) {
	t.Parallel()
	q := question()
	line, err := Append(nil, Fix{ID: "7", SHA256: sum, At: "p1 l3", Read: Reading(q), Action: Drop})
	if err != nil {
		t.Fatal(err)
	}
	o, bad := Parse("fixes.jsonl", append(line, line...))
	if len(bad) > 0 || len(o.Fixes()) != 1 {
		t.Fatalf("%v, %d fixes", bad, len(o.Fixes()))
	}
	if f, _ := o.Find(sum, "p1 l3", Reading(q)); f == nil || f.Action != Drop {
		t.Errorf("found %v", f)
	}
	q.Options[1].Text = "白"
	for _, k := range []key{{sum, "p1 l3", Reading(q)}, {sum, "p1 l4", Reading(question())}, {strings.Repeat("cd", 32), "p1 l3", Reading(question())}} {
		if f, _ := o.Find(k.sha, k.at, k.read); f != nil {
			t.Errorf("%v finds the fix of another reading", k)
		}
	}
	if f, _ := (*Overlay)(nil).Find(sum, "p1 l3", ""); f != nil {
		t.Error("no overlay finds a fix")
	}
}

func TestParseNamesEveryBadLine(t *testing.T) {
	t.Parallel()
	good := `{"id":"1","sha256":"` + sum + `","at":"l1","read":"00","action":"accept"}`
	o, bad := Parse("f", []byte(strings.Join([]string{
		good, "", `{"action":"drop"}`, strings.Replace(good, "accept", "keep", 1), strings.Replace(good, `"accept"`, `"set"`, 1),
		strings.Replace(good, `"accept"`, `"accept","date":"30.11.2026"`, 1), strings.Replace(good, `"accept"`, `"accept","why":"x"`, 1), "{",
	}, "\n")))
	if len(o.Fixes()) != 1 {
		t.Errorf("%d fixes", len(o.Fixes()))
	}
	var lines []int
	for _, e := range bad {
		lines = append(lines, e.Where.Line)
	}
	if d := cmp.Diff([]int{3, 4, 5, 6, 7, 8}, lines); d != "" {
		t.Error(d)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"id":"1","sha256":"` + sum + `","at":"l1","read":"00","action":"set","set":{"answer":["B"]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		o, _ := Parse("f", data)
		for _, x := range o.Fixes() {
			line, err := Append(nil, x)
			if err != nil {
				t.Fatal(err)
			}
			again, bad := Parse("f", line)
			if len(bad) > 0 || len(again.Fixes()) != 1 {
				t.Fatalf("%s: %v", line, bad)
			}
			_ = x.Apply(&drydock.Question{})
		}
	})
}

// Two readings have one hash only if they are the same.
func TestReading(t *testing.T) {
	t.Parallel()
	text := rapid.SampledFrom([]string{"", "A", "B", "AB", "1:A"})
	gen := rapid.Custom(func(t *rapid.T) *drydock.Question {
		q := &drydock.Question{Kind: drydock.Single, Stem: text.Draw(t, "stem"), Answer: rapid.SliceOfN(text, 0, 2).Draw(t, "answer")}
		for range rapid.IntRange(0, 2).Draw(t, "n") {
			q.Options = append(q.Options, drydock.Option{Label: text.Draw(t, "label"), Text: text.Draw(t, "text")})
		}
		return q
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := gen.Draw(t, "a"), gen.Draw(t, "b")
		same := a.Stem == b.Stem && cmp.Equal(a.Options, b.Options) && cmp.Equal(append([]string{}, a.Answer...), append([]string{}, b.Answer...))
		if (Reading(a) == Reading(b)) != same {
			t.Fatalf("%+v, %+v", a, b)
		}
	})
	if bytes.Equal([]byte(ReadingOfText("x")), []byte(ReadingOfText("y"))) {
		t.Error("two texts, one hash")
	}
}
