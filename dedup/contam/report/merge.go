package report

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"maps"
	"slices"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// A Part is a shard's report, to be merged.
type Part struct {
	Name    string // what errors call it
	Summary *Summary
	Rows    []byte // the report itself
}

// check refuses a part that is not the whole report its summary speaks of.
func (p *Part) check() error {
	refuse := func(text msg.Text, args ...any) error {
		return fail.New(fail.Refused, text, args...).At(fail.Where{File: p.Name})
	}
	sh := p.Summary.Shard
	if sh == nil {
		return refuse(msg.Text{"the report is that of a whole check, not of a shard", "该报告属于完整检查，而非分片"})
	}
	rows := bytes.Count(p.Rows, []byte{'\n'})
	if len(p.Rows) > 0 && p.Rows[len(p.Rows)-1] != '\n' {
		return refuse(msg.Text{"the report is cut off in row %d", "报告在第 %d 行被截断"}, rows+1)
	}
	if rows != p.Summary.Rows {
		return refuse(msg.Text{"the report has %d {row|rows}, its summary speaks of %d", "报告有 %d 行，而摘要记为 %d 行"}, rows, p.Summary.Rows)
	}
	if sum := sha256.Sum256(p.Rows); hex.EncodeToString(sum[:]) != p.Summary.RowsSHA256 {
		return refuse(msg.Text{"the report is not the one its summary speaks of: its sha256 is another", "报告与其摘要不符：sha256 不同"})
	}
	inUnits := 0
	for _, u := range sh.Units {
		if u.File < 0 || u.File >= len(p.Summary.Inputs) || u.Unit < 0 || u.Rows < 1 {
			return refuse(msg.Text{"the summary speaks of unit %d of input %d, which there is not", "摘要提到单元 %d（输入 %d），该单元不存在"}, u.Unit, u.File)
		}
		inUnits += u.Rows
	}
	if inUnits != rows {
		return refuse(msg.Text{"the units of the summary hold %d {row|rows}, the report %d", "摘要中的单元共 %d 行，报告为 %d 行"}, inUnits, rows)
	}
	return nil
}

// Merge writes the rows of the parts to w as one check of the whole would have,
// and returns its summary. Parts may come in any order. It refuses parts that are
// torn, doubled or missing, and such as were not made of the same data, against
// the same benchmarks, with the same settings by the same version.
func Merge(parts []Part, w io.Writer) (*Summary, error) {
	if len(parts) == 0 {
		return nil, fail.New(fail.Usage, msg.Text{"there are no parts to merge", "没有可合并的分片"})
	}
	var bad fail.List
	for i := range parts {
		if err := parts[i].check(); err != nil {
			bad = append(bad, fail.All(err)...)
		}
	}
	if len(bad) > 0 {
		return nil, bad
	}
	parts = slices.Clone(parts)
	slices.SortStableFunc(parts, func(a, b Part) int { return cmp.Compare(a.Summary.Shard.Index, b.Summary.Shard.Index) })
	if err := complete(parts); err != nil {
		return nil, err
	}
	for i := 1; i < len(parts); i++ {
		if err := alike(&parts[0], &parts[i]); err != nil {
			return nil, err
		}
	}
	if err := interleave(parts, w); err != nil {
		return nil, err
	}
	return sum(parts), nil
}

// complete demands every shard once. The parts are sorted.
func complete(parts []Part) error {
	of := parts[0].Summary.Shard.Of
	have := map[int]string{}
	for _, p := range parts {
		sh := p.Summary.Shard
		if sh.Of != of {
			return fail.New(fail.Refused, msg.Text{"%s is a shard of %d, %s of %d", "%s 属于 %d 个分片，%s 属于 %d 个"}, parts[0].Name, of, p.Name, sh.Of)
		}
		if other, twice := have[sh.Index]; twice {
			return fail.New(fail.Refused, msg.Text{"%s and %s are both shard %d of %d", "%s 与 %s 同为第 %d 个分片（共 %d 个）"}, other, p.Name, sh.Index, of)
		}
		have[sh.Index] = p.Name
	}
	for i := 1; i <= of; i++ {
		if have[i] == "" {
			return fail.New(fail.Refused, msg.Text{"shard %d of %d is missing", "缺少第 %d 个分片（共 %d 个）"}, i, of).
				Hint(msg.Text{"drydock contam check … --shard %d/%d --report FILE makes it", "用 drydock contam check … --shard %d/%d --report FILE 生成"}, i, of)
		}
	}
	return nil
}

