package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/overlay"
	"github.com/drydock-ml/drydock/dataprep/question"
	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/pipeline"
	"github.com/drydock-ml/drydock/internal/ui"
	"github.com/drydock-ml/drydock/provenance"
)

func newQuestionCommand(a *app) *cobra.Command {
	return a.group("question", msg.Text{"Look at questions that were read, and correct them.", "查看并修正已读取的题目。"}, newQuestionReviewCommand(a))
}

// QuestionReviewOptions are the flags of question review.
type QuestionReviewOptions struct {
	Files    []string
	Fixes    string
	Below    float64
	All      bool
	Sources  []string
	Markdown string
	HTML     string
	By       string
	Accept   []string
	Drop     []string
	Answer   []string
	Limit    int
	readOptions
	DryRun bool
}

func newQuestionReviewCommand(a *app) *cobra.Command {
	var o QuestionReviewOptions
	c := a.command("review", about{
		use: "[FILE…]", args: anyArgs("FILE"),
		short: msg.Text{"Go through doubtful questions beside their source, and decide.", "对照来源逐条查看可疑题目并作出决定。"},
		long: msg.Text{
			"FILE is what drydock prep --to question wrote, or its drop file (one beside it is read as well); without FILE, in a project, what its last run left out. On a terminal each doubtful question is asked about, the most doubtful first; elsewhere they are listed. Decisions go to the file of fixes, tied to the source's bytes, the place and the reading; drydock prep --fixes and fixes: in drydock.yaml apply them.",
			"FILE 为 drydock prep --to question 的输出或其丢弃文件（同目录的丢弃文件会一并读取）；在项目中省略 FILE 时，为上次运行未采用的内容。在终端上逐条询问，最可疑的在前；其他情况下列出清单。决定写入修正文件，与来源字节、位置及读取结果绑定；由 drydock prep --fixes 和 drydock.yaml 中的 fixes: 应用。",
		},
		examples: []example{
			{msg.Text{"decide, one question after the other", "逐题作出决定"}, "drydock question review q.jsonl"},
			{msg.Text{"read the bank again with the decisions", "按这些决定重新读取题库"}, "drydock prep bank.pdf --fixes fixes.jsonl -o q.jsonl"},
			{msg.Text{"in a project, what the last run left out", "在项目中，上次运行未采用的内容"}, "drydock question review -C bank"},
			{msg.Text{"a page for a teacher to look at", "供教师查看的网页"}, "drydock question review q.jsonl --html review.html"},
			{msg.Text{"from a script", "在脚本中"}, "drydock question review q.jsonl --answer 17=B --drop 21"},
		},
		exits: []int{3},
	}, nil)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		o.Files = args
		return runQuestionReview(cmd.Context(), a, o)
	}
	f := a.flags(c.Flags())
	f.output(&o.Fixes, "fixes", "", msg.Text{"read and write decisions in `FILE` (default: fixes.jsonl)", "在 `FILE` 中读写决定（默认：fixes.jsonl）"})
	f.float(&o.Below, "below", "", 0.9, msg.Text{"show questions of less confidence than `X`, 0 to 1", "显示可信度低于 `X`（0 到 1）的题目"})
	f.bool(&o.All, "all", "", msg.Text{"show every question, decided ones too", "显示全部题目，包括已决定的"})
	f.strs(&o.Sources, "source", "", msg.Text{"file or folder `PATH` where the sources lie; may be repeated (default: here, and the project's)", "来源所在的文件或目录 `PATH`；可重复（默认：当前目录及项目来源）"})
	f.strs(&o.Accept, "accept", "", msg.Text{"the question `ID` is right as it was read; may be repeated", "题目 `ID` 读取无误；可重复"})
	f.strs(&o.Answer, "answer", "", msg.Text{"the answer of a question, as `ID=LETTERS`; may be repeated", "以 `ID=LETTERS` 指定题目答案；可重复"})
	f.strs(&o.Drop, "drop", "", msg.Text{"leave the question `ID` out; may be repeated", "不采用题目 `ID`；可重复"})
	f.str(&o.By, "by", "", "", msg.Text{"who decides, as `NAME`; written into the fixes", "决定者 `NAME`，写入修正文件"})
	f.int(&o.Limit, "limit", "", 20, msg.Text{"list at most `N`; 0: all", "最多列出 `N` 条；0 表示全部"})
	f.str(&o.HTML, "html", "", "", msg.Text{"write the list to `FILE` as one page", "将清单写为单个网页 `FILE`"})
	f.str(&o.Markdown, "md", "", "", msg.Text{"write the list to `FILE` as Markdown", "将清单写为 Markdown `FILE`"})
	for _, name := range []string{"html", "md"} {
		f.typed(name)
	}
	f.read(&o.readOptions)
	f.dryRun(&o.DryRun)
	return c
}

