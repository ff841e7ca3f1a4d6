package report

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock/internal/msg"
)

// JUnit writes a check as JUnit XML: a test case for every input, which passes
// when nothing in it fails; one that fails for every leak; one that is skipped for
// every waived finding. It never holds a benchmark's text.
func JUnit(w io.Writer, s *Summary, hits iter.Seq2[Hit, error], lang msg.Lang) error {
	leaks := map[string]bool{} // files, and the archives they lie in
	failures, skipped := 0, 0
	for h, err := range hits {
		if err != nil {
			return err
		}
		switch {
		case h.Fail:
			leaks[h.Record.File] = true
			for i, c := range h.Record.File {
				if c == '!' {
					leaks[h.Record.File[:i]] = true
				}
			}
			failures++
		case h.Waived != nil:
			skipped++
		}
	}
	errors := 0
	if s.Records == 0 {
		errors = 1
	}
	clean := slices.DeleteFunc(slices.Clone(s.Inputs), func(in Input) bool { return in.Failing > 0 || leaks[in.File] })
	b := bufio.NewWriter(w)
	counts := fmt.Sprintf(`tests="%d" failures="%d" errors="%d" skipped="%d"`, len(clean)+failures+skipped+errors, failures, errors, skipped)
	fmt.Fprintf(b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"drydock contam check\" %s>\n<testsuite name=\"contamination\" %s>\n", counts, counts)
	for _, in := range clean {
		fmt.Fprintf(b, "<testcase classname=%s name=%s/>\n", attr(in.File),
			attr(msg.Text{"no benchmark item in %d {record|records}", "%d 条记录中无评测集题目"}.Format(lang, in.Records)))
	}
	if errors > 0 {
		fmt.Fprintf(b, "<testcase classname=\"contamination\" name=%s><error message=%[1]s/></testcase>\n", attr(NothingChecked().In(lang)))
	}
	for h, err := range hits {
		if err != nil {
			return err
		}
		name := attr(fmt.Sprintf("%s %s %d", Where(&h.Record), h.Item.Benchmark, h.Item.Index))
		switch {
		case h.Fail:
			fmt.Fprintf(b, "<testcase classname=%s name=%s><failure type=%s message=%s/></testcase>\n",
				attr(h.Record.File), name, attr(string(h.Verdict)), attr(h.Sentence(lang)))
		case h.Waived != nil:
			fmt.Fprintf(b, "<testcase classname=%s name=%s><skipped message=%s/></testcase>\n",
				attr(h.Record.File), name, attr(waivedBecause(h.Waived).In(lang)))
		}
	}
	fmt.Fprint(b, "</testsuite>\n</testsuites>\n")
	return b.Flush()
}

// NothingChecked says that a check looked at no record, which is no clean bill.
func NothingChecked() msg.Phrase {
	return msg.Phrase{Text: msg.Text{"nothing was checked: the inputs hold no record", "没有检查任何内容：输入中没有记录"}}
}

func waivedBecause(w *Waiver) msg.Phrase {
	return msg.Phrase{Text: msg.Text{"waived by %s until %s: %s", "由 %s 豁免至 %s：%s"}, Args: []any{w.Author, w.Expires, w.Reason}}
}

// attr quotes an XML attribute. Characters that XML cannot hold become U+FFFD.
func attr(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder never fails
	return `"` + b.String() + `"`
}
