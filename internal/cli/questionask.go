package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/overlay"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/parallel"
	"github.com/drydock-ml/drydock/internal/pipeline"
	"github.com/drydock-ml/drydock/internal/ui"
)

// asks reports whether decisions are asked for: at a terminal, when nothing else
// is wanted.
func (d *reviewDesk) asks() bool {
	h := d.a.host
	return h.InTTY && h.OutTTY && !d.a.global.NoInput && !d.a.term.JSON() && d.made == 0 && d.o.HTML+d.o.Markdown == ""
}

// askHelp says what may be typed.
func askHelp() msg.Text {
	return msg.Text{
		"Enter: next · = right as read · B, AC, true, false: the answer · s TEXT: the stem · o B TEXT: option B · - leave out · < back · q: end",
		"回车：下一题 · = 读取无误 · B、AC、对、错：答案 · s 文本：题干 · o B 文本：选项 B · - 不采用 · < 上一题 · q：结束",
	}
}

// ask goes through the items that are not decided.
func (d *reviewDesk) ask(ctx context.Context) error {
	t := d.a.term
	in := bufio.NewReader(d.a.host.In)
	var open []int
	for i := range d.items {
		if d.items[i].Fix == nil || d.o.All {
			open = append(open, i)
		}
	}
	if len(open) > 0 {
		t.Print(askHelp())
	}
	for n := 0; n < len(open); {
		it := &d.items[open[n]]
		t.Println("")
		printReviewItem(t, it, n+1, len(open))
		step, err := d.askOne(ctx, in, it)
		if err != nil || step == 0 {
			return err
		}
		n = max(n+step, 0)
	}
	return nil
}

// askOne asks about an item until it is decided or left; step is where to go on,
// 0 to end.
func (d *reviewDesk) askOne(ctx context.Context, in *bufio.Reader, it *pipeline.ReviewItem) (step int, err error) {
	set := &overlay.Fields{}
	for {
		_, _ = d.a.term.Write([]byte("? "))
		line, err := readLine(ctx, in)
		if ctx.Err() != nil {
			d.kept()
			return 0, context.Cause(ctx)
		}
		if err != nil && (!errors.Is(err, io.EOF) || line == "") {
			return 0, nil
		}
		step, done, err := d.typed(strings.TrimSpace(line), it, set)
		var refused *fail.Error
		switch {
		case errors.As(err, &refused) && refused.Kind == fail.Usage:
			d.a.term.Print(msg.Text{"%s", "%s"}, refused)
		case err != nil:
			return 0, err
		case done:
			return step, nil
		}
	}
}

// readLine reads a line from the terminal; ^C ends the wait, though not the read.
func readLine(ctx context.Context, in *bufio.Reader) (string, error) {
	var line string
	read := parallel.Go(func() (err error) {
		line, err = in.ReadString('\n')
		return err
	})
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case <-read.Done():
		err := read.Wait()
		return line, err
	}
}

// kept says, when the asking is broken off, that nothing is lost.
func (d *reviewDesk) kept() {
	d.a.term.Note(msg.Text{"%d {decision|decisions} kept in %s", "已保存 %d 条决定：%s"}, d.made, d.o.Fixes)
}

// next says what to do with the decisions, or how to make some.
func (d *reviewDesk) next(t *ui.Terminal) {
	open := slices.ContainsFunc(d.items, func(it pipeline.ReviewItem) bool { return it.Fix == nil })
	cfg, err := d.a.loadProject()
	switch {
	case d.o.DryRun:
	case d.made == 0 && open:
		t.Note(msg.Text{
			"decide at a terminal, or with --answer ID=B, --accept ID and --drop ID", "请在终端上作出决定，或使用 --answer ID=B、--accept ID 和 --drop ID",
		})
	case len(d.fixes.Fixes())+d.made == 0:
	case err != nil:
		t.Note(msg.Text{"to apply them: drydock prep SRC… --fixes %s -o FILE", "应用这些决定：drydock prep SRC… --fixes %s -o FILE"}, d.o.Fixes)
	case cfg.Fixes == "":
		t.Note(msg.Text{"to apply them: write fixes: %s into %s, then drydock run", "应用这些决定：将 fixes: %s 写入 %s，再执行 drydock run"}, d.o.Fixes, d.a.configFile())
	default:
		t.Next("drydock run")
	}
}

// typed does what was typed about an item.
func (d *reviewDesk) typed(line string, it *pipeline.ReviewItem, set *overlay.Fields) (step int, done bool, err error) {
	word, rest, _ := strings.Cut(line, " ")
	changed := set.Stem != nil || set.Options != nil
	switch {
	case line == "" && !changed:
		return 1, true, nil
	case word == "q":
		return 0, true, nil
	case word == "<":
		return -1, true, nil
	case word == "-":
		return 1, true, d.decide(it, it.NewFix(overlay.Drop, nil))
	case word == "s" && rest != "":
		set.Stem = &rest
		d.preview(it, set)
	case word == "o" && rest != "":
		if err := setOption(it, set, rest); err != nil {
			return 0, false, err
		}
		d.preview(it, set)
	case word == "=" || line == "":
		if changed {
			return 1, true, d.decide(it, it.NewFix(overlay.Set, set))
		}
		return 1, true, d.decide(it, it.NewFix(overlay.Accept, nil))
	default:
		answer := answerOf(line, it.Base())
		if len(answer) == 0 {
			d.a.term.Print(askHelp())
			return 0, false, nil
		}
		set.Answer, set.Kind = answer, kindFor(it.Question, answer)
		return 1, true, d.decide(it, it.NewFix(overlay.Set, set))
	}
	return 0, false, nil
}

// preview shows what the changes so far come to.
func (d *reviewDesk) preview(it *pipeline.ReviewItem, set *overlay.Fields) {
	q := &drydock.Question{}
	if base := it.Base(); base != nil {
		c := *base
		q = &c
	}
	if set.Stem != nil {
		q.Stem = *set.Stem
	}
	if set.Options != nil {
		q.Options = set.Options
	}
	for _, l := range questionLines(q, d.a.lang) {
		d.a.term.Prose("  > " + l)
	}
	d.a.term.Print(msg.Text{"= keeps it, a letter keeps it with that answer", "= 保留；输入字母则以该答案保留"})
}

// setOption sets the text of an option: "B 两个黑球".
func setOption(it *pipeline.ReviewItem, set *overlay.Fields, rest string) error {
	label, text, ok := strings.Cut(rest, " ")
	label = strings.ToUpper(label)
	if !ok || len(label) != 1 || label < "A" || label > "Z" {
		return fail.New(fail.Usage, msg.Text{"o %q: want a letter and the text", "o %q：应为字母加文本"}, rest)
	}
	if base := it.Base(); set.Options == nil && base != nil {
		set.Options = slices.Clone(base.Options)
	}
	for i := range set.Options {
		if set.Options[i].Label == label {
			set.Options[i].Text = text
			return nil
		}
	}
	set.Options = append(set.Options, drydock.Option{Label: label, Text: text})
	slices.SortStableFunc(set.Options, func(a, b drydock.Option) int { return strings.Compare(a.Label, b.Label) })
	return nil
}