// questionReviewAnswer is the answer of question review. Its fields are stable.
type questionReviewAnswer struct {
	Schema   string                `json:"schema"`
	Rows     int                   `json:"rows"`  // questions that were read
	Drops    int                   `json:"drops"` // pieces of the drop files
	Doubtful int                   `json:"doubtful"`
	Decided  int                   `json:"decided"` // of the doubtful
	Fixes    string                `json:"fixes"`
	Made     int                   `json:"made"` // decisions of this call
	HTML     string                `json:"html,omitempty"`
	Markdown string                `json:"md,omitempty"`
	Items    []pipeline.ReviewItem `json:"items"`
	Lacks    []string              `json:"lacks"` // sources that were not found

	asked bool // the items were on the screen one by one
	next  func(t *ui.Terminal)
}

func runQuestionReview(ctx context.Context, a *app, o QuestionReviewOptions) error {
	if err := a.completeReview(&o); err != nil {
		return err
	}
	desk, err := openReviewDesk(a, o)
	if err != nil {
		return err
	}
	read, err := o.options()
	if err != nil {
		return err
	}
	read.CacheDir, read.Workers = a.host.cache(), a.workers()
	below := o.Below
	if o.All || len(o.Accept)+len(o.Drop)+len(o.Answer) > 0 {
		below = 2
	}
	rv, err := pipeline.ReadReview(ctx, pipeline.ReviewOptions{
		Files: o.Files, Below: below, Sources: o.Sources, Fixes: desk.fixes, Read: read,
	})
	if err != nil {
		return err
	}
	desk.items = rv.Items
	if err := desk.decideByFlags(); err != nil {
		return err
	}
	if desk.made > 0 { // what was decided just now is what is shown
		rv.Items = slices.DeleteFunc(rv.Items, func(it pipeline.ReviewItem) bool { return !desk.now[it.Read+it.At] })
		desk.items = rv.Items
	}
	asked := desk.asks()
	if asked {
		if err := desk.ask(ctx); err != nil {
			return err
		}
	}
	ans := &questionReviewAnswer{
		Schema: "drydock.question.review/1", Rows: rv.Rows, Drops: rv.Drops, Doubtful: len(rv.Items), Fixes: o.Fixes, Made: desk.made,
		Items: rv.Items, Lacks: append([]string{}, rv.Lacks...), asked: asked, next: desk.next,
	}
	for i := range rv.Items {
		if rv.Items[i].Fix != nil {
			ans.Decided++
		}
	}
	if !o.DryRun {
		if err := ans.write(&o, a.lang); err != nil {
			return err
		}
	}
	if o.Limit > 0 && len(ans.Items) > o.Limit {
		ans.Items = ans.Items[:o.Limit]
	}
	if err := a.answer(ans); err != nil {
		return err
	}
	return rv.Unread.OrNil()
}

