package question

import (
	"slices"
	"strings"

	"github.com/drydock-ml/drydock"
)

// build makes the record of an item.
func (c *chapter) build(it *item) (*drydock.Record, *drydock.Drop) {
	if len(c.edges) > 0 {
		it.lines = slices.DeleteFunc(it.lines, func(l line) bool { return l.at != it.lines[0].at && c.runningTitle(l) })
	}
	p := it.cut()
	p.leadingAnswer()
	b := splitBody(p.body)
	d := &draft{
		at: it.lines[0].at, text: it.text, form: it.form, options: b.options, gap: b.gap,
		explain: p.explain, subject: it.path.subject(), doubts: b.doubts, yesIsA: saysYesIsA(it.path.formTitle),
	}
	for _, l := range it.lines {
		if l.figure != "" && !slices.Contains(d.figures, l.figure) {
			d.figures = append(d.figures, l.figure)
		}
	}
	var form drydock.QuestionKind
	if d.stem, form = cleanStem(b.stem, it.num.n); it.num.style == numCode {
		d.rowID = it.code()
	}
	if form != "" {
		d.form = form
	}
	if it.shared != nil && d.stem != "" {
		for _, l := range it.shared.lines {
			if l.figure != "" && !slices.Contains(d.figures, l.figure) {
				d.figures = append(d.figures, l.figure)
			}
		}
		d.share(it.shared)
	}
	d.keep = c.keep
	reason, detail := it.settleAnswer(d, p)
	if reason == "" && !d.given {
		if rest, a, ok := trailingAnswer(d.stem, len(d.options), d.form); ok {
			d.stem, d.ans, d.given = rest, a, true
		}
	}
	if reason == reasonKeyCount || reason == "" && !d.given {
		if d.answeredInPlace() {
			reason, detail = "", ""
		}
	}
	if len(d.options) == 0 && d.ans.text != "" {
		d.numberedOptions()
	}
	if reason == "" && len(d.options) > 0 {
		reason, detail = it.settleShown(d)
	}
	if reason == "" && !d.given {
		if o := strayAnswer(d.options); o != "" {
			reason, detail = reasonNoAnswer, "an answer stands in option "+o+", in no form that is known"
		}
	}
	if reason == "" && it.num.style == numLoose && !d.given {
		reason, detail = reasonUnparsed, "a list from A, but neither a number nor an answer"
	}
	it.given = d.given && !d.ans.none() || reason == reasonConflict
	if reason != "" {
		return nil, d.reject(c.file, reason, detail)
	}
	if l := d.ans.letters; len(l) == 1 && d.explain != "" && l[0] < len(d.options) && foldText(d.explain) == foldText(d.options[l[0]].Text) {
		d.explain = "" // 答案：B. 绿 says the option once more
	}
	return d.finish(c.file, c.bar)
}

// strayAnswer names the option whose text ends in what reads as an answer, such as
// <答案>B: the option is not whole without what follows, and the answer not known.
func strayAnswer(options []drydock.Option) string {
	for _, o := range options {
		i := strings.LastIndex(o.Text, "答案")
		if i < 0 {
			continue
		}
		t := strings.Trim(o.Text[i+len("答案"):], " 　:：>》」』】]）)(（-—=")
		if v := readLetters(t); v != nil && upperOnly(t) {
			return o.Label
		}
	}
	return ""
}

// share gives an item what it has in common with others: a list of options to
// choose from, or a text before its stem.
func (d *draft) share(s *shared) {
	if o, text := s.choices(); o != nil && len(d.options) == 0 {
		d.options, d.form = o, drydock.Matching
		if text != "" {
			d.stem = text + "\n" + d.stem
		}
		return
	}
	d.stem = s.text() + "\n" + d.stem
	d.doubted(doubtShared)
}

// settleAnswer chooses the answer: the one labelled beside the question, else
// the key's, else the one inside the stem. Two that differ are a conflict.
func (it *item) settleAnswer(d *draft, p parts) (reason, detail string) {
	in, inline := findInline(d.stem)
	if inline && in.ans.judge != "" && len(d.options) > 2 {
		inline = false
	}
	if inline && in.ans.judge == "" && len(d.options) == 0 && d.form != drydock.Judge {
		inline = in.strong
	}
	if len(it.key.explain) > 0 {
		d.explain = string(join([]byte(d.explain), unwrap(strings.Join(it.key.explain, "\n"))))
	}
	switch {
	case p.twice:
		return reasonConflict, "two different answers stand with the question"
	case p.hasAns:
		d.ans, d.given = readAnswer(p.answer), true
		if it.hasKey && !sameAnswer(d.ans, readAnswer(it.key.value)) {
			return reasonConflict, "the answer beside the question differs from the key"
		}
	case it.hasKey:
		d.ans, d.given, d.keyAt = readAnswer(it.key.value), true, it.key.at
		if it.keyDoubt != "" {
			d.doubted(it.keyDoubt)
		}
	case it.mismatch != "":
		return reasonKeyCount, it.mismatch
	case inline && (in.strong || len(d.options) > 0):
		d.ans, d.given = in.ans, true
		if !in.strong {
			d.doubted(doubtInStem)
		}
		d.stem = blankOut(d.stem, in)
		return "", ""
	}
	if inline && d.given && sameAnswer(d.ans, in.ans) {
		d.stem = blankOut(d.stem, in)
	} else if inline && in.filled && len(in.ans.letters) > 0 && len(d.ans.letters) > 0 {
		return reasonConflict, "the answer written into the stem differs from the one that stands with it"
	}
	return "", ""
}

func sameAnswer(a, b answer) bool {
	return lettersText(a.letters) == lettersText(b.letters) && a.judge == b.judge && a.text == b.text
}
