package pipeline

import (
	"slices"
	"strings"

	"github.com/drydock-ml/drydock/dataprep/question"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// addSections appends the parts one unit of a file told. Rows of one table are
// cut into units anywhere, so their counts are added up.
func addSections(all, more []question.Part) []question.Part {
	for _, p := range more {
		if p.Rows {
			same := func(q question.Part) bool { return q.Rows && slices.Equal(q.Title, p.Title) }
			if at := slices.IndexFunc(all, same); at >= 0 {
				all[at].Add(p)
				continue
			}
		}
		all = append(all, p)
	}
	return all
}

// maxUnclosed is how many sections of a file are named whose counts differ.
const maxUnclosed = 5

// proveSections holds a file's sections to the proof: as many questions as
// answers, each joined. What does not close makes the run end with 3.
func (r *runner) proveSections(file string, parts []question.Part, settled int, src *StageResult) {
	open := question.Unclosed(parts)
	if settledBy(open, settled) {
		open = nil // what the counts lack, a person has decided
	}
	for i, p := range open {
		if i == maxUnclosed {
			r.partial = append(r.partial, r.hintReview(fail.New(fail.Partial, msg.Text{
				"%s: %d more {section does|sections do} not close", "%s：另有 %d 个部分数量不符",
			}, file, len(open)-i)))
			break
		}
		r.partial = append(r.partial, r.hintReview(fail.New(fail.Partial, msg.Text{
			"%s: %s does not close: questions %d, key letters %d, matched %d",
			"%s：%s 数量不符：题目 %d，答案 %d，已对应 %d",
		}, file, SectionName(p), p.Questions, p.Keys, p.Matched)))
	}
	for _, n := range question.Suspicions(parts) {
		note := Note{File: file, Code: n.Code, En: file + ": " + n.Text.Format(msg.En, n.Args...), Zh: file + "：" + n.Text.Format(msg.Zh, n.Args...)}
		src.Notes = append(src.Notes, note)
		r.warnNote(noteRow{Code: note.Code, En: note.En, Zh: note.Zh})
	}
}

// SourceDrops is where a project keeps what its readers and the question parser
// left out.
const SourceDrops = ".drydock/stages/01-sources/dropped.jsonl"

// hintReview says where what was left out of a bank is looked at and decided.
func (r *runner) hintReview(e *fail.Error) *fail.Error {
	return e.Hint(msg.Text{
		"%s shows what is doubtful beside its source and takes your decisions",
		"%s 将可疑内容与来源对照列出，并记录您的决定",
	}, strings.TrimSpace("drydock question review "+r.reviewed))
}

// SectionName says which section is meant: its titles, else where it begins.
func SectionName(p question.Part) msg.Localizer {
	if len(p.Title) > 0 {
		t := strings.Join(p.Title, " · ")
		return msg.Text{t, t}
	}
	if p.At == "" {
		return msg.Text{"the whole file", "整个文件"}
	}
	return msg.Text{"the section from " + p.At, "自 " + p.At + " 起的部分"}
}