// completeReview fills in what was not said: the drop file beside the rows, where
// the sources may lie, the file of fixes.
func (a *app) completeReview(o *QuestionReviewOptions) error {
	if o.Below < 0 || o.Below > 1 {
		return fail.New(fail.Usage, msg.Text{"--below %v: want a number from 0 to 1", "--below %v：应为 0 到 1 之间的数"}, o.Below)
	}
	if o.Fixes == "" {
		o.Fixes = "fixes.jsonl"
	}
	for _, name := range []string{o.Fixes, o.HTML, o.Markdown} {
		if err := keepInputs("--fixes, --html, --md", name, o.Files); err != nil {
			return err
		}
	}
	if len(o.Files) == 0 {
		if _, err := os.Stat(filepath.FromSlash(pipeline.SourceDrops)); err != nil {
			return fail.New(fail.Usage, msg.Text{"question review: no FILE, and no run of a project here", "question review：未指定 FILE，此处也没有项目的运行结果"}).
				Hint(msg.Text{"name what drydock prep --to question wrote, or call drydock run first", "请指定 drydock prep --to question 的输出，或先执行 drydock run"})
		}
		o.Files = []string{filepath.FromSlash(pipeline.SourceDrops)}
	}
	for _, name := range slices.Clone(o.Files) {
		if _, err := os.Stat(name); err != nil {
			return fail.New(fail.Usage, msg.Text{"%v", "%v"}, err)
		}
		beside := strings.TrimSuffix(name, ".jsonl") + ".dropped.jsonl"
		if _, err := os.Stat(beside); err == nil && !slices.Contains(o.Files, beside) {
			o.Files = append(o.Files, beside)
		}
	}
	if len(o.Sources) == 0 {
		o.Sources = append(o.Sources, ".")
		if _, err := os.Stat(a.configFile()); err == nil {
			if cfg, err := a.loadProject(); err == nil {
				o.Sources = append(o.Sources, cfg.SourceFolders()...)
			}
		}
	}
	return nil
}

// A reviewDesk is where decisions are made and kept.
type reviewDesk struct {
	a     *app
	o     QuestionReviewOptions
	fixes *overlay.Overlay
	items []pipeline.ReviewItem
	data  []byte // of the file of fixes
	made  int
	now   map[string]bool // what was decided by this call
}

func openReviewDesk(a *app, o QuestionReviewOptions) (*reviewDesk, error) {
	d := &reviewDesk{a: a, o: o, now: map[string]bool{}}
	var err error
	if d.data, err = os.ReadFile(o.Fixes); err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	if len(d.data) > 0 && d.data[len(d.data)-1] != '\n' {
		d.data = append(d.data, '\n')
	}
	fixes, bad := overlay.Parse(o.Fixes, d.data)
	if len(bad) > 0 {
		return nil, bad
	}
	d.fixes = fixes
	return d, nil
}

// decide keeps a decision at once, so that ^C loses none.
func (d *reviewDesk) decide(it *pipeline.ReviewItem, f overlay.Fix) error {
	if _, err := it.Try(&f); err != nil {
		return fail.New(fail.Usage, msg.Text{"%s: %v", "%s：%v"}, it.ID, err)
	}
	f.By, f.Date = d.o.By, d.a.host.Now().Format(time.DateOnly)
	it.Fix = &f
	d.made++
	d.now[it.Read+it.At] = true
	line, err := overlay.Append(nil, f)
	if err != nil || d.o.DryRun {
		return err
	}
	d.data = append(d.data, line...)
	return atomicfile.WriteFile(d.o.Fixes, d.data)
}

// decideByFlags makes the decisions of --accept, --answer and --drop.
func (d *reviewDesk) decideByFlags() error {
	for _, g := range []struct {
		ids    []string
		action overlay.Action
	}{{d.o.Accept, overlay.Accept}, {d.o.Answer, overlay.Set}, {d.o.Drop, overlay.Drop}} {
		for _, id := range g.ids {
			var set *overlay.Fields
			if g.action == overlay.Set {
				name, letters, ok := strings.Cut(id, "=")
				if !ok || len(answerOf(letters, nil)) == 0 {
					return fail.New(fail.Usage, msg.Text{"--answer %q: want ID=LETTERS", "--answer %q：应为 ID=LETTERS"}, id)
				}
				id, set = name, &overlay.Fields{Answer: []string{letters}}
			}
			it, err := d.item(id)
			if err != nil {
				return err
			}
			if set != nil {
				set.Answer = answerOf(set.Answer[0], it.Base())
				set.Kind = kindFor(it.Question, set.Answer)
			}
			if err := d.decide(it, it.NewFix(g.action, set)); err != nil {
				return err
			}
		}
	}
	return nil
}

