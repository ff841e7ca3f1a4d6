package cli

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"iter"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/dedup/contam/report"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/pipeline"
)

// contamFiles are the files a check leaves.
type contamFiles struct {
	Report   string `json:"report,omitempty"`
	Markdown string `json:"md,omitempty"`
	HTML     string `json:"html,omitempty"`
	JUnit    string `json:"junit,omitempty"`
	SARIF    string `json:"sarif,omitempty"`
}

// contamOutputs are the flags that say which, and how open they may be.
type contamOutputs struct {
	contamFiles
	Redact bool
}

func (f flags) contamOutputs(o *contamOutputs) {
	f.output(&o.Report, "report", "", msg.Text{"write every finding to `FILE`, one JSON object a line, and FILE.summary.json", "将每个发现写入 `FILE`（每行一个 JSON 对象），并写出 FILE.summary.json"})
	f.output(&o.Markdown, "md", "", msg.Text{"write the answer to `FILE` as Markdown", "将结果写为 Markdown `FILE`"})
	f.output(&o.HTML, "html", "", msg.Text{"write it to `FILE` as one page, side by side", "将结果写为单个网页 `FILE`，左右对照"})
	f.output(&o.JUnit, "junit", "", msg.Text{"write it to `FILE` as JUnit XML, for build servers", "将结果写为 JUnit XML `FILE`，供构建服务器使用"})
	f.output(&o.SARIF, "sarif", "", msg.Text{"write it to `FILE` as SARIF 2.1.0, for code scanning", "将结果写为 SARIF 2.1.0 `FILE`，供代码扫描使用"})
	f.bool(&o.Redact, "redact", "", msg.Text{"show hashes instead of texts everywhere, so that it can be published", "所有输出以哈希代替文本，便于公开"})
}

func (o *contamFiles) named() []namedOutput {
	return []namedOutput{{"--report", o.Report}, {"--md", o.Markdown}, {"--html", o.HTML}, {"--junit", o.JUnit}, {"--sarif", o.SARIF}}
}

// contamSink takes the findings of a check: it writes the rows while they come,
// keeps what the pages are made of, and counts.
type contamSink struct {
	o       contamOutputs
	dry     bool
	summary *report.Summary
	waivers *report.Waivers
	rows    atomicfile.Output
	hash    hash.Hash
	spool   *report.Spool // nil: no page is wanted
	shown   []report.Hit
	failing map[int]int // findings that fail, by number of the input
	buf     []byte
}

func (a *app) contamSink(o contamOutputs, dry bool, s *report.Summary, check *pipeline.ContamCheck, waivers *report.Waivers) (*contamSink, error) {
	k := &contamSink{o: o, dry: dry, summary: s, waivers: waivers, hash: sha256.New(), failing: map[int]int{}}
	if waivers != nil {
		check.Waived = func(f *contam.Finding) bool { return waivers.Find(f) != nil }
	}
	var err error
	if k.rows, err = atomicfile.CreateUnless(dry, o.Report); err != nil {
		return nil, err
	}
	if dry || o.Markdown+o.HTML+o.JUnit+o.SARIF == "" {
		check.Shown = shownHits + 1 // what the answer shows, and that there are more
		return k, nil
	}
	if k.spool, err = report.NewSpool(""); err != nil {
		k.rows.Abort()
		return nil, err
	}
	items := questionsOf(check.Benches)
	k.spool.Items = func(ref contam.ItemRef) *drydock.Question { return items[ref] }
	k.spool.Redact = o.Redact
	return k, nil
}

func questionOf(it *benchmark.Item) *drydock.Question {
	if it == nil {
		return nil
	}
	return &it.Question
}

// hit takes one finding.
func (k *contamSink) hit(h *pipeline.ContamHit) error {
	row := report.Hit{
		Row:    report.Row{Finding: h.Finding, Waived: k.waivers.Count(&h.Finding)},
		Fields: h.Fields, Question: questionOf(h.BenchItem),
	}
	k.summary.Add(&row.Row)
	if k.summary.Shard != nil {
		k.summary.Shard.AddUnit(h.Input, h.Unit)
	}
	if h.Fail {
		k.failing[h.Input]++
	}
	if k.spool != nil {
		if err := k.spool.Add(&row); err != nil {
			return err
		}
	}
	if k.o.Redact {
		row.Redact()
	}
	if row.Fail && len(k.shown) <= shownHits {
		k.shown = append(k.shown, row)
	}
	k.buf = row.Append(k.buf[:0])
	k.hash.Write(k.buf)
	_, err := k.rows.Write(k.buf)
	return err
}

// finish puts the files in place once the summary is complete.
func (k *contamSink) finish(lang msg.Lang) error {
	k.summary.RowsSHA256 = hex.EncodeToString(k.hash.Sum(nil))
	if k.dry {
		return nil
	}
	if k.o.Report != "" {
		if err := errors.Join(k.rows.Commit(), writeSummary(k.o.Report, k.summary)); err != nil {
			return err
		}
	}
	if k.spool == nil {
		return nil
	}
	return k.o.write(k.summary, k.spool.Hits(), lang)
}

func (k *contamSink) close() {
	k.rows.Abort()
	if k.spool != nil {
		_ = k.spool.Close() // a leftover in the system's folder for such
	}
}

// writeSummary writes the summary that belongs to a report.
func writeSummary(reportFile string, s *report.Summary) error {
	b, err := s.MarshalFile()
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(reportFile+report.SummarySuffix, b)
}

// write writes the pages that are wanted.
func (o *contamFiles) write(s *report.Summary, hits iter.Seq2[report.Hit, error], lang msg.Lang) error {
	for _, page := range []struct {
		path  string
		write func(io.Writer, *report.Summary, iter.Seq2[report.Hit, error], msg.Lang) error
	}{
		{o.Markdown, report.Markdown},
		{o.HTML, report.HTML},
		{o.JUnit, report.JUnit},
		{o.SARIF, report.SARIF},
	} {
		if page.path == "" {
			continue
		}
		err := atomicfile.Write(page.path, func(w io.Writer) error {
			b := bufio.NewWriter(w)
			if err := page.write(b, s, hits, lang); err != nil {
				return err
			}
			return b.Flush()
		})
		if err != nil {
			return err
		}
	}
	return nil
}
