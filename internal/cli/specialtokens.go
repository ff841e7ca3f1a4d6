package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/internal/msg"
)

// specialTokenModes are what may become of control tokens that a text spells out.
func specialTokenModes() []string { return []string{"refuse", "escape"} }

// specialTokens adds the flag of commands that write training rows.
func (a *app) specialTokens(c *cobra.Command, f flags, to *string) {
	f.str(to, "special-tokens", "", "refuse", msg.Text{
		"`refuse|escape` rows whose text spells out a control token of the model: <|im_end|> becomes <\\|im_end|>",
		"对文本中写出模型控制 token 的行 `refuse|escape`（丢弃或转义）：<|im_end|> 写为 <\\|im_end|>",
	})
	a.complete(c, "special-tokens", specialTokenModes()...)
}

func checkSpecialTokens(mode string) error {
	if !slices.Contains(specialTokenModes(), mode) {
		return oneOf("--special-tokens", mode, specialTokenModes()...)
	}
	return nil
}