// alike demands that two parts belong to one check.
func alike(a, b *Part) error {
	refuse := func(what msg.Text) error {
		return fail.New(fail.Refused, msg.Text{"%s and %s are no parts of one check: they differ in %s", "%s 与 %s 不属于同一次检查：%s不同"}, a.Name, b.Name, msg.Phrase{Text: what})
	}
	x, y := a.Summary, b.Summary
	switch {
	case x.Version != y.Version:
		return refuse(msg.Text{"the version of drydock", "drydock 版本"})
	case x.Config != y.Config:
		return refuse(msg.Text{"the settings", "设置"})
	case !slices.Equal(x.Benchmarks, y.Benchmarks):
		return refuse(msg.Text{"the benchmarks", "评测集"})
	case !slices.Equal(x.Blind, y.Blind) || !slices.Equal(x.BlindStemOnly, y.BlindStemOnly) || x.Items != y.Items:
		return refuse(msg.Text{"the blind spots", "盲区"})
	case !slices.EqualFunc(x.Inputs, y.Inputs, func(p, q Input) bool { return p.File == q.File && p.SHA256 == q.SHA256 }):
		return refuse(msg.Text{"the inputs", "输入"})
	case x.Redacted != y.Redacted:
		return refuse(msg.Text{"redaction", "脱敏"})
	case !sameWaivers(x.Waivers, y.Waivers):
		return refuse(msg.Text{"the waivers, or the day that decides which have expired", "豁免，或判断豁免是否到期的日期"})
	}
	return nil
}

func sameWaivers(a, b *WaiverState) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.SHA256 == b.SHA256 && slices.EqualFunc(a.Entries, b.Entries, func(x, y WaiverEntry) bool {
		return x.Record == y.Record && x.Item == y.Item && (x.State == WaiverExpired) == (y.State == WaiverExpired)
	})
}

// interleave writes the rows unit by unit in the order of the data.
func interleave(parts []Part, w io.Writer) error {
	type piece struct {
		ShardUnit
		part int
		rows []byte
	}
	var pieces []piece
	for n := range parts {
		rest := parts[n].Rows
		for _, u := range parts[n].Summary.Shard.Units {
			end := 0
			for range u.Rows {
				end += bytes.IndexByte(rest[end:], '\n') + 1
			}
			pieces = append(pieces, piece{u, n, rest[:end]})
			rest = rest[end:]
		}
	}
	slices.SortStableFunc(pieces, func(a, b piece) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Unit, b.Unit))
	})
	for i, p := range pieces {
		if i > 0 && pieces[i-1].File == p.File && pieces[i-1].Unit == p.Unit {
			return fail.New(fail.Refused, msg.Text{"%s and %s overlap: both hold unit %d of %s", "%s 与 %s 重叠：都含有单元 %d（%s）"},
				parts[pieces[i-1].part].Name, parts[p.part].Name, p.Unit, parts[p.part].Summary.Inputs[p.File].File)
		}
		if _, err := w.Write(p.rows); err != nil {
			return err
		}
	}
	return nil
}

// sum adds up the parts' summaries. What is of the whole check is the same in
// all of them.
func sum(parts []Part) *Summary {
	s := *parts[0].Summary
	s.Shard, s.RowsSHA256, s.Rows = nil, "", 0
	s.Records, s.Bytes, s.Failed, s.Waived, s.Exit = 0, 0, 0, 0, 0
	s.Verdicts, s.ByItem = map[string]int{}, nil
	s.Inputs = slices.Clone(s.Inputs)
	for i := range s.Inputs {
		in := &s.Inputs[i]
		in.Records, in.Bytes, in.Failing, in.Members = 0, 0, 0, nil
	}
	if s.Waivers != nil {
		s.Waivers = &WaiverState{SHA256: s.Waivers.SHA256, Entries: slices.Clone(s.Waivers.Entries)}
		for i := range s.Waivers.Entries {
			s.Waivers.Entries[i].Findings = 0
		}
	}
	partial := false
	for i := range parts {
		p := parts[i].Summary
		s.Records += p.Records
		s.Bytes += p.Bytes
		s.Failed += p.Failed
		s.Waived += p.Waived
		s.Rows += p.Rows
		for _, v := range slices.Sorted(maps.Keys(p.Verdicts)) {
			s.Verdicts[v] += p.Verdicts[v]
		}
		for _, h := range p.ByItem {
			s.addHits(h)
		}
		for k := range p.Inputs {
			s.Inputs[k].add(&p.Inputs[k])
		}
		if s.Waivers != nil {
			for k := range p.Waivers.Entries {
				s.Waivers.Entries[k].Findings += p.Waivers.Entries[k].Findings
			}
		}
		partial = partial || p.Exit == fail.Partial.Code()
	}
	if s.Waivers != nil {
		for i := range s.Waivers.Entries {
			s.Waivers.Entries[i].settle()
		}
	}
	switch {
	case s.Failed > 0:
		s.Exit = fail.Contamination.Code()
	case partial || s.Records == 0:
		s.Exit = fail.Partial.Code()
	}
	s.Normalize()
	return &s
}

// add adds what another shard looked at of the same file.
func (in *Input) add(other *Input) {
	in.Records += other.Records
	in.Bytes += other.Bytes
	in.Failing += other.Failing
	for how, n := range other.Members {
		if in.Members == nil {
			in.Members = map[string]int{}
		}
		in.Members[how] += n
	}
}
