package training

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock/dedup/contam/report"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/runstore"
	"github.com/drydock-ml/drydock/provenance"
)

// Gates are what must hold before a training starts. Each may be lifted by its
// own flag, which the run's record names.
type Gates struct {
	Unchecked  bool // no contamination check covers the data
	Unlicensed bool // a source of the data has no licence, or one that forbids training
	Mismatch   bool // rows are fed otherwise than the endpoint will be asked
	Truncation bool // rows are longer than the trainer takes
	// ContamReport is a report of drydock contam check, or its summary, that
	// vouches for the data; "" looks for one: the project's last run, then the
	// checks its run store keeps.
	ContamReport string
}

// The gates, as results name them.
const (
	GateContamination = "contamination"
	GateLicense       = "license"
	GateTemplate      = "template"
	GateLength        = "length"
)

// flag is what lifts a gate.
func (g Gates) flag(gate string) (name string, lifted bool) {
	switch gate {
	case GateContamination:
		return "--allow-unchecked-data", g.Unchecked
	case GateLicense:
		return "--allow-unlicensed", g.Unlicensed
	case GateTemplate:
		return "--allow-template-mismatch", g.Mismatch
	}
	return "--allow-truncation", g.Truncation
}

// Lifted names the flags that were given.
func (g Gates) Lifted() []string {
	var out []string
	for _, gate := range []string{GateContamination, GateLicense, GateTemplate, GateLength} {
		if name, lifted := g.flag(gate); lifted {
			out = append(out, name)
		}
	}
	return out
}

// The states of a gate.
const (
	GatePassed  = "passed"
	GateRefused = "refused"
	GateLifted  = "lifted"  // would refuse, but for its flag
	GateUnknown = "unknown" // there is nothing to go by; it stops nothing
)

// A GateResult is what became of a gate.
type GateResult struct {
	Gate  string `json:"gate"`
	State string `json:"state"`
	// Proof is what it passed by: a run's id, a report's name.
	Proof string `json:"proof,omitempty"`
	// Reason is why it refuses, in English.
	Reason string `json:"reason,omitempty"`
	Flag   string `json:"flag"` // what lifts it
	err    *fail.Error
}

// In says why a gate does not pass, in a language; "" when it does.
func (g GateResult) In(l msg.Lang) string {
	if g.err == nil {
		return ""
	}
	return g.err.In(l)
}

// gates asks every gate, so that all that is wrong is said at once. The error is
// for what could not be read; what refuses is in the results, see [refusal].
func (c *Config) gates(ctx context.Context, t *Result, g Gates) error {
	data, _ := c.data()
	sum, err := runstore.HashFile(c.Path(data)) // once: it may be large
	if err != nil {
		return err
	}
	for _, gate := range []struct {
		name string
		ask  func() (proof string, err error)
	}{
		{GateContamination, func() (string, error) { return c.coveredData(data, sum, g.ContamReport) }},
		{GateLicense, func() (string, error) { return c.licensedData(ctx, data, sum) }},
		{GateTemplate, func() (string, error) { return c.fedAsAsked(ctx, t) }},
		{GateLength, func() (string, error) { return c.uncutData(t) }},
	} {
		r := GateResult{Gate: gate.name, State: GatePassed}
		flag, lifted := g.flag(gate.name)
		r.Flag = flag
		proof, err := gate.ask()
		switch {
		case errors.Is(err, errNotKnown):
			r.State = GateUnknown
		case errors.As(err, &r.err):
			r.Reason, r.State = r.err.In(msg.En), GateRefused
			if lifted {
				r.State = GateLifted
			}
		case err != nil:
			return err
		}
		r.Proof = proof
		t.Gates = append(t.Gates, r)
	}
	return nil
}

// errNotKnown is a gate's answer when there is nothing to go by.
var errNotKnown = errors.New("not known")

// refusal puts the gates that refuse in one error; nil when none does.
func refusal(gates []GateResult) error {
	var bad fail.List
	for _, g := range gates {
		if g.State == GateRefused {
			bad = append(bad, g.err.Hint(msg.Text{"mend it, or lift this gate with %s", "请修正，或用 %s 放行"}, g.Flag))
		}
	}
	return bad.OrNil()
}

func refused(text msg.Text, args ...any) *fail.Error { return fail.New(fail.Refused, text, args...) }

// coveredData refuses unless the data on disk was, byte for byte, checked against
// the benchmarks and found free of leaks: by the last run, by the report that was
// named, or by a check that the run store keeps.
func (c *Config) coveredData(data, sum, named string) (proof string, err error) {
	if named != "" {
		b, err := readCheck(c.Path(named))
		if err != nil {
			return "", refused(msg.Text{"--contam-report: %v", "--contam-report：%v"}, err)
		}
		return named, c.vouches(named, b, data, sum)
	}
	own := c.coveredByRun(data, sum)
	if own == nil {
		return "drydock run", nil
	}
	check, ok, err := runstore.FindCheck(c.Runs(), sum)
	if err != nil {
		return "", err
	}
	if !ok {
		return "", own
	}
	return check.Run, c.vouches("runs/"+check.Run, check.Summary, data, sum)
}

// readCheck reads the summary of a report, whichever of the two is named.
func readCheck(name string) ([]byte, error) {
	b, err := os.ReadFile(name + report.SummarySuffix)
	if errors.Is(err, os.ErrNotExist) {
		return os.ReadFile(name)
	}
	return b, err
}