// item finds the one item of an id.
func (d *reviewDesk) item(id string) (*pipeline.ReviewItem, error) {
	var found *pipeline.ReviewItem
	for i := range d.items {
		if d.items[i].ID != id {
			continue
		}
		if found != nil {
			return nil, fail.New(fail.Usage, msg.Text{"%s names several questions: %s %s and %s %s", "%s 对应多道题目：%s %s 与 %s %s"}, id, found.File, found.At, d.items[i].File, d.items[i].At)
		}
		found = &d.items[i]
	}
	if found == nil {
		return nil, fail.New(fail.Usage, msg.Text{"there is no question %s in what was read", "所读内容中没有题目 %s"}, id)
	}
	return found, nil
}

// answerOf reads letters, or a word for true or false. Of a question with options,
// q, T and F are letters like others.
func answerOf(s string, q *drydock.Question) []string {
	word := strings.ToLower(strings.TrimSpace(s))
	if len(word) == 1 && q != nil && len(q.Options) > 0 {
		word = ""
	}
	switch word {
	case "true", "t", "对", "正确", "√":
		return []string{"true"}
	case "false", "f", "错", "错误", "×":
		return []string{"false"}
	}
	var out []string
	for _, r := range strings.ToUpper(s) {
		switch {
		case r >= 'A' && r <= 'Z':
			if l := string(r); !slices.Contains(out, l) {
				out = append(out, l)
			}
		case strings.ContainsRune(" ,、，;；", r):
		default:
			return nil
		}
	}
	slices.Sort(out)
	return out
}

// kindFor is the form a question takes with an answer, where it is another than
// it was read as: several letters make a single choice a multiple one.
func kindFor(q *drydock.Question, answer []string) *drydock.QuestionKind {
	if q == nil {
		return nil
	}
	k := q.Kind
	switch {
	case k == drydock.Single && len(answer) > 1:
		k = drydock.Multiple
	case k != drydock.Judge && len(answer) == 1 && len(q.Options) == 0 && (answer[0] == "true" || answer[0] == "false"):
		k = drydock.Judge
	default:
		return nil
	}
	return &k
}

func (ans *questionReviewAnswer) text(t *ui.Terminal) {
	t.Print(msg.Text{
		"%d {question|questions} read, %d doubtful or dropped, %d of them decided (%s)",
		"已读 %d 题，可疑或被丢弃 %d 条，其中已决定 %d 条（%s）",
	}, ans.Rows, ans.Doubtful, ans.Decided, ans.Fixes)
	for _, name := range ans.Lacks {
		t.Print(msg.Text{"%s was not found: --source says where it lies", "未找到 %s：用 --source 指定其位置"}, name)
	}
	for _, name := range []string{ans.HTML, ans.Markdown} {
		if name != "" {
			t.Print(msg.Text{"page: %s", "页面：%s"}, name)
		}
	}
	if ans.HTML+ans.Markdown == "" && !ans.asked {
		ans.list(t)
	}
	ans.next(t)
}

// list shows the items one under the other.
func (ans *questionReviewAnswer) list(t *ui.Terminal) {
	for i := range ans.Items {
		t.Println("")
		printReviewItem(t, &ans.Items[i], i+1, ans.Doubtful)
	}
	if more := ans.Doubtful - len(ans.Items); more > 0 {
		t.Println("")
		t.Print(msg.Text{"%d more: --limit 0 shows all", "另有 %d 条：--limit 0 显示全部"}, more)
	}
}

