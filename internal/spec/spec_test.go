package spec

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

type shortOptions struct {
	MinRunes int               `yaml:"min_runes" help:"Shortest." zh:"最短。"`
	Mode     string            `yaml:"mode" help:"Mode." zh:"模式。" enum:"drop,keep"`
	Rate     float64           `yaml:"rate" help:"Rate." zh:"率。"`
	On       bool              `yaml:"on" help:"On." zh:"开。"`
	Names    []string          `yaml:"names" help:"Names." zh:"名称。"`
	More     map[string]int    `yaml:"more" help:"More." zh:"更多。"`
	Sub      struct{ X int }   `yaml:"-"`
	Inner    innerOptions      `yaml:"inner" help:"Inner." zh:"内部。"`
	List     []innerOptions    `yaml:"list" help:"List." zh:"列表。"`
	Text     map[string]string `yaml:"text" help:"Text." zh:"文本。"`
}

type innerOptions struct {
	N int    `yaml:"n" help:"N." zh:"N。" required:"true"`
	S string `yaml:"s" help:"S." zh:"S。"`
}

var short = Of("drop_short", msg.Text{"Drop.", "丢弃。"}, shortOptions{MinRunes: 20, Mode: "drop"},
	func(o shortOptions) (shortOptions, error) {
		if o.MinRunes < 1 {
			return o, Bad("min_runes", msg.Text{"must be at least 1", "必须至少为 1"})
		}
		if o.Rate > 9 {
			return o, errors.New("too fast")
		}
		return o, nil
	})

func build(src string) (shortOptions, fail.List) {
	d := Parse("drydock.yaml", []byte(src))
	if d.Root == nil {
		return shortOptions{}, d.Findings()
	}
	o, _ := short.Build(d, d.Root, "step drop_short")
	return o, d.Findings()
}

func TestDecode(t *testing.T) {
	t.Parallel()
	o, findings := build(`
min_runes: 1_000
mode: keep
rate: 1e-5
on: yes
names: one
more: {a: 1}
inner: &i {n: 3, s: 0123}
list: [*i, {<<: *i, n: 4}]
text: {k: 2026-01-01}
`)
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	want := shortOptions{
		MinRunes: 1000, Mode: "keep", Rate: 1e-5, On: true, Names: []string{"one"}, More: map[string]int{"a": 1},
		Inner: innerOptions{3, "0123"}, List: []innerOptions{{3, "0123"}, {4, "0123"}},
		Text: map[string]string{"k": "2026-01-01"},
	}
	if d := cmp.Diff(want, o); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if o, findings := build("min_runes:\n"); o.MinRunes != 20 || len(findings) > 0 {
		t.Errorf("an empty value: %+v %v", o, findings)
	}
}

func TestFindings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ src, want string }{
		"unknown key":     {"min_runs: 10", `drydock.yaml:1:1: step drop_short has no option "min_runs"`},
		"far from any":    {"zzzzzz: 10", `has no option "zzzzzz"`},
		"wrong type":      {"min_runes: ten", `drydock.yaml:1:12: min_runes must be a whole number, not the text "ten"`},
		"quoted number":   {`min_runes: "10"`, `must be a whole number`},
		"float for int":   {`min_runes: 1.5`, `not the number 1.5`},
		"list for scalar": {`mode: [a]`, `mode must be text, not a list`},
		"enum":            {`mode: dorp`, `mode cannot be "dorp"; it is one of drop, keep`},
		"bool":            {`on: maybe`, `true or false`},
		"nan":             {`rate: .nan`, `a number`},
		"required":        {`inner: {s: x}`, `inner needs the option "n"`},
		"in a list":       {"list:\n  - {n: x}", `drydock.yaml:2:9: n must be a whole number`},
		"scalar for map":  {`more: 3`, `more must be a mapping (key: value), not the number 3`},
		"scalar for list": {`list: 3`, `must be a list`},
		"duplicate":       {"on: true\non: false", `drydock.yaml:2:1: "on" stands twice; first in line 1`},
		"constructor":     {"mode: keep\nmin_runes: 0", `drydock.yaml:2:12: step drop_short: min_runes must be at least 1`},
		"plain error":     {"rate: 10", `drydock.yaml:1:1: step drop_short: too fast`},
		"syntax":          {"a: [", `not valid YAML`},
		"empty":           {"", `the file is empty`},
		"two documents":   {"on: true\n---\non: false", `a second YAML document`},
		"not a mapping":   {"- a", `must be a mapping`},
		"overflow":        {"min_runes: 99999999999999999999", `must be a whole number`},
	} {
		_, findings := build(c.src)
		if len(findings) == 0 || !strings.Contains(findings.Error(), c.want) {
			t.Errorf("%s: got %q, want %q", name, findings.Error(), c.want)
		}
		for _, f := range findings {
			if f.Kind != fail.Config {
				t.Errorf("%s: kind %s", name, f.Kind)
			}
			if f.In(msg.Zh) == f.In(msg.En) {
				t.Errorf("%s: no Chinese: %s", name, f.In(msg.Zh))
			}
		}
	}
}

func TestAllFindingsAtOnce(t *testing.T) {
	t.Parallel()
	_, findings := build("min_runs: 1\nmode: 3\nrate: fast\nrate: 2\n")
	if len(findings) != 4 {
		t.Fatalf("got %d findings:\n%v", len(findings), findings)
	}
	if w := findings[0].Where; w.Excerpt != "min_runs: 1" || w.Length != 8 {
		t.Errorf("excerpt %+v", w)
	}
	if h := findings[0].Hints(msg.En); len(h) != 1 || h[0] != `did you mean "min_runes"?` {
		t.Errorf("hints %q", h)
	}
}

func TestAliasBombIsRefused(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x]\n")
	for i := 1; i < 40; i++ {
		b.WriteString(strings.NewReplacer("N", itoa(i), "M", itoa(i-1)).Replace("aN: &aN [*aM, *aM]\n"))
	}
	b.WriteString("names: *a39\n")
	if _, findings := build(b.String()); len(findings) == 0 {
		t.Error("no finding")
	}
}

func itoa(i int) string {
	return strings.TrimLeft(string([]byte{'0' + byte(i/10), '0' + byte(i%10)}), "0") + zero(i)
}

func zero(i int) string {
	if i == 0 {
		return "0"
	}
	return ""
}

func TestFieldsDescribeTheOptions(t *testing.T) {
	t.Parallel()
	f := short.Fields
	if f[0].Name != "min_runes" || f[0].Type != "int" || f[0].Default != "20" || f[0].Help[1] != "最短。" {
		t.Errorf("%+v", f[0])
	}
	if f[1].Enum[1] != "keep" || f[1].Default != "drop" {
		t.Errorf("%+v", f[1])
	}
	if in := f[6]; in.Type != "object" || !in.Fields[0].Required {
		t.Errorf("%+v", in)
	}
	if l := f[7]; l.Type != "list" || len(l.Fields) != 2 {
		t.Errorf("%+v", l)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("min_runes: 10\n")
	f.Add("a: &a [*a]\n")
	f.Add("list: [{n: 1}, {<<: {n: 2}}]\n")
	f.Fuzz(func(t *testing.T, src string) { _, _ = build(src) })
}