// vouches refuses a check that does not prove these bytes free of leaks.
func (c *Config) vouches(name string, summary []byte, data, sum string) error {
	s, err := report.ParseSummary(name, summary)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(s.Inputs, func(in report.Input) bool { return in.SHA256 == sum })
	switch {
	case i < 0:
		return refused(msg.Text{"%s does not cover %s as it is now", "%s 未覆盖当前的 %s"}, name, data)
	case s.Shard != nil:
		return refused(msg.Text{"%s is one shard of a check", "%s 只是一次检查的一个分片"}, name).
			Hint(msg.Text{"join the shards with drydock contam merge", "请用 drydock contam merge 合并分片"})
	case s.Preset != "":
		return refused(msg.Text{"%s goes by another program's rule (%s)", "%s 采用其他程序的规则（%s）"}, name, s.Preset).
			Hint(msg.Text{"check again without --preset", "请不带 --preset 重新检查"})
	case s.Inputs[i].Failing > 0:
		return refused(msg.Text{"%s still holds %d {finding that fails|findings that fail} (%s)", "%s 中仍有 %d 处不通过的发现（%s）"}, data, s.Inputs[i].Failing, name)
	case s.Exit != 0 && s.Exit != fail.Contamination.Code():
		return refused(msg.Text{"the check in %s ended with %d: not all of it was read", "%s 中的检查以 %d 结束：并未全部读取"}, name, s.Exit)
	}
	return c.coversBenchmarks(name, s)
}

// coversBenchmarks refuses a check against less than the project names, or
// against a part of a benchmark.
func (c *Config) coversBenchmarks(name string, s *report.Summary) error {
	if len(s.Benchmarks) == 0 {
		return refused(msg.Text{"%s checked against no benchmark", "%s 未与任何评测集比对"}, name)
	}
	have := map[string]bool{}
	for _, b := range s.Benchmarks {
		have[b.Name] = true
		if pack, ok := benchmark.ShippedPack(b.Name); ok && b.Items < pack.Items {
			return refused(msg.Text{"%s checked against %d of the %d items of %s", "%s 只与 %d 题比对，全部应为 %d 题（%s）"}, name, b.Items, pack.Items, b.Name)
		}
	}
	for _, ref := range c.Against {
		want, _, _ := strings.Cut(ref, "@")
		if !have[want] && !have[strings.TrimSuffix(filepath.Base(want), filepath.Ext(want))] {
			return refused(msg.Text{"%s did not check against %s, which %s names", "%s 未与 %s 比对，而 %s 要求如此"}, name, ref, c.configName())
		}
	}
	return nil
}

// coveredByRun refuses unless the last run wrote these bytes and found no leak
// that it left in.
func (c *Config) coveredByRun(data, sum string) error {
	if !c.Last.Wrote(data, sum) {
		return refused(msg.Text{"no contamination check covers %s as it is now", "没有任何污染检查覆盖当前的 %s"}, data).
			Hint(msg.Text{"run drydock run, or drydock contam check %s", "请执行 drydock run 或 drydock contam check %s"}, data)
	}
	checked, err := c.Last.Checked()
	if err != nil {
		return err
	}
	if len(checked) == 0 {
		return refused(msg.Text{"%s was checked against no benchmark", "%s 未与任何评测集比对"}, data).
			Hint(msg.Text{"add contamination: {against: [maritime_bench]} and run drydock run", "请加入 contamination: {against: [maritime_bench]} 并执行 drydock run"})
	}
	for _, k := range checked {
		if k.Leaks > k.Removed {
			return refused(msg.Text{"%s still holds %d {item|items} of %s", "%s 中仍有 %d 条来自 %s 的题目"}, data, k.Leaks-k.Removed, k.Benchmark)
		}
	}
	return nil
}

// licensedData refuses data with a source that has no declared licence or that
// must not be trained on. Of data that the last run did not write nothing tells
// the sources: then those of the project must have one each.
func (c *Config) licensedData(ctx context.Context, data, sum string) (proof string, err error) {
	if !c.Last.Wrote(data, sum) {
		var missing []string
		for _, s := range c.Sources {
			if strings.TrimSpace(s.License) == "" {
				missing = append(missing, s.Name)
			}
		}
		if len(missing) > 0 {
			return "", c.unlicensed(missing)
		}
		return "", errNotKnown
	}
	sums, err := provenance.Load(ctx, os.DirFS(c.Path(c.Last.Ledgers())))
	if err != nil {
		return "", refused(msg.Text{"the ledgers of %s cannot be read: %v", "无法读取 %s 的台账：%v"}, data, err).
			Hint(msg.Text{"drydock run --only card writes them again", "drydock run --only card 会重新写出"})
	}
	rows := sums.Profile.FileSources[data]
	var missing, forbidden []string
	for _, s := range sums.Sources {
		switch {
		case rows[s.ID] == 0:
		case s.License.Declared == "":
			missing = append(missing, fmt.Sprintf("%s (%d)", s.File, rows[s.ID]))
		case s.Blacklisted || s.Rights.Train == "no":
			forbidden = append(forbidden, fmt.Sprintf("%s (%d)", s.File, rows[s.ID]))
		}
	}
	switch {
	case len(forbidden) > 0:
		return "", refused(msg.Text{"rows come from files that must not be trained on: %s", "部分行来自不得用于训练的文件：%s"}, msg.Few(forbidden, 5))
	case len(missing) > 0:
		return "", c.unlicensed(missing)
	}
	return c.Last.Ledgers(), nil
}

func (c *Config) unlicensed(names []string) error {
	return refused(msg.Text{"sources without a declared licence: %s", "未声明许可的来源：%s"}, msg.Few(names, 5)).
		Hint(msg.Text{"write license: on the sources in %s and run drydock run", "请在 %s 的来源中写明 license: 并执行 drydock run"}, c.configName())
}