// printReviewItem shows an item beside its source.
func printReviewItem(t *ui.Terminal, it *pipeline.ReviewItem, n, of int) {
	t.Println(t.Bold(fmt.Sprintf("%d/%d", n, of)) + "  " + it.File + " " + it.At + "  " + it.ID)
	for _, s := range reviewDoubts(it, t.Lang()) {
		t.Prose("  ! " + s)
	}
	width := max(min(t.Width(), 100), 40) - 4
	for _, l := range sourceLines(it) {
		for _, w := range ui.Wrap(l, width) {
			t.Println("  | " + w)
		}
	}
	if q := reviewed(it); q != nil {
		for _, l := range questionLines(q, t.Lang()) {
			for _, w := range ui.Wrap(l, width) {
				t.Println("  > " + w)
			}
		}
	}
	if it.Fix != nil {
		t.Prose("  = " + fixWords(it.Fix, t.Lang()))
	}
}

// sourceLines are the lines of the source to show beside an item.
func sourceLines(it *pipeline.ReviewItem) []string {
	lines := slices.Clone(it.Excerpt)
	if len(lines) == 0 && it.Text != "" {
		lines = strings.Split(it.Text, "\n")
	}
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], "\t", " | ") // the cells of a table
	}
	return lines
}

// reviewed is the question as it stands: with what was decided.
func reviewed(it *pipeline.ReviewItem) *drydock.Question {
	if it.Fix != nil {
		if q, err := it.Try(it.Fix); err == nil && q != nil {
			return q
		}
	}
	return it.Base()
}

// reviewDoubts says what is doubtful about an item.
func reviewDoubts(it *pipeline.ReviewItem, l msg.Lang) []string {
	if it.Question == nil {
		return []string{(msg.Text{"dropped: %s", "被丢弃：%s"}).Format(l, dropWords(it, l))}
	}
	out := []string{(msg.Text{"confidence %.2f", "可信度 %.2f"}).Format(l, it.Question.Confidence)}
	for _, d := range it.Question.Doubts {
		if m, ok := question.DoubtMeaning(d); ok {
			d = m.In(l)
		}
		out = append(out, d)
	}
	return out
}

// dropWords says why a piece was dropped, with the code that programs know.
func dropWords(it *pipeline.ReviewItem, l msg.Lang) string {
	said := it.Reason
	if m, ok := provenance.ReasonMeaning(it.Reason); ok {
		said = (msg.Text{"%s (%s)", "%s（%s）"}).Format(l, m, it.Reason)
	}
	if it.Detail != "" {
		said += msg.Text{"; %s", "；%s"}.Format(l, detailWords(it.Detail))
	}
	return said
}

// questionLines writes a question as a person reads it.
func questionLines(q *drydock.Question, l msg.Lang) []string {
	out := []string{q.Stem}
	for _, o := range q.Options {
		out = append(out, o.Label+". "+o.Text)
	}
	answer := strings.Join(q.Answer, " ")
	if answer == "" {
		answer = "?"
	}
	if q.Kind == "" {
		return append(out, (msg.Text{"answer: %s", "答案：%s"}).Format(l, answer))
	}
	return append(out, (msg.Text{"answer: %s (%s)", "答案：%s（%s）"}).Format(l, answer, kindName(string(q.Kind), l)))
}

func fixWords(f *overlay.Fix, l msg.Lang) string {
	words := map[overlay.Action]msg.Text{
		overlay.Accept: {"accepted", "已确认"}, overlay.Set: {"corrected", "已修正"}, overlay.Drop: {"left out", "不采用"},
	}
	s := words[f.Action].In(l)
	for _, x := range []string{f.By, f.Date, f.Note} {
		if x != "" {
			s += (msg.Text{", ", "，"}).In(l) + x
		}
	}
	return s
}

// printFixes says what became of the corrections of a review.
func printFixes(t *ui.Terminal, f *pipeline.FixResult) {
	if f == nil {
		return
	}
	line := t.Say(msg.Text{"corrections: %d applied (%s)", "修正：已应用 %d 条（%s）"}, f.Applied, f.File)
	if f.Other > 0 {
		line += t.Say(msg.Text{", %d about other files", "，%d 条针对其他文件"}, f.Other)
	}
	t.Prose(line)
}
