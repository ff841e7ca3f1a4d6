package cli

import (
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/ui"
	"github.com/drydock-ml/drydock/provenance"
)

// CardOptions are the flags of card.
type CardOptions struct{ Format string }

func newCardCommand(a *app) *cobra.Command {
	var o CardOptions
	c := a.command("card", about{
		short: msg.Text{"Show the data card, after proving the ledgers it is made from.", "显示数据卡，并先核验其所依据的账本。"},
		long: msg.Text{
			"The ledgers under build/provenance are checked against the data files first: hashes, sums and one lineage row for each line. What does not agree is named, and the card is not shown.",
			"首先将 build/provenance 下的账本与数据文件核对：哈希、计数，以及每行数据对应一条谱系记录。不一致之处会逐一列出，且不显示数据卡。",
		},
		examples: []example{
			{msg.Text{"the project here", "当前项目"}, "drydock card"},
			{msg.Text{"in Chinese, into a file", "中文，写入文件"}, "drydock card --lang zh > card.md"},
		},
	}, nil)
	c.RunE = func(cmd *cobra.Command, _ []string) error { return runCard(cmd.Context(), a, o) }
	a.flags(c.Flags()).str(&o.Format, "format", "", "md", msg.Text{"write it as `md|json`", "输出格式 `md|json`"})
	a.complete(c, "format", "md", "json")
	return c
}

// cardAnswer is a card with the hash of the ledgers it was made from.
type cardAnswer struct {
	Schema   string `json:"schema"`
	Language string `json:"language"`
	Ledgers  string `json:"ledgers"` // root hash
	Rows     int    `json:"rows"`    // of all ledgers
	Card     string `json:"card"`    // Markdown
}

func runCard(ctx context.Context, a *app, o CardOptions) error {
	if o.Format != "md" && o.Format != "json" {
		return oneOf("--format", o.Format, "md", "json")
	}
	cfg, err := a.loadProject()
	if err != nil {
		return err
	}
	build := filepath.Join(cfg.Dir, "build")
	card, err := os.ReadFile(filepath.Join(build, "card."+a.lang.String()+".md"))
	if os.IsNotExist(err) {
		return fail.New(fail.Refused, msg.Text{"there is no card yet", "尚无数据卡"}).
			Hint(msg.Text{"drydock run writes it", "drydock run 会写出数据卡"})
	}
	if err != nil {
		return err
	}
	sum, findings, err := provenance.Check(ctx, os.DirFS(filepath.Join(build, "provenance")), provenance.Options{
		Data: provenance.FromFS(os.DirFS(cfg.Dir)),
	})
	if err != nil {
		return err
	}
	if len(findings) > 0 {
		return append(findings, fail.New(fail.Failed, msg.Text{"the ledgers and the data do not agree", "账本与数据不一致"}).
			Hint(msg.Text{"drydock run makes both again", "drydock run 会重新生成二者"}))
	}
	ans := cardAnswer{Schema: "drydock.card/1", Language: a.lang.String(), Ledgers: sum.Root.Hash, Card: string(card)}
	for _, f := range sum.Root.Files {
		ans.Rows += f.Rows
	}
	if o.Format == "json" {
		return a.term.Value(ans)
	}
	return a.answer(ans)
}

func (c cardAnswer) text(t *ui.Terminal) { _, _ = t.Write([]byte(c.Card)) }
